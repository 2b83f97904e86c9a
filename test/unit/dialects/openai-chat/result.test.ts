import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UpstreamError } from '../../../../src/base/http/upstream-error.ts';
import { decodeResult } from '../../../../src/dialects/openai-chat/result.ts';
import { readUsage } from '../../../../src/dialects/openai-chat/usage.ts';
import { chatResultSchema } from '../../../../src/schema/chat/chat.ts';
import { usageSchema } from '../../../../src/schema/chat/usage.ts';
import { sharedAvailable, validateAgainstReference } from '../../../support/reference.ts';
import { completion } from '../../../support/upstream.ts';

const nonsense = fc.jsonValue({ maxDepth: 3 });
const optional = { requiredKeys: [] };
const toolCall = fc.record(
  {
    id: nonsense,
    type: nonsense,
    function: fc.oneof(nonsense, fc.record({ name: nonsense, arguments: nonsense }, optional)),
  },
  optional,
);
const message = fc.record(
  {
    role: nonsense,
    content: nonsense,
    refusal: nonsense,
    reasoning: nonsense,
    reasoning_content: nonsense,
    tool_calls: fc.oneof(nonsense, fc.array(fc.oneof(toolCall, nonsense), { maxLength: 3 })),
    function_call: nonsense,
    audio: nonsense,
    annotations: nonsense,
    images: nonsense,
    reasoning_details: nonsense,
    name: nonsense,
  },
  optional,
);
const choice = fc.record(
  {
    index: nonsense,
    message: fc.oneof({ weight: 5, arbitrary: message }, nonsense),
    finish_reason: nonsense,
    native_finish_reason: nonsense,
    logprobs: nonsense,
    error: nonsense,
  },
  optional,
);
const body = fc.record(
  {
    id: nonsense,
    object: nonsense,
    created: nonsense,
    model: nonsense,
    choices: fc.oneof(
      { weight: 5, arbitrary: fc.array(fc.oneof({ weight: 5, arbitrary: choice }, nonsense), { maxLength: 3 }) },
      nonsense,
    ),
    usage: nonsense,
    system_fingerprint: nonsense,
    service_tier: nonsense,
    service_metadata: nonsense,
    provider: nonsense,
  },
  optional,
);

describe('a body of an answer', () => {
  it('never becomes anything but a valid result, or an error of the provider, whatever it holds', () => {
    fc.assert(
      fc.property(fc.oneof({ weight: 20, arbitrary: body }, nonsense), (given) => {
        try {
          const { result, usage } = decodeResult(given);
          chatResultSchema().parse(result);
          if (sharedAvailable) expect(validateAgainstReference('ChatResult', result)).toEqual([]);
          if (usage) usageSchema().parse(usage);
        } catch (error) {
          if (!(error instanceof UpstreamError)) throw error;
        }
      }),
      { numRuns: 500 },
    );
  });
  it('is not changed', () => {
    const given = completion(
      { usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } },
      { tool_calls: [{ function: { name: 'f' } }], annotations: null },
    );
    const before = structuredClone(given);
    decodeResult(given);
    expect(given).toEqual(before);
  });
  it('that broke off is an error, in whatever case it says so', () => {
    for (const reason of ['error', 'ABORT', 'network_error']) {
      expect(() => decodeResult(completion({}, {}, { finish_reason: reason }))).toThrow(UpstreamError);
    }
  });
});

describe('a choice without a message', () => {
  it.each(['content_filter', 'safety'])('is an empty response where it was filtered: %s', (reason) => {
    const { result } = decodeResult({ choices: [{ index: 0, finish_reason: reason, content_filter_results: {} }] });
    expect(result.choices).toEqual([
      {
        index: 0,
        message: { role: 'assistant', content: null, refusal: null },
        finish_reason: 'content_filter',
        native_finish_reason: reason,
        logprobs: null,
        content_filter_results: {},
      },
    ]);
  });
  it.each(['stop', 'length', null])('is an error where it was not: %s', (reason) => {
    expect(() => decodeResult({ choices: [{ index: 0, finish_reason: reason }] })).toThrow(UpstreamError);
  });
});

describe('a tool call without an id', () => {
  it('is given one that no other call of the response has', () => {
    const call = (id?: string) => ({ ...(id === undefined ? {} : { id }), function: { name: 'f', arguments: '{}' } });
    const { result } = decodeResult({
      choices: [
        { message: { tool_calls: [call(), call('call_1')] }, finish_reason: 'tool_calls' },
        { message: { tool_calls: [call(), call('')] }, finish_reason: 'tool_calls' },
      ],
    });
    const ids = result.choices.flatMap(({ message }) => message.tool_calls?.map(({ id }) => id));
    expect(ids).toEqual(['call_0', 'call_1', 'call_2', 'call_3']);
  });
});

describe('usage', () => {
  const number = fc.oneof(fc.nat({ max: 1000 }), fc.integer(), fc.double(), nonsense);
  const details = fc.oneof(
    nonsense,
    fc.record(
      {
        cached_tokens: number,
        cache_write_tokens: number,
        audio_tokens: number,
        video_tokens: number,
        reasoning_tokens: number,
      },
      optional,
    ),
  );
  const raw = fc.record(
    {
      prompt_tokens: number,
      completion_tokens: number,
      total_tokens: number,
      prompt_tokens_details: details,
      completion_tokens_details: details,
      reasoning_tokens: number,
      cached_tokens: number,
      prompt_cache_hit_tokens: number,
    },
    optional,
  );
  it('is valid, whole and adds up, or is none', () => {
    fc.assert(
      fc.property(fc.oneof({ weight: 9, arbitrary: raw }, nonsense), (given) => {
        const usage = readUsage(given);
        if (!usage) return;
        usageSchema().parse(usage);
        expect(usage.total_tokens).toBe(usage.prompt_tokens + usage.completion_tokens);
        for (const [key, value] of Object.entries(usage.prompt_tokens_details ?? {}))
          expect([key, Number(value) <= usage.prompt_tokens]).toEqual([key, true]);
        for (const [key, value] of Object.entries(usage.completion_tokens_details ?? {}))
          expect([key, Number(value) <= usage.completion_tokens]).toEqual([key, true]);
      }),
      { numRuns: 500 },
    );
  });
});
