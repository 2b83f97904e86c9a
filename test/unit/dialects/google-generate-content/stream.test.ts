import { describe, expect, it } from 'vitest';
import type { UpstreamError } from '../../../../src/base/http/upstream-error.ts';
import type { StreamPart } from '../../../../src/dialects/dialect.ts';
import { googleGenerateContent } from '../../../../src/dialects/google-generate-content/index.ts';
import { chatChunkSchema } from '../../../../src/schema/chat/chunk.ts';
import { failure } from './encode.ts';

type Json = Record<string, unknown>;

function read(events: readonly unknown[], outputTool?: string): StreamPart[] {
  const decoder = googleGenerateContent.streamDecoder({}, outputTool === undefined ? {} : { outputTool });
  return events.flatMap((event) => decoder.decode(typeof event === 'string' ? event : JSON.stringify(event), ''));
}
function chunksOf(parts: readonly StreamPart[]) {
  const chunks = parts.flatMap((part) => (part.kind === 'chunk' ? [part.chunk] : []));
  for (const chunk of chunks) expect(chatChunkSchema().safeParse(chunk).error).toBeUndefined();
  return chunks;
}
const choicesOf = (parts: readonly StreamPart[]) => chunksOf(parts).flatMap(({ choices }) => choices);
const errorOf = (parts: readonly StreamPart[]) =>
  parts.find(({ kind }) => kind === 'error') as { error: UpstreamError };
const event = (parts: unknown, more: Json = {}) => ({ candidates: [{ content: { role: 'model', parts }, ...more }] });
const call = (functionCall: Json) => event([{ functionCall }]);

