import { describe, expect, it } from 'vitest';
import type { Clock } from '../../src/base/clock.ts';
import type { GatewayOptions } from '../../src/options.ts';
import { checkError, hello, managementKey, nextTurn, testGateway } from '../support/gateway.ts';
import { manualClock } from '../support/manual-clock.ts';
import { completion } from '../support/upstream.ts';

const ask = { model: 'acme/fast', messages: hello };

function gateway(overload: GatewayOptions['overload'], options: Partial<GatewayOptions> = {}) {
  const operations: unknown[] = [];
  const tested = testGateway({ overload, onOperation: (record) => operations.push(record), ...options });
  tested.upstream.always({ body: completion() });
  return { ...tested, operations };
}

describe('overload.maxInFlight', () => {
  it('refuses what is more at once, before its key or its body is looked at; it is served again later', async () => {
    const { send, post, run, upstream, operations } = gateway({ maxInFlight: 2 });
    upstream.answer({ afterMs: 1_000, body: completion() }, { afterMs: 2_000, body: completion() });
    const two = [send(ask), send(ask)];
    await nextTurn();
    // A key that nobody knows would be a 401, this body a 400.
    const refused = await send('no JSON', { authorization: 'Bearer wrong' });
    const body = await refused.json();
    checkError(503, body);
    expect([refused.status, refused.headers.get('retry-after'), body.error.message]).toEqual([
      503,
      '1',
      'The gateway has too many requests in flight; try again later',
    ]);
    expect(operations).toMatchObject([{ kind: 'refusal', operation: 'createChatCompletion', status: 503 }]);
    await run(two[0] as Promise<Response>);
    expect((await post(ask)).status).toBe(200);
    expect(upstream.sent).toHaveLength(3);
    await run(two[1] as Promise<Response>);
  });
  it('counts a stream until its last byte, and a client that leaves no longer', async () => {
    const { send, post, run, upstream } = gateway({ maxInFlight: 1 });
    upstream.answer({ body: ['data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n', { hangs: true }] });
    const stream = await run(send({ ...ask, stream: true }));
    expect((await post(ask)).status).toBe(503);
    await stream.body?.cancel();
    expect((await post(ask)).status).toBe(200);
    for (let n = 0; n < 3; n++) expect((await post({ ...ask, model: 'no/model' })).status).toBe(400);
    expect((await post(ask)).status).toBe(200);
  });
  it('lets those through who manage', async () => {
    const { send, call, run, upstream, gateway: made } = gateway({ maxInFlight: 1 });
    upstream.answer({ afterMs: 1_000, body: completion() });
    const one = send(ask);
    await nextTurn();
    const headers = { authorization: `Bearer ${managementKey}` };
    const statusOf = async (path: string) => (await made.fetch(`http://gateway.test/v1${path}`, { headers })).status;
    expect([await statusOf('/keys'), await statusOf('/workspaces'), await statusOf('/models')]).toEqual([
      200, 200, 503,
    ]);
    await run(one);
    expect((await call('GET', '/models')).status).toBe(200);
  });
});

describe('overload.maxLoopLagMs', () => {
  /** A clock whose timers are late: time has gone by, and nothing has run. */
  function lateClock() {
    const clock = manualClock();
    let lateMs = 0;
    return {
      manual: clock,
      late(ms: number) {
        lateMs += ms;
      },
      clock: { ...clock, monotonic: () => clock.monotonic() + lateMs } satisfies Clock,
    };
  }

  it('refuses while timers are late, and no longer', async () => {
    const { clock, manual, late } = lateClock();
    const { send, upstream, gateway: made } = gateway({ maxLoopLagMs: 200 }, { clock });
    upstream.always({ instead: 'hang' });
    const client = new AbortController();
    const first = send(ask, {}, client.signal).catch(() => null);
    await nextTurn();
    const status = async () => (await send({ ...ask, model: 'no/model' })).status;
    expect(await status()).toBe(400);
    // The loop was blocked for less than the limit, then for more.
    late(240);
    expect(await status()).toBe(400);
    late(20);
    expect(await status()).toBe(503);
    // The timer runs at last, and says how late it is: what came meanwhile is refused too.
    await manual.advance(50);
    expect(await status()).toBe(503);
    // The next one is in time.
    await manual.advance(50);
    expect(await status()).toBe(400);
    client.abort();
    await first;
    await made.close();
  });
  it('leaves no timer behind when nothing is in flight', async () => {
    const { post, clock } = gateway({ maxLoopLagMs: 200 });
    expect((await post(ask)).status).toBe(200);
    // What was spent without a limit is written within a second.
    await clock.advance(1_100);
    expect(clock.pending).toBe(0);
    // What was idle for long is not late.
    await clock.advance(3_600_000);
    expect((await post(ask)).status).toBe(200);
  });
});

it('nothing is refused without these options', async () => {
  const { send, run, upstream } = gateway(undefined);
  upstream.always({ afterMs: 1_000, body: completion() });
  const many = Array.from({ length: 50 }, () => send(ask, { authorization: `Bearer ${managementKey}x` }));
  expect((await run(Promise.all(many))).map(({ status }) => status)).toEqual(many.map(() => 401));
  const served = Array.from({ length: 50 }, () => send(ask));
  expect((await run(Promise.all(served))).map(({ status }) => status)).toEqual(served.map(() => 200));
});
