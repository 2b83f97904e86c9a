import 're2js';
import { Keyv } from 'keyv';
import { describe, expect, it } from 'vitest';
import { defaultWorkspaceId } from '../../src/call/workspace.ts';
import type { GatewayOptions } from '../../src/options.ts';
import { askResponses } from '../support/ask-responses.ts';
import { checkError, managementKey, type TestGateway, testGateway, testKey } from '../support/gateway.ts';
import { completion, textStream } from '../support/upstream.ts';

const messages = [{ role: 'user', content: 'Where is my parcel?' }];
const ask = { model: 'acme/fast', messages };
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const switches = { is_observability_io_logging_enabled: true };

interface Logging extends TestGateway {
  content(id: string, key?: string): ReturnType<TestGateway['call']>;
  /** Posts, and reads what was kept of it. */
  kept(body: object, key?: string): ReturnType<TestGateway['call']>;
}

async function logging(settings: object = switches, options: Partial<GatewayOptions> = {}): Promise<Logging> {
  const test = testGateway({ records: { enabled: true }, ...options });
  test.upstream.always({ body: completion({}, { content: 'On its way' }) });
  const changed = await test.call('PATCH', '/workspaces/default', settings);
  expect(changed.status).toBe(200);
  const content = (id: string, key = managementKey) =>
    test.call('GET', `/generation/content?id=${id}`, undefined, bearer(key));
  return {
    ...test,
    content,
    async kept(body, key = testKey) {
      const { headers } = await test.post(body, bearer(key));
      return content(headers.get('x-generation-id') as string);
    },
  };
}

const shown = (completed: string, input: object[] = messages) => ({
  input: { messages: input },
  output: { completion: completed, reasoning: null, tool_calls: [] },
  is_truncated: false,
});

describe('the prompts and responses of a workspace that wants them kept', () => {
  it('are read by the id of the request, in JSON and in streams, for chat and Responses', async () => {
    const test = await logging();
    expect((await test.kept(ask)).json.data).toEqual(shown('On its way'));
    test.upstream.always({ body: textStream('On its ', 'way') });
    expect((await test.kept({ ...ask, stream: true })).json.data).toEqual(shown('On its way'));
    const { headers } = await askResponses(test, { input: 'Where is it?' });
    const { json } = await test.content(headers.get('x-generation-id') as string);
    expect(json.data).toMatchObject(shown('On its way', [{ role: 'user', content: 'Where is it?' }]));
  });
  it('have the calls of functions and the reasoning', async () => {
    const test = await logging();
    const call = { id: 'call_1', type: 'function', function: { name: 'track', arguments: '{"id":7}' } };
    test.upstream.always({ body: completion({}, { content: null, reasoning: 'I track it.', tool_calls: [call] }) });
    const { json } = await test.kept(ask);
    expect(json.data.output).toEqual({ completion: null, reasoning: 'I track it.', tool_calls: [call] });
  });
  it('leave the response as it is, to the byte', async () => {
    const [plain, kept] = [testGateway(), await logging()];
    for (const test of [plain, kept])
      test.upstream.always({ body: completion({ odd: { a: [1] } }, { content: 'Hi' }) });
    const [one, other] = [await plain.post(ask), await kept.post(ask)];
    const { id: _a, created: _b, ...rest } = one.json as Record<string, unknown>;
    expect(other.json).toMatchObject(rest);
  });
  it('are what guardrails have left', async () => {
    const test = await logging();
    const filters = { content_filter_builtins: [{ slug: 'email', action: 'redact' }] };
    const { json } = await test.call('POST', '/guardrails', { name: 'PII', ...filters });
    const workspaces = { workspace_ids: [defaultWorkspaceId] };
    await test.call('POST', `/guardrails/${json.data.id}/assignments/workspaces`, workspaces);
    test.upstream.always({ body: textStream('Write to bob@', 'example.com') });
    const kept = await test.kept({
      ...ask,
      messages: [{ role: 'user', content: 'I am ann@example.com' }],
      stream: true,
    });
    expect(kept.json.data.input.messages[0].content).toContain('[REDACTED:email]');
    expect(kept.json.data.output.completion).toContain('[REDACTED:email]');
    expect(kept.text).not.toContain('example.com');
  });
  it('are as much of a response as there was, where it was cut or its client left', async () => {
    const test = await logging();
    test.upstream.always({ body: textStream('On its ', 'way').slice(0, 2) });
    const { headers } = await test.post({ ...ask, stream: true });
    const { status, json } = await test.content(headers.get('x-generation-id') as string);
    expect([status, json.data]).toEqual([200, shown('On its ')]);
  });
  it('are left out where they are too long, which is said', async () => {
    const test = await logging(switches, { records: { enabled: true, maxContentChars: 200 } });
    const long = [{ role: 'user', content: 'x'.repeat(1_000) }];
    expect((await test.kept({ ...ask, messages: long })).json.data).toEqual({
      ...shown('On its way', []),
      is_truncated: true,
    });
    test.upstream.always({ body: completion({}, { content: 'y'.repeat(1_000) }) });
    expect((await test.kept(ask)).json.data).toMatchObject({
      input: { messages },
      output: { completion: null },
      is_truncated: true,
    });
  });
});

