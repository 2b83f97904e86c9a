import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { chatRequest, nextTurn, testGateway } from '../support/gateway.ts';
import { completion, textStream } from '../support/upstream.ts';

const messages = [{ role: 'user' as const, content: 'Hello' }];
const body = { model: 'acme/fast', messages };

describe('gateway.clientOptions', () => {
  it('lets `openai` act for the operator without a key: chat, streams, Responses, listings', async () => {
    const { gateway, upstream, records } = testGateway();
    const client = new OpenAI(gateway.clientOptions());
    upstream.always({ body: completion() });
    expect((await client.chat.completions.create(body)).choices[0]?.message.content).toBe('Hello there');
    expect((await client.responses.create({ model: 'acme/fast', input: 'Hello' })).output_text).toBe('Hello there');
    upstream.always({ body: textStream('Hel', 'lo') });
    let text = '';
    for await (const { choices } of await client.chat.completions.create({ ...body, stream: true }))
      text += choices[0]?.delta.content ?? '';
    expect(text).toBe('Hello');
    expect((await client.models.list()).data.map(({ id }) => id)).toContain('acme/fast');
    expect(records.map(({ apiKeyHash, outcome }) => [apiKeyHash, outcome])).toEqual(Array(3).fill([null, 'ok']));
  });
  it('lets `openai` act for a user, within its workspace and its permissions', async () => {
    const { gateway, upstream, records } = testGateway();
    upstream.always({ body: completion() });
    const ada = gateway.as({
      permissions: ['inference'],
      workspaceId: 'w-1',
      userId: 'ada',
      allowedModels: ['acme/f*'],
    });
    const client = new OpenAI(ada.clientOptions());
    await client.chat.completions.create(body);
    expect(records[0]).toMatchObject({ workspaceId: 'w-1', userId: 'ada', apiKeyHash: null });
    await expect(client.chat.completions.create({ ...body, model: 'acme/other' })).rejects.toMatchObject({
      status: 403,
    });
    await expect(client.get('/keys')).rejects.toMatchObject({ status: 403 });
    const none = gateway.as({ permissions: ['management'] }).clientOptions();
    await expect(new OpenAI(none).chat.completions.create(body)).rejects.toMatchObject({ status: 403 });
  });
  it('has a key that authenticates nobody, that no key of the gateway can be, and that nothing is sent with', async () => {
    const { gateway, upstream } = testGateway();
    upstream.always({ body: completion() });
    const { apiKey, baseURL, maxRetries } = gateway.clientOptions();
    expect([apiKey, baseURL, maxRetries]).toEqual(['unused', 'http://gateway.invalid/v1', 0]);
    expect((await gateway.fetch(chatRequest(body, { authorization: `Bearer ${apiKey}` }))).status).toBe(401);
    expect(() => testGateway({ apiKeys: [{ key: apiKey }] })).toThrow(/apiKeys/);
    await new OpenAI(gateway.clientOptions()).chat.completions.create(body);
    expect(JSON.stringify(upstream.sent)).not.toContain(apiKey);
  });
  it('has the path of the gateway', async () => {
    for (const [basePath, baseURL] of [
      ['/ai/v2', 'http://gateway.invalid/ai/v2'],
      ['', 'http://gateway.invalid'],
    ] as const) {
      const { gateway, upstream } = testGateway({ basePath });
      upstream.always({ body: completion() });
      expect(gateway.clientOptions().baseURL).toBe(baseURL);
      await new OpenAI(gateway.clientOptions()).chat.completions.create(body);
      expect(upstream.sent).toHaveLength(1);
    }
  });
  it('asks a provider once, and stops it when the client does', async () => {
    const { gateway, upstream, records } = testGateway({ retry: { maxAttempts: 1 } });
    upstream.always({ status: 500, body: {} });
    const client = new OpenAI(gateway.clientOptions());
    await expect(client.chat.completions.create(body)).rejects.toMatchObject({ status: 502 });
    expect(upstream.sent).toHaveLength(1);
    upstream.always({ instead: 'hang' });
    const stop = new AbortController();
    const asked = client.chat.completions.create(body, { signal: stop.signal });
    await nextTurn();
    stop.abort();
    await expect(asked).rejects.toThrow(/aborted/);
    expect(records.at(-1)?.outcome).toBe('cancelled');
  });
});
