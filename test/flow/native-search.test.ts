import { describe, expect, it } from 'vitest';
import { askResponses } from '../support/ask-responses.ts';
import { checkError, type TestGateway, testGateway, testPricing } from '../support/gateway.ts';
import { payloadsOf } from '../support/recordings.ts';
import { completion } from '../support/upstream.ts';

const messages = [{ role: 'user', content: 'How is the weather in Berlin?' }];
const native = { id: 'web', engine: 'native', user_location: { type: 'approximate', country: 'DE' } };
const ask = { model: 'acme/m', messages, plugins: [native] };
const page = 'https://weather.test/berlin';

/** A gateway whose model is served by one provider that speaks a dialect. */
function speaking(dialect: string, model: string, endpoint: object = {}): TestGateway {
  return testGateway({
    providers: { up: { baseUrl: 'https://up.test/v1', apiKey: 'sk-up', dialect: dialect as never } },
    models: [{ slug: 'acme/m', endpoints: [{ provider: 'up', model, pricing: testPricing, ...endpoint }] }],
  });
}

const event = (value: { type: string }) => `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`;

describe('a search by Claude', () => {
  const citation = {
    type: 'web_search_result_location',
    url: page,
    title: 'Berlin',
    cited_text: 'Sunny, 20 degrees',
    encrypted_index: 'x',
  };
  const search = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'weather Berlin' } };
  const found = {
    type: 'web_search_tool_result',
    tool_use_id: 'srvtoolu_1',
    content: [{ type: 'web_search_result', url: page, title: 'Berlin', encrypted_content: 'y' }],
  };
  const usage = { input_tokens: 3_000, output_tokens: 20, server_tool_use: { web_search_requests: 1 } };
  const annotation = {
    type: 'url_citation',
    url_citation: { url: page, title: 'Berlin', content: 'Sunny, 20 degrees', start_index: 10, end_index: 25 },
  };

  it('is a tool of the provider, and its sources are annotations', async () => {
    const { post, upstream } = speaking('anthropic-messages', 'claude-sonnet-4-5', {
      pricing: { ...testPricing, webSearch: '0.01' },
    });
    upstream.always({
      body: {
        type: 'message',
        role: 'assistant',
        content: [
          { type: 'text', text: 'I look it ' },
          search,
          found,
          { type: 'text', text: 'up: it is sunny', citations: [citation] },
        ],
        stop_reason: 'end_turn',
        usage,
      },
    });
    const { json } = await post(ask, { 'x-service-metadata': 'enabled' });
    expect(upstream.sent[0]?.body.tools).toEqual([
      {
        type: 'web_search_20250305',
        name: 'web_search',
        max_uses: 3,
        user_location: { type: 'approximate', country: 'DE' },
      },
    ]);
    expect(json.choices?.[0]?.message).toMatchObject({
      content: 'I look it up: it is sunny',
      annotations: [annotation],
    });
    expect(json.usage).toMatchObject({ server_tool_use_details: { web_search_requests: 1 } });
    expect(json.usage?.cost).toBeCloseTo(3_000 * 0.000002 + 20 * 0.000008 + 0.01, 12);
    expect(json.service_metadata?.pipeline).toMatchObject([{ name: 'web-search', data: { engine: 'native' } }]);
  });
  it('is the same in a stream', async () => {
    const { post, upstream } = speaking('anthropic-messages', 'claude-sonnet-4-5');
    const block = (index: number, content_block: object, ...deltas: object[]) => [
      event({ type: 'content_block_start', index, content_block } as never),
      ...deltas.map((delta) => event({ type: 'content_block_delta', index, delta } as never)),
      event({ type: 'content_block_stop', index } as never),
    ];
    const text = { type: 'text', text: '' };
    upstream.always({
      headers: { 'content-type': 'text/event-stream' },
      body: [
        event({ type: 'message_start', message: { role: 'assistant', content: [], usage } } as never),
        ...block(0, text, { type: 'text_delta', text: 'I look it ' }),
        ...block(1, { ...search, input: {} }, { type: 'input_json_delta', partial_json: '{"query":"weather"}' }),
        ...block(2, found),
        ...block(
          3,
          { ...text, citations: [] },
          { type: 'citations_delta', citation },
          { type: 'text_delta', text: 'up: it is sunny' },
        ),
        event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage } as never),
        event({ type: 'message_stop' }),
      ].join(''),
    });
    const { text: streamed } = await post({ ...ask, stream: true });
    const deltas = payloadsOf(streamed)
      .filter((payload) => payload.startsWith('{'))
      .map((payload) => JSON.parse(payload).choices[0]?.delta ?? {});
    expect(deltas.map(({ content = '' }) => content).join('')).toBe('I look it up: it is sunny');
    expect(deltas.flatMap(({ annotations = [] }) => annotations)).toEqual([annotation]);
    expect(deltas.some(({ tool_calls: calls }) => calls !== undefined)).toBe(false);
  });
  it('is held for: each search reads the prompt again', async () => {
    const { post, call, upstream, records } = speaking('anthropic-messages', 'claude-sonnet-4-5', {
      pricing: { ...testPricing, webSearch: '0.01' },
      contextLength: 1_000_000,
    });
    await call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 100 });
    const words = 700_000;
    const bill = { input_tokens: words * 4 + 90_000, output_tokens: 500, server_tool_use: { web_search_requests: 3 } };
    upstream.always({
      body: {
        type: 'message',
        role: 'assistant',
        content: [{ type: 'text', text: 'Sunny' }],
        stop_reason: 'end_turn',
        usage: bill,
      },
    });
    const { status } = await post({ ...ask, messages: [{ role: 'user', content: 'a'.repeat(words) }] });
    expect(status).toBe(200);
    expect(records[0]?.costNanoUsd).toBe((words * 4 + 90_000) * 2_000 + 500 * 8_000 + 3 * 10_000_000);
    expect(records[0]?.costNanoUsd).toBeLessThanOrEqual(records[0]?.heldNanoUsd ?? 0);
  });
  it('is a 400 under a budget where the price of a search is not known', async () => {
    const { post, call, upstream } = speaking('anthropic-messages', 'claude-sonnet-4-5');
    await call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 100 });
    for (const body of [ask, { model: 'acme/m', messages, web_search_options: {} }]) {
      const { status, json } = await post(body);
      checkError(400, json);
      expect([status, json.error.message]).toEqual([400, expect.stringContaining('web searches')]);
    }
    expect(upstream.sent).toEqual([]);
    upstream.always({
      body: { type: 'message', role: 'assistant', content: [], stop_reason: 'end_turn', usage },
    });
    expect((await post({ model: 'acme/m', messages })).status).toBe(200);
  });
  it('comes beside functions, and not where no tool may be called', async () => {
    const { post, upstream } = speaking('anthropic-messages', 'claude-sonnet-4-5');
    const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }];
    upstream.always({
      body: { type: 'message', role: 'assistant', content: [], stop_reason: 'end_turn', usage },
    });
    await post({ ...ask, tools });
    await post({ ...ask, tools, tool_choice: 'none' });
    expect(upstream.sent.map(({ body }) => (body.tools as { name: string }[]).map(({ name }) => name))).toEqual([
      ['look', 'web_search'],
      ['look'],
    ]);
  });
});

