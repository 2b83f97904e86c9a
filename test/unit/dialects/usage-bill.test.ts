import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Pricing } from '../../../src/call/model.ts';
import { readUsage as readAiSdk } from '../../../src/dialects/ai-sdk/usage.ts';
import { readUsage as readAnthropic } from '../../../src/dialects/anthropic-messages/usage.ts';
import { readUsage as readBedrock } from '../../../src/dialects/bedrock-converse/usage.ts';
import { readUsage as readGoogle } from '../../../src/dialects/google-generate-content/usage.ts';
import { readUsage as readChat } from '../../../src/dialects/openai-chat/usage.ts';
import { readUsage as readResponses } from '../../../src/dialects/openai-responses/usage.ts';
import { priceUsage } from '../../../src/pricing/price.ts';
import type { Usage } from '../../../src/schema/chat/chat.ts';
import { runs } from '../../support/runs.ts';

// A provider bills classes of tokens, each once, and reports them in its own shape: what is booked is no less than that
// bill, whichever shape it is.

/** What was used: every token is in one class. */
interface Used {
  plain: number;
  cached: number;
  minutes: number;
  hour: number;
  halfDay: number;
  said: number;
  reasoned: number;
  searches: number;
}

const count = fc.oneof(fc.constant(0), fc.nat({ max: 1_000 }));
const used: fc.Arbitrary<Used> = fc.record({
  plain: count,
  cached: count,
  minutes: count,
  hour: count,
  halfDay: count,
  said: count,
  reasoned: count,
  searches: fc.nat({ max: 3 }),
});

const pricing: Pricing = {
  promptPicoUsd: 100_000,
  completionPicoUsd: 500_000,
  cacheReadPicoUsd: 10_000,
  cacheWritePicoUsd: 125_000,
  cacheWrite12hPicoUsd: 300_000,
  webSearchPicoUsd: 10_000_000,
};

/** Written from the price list alone. */
function billOf({ plain, cached, minutes, hour, halfDay, said, reasoned, searches }: Used): number {
  const prompt = plain * 100 + cached * 10 + minutes * 125 + hour * 200 + halfDay * 300;
  return prompt + (said + reasoned) * 500 + searches * 10_000;
}

const writtenOf = ({ minutes, hour, halfDay }: Used) => minutes + hour + halfDay;
const promptOf = (one: Used) => one.plain + one.cached + writtenOf(one);
const none: Partial<Used> = { minutes: 0, hour: 0, halfDay: 0, searches: 0 };

type Shape = [name: string, without: Partial<Used>, read: (used: Used) => Usage | null];

const chat = (one: Used, isReasoningInside: boolean, total: boolean) => {
  const completion = one.said + (isReasoningInside ? one.reasoned : 0);
  return {
    prompt_tokens: promptOf(one),
    completion_tokens: completion,
    ...(total ? { total_tokens: promptOf(one) + one.said + one.reasoned } : {}),
    prompt_tokens_details: {
      cached_tokens: one.cached,
      cache_write_tokens: writtenOf(one),
      cache_write_tokens_details: { ttl_30m_tokens: one.minutes, ttl_12h_tokens: one.halfDay },
      cache_creation: { ephemeral_1h_input_tokens: one.hour },
    },
    completion_tokens_details: { reasoning_tokens: one.reasoned },
    server_tool_use_details: { web_search_requests: one.searches },
  };
};
const anthropic = (one: Used) => ({
  input_tokens: one.plain,
  output_tokens: one.said + one.reasoned,
  cache_read_input_tokens: one.cached,
  cache_creation_input_tokens: one.minutes + one.hour,
  cache_creation: { ephemeral_5m_input_tokens: one.minutes, ephemeral_1h_input_tokens: one.hour },
  output_tokens_details: { thinking_tokens: one.reasoned },
  server_tool_use: { web_search_requests: one.searches },
});
const noHalfDay = { halfDay: 0 };

