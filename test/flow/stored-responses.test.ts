import 're2js';
import { Keyv } from 'keyv';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { randomIds } from '../../src/base/ids.ts';
import { defaultWorkspaceId } from '../../src/call/workspace.ts';
import { textGuardrail } from '../../src/guardrails/text-guardrail.ts';
import type { GatewayOptions } from '../../src/options.ts';
import { definePlugin } from '../../src/plugins/plugin.ts';
import {
  askResponses,
  nativeMessage,
  nativeMessageEvents,
  nativeResponse,
  nativeStream,
  nativeUp,
  sendResponses,
  streamResponses,
} from '../support/ask-responses.ts';
import { masterSecrets } from '../support/credentials.ts';
import { managementKey, type TestGateway, testGateway, testKey } from '../support/gateway.ts';
import { openSocket } from '../support/socket.ts';
import { completion, type Sent, textStream } from '../support/upstream.ts';

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const wanted = { is_observability_io_logging_enabled: true };
const user = (text: string) => ({ type: 'message', role: 'user', content: text });

interface Keeping extends TestGateway {
  /** Any operation, with the key that may ask models. */
  own(method: string, path: string): ReturnType<TestGateway['call']>;
}

/** A gateway whose default workspace keeps responses, and whose model says `On its way`. */
async function keeping(options: Partial<GatewayOptions> = {}, settings: object = wanted): Promise<Keeping> {
  const test = testGateway({ records: { enabled: true }, ...options });
  test.upstream.always({ body: completion({}, { content: 'On its way' }) });
  expect((await test.call('PATCH', '/workspaces/default', settings)).status).toBe(200);
  return { ...test, own: (method, path) => test.call(method, path, undefined, bearer(testKey)) };
}

/** Imposes a guardrail on the default workspace. */
async function imposed(test: TestGateway, settings: object): Promise<void> {
  const { json } = await test.call('POST', '/guardrails', { name: 'Imposed', ...settings });
  const workspaces = { workspace_ids: [defaultWorkspaceId] };
  expect((await test.call('POST', `/guardrails/${json.data.id}/assignments/workspaces`, workspaces)).status).toBe(200);
}

/** An adapter that cannot reach kept responses while it is down. */
function storeThat(state: { isDown: boolean }) {
  const entries = new Map<string, unknown>();
  const reaching = async <T>(key: string, work: () => T): Promise<T> => {
    if (state.isDown && key.includes('stored-response')) throw new Error('down');
    return work();
  };
  return {
    opts: {},
    namespace: undefined,
    get: (key: string) => reaching(key, () => entries.get(key)),
    set: (key: string, value: unknown) => reaching(key, () => void entries.set(key, value)).then(() => true),
    delete: (key: string) => reaching(key, () => entries.delete(key)),
    clear: async () => entries.clear(),
    on: () => undefined,
  } as never;
}

/** The last object of a stream. */
function lastOf(text: string): { id: string; store: boolean; status: string } & Record<string, unknown> {
  const [last] = text
    .split('\n\n')
    .filter((frame) => frame.startsWith('event: '))
    .slice(-1);
  return JSON.parse((last ?? '').split('\ndata: ')[1] ?? '').response;
}

const messagesOf = ({ upstream }: TestGateway) =>
  (upstream.sent.at(-1) as Sent).body.messages as { role: string; content: unknown }[];

