import { Keyv } from 'keyv';
import { describe, expect, it } from 'vitest';
import type { GatewayOptions } from '../../src/options.ts';
import { hello, type TestGateway, testGateway } from '../support/gateway.ts';
import { seeded } from '../support/routing.ts';
import { tenantGateway } from '../support/tenant-gateway.ts';
import { completion, errorBody, textStream } from '../support/upstream.ts';

const names = ['one', 'two', 'three', 'four'];
const pricing = { prompt: '0.000001', completion: '0.000001' };
const model = (slug: string, extra: object = {}) => ({
  slug,
  order: 'price' as const,
  endpoints: names.map((provider) => ({
    provider,
    model: `${slug} at ${provider}`,
    pricing: { ...pricing, ...extra },
  })),
});

/** Four endpoints that cost the same, drawn from as in earnest. */
function options(seed: number): Partial<GatewayOptions> {
  return {
    providers: Object.fromEntries(names.map((name) => [name, { baseUrl: `https://${name}.test/v1` }])),
    models: [
      model('acme/any'),
      model('acme/other'),
      model('acme/cached', { inputCacheRead: '0.0000001' }),
      model('acme/same-cached', { inputCacheRead: '0.000001' }),
    ],
    random: seeded(seed),
    retry: { attemptsPerEndpoint: 1 },
    health: { failuresToCooldown: 1000 },
  };
}

function gateway(seed = 1, more: Partial<GatewayOptions> = {}): TestGateway {
  const tested = testGateway({ ...options(seed), ...more });
  tested.upstream.always({ body: completion() });
  return tested;
}

const ask = { model: 'acme/any', messages: hello };

/** Who was asked last. */
function lastOf({ upstream }: TestGateway): string {
  return /\/\/([^.]+)/.exec(upstream.sent.at(-1)?.url ?? '')?.[1] ?? '';
}

/** Sends a request. @returns who served it */
async function served(tested: TestGateway, fields: object = {}, headers: Record<string, string> = {}): Promise<string> {
  const { status, text } = await tested.post({ ...ask, ...fields }, headers);
  expect(status, text).toBe(200);
  return lastOf(tested);
}

/** Who serves the next so many requests, each once. */
async function whoServes(tested: TestGateway, count: number, fields: object = {}): Promise<Set<string>> {
  const all = new Set<string>();
  for (let n = 0; n < count; n++) all.add(await served(tested, fields));
  return all;
}

/** A session whose first endpoint is this one. */
async function sessionAt(tested: TestGateway, name: string, fields: object = {}): Promise<string> {
  for (let n = 0; n < 100; n++) {
    const session_id = `looking for ${name} ${n}`;
    if ((await served(tested, { session_id, ...fields })) === name) return session_id;
  }
  throw new Error(`No session goes to ${name}`);
}