const shapes: Shape[] = [
  ['chat, reasoning in the output', {}, (one) => readChat(chat(one, true, true))],
  ['chat, reasoning beside the output', {}, (one) => readChat(chat(one, false, true))],
  ['chat, reasoning in the output, no total', {}, (one) => readChat(chat(one, true, false))],
  ['chat, reasoning beside the output, no total', {}, (one) => readChat(chat(one, false, false))],
  [
    'chat, reasoning in the total alone',
    {},
    (one) => readChat({ ...chat(one, false, true), completion_tokens_details: null }),
  ],
  [
    'DeepSeek',
    none,
    (one) =>
      readChat({
        prompt_tokens: promptOf(one),
        completion_tokens: one.said + one.reasoned,
        total_tokens: promptOf(one) + one.said + one.reasoned,
        prompt_cache_hit_tokens: one.cached,
        prompt_cache_miss_tokens: one.plain,
      }),
  ],
  [
    'a prompt without what was cached',
    none,
    (one) =>
      readChat({
        prompt_tokens: one.plain,
        completion_tokens: one.said + one.reasoned,
        total_tokens: promptOf(one) + one.said + one.reasoned,
        cached_tokens: one.cached,
      }),
  ],
  ['Claude at a server that speaks chat', { ...noHalfDay, searches: 0 }, (one) => readChat(anthropic(one))],
  ['Anthropic', noHalfDay, (one) => readAnthropic(anthropic(one))],
  [
    'Bedrock',
    { ...noHalfDay, searches: 0 },
    (one) =>
      readBedrock({
        inputTokens: one.plain,
        outputTokens: one.said + one.reasoned,
        cacheReadInputTokens: one.cached,
        cacheWriteInputTokens: writtenOf(one),
        cacheDetails: [
          { ttl: '5m', inputTokens: one.minutes },
          { ttl: '1h', inputTokens: one.hour },
        ],
      }),
  ],
  [
    'Google',
    { minutes: 0, hour: 0, halfDay: 0 },
    (one) =>
      readGoogle(
        {
          promptTokenCount: promptOf(one),
          cachedContentTokenCount: one.cached,
          candidatesTokenCount: one.said,
          thoughtsTokenCount: one.reasoned,
        },
        one.searches,
      ),
  ],
  [
    'Responses',
    { hour: 0 },
    (one) =>
      readResponses(
        {
          input_tokens: promptOf(one),
          output_tokens: one.said + one.reasoned,
          total_tokens: promptOf(one) + one.said + one.reasoned,
          input_tokens_details: {
            cached_tokens: one.cached,
            cache_write_tokens: writtenOf(one),
            cache_write_tokens_details: { ttl_30m_tokens: one.minutes, ttl_12h_tokens: one.halfDay },
          },
          output_tokens_details: { reasoning_tokens: one.reasoned },
        },
        one.searches,
      ),
  ],
  [
    'the AI SDK',
    { hour: 0, halfDay: 0, searches: 0 },
    (one) =>
      readAiSdk({
        inputTokens: { noCache: one.plain, cacheRead: one.cached, cacheWrite: one.minutes },
        outputTokens: { text: one.said, reasoning: one.reasoned },
      }),
  ],
];

describe('what is booked of reported usage', () => {
  it.each(shapes)('is no less than the bill: %s', (_, without, read) => {
    fc.assert(
      fc.property(used, (any) => {
        const one = { ...any, ...without };
        const usage = read(one);
        expect(usage).not.toBeNull();
        expect(priceUsage(usage as Usage, pricing).totalNanoUsd).toBeGreaterThanOrEqual(billOf(one));
      }),
      { numRuns: runs(300, 20_000) },
    );
  });
  it.each(shapes.filter(([name]) => !/no total|server that speaks chat/.test(name)))(
    'is the bill where the report leaves nothing open: %s',
    (_, without, read) => {
      fc.assert(
        fc.property(used, (any) => {
          // Equal counts could stand for each other.
          const one = { ...any, ...without, cached: any.cached * 2 + 1, reasoned: any.reasoned % 2 ? 0 : any.reasoned };
          fc.pre(one.reasoned <= one.said && one.reasoned !== one.cached);
          expect(priceUsage(read(one) as Usage, pricing).totalNanoUsd).toBe(billOf(one));
        }),
        { numRuns: runs(300, 20_000) },
      );
    },
  );
});