describe('a response with `store: true`', () => {
  it('is kept where its workspace wants it, and is read as its client got it', async () => {
    const test = await keeping();
    const { json, headers } = await askResponses(test, { store: true, input: 'Where is my parcel?' });
    expect([json.store, headers.get('x-service-dropped')]).toEqual([true, null]);
    const read = await test.own('GET', `/responses/${json.id}`);
    expect([read.status, read.json]).toEqual([200, json]);
  });
  it('is kept of a stream too, before the last event says so', async () => {
    const test = await keeping();
    test.upstream.always({ body: textStream('On its ', 'way') });
    const { text } = await streamResponses(test, { store: true });
    const last = lastOf(text);
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(last).toMatchObject({ status: 'completed', store: true });
    expect((await test.own('GET', `/responses/${last.id}`)).json).toEqual(last);
  });
  it('is kept of a stream of a provider of Responses, as its client got it', async () => {
    const test = await keeping(nativeUp);
    const events = nativeMessageEvents(0, ['On its ', 'way']);
    test.upstream.always({ body: nativeStream(events, [nativeMessage('On its way')]) });
    const last = lastOf((await streamResponses(test, { store: true })).text);
    expect(last).toMatchObject({ store: true, output: [{ content: [{ text: 'On its way' }] }] });
    expect((await test.own('GET', `/responses/${last.id}`)).json).toEqual(last);
  });
  it('is not kept of a stream whose client leaves', async () => {
    const test = await keeping();
    test.upstream.always({ body: textStream('On its ', 'way') });
    const response = await test.run(sendResponses(test, { store: true, stream: true }));
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    await test.run(reader.read());
    await reader.cancel();
    expect(test.records.at(-1)?.outcome).toBe('cancelled');
    const id = response.headers.get('x-generation-id');
    expect((await test.own('GET', `/responses/${id}`)).status).toBe(404);
  });
  it('is not kept unless the request asks for it', async () => {
    const test = await keeping();
    for (const body of [{}, { store: false }, { store: null }]) {
      const { json } = await askResponses(test, body);
      expect(json.store).toBe(false);
      expect((await test.own('GET', `/responses/${json.id}`)).status).toBe(404);
    }
  });
});

describe('`store: true` that cannot be honoured', () => {
  it.each<[string, Partial<GatewayOptions>, object, object, RegExp]>([
    ['where the operator keeps no records', { records: { enabled: false } }, wanted, {}, /stateless/],
    ['where the workspace keeps no content', {}, {}, {}, /this workspace keeps no responses/],
    ['of a key whose content is not kept', {}, { ...wanted, io_logging_api_key_ids: [1] }, {}, /of this caller/],
    ['under zero data retention', {}, wanted, { provider: { zdr: true } }, /zero data retention/],
  ])('is refused %s, before a model is asked', async (_, options, settings, fields, message) => {
    const test = await keeping(options, settings);
    for (const path of ['/responses', '/responses/explain']) {
      const { status, json } = await askResponses(test, { ...fields, store: true }, {}, path);
      expect([status, json.error.message]).toEqual([400, expect.stringMatching(message)]);
      expect(json.error.metadata.issues).toMatchObject([{ path: 'store' }]);
    }
    expect(test.upstream.sent).toEqual([]);
  });
  it('is refused where a guardrail of the workspace asks for zero data retention', async () => {
    const test = await keeping();
    await imposed(test, { enforce_zdr: true });
    const { status, json } = await askResponses(test, { store: true });
    expect([status, json.error.message]).toEqual([400, expect.stringMatching(/^store: zero data retention/)]);
  });
  it('is refused, and recorded, where a hook asks for zero data retention', async () => {
    const secret = definePlugin({
      id: 'secret',
      isDefault: true,
      before: (request) => ({ ...request, provider: { ...request.provider, zdr: true } }),
    });
    const test = await keeping({ plugins: [secret] });
    const { status, json } = await askResponses(test, { store: true });
    expect([status, json.error.message]).toEqual([400, expect.stringMatching(/^store: zero data retention/)]);
    expect([test.upstream.sent.length, test.records.at(-1)?.status]).toEqual([0, 400]);
  });
  it('is refused for a compaction', async () => {
    const { status, json } = await askResponses(await keeping(), { store: true }, {}, '/responses/compact');
    expect([status, json.error.message]).toEqual([400, expect.stringMatching(/^store: a compaction is not stored/)]);
  });
  it.each([false, true])(
    'is told where the store fails: what was paid for does not claim to be kept (stream: %s)',
    async (stream) => {
      const down = { isDown: false };
      const test = await keeping({ store: new Keyv({ store: storeThat(down) }) });
      down.isDown = true;
      const metadata = { 'x-service-metadata': 'enabled' };
      test.upstream.always({ body: stream ? textStream('Late') : completion({}, { content: 'Late' }) });
      const answer = stream
        ? lastOf((await streamResponses(test, { store: true }, metadata)).text)
        : await askResponses(test, { store: true }, metadata).then(({ json, headers }) => {
            expect(headers.get('x-service-dropped')).toBe('store');
            return json;
          });
      expect(answer).toMatchObject({ status: 'completed', store: false, service_metadata: { dropped: ['store'] } });
      down.isDown = false;
      expect((await test.own('GET', `/responses/${answer.id}`)).status).toBe(404);
    },
  );
  it('is told of a response that is too long', async () => {
    const test = await keeping({ records: { enabled: true, maxResponseChars: 3_000 } });
    const short = await askResponses(test, { store: true });
    const long = await askResponses(test, { store: true, input: 'x'.repeat(3_000) });
    expect([short.json.store, long.json.store, long.headers.get('x-service-dropped')]).toEqual([true, false, 'store']);
  });
  it('is not kept of a response that fails', async () => {
    const test = await keeping();
    test.upstream.always({ body: textStream('On its ', 'way').slice(0, 2) });
    const last = lastOf((await streamResponses(test, { store: true })).text);
    expect(last).toMatchObject({ status: 'failed', store: false });
    expect((await test.own('GET', `/responses/${last.id}`)).status).toBe(404);
  });
});

