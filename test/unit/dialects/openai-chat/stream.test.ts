import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UpstreamError } from '../../../../src/base/http/upstream-error.ts';
import type { ChatQuirks } from '../../../../src/dialects/openai-chat/quirks.ts';
import { streamDecoder } from '../../../../src/dialects/openai-chat/stream.ts';
import { chatChunkSchema } from '../../../../src/schema/chat/chunk.ts';
import { usageSchema } from '../../../../src/schema/chat/usage.ts';
import { chunk, upstreamUsage } from '../../../support/upstream.ts';

const decodeAll = (events: readonly unknown[], quirks: ChatQuirks = {}) => {
  const decoder = streamDecoder(quirks);
  const parts = events.flatMap((event) =>
    decoder.decode(typeof event === 'string' ? event : JSON.stringify(event), ''),
  );
  return [...parts, ...(decoder.end?.() ?? [])];
};

describe('events of a stream', () => {
  it('never become anything but valid parts, or an error of the provider, whatever they hold', () => {
    const nonsense = fc.jsonValue({ maxDepth: 3 });
    const choice = fc.record(
      {
        index: nonsense,
        delta: fc.record(
          {
            role: nonsense,
            content: nonsense,
            reasoning: nonsense,
            reasoning_content: nonsense,
            refusal: nonsense,
            tool_calls: fc.oneof(
              nonsense,
              fc.array(
                fc.record(
                  {
                    index: nonsense,
                    id: nonsense,
                    type: nonsense,
                    function: fc.oneof(
                      nonsense,
                      fc.record({ name: nonsense, arguments: nonsense }, { requiredKeys: [] }),
                    ),
                  },
                  { requiredKeys: [] },
                ),
                { maxLength: 3 },
              ),
            ),
            audio: nonsense,
            images: nonsense,
            annotations: nonsense,
            reasoning_details: nonsense,
          },
          { requiredKeys: [] },
        ),
        finish_reason: nonsense,
        native_finish_reason: nonsense,
        logprobs: nonsense,
      },
      { requiredKeys: [] },
    );
    const event = fc.record(
      {
        id: nonsense,
        object: nonsense,
        created: nonsense,
        model: nonsense,
        choices: fc.oneof(nonsense, fc.array(fc.oneof(choice, nonsense), { maxLength: 3 })),
        usage: nonsense,
        service_tier: nonsense,
        system_fingerprint: nonsense,
        provider: nonsense,
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(event, nonsense), { maxLength: 5 }), (events) => {
        try {
          for (const part of decodeAll(events)) {
            if (part.kind === 'chunk') chatChunkSchema().parse(part.chunk);
            if (part.kind === 'usage') usageSchema().parse(part.usage);
          }
        } catch (error) {
          if (!(error instanceof UpstreamError)) throw error;
        }
      }),
      { numRuns: 500 },
    );
  });
  it('say that the provider broke off where its finish_reason does, after what else they say', () => {
    const parts = decodeAll([
      chunk({ content: 'x' }),
      { ...chunk({ content: 'y' }, 'abort'), usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } },
    ]);
    expect(parts.map(({ kind }) => kind)).toEqual(['chunk', 'chunk', 'usage', 'error']);
    expect(parts[1]).toMatchObject({ chunk: { choices: [{ delta: { content: 'y' }, finish_reason: null }] } });
    expect(parts[3]).toMatchObject({ error: { status: 502, providerCode: 'abort' } });
  });
  it('with an error beside choices give both, the error last, and mark it as reported', () => {
    const parts = decodeAll([
      chunk({ content: 'x' }, 'length'),
      { ...chunk({ content: 'y' }), error: { message: 'Overloaded', code: 529 }, usage: upstreamUsage },
    ]);
    expect(parts.map(({ kind }) => kind)).toEqual(['chunk', 'finished', 'chunk', 'usage', 'error', 'chunk']);
    expect(parts[4]).toMatchObject({ isReported: true, error: { status: 529, message: 'Overloaded' } });
    // Alone, it may only say how the stream ends.
    expect(decodeAll([{ error: { message: 'No' } }])).toEqual([{ kind: 'error', error: expect.any(UpstreamError) }]);
  });
  it('give every tool call an id and a type with its first fragment, and the same id to the end', () => {
    const fragment = (index: number, call: object) => ({ index, ...call });
    const parts = decodeAll([
      chunk({ tool_calls: [fragment(0, { function: { name: 'f', arguments: '' } })] }),
      chunk({ tool_calls: [fragment(0, { function: { arguments: '{"a":1}' } })] }),
      chunk({ tool_calls: [fragment(0, { id: 'late', function: { arguments: '' } })] }),
      chunk({ tool_calls: [fragment(1, { id: 'call_1', function: { name: 'g', arguments: '{"a":1}' } })] }),
      chunk({ tool_calls: [fragment(2, { function: { name: 'h', arguments: '{"a":1}' } })] }),
      {
        choices: [{ index: 1, delta: { tool_calls: [fragment(0, { function: { name: 'i' } })] }, finish_reason: null }],
      },
    ]);
    const calls = parts.flatMap((part) =>
      part.kind === 'chunk' ? (part.chunk.choices[0]?.delta.tool_calls ?? []) : [],
    );
    expect(calls).toEqual([
      { index: 0, id: 'call_0', type: 'function', function: { name: 'f', arguments: '' } },
      { index: 0, function: { arguments: '{"a":1}' } },
      { index: 1, id: 'call_1', type: 'function', function: { name: 'g', arguments: '{"a":1}' } },
      { index: 2, id: 'call_2', type: 'function', function: { name: 'h', arguments: '{"a":1}' } },
      { index: 0, id: 'call_3', type: 'function', function: { name: 'i', arguments: '' } },
    ]);
  });
  it('give a call whose arguments never come an empty object with its end, but for one that was broken off', () => {
    const call = (index: number, given?: string) => ({
      index,
      id: `c${index}`,
      function: { name: 'f', arguments: given },
    });
    const begun = chunk({ tool_calls: [call(0, ''), call(1, '{"a":1}'), call(2)] });
    const argumentsOf = (events: readonly unknown[], quirks: ChatQuirks = {}) => {
      const texts = ['', '', ''];
      for (const part of decodeAll(events, quirks))
        for (const { index, function: called } of part.kind === 'chunk'
          ? (part.chunk.choices[0]?.delta.tool_calls ?? [])
          : [])
          texts[index] += called?.arguments ?? '';
      return texts;
    };
    const whole = ['{}', '{"a":1}', '{}'];
    expect(argumentsOf([begun, chunk({}, 'tool_calls')])).toEqual(whole);
    expect(argumentsOf([begun, chunk({}, 'stop'), chunk({}, 'stop')])).toEqual(whole);
    expect(argumentsOf([begun, '[DONE]'], { finishesWithoutReason: true })).toEqual(whole);
    const late = chunk({ tool_calls: [{ index: 0, function: { arguments: '{"b":2}' } }] }, 'tool_calls');
    expect(argumentsOf([begun, late])).toEqual(['{"b":2}', '{"a":1}', '{}']);
    for (const reason of ['length', 'content_filter'])
      expect(argumentsOf([begun, chunk({}, reason)])).toEqual(['', '{"a":1}', '']);
    expect(argumentsOf([begun])).toEqual(['', '{"a":1}', '']);
    // What the provider has said itself is no guess: it waits for other arguments alone.
    const empty = chunk({ tool_calls: [call(0, '{}'), call(1, '{ }')] });
    for (const reason of ['tool_calls', 'length']) expect(argumentsOf([empty, chunk({}, reason)])[0]).toBe('{}');
    const next = chunk({ tool_calls: [call(2, '{"a":1}')] });
    expect(argumentsOf([empty, next])).toEqual(['{}', '{ }', '{"a":1}']);
  });
  it('finish what is open at a sentinel that is known to stand for it, and only then', () => {
    const of = (index: number, finish: string | null) => ({
      ...chunk({}),
      choices: [{ index, delta: { content: 'x' }, finish_reason: finish }],
    });
    const events = [of(0, null), of(1, 'length'), '[DONE]'];
    expect(decodeAll(events).map(({ kind }) => kind)).toEqual(['chunk', 'chunk', 'finished', 'chunk', 'done']);
    const parts = decodeAll(events, { finishesWithoutReason: true });
    expect(parts.map(({ kind }) => kind)).toEqual(['chunk', 'chunk', 'finished', 'chunk', 'done']);
    expect(parts[3]).toMatchObject({
      chunk: {
        choices: [
          { index: 0, delta: {}, finish_reason: 'stop', native_finish_reason: null },
          { index: 1, delta: {}, finish_reason: 'length', native_finish_reason: 'length' },
        ],
      },
    });
  });
  it.each(['', 'nonsense', '[1]', '"x"', 'null', '5', `{"a":${'['.repeat(100)}${']'.repeat(100)}}`])(
    'that are %.20s are an error of the provider',
    (data) => {
      expect(() => decodeAll([data])).toThrow(UpstreamError);
    },
  );
});
