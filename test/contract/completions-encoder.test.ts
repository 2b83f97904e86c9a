import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { completionsEncoder } from '../../src/formats/completions/encoder.ts';
import type { ChatChunk, ChunkDelta } from '../../src/schema/chat/chunk.ts';
import { textCompletionEventSchema, textCompletionResultSchema } from '../../src/schema/completions/result.ts';
import { runs } from '../support/runs.ts';

// biome-ignore lint/suspicious/noExplicitAny: of any event, for a test to look into
type Json = any;
type Finish = 'stop' | 'tool_calls' | 'length' | 'content_filter' | 'error' | null;

const head = { id: 'gen-1', created: 1, model: 'acme/fast', provider: 'Up' };
const usage = { prompt_tokens: 30, completion_tokens: 5, total_tokens: 35 };
const chunkOf = (delta: ChunkDelta, finish: Finish = null, index = 0, more: object = {}): ChatChunk => ({
  ...head,
  object: 'chat.completion.chunk',
  choices: [{ index, delta, finish_reason: finish, ...more }],
});

/** Texts that would end an event or a line, where they were not escaped. */
const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('\n\ndata: [DONE]\n\n', '\r\n', ': c', '[DONE]', '\u2028'),
);
/** What fits a text: parts of it, thoughts, nothing, and probabilities. */
const fitting = fc.oneof(
  text.map((content): ChunkDelta => ({ content })),
  text.map((said): ChunkDelta => ({ reasoning: said, reasoning_details: [{ type: 'reasoning.text', text: said }] })),
  fc.constant<ChunkDelta>({ tool_calls: [] }),
  fc.constant<ChunkDelta>({ annotations: [{ type: 'url_citation' }] }),
  fc.constant<ChunkDelta>({}),
);
const unfit = fc.constantFrom<ChunkDelta>(
  { tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }] },
  { images: [{ image_url: { url: 'data:image/png;base64,AAAA' } }] },
  { audio: { data: 'AAAA' } },
);
const said = fc.array(fc.tuple(fitting, fc.integer({ min: 0, max: 2 })), { maxLength: 14 });

/** Checks what holds for every stream. @returns its events, and whether the sentinel has come */
function read(stream: string): { events: Json[]; isDone: boolean } {
  const frames = stream.split('\n\n').slice(0, -1);
  const isDone = frames.at(-1) === 'data: [DONE]';
  const events = (isDone ? frames.slice(0, -1) : frames).map((frame) => {
    expect(frame.slice(0, 6)).toBe('data: ');
    return JSON.parse(frame.slice(6));
  });
  for (const event of events) textCompletionEventSchema().parse(event);
  return { events, isDone };
}

const encoderOf = (echo = '') => completionsEncoder({ brand: 'service', echo: () => echo });
const reasonsIn = (events: readonly Json[]) =>
  events.flatMap(({ choices = [] }) => choices.map((one: Json) => one.finish_reason));

