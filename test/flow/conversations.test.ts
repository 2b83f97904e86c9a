import 're2js';
import { Keyv } from 'keyv';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { defaultWorkspaceId } from '../../src/call/workspace.ts';
import type { GatewayOptions } from '../../src/options.ts';
import { definePlugin } from '../../src/plugins/plugin.ts';
import {
  askResponses,
  nativeMessage,
  nativeResponse,
  nativeUp,
  sendResponses,
  streamResponses,
} from '../support/ask-responses.ts';
import { masterSecrets } from '../support/credentials.ts';
import { type CallAnswer, managementKey, type TestGateway, testGateway, testKey } from '../support/gateway.ts';
import { sharedAvailable, specificationErrors } from '../support/reference.ts';
import { openSocket } from '../support/socket.ts';
import { completion, type Sent, textStream } from '../support/upstream.ts';

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const otherKey = 'sk-of-somebody-else';
const wanted = { is_observability_io_logging_enabled: true };
const user = (text: string) => ({ type: 'message' as const, role: 'user' as const, content: text });

interface Keeping extends TestGateway {
  /** Any operation, with the key that may ask models. */
  own(method: string, path: string, body?: unknown, key?: string): Promise<CallAnswer>;
  /** Makes a conversation, and returns its id. */
  made(body?: object): Promise<string>;
  /** The texts of a conversation, oldest first. */
  texts(id: string): Promise<string[]>;
}

/** A gateway whose default workspace keeps responses, and whose model says `On its way`. */
async function keeping(options: Partial<GatewayOptions> = {}, settings: object = wanted): Promise<Keeping> {
  const test = testGateway({
    records: { enabled: true },
    apiKeys: [{ key: testKey }, { key: managementKey, permissions: ['management'] }, { key: otherKey }],
    ...options,
  });
  test.upstream.always({ body: completion({}, { content: 'On its way' }) });
  expect((await test.call('PATCH', '/workspaces/default', settings)).status).toBe(200);
  const own: Keeping['own'] = (method, path, body, key = testKey) => test.call(method, path, body, bearer(key));
  return {
    ...test,
    own,
    async made(body = {}) {
      const { status, json } = await own('POST', '/conversations', body);
      expect([status, json.error]).toEqual([200, undefined]);
      return json.id;
    },
    async texts(id) {
      const { json } = await own('GET', `/conversations/${id}/items?order=asc&limit=100`);
      for (const item of json.data) expect(sharedAvailable ? specificationErrors('ItemField', item) : []).toEqual([]);
      return json.data.map(textOf);
    },
  };
}

/** The text of an item that was listed. */
function textOf(item: { content?: { text: string }[]; output?: string; arguments?: string }): string {
  return item.content?.[0]?.text ?? item.output ?? item.arguments ?? '';
}

async function imposed(test: TestGateway, settings: object): Promise<void> {
  const { json } = await test.call('POST', '/guardrails', { name: 'Imposed', ...settings });
  const workspaces = { workspace_ids: [defaultWorkspaceId] };
  expect((await test.call('POST', `/guardrails/${json.data.id}/assignments/workspaces`, workspaces)).status).toBe(200);
}

/** The last object of a stream. */
function lastOf(text: string): Record<string, unknown> & { id: string } {
  const [last] = text
    .split('\n\n')
    .filter((frame) => frame.startsWith('event: '))
    .slice(-1);
  return JSON.parse((last ?? '').split('\ndata: ')[1] ?? '').response;
}

const sentTexts = ({ upstream }: TestGateway) =>
  ((upstream.sent.at(-1) as Sent).body.messages as { content: unknown }[]).map(({ content }) => content);

