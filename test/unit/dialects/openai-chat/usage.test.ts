import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readUsage, usageIn } from '../../../../src/dialects/openai-chat/usage.ts';

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
    [
      'for an hour, more than the prompt, which then leaves it out',
      { cache_creation: { ephemeral_1h_input_tokens: 2000 } },
      2000,
      2000,
    ],
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

describe('a response of a known server', () => {
  /** What is charged: plain prompt, cached, written, of that for an hour and for twelve; output, of that reasoning. */
  type Charged = [
    plain: number,
    cached: number,
    written: number,
    hour: number,
    halfDay: number,
    output: number,
    reasoning: number,
  ];
  it.each<[string, object, Charged]>([
    [
      'OpenAI',
      {
        usage: {
          prompt_tokens: 100,
          completion_tokens: 50,
          total_tokens: 150,
          prompt_tokens_details: { cached_tokens: 60 },
          completion_tokens_details: { reasoning_tokens: 30 },
        },
      },
      [40, 60, 0, 0, 0, 50, 30],
    ],
    [
      'OpenAI, writes of twelve hours',
      {
        usage: {
          prompt_tokens: 100,
          completion_tokens: 5,
          total_tokens: 105,
          prompt_tokens_details: {
            cached_tokens: 10,
            cache_write_tokens: 80,
            cache_write_tokens_details: { ttl_30m_tokens: 50, ttl_12h_tokens: 30 },
          },
        },
      },
      [10, 10, 80, 0, 30, 5, 0],
    ],
    [
      'DeepSeek',
      {
        usage: {
          prompt_tokens: 100,
          completion_tokens: 50,
          total_tokens: 150,
          prompt_cache_hit_tokens: 60,
          prompt_cache_miss_tokens: 40,
          completion_tokens_details: { reasoning_tokens: 30 },
        },
      },
      [40, 60, 0, 0, 0, 50, 30],
    ],
    [
      'Moonshot',
      { usage: { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150, cached_tokens: 60 } },
      [40, 60, 0, 0, 0, 50, 0],
    ],
    [
      'xAI',
      {
        usage: {
          prompt_tokens: 100,
          completion_tokens: 5,
          total_tokens: 135,
          prompt_tokens_details: { cached_tokens: 60 },
          completion_tokens_details: { reasoning_tokens: 30 },
        },
      },
      [40, 60, 0, 0, 0, 35, 30],
    ],
    [
      'Mistral',
      { usage: { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150, num_cached_tokens: 64 } },
      [36, 64, 0, 0, 0, 50, 0],
    ],
    [
      'Z.AI',
      {
        usage: {
          prompt_tokens: 100,
          completion_tokens: 50,
          total_tokens: 150,
          prompt_tokens_details: { cached_tokens: 43 },
        },
      },
      [57, 43, 0, 0, 0, 50, 0],
    ],
    [
      'Groq',
      {
        x_groq: {
          id: 'r',
          usage: {
            prompt_tokens: 100,
            completion_tokens: 50,
            total_tokens: 150,
            prompt_tokens_details: { cached_tokens: 60 },
          },
        },
      },
      [40, 60, 0, 0, 0, 50, 0],
    ],
    [
      'Kimi in a choice',
      { choices: [{ usage: { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150, cached_tokens: 60 } }] },
      [40, 60, 0, 0, 0, 50, 0],
    ],
    ['Google', { usage: { prompt_tokens: 100, completion_tokens: 5, total_tokens: 135 } }, [100, 0, 0, 0, 0, 35, 30]],
    [
      'Perplexity, a deep research',
      {
        usage: {
          prompt_tokens: 33,
          completion_tokens: 7_163,
          total_tokens: 7_196,
          citation_tokens: 20_016,
          num_search_queries: 18,
          reasoning_tokens: 73_997,
        },
      },
      [20_049, 0, 0, 0, 0, 81_160, 73_997],
    ],
    [
      'Perplexity, a short one',
      {
        usage: {
          prompt_tokens: 33,
          completion_tokens: 700,
          total_tokens: 733,
          citation_tokens: 10,
          reasoning_tokens: 60,
        },
      },
      [43, 0, 0, 0, 0, 760, 60],
    ],
    [
      'Claude behind a proxy',
      {
        usage: {
          prompt_tokens: 100,
          completion_tokens: 5,
          total_tokens: 105,
          cache_read_input_tokens: 60,
          cache_creation_input_tokens: 30,
        },
      },
      [10, 60, 30, 0, 0, 5, 0],
    ],
    [
      'Claude behind a proxy that leaves its cache out',
      {
        usage: {
          prompt_tokens: 10,
          completion_tokens: 5,
          total_tokens: 105,
          cache_read_input_tokens: 60,
          cache_creation_input_tokens: 30,
          cache_creation: { ephemeral_1h_input_tokens: 30 },
        },
      },
      [10, 60, 30, 30, 0, 5, 0],
    ],
    [
      'Anthropic’s own words',
      {
        usage: {
          input_tokens: 10,
          output_tokens: 5,
          cache_read_input_tokens: 60,
          cache_creation_input_tokens: 30,
          cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
        },
      },
      [10, 60, 30, 20, 0, 5, 0],
    ],
    [
      'the words of Responses',
      {
        usage: {
          input_tokens: 100,
          output_tokens: 50,
          total_tokens: 150,
          input_tokens_details: { cached_tokens: 60 },
          output_tokens_details: { reasoning_tokens: 30 },
        },
      },
      [40, 60, 0, 0, 0, 50, 30],
    ],
    [
      'llama.cpp',
      { timings: { prompt_n: 40, cache_n: 60, predicted_n: 50, predicted_ms: 12.5 } },
      [40, 60, 0, 0, 0, 50, 0],
    ],
    [
      'llama.cpp, with usage',
      {
        usage: { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 },
        timings: { prompt_n: 40, cache_n: 60, predicted_n: 50 },
      },
      [100, 0, 0, 0, 0, 50, 0],
    ],
    [
      'Claude behind LiteLLM, with its cache in the details too',
      {
        usage: {
          prompt_tokens: 100,
          completion_tokens: 5,
          total_tokens: 105,
          cache_read_input_tokens: 60,
          cache_creation_input_tokens: 0,
          prompt_tokens_details: { cached_tokens: 60, text_tokens: null },
        },
      },
      [40, 60, 0, 0, 0, 5, 0],
    ],
    [
      'the words of LangChain',
      {
        usage: {
          input_tokens: 100,
          output_tokens: 50,
          total_tokens: 150,
          input_token_details: { cached_tokens: 60 },
          output_token_details: { reasoning_tokens: 30 },
        },
      },
      [40, 60, 0, 0, 0, 50, 30],
    ],
    [
      'the words of Google',
      {
        usage: {
          promptTokenCount: 100,
          candidatesTokenCount: 20,
          thoughtsTokenCount: 30,
          totalTokenCount: 150,
          cachedContentTokenCount: 60,
        },
      },
      [40, 60, 0, 0, 0, 50, 30],
    ],
    [
      'an SDK in JavaScript',
      { usage: { promptTokens: 100, completionTokens: 50, totalTokens: 150, cachedInputTokens: 60 } },
      [40, 60, 0, 0, 0, 50, 0],
    ],
    ['watsonx', { usage: { input_token_count: 100, generated_token_count: 50 } }, [100, 0, 0, 0, 0, 50, 0]],
    [
      'the words of Bedrock, which leave the cache out of the input',
      { usage: { inputTokens: 40, outputTokens: 50, totalTokens: 150, cacheReadInputTokens: 60 } },
      [40, 60, 0, 0, 0, 50, 0],
    ],
    [
      'a proxy that says null, and less than nothing',
      {
        usage: {
          prompt_tokens: 100,
          completion_tokens: 50,
          total_tokens: 150,
          cached_tokens: null,
          prompt_cache_hit_tokens: -3,
          cache_read_input_tokens: 60,
          completion_tokens_details: null,
        },
      },
      [40, 60, 0, 0, 0, 50, 0],
    ],
    ['Ollama', { prompt_eval_count: 100, eval_count: 50, total_duration: 1 }, [100, 0, 0, 0, 0, 50, 0]],
    [
      'no total, reasoning',
      { usage: { prompt_tokens: 100, completion_tokens: 50, completion_tokens_details: { reasoning_tokens: 30 } } },
      [100, 0, 0, 0, 0, 80, 30],
    ],
    [
      'a total without the reasoning that is more than all',
      { usage: { prompt_tokens: 100, completion_tokens: 5, total_tokens: 105, reasoning_tokens: 300 } },
      [100, 0, 0, 0, 0, 305, 300],
    ],
    [
      'a total of which the parts explain less',
      {
        usage: {
          prompt_tokens: 100,
          completion_tokens: 5,
          total_tokens: 125,
          completion_tokens_details: { reasoning_tokens: 3 },
        },
      },
      [100, 0, 0, 0, 0, 25, 3],
    ],
    [
      'sound that the output leaves out',
      {
        usage: {
          prompt_tokens: 10,
          completion_tokens: 5,
          total_tokens: 15,
          completion_tokens_details: { audio_tokens: 90 },
        },
      },
      [10, 0, 0, 0, 0, 90, 0],
    ],
    [
      'two reports that differ',
      {
        usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
        x_groq: { usage: { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 } },
      },
      [100, 0, 0, 0, 0, 50, 0],
    ],
  ])('is charged once for each token: %s', (_, body, charged) => {
    const usage = usageIn(body as never, (body as { choices?: unknown[] }).choices ?? []);
    const read = usage?.prompt_tokens_details as Record<string, number>;
    const cached = read.cached_tokens ?? 0;
    const written = read.cache_write_tokens ?? 0;
    const plain = (usage?.prompt_tokens ?? 0) - cached - written;
    const output = usage?.completion_tokens;
    const reasoning = usage?.completion_tokens_details?.reasoning_tokens;
    const kept = [read.cache_write_1h_tokens ?? 0, read.cache_write_12h_tokens ?? 0];
    expect([plain, cached, written, ...kept, output, reasoning]).toEqual(charged);
  });
});

it('is read the same from a report in plain names, and by all names of all servers', () => {
  const tokens = fc.integer({ min: -1, max: 40 });
  const details = fc.option(
    fc.record(
      Object.fromEntries(
        ['cached_tokens', 'audio_tokens', 'reasoning_tokens', 'accepted_prediction_tokens'].map((name) => [
          name,
          fc.option(tokens),
        ]),
      ),
      { requiredKeys: [] },
    ),
  );
  const report = fc.record({
    prompt_tokens: tokens,
    completion_tokens: tokens,
    isSum: fc.boolean(),
    other: tokens,
    prompt_tokens_details: details,
    completion_tokens_details: details,
  });
  fc.assert(
    fc.property(report, ({ isSum, other, ...raw }) => {
      const given = { ...raw, total_tokens: isSum ? raw.prompt_tokens + raw.completion_tokens : other };
      // A name that nobody knows keeps the report from being plain.
      expect(readUsage(given)).toEqual(readUsage({ ...given, nobody_knows: 1 }));
    }),
    { numRuns: 2_000 },
  );
});
