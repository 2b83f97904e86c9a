import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UpstreamError } from '../../../../src/base/http/upstream-error.ts';
import { aiSdk } from '../../../../src/dialects/ai-sdk/index.ts';
import type { StreamPart } from '../../../../src/dialects/dialect.ts';
import { chunkFolder } from '../../../../src/formats/chunks.ts';
import { chatChunkSchema } from '../../../../src/schema/chat/chunk.ts';

const decodeAll = (events: readonly (object | string)[]): StreamPart[] => {
  const decoder = aiSdk.streamDecoder({});
  return events.flatMap((event) => decoder.decode(typeof event === 'string' ? event : JSON.stringify(event), ''));
};
const messageOf = (parts: readonly StreamPart[]) => {
  const folder = chunkFolder();
  for (const part of parts) if (part.kind === 'chunk') folder.add(part.chunk);
  return folder.result()?.choices[0]?.message;
};
const end = { type: 'finish', finishReason: { unified: 'stop', raw: 'end' } };
const called = (id: string, toolName: unknown, more: object = {}) => ({
  type: 'tool-input-start',
  id,
  toolName,
  ...more,
});

describe('a stream of parts', () => {
  it.each([
    ['in pieces', [called('c', 'a'), { type: 'tool-input-delta', id: 'c', delta: '{"x":1}' }]],
    ['at once', []],
    ['announced, then at once', [called('c', 'a')]],
    [
      'in pieces that are no JSON, then at once',
      [called('c', 'a', { inputEncoding: 'text' }), { type: 'tool-input-delta', id: 'c', delta: 'x = 1' }],
    ],
  ])('has the arguments of a call once that come %s', (_, before) => {
    const complete = { type: 'tool-call', toolCallId: 'c', toolName: 'a', input: '{"x":1}' };
    expect(messageOf(decodeAll([...before, complete, end]))?.tool_calls).toEqual([
      { id: 'c', type: 'function', function: { name: 'a', arguments: '{"x":1}' } },
    ]);
  });
  it('has two calls where a second one has the id of the first', () => {
    const call = (input: string) => [
      called('c', 'a'),
      { type: 'tool-input-delta', id: 'c', delta: input },
      { type: 'tool-call', toolCallId: 'c', toolName: 'a', input },
    ];
    const calls = messageOf(decodeAll([...call('{"x":1}'), ...call('{"x":2}'), end]))?.tool_calls;
    expect(calls?.map((one) => one.function.arguments)).toEqual(['{"x":1}', '{"x":2}']);
  });
  it('has an empty object for a call without arguments', () => {
    for (const more of [[], [{ type: 'tool-call', toolCallId: 'c', toolName: 'a', input: '' }]])
      expect(messageOf(decodeAll([called('c', 'a'), ...more, end]))?.tool_calls?.[0]?.function.arguments).toBe('{}');
  });
  it('has notes on its text where it has one text', () => {
    const text = (id: string) => [
      { type: 'text-start', id, providerMetadata: { openai: { itemId: 'i' } } },
      { type: 'text-delta', id, delta: 'A' },
      { type: 'text-end', id, providerMetadata: { openai: { phase: 'final' } } },
    ];
    expect(messageOf(decodeAll([...text('a'), end]))?.reasoning_details).toMatchObject([
      { id: 'ai-sdk-v4:text', data: '{"openai":{"itemId":"i","phase":"final"}}' },
    ]);
    expect(messageOf(decodeAll([...text('a'), ...text('b'), end]))).not.toHaveProperty('reasoning_details');
  });
  it('has encrypted thoughts of which nothing can be read', () => {
    const events = [
      { type: 'reasoning-start', id: 'r', providerMetadata: { anthropic: { redactedData: 'x' } } },
      { type: 'reasoning-end', id: 'r' },
    ];
    const message = messageOf(decodeAll([...events, end]));
    expect(message?.reasoning_details).toMatchObject([{ type: 'reasoning.encrypted', id: 'ai-sdk-v4', index: 0 }]);
    expect(message).not.toHaveProperty('reasoning');
  });
  it('has places in the complete text', () => {
    const source = { type: 'source', sourceType: 'url', id: 's', url: 'https://a.test' };
    const events = [
      { type: 'text-delta', id: 'a', delta: 'abc' },
      { type: 'text-delta', id: 'b', delta: 'def' },
      { type: 'text-end', id: 'b', citations: [{ source, startIndex: 1, endIndex: 2 }] },
    ];
    expect(messageOf(decodeAll([...events, end]))?.annotations).toMatchObject([
      { url_citation: { start_index: 4, end_index: 5 } },
    ]);
  });
  it('ends only where the model says so, and says why', () => {
    const kinds = (events: object[]) => decodeAll(events).map(({ kind }) => kind);
    expect(kinds([{ type: 'text-delta', id: 'a', delta: 'x' }])).not.toContain('done');
    expect(kinds([{ type: 'finish' }])).not.toContain('done');
    expect(kinds([end])).toEqual(['chunk', 'done']);
  });
  it.each([
    ['no JSON', 'x'],
    ['no object', '[]'],
    ['deeply nested', `{"a":${'['.repeat(100)}${']'.repeat(100)}}`],
    ['a part of a call that has not begun', JSON.stringify({ type: 'tool-input-delta', id: 'x', delta: '{' })],
    ['a call without a name', JSON.stringify(called('x', 7))],
  ])('with an event that is %s is broken', (_, event) => {
    expect(() => decodeAll([event])).toThrow(UpstreamError);
  });
  it('becomes valid parts, or an error of the provider, whatever it holds', () => {
    const nonsense = fc.jsonValue({ maxDepth: 3 });
    const kinds = ['stream-start', 'text-start', 'text-delta', 'text-end', 'reasoning-start', 'reasoning-delta'];
    const more = ['tool-input-start', 'tool-input-delta', 'tool-call', 'source', 'file', 'error', 'finish', 'custom'];
    const event = fc.record(
      {
        type: fc.oneof(fc.constantFrom(...kinds, ...more), nonsense),
        id: fc.oneof(fc.constantFrom('a', 'b'), nonsense),
        toolCallId: fc.oneof(fc.constantFrom('a', 'b'), nonsense),
        toolName: fc.oneof(fc.string(), nonsense),
        delta: fc.oneof(fc.string(), nonsense),
        input: nonsense,
        error: nonsense,
        usage: nonsense,
        warnings: nonsense,
        providerMetadata: nonsense,
        citations: fc.oneof(nonsense, fc.array(fc.record({ source: nonsense }))),
        finishReason: fc.oneof(nonsense, fc.record({ unified: nonsense, raw: nonsense })),
        mediaType: fc.oneof(fc.constantFrom('image/png', 'audio/wav'), nonsense),
        data: nonsense,
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 6 }), (events) => {
        try {
          for (const part of decodeAll(events))
            if (part.kind === 'chunk') expect(chatChunkSchema().safeParse(part.chunk).error).toBeUndefined();
        } catch (error) {
          if (!(error instanceof UpstreamError)) throw error;
        }
      }),
    );
  });
});
