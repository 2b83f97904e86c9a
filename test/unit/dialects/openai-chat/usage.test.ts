import { describe, expect, it } from 'vitest';
import { readUsage } from '../../../../src/dialects/openai-chat/usage.ts';

const read = (prompt: number, completion: number, more: object) =>
  readUsage({ prompt_tokens: prompt, completion_tokens: completion, ...more });

describe('tokens written to a cache', () => {
  it.each<[string, object, number | undefined, number | undefined]>([
    ['in our word', { cache_write_tokens: 30 }, 30, undefined],
    ["in Anthropic's, which resellers keep", { cache_creation_input_tokens: 30 }, 30, undefined],
    ['in both, once', { cache_write_tokens: 30, cache_creation_input_tokens: 30 }, 30, undefined],
    [
      'for an hour, among the others',
      {
        cache_creation_input_tokens: 30,
        cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
      },
      30,
      20,
    ],
    ['for an hour alone', { cache_creation: { ephemeral_1h_input_tokens: 20 } }, 20, 20],
    ['never more than the prompt', { cache_creation: { ephemeral_1h_input_tokens: 2000 } }, 100, 100],
    ['not told', {}, undefined, undefined],
    ['told as nonsense', { cache_creation: [20], cache_creation_input_tokens: '30' }, undefined, undefined],
  ])('are read %s', (_, details, written, hour) => {
    const usage = read(100, 1, { prompt_tokens_details: details });
    expect(usage?.prompt_tokens_details?.cache_write_tokens).toBe(written);
    expect(usage?.prompt_tokens_details?.cache_write_1h_tokens).toBe(hour);
  });
});

describe('tokens read from a cache', () => {
  it.each<[string, object, number, number]>([
    ['in the details', { prompt_tokens_details: { cached_tokens: 60 } }, 100, 60],
    ['in details that are misspelled', { prompt_token_details: { cached_tokens: 60 } }, 100, 60],
    ['beside them (Moonshot)', { cached_tokens: 60 }, 100, 60],
    ['as DeepSeek says it', { prompt_cache_hit_tokens: 60, prompt_cache_miss_tokens: 40 }, 100, 60],
    ['as Mistral says it', { num_cached_tokens: 60 }, 100, 60],
    ['left out of the prompt, but not of the total', { cached_tokens: 60, total_tokens: 170 }, 160, 60],
    ['left out of the prompt of which they would be more than all', { cached_tokens: 300 }, 400, 300],
    ['more than the prompt, against the total', { cached_tokens: 300, total_tokens: 110 }, 100, 100],
  ])('are part of the prompt: %s', (_, more, prompt, cached) => {
    const usage = read(100, 10, more);
    expect(usage).toMatchObject({
      prompt_tokens: prompt,
      completion_tokens: 10,
      prompt_tokens_details: { cached_tokens: cached },
    });
  });
  it('are told apart from reasoning that is left out as well', () => {
    const usage = read(100, 10, {
      total_tokens: 100 + 10 + 60 + 25,
      cached_tokens: 60,
      completion_tokens_details: { reasoning_tokens: 25 },
    });
    expect(usage).toMatchObject({ prompt_tokens: 160, completion_tokens: 35, total_tokens: 195 });
  });
});

describe('other kinds', () => {
  it('keep the tokens of pictures, read and made', () => {
    const usage = read(100, 50, {
      prompt_tokens_details: { image_tokens: 85 },
      completion_tokens_details: { image_tokens: 40, reasoning_tokens: 0 },
    });
    expect(usage?.prompt_tokens_details?.image_tokens).toBe(85);
    expect(usage?.completion_tokens_details?.image_tokens).toBe(40);
  });
  it.each<[string, object, number | undefined]>([
    ['our word', { server_tool_use_details: { web_search_requests: 2 } }, 2],
    ['the older one', { server_tool_use: { web_search_requests: 2 } }, 2],
    ["Perplexity's", { num_search_queries: 2 }, 2],
    ['none', { server_tool_use_details: { web_search_requests: 0 } }, undefined],
    ['nonsense', { server_tool_use_details: { web_search_requests: -2 } }, undefined],
    ['more than anybody makes', { num_search_queries: 1e6 }, undefined],
  ])('count searches, in %s', (_, more, searches) => {
    expect(read(1, 1, more)?.server_tool_use_details?.web_search_requests).toBe(searches);
  });
});
