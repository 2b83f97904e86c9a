import { describe, expect, it } from 'vitest';
import type { Target } from '../../src/call/plan.ts';
import { createHealth } from '../../src/catalog/health/index.ts';
import type { GatewayOptions } from '../../src/options.ts';
import { createHedging } from '../../src/pipeline/attempt/patience.ts';
import { hello, joined, nextTurn, readStream, type TestGateway, testGateway, testPricing } from '../support/gateway.ts';
import { manualClock } from '../support/manual-clock.ts';
import { completion, errorBody, textStream } from '../support/upstream.ts';

const streaming = { model: 'acme/pair', messages: hello, stream: true };
const hedge = { enabled: true, afterMs: 1000, maxShare: 1 };
const inOrder = { provider: { order: ['up'] } };

/** The stream whose first token takes so long. */
const firstAfter = (waitMs: number, text: string) => ({ body: [{ waitMs }, ...textStream(text)] });

async function turns(count = 8) {
  for (let turn = 0; turn < count; turn++) await nextTurn();
}

async function ask({ send, clock, run }: TestGateway, ms: number, fields: object = {}) {
  const pending = send({ ...streaming, ...inOrder, ...fields }, { 'x-service-metadata': 'enabled' });
  await turns();
  await clock.advance(ms);
  const response = await run(pending);
  return run(readStream(response));
}
const hedged = (options: Partial<GatewayOptions> = {}) => testGateway({ hedge, ...options });

describe('a stream whose first token is late', () => {
  it('is served by the next try, when that speaks first; the late one is let go of', async () => {
    const gateway = hedged();
    gateway.upstream.answer(firstAfter(60_000, 'slow'), firstAfter(100, 'fast'));
    const { chunks } = await ask(gateway, 1100);
    expect([joined(chunks).content, chunks[0]?.provider]).toEqual(['fast', 'Alt']);
    const [late, quick] = gateway.upstream.sent;
    expect([late?.closedAtMs, (quick?.atMs ?? 0) - (late?.atMs ?? 0)]).toEqual([(late?.atMs ?? 0) + 1100, 1000]);
    expect(gateway.records[0]).toMatchObject({
      provider: 'Alt',
      outcome: 'ok',
      attempts: [
        { provider: 'Up', status: 499, errorType: 'hedged' },
        { provider: 'Alt', status: 200, costNanoUsd: 0 },
      ],
    });
    // The late one has read the prompt: that is on the bill.
    expect(gateway.records[0]?.attempts[0]?.costNanoUsd).toBeGreaterThan(0);
  });
  it('is served by itself, when it speaks before the other', async () => {
    const gateway = hedged();
    gateway.upstream.answer(firstAfter(1050, 'slow'), firstAfter(60_000, 'never'));
    const { chunks } = await ask(gateway, 1050);
    expect(chunks[0]?.provider).toBe('Up');
    expect(gateway.upstream.sent[1]?.closedAtMs).not.toBeNull();
    expect(gateway.records[0]?.attempts.map(({ provider, status }) => [provider, status])).toEqual([
      ['Alt', 499],
      ['Up', 200],
    ]);
  });
  it('shows both in the metadata, and one that serves', async () => {
    const gateway = hedged();
    gateway.upstream.answer(firstAfter(60_000, 'slow'), firstAfter(100, 'fast'));
    const { chunks } = await ask(gateway, 1100);
    expect(chunks.at(-1)).toMatchObject({
      service_metadata: {
        attempt: 2,
        attempts: [
          { provider: 'Up', status: 499 },
          { provider: 'Alt', status: 200 },
        ],
        endpoints: {
          available: [
            { provider: 'Up', selected: false },
            { provider: 'Alt', selected: true },
          ],
        },
      },
    });
  });
  it('goes on alone where the other fails', async () => {
    const gateway = hedged();
    gateway.upstream.answer(firstAfter(3000, 'slow'), { status: 500, body: errorBody('No') });
    const { chunks } = await ask(gateway, 3000);
    expect([joined(chunks).content, chunks[0]?.provider]).toEqual(['slow', 'Up']);
    expect(gateway.records[0]?.attempts.map(({ provider, status }) => [provider, status])).toEqual([
      ['Alt', 500],
      ['Up', 200],
    ]);
  });
  it('is served by the other where it fails itself', async () => {
    const gateway = hedged();
    gateway.upstream.answer({ status: 500, body: errorBody('No'), afterMs: 2000 }, firstAfter(3000, 'other'));
    const { chunks } = await ask(gateway, 4000);
    expect([joined(chunks).content, chunks[0]?.provider]).toEqual(['other', 'Alt']);
  });
  it('fails as ever where both do, and goes on after both', async () => {
    const gateway = hedged({
      retry: { attemptsPerEndpoint: 1 },
      models: [
        {
          slug: 'acme/pair',
          endpoints: ['a', 'b', 'c'].map((variant) => ({
            provider: 'up',
            model: variant,
            variant,
            pricing: testPricing,
          })),
        },
      ],
    });
    gateway.upstream.answer(
      { status: 500, body: errorBody('First'), afterMs: 2000 },
      { status: 500, body: errorBody('Second'), afterMs: 2000 },
      { status: 500, body: errorBody('Third') },
    );
    const { status, json } = await ask(gateway, 4000, { provider: { order: ['up/a', 'up/b', 'up/c'] } });
    expect([status, json?.error.message]).toEqual([502, 'Third']);
    expect(gateway.upstream.sent.map(({ body }) => body.model)).toEqual(['a', 'b', 'c']);
    expect(json?.error.metadata?.previous_errors).toHaveLength(2);
  });
  it('is not hedged before its time, nor where a whole answer was asked, nor with nobody else to ask', async () => {
    const early = hedged();
    early.upstream.answer(firstAfter(999, 'in time'));
    await ask(early, 999);
    expect(early.upstream.sent).toHaveLength(1);

    const whole = hedged();
    whole.upstream.answer({ afterMs: 5000, body: completion() });
    await ask(whole, 5000, { stream: false });
    expect(whole.upstream.sent).toHaveLength(1);

    const single = hedged();
    single.upstream.answer(firstAfter(5000, 'alone'));
    await ask(single, 5000, { model: 'acme/fast' });
    expect(single.upstream.sent).toHaveLength(1);
  });
  it('is not hedged unless the option says so', async () => {
    const gateway = testGateway();
    gateway.upstream.answer(firstAfter(20_000, 'late'));
    await ask(gateway, 20_000);
    expect(gateway.upstream.sent).toHaveLength(1);
  });
  it('is late when it is later than 95 of 100 were', async () => {
    const gateway = hedged({ hedge: { enabled: true, maxShare: 1 } });
    for (let n = 0; n < 40; n++) {
      gateway.upstream.answer(firstAfter(100, 'usual'));
      await ask(gateway, 100);
    }
    expect(gateway.upstream.sent).toHaveLength(40);
    gateway.upstream.answer(firstAfter(60_000, 'slow'), firstAfter(10, 'fast'));
    const { chunks } = await ask(gateway, 200);
    expect(chunks[0]?.provider).toBe('Alt');
  });
  it('is hedged no more often than the share allows, and not saved up for long', () => {
    const step = {
      endpoint: { providerSlug: 'up', tag: 'up', upstreamModel: 'm' },
      credential: { kind: 'operator' },
    } as Target;
    const health = createHealth({ clock: manualClock() });
    const hedging = createHedging(health, { afterMs: 1000, maxShare: 0.25 });
    const hedgedOf = (streams: number) => {
      let count = 0;
      for (let n = 0; n < streams; n++) {
        expect(hedging.patienceMs(step, 0)).toBe(1000);
        if (hedging.take()) count++;
      }
      return count;
    };
    // One to begin with, and one in four.
    expect(hedgedOf(1000)).toBe(251);
    for (let n = 0; n < 1000; n++) hedging.patienceMs(step, 0);
    let inARow = 0;
    while (hedging.take()) inARow++;
    expect(inARow).toBe(10);
  });
  it('lets go of both when the client leaves', async () => {
    const { send, upstream, clock, records } = hedged();
    upstream.answer(firstAfter(60_000, 'slow'), firstAfter(60_000, 'slow too'));
    const client = new AbortController();
    const pending = send({ ...streaming, ...inOrder }, {}, client.signal).catch((error: unknown) => error);
    await turns();
    await clock.advance(1500);
    client.abort();
    expect(await pending).toMatchObject({ name: 'AbortError' });
    await turns();
    expect(upstream.sent.map(({ closedAtMs }) => closedAtMs !== null)).toEqual([true, true]);
    expect(records).toMatchObject([{ outcome: 'cancelled' }]);
    await clock.advance(10_000);
    expect(clock.pending).toBe(0);
  });
});

