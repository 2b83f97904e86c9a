import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UpstreamError } from '../../../../src/base/http/upstream-error.ts';
import { aiSdk } from '../../../../src/dialects/ai-sdk/index.ts';
import { chatResultSchema } from '../../../../src/schema/chat/chat.ts';
import { usageSchema } from '../../../../src/schema/chat/usage.ts';

const stop = { unified: 'stop', raw: 'end' };
const decode = (content: unknown, more: object = {}) =>
  aiSdk.decodeResult({ content, finishReason: stop, ...more }, {});
const messageOf = (content: unknown, more: object = {}) => decode(content, more).result.choices[0]?.message;

describe('a result of a model', () => {
  it.each([
    ['stop', 'stop'],
    ['length', 'length'],
    ['content-filter', 'content_filter'],
    ['tool-calls', 'stop'],
    ['other', 'stop'],
    ['a-new-word', 'stop'],
  ])('that ends as %s ends with %s', (unified, ours) => {
    const [choice] = decode([], { finishReason: { unified, raw: undefined } }).result.choices;
    expect([choice?.finish_reason, choice?.native_finish_reason]).toEqual([ours, unified]);
  });
  it.each([{ unified: 'error' }, { unified: 'interrupted' }, {}, null, 'stop'])(
    'that ends with %j is broken off',
    (end) => {
      const usage = { inputTokens: { total: 1 }, outputTokens: { total: 2 } };
      const broken = () => decode([], { finishReason: end, usage });
      expect(broken).toThrow(UpstreamError);
      expect(broken).toThrow(expect.objectContaining({ usage: expect.objectContaining({ total_tokens: 3 }) }));
    },
  );
  it('has the text that the model chose for structured output', () => {
    const text = [{ type: 'text', text: 'Draft. {}' }];
    expect(messageOf(text, { structuredOutputText: '{}' })?.content).toBe('{}');
    expect(messageOf(text, { structuredOutputText: '' })?.content).toBe('');
  });
  it('has a sound, and images by their address', () => {
    const content = [
      { type: 'file', mediaType: 'audio/wav', data: { type: 'data', data: 'AA==' } },
      { type: 'file', mediaType: 'image/png', data: { type: 'url', url: 'https://a.test/b.png' } },
      { type: 'file', mediaType: 'application/zip', data: { type: 'data', data: 'AA==' } },
      { type: 'file', mediaType: 7, data: 7 },
    ];
    expect(messageOf(content)).toMatchObject({
      audio: { data: 'AA==' },
      images: [{ type: 'image_url', image_url: { url: 'https://a.test/b.png' } }],
    });
  });
  it('has documents that it is based on', () => {
    const content = [
      { type: 'source', sourceType: 'document', id: 'd', mediaType: 'application/pdf', title: 'D', filename: 'd.pdf' },
      { type: 'source', sourceType: 'url', id: 'u', url: 'javascript:alert(1)' },
    ];
    expect(messageOf(content)?.annotations).toEqual([
      { type: 'file', file: { hash: 'd', name: 'd.pdf', content: [] } },
    ]);
  });
  it('has notes on its text where it has one text, so that they can be told apart', () => {
    const one = { type: 'text', text: 'A', providerMetadata: { google: { thoughtSignature: 's' } } };
    expect(messageOf([one])?.reasoning_details).toEqual([
      {
        type: 'reasoning.encrypted',
        id: 'ai-sdk-v4:text',
        data: '{"google":{"thoughtSignature":"s"}}',
        format: 'unknown',
        index: 0,
      },
    ]);
    expect(messageOf([one, one])).not.toHaveProperty('reasoning_details');
  });
  it('has usage, of parts where a total is missing', () => {
    const usageOf = (inputTokens: unknown, outputTokens: unknown) =>
      decode([], { usage: { inputTokens, outputTokens } }).usage;
    expect(usageOf({ noCache: 1, cacheRead: 2, cacheWrite: 3 }, { text: 4, reasoning: 5 })).toEqual({
      prompt_tokens: 6,
      completion_tokens: 9,
      total_tokens: 15,
      prompt_tokens_details: { cached_tokens: 2, cache_write_tokens: 3 },
      completion_tokens_details: { reasoning_tokens: 5 },
    });
    expect(usageOf({ total: 1, cacheRead: 9 }, { total: 1, reasoning: 9 })).toMatchObject({
      prompt_tokens_details: { cached_tokens: 1 },
      completion_tokens_details: { reasoning_tokens: 1 },
    });
    for (const none of [undefined, 1, {}, { total: -1 }, { total: 1.5 }, { cacheRead: 1 }])
      expect(usageOf(none, { total: 1 })).toBeNull();
  });
  it('is valid or refused, whatever it holds', () => {
    const nonsense = fc.jsonValue({ maxDepth: 4 });
    const kinds = ['text', 'reasoning', 'tool-call', 'source', 'file', 'custom', 'tool-result'];
    const part = fc.record(
      {
        type: fc.oneof(fc.constantFrom(...kinds), nonsense),
        text: fc.oneof(fc.string(), nonsense),
        citations: fc.oneof(nonsense, fc.array(fc.record({ source: nonsense, startIndex: nonsense }))),
        providerMetadata: nonsense,
        toolCallId: nonsense,
        toolName: fc.oneof(fc.string(), nonsense),
        input: nonsense,
        sourceType: fc.constantFrom('url', 'document', 7),
        url: nonsense,
        mediaType: fc.oneof(fc.constantFrom('image/png', 'audio/wav'), nonsense),
        data: fc.oneof(nonsense, fc.record({ type: fc.constantFrom('data', 'url'), data: nonsense, url: nonsense })),
      },
      { requiredKeys: [] },
    );
    const body = fc.record(
      {
        content: fc.oneof(nonsense, fc.array(fc.oneof(part, nonsense))),
        finishReason: fc.oneof(fc.constant(stop), nonsense),
        usage: nonsense,
        warnings: nonsense,
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(body, (value) => {
        try {
          const { result, usage } = aiSdk.decodeResult(value, {});
          expect(chatResultSchema().safeParse(result).error).toBeUndefined();
          if (usage) expect(usageSchema().safeParse(usage).error).toBeUndefined();
        } catch (error) {
          if (!(error instanceof UpstreamError)) throw error;
        }
      }),
    );
  });
});