/** An adapter that cannot reach conversations while it is down. */
function storeThat(state: { isDown: boolean }, entries = new Map<string, unknown>()) {
  const reaching = async <T>(key: string, work: () => T): Promise<T> => {
    if (state.isDown && key.includes('stored-conversation')) throw new Error('down');
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

describe('a conversation', () => {
  it('is made, shown, changed and deleted', async () => {
    const test = await keeping();
    const { json } = await test.own('POST', '/conversations', {
      metadata: { topic: 'parcels' },
      items: [user('Hello')],
    });
    expect(json).toEqual({
      id: expect.stringMatching(/^conv_\w{8,}$/),
      object: 'conversation',
      created_at: Math.floor(test.clock.now() / 1000),
      metadata: { topic: 'parcels' },
    });
    expect((await test.own('GET', `/conversations/${json.id}`)).json).toEqual(json);
    const changed = await test.own('POST', `/conversations/${json.id}`, { metadata: { topic: 'letters' } });
    expect(changed.json).toEqual({ ...json, metadata: { topic: 'letters' } });
    expect(await test.texts(json.id)).toEqual(['Hello']);
    expect((await test.own('POST', `/conversations/${json.id}`, { metadata: null })).json.metadata).toEqual({});
    const deleted = await test.own('DELETE', `/conversations/${json.id}`);
    expect(deleted.json).toEqual({ id: json.id, object: 'conversation.deleted', deleted: true });
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['POST', '', { metadata: {} }],
      ['DELETE', '', undefined],
      ['GET', '/items', undefined],
      ['POST', '/items', { items: [user('x')] }],
      ['GET', '/items/msg_1', undefined],
      ['DELETE', '/items/msg_1', undefined],
    ] as const)
      expect((await test.own(method, `/conversations/${json.id}${path}`, body)).status).toBe(404);
  });
  it('gets items, lists them a page at a time, shows one and loses one', async () => {
    const test = await keeping();
    const id = await test.made({ items: [user('One')] });
    const more = [
      { ...user('Two'), id: 'msg_mine' },
      { role: 'assistant', content: 'Three' },
      { ...user('Four'), id: 'msg_mine' },
    ];
    const added = await test.own('POST', `/conversations/${id}/items?include[]=x`, { items: more });
    expect(added.json).toMatchObject({ object: 'list', has_more: false, first_id: 'msg_mine' });
    const ids = added.json.data.map((item: { id: string }) => item.id);
    expect([ids[0], new Set(ids).size]).toEqual(['msg_mine', 3]);
    expect(await test.texts(id)).toEqual(['One', 'Two', 'Three', 'Four']);
    const page = async (query: string) => (await test.own('GET', `/conversations/${id}/items${query}`)).json;
    const newest = await page('?limit=3');
    expect([newest.data.map(textOf), newest.has_more]).toEqual([['Four', 'Three', 'Two'], true]);
    const rest = await page(`?after=${newest.last_id}`);
    expect([rest.data.map(textOf), rest.has_more]).toEqual([['One'], false]);
    for (const query of ['?limit=0', '?limit=101', '?order=up', '?after=msg_other', '?before=x'])
      expect((await test.own('GET', `/conversations/${id}/items${query}`)).status).toBe(400);
    expect((await test.own('GET', `/conversations/${id}/items/${ids[1]}`)).json).toEqual(added.json.data[1]);
    const without = await test.own('DELETE', `/conversations/${id}/items/${ids[1]}`);
    expect(without.json).toMatchObject({ id, object: 'conversation' });
    expect(await test.texts(id)).toEqual(['One', 'Two', 'Four']);
    for (const method of ['GET', 'DELETE'])
      expect((await test.own(method, `/conversations/${id}/items/${ids[1]}`)).status).toBe(404);
  });
  it.each<[string, object, RegExp]>([
    ['21 items', { items: Array.from({ length: 21 }, () => user('x')) }, /^items: .*20/],
    ['an item of no known type', { items: [{ type: 'thought' }] }, /^items\[0\]/],
    ['a reference', { items: [{ type: 'item_reference', id: 'msg_1' }] }, /^items\[0\]\.type: .*send the item itself/],
    ['a command', { items: [{ type: 'compaction_trigger' }] }, /^items\[0\]\.type: .*cannot be kept/],
    ['17 names', { metadata: Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`n${at}`, 'x'])) }, /^metadata/],
    ['a field of another operation', { input: 'Hello' }, /input/],
  ])('is refused with %s', async (_, body, message) => {
    const { status, json } = await (await keeping()).own('POST', '/conversations', body);
    expect([status, json.error.message]).toEqual([400, expect.stringMatching(message)]);
  });
  it('needs items to add, and metadata to change', async () => {
    const test = await keeping();
    const id = await test.made();
    expect((await test.own('POST', `/conversations/${id}/items`, { items: [] })).status).toBe(400);
    expect((await test.own('POST', `/conversations/${id}`, {})).status).toBe(400);
  });
  it('is reached by its own key and user, and by whoever manages its workspace: for anybody else it is a 404', async () => {
    const test = await keeping();
    const id = await test.made({ items: [user('Secret')] });
    const [item] = (await test.own('GET', `/conversations/${id}/items`)).json.data;
    const operations = [
      ['GET', `/conversations/${id}`],
      ['POST', `/conversations/${id}`, { metadata: {} }],
      ['GET', `/conversations/${id}/items`],
      ['POST', `/conversations/${id}/items`, { items: [user('Mine')] }],
      ['GET', `/conversations/${id}/items/${item.id}`],
      ['DELETE', `/conversations/${id}/items/${item.id}`],
      ['POST', '/responses', { model: 'acme/fast', input: 'Hi', conversation: id }],
      ['POST', '/responses/explain', { model: 'acme/fast', input: 'Hi', conversation: id }],
      ['POST', '/responses/input_tokens', { model: 'acme/fast', input: 'Hi', conversation: id }],
      ['DELETE', `/conversations/${id}`],
    ] as const;
    for (const [method, path, body] of operations) {
      const { status, json } = await test.own(method, path, body, otherKey);
      const unknown = await test.own(method, path.replace(id, 'conv_unknown'), rename(body, id), otherKey);
      expect([path, status, json]).toEqual([path, 404, JSON.parse(unknown.text.replaceAll('conv_unknown', id))]);
    }
    expect(test.upstream.sent).toEqual([]);
    expect((await test.own('GET', `/conversations/${id}`, undefined, managementKey)).status).toBe(200);
    const other = (await test.call('POST', '/workspaces', { name: 'Other', slug: 'other', ...wanted })).json.data.id;
    const ann = test.gateway.as({ userId: 'ann', permissions: ['inference'], workspaceId: other });
    const hers = await ann.conversations.create({ items: [user('Hers')] });
    const bob = test.gateway.as({ userId: 'bob', permissions: ['inference'], workspaceId: other });
    for (const caller of [bob, test.gateway.as({ permissions: ['management'], workspaceId: defaultWorkspaceId })])
      await expect(caller.conversations.delete({ id: hers.id })).rejects.toMatchObject({ status: 404 });
    expect((await test.gateway.conversations.items.list({ id: hers.id, limit: 1 })).data).toMatchObject([
      { role: 'user' },
    ]);
    // The operator reaches it to look at it. A response is of the workspace of its caller.
    const asked = { model: 'acme/fast', input: 'Hi', conversation: hers.id };
    await expect(test.run(test.gateway.responses.create(asked))).rejects.toMatchObject({ status: 404 });
  });
  it.each<[string, Partial<GatewayOptions>, object, RegExp]>([
    [
      'where the operator keeps no records',
      { records: { enabled: false } },
      wanted,
      /keeps no conversations.*records\.enabled/,
    ],
    ['where the workspace keeps no content', {}, {}, /keeps no conversations of this caller/],
    ['of a key whose content is not kept', {}, { ...wanted, io_logging_api_key_ids: [1] }, /of this caller/],
  ])('is refused %s', async (_, options, settings, message) => {
    const test = await keeping(options, settings);
    const { status, json } = await test.own('POST', '/conversations', { items: [user('x')] });
    expect([status, json.error.message]).toEqual([400, expect.stringMatching(message)]);
  });
  it('takes nothing more, and can be read and deleted, once its workspace keeps no content', async () => {
    const test = await keeping();
    const id = await test.made({ items: [user('One')] });
    await imposed(test, { enforce_zdr: true });
    for (const [path, body] of [
      ['', { metadata: {} }],
      ['/items', { items: [user('Two')] }],
    ] as const) {
      const { status, json } = await test.own('POST', `/conversations/${id}${path}`, body);
      expect([status, json.error.message]).toEqual([400, expect.stringMatching(/^Zero data retention/)]);
    }
    expect((await test.own('POST', '/conversations', {})).status).toBe(400);
    expect(await test.texts(id)).toEqual(['One']);
    expect((await test.own('DELETE', `/conversations/${id}`)).status).toBe(200);
  });
  it('has bounds of items and of characters', async () => {
    const test = await keeping({ records: { enabled: true, maxConversationItems: 3, maxConversationChars: 600 } });
    const id = await test.made({ items: [user('One'), user('Two')] });
    const add = async (...texts: string[]) =>
      test.own('POST', `/conversations/${id}/items`, { items: texts.map(user) });
    const many = await add('Three', 'Four');
    expect([many.status, many.json.error.metadata]).toMatchObject([413, { limit_items: 3 }]);
    const long = await add('x'.repeat(600));
    expect([long.status, long.json.error.metadata]).toMatchObject([413, { limit_chars: 600 }]);
    for (const path of ['/responses', '/responses/explain']) {
      const asked = await askResponses(test, { conversation: id, input: [user('Three'), user('Four')] }, {}, path);
      expect([asked.status, asked.json.error.metadata.limit_items]).toEqual([413, 3]);
    }
    expect(test.upstream.sent).toEqual([]);
    expect((await add('Three')).status).toBe(200);
    expect(await test.texts(id)).toEqual(['One', 'Two', 'Three']);
  });
  it('counts as a request of the rate limits where something is written', async () => {
    const test = await keeping({ rateLimits: { key: { requestsPerMinute: 2 } } });
    const id = await test.made();
    await test.made();
    expect((await test.own('POST', '/conversations', {})).status).toBe(429);
    expect((await test.own('GET', `/conversations/${id}`)).status).toBe(200);
  });
  it('is sealed in the store, opens for another instance, and is a clear 404 without the secret', async () => {
    const bytes = new Map<string, unknown>();
    const on = (secret: string) => keeping({ store: new Keyv({ store: bytes }), secrets: { current: secret } });
    const one = await on(masterSecrets.first);
    const id = await one.made({ items: [user('Where is my parcel?')], metadata: { topic: 'parcel' } });
    await askResponses(one, { conversation: id });
    expect(JSON.stringify([...bytes])).not.toMatch(/parcel|On its way/);
    const other = await on(masterSecrets.first);
    expect(await other.texts(id)).toEqual(['Where is my parcel?', 'Hello', 'On its way']);
    const without = await on(masterSecrets.second);
    const { status, json } = await without.own('GET', `/conversations/${id}`);
    expect([status, json.error.message]).toEqual([404, expect.stringMatching(/secret that is not configured/)]);
    expect((await without.own('DELETE', `/conversations/${id}`)).status).toBe(200);
    expect([...bytes.keys()].filter((key) => key.includes('stored-conversation') && key.includes(id))).toEqual([]);
  });
  it('goes after its time without a change, with the oldest of too many, and with its workspace', async () => {
    const bytes = new Map<string, unknown>();
    const test = await keeping({
      store: new Keyv({ store: bytes }),
      records: { enabled: true, conversationsTtlMs: 600_000, maxConversations: 2 },
    });
    const kept = () => [...bytes.keys()].filter((key) => key.includes('stored-conversation-content')).length;
    const first = await test.made();
    const second = await test.made();
    await test.clock.advance(10);
    const third = await test.made();
    await test.clock.advance(10);
    // It is older than the second, and was changed after it.
    await test.own('POST', `/conversations/${first}/items`, { items: [user('x')] });
    await test.clock.advance(61_000);
    const status = async (id: string) => (await test.own('GET', `/conversations/${id}`)).status;
    expect([kept(), await status(first), await status(second), await status(third)]).toEqual([2, 200, 404, 200]);
    await test.clock.advance(530_000);
    expect((await askResponses(test, { conversation: first })).status).toBe(200);
    await test.clock.advance(100_000);
    expect([kept(), await status(first), await status(third)]).toEqual([1, 200, 404]);
    await test.clock.advance(600_000);
    expect(kept()).toBe(0);
    const { json } = await test.call('POST', '/workspaces', { name: 'Other', slug: 'other', ...wanted });
    await test.gateway
      .as({ userId: 'ann', permissions: ['inference'], workspaceId: json.data.id })
      .conversations.create();
    expect(kept()).toBe(1);
    expect((await test.call('DELETE', '/workspaces/other')).status).toBe(200);
    expect(kept()).toBe(0);
  });
});