describe('a request with `previous_response_id`', () => {
  it('goes on from the conversation of a kept response, in JSON and as a stream, turn after turn', async () => {
    const test = await keeping();
    const one = await askResponses(test, { store: true, input: 'One', instructions: 'Be short' });
    const two = await askResponses(test, { store: true, input: [user('Two')], previous_response_id: one.json.id });
    expect(two.json).toMatchObject({ previous_response_id: one.json.id, instructions: null, store: true });
    test.upstream.always({ body: textStream('Done') });
    const three = lastOf((await streamResponses(test, { input: 'Three', previous_response_id: two.json.id })).text);
    expect(three).toMatchObject({ previous_response_id: two.json.id, store: false });
    expect(messagesOf(test)).toEqual([
      { role: 'user', content: 'One' },
      { role: 'assistant', content: 'On its way' },
      { role: 'user', content: 'Two' },
      { role: 'assistant', content: 'On its way' },
      { role: 'user', content: 'Three' },
    ]);
  });
  it('sends the output of a call alone, and says where an output has no call', async () => {
    const test = await keeping();
    const called = { id: 'call_1', type: 'function', function: { name: 'track', arguments: '{"id":7}' } };
    const tools = [{ type: 'function', name: 'track', parameters: {} }];
    test.upstream.answer({
      body: completion({}, { content: null, tool_calls: [called] }, { finish_reason: 'tool_calls' }),
    });
    const { id } = (await askResponses(test, { store: true, tools })).json;
    const output = (callId: string) => ({ type: 'function_call_output', call_id: callId, output: 'found' });
    const next = { tools, previous_response_id: id };
    const found = await askResponses(test, { ...next, input: [output('call_1')] });
    expect(found.status).toBe(200);
    expect(messagesOf(test).slice(1)).toMatchObject([
      { role: 'assistant', tool_calls: [called] },
      { role: 'tool', tool_call_id: 'call_1', content: 'found' },
    ]);
    const lost = await askResponses(test, { ...next, input: [output('call_1'), output('call_2')] });
    expect([lost.status, lost.json.error.metadata.issues]).toEqual([
      422,
      [{ path: 'input[1].call_id', message: 'is the id of no call of an earlier item' }],
    ]);
  });
  it('gives a provider of Responses its encrypted reasoning back, and never the id', async () => {
    const test = await keeping(nativeUp);
    const thought = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'opaque', status: 'completed' };
    test.upstream.always({ body: nativeResponse([thought, nativeMessage('Hi')]) });
    const { id } = (await askResponses(test, { store: true })).json;
    await askResponses(test, { previous_response_id: id, input: 'And?' });
    const { input, previous_response_id: named, store } = test.upstream.sent[1]?.body ?? {};
    expect([named, store]).toEqual([undefined, false]);
    expect(input).toMatchObject([
      { role: 'user', content: 'Hello' },
      { type: 'reasoning', encrypted_content: 'opaque' },
      { type: 'message', role: 'assistant', content: [{ text: 'Hi' }] },
      { role: 'user', content: 'And?' },
    ]);
  });
  it('gets one and the same error for a response that is unknown, deleted, expired or of somebody else', async () => {
    const test = await keeping({
      apiKeys: [{ key: testKey }, { key: managementKey, permissions: ['management'] }, { key: 'sk-of-somebody-else' }],
      records: { enabled: true, responsesTtlMs: 60_000 },
    });
    const { id } = (await askResponses(test, { store: true })).json;
    const gone = (await askResponses(test, { store: true })).json.id;
    expect((await test.own('DELETE', `/responses/${gone}`)).status).toBe(200);
    const ask = (named: string, key = testKey) =>
      askResponses(test, { previous_response_id: named }, bearer(key)).then(({ status, json }) => [status, json.error]);
    const error = (named: string) => [
      400,
      {
        code: 400,
        message: `Previous response with id '${named}' not found; send the whole input without previous_response_id`,
        metadata: {
          error_type: 'previous_response_not_found',
          issues: [{ path: 'previous_response_id', message: 'names no kept response' }],
        },
      },
    ];
    expect(await ask('resp_1')).toEqual(error('resp_1'));
    expect(await ask('../../x')).toEqual(error('../../x'));
    expect(await ask(gone)).toEqual(error(gone));
    expect(await ask(id, 'sk-of-somebody-else')).toEqual(error(id));
    expect((await ask(id))[0]).toBe(200);
    await test.clock.advance(60_001);
    expect(await ask(id)).toEqual(error(id));
  });
  it('is a 503, and never unknown, where the store does not respond', async () => {
    const down = { isDown: false };
    const test = await keeping({ store: new Keyv({ store: storeThat(down) }) });
    const { id } = (await askResponses(test, { store: true })).json;
    down.isDown = true;
    expect((await askResponses(test, { previous_response_id: id })).status).toBe(503);
    expect((await test.own('GET', `/responses/${id}`)).status).toBe(503);
  });
  it('counts and holds the whole conversation, and explains, and compacts it', async () => {
    const test = await keeping();
    const { id } = (await askResponses(test, { store: true, input: 'word '.repeat(400) })).json;
    const after = { previous_response_id: id, input: 'And?' };
    const count = async (fields: object) =>
      (await askResponses(test, fields, {}, '/responses/input_tokens')).json.input_tokens as number;
    expect(await count(after)).toBeGreaterThan((await count({ input: 'And?' })) + 300);
    const ceiling = async (fields: object) =>
      (await askResponses(test, { ...fields, max_output_tokens: 1 }, {}, '/responses/explain')).json.data.candidates[0]
        .max_prompt_tokens as number;
    expect(await ceiling(after)).toBeGreaterThan((await ceiling({ input: 'And?' })) + 300);
    await askResponses(test, after, {}, '/responses/compact');
    expect(messagesOf(test).slice(0, 3)).toMatchObject([
      { role: 'user' },
      { role: 'assistant' },
      { content: expect.stringMatching(/^And\?/) },
    ]);
  });
  it('is refused where the conversation has grown beyond what one request may hold', async () => {
    const test = await keeping({ limits: { jsonValues: 60 } });
    const input = Array.from({ length: 5 }, () => user('x'));
    const { id } = (await askResponses(test, { store: true, input })).json;
    const { status, json } = await askResponses(test, { previous_response_id: id, input });
    expect([status, json.error.message]).toEqual([413, expect.stringMatching(/previous_response_id .*60/)]);
    expect(test.upstream.sent).toHaveLength(1);
  });
  it('is recorded where it is refused', async () => {
    const refused: unknown[] = [];
    const test = await keeping({ onOperation: (record) => void refused.push(record) });
    const { headers } = await askResponses(test, { previous_response_id: 'resp_1' });
    expect(refused.at(-1)).toMatchObject({
      kind: 'refusal',
      operation: 'createResponse',
      status: 400,
      id: headers.get('x-generation-id'),
      error: { type: 'previous_response_not_found' },
    });
  });
  it('works with what guardrails have left of the input and the response', async () => {
    const bytes = new Map<string, unknown>();
    const test = await keeping({ store: new Keyv({ store: bytes }) });
    await imposed(test, { content_filter_builtins: [{ slug: 'email', action: 'redact' }] });
    test.upstream.always({ body: completion({}, { content: 'Write to bob@example.com' }) });
    const { json } = await askResponses(test, {
      store: true,
      input: 'I am ann@example.com',
      instructions: 'You are eve@example.com',
      metadata: { by: 'max@example.com' },
    });
    expect(json.store).toBe(true);
    expect(JSON.stringify([...bytes])).not.toContain('example.com');
    const { json: items } = await test.own('GET', `/responses/${json.id}/input_items`);
    expect(items.data).toMatchObject([{ content: [{ type: 'input_text', text: 'I am [REDACTED:email]' }] }]);
    await askResponses(test, { previous_response_id: json.id, input: 'And?' });
    expect(messagesOf(test).map(({ content }) => content)).toEqual([
      'I am [REDACTED:email]',
      'Write to [REDACTED:email]',
      'And?',
    ]);
  });
});