describe('the encoder of the text completion wire', () => {
  it('loses no text and adds none but the echo, and says once why each text ended, whatever comes', () => {
    fc.assert(
      fc.property(said, fc.constantFrom('', 'Echo '), (deltas, echo) => {
        const encoder = encoderOf(echo);
        const indexes = [...new Set(deltas.map(([, index]) => index))].sort();
        const ends = indexes.map((index) => chunkOf({}, 'stop', index));
        const chunks = [...deltas.map(([delta, index]) => chunkOf(delta, null, index)), ...ends];
        if (chunks.length === 0) chunks.push(chunkOf({}, 'stop'));
        const { events, isDone } = read(
          chunks.map((chunk) => encoder.chunk(chunk)).join('') + encoder.finish(head, { usage }),
        );
        expect(isDone).toBe(true);
        for (const index of indexes) {
          const own = events.flatMap(({ choices }) => choices).filter((one: Json) => one.index === index);
          const expected = deltas.flatMap(([{ content }, of]) => (of === index && content ? [content] : []));
          expect(own.map((one: Json) => one.text).join('')).toBe(echo + expected.join(''));
          expect(own.map((one: Json) => one.finish_reason).filter(Boolean)).toEqual(['stop']);
        }
        expect(events.at(-1).usage).toEqual(usage);
        expect(events.at(-1).choices.every((one: Json) => one.finish_reason === 'stop')).toBe(true);
      }),
      { numRuns: runs(200, 2_000) },
    );
  });
  it('never looks complete after a failure', () => {
    fc.assert(
      fc.property(said, fc.boolean(), (deltas, hasFinished) => {
        const encoder = encoderOf();
        const chunks = deltas.map(([delta, index]) => chunkOf(delta, null, index));
        if (hasFinished) chunks.push(...[0, 1, 2].map((index) => chunkOf({}, 'stop', index)));
        const begun = chunks.map((chunk) => encoder.chunk(chunk)).join('');
        const { events, isDone } = read(begun + encoder.fail(head, { code: 502, message: 'Broken' }, { usage }));
        expect([isDone, reasonsIn(events).every((reason) => reason === null)]).toEqual([false, true]);
        expect(events.at(-1)).toMatchObject({ error: { code: 502, message: 'Broken' }, usage });
        expect(events.at(-1)).not.toHaveProperty('choices');
      }),
      { numRuns: runs(200, 2_000) },
    );
  });
  it('never looks complete where a text has no end, an error, or something that is no text', () => {
    const broken = fc.oneof(
      unfit.map((delta) => [chunkOf(delta), chunkOf({}, 'tool_calls')]),
      fc.constant([chunkOf({}, 'error')]),
      fc.constant([chunkOf({ content: 'Hi' })]),
      fc.constant([chunkOf({}, 'stop', 0, { error: { code: 502, message: 'Overloaded' } })]),
    );
    fc.assert(
      fc.property(said, broken, fc.nat(14), (deltas, bad, at) => {
        const chunks = deltas.map(([delta, index]) => chunkOf(delta, null, index + 1));
        const all = [...chunks.toSpliced(at, 0, ...bad), ...[1, 2, 3].map((index) => chunkOf({}, 'stop', index))];
        const encoder = encoderOf();
        const stream = all.map((chunk) => encoder.chunk(chunk)).join('') + encoder.finish(head, { usage });
        const { events, isDone } = read(stream);
        expect([isDone, reasonsIn(events).every((reason) => reason === null)]).toEqual([false, true]);
        expect(events.at(-1).error.code).toBe(502);
      }),
      { numRuns: runs(200, 2_000) },
    );
  });
  it('says in JSON what it says in a stream, and refuses in JSON what fails in a stream', () => {
    const finish = fc.constantFrom<Finish>('stop', 'length', 'content_filter', 'tool_calls', 'error', null);
    const message = fc.oneof(fitting, unfit, fc.constant<ChunkDelta>({ refusal: 'No' }));
    fc.assert(
      fc.property(message, finish, fc.constantFrom('', 'Echo '), (delta, reason, echo) => {
        const result: Json = {
          choices: [{ index: 0, message: { role: 'assistant', ...delta }, finish_reason: reason }],
        };
        const stream = encoderOf(echo);
        const { events, isDone } = read(stream.chunk(chunkOf(delta, reason)) + stream.finish(head, { usage }));
        const whole = encoderOf(echo);
        if (!isDone) {
          expect(() => whole.check?.(result)).toThrow(events.at(-1).error.message);
          return;
        }
        whole.check?.(result);
        const body = textCompletionResultSchema().parse(whole.result(head, result, { usage }));
        expect(body.choices).toHaveLength(1);
        expect(body.choices[0]?.text).toBe(events.map(({ choices }) => choices[0].text).join(''));
        expect(body.choices[0]?.finish_reason).toBe(events.at(-1).choices[0].finish_reason);
        expect(body.usage).toEqual(events.at(-1).usage);
      }),
      { numRuns: runs(200, 2_000) },
    );
  });
});