describe('a session', () => {
  it('stays where it is; sessions spread', async () => {
    const tested = gateway();
    const at = new Map<string, string>();
    for (let n = 0; n < 40; n++) at.set(`s${n}`, await served(tested, { session_id: `s${n}` }));
    expect(new Set(at.values()).size).toBe(4);
    for (let n = 0; n < 40; n++) expect(await served(tested, { session_id: `s${n}` })).toBe(at.get(`s${n}`));
    // Without one, each request is drawn for.
    expect((await whoServes(tested, 40)).size).toBe(4);
  });
  it('is named by the body before the header', async () => {
    const tested = gateway();
    const session = await sessionAt(tested, 'three');
    expect(await served(tested, {}, { 'x-session-id': session })).toBe('three');
    const other = await sessionAt(tested, 'one');
    expect(await served(tested, { session_id: session }, { 'x-session-id': other })).toBe('three');
    expect(await served(tested, { session_id: other }, { 'x-session-id': session })).toBe('one');
  });
  it('is named by prompt_cache_key where there is no other name', async () => {
    const tested = gateway();
    const [one, three] = [await sessionAt(tested, 'one'), await sessionAt(tested, 'three')];
    expect([...(await whoServes(tested, 10, { prompt_cache_key: three }))]).toEqual(['three']);
    expect(tested.upstream.sent.at(-1)?.body.prompt_cache_key).toBe(three);
    expect(await served(tested, { prompt_cache_key: three, session_id: one })).toBe('one');
    expect(await served(tested, { prompt_cache_key: three }, { 'x-session-id': one })).toBe('one');
    expect(tested.records.at(-1)?.sessionId).toBe(one);
    // Moved by a failure, it stays there.
    tested.upstream.answer({ status: 500, body: errorBody('No') });
    const moved = await served(tested, { prompt_cache_key: 'fresh' });
    expect(tested.records.at(-1)?.sessionId).toBe(null);
    expect([...(await whoServes(tested, 10, { prompt_cache_key: 'fresh' }))]).toEqual([moved]);
    expect(await served(tested, { prompt_cache_key: 'fresh', provider: { order: ['four'] } })).toBe('four');
    const long = 'k'.repeat(100_000);
    expect((await whoServes(tested, 10, { prompt_cache_key: long })).size).toBe(1);
    // Two long ones are two.
    const ways = new Set<string>();
    for (let n = 0; n < 30; n++) ways.add(await served(tested, { prompt_cache_key: `${long}${n}` }));
    expect(ways.size).toBe(4);
    for (const prompt_cache_key of ['', null, 5, ['k']])
      expect((await whoServes(tested, 40, { prompt_cache_key })).size).toBe(4);
  });
  it('is refused where its header is longer than the field may be', async () => {
    const tested = gateway();
    const ofChars = (length: number) => tested.post(ask, { 'x-session-id': 's'.repeat(length) });
    expect((await ofChars(256)).status).toBe(200);
    const sent = tested.upstream.sent.length;
    const { status, json, headers } = await ofChars(257);
    expect([status, json.error.message]).toEqual([400, 'x-session-id: expected at most 256 characters']);
    expect(headers.get('x-generation-id')).toMatch(/^gen-/);
    const field = await tested.post({ ...ask, session_id: 's'.repeat(257) });
    expect([field.status, field.json.error.message]).toEqual([400, 'session_id: expected at most 256 characters']);
    expect(tested.upstream.sent).toHaveLength(sent);
  });
  it('goes the same way in a stream', async () => {
    const tested = gateway();
    const session_id = await sessionAt(tested, 'two');
    tested.upstream.answer({ body: textStream('Hi') });
    expect(await served(tested, { session_id, stream: true })).toBe('two');
    expect(await served(tested, { session_id })).toBe('two');
  });
  it('is moved by a failure, and stays where it was moved', async () => {
    const tested = gateway();
    for (const stream of [false, true]) {
      const session_id = await sessionAt(tested, 'one');
      const success = { body: stream ? textStream('Hi') : completion() };
      tested.upstream.answer({ status: 500, body: errorBody('No') }, success);
      const moved = await served(tested, { session_id, stream });
      expect(moved).not.toBe('one');
      await tested.clock.advance(60_000);
      expect([...(await whoServes(tested, 10, { session_id }))]).toEqual([moved]);
    }
  });
  it('is not moved by a failure that everybody had', async () => {
    const tested = gateway();
    const session_id = await sessionAt(tested, 'one');
    tested.upstream.answer(...names.map(() => ({ status: 500, body: errorBody('No') })));
    expect((await tested.post({ ...ask, session_id })).status).toBe(502);
    await tested.clock.advance(60_000);
    expect(await served(tested, { session_id })).toBe('one');
  });
  it('is forgotten 10 minutes after its last success, and until then kept by each', async () => {
    const tested = gateway();
    const session_id = await sessionAt(tested, 'one');
    tested.upstream.answer({ status: 500, body: errorBody('No') });
    const moved = await served(tested, { session_id });
    for (let n = 0; n < 3; n++) {
      await tested.clock.advance(599_999);
      expect(await served(tested, { session_id })).toBe(moved);
    }
    // It is back at its own draw.
    await tested.clock.advance(600_000);
    expect(await served(tested, { session_id })).toBe('one');
  });
  it('is forgotten when the option says', async () => {
    const tested = gateway(1, { sticky: { ttlMs: 1000 } });
    const session_id = await sessionAt(tested, 'one');
    tested.upstream.answer({ status: 500, body: errorBody('No') });
    const moved = await served(tested, { session_id });
    await tested.clock.advance(999);
    expect(await served(tested, { session_id })).toBe(moved);
    await tested.clock.advance(60_000);
    expect(await served(tested, { session_id })).toBe('one');
  });
  it('is another for each model', async () => {
    const tested = gateway();
    const session_id = await sessionAt(tested, 'one');
    tested.upstream.answer({ status: 500, body: errorBody('No') });
    expect(await served(tested, { session_id })).not.toBe('one');
    await tested.clock.advance(60_000);
    expect(await served(tested, { session_id, model: 'acme/other' })).toBe('one');
  });
  it('is left alone by a request that says the order, and left aside', async () => {
    const tested = gateway();
    const session_id = await sessionAt(tested, 'one');
    expect(await served(tested, { session_id, provider: { order: ['four'] } })).toBe('four');
    expect(await served(tested, { session_id })).toBe('one');
    const fresh = 'a session that began with an order';
    await served(tested, { session_id: fresh, provider: { order: ['four'] } });
    expect(await served(tested, { session_id: fresh })).toBe(await served(gateway(9), { session_id: fresh }));
    // An empty one says nothing.
    expect(await served(tested, { session_id, provider: { order: [] } })).toBe('one');
  });
  it('counts before a sort, and after the filters', async () => {
    const tested = gateway();
    const session_id = await sessionAt(tested, 'four');
    expect(await served(tested, { session_id, provider: { sort: 'price' } })).toBe('four');
    const elsewhere = await served(tested, { session_id, provider: { ignore: ['four'] } });
    expect(elsewhere).not.toBe('four');
  });
  it('goes the same way in every instance, without a word between them', async () => {
    const [a, b] = [gateway(1), gateway(2)];
    for (let n = 0; n < 40; n++) {
      const session_id = `shared ${n}`;
      expect(await served(b, { session_id })).toBe(await served(a, { session_id }));
    }
  });
  it('is another in each workspace', async () => {
    const tested = tenantGateway({ ...options(1), store: new Keyv() });
    tested.upstream.always({ body: completion() });
    const workspaces = [
      await tested.workspace('first'),
      await tested.workspace('second'),
      await tested.workspace('third'),
    ];
    const keys = [];
    for (const workspace_id of workspaces) keys.push((await tested.key({ workspace_id })).key);
    const ways: string[] = [];
    for (const key of keys) {
      let way = '';
      for (let n = 0; n < 12; n++)
        way += await served(tested, { session_id: `s${n}` }, { authorization: `Bearer ${key}` });
      ways.push(way);
    }
    expect(new Set(ways).size).toBe(3);
    // Moved in one, it stays in the others.
    const [first = '', second = ''] = keys.map((key) => `Bearer ${key}`);
    const before = await served(tested, { session_id: 's0' }, { authorization: second });
    tested.upstream.answer({ status: 500, body: errorBody('No') });
    await served(tested, { session_id: 's0' }, { authorization: first });
    await tested.clock.advance(60_000);
    expect(await served(tested, { session_id: 's0' }, { authorization: second })).toBe(before);
  });
  it('keeps the model that a router chose', async () => {
    const free = Array.from({ length: 8 }, (_, n) => ({
      slug: `acme/free-${n}`,
      endpoints: [{ provider: 'one', model: `free-${n}`, pricing: { prompt: '0', completion: '0' } }],
    }));
    const tested = gateway(1, { models: free });
    const chosen = async (fields: object, answers: object[] = []) => {
      tested.upstream.answer(...answers);
      const { json } = await tested.post({ model: 'service/free', messages: hello, ...fields });
      return json.model;
    };
    const without = new Set<string>();
    for (let n = 0; n < 20; n++) without.add(await chosen({}));
    expect(without.size).toBeGreaterThan(3);
    const first = await chosen({ session_id: 's' });
    for (let n = 0; n < 5; n++) expect(await chosen({ session_id: 's' })).toBe(first);
    const moved = await chosen({ session_id: 's' }, [{ status: 400, body: errorBody('No') }]);
    expect(moved).not.toBe(first);
    for (let n = 0; n < 5; n++) expect(await chosen({ session_id: 's' })).toBe(moved);
  });
});

