import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { messagesEncoder } from '../../src/formats/messages/encoder/index.ts';
import type { ChatChunk, ChunkDelta } from '../../src/schema/chat/chunk.ts';
import { runs } from '../support/runs.ts';

// biome-ignore lint/suspicious/noExplicitAny: of any event, for a test to look into
type Json = any;

const head = { id: 'gen-1', created: 1, model: 'acme/fast', provider: 'Up' };
const usage = {
  prompt_tokens: 30,
  completion_tokens: 5,
  total_tokens: 35,
  prompt_tokens_details: { cached_tokens: 10 },
};
const chunkOf = (delta: ChunkDelta, finish: 'stop' | 'length' | null = null): ChatChunk => ({
  id: head.id,
  object: 'chat.completion.chunk',
  created: 1,
  model: head.model,
  provider: head.provider,
  choices: [{ index: 0, delta, finish_reason: finish }],
});

/** What a model may say, in pieces and in any order: texts, thoughts, and the arguments of calls that are mixed. */
const args = ['{"a":"', 'x}', '"', ',"b":{"c":[1]}', '}'];
const piece = fc.oneof(
  fc.string().map((content): ChunkDelta => ({ content })),
  fc.string().map((text): ChunkDelta => ({ reasoning: text, reasoning_details: [{ type: 'reasoning.text', text }] })),
  fc.string().map((data): ChunkDelta => ({ reasoning_details: [{ type: 'reasoning.encrypted', data, format: 'x' }] })),
  fc.constant<ChunkDelta>({ tool_calls: [] }),
  fc.constant<ChunkDelta>({}),
);
const calls = fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 14 }).map((order) => {
  const next = new Map<number, number>();
  return order.flatMap((index): ChunkDelta[] => {
    const at = next.get(index) ?? -1;
    next.set(index, at + 1);
    if (at === -1)
      return [
        { tool_calls: [{ index, id: `id${index}`, type: 'function', function: { name: `f${index}`, arguments: '' } }] },
      ];
    const text = args[at];
    return text === undefined ? [] : [{ tool_calls: [{ index, function: { arguments: text } }] }];
  });
});
const said = fc
  .tuple(fc.array(piece, { maxLength: 12 }), calls, fc.infiniteStream(fc.boolean()))
  .map(([pieces, made, choose]) => {
    const left = [...pieces];
    const right = [...made];
    const mixed: ChunkDelta[] = [];
    for (const takesLeft of choose) {
      if (left.length === 0 && right.length === 0) break;
      const one = (takesLeft ? left.shift() : right.shift()) ?? left.shift() ?? right.shift();
      mixed.push(one as ChunkDelta);
    }
    return mixed;
  });

function eventsOf(text: string): Json[] {
  return text
    .split('\n\n')
    .slice(0, -1)
    .map((frame) => {
      const [, name, data] = /^event: (\w+)\ndata: (.+)$/.exec(frame) ?? [];
      const event = JSON.parse(data as string);
      expect(event.type).toBe(name);
      return event;
    });
}

/** Checks what holds for every stream, and joins its blocks. @returns the blocks, and those that are still open */
function checked(events: readonly Json[]): { blocks: Json[]; open: Set<number> } {
  const blocks: Json[] = [];
  const open = new Set<number>();
  expect(events[0]?.type).toBe('message_start');
  expect(events.filter(({ type }) => type === 'message_start')).toHaveLength(1);
  for (const { type, index, content_block: block, delta } of events) {
    if (type === 'content_block_start') {
      expect([index, open.size]).toEqual([blocks.length, 0]);
      blocks.push({ ...block, said: '' });
      open.add(index);
    } else if (type === 'content_block_delta') {
      expect(open.has(index)).toBe(true);
      blocks[index].said += delta.text ?? delta.thinking ?? delta.partial_json ?? '';
      if (delta.signature !== undefined) blocks[index].signature = delta.signature;
    } else if (type === 'content_block_stop') expect(open.delete(index)).toBe(true);
  }
  return { blocks, open };
}

/** The arguments of a call, joined. */
function argumentsOf(deltas: readonly ChunkDelta[], index: number): string {
  const own = deltas.flatMap(({ tool_calls: made = [] }) => made.filter((one) => one.index === index));
  return own.map((one) => one.function?.arguments ?? '').join('');
}

const encoderOf = () => messagesEncoder({ brand: 'service', showsThoughts: true, estimate: () => 12 });