describe('a response in which texts come back', () => {
  const restoring = textGuardrail({ id: 'pii', patterns: [{ builtin: 'email', action: 'redact', restore: true }] });

  it.each([false, true])('is not kept, and says so (stream: %s)', async (stream) => {
    const bytes = new Map<string, unknown>();
    const test = await keeping({ store: new Keyv({ store: bytes }), guardrails: [restoring] });
    const content = 'Write to [REDACTED:email#1]';
    test.upstream.always({ body: stream ? textStream(content) : completion({}, { content }) });
    const body = { store: true, input: 'I am ann@example.com' };
    const response = stream ? lastOf((await streamResponses(test, body)).text) : (await askResponses(test, body)).json;
    expect(JSON.stringify(response.output)).toContain('Write to ann@example.com');
    expect(response.store).toBe(false);
    expect(JSON.stringify([...bytes])).not.toContain('example.com');
    expect((await test.own('GET', `/responses/${response.id}`)).status).toBe(404);
  });
  it('is kept where nothing was taken out', async () => {
    const test = await keeping({ guardrails: [restoring] });
    test.upstream.always({ body: completion() });
    expect((await askResponses(test, { store: true, input: 'Hello' })).json.store).toBe(true);
  });
});

describe('a kept response', () => {
  it('lists its input items, those of the conversation before it included, a page at a time', async () => {
    const test = await keeping();
    const one = await askResponses(test, { store: true, input: 'One' });
    const { id } = (await askResponses(test, { store: true, input: 'Two', previous_response_id: one.json.id })).json;
    const list = async (query = '') => (await test.own('GET', `/responses/${id}/input_items${query}`)).json;
    const all = await list('?order=asc&include[]=message.output_text.logprobs');
    const texts = ({ data }: { data: { content: { text: string }[] }[] }) =>
      data.map(({ content }) => content[0]?.text);
    expect(texts(all)).toEqual(['One', 'On its way', 'Two']);
    expect(all).toMatchObject({ object: 'list', has_more: false });
    expect(new Set(all.data.map((item: { id: string }) => item.id)).size).toBe(3);
    const newest = await list('?limit=1');
    expect([texts(newest), newest.has_more, newest.first_id]).toEqual([['Two'], true, newest.data[0].id]);
    const rest = await list(`?after=${newest.last_id}`);
    expect([texts(rest), rest.has_more]).toEqual([['On its way', 'One'], false]);
    for (const query of ['?limit=0', '?limit=101', '?order=up', '?after=msg_other', '?before=x'])
      expect((await test.own('GET', `/responses/${id}/input_items${query}`)).status).toBe(400);
    const streamed = await test.own('GET', `/responses/${id}?stream=true`);
    expect([streamed.status, streamed.json.error.message]).toEqual([
      400,
      expect.stringMatching(/^stream: expected false/),
    ]);
  });
  it('is deleted, and nothing of it stays in the store', async () => {
    const bytes = new Map<string, unknown>();
    const test = await keeping({ store: new Keyv({ store: bytes }), secrets: { current: masterSecrets.first } });
    const { id } = (await askResponses(test, { store: true })).json;
    const kept = () => [...bytes.keys()].filter((key) => key.includes('stored-response'));
    expect(kept().length).toBeGreaterThan(0);
    const { status, json } = await test.own('DELETE', `/responses/${id}`);
    expect([status, json]).toEqual([200, { id, object: 'response', deleted: true }]);
    expect(JSON.stringify([...bytes].filter(([key]) => key.includes('stored-response')))).not.toContain(id);
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['GET', '/input_items'],
    ] as const)
      expect((await test.own(method, `/responses/${id}${path}`)).status).toBe(404);
  });
  it('is sealed in the store, opens for another instance, and is a clear 404 without the secret', async () => {
    const bytes = new Map<string, unknown>();
    const on = (secrets?: GatewayOptions['secrets']) =>
      keeping({ store: new Keyv({ store: bytes }), ids: randomIds, ...(secrets ? { secrets } : {}) });
    const one = await on({ current: masterSecrets.first });
    const { json } = await askResponses(one, { store: true, input: 'Where is my parcel?' });
    expect(JSON.stringify([...bytes])).not.toMatch(/parcel|On its way/);
    const other = await on({ current: masterSecrets.first });
    expect((await other.own('GET', `/responses/${json.id}`)).json).toEqual(json);
    expect((await askResponses(other, { previous_response_id: json.id })).status).toBe(200);
    const without = await on({ current: masterSecrets.second });
    const { status, json: error } = await without.own('GET', `/responses/${json.id}`);
    expect([status, error.error.message]).toEqual([404, expect.stringMatching(/secret that is not configured/)]);
    const next = await askResponses(without, { previous_response_id: json.id });
    expect([next.status, next.json.error.metadata.error_type]).toEqual([400, 'previous_response_not_found']);
  });
  it('is read by its own key and user, and by whoever manages its workspace, and by nobody else', async () => {
    const test = await keeping({
      apiKeys: [{ key: testKey }, { key: managementKey, permissions: ['management'] }, { key: 'sk-of-somebody-else' }],
    });
    const { id } = (await askResponses(test, { store: true })).json;
    const read = async (key: string) => (await test.call('GET', `/responses/${id}`, undefined, bearer(key))).status;
    expect([await read(testKey), await read(managementKey), await read('sk-of-somebody-else')]).toEqual([
      200, 200, 404,
    ]);
    const { json: other } = await test.call('POST', '/workspaces', { name: 'Other', slug: 'other' });
    const as = (workspaceId: string, userId: string, permissions: ('inference' | 'management')[] = ['inference']) =>
      test.gateway.as({ userId, permissions, workspaceId });
    await expect(as(other.data.id, 'ann', ['management']).responses.retrieve({ id })).rejects.toMatchObject({
      status: 404,
    });
    await expect(as(defaultWorkspaceId, 'ann').responses.delete({ id })).rejects.toMatchObject({ status: 404 });
    const ann = as(defaultWorkspaceId, 'ann');
    const hers = await test.run(ann.responses.create({ model: 'acme/fast', input: 'Hello', store: true }));
    expect(hers.store).toBe(true);
    await expect(as(defaultWorkspaceId, 'bob').responses.retrieve({ id: hers.id })).rejects.toMatchObject({
      status: 404,
    });
    expect((await ann.responses.inputItems.list({ id: hers.id, limit: 1 })).data).toMatchObject([{ role: 'user' }]);
    expect(await ann.responses.retrieve({ id: hers.id })).toEqual(hers);
    expect(await ann.responses.delete({ id: hers.id })).toEqual({ id: hers.id, object: 'response', deleted: true });
  });
  it('goes after its time, with the oldest of too many, and with its workspace', async () => {
    const bytes = new Map<string, unknown>();
    const test = await keeping({
      store: new Keyv({ store: bytes }),
      records: { enabled: true, responsesTtlMs: 600_000, maxResponses: 2 },
    });
    const ask = async () => (await askResponses(test, { store: true })).json.id as string;
    const kept = () => [...bytes.keys()].filter((key) => key.includes('stored-response-content')).length;
    const first = await ask();
    await test.clock.advance(10);
    const ids = [await ask(), await ask()];
    expect(kept()).toBe(3);
    await test.clock.advance(61_000);
    expect(kept()).toBe(2);
    expect((await test.own('GET', `/responses/${first}`)).status).toBe(404);
    expect((await test.own('GET', `/responses/${ids[1]}`)).status).toBe(200);
    await test.clock.advance(600_000);
    expect(kept()).toBe(0);
    const { json } = await test.call('POST', '/workspaces', { name: 'Other', slug: 'other', ...wanted });
    const user = test.gateway.as({ userId: 'ann', permissions: ['inference'], workspaceId: json.data.id });
    expect((await test.run(user.responses.create({ model: 'acme/fast', input: 'Hi', store: true }))).store).toBe(true);
    expect(kept()).toBe(1);
    expect((await test.call('DELETE', '/workspaces/other')).status).toBe(200);
    expect(kept()).toBe(0);
  });
});