describe('a search by Gemini', () => {
  const body = {
    candidates: [
      {
        content: { role: 'model', parts: [{ text: 'It is sunny.' }] },
        finishReason: 'STOP',
        groundingMetadata: {
          webSearchQueries: ['weather Berlin'],
          groundingChunks: [{ web: { uri: page, title: 'Berlin' } }],
          groundingSupports: [{ segment: { startIndex: 6, endIndex: 11, text: 'sunny' }, groundingChunkIndices: [0] }],
        },
      },
    ],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 4, totalTokenCount: 14 },
  };

  it('is a tool of the provider; what it cannot be told is listed', async () => {
    const { post, upstream, records } = speaking('google-generate-content', 'gemini-2.5-pro');
    upstream.always({ body });
    const { json } = await post(ask);
    expect(upstream.sent[0]?.body.tools).toEqual([{ googleSearch: {} }]);
    expect(json.choices?.[0]?.message?.annotations).toEqual([
      { type: 'url_citation', url_citation: { url: page, title: 'Berlin', start_index: 6, end_index: 11 } },
    ]);
    expect(json.usage).toMatchObject({ server_tool_use_details: { web_search_requests: 1 } });
    expect(records[0]?.generations[0]?.attempts.at(-1)?.dropped).toEqual(['web_search_options.user_location']);
  });
});

