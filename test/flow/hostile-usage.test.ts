import { describe, expect, it } from 'vitest';
import { bytesOf, chunkOf, done, event, resultOf, stop, text, usageEvent, usual } from '../support/hostile.ts';
import { payloadsOf } from '../support/recordings.ts';
import { type Replay, replayGateway } from '../support/replay.ts';

/** 1 USD per million prompt tokens, 2 per million completion tokens: see replayGateway. */
const costOf = (prompt: number, completion: number) => (prompt + 2 * completion) / 1e6;

/** What is no usage: the tokens are estimated from the text instead. */
const nonsense: [name: string, usage: unknown][] = [
  ['absent', undefined],
  ['null', null],
  ['a number', 15],
  ['a text', '15 tokens'],
  ['a list', [10, 5, 15]],
  ['empty', {}],
  ['negative', { prompt_tokens: -10, completion_tokens: -5, total_tokens: -15 }],
  ['negative in one place', { ...usual, completion_tokens: -5 }],
  ['fractional', { prompt_tokens: 10.5, completion_tokens: 4.5, total_tokens: 15 }],
  ['textual', { prompt_tokens: '10', completion_tokens: '5', total_tokens: '15' }],
  ['huge', { prompt_tokens: 1e15, completion_tokens: 1e15, total_tokens: 2e15 }],
  ['beyond numbers', '1e999'],
  ['beyond integers', { prompt_tokens: 2 ** 53, completion_tokens: 5, total_tokens: 15 }],
  ['null in one place', { prompt_tokens: null, completion_tokens: 5, total_tokens: 15 }],
  ['boolean', { prompt_tokens: true, completion_tokens: false }],
  ['nested', { prompt_tokens: { value: 10 }, completion_tokens: [5] }],
  ['a prototype', { __proto__: usual, constructor: usual }],
];

/** What is usage, with nonsense in its details. */
const partly: [name: string, usage: object][] = [
  [
    'negative',
    {
      prompt_tokens_details: { cached_tokens: -3, audio_tokens: -1 },
      completion_tokens_details: { reasoning_tokens: -2 },
    },
  ],
  ['textual', { prompt_tokens_details: { cached_tokens: '3' }, completion_tokens_details: { reasoning_tokens: '2' } }],
  ['huge', { prompt_tokens_details: { cached_tokens: 1e300 }, completion_tokens_details: { reasoning_tokens: 1e300 } }],
  ['no objects', { prompt_tokens_details: 'none', completion_tokens_details: [1] }],
  ['null', { prompt_tokens_details: null, completion_tokens_details: null }],
  ['deep', { prompt_tokens_details: { cached_tokens: { a: { b: 1 } } } }],
  ['a total that is nonsense', { total_tokens: -7 }],
  ['a total that is huge', { total_tokens: 1e18 }],
  ['a total that is less than its parts', { total_tokens: 1 }],
  ['a cost of its own', { cost: -5, cost_details: { upstream_inference_cost: 1e9 }, is_byok: true, estimated: false }],
];

interface Billed {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  cost: number;
  [key: string]: unknown;
}

async function billed(usage: unknown, stream: boolean): Promise<{ shown: Billed; replay: Replay }> {
  const replay = replayGateway();
  const spelled = (json: string) => json.replace('"1e999"', '{"prompt_tokens":1e999,"completion_tokens":1e999}');
  const body = stream
    ? text('Hello there, caller') + stop + usageEvent(usage) + done
    : JSON.stringify(resultOf({ usage }));
  const answer = await replay.send({ pieces: [bytesOf(spelled(body))] }, { stream });
  expect(answer.status, answer.text).toBe(200);
  const payloads = stream ? payloadsOf(answer.text).slice(0, -1) : [answer.text];
  const withUsage = payloads.map((payload) => JSON.parse(payload)).filter((one) => 'usage' in one);
  expect(withUsage.length).toBe(1);
  return { shown: withUsage[0].usage, replay };
}

