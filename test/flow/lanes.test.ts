import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openaiChat } from '../../src/dialects/openai-chat/index.ts';
import { defineProvider } from '../../src/providers/provider.ts';
import type { ChatChunk } from '../../src/schema/chat/chunk.ts';
import { hello, readStream, type TestGateway, testGateway } from '../support/gateway.ts';
import { runs } from '../support/runs.ts';
import { chunk, recut, sse, textStream, usageChunk } from '../support/upstream.ts';

/** The same provider twice: one whose events may be copied, and one whose every event is decoded. */
function twoLanes(): TestGateway[] {
  return [openaiChat, { ...openaiChat, format: undefined }].map((dialect) =>
    testGateway({
      providers: { up: defineProvider({ slug: 'up', name: 'Up', baseUrl: 'https://up.test/v1', dialect }) },
      models: [],
    }),
  );
}

async function read(lane: TestGateway, pieces: readonly Uint8Array[]): Promise<ChatChunk[]> {
  lane.upstream.answer({ body: pieces });
  const { chunks } = await readStream(await lane.send({ model: 'up/x', messages: hello, stream: true }));
  return chunks;
}

/**
 * Reads the same stream on either lane. Usage is left out where a lane has estimated it: text is counted before
 * decoding on the one and after it on the other, so only one of them may find a report too low for it.
 */
async function expectSame(lanes: readonly TestGateway[], pieces: readonly Uint8Array[]): Promise<void> {
  const [one, other] = [await read(lanes[0] as TestGateway, pieces), await read(lanes[1] as TestGateway, pieces)];
  const isEstimated = [...one, ...other].some(({ usage }) => usage?.estimated === true);
  const compared = (chunks: readonly ChatChunk[]) =>
    isEstimated ? chunks.map((chunk) => ({ ...chunk, usage: undefined })) : chunks;
  expect(compared(one)).toEqual(compared(other));
}

/** How a server may write one and the same value. */
const styles: ((value: unknown) => string)[] = [
  (value) => JSON.stringify(value),
  // As Python does.
  (value) => JSON.stringify(value, null, 1).replace(/\n\s*/g, ' '),
  // Everything beyond ASCII escaped, and slashes too.
  (value) =>
    JSON.stringify(value)
      .replace(/[\u007f-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .replaceAll('/', '\\/'),
];

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.string({ unit: 'binary', maxLength: 6 }),
  fc.constantFrom(
    '',
    '"',
    '\\',
    '\\"',
    '\n',
    '\u0000',
    '"content":"',
    '","content":"x',
    '"}}]}\n\ndata: [DONE]\n\n',
    '@@hole-0@@',
    '日本',
    '👩‍👩‍👧',
    '\u2028',
    '</s>',
  ),
);

const delta = fc.oneof(
  { weight: 6, arbitrary: text.map((content): object => ({ content })) },
  { weight: 2, arbitrary: text.map((content): object => ({ role: 'assistant', content })) },
  { weight: 3, arbitrary: text.map((reasoning_content): object => ({ reasoning_content })) },
  { weight: 2, arbitrary: text.map((reasoning): object => ({ content: '', reasoning })) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(text, text)
      .map(([content, reasoning]): object => ({ content, reasoning, reasoning_content: reasoning })),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(text, text).map(([content, reasoning_content]): object => ({ content, reasoning_content })),
  },
  { weight: 1, arbitrary: text.map((refusal): object => ({ refusal, content: null })) },
  { weight: 1, arbitrary: text.map((channel): object => ({ channel, content: 'x' })) },
  {
    weight: 1,
    arbitrary: text.map((data): object => ({
      content: 'x',
      reasoning_details: [{ type: 'reasoning.text', text: data, content: data }],
    })),
  },
  {
    weight: 1,
    arbitrary: text.map((args): object => ({
      tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'f', arguments: args } }],
    })),
  },
  { weight: 1, arbitrary: fc.constant({}) },
);

const around = fc.oneof(
  { weight: 6, arbitrary: fc.constant({}) },
  { weight: 2, arbitrary: fc.string({ maxLength: 8 }).map((obfuscation): object => ({ obfuscation })) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<object>(
      { usage: null },
      { system_fingerprint: null },
      { service_tier: 'default' },
      { usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } },
    ),
  },
  { weight: 1, arbitrary: text.map((content): object => ({ content })) },
  { weight: 1, arbitrary: text.map((reasoning): object => ({ reasoning })) },
  { weight: 1, arbitrary: text.map((content): object => ({ extra: { content } })) },
  { weight: 1, arbitrary: fc.nat({ max: 3 }).map((created): object => ({ created })) },
);

