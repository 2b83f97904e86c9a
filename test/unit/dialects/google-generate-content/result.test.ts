import { describe, expect, it } from 'vitest';
import type { UpstreamError } from '../../../../src/base/http/upstream-error.ts';
import { googleGenerateContent } from '../../../../src/dialects/google-generate-content/index.ts';
import { chatResultSchema } from '../../../../src/schema/chat/chat.ts';
import { failure } from './encode.ts';

const format = 'google-gemini-v1';
const decode = (body: unknown, outputTool?: string) =>
  googleGenerateContent.decodeResult(body, {}, outputTool === undefined ? {} : { outputTool });
const answer = (parts: unknown, more: object = {}) => ({
  candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0, ...more }],
});
const message = (body: unknown, outputTool?: string) => decode(body, outputTool).result.choices[0]?.message;

describe('google-generate-content, a result', () => {
  it('holds text, thoughts, signatures, calls, images and sound', () => {
    const { result } = decode(
      answer([
        { text: 'Hm. ', thought: true },
        { text: 'So.', thought: true, thoughtSignature: 's1' },
        { text: 'Hello' },
        { text: ' there', thoughtSignature: 's2' },
        { text: '', thoughtSignature: 's3' },
        { inlineData: { mimeType: 'image/png', data: 'draft' }, thought: true },
        { inlineData: { mimeType: 'image/png', data: 'AA==' }, thoughtSignature: 's4' },
        { inlineData: { mimeType: 'audio/L16;codec=pcm;rate=24000', data: 'AAAA' } },
        { functionCall: { name: 'look', args: { a: 1 } }, thoughtSignature: 's5' },
        { functionCall: { id: 'call_2', name: 'look' } },
        { functionCall: { name: 'look', args: null } },
      ]),
    );
    expect(chatResultSchema().safeParse(result).error).toBeUndefined();
    expect(result.choices[0]?.message).toEqual({
      role: 'assistant',
      content: 'Hello there',
      refusal: null,
      reasoning: 'Hm. So.',
      reasoning_details: [
        { type: 'reasoning.text', text: 'Hm. ', format, index: 0 },
        { type: 'reasoning.text', text: 'So.', signature: 's1', format, index: 1 },
        { type: 'reasoning.encrypted', id: 'text:5-11', data: 's2', format, index: 2 },
        { type: 'reasoning.encrypted', id: 'text:11-11', data: 's3', format, index: 3 },
        { type: 'reasoning.encrypted', id: 'image:0', data: 's4', format, index: 4 },
        { type: 'reasoning.encrypted', id: 'call_0', data: 's5', format, index: 5 },
      ],
      images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }],
      audio: { data: 'AAAA' },
      // The ids that Google leaves out are made, and none of its own is given twice.
      tool_calls: [
        { id: 'call_0', type: 'function', function: { name: 'look', arguments: '{"a":1}' } },
        { id: 'call_2', type: 'function', function: { name: 'look', arguments: '{}' } },
        { id: 'call_3', type: 'function', function: { name: 'look', arguments: '{}' } },
      ],
    });
    expect(result.choices[0]).toMatchObject({ finish_reason: 'tool_calls', native_finish_reason: 'STOP' });
  });

  it('has as many choices as there are candidates', () => {
    const { result } = decode({
      candidates: [
        { content: { parts: [{ text: 'A' }] }, finishReason: 'STOP' },
        { content: { parts: [{ text: 'B' }] }, finishReason: 'MAX_TOKENS', index: 1 },
      ],
    });
    expect(result.choices.map(({ index, message, finish_reason }) => [index, message.content, finish_reason])).toEqual([
      [0, 'A', 'stop'],
      [1, 'B', 'length'],
    ]);
  });

  it('takes the arguments of the output tool for the content', () => {
    const body = answer([{ functionCall: { name: 'structured_output', args: { a: 1 } }, thoughtSignature: 's' }]);
    expect(message(body, 'structured_output')).toEqual({ role: 'assistant', content: '{"a":1}', refusal: null });
    expect(decode(body, 'structured_output').result.choices[0]?.finish_reason).toBe('stop');
    // Without being asked for, it is a tool like others.
    expect(message(body)).toHaveProperty('tool_calls');
  });

  it.each([
    ['SAFETY', 'content_filter'],
    ['RECITATION', 'content_filter'],
    ['PROHIBITED_CONTENT', 'content_filter'],
    ['IMAGE_SAFETY', 'content_filter'],
    ['A_NEW_WORD', 'stop'],
    [2, 'length'],
  ])('ends with %s as %s', (finishReason, expected) => {
    const { result } = decode(answer([], { finishReason, finishMessage: 'Because.' }));
    expect(result.choices[0]).toMatchObject({
      finish_reason: expected,
      native_finish_reason: String(finishReason),
      message: { content: null, refusal: expected === 'content_filter' ? 'Because.' : null },
    });
  });

  it.each(['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'OTHER', 'NO_IMAGE'])(
    'is an error that another endpoint may not make: %s',
    (finishReason) => {
      const usageMetadata = { promptTokenCount: 3 };
      const error = failure(() => decode({ ...answer([{ text: 'A' }], { finishReason }), usageMetadata }));
      expect(error).toMatchObject({
        reason: 'bad_response',
        fault: 'transient',
        providerCode: finishReason,
        usage: { prompt_tokens: 3 },
      });
    },
  );

  it('that was refused is the caller’s, with the reason and what it cost', () => {
    const error = failure(() =>
      decode({
        promptFeedback: { blockReason: 'PROHIBITED_CONTENT' },
        usageMetadata: { promptTokenCount: 7, totalTokenCount: 7 },
      }),
    ) as UpstreamError;
    expect(error).toMatchObject({
      message: 'The provider refused the prompt (PROHIBITED_CONTENT).',
      status: 400,
      fault: 'caller',
      errorType: 'content_policy_violation',
      providerCode: 'PROHIBITED_CONTENT',
      usage: { prompt_tokens: 7, completion_tokens: 0 },
    });
  });

  it.each([
    ['no object', []],
    ['no candidates', {}],
    ['candidates that are none', { candidates: [1, null, 'x'] }],
    ['no reason why it ended', answer([{ text: 'A' }], { finishReason: null })],
  ])('with %s is none', (_, body) => {
    expect(failure(() => decode(body))).toMatchObject({ reason: 'bad_response', status: 502 });
  });

  it('survives whatever else stands in the places of its parts', () => {
    for (const nonsense of [null, 0, 1, 'x', true, [], {}, [[]], [null], { a: 1 }]) {
      const body = {
        candidates: [
          {
            content: { parts: [nonsense, { text: nonsense, thought: nonsense, thoughtSignature: nonsense }] },
            index: nonsense,
            finishReason: 'STOP',
            finishMessage: nonsense,
            groundingMetadata: { groundingSupports: [nonsense], groundingChunks: nonsense },
            citationMetadata: { citations: nonsense },
            logprobsResult: { chosenCandidates: nonsense, topCandidates: nonsense },
          },
          { content: nonsense, finishReason: 'STOP', groundingMetadata: nonsense, logprobsResult: nonsense },
          { content: { parts: nonsense }, finishReason: 'STOP', citationMetadata: nonsense },
          {
            content: {
              parts: [
                { functionCall: nonsense },
                { functionCall: { id: nonsense, name: 'f', args: nonsense, partialArgs: [] } },
                { inlineData: { mimeType: nonsense, data: nonsense } },
              ],
            },
            finishReason: 'STOP',
          },
        ],
        usageMetadata: { promptTokenCount: nonsense, candidatesTokensDetails: nonsense, trafficType: nonsense },
        promptFeedback: nonsense,
        modelVersion: nonsense,
      };
      const { result } = decode(body);
      expect(chatResultSchema().safeParse(result).error).toBeUndefined();
    }
  });

  it('keeps names that JavaScript gives a meaning', () => {
    for (const name of ['__proto__', 'constructor', 'toString']) {
      const body = JSON.parse(
        JSON.stringify(answer([{ functionCall: { name, args: 0 } }])).replace('"args":0', `"args":{"${name}":{"a":1}}`),
      );
      expect(message(body, 'structured_output')?.tool_calls).toEqual([
        { id: 'call_0', type: 'function', function: { name, arguments: `{"${name}":{"a":1}}` } },
      ]);
    }
  });
});