function checkSane(shown: Billed, replay: Replay): void {
  const record = replay.lastRecord();
  for (const tokens of [shown.prompt_tokens, shown.completion_tokens, shown.total_tokens]) {
    expect(Number.isSafeInteger(tokens) && tokens >= 0, JSON.stringify(shown)).toBe(true);
  }
  expect(shown.total_tokens).toBe(shown.prompt_tokens + shown.completion_tokens);
  expect(shown.cost).toBeCloseTo(costOf(shown.prompt_tokens, shown.completion_tokens), 12);
  expect(record.costNanoUsd).toBe(Math.round(shown.cost * 1e9));
  expect(shown.is_byok).toBe(false);
}

describe.each([
  ['as JSON', false],
  ['in a stream', true],
] as const)('usage %s', (_, stream) => {
  it('is taken where it is usage', async () => {
    const { shown, replay } = await billed(usual, stream);
    expect(shown).toMatchObject({ ...usual, cost: costOf(10, 5) });
    expect(replay.lastRecord()).toMatchObject({ isEstimated: false, costNanoUsd: 20_000 });
  });

  it.each(nonsense)('that is %s is estimated instead', async (_name, usage) => {
    const { shown, replay } = await billed(usage, stream);
    checkSane(shown, replay);
    expect(replay.lastRecord().isEstimated).toBe(true);
    expect(shown.prompt_tokens).toBeGreaterThan(0);
    expect(shown.total_tokens).toBeLessThan(100);
  });

  it.each(partly)('with details that are %s keeps what is sound', async (_name, details) => {
    const { shown, replay } = await billed({ ...usual, ...details }, stream);
    checkSane(shown, replay);
    expect(shown).toMatchObject({ prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, cost: costOf(10, 5) });
    const { cached_tokens: cached } = shown.prompt_tokens_details as { cached_tokens: number };
    const { reasoning_tokens: reasoning } = shown.completion_tokens_details as { reasoning_tokens: number };
    expect(cached >= 0 && cached <= 10 && reasoning >= 0 && reasoning <= 5).toBe(true);
  });
});

describe('usage that is told more than once in a stream', () => {
  const tell = async (...events: string[]) => {
    const replay = replayGateway();
    const answer = await replay.send({ pieces: [bytesOf(events.join(''))] }, { stream: true });
    const usages = payloadsOf(answer.text)
      .slice(0, -1)
      .map((payload) => JSON.parse(payload))
      .filter((one) => 'usage' in one);
    expect(usages.length).toBe(1);
    checkSane(usages[0].usage, replay);
    return usages[0].usage as Billed;
  };
  const counting = (completion: number, more: object = {}) =>
    event({
      ...chunkOf({ content: 'x' }),
      usage: { prompt_tokens: 10, completion_tokens: completion, total_tokens: 10 + completion },
      ...more,
    });

  it('counts once where it counts up', async () => {
    expect(
      await tell(
        counting(1),
        counting(2),
        counting(3),
        stop,
        usageEvent({ prompt_tokens: 10, completion_tokens: 4, total_tokens: 14 }),
        done,
      ),
    ).toMatchObject({ prompt_tokens: 10, completion_tokens: 4 });
  });

  it('counts once where it is repeated', async () => {
    expect(
      await tell(
        text('x'),
        stop,
        usageEvent(usual),
        usageEvent(usual),
        event({ choices: [], x_groq: { usage: usual } }),
        done,
      ),
    ).toMatchObject(usual);
  });

  it('keeps the last that was sound', async () => {
    expect(
      await tell(counting(7), stop, usageEvent({ prompt_tokens: -1, completion_tokens: -1 }), usageEvent(null), done),
    ).toMatchObject({ prompt_tokens: 10, completion_tokens: 7 });
  });

  it('does not count what comes after the sentinel', async () => {
    expect(
      await tell(
        text('x'),
        stop,
        usageEvent(usual),
        done,
        usageEvent({ prompt_tokens: 99_000_000, completion_tokens: 1, total_tokens: 99_000_001 }),
      ),
    ).toMatchObject(usual);
  });
});