describe('google-generate-content, a stream', () => {
  it('says who speaks once, and ends where Google gives a reason', () => {
    const parts = read([
      event([{ text: 'Hm.', thought: true }]),
      event([{ text: 'Hel' }]),
      { usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 1 } },
      event([{ text: '' }]),
      event([{ text: 'lo' }], { finishReason: 'STOP' }),
    ]);
    expect(choicesOf(parts)).toEqual([
      {
        index: 0,
        delta: {
          role: 'assistant',
          reasoning: 'Hm.',
          reasoning_details: [{ type: 'reasoning.text', text: 'Hm.', format: 'google-gemini-v1', index: 0 }],
        },
        finish_reason: null,
      },
      { index: 0, delta: { content: 'Hel' }, finish_reason: null },
      { index: 0, delta: { content: 'lo' }, finish_reason: 'stop', native_finish_reason: 'STOP' },
    ]);
    expect(parts.map(({ kind }) => kind)).toEqual(['chunk', 'chunk', 'usage', 'chunk']);
    // Google has no mark of the end.
    expect(parts.some(({ kind }) => kind === 'done')).toBe(false);
  });

  it('numbers the calls of each candidate, and gives no id twice', () => {
    const parts = read([
      event([{ functionCall: { name: 'a', args: { x: 1 } } }, { functionCall: { name: 'b', id: 'own' } }]),
      event([{ functionCall: { name: 'c' } }], { index: 1 }),
      event([{ functionCall: { name: 'd' } }], { finishReason: 'STOP' }),
    ]);
    const calls = choicesOf(parts).map(({ index, delta }) => [index, delta.tool_calls]);
    expect(calls).toEqual([
      [
        0,
        [
          { index: 0, id: 'call_0', type: 'function', function: { name: 'a', arguments: '{"x":1}' } },
          { index: 1, id: 'own', type: 'function', function: { name: 'b', arguments: '{}' } },
        ],
      ],
      [1, [{ index: 0, id: 'call_1', type: 'function', function: { name: 'c', arguments: '{}' } }]],
      [0, [{ index: 2, id: 'call_2', type: 'function', function: { name: 'd', arguments: '{}' } }]],
    ]);
    expect(choicesOf(parts).at(-1)?.finish_reason).toBe('tool_calls');
  });

  it('makes ids that are those of no other response', () => {
    const id = (responseId: unknown) =>
      choicesOf(read([{ ...call({ name: 'a' }), responseId }]))[0]?.delta.tool_calls?.[0]?.id;
    expect(id('bH6LaZW8Fp_3nsEPqtaSwQ4')).toBe('call_0_bH6LaZW8Fp_3nsEPqtaSwQ4');
    for (const nonsense of [undefined, 7, 'a b', 'x'.repeat(29)]) expect(id(nonsense)).toBe('call_0');
  });

  it('puts arguments together that come piece by piece', () => {
    const piece = (jsonPath: string, value: Json) =>
      call({ partialArgs: [{ jsonPath, ...value }], willContinue: true });
    const parts = read([
      call({ name: 'cook', willContinue: true }),
      piece('$.steps[0].text', { stringValue: 'Boil', willContinue: true }),
      piece('$.steps[0].text', { stringValue: ' it' }),
      piece('$.steps[1]', { numberValue: 2 }),
      piece("$['a b'][0]", { boolValue: true }),
      piece('$["c\\"d"]', { nullValue: null }),
      piece('$.__proto__.constructor', { stringValue: 'x' }),
      call({}),
      call({ name: 'again', willContinue: true }),
      event([], { finishReason: 'STOP' }),
    ]);
    const pieces = choicesOf(parts).flatMap(({ delta }) => delta.tool_calls ?? []);
    expect(pieces).toEqual([
      { index: 0, id: 'call_0', type: 'function', function: { name: 'cook', arguments: '' } },
      {
        index: 0,
        function: {
          arguments: '{"steps":[{"text":"Boil it"},2],"a b":[true],"c\\"d":null,"__proto__":{"constructor":"x"}}',
        },
      },
      { index: 1, id: 'call_1', type: 'function', function: { name: 'again', arguments: '' } },
      { index: 1, function: { arguments: '{}' } },
    ]);
    expect(({} as Json).constructor).toBe(Object);
  });

  it.each([
    '$.a[4294967294]',
    '$.a[1]',
    'a.b',
    '$.a..b',
    '$.text.deeper',
    `$${'.a'.repeat(65)}`,
    `$.${'a'.repeat(20_000)}`,
  ])('takes no piece of arguments for a place that cannot be: %.20s', (jsonPath) => {
    const events = [
      call({ name: 'f', partialArgs: [{ jsonPath: '$.text', stringValue: 'x' }], willContinue: true }),
      call({ partialArgs: [{ jsonPath, stringValue: 'x' }], willContinue: true }),
    ];
    expect(failure(() => read(events))).toMatchObject({ reason: 'bad_response' });
  });

  it('takes the arguments of the output tool for the content', () => {
    const parts = read(
      [call({ name: 'structured_output', args: { a: 1 } }), event([], { finishReason: 'STOP' })],
      'structured_output',
    );
    expect(
      choicesOf(parts).map(({ delta, finish_reason }) => [delta.content, delta.tool_calls, finish_reason]),
    ).toEqual([
      ['{"a":1}', undefined, null],
      [undefined, undefined, 'stop'],
    ]);
  });

  it('counts up, and tells searches that an earlier event told of', () => {
    const groundingMetadata = { webSearchQueries: ['a', 'b'] };
    const parts = read([
      { ...event([{ text: 'A' }], { groundingMetadata }), usageMetadata: { promptTokenCount: 3 } },
      { ...event([], { finishReason: 'STOP' }), usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 5 } },
    ]);
    const usages = parts.flatMap((part) => (part.kind === 'usage' ? [part.usage] : []));
    expect(usages.map(({ total_tokens, server_tool_use_details: of }) => [total_tokens, of])).toEqual([
      [3, { web_search_requests: 2 }],
      [8, { web_search_requests: 2 }],
    ]);
  });

  it('joins sound so that clients can put the texts together', () => {
    const sound = (data: string) => event([{ inlineData: { mimeType: 'audio/L16', data } }]);
    const bytes = Uint8Array.from({ length: 20 }, (_, at) => at);
    const base64 = (from: number, to: number) => Buffer.from(bytes.subarray(from, to)).toString('base64');
    const parts = read([
      sound(base64(0, 4)),
      sound('no base64 ='),
      sound(base64(4, 5)),
      sound(base64(5, 20)),
      event([], { finishReason: 'STOP' }),
    ]);
    const text = choicesOf(parts)
      .map(({ delta }) => delta.audio?.data ?? '')
      .join('');
    expect([...Buffer.from(text, 'base64')]).toEqual([...bytes]);
    expect(text.indexOf('=')).toBe(text.length - 1);
  });

  it('reports an error of its own, of the prompt, or of a candidate', () => {
    const said = event([{ text: 'A' }]);
    const overloaded = { error: { code: 503, message: 'Overloaded', status: 'UNAVAILABLE' } };
    expect(read([said, overloaded]).at(-1)).toMatchObject({
      kind: 'error',
      error: { status: 503, providerCode: 'UNAVAILABLE', fault: 'transient' },
    });
    expect(errorOf(read([{ promptFeedback: { blockReason: 'SAFETY' } }])).error).toMatchObject({
      fault: 'caller',
      errorType: 'content_policy_violation',
    });
    const malformed = read([said, event([], { finishReason: 'MALFORMED_FUNCTION_CALL' })]);
    expect(malformed.at(-1)).toMatchObject({
      kind: 'error',
      isReported: true,
      error: { reason: 'bad_response', providerCode: 'MALFORMED_FUNCTION_CALL' },
    });
    expect(choicesOf(malformed).every(({ finish_reason }) => finish_reason === null)).toBe(true);
  });

  it.each(['', 'x', '[]', '1', 'null', '[DONE]', `${'{"a":'.repeat(65)}1${'}'.repeat(65)}`])(
    'has no event like %.20s',
    (data) => {
      expect(failure(() => read([data]))).toMatchObject({ reason: 'bad_response', status: 502 });
    },
  );

  it('survives events out of order, unknown ones, and nonsense in the places of its parts', () => {
    for (const nonsense of [null, 0, 'x', true, [], {}, [null], [[]]]) {
      const parts = read([
        event([], { finishReason: nonsense === 'x' ? null : nonsense }),
        { candidates: nonsense, usageMetadata: nonsense, promptFeedback: nonsense, modelVersion: nonsense },
        { somethingNew: nonsense },
        call({ partialArgs: nonsense, willContinue: nonsense }),
        call({ name: 'f', partialArgs: [nonsense], willContinue: true }),
        event([{ text: 'A' }], { index: nonsense, groundingMetadata: nonsense, finishReason: 'STOP' }),
        event([{ text: 'B' }], { finishReason: 'STOP', citationMetadata: nonsense, logprobsResult: nonsense }),
      ]);
      chunksOf(parts);
    }
  });

  it('takes large texts', () => {
    const large = 'ä'.repeat(100_000);
    expect(choicesOf(read([event([{ text: large }])]))[0]?.delta.content).toBe(large);
  });
});