describe('google-generate-content, usage', () => {
  const usage = (usageMetadata: unknown, more: object = {}) => decode({ ...answer([]), usageMetadata, ...more }).usage;

  it('adds up what Google counts apart', () => {
    expect(
      usage({
        promptTokenCount: 100,
        cachedContentTokenCount: 60,
        toolUsePromptTokenCount: 10,
        candidatesTokenCount: 20,
        thoughtsTokenCount: 30,
        totalTokenCount: 160,
        promptTokensDetails: [
          { modality: 'TEXT', tokenCount: 50 },
          { modality: 'AUDIO', tokenCount: 40 },
          { modality: 'VIDEO', tokenCount: 10 },
        ],
        toolUsePromptTokensDetails: [{ modality: 'IMAGE', tokenCount: 4 }],
        candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 15 }],
      }),
    ).toEqual({
      prompt_tokens: 110,
      completion_tokens: 50,
      total_tokens: 160,
      prompt_tokens_details: { cached_tokens: 60, audio_tokens: 40, video_tokens: 10, image_tokens: 4 },
      completion_tokens_details: { reasoning_tokens: 30, image_tokens: 15 },
    });
  });

  it.each([
    ['negative', { promptTokenCount: -1 }],
    ['a fraction', { promptTokenCount: 1, candidatesTokenCount: 0.5 }],
    ['text', { promptTokenCount: '7' }],
    ['huge', { promptTokenCount: 1, thoughtsTokenCount: 1e12 }],
    ['missing', { trafficType: 'ON_DEMAND' }],
    ['no object', 7],
  ])('is none where a count is %s', (_, raw) => {
    expect(usage(raw)).toBeNull();
  });

  it('counts searches as Google charges them', () => {
    const groundingMetadata = { webSearchQueries: ['a', 'b', 'c'] };
    const searched = (modelVersion: string) =>
      decode({ ...answer([], { groundingMetadata }), usageMetadata: { promptTokenCount: 1 }, modelVersion }).usage
        ?.server_tool_use_details;
    expect(searched('gemini-2.5-pro')).toEqual({ web_search_requests: 1 });
    expect(searched('gemini-3-pro-preview')).toEqual({ web_search_requests: 3 });
  });

  it.each([
    [{ serviceTier: 'standard' }, 'default'],
    [{ serviceTier: 'priority', trafficType: 'ON_DEMAND' }, 'priority'],
    [{ trafficType: 'ON_DEMAND_FLEX' }, 'flex'],
    [{ trafficType: 'PROVISIONED_THROUGHPUT' }, undefined],
  ])('names the tier that served: %o', (usageMetadata, tier) => {
    expect(decode({ ...answer([]), usageMetadata }).result.service_tier).toBe(tier);
  });
});