/** A body that names another conversation. */
function rename(body: unknown, id: string): unknown {
  return body === undefined ? undefined : JSON.parse(JSON.stringify(body).replaceAll(id, 'conv_unknown'));
}

describe('a response of a conversation', () => {
  it('has its items before the input, and is added to it, in JSON and as a stream', async () => {
    const test = await keeping();
    const id = await test.made({ items: [user('Zero')] });
    const one = await askResponses(test, { conversation: id, input: 'One', instructions: 'Be short' });
    expect(one.json).toMatchObject({ conversation: { id }, store: false, previous_response_id: null });
    if (sharedAvailable) expect(specificationErrors('ResponseResource', one.json)).toEqual([]);
    test.upstream.always({ body: textStream('Done') });
    const { text } = await streamResponses(test, { conversation: { id }, input: [user('Two')] });
    expect(text.match(/"conversation":\{"id":"conv_\w+"\}/g)).toHaveLength(3);
    expect(sentTexts(test)).toEqual(['Zero\n\nOne', 'On its way', 'Two']);
    expect(await test.texts(id)).toEqual(['Zero', 'One', 'On its way', 'Two', 'Done']);
    const { data } = (await test.own('GET', `/conversations/${id}/items?limit=1`)).json;
    expect(lastOf(text).output).toEqual(data);
    expect((await test.own('GET', `/responses/${lastOf(text).id}`)).status).toBe(404);
  });
  it('goes on with the output of a call alone, and says where an output has no call', async () => {
    const test = await keeping();
    const id = await test.made();
    const tools = [{ type: 'function', name: 'track', parameters: {} }];
    const call = { id: 'call_1', type: 'function', function: { name: 'track', arguments: '{"id":7}' } };
    test.upstream.answer({
      body: completion({}, { content: null, tool_calls: [call] }, { finish_reason: 'tool_calls' }),
    });
    await askResponses(test, { conversation: id, tools });
    const output = (callId: string) => ({ type: 'function_call_output', call_id: callId, output: 'found' });
    expect((await askResponses(test, { conversation: id, tools, input: [output('call_1')] })).status).toBe(200);
    expect(await test.texts(id)).toEqual(['Hello', '{"id":7}', 'found', 'On its way']);
    const lost = await askResponses(test, { conversation: id, tools, input: [output('call_2')] });
    expect([lost.status, lost.json.error.metadata.issues]).toMatchObject([422, [{ path: 'input[0].call_id' }]]);
    const called = (await test.own('GET', `/conversations/${id}/items?order=asc`)).json.data[1];
    await test.own('DELETE', `/conversations/${id}/items/${called.id}`);
    const broken = await askResponses(test, { conversation: id, tools });
    expect([broken.status, broken.json.error.message]).toEqual([422, expect.stringMatching(/^conversation: item 1/)]);
  });
  it('gives a provider of Responses its encrypted reasoning back, and never the id', async () => {
    const test = await keeping(nativeUp);
    const id = await test.made();
    const thought = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'opaque', status: 'completed' };
    test.upstream.always({ body: nativeResponse([thought, nativeMessage('Hi')]) });
    for (const input of ['Hello', 'And?']) await askResponses(test, { conversation: id, input });
    const { input, conversation, store } = test.upstream.sent[1]?.body ?? {};
    expect([conversation, store]).toEqual([undefined, false]);
    expect(input).toMatchObject([
      { role: 'user' },
      { encrypted_content: 'opaque' },
      { role: 'assistant' },
      { role: 'user' },
    ]);
    const { data } = (await test.own('GET', `/conversations/${id}/items`)).json;
    expect(new Set(data.map((item: { id: string }) => item.id)).size).toBe(6);
  });
  describe('with a compaction', () => {
    const sentBy = ({ upstream }: Keeping) => {
      const { messages } = (upstream.sent.at(-1) as Sent).body as { messages: { role: string; content: string }[] };
      return messages.map(({ role, content }) => `${role}: ${content}`);
    };

    it('goes on from it, and still lists what was before', async () => {
      const test = await keeping();
      const conversation = await test.made({ items: [{ type: 'message', role: 'developer', content: 'Be brief' }] });
      const say = async (input: unknown) => {
        const { status, json } = await test.own('POST', '/responses', { model: 'acme/fast', input, conversation });
        expect([status, json.error]).toEqual([200, null]);
        return json;
      };
      await say('One');
      test.upstream.answer({ body: completion({}, { content: 'They have said One' }) });
      expect((await say([{ type: 'compaction_trigger' }])).output.map(({ type }: { type: string }) => type)).toEqual([
        'compaction',
      ]);
      await say('Two');
      expect(sentBy(test)).toEqual(['system: Be brief', expect.stringMatching(/^user: .*They have said One\s+Two$/s)]);
      const { json } = await test.own('GET', `/conversations/${conversation}/items?order=asc`);
      expect(json.data.map(({ type }: { type: string }) => type)).toEqual([
        'message',
        'message',
        'message',
        'compaction',
        'message',
        'message',
      ]);
    });
    it('keeps what POST /responses/compact has given, and a call whose output is still to come', async () => {
      const test = await keeping();
      const { json: made } = await test.own('POST', '/responses/compact', {
        model: 'acme/fast',
        input: [user('Early'), user('Late')],
      });
      const call = { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' };
      const done = { ...call, call_id: 'c0' };
      const items = [done, { type: 'function_call_output', call_id: 'c0', output: 'Old' }, call, ...made.output];
      const conversation = await test.made({ items });
      const input = [{ type: 'function_call_output', call_id: 'c1', output: 'Seen' }];
      const { status } = await test.own('POST', '/responses', { model: 'acme/fast', input, conversation });
      expect(status).toBe(200);
      const sent = JSON.stringify(test.upstream.sent.at(-1)?.body);
      for (const kept of ['Early', 'Late', 'c1', 'Seen']) expect(sent).toContain(kept);
      for (const gone of ['c0', 'Old']) expect(sent).not.toContain(gone);
    });
    it('goes on from it by `previous_response_id` too', async () => {
      const test = await keeping();
      const say = async (body: object) =>
        (await test.own('POST', '/responses', { model: 'acme/fast', store: true, ...body })).json;
      const first = await say({ input: 'One' });
      test.upstream.answer({ body: completion({}, { content: 'They have said One' }) });
      const second = await say({ input: [{ type: 'compaction_trigger' }], previous_response_id: first.id });
      await say({ input: 'Two', previous_response_id: second.id });
      expect(sentBy(test)).toEqual([expect.stringMatching(/^user: .*They have said One\s+Two$/s)]);
    });
  });
  it('needs an input', async () => {
    const test = await keeping();
    const conversation = await test.made({ items: [user('What is new?')] });
    const { status, json } = await test.own('POST', '/responses', { model: 'acme/fast', conversation });
    expect([status, json.error.message]).toEqual([400, expect.stringMatching(/^input: expected/)]);
    expect(test.upstream.sent).toEqual([]);
  });
  it('is kept with `store: true` as well, with all of its input', async () => {
    const test = await keeping();
    const id = await test.made({ items: [user('Zero')] });
    const { json } = await askResponses(test, { conversation: id, input: 'One', store: true });
    expect((await test.own('GET', `/responses/${json.id}`)).json).toEqual(json);
    await test.own('DELETE', `/conversations/${id}`);
    await askResponses(test, { previous_response_id: json.id, input: 'Two' });
    expect(sentTexts(test)).toEqual(['Zero\n\nOne', 'On its way', 'Two']);
  });
  it('is added where it is incomplete, and not where it fails or its client leaves', async () => {
    const test = await keeping();
    const id = await test.made();
    test.upstream.answer({ body: completion({}, { content: 'Cut' }, { finish_reason: 'length' }) });
    const cut = await askResponses(test, { conversation: id, input: 'One' });
    expect(cut.json).toMatchObject({ status: 'incomplete', conversation: { id } });
    test.upstream.always({ body: textStream('On its ', 'way').slice(0, 2) });
    const failed = lastOf((await streamResponses(test, { conversation: id, input: 'Two' })).text);
    expect(failed).toMatchObject({ status: 'failed', conversation: null });
    test.upstream.always({ status: 400, body: { error: { message: 'no' } } });
    expect((await askResponses(test, { conversation: id, input: 'Three' })).status).toBe(400);
    test.upstream.always({ body: textStream('On its ', 'way') });
    const left = await test.run(sendResponses(test, { conversation: id, input: 'Four', stream: true }));
    const reader = (left.body as ReadableStream<Uint8Array>).getReader();
    await test.run(reader.read());
    await reader.cancel();
    expect(await test.texts(id)).toEqual(['One', 'Cut']);
  });
  it.each([false, true])(
    'says where it could not be added: it was paid for, and does not claim to be there (stream: %s)',
    async (stream) => {
      const down = { isDown: false };
      const warned: string[] = [];
      const quiet = () => undefined;
      const logger = { info: quiet, warn: (_: object, text: string) => void warned.push(text), error: quiet };
      // The conversation was read by then.
      const breaking = definePlugin({
        id: 'breaking',
        before: (request) => {
          down.isDown = true;
          return request;
        },
      });
      const store = new Keyv({ store: storeThat(down) });
      const test = await keeping({ store, logger, plugins: [breaking] });
      const id = await test.made();
      test.upstream.always({ body: stream ? textStream('Late') : completion({}, { content: 'Late' }) });
      const asked = { conversation: id, store: true, plugins: [{ id: 'breaking' }] };
      const metadata = { 'x-service-metadata': 'enabled' };
      const answer = stream
        ? lastOf((await streamResponses(test, asked, metadata)).text)
        : await askResponses(test, asked, metadata).then(({ json, headers }) => {
            expect(headers.get('x-service-dropped')).toBe('conversation');
            return json;
          });
      const said = { status: 'completed', store: true, conversation: null };
      expect(answer).toMatchObject({ ...said, service_metadata: { dropped: ['conversation'] } });
      expect(warned).toContain('A response could not be added to its conversation');
      expect((await test.own('GET', `/conversations/${id}`)).status).toBe(503);
      down.isDown = false;
      expect(await test.texts(id)).toEqual([]);
      expect((await test.own('GET', `/responses/${answer.id}`)).json).toEqual(answer);
    },
  );
  it('is refused together with `previous_response_id`, and where a compaction is asked for', async () => {
    const test = await keeping();
    const id = await test.made();
    const both = await askResponses(test, { conversation: id, previous_response_id: 'gen-1' });
    expect([both.status, both.json.error.message]).toEqual([
      400,
      expect.stringMatching(/^conversation: .*one of the two/),
    ]);
    const compact = await askResponses(test, { conversation: id }, {}, '/responses/compact');
    expect([compact.status, compact.json.error.message]).toEqual([
      400,
      expect.stringMatching(/^conversation: .*not compacted/),
    ]);
    expect((await askResponses(test, { conversation: 7 })).status).toBe(400);
    expect((await askResponses(test, { conversation: { name: 'x' } })).status).toBe(400);
    for (const nothing of [null, undefined]) {
      const { status, json } = await askResponses(test, { conversation: nothing });
      expect([status, 'conversation' in json]).toEqual([200, false]);
    }
  });
  it.each<[string, Partial<GatewayOptions>, object, RegExp]>([
    [
      'where the operator keeps no records',
      { records: { enabled: false } },
      {},
      /^conversation: this operation is stateless/,
    ],
    ['under zero data retention', {}, { provider: { zdr: true } }, /^conversation: zero data retention/],
  ])('is refused %s, before a model is asked', async (_, options, fields, message) => {
    const test = await keeping(options);
    for (const path of ['/responses', '/responses/explain']) {
      const { status, json } = await askResponses(test, { ...fields, conversation: 'conv_1' }, {}, path);
      expect([status, json.error.message]).toEqual([400, expect.stringMatching(message)]);
    }
    expect(test.upstream.sent).toEqual([]);
  });
  it('is refused where its workspace keeps content no more, or a hook asks for zero data retention', async () => {
    const secret = definePlugin({
      id: 'secret',
      before: (request) => ({ ...request, provider: { ...request.provider, zdr: true } }),
    });
    const test = await keeping({ plugins: [secret] });
    const id = await test.made();
    const hooked = await askResponses(test, { conversation: id, plugins: [{ id: 'secret' }] });
    expect([hooked.status, hooked.json.error.message]).toEqual([
      400,
      expect.stringMatching(/^conversation: zero data/),
    ]);
    await test.call('PATCH', '/workspaces/default', { is_observability_io_logging_enabled: false });
    const { status, json } = await askResponses(test, { conversation: id });
    expect([status, json.error.message]).toEqual([
      400,
      expect.stringMatching(/^conversation: this workspace keeps no/),
    ]);
    expect([test.upstream.sent.length, await test.texts(id)]).toEqual([0, []]);
  });
  it('counts and holds the whole conversation, and explains it, and adds nothing by that', async () => {
    const test = await keeping();
    const id = await test.made({ items: [user('word '.repeat(400))] });
    const tokens = async (fields: object) =>
      (await askResponses(test, fields, {}, '/responses/input_tokens')).json.input_tokens as number;
    expect(await tokens({ conversation: id })).toBeGreaterThan((await tokens({})) + 300);
    const explained = async (fields: object) =>
      (await askResponses(test, { ...fields, max_output_tokens: 1 }, {}, '/responses/explain')).json.data;
    const [whole, alone] = [await explained({ conversation: id }), await explained({})];
    expect(whole.candidates[0].max_prompt_tokens).toBeGreaterThan(alone.candidates[0].max_prompt_tokens + 300);
    expect(await test.texts(id)).toHaveLength(1);
  });
  it('shows guardrails the whole conversation, and is added as they have left it', async () => {
    const bytes = new Map<string, unknown>();
    const test = await keeping({ store: new Keyv({ store: bytes }) });
    const id = await test.made({ items: [user('Zero'), { role: 'assistant', content: 'I am bob@example.org' }] });
    await imposed(test, { content_filter_builtins: [{ slug: 'email', action: 'redact' }] });
    test.upstream.always({ body: completion({}, { content: 'Write to bob@example.com' }) });
    const own = [{ role: 'assistant', content: 'Well' }, user('I am ann@example.com')];
    const { json } = await askResponses(test, { conversation: id, input: [user('eve@example.com')] });
    expect(json.conversation).toEqual({ id });
    expect(JSON.stringify([...bytes])).not.toContain('example.com');
    expect(sentTexts(test).join()).not.toContain('example');
    // The caller's first item is in one message with the last one of the conversation.
    expect((await askResponses(test, { conversation: id, input: own })).json.conversation).toEqual({ id });
    expect((await test.texts(id)).slice(2)).toEqual([
      '[REDACTED:email]',
      'Write to [REDACTED:email]',
      'Well',
      'I am [REDACTED:email]',
      'Write to [REDACTED:email]',
    ]);
  });
  it('is blocked by what a guardrail finds in an item that was added before', async () => {
    const test = await keeping();
    const id = await test.made({ items: [user('I am ann@example.com')] });
    await imposed(test, { content_filter_builtins: [{ slug: 'email', action: 'block' }] });
    expect([(await askResponses(test, { conversation: id })).status, test.upstream.sent.length]).toEqual([403, 0]);
  });
  it('loses nothing where several are made at the same time, in one instance', async () => {
    const one = await keeping();
    const id = await one.made();
    const texts = Array.from({ length: 8 }, (_, at) => `Turn ${at}`);
    const turns = await Promise.all([
      ...texts.map((input) => askResponses(one, { conversation: id, input })),
      ...texts.map((text) => one.own('POST', `/conversations/${id}/items`, { items: [user(`${text} added`)] })),
    ]);
    expect(turns.map(({ status }) => status)).toEqual(turns.map(() => 200));
    const kept = await one.texts(id);
    expect(kept.filter((text) => text !== 'On its way').toSorted()).toEqual(
      [...texts, ...texts.map((text) => `${text} added`)].toSorted(),
    );
    // Input and output of a turn stay together.
    for (const text of texts) expect(kept[kept.indexOf(text) + 1]).toBe('On its way');
  });
  it('is not added to a conversation that was deleted meanwhile', async () => {
    const test = await keeping();
    const id = await test.made();
    test.upstream.always({ body: textStream('On ', 'it') });
    const response = await test.run(sendResponses(test, { conversation: id, stream: true }));
    expect((await test.own('DELETE', `/conversations/${id}`)).status).toBe(200);
    const last = lastOf(await test.run(response.text()));
    expect(last).toMatchObject({ status: 'completed', conversation: null });
    expect((await test.own('GET', `/conversations/${id}`)).status).toBe(404);
  });
});

