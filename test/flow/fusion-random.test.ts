import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fusion } from '../../src/plugins/fusion/index.ts';
import { sendResponses } from '../support/ask-responses.ts';
import { ledgerOf } from '../support/booked.ts';
import { type Asked, comparison, fusionGateway, said, sentFor, streamed } from '../support/fusion.ts';
import { drive, hello, nextTurn, type TestGateway } from '../support/gateway.ts';
import { runs } from '../support/runs.ts';
import { errorBody, type ScriptedAnswer } from '../support/upstream.ts';

const ms = fc.constantFrom(0, 1, 50, 3_000, 12_000);
const tokens = fc.nat({ max: 50 });

/** What an upstream does with one request. */
const deed = fc.record({
  how: fc.oneof(
    { weight: 6, arbitrary: fc.constant('answer') },
    fc.constantFrom('refusal', 'limited', 'broken', 'empty', 'hang', 'refuse', 'cut'),
  ),
  afterMs: ms,
  prompt: tokens,
  output: tokens,
});
type Deed = typeof deed extends fc.Arbitrary<infer T> ? T : never;

const story = fc.record({
  deeds: fc.array(deed, { minLength: 4, maxLength: 12 }),
  models: fc.shuffledSubarray(['acme/a', 'acme/b', 'acme/c', 'acme/d'], { minLength: 1 }),
  stream: fc.boolean(),
  isResponses: fc.boolean(),
  concurrency: fc.integer({ min: 1, max: 4 }),
  minAnswers: fc.integer({ min: 1, max: 4 }),
  /** null: never. */
  leavesAfterMs: fc.option(fc.oneof(ms, fc.nat({ max: 30_000 })), { freq: 2 }),
  leaves: fc.constantFrom('signal', 'cancel'),
  limitUsd: fc.constantFrom(0.002, 0.02, 0.2, 2),
});

const costOf = (prompt: number, output: number) => prompt * 1000 + output * 8000;

function answerOf({ how, afterMs, prompt, output }: Deed, asked: Asked, isStream: boolean): ScriptedAnswer {
  const text = asked === 'judge' ? JSON.stringify(comparison) : 'The sky is blue';
  if (how === 'answer') return { afterMs, ...(isStream ? streamed : said)(text, 100 + prompt, 30 + output) };
  if (how === 'empty') return { afterMs, ...said('', 100 + prompt, 30 + output) };
  if (how === 'refusal') return { afterMs, status: 400, body: errorBody('No') };
  if (how === 'limited') return { afterMs, status: 429, body: errorBody('Slow') };
  if (how === 'broken') return { afterMs, status: 500, body: errorBody('Broken') };
  if (how === 'cut') return { afterMs, body: [{ breaks: true }] };
  return { afterMs, instead: how as 'hang' | 'refuse' };
}

/** Reads a response to its end, or until the client leaves. */
async function play(
  tested: TestGateway,
  one: typeof story extends fc.Arbitrary<infer T> ? T : never,
): Promise<boolean> {
  const { stream, models, isResponses, leavesAfterMs, leaves } = one;
  const client = new AbortController();
  const plugins = [{ id: 'fusion', analysis_models: models }];
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  const body = { stream, plugins };
  const sending = isResponses
    ? sendResponses(tested, { ...body, model: undefined, max_output_tokens: 100 }, {}, client.signal)
    : tested.send({ ...body, messages: hello, max_tokens: 100 }, {}, client.signal);
  const reading = sending.then(async (response) => {
    reader = response.body?.getReader();
    while ((await reader?.read())?.done === false);
  });
  reading.catch(() => undefined);
  if (leavesAfterMs === null) {
    await drive(tested.clock, reading);
    return false;
  }
  const turns = async () => {
    for (let turn = 0; turn < 6; turn++) await nextTurn();
  };
  await turns();
  await tested.clock.advance(leavesAfterMs);
  await turns();
  if (leaves === 'cancel' && reader) await reader.cancel().catch(() => undefined);
  else client.abort();
  await turns();
  return true;
}

