import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { geminiEncoder } from '../../src/formats/gemini/encoder/index.ts';
import { openThoughts } from '../../src/formats/gemini/thoughts.ts';
import type { ChatChunk, ChunkDelta } from '../../src/schema/chat/chunk.ts';
import { geminiResultSchema } from '../../src/schema/gemini/result.ts';
import { runs } from '../support/runs.ts';

// biome-ignore lint/suspicious/noExplicitAny: of any event, for a test to look into
type Json = any;
type Finish = 'stop' | 'tool_calls' | 'length' | 'content_filter' | 'error' | null;

const head = { id: 'gen-1', created: 1, model: 'acme/fast', provider: 'Up' };
const usage = {
  prompt_tokens: 30,
  completion_tokens: 5,
  total_tokens: 35,
  prompt_tokens_details: { cached_tokens: 10 },
  completion_tokens_details: { reasoning_tokens: 2 },
};
const chunkOf = (delta: ChunkDelta, finish: Finish = null, index = 0): ChatChunk => ({
  id: head.id,
  object: 'chat.completion.chunk',
  created: 1,
  model: head.model,
  provider: head.provider,
  choices: [{ index, delta, finish_reason: finish }],
});

/** Texts that would end an event, an array or a line, where they were not escaped. */
const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('\r\n\r\ndata: {}', '\n\n', ']', ',\r\n', '\u2028', ': c', '[DONE]'),
);
/** What a model may say, in pieces and in any order: texts, thoughts, and the arguments of calls that are mixed. */
const args = ['{"a":"', 'x}', '"', ',"b":{"c":[1]}', '}'];
const piece = fc.oneof(
  text.map((content): ChunkDelta => ({ content })),
  text.map((said): ChunkDelta => ({ reasoning: said, reasoning_details: [{ type: 'reasoning.text', text: said }] })),
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
    const part = args[at];
    return part === undefined ? [] : [{ tool_calls: [{ index, function: { arguments: part } }] }];
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
const form = fc.constantFrom('events' as const, 'array' as const);
const finishes = fc.constantFrom<Finish>('stop', 'tool_calls', 'length', 'content_filter');

/**
 * Reads what was written as the strictest of the clients: an event is `data: ` at the start of the buffer, up to a blank
 * line; an array is JSON, once it is closed.
 * @param isOpen  the array was not closed
 */
function eventsOf(written: string, kind: 'events' | 'array', isOpen = false): Json[] {
  if (kind === 'array') return written === '' ? [] : JSON.parse(isOpen ? `${written}]` : written);
  const events: Json[] = [];
  let rest = written;
  while (rest !== '') {
    const [whole, data] = /^\s*data: (.*)\r\n\r\n/.exec(rest) ?? [];
    if (whole === undefined) throw new Error(`No event: ${rest}`);
    events.push(JSON.parse(data as string));
    rest = rest.slice(whole.length);
  }
  return events;
}

const candidatesOf = (events: readonly Json[], index = 0): Json[] =>
  events.flatMap(({ candidates = [] }) => candidates.filter((one: Json) => one.index === index));
const partsOf = (events: readonly Json[], index = 0): Json[] =>
  candidatesOf(events, index).flatMap(({ content }) => content.parts);
const joined = (parts: readonly Json[], isThought: boolean) =>
  parts
    .filter((part) => (part.thought === true) === isThought)
    .map((part) => part.text ?? '')
    .join('');
const looksComplete = (written: string) => /"finishReason"|"functionCall"/.test(written);

/** Checks what holds for every stream that ended well. @returns its parts */
function checked(events: readonly Json[], deltas: readonly ChunkDelta[], index = 0): Json[] {
  const parts = partsOf(events, index);
  expect(joined(parts, false)).toBe(deltas.map(({ content }) => content ?? '').join(''));
  expect(joined(parts, true)).toBe(deltas.map(({ reasoning }) => reasoning ?? '').join(''));
  const complete = candidatesOf(events.slice(0, -1), index);
  expect(looksComplete(JSON.stringify(complete))).toBe(false);
  expect(candidatesOf(events.slice(-1), index)).toMatchObject([{ finishReason: expect.any(String) }]);
  const expected = [0, 1, 2].flatMap((at) => {
    const own = deltas.flatMap(({ tool_calls: made = [] }) => made.filter((one) => one.index === at));
    const written = own.map((one) => one.function?.arguments ?? '').join('');
    if (own.length === 0) return [];
    if (written === '') return [{ id: `id${at}`, name: `f${at}`, args: {} }];
    return written === args.join('') ? [{ id: `id${at}`, name: `f${at}`, args: JSON.parse(written) }] : [];
  });
  expect(parts.flatMap(({ functionCall: call }) => (call === undefined ? [] : [call]))).toEqual(expected);
  return parts;
}

describe('the encoder of the Gemini wire', () => {
  it('writes whole events with new parts only, and the calls, the usage and the end in the last, whatever comes', () => {
    fc.assert(
      fc.property(said, form, finishes, fc.boolean(), (deltas, kind, finish, endsInContent) => {
        const encoder = geminiEncoder({ brand: 'service', form: kind });
        const chunks = deltas.map((delta, at) =>
          chunkOf(delta, endsInContent && at === deltas.length - 1 ? finish : null),
        );
        if (!endsInContent || deltas.length === 0) chunks.push(chunkOf({}, finish));
        const written = chunks.map((chunk) => encoder.chunk(chunk));
        expect(looksComplete(written.join('').replaceAll('\\"', ''))).toBe(false);
        const events = eventsOf(written.join('') + encoder.finish(head, { usage }), kind);
        for (const event of events) {
          expect(geminiResultSchema().safeParse(event).success).toBe(true);
          expect(event).toMatchObject({ modelVersion: 'acme/fast', responseId: 'gen-1' });
        }
        const parts = checked(events, deltas);
        expect(events.at(-1).usageMetadata).toEqual({
          promptTokenCount: 30,
          cachedContentTokenCount: 10,
          candidatesTokenCount: 3,
          thoughtsTokenCount: 2,
          totalTokenCount: 35,
        });
        expect(events.slice(0, -1).every(({ usageMetadata }) => usageMetadata === undefined)).toBe(true);
        const isHalf = deltas.some(({ tool_calls: made = [] }) =>
          made.some(({ index }) => {
            const own = deltas.flatMap(({ tool_calls: all = [] }) => all.filter((one) => one.index === index));
            return !['', args.join('')].includes(own.map((one) => one.function?.arguments ?? '').join(''));
          }),
        );
        const named = { stop: 'STOP', tool_calls: 'STOP', length: 'MAX_TOKENS', content_filter: 'SAFETY' } as const;
        const usual = named[finish as keyof typeof named];
        expect(candidatesOf(events).at(-1).finishReason).toBe(
          usual === 'STOP' && isHalf ? 'MALFORMED_FUNCTION_CALL' : usual,
        );
        // Thoughts of another provider go back in one signature, which holds all of them.
        const signatures = parts.flatMap(({ thoughtSignature: one }) => (one === undefined ? [] : [one]));
        const thoughts = deltas.flatMap(({ reasoning_details: details = [] }) => details);
        expect(signatures.length).toBe(thoughts.length > 0 ? 1 : 0);
        const encrypted = (details: readonly Json[]) =>
          details.filter(({ type }) => type === 'reasoning.encrypted').map(({ data }) => data);
        if (signatures.length > 0) {
          const opened = openThoughts(signatures[0]) ?? [];
          expect(encrypted(opened)).toEqual(encrypted(thoughts));
        }
      }),
      { numRuns: runs(200, 2_000) },
    );
  });
  it('never looks complete where it is cut, or after a failure, even behind the finish reason', () => {
    fc.assert(
      fc.property(said, form, fc.boolean(), finishes, (deltas, kind, hasFinished, finish) => {
        const encoder = geminiEncoder({ brand: 'service', form: kind });
        const chunks = [...deltas.map((delta) => chunkOf(delta)), ...(hasFinished ? [chunkOf({}, finish)] : [])];
        const written = chunks.map((chunk) => encoder.chunk(chunk)).join('');
        const error = { code: 502, message: 'Broken', metadata: { error_type: 'provider_unavailable' } };
        const end = encoder.fail(head, error, {});
        // A cut is what was written, without more.
        const before = eventsOf(written, kind, true);
        expect(looksComplete(JSON.stringify(before).replaceAll('\\"', ''))).toBe(false);
        expect(joined(partsOf(before), false)).toBe(deltas.map(({ content }) => content ?? '').join(''));
        const failed = { error: { code: 502, message: 'Broken', status: 'UNAVAILABLE' } };
        if (kind === 'array') {
          expect(() => JSON.parse(written + end)).toThrow();
          expect(eventsOf(written + end, kind, true).at(-1)).toMatchObject(failed);
        } else {
          expect(JSON.parse(end)).toMatchObject(failed);
          // What is left behind the last blank line is what clients call incomplete.
          expect((written + end).split('\r\n\r\n').at(-1)).toBe(end);
        }
        expect(looksComplete(end)).toBe(false);
      }),
      { numRuns: runs(200, 2_000) },
    );
  });
  it('ends with the error where a chunk said one, and says nothing more', () => {
    fc.assert(
      fc.property(said, form, text, (deltas, kind, message) => {
        const encoder = geminiEncoder({ brand: 'service', form: kind });
        const written = deltas.map((delta) => encoder.chunk(chunkOf(delta))).join('');
        const broken = chunkOf({}, 'error');
        Object.assign(broken.choices[0] as object, { error: { code: 429, message } });
        const end = encoder.chunk(broken) + encoder.finish(head, { usage });
        expect(looksComplete((written + end).replaceAll('\\"', ''))).toBe(false);
        const last = kind === 'array' ? eventsOf(written + end, kind, true).at(-1) : JSON.parse(end);
        expect(last).toMatchObject({ error: { code: 429, message, status: 'RESOURCE_EXHAUSTED' } });
      }),
      { numRuns: runs(100, 1_000) },
    );
  });
  it('keeps several candidates apart', () => {
    fc.assert(
      fc.property(said, said, form, (first, second, kind) => {
        const encoder = geminiEncoder({ brand: 'service', form: kind });
        const chunks = [
          ...first.map((delta) => chunkOf(delta, null, 0)),
          ...second.map((delta) => chunkOf(delta, null, 1)),
          chunkOf({}, 'stop', 0),
          chunkOf({}, 'stop', 1),
        ];
        const written = chunks.map((chunk) => encoder.chunk(chunk)).join('');
        const events = eventsOf(written + encoder.finish(head, { usage }), kind);
        checked(events, first, 0);
        checked(events, second, 1);
      }),
      { numRuns: runs(100, 1_000) },
    );
  });
  it('says in JSON what it says in a stream', () => {
    fc.assert(
      fc.property(text, text, fc.boolean(), (content, thought, calls) => {
        const call = { id: 'id0', type: 'function' as const, function: { name: 'f0', arguments: args.join('') } };
        const message = {
          role: 'assistant' as const,
          content,
          ...(thought ? { reasoning: thought } : {}),
          ...(calls ? { tool_calls: [call] } : {}),
        };
        const result = {
          object: 'chat.completion',
          choices: [{ index: 0, message, finish_reason: 'stop', logprobs: null }],
        };
        const body = geminiEncoder({ brand: 'service', form: 'events' }).result(head, result as Json, {
          usage,
        }) as Json;
        const encoder = geminiEncoder({ brand: 'service', form: 'events' });
        const { role: _, tool_calls: __, ...delta } = message;
        const chunk = chunkOf({ ...delta, ...(calls ? { tool_calls: [{ index: 0, ...call }] } : {}) }, 'stop');
        const events = eventsOf(encoder.chunk(chunk) + encoder.finish(head, { usage }), 'events');
        expect(body.candidates[0].content.parts).toEqual(partsOf(events));
        expect([body.candidates[0].finishReason, body.usageMetadata]).toEqual([
          candidatesOf(events).at(-1).finishReason,
          events.at(-1).usageMetadata,
        ]);
      }),
    );
  });
});
