import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { sqliteStore } from '../../adapters/sqlite/sqlite.ts';
import { randomIds } from '../../src/base/ids.ts';
import type { HostCaller } from '../../src/http/host-caller.ts';
import type { GatewayOptions } from '../../src/options.ts';
import { brittleStore } from '../support/brittle-store.ts';
import { hello, managementKey, nextTurn, type TestGateway, testGateway, testKey } from '../support/gateway.ts';
import { sharedAvailable, validateAgainstReference } from '../support/reference.ts';
import { completion, textStream } from '../support/upstream.ts';

const folder = mkdtempSync(join(tmpdir(), 'gateway-records-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const file = () => join(folder, `${++files}.db`);

const ask = { model: 'acme/fast', messages: hello, max_tokens: 100 };
/** Users of a host app. */
const hostUsers: Record<string, HostCaller> = {
  ann: { permissions: ['inference'], userId: 'ann' },
  bob: { permissions: ['inference'], userId: 'bob' },
  nobody: { permissions: ['inference'] },
};
const inference = { authorization: `Bearer ${testKey}` };

function open(options: Partial<GatewayOptions> = {}): TestGateway {
  const tested = testGateway({ ids: randomIds, records: { enabled: true }, ...options });
  tested.upstream.always({ body: completion() });
  return tested;
}

async function asked(tested: TestGateway, fields: object = {}, headers = {}): Promise<string> {
  const answer = await tested.post({ ...ask, ...fields }, headers);
  expect(answer.status).toBe(200);
  return answer.headers.get('x-generation-id') as string;
}

async function keyOf(tested: TestGateway, fields: object): Promise<{ authorization: string }> {
  const { json } = await tested.call('POST', '/keys', { name: 'Test', ...fields });
  return { authorization: `Bearer ${json.key}` };
}

const workspaceOf = async (tested: TestGateway, slug: string): Promise<string> =>
  (await tested.call('POST', '/workspaces', { name: slug, slug })).json.data.id;

describe('GET /generation', () => {
  it('has what `trace` names, further keys as well, and lists what it leaves out', async () => {
    const tested = open();
    const many = Object.fromEntries(Array.from({ length: 16 }, (_, at) => [`k${at}`, at]));
    const trace = { trace_id: 't1', 'not a word': 'x', nested: {}, none: null, flag: true, ...many };
    const { json, headers } = await tested.post({ ...ask, trace }, { 'x-service-metadata': 'enabled' });
    const id = headers.get('x-generation-id');
    const record = (await tested.call('GET', `/generation?id=${id}`)).json.data;
    const { k14: _, k15: __, ...kept } = many;
    const asTexts = Object.fromEntries(Object.entries(kept).map(([name, value]) => [name, String(value)]));
    expect(record.trace).toEqual({ trace_id: 't1', flag: 'true', ...asTexts });
    expect(json.service_metadata?.dropped).toEqual(['trace', 'trace.nested', 'trace.k14', 'trace.k15']);
  });
  it('says what happened in a request, in the form of the interface', async () => {
    const tested = open();
    const id = await asked(tested, {
      model: 'acme/pair',
      session_id: 'talk',
      trace: { trace_id: 't1', ticket: 'of the client', nested: { no: 'kept by nobody' } },
    });
    const { status, json, text } = await tested.call('GET', `/generation?id=${id}`);
    expect(status).toBe(200);
    if (sharedAvailable) {
      const known = structuredClone(json);
      expect(validateAgainstReference('GenerationResponse', known)).toEqual([]);
    }
    const [record] = tested.records;
    expect(json.data).toMatchObject({
      id,
      model: 'acme/pair',
      provider_name: 'Up',
      operation: 'createChatCompletion',
      outcome: 'ok',
      session_id: 'talk',
      trace: { trace_id: 't1', ticket: 'of the client' },
      total_cost: (record?.costNanoUsd as number) / 1e9,
      cost_nano_usd: record?.costNanoUsd,
      tokens_prompt: record?.usage?.prompt_tokens,
      attempts: [{ provider: 'Up', status: 200, model: 'acme/pair' }],
    });
    expect(text).not.toContain('Hello');
    expect(text).not.toContain('kept by nobody');
    await tested.gateway.close();
  });
  it('says who asked and with what media, and the service tier that the provider named', async () => {
    const tested = open();
    tested.upstream.always({ body: completion({ service_tier: 'flex' }) });
    const content = [
      { type: 'text', text: 'What is this?' },
      { type: 'image_url', image_url: { url: 'https://pictures.test/a.png' } },
      { type: 'image_url', image_url: { url: 'https://pictures.test/b.png' } },
      { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
    ];
    const id = await asked(
      tested,
      { messages: [{ role: 'user', content }] },
      { 'user-agent': `robot\u00801 ${'x'.repeat(300)}`, 'http-referer': 'https://app.test/chat?token=of-a-user#top' },
    );
    const { json } = await tested.call('GET', `/generation?id=${id}`);
    expect(json.data).toMatchObject({
      service_tier: 'flex',
      num_media_prompt: 2,
      num_input_audio_prompt: 1,
      http_referer: 'https://app.test/chat',
      origin: 'https://app.test',
    });
    expect(json.data.user_agent).toMatch(/^robot 1 x+…$/);
    expect(json.data.user_agent).toHaveLength(256);
    if (sharedAvailable) expect(validateAgainstReference('GenerationResponse', json)).toEqual([]);
    tested.upstream.always({
      body: textStream('Hello').map((part) => part.replace('"id"', '"service_tier":"priority","id"')),
    });
    const plain = await asked(tested, { stream: true }, { referer: 'not a url' });
    const { data } = (await tested.call('GET', `/generation?id=${plain}`)).json;
    expect(data).toMatchObject({ service_tier: 'priority', user_agent: null, http_referer: 'not a url', origin: '' });
    expect([data.num_media_prompt, data.num_fetches, data.web_search_engine]).toEqual([0, null, null]);
    await tested.gateway.close();
  });
  it('is a 404 without the option, for an unknown id, and for an id that no store takes', async () => {
    const off = open({ records: {} });
    const id = await asked(off);
    for (const path of [`/generation?id=${id}`, '/generations'])
      expect(await off.call('GET', path)).toMatchObject({
        status: 404,
        json: { error: { message: expect.stringContaining('records.enabled') } },
      });
    const tested = open();
    for (const id of ['gen-1', '../../etc', 'a b', '%00', 'x'.repeat(200)])
      expect((await tested.call('GET', `/generation?id=${id}`)).status).toBe(404);
    expect((await tested.call('GET', '/generation')).status).toBe(400);
    expect((await tested.call('GET', `/generation?id=${'x'.repeat(201)}`)).status).toBe(400);
  });
  it('shows a record to its workspace and to operators, and an inference key its own requests alone', async () => {
    const tested = open();
    const [north, south] = [await workspaceOf(tested, 'north'), await workspaceOf(tested, 'south')];
    const [asker, other] = [await keyOf(tested, { workspace_id: north }), await keyOf(tested, { workspace_id: north })];
    const manager = await keyOf(tested, { workspace_id: north, permissions: ['management'] });
    const stranger = await keyOf(tested, { workspace_id: south, permissions: ['management', 'inference'] });
    const id = await asked(tested, {}, asker);
    const statusFor = async (headers: object) =>
      (await tested.call('GET', `/generation?id=${id}`, undefined, headers as Record<string, string>)).status;
    expect(await statusFor(asker)).toBe(200);
    expect(await statusFor(manager)).toBe(200);
    expect(await statusFor({})).toBe(200);
    expect(await statusFor(other)).toBe(404);
    expect(await statusFor(stranger)).toBe(404);
    expect(await statusFor(inference)).toBe(404);
    const list = async (headers: object, query = '') =>
      tested.call('GET', `/generations${query}`, undefined, headers as Record<string, string>);
    expect((await list(manager)).json.data).toHaveLength(1);
    expect((await list(stranger)).json).toMatchObject({ data: [], total_count: 0 });
    expect((await list(stranger, `?workspace_id=${north}`)).status).toBe(404);
    expect((await list(asker)).json.data).toHaveLength(1);
    expect((await list(other)).json.data).toHaveLength(0);
    expect((await list({}, `?workspace_id=${north}`)).json.data).toHaveLength(1);
    expect((await list({})).json.data).toHaveLength(0);
  });
});

describe('GET /generations', () => {
  it('lists for a caller that may not manage what its own key or user has asked, and nothing of others', async () => {
    const tested = open({
      authenticate: ({ headers }) => hostUsers[headers.get('x-user') ?? ''] ?? null,
      apiKeys: [{ key: managementKey, permissions: ['management'] }],
    });
    const [mine, others] = [await keyOf(tested, {}), await keyOf(tested, {})];
    const [own, foreign] = [await asked(tested, {}, mine), await asked(tested, {}, others)];
    const idsOf = async (query: string, headers: object) => {
      const { status, json } = await tested.call('GET', `/generations${query}`, undefined, { ...headers });
      return status === 200 ? json.data.map(({ id }: { id: string }) => id) : status;
    };
    expect(await idsOf('', mine)).toEqual([own]);
    expect(await idsOf('', others)).toEqual([foreign]);
    expect((await tested.call('GET', '/generations', undefined, mine)).json.total_count).toBe(1);
    const hash = (await tested.call('GET', `/generation?id=${foreign}`)).json.data.api_key_hash;
    expect(await idsOf(`?api_key_hash=${hash}`, mine)).toBe(403);
    const as = (user: string) => ({ authorization: '', 'x-user': user });
    const ofAnn = await asked(tested, {}, as('ann'));
    // The field `user` says nothing of who may read.
    await asked(tested, { user: 'ann' }, mine);
    await asked(tested, { user: 'ann' }, as('bob'));
    expect(await idsOf('', as('ann'))).toEqual([ofAnn]);
    expect(await idsOf('?user=bob', as('ann'))).toBe(403);
    expect(await idsOf('', as('nobody'))).toBe(403);
  });
  it('lists newest first, by page and by each filter', async () => {
    const tested = open({
      authenticate: (request) =>
        ({
          permissions: ['inference', 'management'] as const,
          userId: request.headers.get('x-user'),
        }) as never,
    });
    const ids: string[] = [];
    for (let at = 0; at < 6; at++) {
      const fields = { model: at % 2 ? 'acme/fast' : 'acme/other', session_id: `s${at % 3}` };
      ids.unshift(await asked(tested, fields, { 'x-user': `u${at % 3}` }));
      await tested.clock.advance(60_000);
    }
    tested.upstream.always({ status: 400, body: { error: { message: 'no' } } });
    await tested.post({ ...ask, model: 'acme/pair' });
    const list = async (query: string) => (await tested.call('GET', `/generations?${query}`)).json;
    const idsOf = async (query: string) => (await list(query)).data.map(({ id }: { id: string }) => id);
    expect(await list('limit=2')).toMatchObject({ total_count: 7, resume_to: null });
    expect(await idsOf('offset=1&limit=3')).toEqual(ids.slice(0, 3));
    expect(await idsOf('model=acme/other')).toEqual(ids.filter((_, at) => at % 2 === 1));
    expect(await idsOf('provider=Alt&limit=1&offset=1')).toEqual([ids[3]]);
    expect(await idsOf('session=s1')).toEqual([ids[1], ids[4]]);
    expect(await idsOf('user=u2')).toEqual([ids[0], ids[3]]);
    expect(await idsOf('outcome=failed')).toHaveLength(1);
    const start = Date.UTC(2026, 0, 1);
    const at = (minutes: number) => new Date(start + minutes * 60_000).toISOString();
    expect(await idsOf(`from=${at(1)}&to=${at(3)}`)).toEqual([ids[3], ids[4]]);
    for (const query of ['from=yesterday', 'outcome=good', 'limit=0', 'what=else'])
      expect((await tested.call('GET', `/generations?${query}`)).status).toBe(400);
  });
  it('looks through a bounded number of records and says where to continue', async () => {
    const tested = open({ records: { enabled: true, maxScanned: 3 } });
    const wanted: string[] = [];
    for (let at = 0; at < 8; at++) {
      const id = await asked(tested, { model: at === 0 || at === 4 ? 'acme/other' : 'acme/fast' });
      if (at === 0 || at === 4) wanted.unshift(id);
      await tested.clock.advance(1000);
    }
    const found: string[] = [];
    let to = '';
    for (let page = 0; page < 10; page++) {
      const { json } = await tested.call('GET', `/generations?model=acme/other${to}`);
      for (const { id } of json.data) found.push(id);
      if (json.resume_to === null) break;
      to = `&to=${json.resume_to}`;
    }
    expect(found).toEqual(wanted);
  });
});

describe('kept records', () => {
  it('are seen by another instance and after a restart', async () => {
    const path = file();
    const [first, second] = [open({ store: sqliteStore(path) }), open({ store: sqliteStore(path) })];
    const id = await asked(first);
    await first.clock.advance(1_000);
    expect((await second.call('GET', `/generation?id=${id}`)).status).toBe(200);
    const last = await asked(second);
    await second.gateway.close();
    await first.gateway.close();
    const third = open({ store: sqliteStore(path) });
    const { json } = await third.call('GET', '/generations');
    expect(json.data.map((one: { id: string }) => one.id).sort()).toEqual([id, last].sort());
    await third.gateway.close();
  });
  it('go after their time to live, and the oldest beyond the most that are kept', async () => {
    const path = file();
    const tested = open({ store: sqliteStore(path), records: { enabled: true, ttlMs: 600_000, max: 3 } });
    const ids: string[] = [];
    for (let at = 0; at < 5; at++) {
      ids.push(await asked(tested));
      await tested.clock.advance(1_000);
    }
    await tested.clock.advance(120_000);
    const listed = async () => (await tested.call('GET', '/generations')).json;
    expect(await listed()).toMatchObject({ total_count: 3, data: [{ id: ids[4] }, { id: ids[3] }, { id: ids[2] }] });
    expect((await tested.call('GET', `/generation?id=${ids[0]}`)).status).toBe(404);
    await tested.clock.advance(480_000);
    // Expired, and not swept yet.
    expect((await tested.call('GET', `/generation?id=${ids[4]}`)).status).toBe(404);
    await tested.clock.advance(120_000);
    expect(await listed()).toMatchObject({ total_count: 0, data: [] });
    await tested.gateway.close();
  });
  it('go with their workspace', async () => {
    const tested = open();
    const north = await workspaceOf(tested, 'north');
    const made = (await tested.call('POST', '/keys', { name: 'K', workspace_id: north })).json;
    const id = await asked(tested, {}, { authorization: `Bearer ${made.key}` });
    expect((await tested.call('GET', `/generation?id=${id}`)).status).toBe(200);
    await tested.call('DELETE', `/keys/${made.data.hash}`);
    expect((await tested.call('DELETE', `/workspaces/${north}`)).status).toBe(200);
    expect((await tested.call('GET', `/generation?id=${id}`)).status).toBe(404);
  });
});

describe('a store that fails', () => {
  const faults = {
    'is down': () => Promise.reject(Object.assign(new Error('gone'), { code: 'ECONNREFUSED' })),
    hangs: () => new Promise<never>(() => undefined),
  };
  it.each(Object.entries(faults))(
    '%s: requests are served, the queue is bounded, drops are counted',
    async (_, fault) => {
      const { state, store } = brittleStore();
      const lines: [object, string][] = [];
      const log = (fields: object, message: string) => void lines.push([fields, message]);
      const tested = open({
        store,
        logger: { info: log, warn: log, error: log },
        records: { enabled: true, queueLength: 4 },
      });
      const first = await asked(tested);
      await tested.clock.advance(1_000);
      // Only records use the store from here on: what a request reads of it is cached.
      state.fault = fault;
      for (let at = 0; at < 10; at++) {
        const before = tested.clock.now();
        await asked(tested);
        expect(tested.clock.now()).toBe(before);
      }
      const told = () => lines.filter(([, message]) => /queue/.test(message));
      expect(told()).toHaveLength(1);
      await tested.clock.advance(2_000);
      await nextTurn();
      state.fault = null;
      await tested.clock.advance(5_000);
      await nextTurn();
      await tested.clock.advance(5_000);
      expect(told().map(([fields]) => fields)).toEqual([expect.anything(), { dropped: 6 }]);
      const { json } = await tested.call('GET', '/generations', undefined, {
        authorization: `Bearer ${managementKey}`,
      });
      expect(json.data).toHaveLength(5);
      expect(json.data.at(-1).id).toBe(first);
      await tested.run(tested.gateway.close());
    },
  );
});
