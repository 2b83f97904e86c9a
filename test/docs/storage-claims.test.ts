import { Keyv } from 'keyv';
import { describe, expect, it } from 'vitest';
import { randomIds } from '../../src/base/ids.ts';
import type { Ledger } from '../../src/entries/stores.ts';
import { type GatewayOptions, optionsSchema } from '../../src/options.ts';
import { memoryLedger } from '../../src/stores/ledger/memory.ts';
import { hello, type TestGateway, testGateway, testKey, upstreamKeys } from '../support/gateway.ts';
import { chunk, completion, sse, usageChunk } from '../support/upstream.ts';
import { readDoc } from './markdown.ts';

// What docs/storage.md says beside its examples, where no other test of the docs does.
const doc = ['docs/storage.md', 'docs/budgets.md', 'docs/encryption.md'].map(readDoc).join('\n');

const pricing = { prompt: '0', completion: '0.000008' };
const models = [{ slug: 'acme/fast', endpoints: [{ provider: 'up', model: 'm', pricing }] }];
const ask = { model: 'acme/fast', messages: hello, max_tokens: 100 };

function gateway(options: Partial<GatewayOptions> = {}): TestGateway {
  const tested = testGateway({ models, ids: randomIds, ...options });
  tested.upstream.always({ body: completion() });
  return tested;
}

/** A store that can be taken away, and be emptied. */
function fragile() {
  const rows = new Map<string, unknown>();
  const kv = new Keyv({ store: rows });
  const state = { isDead: false, reads: 0 };
  const { store } = kv;
  for (const name of ['get', 'getMany', 'set', 'delete'] as const) {
    const work = (store[name] as (...args: unknown[]) => unknown).bind(store);
    Object.assign(store, {
      [name]: async (...args: unknown[]) => {
        if (name.startsWith('get')) state.reads++;
        if (state.isDead) throw Object.assign(new Error('no connection'), { code: 'ECONNREFUSED' });
        return work(...args);
      },
    });
  }
  return { kv, state, empty: () => rows.clear() };
}

/** A ledger on that server, and what it was asked. */
function counting(state: { isDead: boolean }, now: () => number = Date.now) {
  const asked: string[] = [];
  const inner = memoryLedger({ onLostHold: 'charge', now });
  const ledger = Object.fromEntries(
    Object.entries(inner).map(([name, method]) => [
      name,
      async (...args: never[]) => {
        asked.push(name);
        if (state.isDead) throw Object.assign(new Error('no connection'), { code: 'ECONNREFUSED' });
        return (method as (...args: never[]) => unknown)(...args);
      },
    ]),
  ) as unknown as Ledger;
  return { ledger, asked };
}

