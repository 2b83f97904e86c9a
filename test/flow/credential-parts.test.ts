import { describe, expect, it } from 'vitest';
import { openaiChat } from '../../src/dialects/openai-chat/index.ts';
import { OptionsError } from '../../src/options.ts';
import { defineProvider } from '../../src/providers/provider.ts';
import { hello, testGateway } from '../support/gateway.ts';
import { completion, errorBody, sse, textStream } from '../support/upstream.ts';

const secrets = { current: 'a master secret of the tests, which is long enough' };
const accountId = '0123456789abcdef0123456789abcdef';
const apiKey = 'cf-token-0123456789abcdef';
const models = [{ slug: 'cf/llama', endpoints: [{ provider: 'cloudflare', model: '@cf/llama' }] }];
const ask = { model: 'cf/llama', messages: hello };
const address = `https://api.cloudflare.com/client/v4/accounts/${accountId}/ai/v1/chat/completions`;

describe('a credential with several parts', () => {
  it('is not used where its parts are only those of a prototype', async () => {
    const { call } = testGateway({ secrets, providers: { 'google-vertex': {} }, models: [] });
    const key = '{"__proto__":{"apiKey":"AIzaSy-not-a-real-key"}}';
    const { status, json } = await call('POST', '/byok', { provider: 'google-vertex', key });
    expect([status, json.data?.unusable_reason]).toEqual([201, expect.stringMatching(/^key/)]);
  });
  it('reaches the address and the header from the options', async () => {
    const { post, upstream } = testGateway({
      providers: { cloudflare: { apiKey, credential: { accountId } } },
      models,
    });
    upstream.answer({ body: completion() });
    expect((await post(ask)).status).toBe(200);
    expect(upstream.sent[0]?.url).toBe(address);
    expect(upstream.sent[0]?.headers.authorization).toBe(`Bearer ${apiKey}`);
  });
  it.each<[object, string]>([
    [{ apiKey }, 'providers.cloudflare.credential.accountId: expected the id of an account'],
    [{ credential: { accountId } }, 'providers.cloudflare.apiKey: expected an API token'],
    [{ apiKey, credential: { accountId: '../../x' } }, 'providers.cloudflare.credential.accountId: expected'],
  ])('is refused in the options where it is incomplete: %j', (settings, message) => {
    const make = () => testGateway({ providers: { cloudflare: settings }, models });
    expect(make).toThrow(OptionsError);
    expect(make).toThrow(message);
  });

  it('reaches both from POST /byok, and the label shows nothing but ends of its secret', async () => {
    const { post, call, upstream } = testGateway({ secrets, providers: { cloudflare: {} }, models });
    const key = JSON.stringify({ apiKey, accountId }, null, 2);
    const made = await call('POST', '/byok', { provider: 'cloudflare', key });
    expect([made.status, made.json.data?.label]).toEqual([201, 'cf-to...cdef']);
    upstream.answer({ body: completion() }, { body: completion() });
    expect((await post(ask)).json.usage).toMatchObject({ is_byok: true });
    expect(upstream.sent[0]?.url).toBe(address);
    expect(upstream.sent[0]?.headers.authorization).toBe(`Bearer ${apiKey}`);
    const other = { apiKey: 'cf-other-token-9876543210', accountId };
    const changed = await call('PATCH', `/byok/${made.json.data.id}`, { key: JSON.stringify(other) });
    expect(changed.json.data.label).toBe('cf-ot...3210');
    await post(ask);
    expect(upstream.sent[1]?.headers.authorization).toBe(`Bearer ${other.apiKey}`);
  });
  it.each<[string, string]>([
    [apiKey, 'key.accountId: expected the id of an account: 32 hexadecimal digits'],
    [JSON.stringify({ accountId }), 'key.apiKey: expected an API token'],
    [JSON.stringify({ apiKey, accountId, region: 'x' }), 'key.region: expected no such part, but apiKey, accountId'],
    [JSON.stringify({ apiKey, accountId: `${accountId}/../` }), 'key.accountId: expected the id'],
  ])('is stored by POST /byok and by PATCH with the part that it lacks, and is not used: %s', async (key, message) => {
    const { call } = testGateway({ secrets, providers: { cloudflare: {} }, models });
    const stored = await call('POST', '/byok', { provider: 'cloudflare', key });
    expect([stored.status, stored.json.data.unusable_reason]).toEqual([201, expect.stringContaining(message)]);
    expect(stored.text).not.toContain(apiKey);
    const made = await call('POST', '/byok', { provider: 'cloudflare', key: JSON.stringify({ apiKey, accountId }) });
    expect(made.json.data).not.toHaveProperty('unusable_reason');
    const changed = await call('PATCH', `/byok/${made.json.data.id}`, { key });
    expect([changed.status, changed.json.data.unusable_reason]).toEqual([200, expect.stringContaining(message)]);
  });

  it('leaks none of its secrets through what the provider echoes, and leaves ordinary words alone', async () => {
    const privateKey = 'private-part-0123456789';
    const azure = defineProvider({
      slug: 'azure',
      baseUrl: ({ parts }) => `https://${parts?.resource}.test`,
      dialect: openaiChat,
      byok: true,
      credentialShape: {
        parts: {
          apiKey: { expected: 'a key' },
          privateKey: { expected: 'a private key' },
          resource: { expected: 'the name of a resource', isSecret: false },
        },
      },
    });
    const { post, call, upstream } = testGateway({
      secrets,
      providers: { azure },
      models: [{ slug: 'az/gpt', endpoints: [{ provider: 'azure', model: 'gpt' }] }],
      retry: { attemptsPerEndpoint: 1 },
    });
    const key = JSON.stringify({ apiKey, privateKey, resource: 'sweden-central' });
    const made = await call('POST', '/byok', { provider: 'azure', key });
    expect(made.status).toBe(201);
    const echo = `${apiKey} and ${privateKey} in sweden-central`;
    upstream.answer(
      { body: completion({}, { content: echo }) },
      { body: textStream(echo) },
      { status: 400, body: errorBody(echo, privateKey) },
      { body: [sse({ error: { message: echo, code: privateKey } })] },
    );
    const texts: string[] = [];
    for (const stream of [false, true, false, true])
      texts.push((await post({ model: 'az/gpt', messages: hello, stream })).text);
    for (const text of texts) expect(text).not.toMatch(/cf-token|private-part/);
    expect(texts[0]).toContain('in sweden-central');
    expect(upstream.sent[0]?.url).toBe('https://sweden-central.test/chat/completions');
  });
});