describe('the client of OpenAI', () => {
  it('makes conversations, adds and lists items, asks for responses, and deletes', async () => {
    const test = await keeping();
    const ann = test.gateway.as({ userId: 'ann', permissions: ['inference'], workspaceId: defaultWorkspaceId });
    const { conversations, responses } = new OpenAI({ ...ann.clientOptions(), maxRetries: 0 });
    expect(await test.run(conversations.create())).toMatchObject({ object: 'conversation', metadata: {} });
    const { id } = await test.run(conversations.create({ items: [user('Zero')], metadata: { a: 'b' } }));
    const model = 'acme/fast';
    const one = await test.run(responses.create({ model, input: 'One', conversation: id }));
    expect(one).toMatchObject({ conversation: { id }, output_text: 'On its way' });
    test.upstream.always({ body: textStream('On ', 'it') });
    const two = await test.run(responses.stream({ model, input: 'Two', conversation: { id } }).finalResponse());
    expect(two.conversation).toEqual({ id });
    const added = await test.run(
      conversations.items.create(id, { items: [user('Three')], include: ['reasoning.encrypted_content'] }),
    );
    const texts: unknown[] = [];
    const list = async () => {
      // The client asks for the next page by itself.
      for await (const item of conversations.items.list(id, { order: 'asc', limit: 2 }))
        texts.push(textOf(item as never));
    };
    await test.run(list());
    expect(texts).toEqual(['Zero', 'One', 'On its way', 'Two', 'On it', 'Three']);
    const item = added.data[0]?.id as string;
    expect(await test.run(conversations.items.retrieve(item, { conversation_id: id }))).toEqual(added.data[0]);
    expect((await test.run(conversations.items.delete(item, { conversation_id: id }))).id).toBe(id);
    expect((await test.run(conversations.update(id, { metadata: { c: 'd' } }))).metadata).toEqual({ c: 'd' });
    expect((await test.run(conversations.retrieve(id))).metadata).toEqual({ c: 'd' });
    expect((await test.run(conversations.delete(id))).deleted).toBe(true);
    await expect(test.run(conversations.retrieve(id))).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    const gone = responses.create({ model, input: 'Four', conversation: id });
    await expect(test.run(gone)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  });
});

describe('a WebSocket', () => {
  it('carries turns of a conversation, and goes on from none of them by its id alone', async () => {
    const test = await keeping();
    const id = await test.made({ items: [user('Zero')] });
    test.upstream.always({ body: textStream('Yes') });
    const socket = await openSocket(test);
    const one = (await socket.turn({ input: 'One', conversation: id })).at(-1);
    expect(one).toMatchObject({ type: 'response.completed', response: { conversation: { id } } });
    await socket.turn({ input: 'Two', conversation: id });
    expect(sentTexts(test)).toEqual(['Zero\n\nOne', 'Yes', 'Two']);
    expect(await test.texts(id)).toEqual(['Zero', 'One', 'Yes', 'Two', 'Yes']);
    const after = { input: 'Three', previous_response_id: one?.response.id };
    const error = async (fields: object) => (await socket.turn(fields)).at(-1)?.error;
    expect(await error(after)).toMatchObject({ code: 'previous_response_not_found' });
    expect(await error({ ...after, conversation: id })).toMatchObject({ param: 'conversation' });
    expect(await error({ input: 'Three', conversation: id, generate: false })).toMatchObject({ param: 'generate' });
    expect(await error({ input: 'Three', conversation: 'conv_unknown' })).toMatchObject({ code: 'not_found' });
    expect(await test.texts(id)).toHaveLength(5);
  });
  it('takes no input for the response of a conversation while that is made', async () => {
    const test = await keeping();
    const id = await test.made();
    const { promise: until, resolve: release } = Promise.withResolvers<void>();
    const frames = textStream('Y', 'es');
    test.upstream.always({ body: [...frames.slice(0, 2), { until }, ...frames.slice(2)] });
    const socket = await openSocket(test);
    socket.send({ type: 'response.create', model: 'acme/fast', input: 'One', conversation: id });
    const [created] = (await socket.until(({ type }) => type === 'response.created')).slice(-1);
    socket.send({ type: 'response.steer', previous_response_id: created?.response.id, input: 'More' });
    const failed = (await socket.until(({ type }) => type === 'response.steer.failed')).at(-1);
    expect(failed?.error).toMatchObject({ code: 'steering_not_supported' });
    release();
    await socket.until(({ type }) => type === 'response.completed');
    expect(await test.texts(id)).toEqual(['One', 'Yes']);
  });
});