it('whatever models, providers and clients do: settled once, nothing stays held, nothing goes on', async () => {
  const met: Record<string, number> = {};
  const meet = (what: string) => {
    met[what] = (met[what] ?? 0) + 1;
  };
  await fc.assert(
    fc.asyncProperty(story, async (one) => {
      let bill = 0;
      const deeds: Deed[] = [];
      const tested = fusionGateway(
        (asked, _model, body) => {
          const next = one.deeds[deeds.length % one.deeds.length] as Deed;
          deeds.push(next);
          return answerOf(next, asked, body.stream === true);
        },
        {
          plugins: [fusion({ concurrency: one.concurrency, minAnswers: one.minAnswers, answerBytes: 100 })],
          retry: { attemptsPerEndpoint: 1 },
        },
      );
      const { upstream, clock, records } = tested;
      await tested.call('PUT', '/workspaces/default/budgets/lifetime', { limit_usd: one.limitUsd });
      const hasLeft = await play(tested, one);
      await clock.advance(1000);
      const leftMs = clock.now();
      expect(records).toHaveLength(1);
      expect(clock.pending).toBe(0);
      await clock.advance(3_600_000);
      expect(records).toHaveLength(1);
      // What is let go of at the moment when it has arrived is booked as what was let go of before.
      let isExact = records[0]?.outcome === 'ok' || !(hasLeft || one.minAnswers > 1);
      for (const [at, sent] of upstream.sent.entries()) {
        const { how, prompt, output } = deeds[at] as Deed;
        expect(sent.atMs).toBeLessThanOrEqual(leftMs);
        const isOver = sent.isRead || sent.closedAtMs !== null || how === 'refuse' || how === 'cut';
        expect(isOver).toBe(true);
        if ((how === 'answer' || how === 'empty') && sent.isRead) bill += costOf(100 + prompt, 30 + output);
        // What was let go of, or timed out, may have been made: it is booked as it was held.
        else if (!['refusal', 'limited', 'broken', 'refuse'].includes(how)) isExact = false;
      }
      const asked = upstream.sent.length;
      const finals = sentFor(tested, 'final').length;
      const { spent, held } = await ledgerOf(tested, 'acme/a');
      expect(held).toBe(0);
      expect(spent).toBe(records[0]?.costNanoUsd);
      if (isExact) expect(spent).toBe(bill);
      else expect(spent).toBeGreaterThanOrEqual(bill);
      expect(spent).toBeLessThanOrEqual(one.limitUsd * 1e9);
      meet(records[0]?.outcome ?? 'none');
      if (isExact && bill > 0) meet('exact');
      if (hasLeft && upstream.sent.some(({ closedAtMs }) => closedAtMs !== null)) meet('let go of');
      if (finals > 0) meet('written');
      if (asked === 0 && records[0]?.status === 402) meet('refused for money');
    }),
    { numRuns: runs(100, 1_000), seed: 4_711 },
  );
  for (const what of ['ok', 'failed', 'cancelled', 'exact', 'let go of', 'written'])
    expect([what, met[what] ?? 0]).toEqual([what, expect.toSatisfy((times: number) => times > 3)]);
}, 240_000);

it('every analysis model hears that the client has left, and the next in line is never called', async () => {
  const tested = fusionGateway(() => ({ instead: 'hang' }), { plugins: [fusion({ concurrency: 3 })] });
  const client = new AbortController();
  const plugins = [{ id: 'fusion', analysis_models: ['acme/a', 'acme/b', 'acme/c', 'acme/d'] }];
  const sending = tested.send({ messages: hello, plugins }, {}, client.signal).catch(() => undefined);
  await tested.clock.advance(500);
  client.abort();
  await sending;
  expect(tested.upstream.sent.map(({ closedAtMs }) => closedAtMs !== null)).toEqual([true, true, true]);
  await tested.clock.advance(1000);
  expect([tested.records.length, tested.records[0]?.outcome, tested.clock.pending]).toEqual([1, 'cancelled', 0]);
});

it('the time limit of the call stops the analysis models', async () => {
  const tested = fusionGateway(() => ({ instead: 'hang' }), { timeouts: { totalMs: 5_000 } });
  const plugins = [{ id: 'fusion', analysis_models: ['acme/a', 'acme/b'] }];
  const { status } = await tested.post({ messages: hello, plugins });
  expect(status).toBe(408);
  expect(tested.upstream.sent.map(({ closedAtMs }) => closedAtMs !== null)).toEqual([true, true]);
});