describe('a conversation without a session', () => {
  const conversation = (turns: number, opening = 'You are kind.') => [
    { role: 'system', content: opening },
    ...Array.from({ length: turns * 2 + 1 }, (_, n) => ({ role: n % 2 ? 'assistant' : 'user', content: `Turn ${n}` })),
  ];
  const hit = {
    body: completion({
      usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12, prompt_tokens_details: { cached_tokens: 8 } },
    }),
  };

  it('stays where the cache of its prompt was seen to be used', async () => {
    const tested = gateway();
    const cached = { model: 'acme/cached' };
    expect((await whoServes(tested, 30, { ...cached, messages: conversation(0) })).size).toBe(4);
    tested.upstream.answer(hit);
    const first = await served(tested, { ...cached, messages: conversation(1) });
    for (let turn = 0; turn < 12; turn++)
      expect(await served(tested, { ...cached, messages: conversation(turn) })).toBe(first);
    // Another is not drawn along.
    expect((await whoServes(tested, 30, { ...cached, messages: conversation(1, 'You are not.') })).size).toBe(4);
    expect((await whoServes(tested, 30, { model: 'acme/any', messages: conversation(1) })).size).toBe(4);
    await tested.clock.advance(600_000);
    expect((await whoServes(tested, 30, { ...cached, messages: conversation(1) })).size).toBe(4);
  });
  it.each(['acme/any', 'acme/same-cached'])(
    'is drawn for anew where the cache makes nothing cheaper: %s',
    async (slug) => {
      const tested = gateway();
      tested.upstream.always(hit);
      expect((await whoServes(tested, 30, { model: slug, messages: conversation(1) })).size).toBe(4);
    },
  );
  it('is known by its first instruction, of the system or the developer, and its first message', async () => {
    const tested = gateway();
    const messages = [
      { role: 'user', content: 'First' },
      { role: 'developer', content: 'Be kind.' },
      { role: 'user', content: 'Second' },
    ];
    const cached = { model: 'acme/cached' };
    tested.upstream.answer(hit);
    const first = await served(tested, { ...cached, messages });
    const later = [...messages, { role: 'system', content: 'And brief.' }, { role: 'user', content: 'More' }];
    expect([...(await whoServes(tested, 20, { ...cached, messages: later }))]).toEqual([first]);
    const other = [{ role: 'user', content: 'Another first' }, ...messages.slice(1)];
    expect((await whoServes(tested, 30, { ...cached, messages: other })).size).toBe(4);
  });
});

describe('the places of conversations', () => {
  it('are shared fairly: a workspace with any number of sessions moves no session of another', async () => {
    const { served, tested } = tenants({ sticky: { max: 20 } });
    const sessions = Array.from({ length: 8 }, (_, n) => `session-${n}`);
    const first: string[] = [];
    for (const session of sessions) {
      // Whoever would be asked first fails: the pin is another than the choice of the session.
      tested.upstream.answer({ status: 500, body: errorBody('Broken') });
      first.push(await served('victim', session));
    }
    for (let n = 0; n < 200; n++) await served('flood', `flood-${n}`);
    const then: string[] = [];
    for (const session of sessions) then.push(await served('victim', session));
    expect(then).toEqual(first);
  });
});

/** A gateway whose host app names the workspace of a request in a header. */
function tenants(more: Partial<GatewayOptions>) {
  const tested = gateway(1, {
    authenticate: (request) => ({
      permissions: ['inference'],
      workspaceId: request.headers.get('x-tenant') ?? 'nobody',
    }),
    ...more,
  });
  const asked = (tenant: string, session: string) =>
    served(tested, { session_id: session }, { 'x-tenant': tenant, authorization: '' });
  return { tested, served: asked };
}
