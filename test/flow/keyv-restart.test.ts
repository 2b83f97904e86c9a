import { Keyv, type KeyvStorageAdapter } from 'keyv';
import { describe, expect, it } from 'vitest';
import { randomIds } from '../../src/base/ids.ts';
import type { GatewayOptions } from '../../src/options.ts';
import { hello, type TestGateway, testGateway } from '../support/gateway.ts';
import { completion } from '../support/upstream.ts';

const pricing = { prompt: '0', completion: '0.000008' };
const models = [{ slug: 'acme/fast', endpoints: [{ provider: 'up', model: 'm', pricing }] }];
const ask = { model: 'acme/fast', messages: hello, max_tokens: 100 };
/** Of an answer of 2 tokens, and of 100. */
const [costUsd, worstUsd] = [0.000016, 0.0008];

/** A database that the gateway does not know, and that survives its processes. */
function database() {
  const rows = new Map<string, unknown>();
  const state = { isDown: false };
  const run = async <T>(work: () => T): Promise<T> => {
    if (state.isDown) throw Object.assign(new Error('no connection'), { code: 'ECONNREFUSED' });
    return work();
  };
  const adapter = () =>
    ({
      opts: {},
      namespace: undefined,
      get: (key: string) => run(() => rows.get(key)),
      set: (key: string, value: unknown) => run(() => void rows.set(key, value)),
      delete: (key: string) => run(() => rows.delete(key)),
      clear: () => run(() => rows.clear()),
    }) as unknown as KeyvStorageAdapter;
  /** A process on it. */
  const start = (options: Partial<GatewayOptions> = {}): TestGateway => {
    const tested = testGateway({ models, ids: randomIds, store: new Keyv({ store: adapter() }), ...options });
    tested.upstream.always({ body: completion() });
    return tested;
  };
  return { rows, state, start };
}

const limit = async ({ call }: TestGateway, limit_usd: number) =>
  expect((await call('PUT', '/workspaces/default/budgets/lifetime', { limit_usd })).status).toBe(200);

async function sumsOf({ call }: TestGateway): Promise<[number, number]> {
  const { data } = (await call('GET', '/workspaces/default/budgets/lifetime')).json as unknown as {
    data: { spent_usd: number; held_usd: number };
  };
  return [data.spent_usd, data.held_usd];
}

describe('on a Keyv that the gateway does not know, after a restart', () => {
  it('a lifetime budget that was used up stays used up', async () => {
    const { start } = database();
    const first = start();
    await limit(first, worstUsd);
    expect((await first.post(ask)).status).toBe(200);
    expect((await first.post(ask)).status).toBe(402);
    await first.gateway.close();
    const second = start();
    expect(await sumsOf(second)).toEqual([costUsd, 0]);
    expect((await second.post(ask)).status).toBe(402);
  });
  it('the limit of an API key counts what was spent before', async () => {
    const { start } = database();
    const first = start();
    const made = (await first.call('POST', '/keys', { name: 'k', limit: worstUsd })).json as unknown as { key: string };
    const headers = { authorization: `Bearer ${made.key}` };
    expect((await first.post(ask, headers)).status).toBe(200);
    const second = start();
    expect((await second.post(ask, headers)).status).toBe(402);
  });
  it('what was spent without a limit counts, as far as it was written', async () => {
    const { start } = database();
    const first = start();
    await first.post(ask);
    await first.clock.advance(1_000);
    const second = start();
    await limit(second, 1);
    expect(await sumsOf(second)).toEqual([costUsd, 0]);
  });
  it('what was in flight is held until its lease ends, and then charged', async () => {
    const { start } = database();
    const first = start();
    await limit(first, 1);
    first.upstream.answer({ instead: 'hang' });
    first.send(ask).catch(() => undefined);
    await first.clock.advance(0);
    const second = start();
    expect(await sumsOf(second)).toEqual([0, worstUsd]);
    await second.clock.advance(60_000);
    expect(await sumsOf(second)).toEqual([worstUsd, 0]);
  });
  it('what was served before an outage is booked, and nothing is served without a hold during it', async () => {
    const { start, state } = database();
    const first = start();
    await limit(first, 1);
    first.upstream.answer({ body: completion(), afterMs: 1_000 });
    const served = first.send(ask);
    await first.clock.advance(500);
    state.isDown = true;
    await first.clock.advance(500);
    expect((await served).status).toBe(200);
    expect((await first.post(ask)).status).toBe(503);
    state.isDown = false;
    await first.clock.advance(60_000);
    const second = start();
    expect(await sumsOf(second)).toEqual([costUsd, 0]);
  });
});
