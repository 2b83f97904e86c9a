import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chunkFolder, toChunks } from '../../../src/formats/chunks.ts';
import type { ChatResult } from '../../../src/schema/chat/chat.ts';
import { type ChunkDelta, chatChunkSchema } from '../../../src/schema/chat/chunk.ts';

const text = fc.string({ unit: 'grapheme', maxLength: 10 });
const call = fc.record({
  id: text.map((id) => `call_${id}`),
  type: fc.constant('function' as const),
  function: fc.record({ name: text.map((name) => `f${name}`), arguments: text }),
});
const message = fc.record(
  {
    role: fc.constant('assistant' as const),
    content: fc.option(text),
    refusal: fc.option(text.filter((one) => one !== '')),
    reasoning: text,
    tool_calls: fc.array(call, { minLength: 1, maxLength: 3 }),
    audio: fc.record({ id: text, data: text, transcript: text }),
    annotations: fc.array(fc.record({ type: fc.constant('url_citation') }), { minLength: 1, maxLength: 2 }),
  },
  { requiredKeys: ['role', 'content', 'refusal'] },
);
const logprobs = fc.option(
  fc.record({
    content: fc.constant([{ token: 'a', logprob: -1, bytes: [97], top_logprobs: [] }]),
    refusal: fc.constant(null),
  }),
);
const result = fc.record({
  id: fc.constant(''),
  object: fc.constant('chat.completion' as const),
  created: fc.nat(),
  model: fc.constant(''),
  system_fingerprint: fc.option(text),
  choices: fc
    .array(fc.tuple(message, fc.constantFrom('stop' as const, 'length' as const, 'tool_calls' as const), logprobs), {
      minLength: 1,
      maxLength: 3,
    })
    .map((all) =>
      all.map(([said, finish_reason, probabilities], index) => ({
        index,
        message: said,
        finish_reason,
        native_finish_reason: finish_reason,
        logprobs: probabilities,
      })),
    ),
});

describe('an answer as chunks', () => {
  it('is valid chunks, which add up to the answer again', () => {
    fc.assert(
      fc.property(result, (answer) => {
        const folder = chunkFolder();
        expect(folder.result()).toBe(null);
        for (const chunk of toChunks(answer as ChatResult)) {
          chatChunkSchema().parse(chunk);
          folder.add(chunk);
        }
        expect(folder.result()).toEqual(answer);
      }),
    );
  });
});

describe('chunks as an answer', () => {
  it('puts interleaved choices, texts and tool calls together', () => {
    const folder = chunkFolder();
    const add = (index: number, delta: ChunkDelta, finish_reason: 'stop' | null = null) =>
      folder.add({
        id: '',
        object: 'chat.completion.chunk',
        created: 1,
        model: '',
        choices: [{ index, delta, finish_reason }],
      });
    add(1, { role: 'assistant', content: 'x' });
    add(0, { content: 'a', reasoning: 'r' });
    add(0, { tool_calls: [{ index: 1, id: 'c2', type: 'function', function: { name: 'g', arguments: '' } }] });
    add(0, { tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'f', arguments: '{' } }] });
    add(0, { tool_calls: [{ index: 0, function: { arguments: '}' } }] });
    add(0, { content: 'b', reasoning: 's' }, 'stop');
    add(1, {}, 'stop');
    expect(folder.result()?.choices).toMatchObject([
      {
        index: 0,
        finish_reason: 'stop',
        message: {
          content: 'ab',
          reasoning: 'rs',
          tool_calls: [
            { id: 'c1', function: { name: 'f', arguments: '{}' } },
            { id: 'c2', function: { name: 'g' } },
          ],
        },
      },
      { index: 1, finish_reason: 'stop', message: { content: 'x' } },
    ]);
  });
});
