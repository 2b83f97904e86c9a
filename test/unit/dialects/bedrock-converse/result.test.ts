import { describe, expect, it } from 'vitest';
import { UpstreamError } from '../../../../src/base/http/upstream-error.ts';
import { bedrockConverse } from '../../../../src/dialects/bedrock-converse/index.ts';
import type { Reading } from '../../../../src/dialects/dialect.ts';
import { sharedAvailable, validateAgainstReference } from '../../../support/reference.ts';

const usage = { inputTokens: 3, outputTokens: 5, totalTokens: 8 };

function body(content: unknown, more: object = {}) {
  return { output: { message: { role: 'assistant', content } }, stopReason: 'end_turn', usage, ...more };
}

function messageOf(content: unknown, more: object = {}, reading?: Reading) {
  const { result } = bedrockConverse.decodeResult(body(content, more), {}, reading);
  if (sharedAvailable)
    expect(validateAgainstReference('ChatResult', { ...result, id: 'gen-1', model: 'a/b' })).toEqual([]);
  return result.choices[0] as (typeof result.choices)[number];
}

describe('a result of Converse', () => {
  it('joins its texts, and keeps what else it says', () => {
    const { message, finish_reason, native_finish_reason } = messageOf(
      [
        { reasoningContent: { reasoningText: { text: 'Hm.', signature: 'sig' } } },
        { reasoningContent: { redactedContent: btoa('secret') } },
        { text: 'A' },
        { toolUse: { toolUseId: 'x', name: '__proto__', input: { q: 1 } } },
        { text: 'B' },
        { image: { format: 'webp', source: { bytes: 'AAAA' } } },
      ],
      { stopReason: 'tool_use' },
      { reasoningFormat: 'anthropic-claude-v1' },
    );
    expect(message).toEqual({
      role: 'assistant',
      content: 'AB',
      refusal: null,
      reasoning: 'Hm.',
      reasoning_details: [
        { type: 'reasoning.text', text: 'Hm.', signature: 'sig', format: 'anthropic-claude-v1', index: 0 },
        { type: 'reasoning.encrypted', data: 'secret', format: 'anthropic-claude-v1', index: 1 },
      ],
      tool_calls: [{ id: 'x', type: 'function', function: { name: '__proto__', arguments: '{"q":1}' } }],
      images: [{ type: 'image_url', image_url: { url: 'data:image/webp;base64,AAAA' } }],
    });
    expect([finish_reason, native_finish_reason]).toEqual(['tool_calls', 'tool_use']);
  });

  it('has annotations for what it cites', () => {
    const { message } = messageOf([
      { text: 'Well: ' },
      {
        citationsContent: {
          content: [{ text: 'It is ' }, { text: 'warm.' }],
          citations: [
            { title: 'W', location: { web: { url: 'https://w.example' } }, sourceContent: [{ text: 'warm' }] },
            { title: 'r', source: 'https://r.example', location: { searchResultLocation: { searchResultIndex: 0 } } },
            { title: 'a', location: { documentChar: { documentIndex: 0 } }, sourceContent: [{ text: 'x' }] },
            7,
          ],
        },
      },
    ]);
    expect(message.content).toBe('Well: It is warm.');
    expect(message.annotations).toEqual([
      {
        type: 'url_citation',
        url_citation: { url: 'https://w.example', title: 'W', content: 'warm', start_index: 6, end_index: 17 },
      },
      { type: 'url_citation', url_citation: { url: 'https://r.example', title: 'r', start_index: 6, end_index: 17 } },
      { type: 'file', file: { hash: 'document 0', name: 'a', content: [{ type: 'text', text: 'x' }] } },
    ]);
  });

  it('has the arguments of the tool for output as its content', () => {
    const blocks = [{ text: 'Here:' }, { toolUse: { toolUseId: 'x', name: 'out', input: { a: 1 } } }];
    const choice = messageOf(blocks, { stopReason: 'tool_use' }, { outputTool: 'out' });
    expect(choice).toMatchObject({ finish_reason: 'stop', message: { content: '{"a":1}' } });
    expect(choice.message).not.toHaveProperty('tool_calls');
    const other = [...blocks, { toolUse: { toolUseId: 'y', name: 'look', input: {} } }];
    expect(messageOf(other, { stopReason: 'tool_use' }, { outputTool: 'out' })).toMatchObject({
      finish_reason: 'tool_calls',
      message: { content: '{"a":1}', tool_calls: [{ id: 'y' }] },
    });
  });

  it('tells no calls that the provider has run itself', () => {
    const blocks = [{ toolUse: { toolUseId: 'x', name: 'g', input: {}, type: 'server_tool_use' } }, { text: 'Found.' }];
    expect(messageOf(blocks).message).toEqual({ role: 'assistant', content: 'Found.', refusal: null });
  });

  it('counts the cache into the prompt, by kind', () => {
    const read = (raw: unknown) => bedrockConverse.decodeResult(body([], { usage: raw }), {}).usage;
    expect(
      read({
        inputTokens: 3,
        outputTokens: 5,
        cacheReadInputTokens: 10,
        cacheWriteInputTokens: 100,
        cacheDetails: [{ ttl: '1h', inputTokens: 60 }, { ttl: '5m', inputTokens: 40 }, null],
      }),
    ).toEqual({
      prompt_tokens: 113,
      completion_tokens: 5,
      total_tokens: 118,
      prompt_tokens_details: { cached_tokens: 10, cache_write_tokens: 100, cache_write_1h_tokens: 60 },
    });
    for (const nonsense of [
      null,
      [],
      {},
      { inputTokens: 1 },
      { inputTokens: '1', outputTokens: 1 },
      { inputTokens: 1.5, outputTokens: 1 },
      { inputTokens: 1e12, outputTokens: 1 },
    ])
      expect(read(nonsense)).toBeNull();
  });

  it('tells the tier that served', () => {
    expect(bedrockConverse.decodeResult(body([], { serviceTier: { type: 'flex' } }), {}).result.service_tier).toBe(
      'flex',
    );
  });

  it.each([
    ['nothing', null],
    ['a list', []],
    ['no message', { output: {}, stopReason: 'end_turn' }],
    ['no reason', body([{ text: 'a' }], { stopReason: undefined })],
    ['a broken call', body([{ text: 'a' }], { stopReason: 'malformed_tool_use' })],
    ['a call without a name', body([{ toolUse: { toolUseId: 'x' } }])],
  ])('that is %s is a bad response', (_, raw) => {
    expect(() => bedrockConverse.decodeResult(raw, {})).toThrow(
      expect.objectContaining({ reason: 'bad_response', status: 502 }),
    );
  });

  it('that is of no use keeps the usage that was paid for', () => {
    const broken = body([], { stopReason: 'malformed_model_output' });
    expect(() => bedrockConverse.decodeResult(broken, {})).toThrow(
      expect.objectContaining({ usage: expect.objectContaining({ total_tokens: 8 }) }),
    );
  });

  it('that is an error is that error', () => {
    expect(() =>
      bedrockConverse.decodeResult({ __type: 'com.amazon#ThrottlingException', message: 'Slow' }, {}),
    ).toThrow(expect.objectContaining({ status: 429, message: 'Slow', providerCode: 'ThrottlingException' }));
  });

  it('with other types than expected throws nothing but upstream errors', () => {
    const values = [null, 7, 'x', [], {}, [null], [7], ['x'], [[]]];
    const keys = ['text', 'toolUse', 'reasoningContent', 'citationsContent', 'image'];
    for (const value of values) {
      const raws = [
        value,
        { output: value },
        { output: { message: value }, stopReason: 'end_turn' },
        body(value),
        body([], { usage: value, serviceTier: value }),
        ...keys.flatMap((key) => [
          body([{ [key]: value }]),
          body([
            {
              [key]: { content: value, citations: value, source: value, input: value, name: 'a', reasoningText: value },
            },
          ]),
        ]),
      ];
      for (const raw of raws) {
        try {
          bedrockConverse.decodeResult(raw, {});
        } catch (error) {
          expect(error, JSON.stringify(raw)).toBeInstanceOf(UpstreamError);
        }
      }
    }
  });
});