describe('the client of OpenAI', () => {
  it('keeps responses, goes on from them, and reads, lists and deletes them', async () => {
    const test = await keeping();
    const user = test.gateway.as({ userId: 'ann', permissions: ['inference'], workspaceId: defaultWorkspaceId });
    const { responses } = new OpenAI({ ...user.clientOptions(), maxRetries: 0 });
    const model = 'acme/fast';
    const one = await test.run(responses.create({ model, input: 'One', store: true }));
    test.upstream.always({ body: textStream('On ', 'it') });
    const after = { model, input: 'Two', store: true, previous_response_id: one.id };
    const two = await test.run(responses.stream(after).finalResponse());
    expect([one, two]).toMatchObject([{ store: true }, { store: true, previous_response_id: one.id }]);
    expect((await test.run(responses.retrieve(two.id))).output_text).toBe('On it');
    const texts: unknown[] = [];
    const list = async () => {
      // The client asks for the next page by itself.
      for await (const item of responses.inputItems.list(two.id, { order: 'asc', limit: 2 }))
        texts.push((item as { content: { text: string }[] }).content[0]?.text);
    };
    await test.run(list());
    expect(texts).toEqual(['One', 'On its way', 'Two']);
    await test.run(responses.delete(one.id));
    await expect(test.run(responses.retrieve(one.id))).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    test.upstream.always({ body: completion() });
    await expect(test.run(responses.create(after))).rejects.toMatchObject({
      status: 400,
      error: { metadata: { error_type: 'previous_response_not_found' } },
    });
    expect((await test.run(responses.create({ ...after, previous_response_id: two.id }))).status).toBe('completed');
  });
});