describe('the budget of a hedged stream', () => {
  const withBudget = async (limitUsd: number) => {
    const gateway = hedged();
    await gateway.call('PUT', '/workspaces/default/budgets/daily', { limit_usd: limitUsd });
    return gateway;
  };
  /** What is held for one try: 1,055 bytes and marks at most in the prompt, and 100 tokens. */
  const fields = { max_tokens: 100 };

  it('holds both, and books what both cost', async () => {
    const gateway = await withBudget(1);
    gateway.upstream.answer(firstAfter(60_000, 'slow'), firstAfter(100, 'fast'));
    await ask(gateway, 1100, fields);
    const [record] = gateway.records;
    const served = (record?.usage?.cost ?? 0) * 1e9;
    expect(record?.costNanoUsd).toBeGreaterThan((record?.attempts[0]?.costNanoUsd ?? 0) + 1);
    expect(served).toBeGreaterThan(0);
    await gateway.call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 0.000001 });
    const { json } = await ask(gateway, 0, fields);
    expect(json?.error.metadata).toMatchObject({ held_usd: 0, spent_usd: (record?.costNanoUsd ?? 0) / 1e9 });
  });
  it('that pays for one only lets it go on alone', async () => {
    const gateway = await withBudget(0.008);
    gateway.upstream.answer(firstAfter(5000, 'slow'));
    const { chunks } = await ask(gateway, 5000, fields);
    expect(joined(chunks).content).toBe('slow');
    expect(gateway.upstream.sent).toHaveLength(1);
  });
});