describe('docs/storage.md', () => {
  it('gives the defaults of the options it names, and the bounds of the rest', () => {
    const defaults = optionsSchema().parse({ apiKeys: [{ key: testKey }] });
    const said = (text: RegExp) => Number(text.exec(doc)?.[1]);
    expect(said(/longer than `storeTimeoutMs` \((\d+) ms\)/)).toBe(defaults.storeTimeoutMs);
    expect(said(/`storeCacheMs` \((\d+) s\)/) * 1_000).toBe(defaults.storeCacheMs);
    expect(said(/`budgets\.leaseMs` \((\d+) s\)/) * 1_000).toBe(defaults.budgets.leaseMs);
    const among = (path: string, text: RegExp) => Number(text.exec(readDoc(path))?.[1]?.replaceAll('_', ''));
    expect(said(/lock of another process \((\d+) ms/)).toBe(
      among('adapters/sqlite/sqlite.ts', /busyTimeoutMs = (\d+)/),
    );
    expect(said(/one every (\d+) ms is let through/)).toBe(
      among('src/stores/storage/guard.ts', /circuitProbeMs = (\d+)/),
    );
    expect(among('src/stores/storage/guard.ts', /circuitFailures = (\d+)/)).toBe(5);
    expect(doc).toContain('After five calls in a row without a response');
    expect(among('src/stores/spending/create-spending.ts', /drainMs = ([\d_]+)/)).toBe(2_000);
    expect(doc).toContain('waits two seconds for the bookings that are still open');
    expect(among('src/stores/spending/create-spending.ts', /giveUpMs = ([\d_]+)/)).toBe(86_400_000);
    expect(doc).toContain('tried again for a day');
    expect(among('src/stores/credentials/opened.ts', /idleMs = ([\d_]+)/)).toBe(600_000);
    expect(doc).toContain('forgotten ten minutes after');
  });

  it('a request reads nothing again that was read lately; with a limit one hold and one settlement', async () => {
    const { kv, state } = fragile();
    const { ledger, asked } = counting(state);
    const { post, call, clock } = gateway({ store: kv, ledger });
    await post(ask);
    await clock.advance(1_000);
    const before = state.reads;
    asked.length = 0;
    for (let n = 0; n < 10; n++) await post(ask);
    expect([state.reads, asked]).toEqual([before, []]);
    await clock.advance(1_000);
    expect(asked).toEqual(['add']);
    await call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 1 });
    await post(ask);
    asked.length = 0;
    const reads = state.reads;
    for (let n = 0; n < 3; n++) await post(ask);
    expect(state.reads).toBe(reads);
    expect(asked.toSorted()).toEqual(['hold', 'hold', 'hold', 'settle', 'settle', 'settle']);
  });

  it('a dead store: 503 once what was read is too old, with a limit at once; what was in flight is booked later', async () => {
    const { kv, state } = fragile();
    const { ledger } = counting(state);
    const tested = gateway({ store: kv, ledger });
    const { post, send, call, clock, run, upstream } = tested;
    expect((await post(ask)).status).toBe(200);
    await clock.advance(1_500);
    state.isDead = true;
    expect((await post(ask)).status).toBe(200);
    await clock.advance(5_001);
    const refused = await post(ask);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);

    state.isDead = false;
    await clock.advance(5_000);
    await call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 1 });
    const body = [
      sse(chunk({ content: 'Hi' })),
      { waitMs: 2_000 },
      sse(chunk({}, 'stop')),
      sse(usageChunk(), '[DONE]'),
    ];
    upstream.answer({ body });
    const streaming = await run(send({ ...ask, stream: true }));
    state.isDead = true;
    const rest = await run(streaming.text());
    expect(rest).toContain('[DONE]');
    expect((await post(ask)).status).toBe(503);
    await clock.advance(60_000);
    state.isDead = false;
    await clock.advance(60_000);
    await call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 1e-9 });
    // Two answers without a limit, of which one was counted while the store was dead, and the stream.
    expect((await post(ask)).json.error.metadata).toMatchObject({ spent_usd: 3 * 0.000016, held_usd: 0 });
  });

  it('an emptied store: 401 for keys, 404 for workspaces, and nothing is limited', async () => {
    const { kv, empty } = fragile();
    const { post, call, clock } = gateway({ store: kv });
    await call('POST', '/workspaces', { name: 'x', slug: 'x' });
    const { json } = await call('POST', '/keys', { name: 'k' });
    const headers = { authorization: `Bearer ${json.key}` };
    await call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 1e-9 });
    expect([(await post(ask)).status, (await post(ask, headers)).status]).toEqual([402, 402]);
    empty();
    await clock.advance(5_001);
    expect([(await post(ask)).status, (await post(ask, headers)).status]).toEqual([200, 401]);
    expect((await call('GET', '/workspaces/x')).status).toBe(404);
  });

  it('a gateway that is closed while the store is dead waits two seconds at most, and the hold is charged later', async () => {
    const { kv, state } = fragile();
    let now = () => 0;
    const { ledger } = counting(state, () => now());
    const first = gateway({ store: kv, ledger });
    now = first.clock.now;
    await first.call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 1 });
    first.upstream.answer({ body: completion(), afterMs: 1_000 });
    const answer = first.send(ask);
    await first.clock.advance(500);
    state.isDead = true;
    expect((await first.run(answer)).status).toBe(200);
    const from = first.clock.now();
    await first.run(first.gateway.close());
    expect(first.clock.now() - from).toBe(2_000);
    state.isDead = false;
    const second = gateway({ store: kv, ledger });
    now = second.clock.now;
    await second.clock.advance(first.clock.now() + 60_000 - second.clock.now());
    await second.call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 1e-9 });
    expect((await second.post(ask)).json.error.metadata).toMatchObject({ spent_usd: 0.0008, held_usd: 0 });
  });

  it('a master key that all instances can open with before one seals with it loses no credential meanwhile', async () => {
    const [old, fresh] = ['the old master secret, which is long enough', 'the new master secret, which is long enough'];
    const providers = { groq: { apiKey: upstreamKeys.up, baseUrl: 'https://groq.test/v1', byok: true } };
    const own = { model: 'groq/llama', messages: hello };
    for (const isPrepared of [true, false]) {
      const store = new Keyv();
      const waiting = { store, providers, models: [], secrets: { current: old, previous: isPrepared ? [fresh] : [] } };
      const renewed = { ...waiting, secrets: { current: fresh, previous: [old] } };
      await gateway(waiting).call('POST', '/byok', { provider: 'groq', key: 'gsk-of-the-workspace-0123456789' });
      expect(await gateway(renewed).gateway.credentials.rotate()).toMatchObject({
        checked: 1,
        resealed: 1,
        failed: [],
      });
      // One that has not been restarted yet, and has not opened it before.
      const { post, upstream } = gateway(waiting);
      expect((await post(own)).status).toBe(200);
      const isOpened = upstream.sent[0]?.headers.authorization === 'Bearer gsk-of-the-workspace-0123456789';
      expect([isPrepared, isOpened]).toEqual([isPrepared, isPrepared]);
      // What that one has used it has sealed as before; when all are restarted, nothing needs the old secret any more.
      const last = gateway(renewed).gateway.credentials;
      const rotate = async () => (await last.rotate()).resealed;
      // It does so behind the answer.
      if (isPrepared) await expect.poll(rotate).toBe(1);
      expect(await rotate()).toBe(0);
      const after = gateway({ ...renewed, secrets: { current: fresh } });
      await after.post(own);
      expect(after.upstream.sent[0]?.headers.authorization).toBe('Bearer gsk-of-the-workspace-0123456789');
    }
  });
});