const stream = fc.record({
  events: fc.array(fc.tuple(delta, around), { minLength: 1, maxLength: 12 }),
  isSame: fc.boolean(),
  style: fc.constantFrom(...styles),
  newline: fc.constantFrom('\n', '\n', '\r\n'),
  size: fc.constantFrom(1, 2, 3, 7, 50, 200, 1000, 100_000),
  ending: fc.constantFrom('whole', 'usage', 'cut', 'error'),
});

describe('the two lanes', () => {
  it('say the same to a client, whatever a stream holds, however it is written and wherever it is cut', async () => {
    const [passthrough, decoded] = twoLanes() as [TestGateway, TestGateway];
    await fc.assert(
      fc.asyncProperty(stream, async ({ events, isSame, style, newline, size, ending }) => {
        const [, firstAround] = events[0] as (typeof events)[number];
        const said = events.map(([one, other]) => chunk(one, null, isSame ? firstAround : other));
        const end =
          ending === 'cut'
            ? []
            : ending === 'error'
              ? [{ error: { message: 'Broken' } }]
              : [chunk({}, 'stop'), ...(ending === 'usage' ? [usageChunk()] : [])];
        const all = [chunk({ role: 'assistant', content: 'Hi' }), ...said, ...end]
          .map((one) => `data: ${style(one)}\n\n`)
          .join('');
        const wire = (all + (ending === 'cut' ? '' : 'data: [DONE]\n\n')).replaceAll('\n', newline);
        const pieces = recut(wire, size);
        await expectSame([passthrough, decoded], pieces);
      }),
      { numRuns: runs(60, 200) },
    );
  }, 60_000);
  it('say the same when the events change in more than their text', async () => {
    const [passthrough, decoded] = twoLanes() as [TestGateway, TestGateway];
    const of = (index: number, one: object) => ({
      ...chunk({}),
      choices: [{ index, delta: one, finish_reason: null }],
    });
    const streams = [
      sse(of(0, { content: 'a' }), of(1, { content: 'b' }), of(0, { content: 'c' }), of(1, { content: 'd' })),
      sse(
        chunk({ content: 'a' }),
        { ...chunk({ content: 'b' }), model: 'changed' },
        { ...chunk({ content: 'c' }), system_fingerprint: 'fp_2' },
      ),
      sse(
        chunk({ content: 'a' }),
        chunk({ reasoning: 'b' }),
        chunk({ content: 'c' }),
        chunk({ refusal: 'd' }),
        chunk({ content: 'e', role: 'assistant' }),
      ),
      sse(chunk({ content: 'a' })) +
        sse(chunk({ content: 'b' })).replace('data: ', 'event: x\ndata: ') +
        sse(chunk({ content: 'c' })).replace('data: ', 'data:'),
    ];
    for (const body of streams) {
      const pieces = recut(body + sse(of(0, {}), of(1, {}), '[DONE]'), 40);
      await expectSame([passthrough, decoded], pieces);
    }
  });
  it('estimate the same where the provider reports no usage, in any script', async () => {
    for (const words of [
      ['plain ', 'words '],
      ['日本語', 'の文章'],
      ['Grüße', ' ça va'],
      ['👩‍👩‍👧', '🎉🎉'],
    ]) {
      const texts = Array.from({ length: 20 }, () => words).flat();
      const estimates = [];
      for (const lane of twoLanes()) {
        lane.upstream.answer({ body: [...textStream(...texts).slice(0, -2), sse('[DONE]')] });
        const { chunks } = await readStream(await lane.send({ model: 'up/x', messages: hello, stream: true }));
        estimates.push(chunks.at(-1)?.usage?.completion_tokens);
      }
      expect(estimates[0]).toBe(estimates[1]);
      expect(estimates[0]).toBeGreaterThan(texts.join('').length / 6);
    }
  });
  it('copies most of an ordinary stream instead of decoding it', async () => {
    let decodedEvents = 0;
    const counting = {
      ...openaiChat,
      streamDecoder: (...all: Parameters<typeof openaiChat.streamDecoder>) => {
        const { decode } = openaiChat.streamDecoder(...all);
        return {
          decode: (data: string, event: string) => {
            decodedEvents++;
            return decode(data, event);
          },
        };
      },
    };
    const { send, upstream } = testGateway({
      providers: { up: defineProvider({ slug: 'up', baseUrl: 'https://up.test/v1', dialect: counting }) },
      models: [],
    });
    const texts = Array.from({ length: 500 }, (_, i) => `word ${i} `);
    upstream.answer({ body: recut(textStream(...texts), 777) });
    const { chunks } = await readStream(await send({ model: 'up/x', messages: hello, stream: true }));
    expect(chunks).toHaveLength(503);
    expect(decodedEvents).toBeLessThan(10);
  });
});