describe('a search by a model of OpenAI', () => {
  const body = {
    status: 'completed',
    output: [
      { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'weather' } },
      {
        type: 'message',
        role: 'assistant',
        content: [
          {
            type: 'output_text',
            text: 'It is sunny.',
            annotations: [{ type: 'url_citation', url: page, title: 'Berlin', start_index: 6, end_index: 11 }],
          },
        ],
      },
    ],
    usage: { input_tokens: 10, output_tokens: 4, total_tokens: 14 },
  };

  it('is a tool of the provider, with a most of its calls', async () => {
    const { post, upstream } = speaking('openai-responses', 'gpt-5-mini');
    upstream.always({ body });
    const { json } = await post({ ...ask, max_tool_calls: 2 });
    expect(upstream.sent[0]?.body).toMatchObject({
      tools: [{ type: 'web_search', user_location: { type: 'approximate', country: 'DE' } }],
      max_tool_calls: 2,
    });
    expect(json.choices?.[0]?.message?.annotations).toMatchObject([
      { type: 'url_citation', url_citation: { url: page, start_index: 6, end_index: 11 } },
    ]);
  });
  it('works for Responses requests, too', async () => {
    const test = speaking('openai-responses', 'gpt-5-mini');
    test.upstream.always({ body });
    const { status, text } = await askResponses(test, { model: 'acme/m', input: 'Hi', plugins: [native] });
    expect([status, text]).toEqual([200, expect.stringContaining(page)]);
    expect(test.upstream.sent[0]?.body).toMatchObject({ tools: [{ type: 'web_search' }], max_tool_calls: 3 });
  });
});

describe('which models search by themselves', () => {
  it.each([
    ['anthropic-messages', 'claude-3-haiku'],
    ['google-generate-content', 'gemma-3-27b'],
    ['openai-responses', 'gpt-oss-120b'],
    ['bedrock-converse', 'anthropic.claude-sonnet-4-5-v1:0'],
    ['openai-chat', 'gpt-4o'],
  ])('%s: not %s, which is a 400', async (dialect, model) => {
    const { post, upstream } = speaking(dialect, model);
    const { status, json } = await post(ask);
    checkError(400, json);
    expect([status, json.error.message, upstream.sent.length]).toEqual([
      400,
      'plugins: no endpoint of this model is known to search the web by itself',
      0,
    ]);
  });
  it('are the only ones that serve', async () => {
    const { post, upstream } = testGateway({
      providers: {
        up: { baseUrl: 'https://up.test/v1', apiKey: 'sk-up' },
        alt: { baseUrl: 'https://alt.test/v1', apiKey: 'sk-alt', dialect: 'anthropic-messages' },
      },
      models: [
        {
          slug: 'acme/m',
          endpoints: [
            { provider: 'up', model: 'claude-sonnet-4-5', pricing: testPricing },
            { provider: 'alt', model: 'claude-sonnet-4-5', pricing: testPricing },
          ],
        },
      ],
    });
    upstream.always({ status: 500, body: completion() });
    expect((await post(ask)).status).toBe(502);
    expect(new Set(upstream.sent.map(({ url }) => new URL(url).host))).toEqual(new Set(['alt.test']));
    const { json } = await post({ ...ask, plugins: undefined });
    expect(json.error).toBeDefined();
    expect(upstream.sent.some(({ url }) => url.includes('up.test'))).toBe(true);
  });
});
