import { expect, it } from 'vitest';
import { seededRandom } from '../../src/base/random.ts';
import type { TransportResponse } from '../../src/transport/transport.ts';
import { hello, testGateway, testPricing } from '../support/gateway.ts';
import { runs } from '../support/runs.ts';
import { completion, errorBody } from '../support/upstream.ts';

const strategies = ['order', 'round-robin', 'least-loaded'] as const;
const keys = ['sk-a-0123456789', 'sk-b-0123456789', 'sk-c-0123456789'];

function response(status: number, body: object, headers: Record<string, string> = {}): TransportResponse {
  const rest = [new TextEncoder().encode(JSON.stringify(body))];
  return { status, headers, body: { read: async () => rest.shift() ?? null, cancel: () => undefined } };
}

it.each(Array.from({ length: runs(12, 300) }, (_, seed) => seed))(
  'a key is never called before its pause is over, and serves whenever one key can: seed %i',
  async (seed) => {
    const random = seededRandom(`several keys ${seed}`);
    const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T;
    /** The time until which each key is limited or refused. */
    const untilMs = new Map(keys.map((key) => [key, 0]));
    const early: string[] = [];
    let inFlight = 0;
    let nowMs = () => 0;
    const tested = testGateway({
      providers: { own: { baseUrl: 'https://own.test/v1', apiKeys: keys, keyStrategy: pick(strategies) } },
      models: [{ slug: 'acme/one', endpoints: [{ provider: 'own', model: 'm', pricing: testPricing }] }],
      transport: {
        async send({ headers }) {
          const key = headers.authorization?.slice('Bearer '.length) ?? '';
          // Requests that were sent together may all meet the first refusal.
          if (nowMs() < (untilMs.get(key) as number) && inFlight === 1) early.push(key);
          if (nowMs() < (untilMs.get(key) as number)) return response(429, errorBody('Still'), { 'retry-after': '30' });
          if (random() < 0.7) return response(200, completion());
          const isRefused = random() < 0.2;
          const pauseS = isRefused ? 60 : pick([1, 5, 20, 40]);
          untilMs.set(key, nowMs() + pauseS * 1000);
          return isRefused
            ? response(401, errorBody('No'))
            : response(429, errorBody('Slow'), { 'retry-after': String(pauseS) });
        },
      },
    });
    const { call, clock, run, send, gateway, records } = tested;
    nowMs = () => clock.now();
    await call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 10 });
    const ask = { model: 'acme/one', messages: hello, ...(random() < 0.5 ? { user: 'one' } : {}) };
    for (let round = 0; round < 25; round++) {
      await clock.advance(pick([0, 500, 4_000, 15_000, 70_000]));
      inFlight = pick([1, 1, 3]);
      const isOpen = keys.some((key) => (untilMs.get(key) as number) <= clock.now());
      const before = records.length;
      const answers = await run(Promise.all(Array.from({ length: inFlight }, () => send(ask))));
      await Promise.all(answers.map((answer) => answer.text()));
      for (const answer of answers) expect([200, 429, 502, 503]).toContain(answer.status);
      // With a key that is not resting, a request has at least been sent.
      const attempts = records.slice(before).map((record) => record.attempts.length);
      if (isOpen) expect(Math.min(...attempts)).toBeGreaterThan(0);
      for (const record of records.slice(before)) {
        if (record.status === 200) expect(record.attempts.at(-1)?.status).toBe(200);
        expect(record.attempts.every(({ key }) => key?.startsWith('key-'))).toBe(true);
      }
    }
    expect(early).toEqual([]);
    const { data } = (await call('GET', '/workspaces/default/budgets/daily')).json;
    expect(data.held_usd).toBe(0);
    expect(Math.round(data.spent_usd * 1e9)).toBe(
      records.reduce((sum, { costNanoUsd }) => sum + (costNanoUsd ?? 0), 0),
    );
    await gateway.close();
  },
);
