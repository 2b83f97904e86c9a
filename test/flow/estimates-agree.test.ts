import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ledgerOf, withBudget } from '../support/booked.ts';
import { hello, type TestGateway } from '../support/gateway.ts';
import { runs } from '../support/runs.ts';
import { chunk, completion, sse } from '../support/upstream.ts';

// The same response without reported usage: what is counted of it does not depend on how it came.

const ask = { model: 'acme/one', messages: hello, max_tokens: 2_000 };

/** The pieces of a text, in as many events, and as JSON. */
async function countedOf(tested: TestGateway, text: string, cuts: readonly number[], isStream: boolean) {
  tested.records.length = 0;
  const edges = [...new Set([0, ...cuts.map((cut) => cut % (text.length + 1)), text.length])].sort((a, b) => a - b);
  const pieces = edges.slice(1).map((edge, at) => text.slice(edges[at], edge));
  tested.upstream.answer(
    isStream
      ? {
          body: [
            ...pieces.map((content) => sse(chunk({ content }))),
            sse(chunk({ reasoning: 'Well “hm”' }), chunk({}, 'stop'), '[DONE]'),
          ],
        }
      : { body: completion({ usage: undefined }, { content: text, reasoning: 'Well “hm”' }) },
  );
  expect((await tested.post({ ...ask, stream: isStream })).status).toBe(200);
  const [record] = tested.records;
  expect(record?.isEstimated).toBe(true);
  return { usage: record?.usage, costNanoUsd: record?.costNanoUsd };
}

// A surrogate pair that is cut is no text of its own: providers cut at characters.
const text = fc
  .array(fc.constantFrom('word ', 'naïve ', '漢字', '"quoted"\n', '\\u0041', '\t', 'x'.repeat(40), '…'), {
    minLength: 1,
    maxLength: 60,
  })
  .map((words) => words.join(''));

describe('a response without reported usage', () => {
  it.each(['held', 'only counted'])('is counted alike as JSON and as a stream, however it is cut: %s', async (how) => {
    const tested = await withBudget(1_000);
    if (how === 'only counted') await tested.call('DELETE', '/workspaces/default/budgets/lifetime');
    await fc.assert(
      fc.asyncProperty(text, fc.array(fc.nat(), { maxLength: 30 }), async (said, cuts) => {
        const json = await countedOf(tested, said, cuts, false);
        expect(await countedOf(tested, said, cuts, true)).toEqual(json);
      }),
      { numRuns: runs(40, 1_000) },
    );
  });
});

describe('a report that says less than an earlier one', () => {
  const report = (prompt: number, completion: number) =>
    sse({
      ...chunk({}),
      choices: [],
      usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion },
    });
  it.each<[string, (readonly [number, number])[], number, number]>([
    [
      'zeros at the end',
      [
        [100, 40],
        [0, 0],
      ],
      100,
      40,
    ],
    [
      'less output',
      [
        [100, 40],
        [100, 3],
      ],
      100,
      40,
    ],
    [
      'each falls in another',
      [
        [100, 3],
        [7, 40],
      ],
      100,
      40,
    ],
  ])('changes nothing: %s', async (_, reports, prompt, output) => {
    const tested = await withBudget(1);
    tested.upstream.answer({
      body: [
        sse(chunk({ content: 'Hello' }), chunk({}, 'stop')),
        ...reports.map(([p, c]) => report(p, c)),
        sse('[DONE]'),
      ],
    });
    expect((await tested.post({ ...ask, stream: true })).status).toBe(200);
    const [record] = tested.records;
    expect([record?.usage?.prompt_tokens, record?.usage?.completion_tokens]).toEqual([prompt, output]);
    expect(record?.costNanoUsd).toBe(prompt * 1_000 + output * 8_000);
    expect(await ledgerOf(tested)).toEqual({ spent: record?.costNanoUsd, held: 0 });
  });
  it('does not hide the text that came after the larger one', async () => {
    const tested = await withBudget(1);
    const body = [sse(chunk({ content: 'Hi' })), report(10, 2), sse(chunk({ content: 'x'.repeat(300) })), report(0, 0)];
    tested.upstream.answer({ body: [...body, sse(chunk({}, 'stop'), '[DONE]')] });
    await tested.post({ ...ask, stream: true });
    expect(tested.records[0]?.usage?.completion_tokens).toBeGreaterThanOrEqual(300);
  });
});