describe('the encoder of the Messages wire', () => {
  it('closes every block that it opens, one after another, and loses nothing, whatever comes', () => {
    fc.assert(
      fc.property(said, fc.boolean(), (deltas, isCut) => {
        const isBroken = [0, 1, 2].some((index) => ![args.join(''), ''].includes(argumentsOf(deltas, index)));
        const ends = isCut || isBroken ? [chunkOf({}, 'length')] : [];
        const encoder = encoderOf();
        const chunks = [...deltas.map((delta) => chunkOf(delta)), ...ends];
        const text = chunks.map((chunk) => encoder.chunk(chunk)).join('') + encoder.finish(head, { usage });
        const events = eventsOf(text);
        const { blocks, open } = checked(events);
        expect(open.size).toBe(0);
        expect(events.slice(-2).map(({ type }) => type)).toEqual(['message_delta', 'message_stop']);
        const textOf = (type: string) =>
          blocks
            .filter((one) => one.type === type)
            .map((one) => one.said)
            .join('');
        expect(textOf('text')).toBe(deltas.map(({ content }) => content ?? '').join(''));
        expect(textOf('thinking')).toBe(deltas.map(({ reasoning }) => reasoning ?? '').join(''));
        for (const { type, signature } of blocks) if (type === 'thinking') expect(signature).not.toBe('');
        for (const index of [0, 1, 2]) {
          const block = blocks.find(({ id }) => id === `id${index}`);
          expect(block?.said ?? '').toBe(argumentsOf(deltas, index));
        }
        const reason = blocks.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn';
        expect(events.at(-2).delta.stop_reason).toBe(ends.length > 0 ? 'max_tokens' : reason);
        expect(events.at(-2).usage).toMatchObject({ input_tokens: 20, cache_read_input_tokens: 10, output_tokens: 5 });
      }),
      { numRuns: runs(200, 2_000) },
    );
  });
  it('closes no call whose arguments begin as an object and are none, and then fails', () => {
    fc.assert(
      fc.property(said, (deltas) => {
        const broken = [0, 1, 2].filter((index) => ![args.join(''), ''].includes(argumentsOf(deltas, index)));
        fc.pre(broken.length > 0);
        const encoder = encoderOf();
        const text = deltas.map((delta) => encoder.chunk(chunkOf(delta))).join('') + encoder.finish(head, { usage });
        const events = eventsOf(text);
        const { blocks, open } = checked(events);
        expect(events.at(-1)).toMatchObject({ type: 'error', error: { type: 'api_error' } });
        expect(events.some(({ type }) => type === 'message_delta' || type === 'message_stop')).toBe(false);
        const closed = blocks.filter((_, at) => !open.has(at)).map(({ id }) => id);
        for (const index of broken) expect(closed).not.toContain(`id${index}`);
      }),
      { numRuns: runs(200, 2_000) },
    );
  });
  it.each([
    ['null', '{}'],
    [' [1,2]', '{"value":[1,2]}'],
    ['"a"', '{"value":"a"}'],
    ['look it up', '{"invalid_json":"look it up"}'],
  ])('makes an object of arguments that are none: %s', (text, expected) => {
    for (const cut of [0, 1, 2]) {
      const encoder = encoderOf();
      const call = (part: string, more: object = {}) =>
        encoder.chunk(chunkOf({ tool_calls: [{ index: 0, ...more, function: { name: 'f', arguments: part } }] }));
      const begun = call(text.slice(0, cut), { id: 'id0', type: 'function' }) + call(text.slice(cut));
      const end = encoder.chunk(chunkOf({ content: 'A' }, 'stop')) + encoder.finish(head, { usage });
      const { blocks, open } = checked(eventsOf(begun + end));
      expect([blocks.map(({ said: one }) => one), open.size]).toEqual([[expected, 'A'], 0]);
    }
  });
  it.each(['{"a":1', '{a:1}', '{"a":1}}', '{"a":1}{"a":1}'])('takes no text for a call: %s', (text) => {
    const encoder = encoderOf();
    const call = { index: 0, id: 'id0', type: 'function' as const, function: { name: 'f', arguments: text } };
    const said = encoder.chunk(chunkOf({ tool_calls: [call] })) + encoder.chunk(chunkOf({ content: 'A' }));
    const events = eventsOf(said + encoder.finish(head, { usage }));
    expect([checked(events).open.size, events.at(-1).type]).toEqual([1, 'error']);
  });
  it('never looks complete after a failure', () => {
    fc.assert(
      fc.property(said, fc.boolean(), (deltas, hasFinished) => {
        const encoder = encoderOf();
        const chunks = [...deltas.map((delta) => chunkOf(delta)), ...(hasFinished ? [chunkOf({}, 'stop')] : [])];
        const text = chunks.map((chunk) => encoder.chunk(chunk)).join('');
        const end = encoder.fail(
          head,
          { code: 502, message: 'Broken', metadata: { error_type: 'provider_unavailable' } },
          {},
        );
        const events = eventsOf(text + end);
        expect(events.at(-1)).toMatchObject({ type: 'error', error: { type: 'api_error', message: 'Broken' } });
        expect(events.some(({ type }) => type === 'message_delta' || type === 'message_stop')).toBe(false);
        if (events.length > 1) checked(events);
      }),
      { numRuns: runs(200, 2_000) },
    );
  });
  it('says in JSON what it says in a stream', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (content, thought) => {
        const message = { role: 'assistant' as const, content, ...(thought ? { reasoning: thought } : {}) };
        const result = {
          object: 'chat.completion',
          choices: [{ index: 0, message, finish_reason: 'stop', logprobs: null }],
        };
        const body = encoderOf().result(head, result as Json, { usage }) as Json;
        const encoder = encoderOf();
        const stream = encoder.chunk(chunkOf({ content, ...(thought ? { reasoning: thought } : {}) }, 'stop'));
        const { blocks } = checked(eventsOf(stream + encoder.finish(head, { usage })));
        expect(body.content.map((one: Json) => [one.type, one.text ?? one.thinking, one.signature])).toEqual(
          blocks.map((one) => [one.type, one.said, one.signature]),
        );
      }),
    );
  });
});