describe('a WebSocket', () => {
  it('goes on from a kept response that its connection does not know, and from what it said itself after that', async () => {
    const test = await keeping();
    const { id } = (await askResponses(test, { store: true, input: 'One' })).json;
    test.upstream.always({ body: textStream('Yes') });
    const socket = await openSocket(test);
    const two = (await socket.turn({ input: 'Two', previous_response_id: id })).at(-1);
    expect(two).toMatchObject({ type: 'response.completed', response: { previous_response_id: id, store: false } });
    const again = { input: 'Three', previous_response_id: two?.response.id };
    const three = (await socket.turn({ ...again, store: true })).at(-1);
    expect(three?.response).toMatchObject({ previous_response_id: two?.response.id, store: true });
    expect(messagesOf(test).map(({ content }) => content)).toEqual(['One', 'On its way', 'Two', 'Yes', 'Three']);
    const next = await askResponses(test, { previous_response_id: three?.response.id, input: 'Four' });
    expect(next.status).toBe(200);
    expect(
      messagesOf(test)
        .map(({ content }) => content)
        .slice(-2),
    ).toEqual(['Yes', 'Four']);
    await test.own('DELETE', `/responses/${three?.response.id}`);
    const gone = (await socket.turn({ input: 'Five', previous_response_id: three?.response.id })).at(-1);
    expect(gone).toMatchObject({
      type: 'error',
      status: 400,
      error: { code: 'previous_response_not_found', param: 'previous_response_id' },
    });
  });
  it('prepares a conversation from a kept response', async () => {
    const test = await keeping();
    const { id } = (await askResponses(test, { store: true, input: 'One' })).json;
    test.upstream.always({ body: textStream('Yes') });
    const socket = await openSocket(test);
    const made = (await socket.turn({ input: 'Two', previous_response_id: id, generate: false })).at(-1);
    await socket.turn({ input: 'Three', previous_response_id: made?.response.id });
    expect(messagesOf(test).map(({ content }) => content)).toEqual(['One', 'On its way', 'Two\n\nThree']);
  });
});