describe('prompts and responses are not kept', () => {
  const none = async (test: Logging, body: object = ask, key = testKey) => {
    const { status, json } = await test.kept(body, key);
    checkError(404, json);
    expect([status, json.error.message]).toEqual([404, expect.stringContaining('were not kept')]);
  };

  it('where the workspace does not say so, nor after it says so no more', async () => {
    await none(await logging({}));
    const test = await logging();
    await test.call('PATCH', '/workspaces/default', { is_observability_io_logging_enabled: false });
    await test.clock.advance(60_000);
    await none(test);
  });
  it('of a request that asks for zero data retention, by itself or by a guardrail', async () => {
    const providers = {
      up: { baseUrl: 'https://up.test/v1', apiKey: 'sk-up', dataPolicy: { zeroRetention: true } },
    };
    const models = [{ slug: 'acme/fast', endpoints: [{ provider: 'up', model: 'm' }] }];
    const test = await logging(switches, { providers, models });
    await none(test, { ...ask, provider: { zdr: true } });
    expect((await test.kept(ask)).status).toBe(200);
    const { json } = await test.call('POST', '/guardrails', { name: 'ZDR', enforce_zdr: true });
    const workspaces = { workspace_ids: [defaultWorkspaceId] };
    await test.call('POST', `/guardrails/${json.data.id}/assignments/workspaces`, workspaces);
    await none(test);
  });
  it('of keys that are not listed', async () => {
    const test = await logging();
    const [one, other] = await Promise.all(
      ['one', 'other'].map(async (name) => (await test.call('POST', '/keys', { name })).json),
    );
    const id = Number.parseInt(one.data.hash.slice(0, 12), 16);
    await test.call('PATCH', '/workspaces/default', { io_logging_api_key_ids: [id] });
    await test.clock.advance(60_000);
    expect((await test.kept(ask, one.key)).status).toBe(200);
    await none(test, ask, other.key);
  });
  it('beyond the share that is sampled, the same on every instance', async () => {
    const test = await logging({ ...switches, io_logging_sampling_rate: 0.3 });
    let count = 0;
    for (let n = 0; n < 200; n++) if ((await test.kept(ask)).status === 200) count++;
    expect(count).toBeGreaterThan(30);
    expect(count).toBeLessThan(90);
  });
  it('longer than their record, nor than their workspace', async () => {
    const values = new Map<string, unknown>();
    const test = await logging(switches, {
      records: { enabled: true, ttlMs: 3_600_000 },
      store: new Keyv({ store: values }),
    });
    await test.kept(ask);
    const inStore = () => JSON.stringify([...values.values()]).includes('Where is my parcel');
    expect(inStore()).toBe(true);
    await test.clock.advance(3_700_000);
    expect(inStore()).toBe(false);
    const { json } = await test.call('POST', '/workspaces', { name: 'Other', slug: 'other', ...switches });
    const made = await test.call('POST', '/keys', { name: 'k', workspace_id: json.data.id });
    expect((await test.kept(ask, made.json.key)).status).toBe(200);
    expect(inStore()).toBe(true);
    await test.call('DELETE', `/keys/${made.json.data.hash}`);
    expect((await test.call('DELETE', '/workspaces/other')).status).toBe(200);
    expect(inStore()).toBe(false);
  });
  it('in records, in the log, and for others who may not read the record', async () => {
    const logged: string[] = [];
    const log = (fields: object, text: string) => void logged.push(`${JSON.stringify(fields)} ${text}`);
    const test = await logging(switches, { logger: { debug: log, info: log, warn: log, error: log } as never });
    const { headers } = await test.post(ask);
    const id = headers.get('x-generation-id') as string;
    expect((await test.content(id, testKey)).json.data).toEqual(shown('On its way'));
    const other = (await test.call('POST', '/keys', { name: 'other' })).json.key;
    expect((await test.content(id, other)).status).toBe(404);
    const { text } = await test.call('GET', `/generation?id=${id}`);
    for (const told of [text, logged.join(), JSON.stringify(test.records)]) expect(told).not.toContain('parcel');
    expect(test.records[0]?.dataDiscountLogging).toBe(true);
  });
});
