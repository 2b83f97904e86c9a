import { describe, expect, it } from 'vitest';
import { hello, testGateway, testPricing } from '../support/gateway.ts';
import { chunk, completion, sse, textStream, usageChunk } from '../support/upstream.ts';

/** The answer to a JSON request whose upstream says this. */
async function answerTo(body: object | string, model = 'acme/fast', options: Parameters<typeof testGateway>[0] = {}) {
  const { post, upstream, records } = testGateway(options);
  upstream.answer({ body });
  const answer = await post({ model, messages: hello });
  expect([answer.status, answer.text.slice(0, 300)]).toEqual([200, expect.any(String)]);
  return { ...answer, record: records[0] };
}

const choiceOf = async (body: object) => (await answerTo(body)).json.choices[0];

describe('a whole answer', () => {
  it("has our id, slug, provider and time, and nothing of the upstream's names", async () => {
    const { json, headers, text } = await answerTo(completion({ provider: 'Somebody', x_request: 'kept' }));
    expect(json).toEqual({
      id: 'gen-1767225600-000000000000' + '00000001',
      object: 'chat.completion',
      created: 1_767_225_600,
      model: 'acme/fast',
      provider: 'Up',
      system_fingerprint: 'fp_upstream',
      x_request: 'kept',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hello there', refusal: null },
          logprobs: null,
          finish_reason: 'stop',
          native_finish_reason: 'stop',
        },
      ],
      usage: expect.objectContaining({ prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 }),
    });
    expect(headers.get('x-generation-id')).toBe(json.id);
    expect(text).not.toMatch(/chatcmpl|upstream-model|Somebody/);
  });
  it('always has the key system_fingerprint', async () => {
    expect((await answerTo(completion({ system_fingerprint: undefined }))).json.system_fingerprint).toBe(null);
  });
  it('has the tier that served, where the provider says which', async () => {
    expect((await answerTo(completion({ service_tier: 'flex' }))).json.service_tier).toBe('flex');
    expect((await answerTo(completion({ service_tier: null }))).json).not.toHaveProperty('service_tier');
  });
  const calledTool = { id: 'call_1', type: 'function', function: { name: 'read', arguments: '{}' } };
  it.each<[native: string, normal: string, said?: object]>([
    ['stop', 'stop'],
    ['length', 'length'],
    ['max_tokens', 'length'],
    ['tool_calls', 'tool_calls', { tool_calls: [calledTool] }],
    ['function_call', 'tool_calls', { function_call: calledTool.function }],
    ['tool_calls', 'stop'],
    ['content_filter', 'content_filter'],
    ['SAFETY', 'content_filter'],
    ['eos', 'stop'],
  ])('has finish_reason %s as %s, and the word of the provider beside it', async (native, normal, said = {}) => {
    expect(await choiceOf(completion({}, said, { finish_reason: native }))).toMatchObject({
      finish_reason: normal,
      native_finish_reason: native,
    });
  });
  it.each([null, undefined, ''])(
    'has a finish_reason: with %j it is not complete, and another endpoint serves',
    async (reason) => {
      const half = completion({}, { content: 'Half of it' }, { finish_reason: reason });
      for (const stream of [false, true]) {
        const { post, upstream, records } = testGateway({ retry: { attemptsPerEndpoint: 1 } });
        upstream.answer({ body: half }, { body: completion({}, { content: 'All of it' }) });
        const { status, text } = await post({ model: 'acme/pair', messages: hello, stream });
        expect([status, text.includes('All of it'), text.includes('Half')]).toEqual([200, true, false]);
        // The half has been paid for.
        expect(records[0]?.attempts).toMatchObject([{ status: 502, costNanoUsd: expect.any(Number) }, { status: 200 }]);
        expect(records[0]?.attempts[0]?.costNanoUsd).toBeGreaterThan(0);
      }
    },
  );
  it('needs no finish_reason of a provider that is known to leave it out', async () => {
    const quirks = { finishesWithoutReason: true };
    const { post, upstream } = testGateway({
      providers: { up: { baseUrl: 'https://up.test/v1', quirks } },
      models: [],
    });
    upstream.answer({ body: completion({}, {}, { finish_reason: null }) });
    expect((await post({ model: 'up/x', messages: hello })).json.choices[0]).toMatchObject({
      finish_reason: 'stop',
      native_finish_reason: null,
    });
  });
  it('has tool calls with id, type and arguments as text, however the provider writes them', async () => {
    const calls = [
      { id: 'call_a', type: 'function', function: { name: 'one', arguments: '{"x":1}' } },
      { index: 1, function: { name: 'two', arguments: { y: 2 } } },
      { id: '', type: 'function', function: { name: 'three' } },
    ];
    const choice = await choiceOf(completion({}, { content: null, tool_calls: calls }, { finish_reason: 'stop' }));
    expect(choice?.finish_reason).toBe('tool_calls');
    expect(choice?.message.tool_calls).toEqual([
      { id: 'call_a', type: 'function', function: { name: 'one', arguments: '{"x":1}' } },
      { id: 'call_1', type: 'function', function: { name: 'two', arguments: '{"y":2}' } },
      { id: 'call_2', type: 'function', function: { name: 'three', arguments: '{}' } },
    ]);
  });
  it('has reasoning under one name', async () => {
    const choice = await choiceOf(
      completion({}, { reasoning_content: 'Hm', tool_calls: null, annotations: null, audio: null }),
    );
    expect(choice?.message).toEqual({ role: 'assistant', content: 'Hello there', refusal: null, reasoning: 'Hm' });
  });
  it('has refusal, logprobs, audio and annotations as they came', async () => {
    const logprobs = { content: [{ token: 'a', logprob: -0.1, bytes: [97], top_logprobs: [] }], refusal: null };
    const message = {
      content: null,
      refusal: 'No',
      audio: { id: 'a1', data: 'AA==', transcript: 'x', expires_at: 5 },
      annotations: [
        {
          type: 'url_citation',
          url_citation: { url: 'https://x.test', title: 'x', content: 'y', start_index: 0, end_index: 1 },
        },
      ],
    };
    const choice = await choiceOf(completion({}, message, { logprobs }));
    expect(choice).toMatchObject({ message, logprobs });
  });
  it('has text where the provider sent a list of parts', async () => {
    const choice = await choiceOf(
      completion(
        {},
        {
          content: [
            { type: 'text', text: 'Hel' },
            { type: 'text', text: 'lo' },
          ],
        },
      ),
    );
    expect(choice?.message.content).toBe('Hello');
  });
  it('has every choice', async () => {
    const choices = ['one', 'two'].map((content, index) => ({
      index,
      message: { role: 'assistant', content },
      finish_reason: 'stop',
    }));
    expect((await answerTo(completion({ choices }))).json.choices.map(({ message }) => message.content)).toEqual([
      'one',
      'two',
    ]);
  });
  it('is put together where the upstream streams although JSON was asked', async () => {
    const body = [
      ': comment\n\n',
      sse(
        chunk({ role: 'assistant', content: '' }),
        chunk({ reasoning_content: 'Hm' }),
        chunk({ content: 'Hel' }),
        chunk({ content: 'lo' }),
      ),
      sse(
        chunk({ tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a"' } }] }),
      ),
      sse(
        chunk({ tool_calls: [{ index: 0, function: { arguments: ':1}' } }] }),
        chunk({}, 'tool_calls'),
        usageChunk(),
        '[DONE]',
      ),
    ].join('');
    const { json } = await answerTo(body);
    expect(json.choices).toEqual([
      {
        index: 0,
        message: {
          role: 'assistant',
          content: 'Hello',
          refusal: null,
          reasoning: 'Hm',
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }],
        },
        finish_reason: 'tool_calls',
        native_finish_reason: 'tool_calls',
        logprobs: null,
      },
    ]);
    expect(json.usage).toMatchObject({ prompt_tokens: 10, completion_tokens: 2 });
  });
  it('is made a stream where the upstream sends JSON although a stream was asked', async () => {
    const { post, upstream } = testGateway();
    upstream.answer({ body: completion({}, { reasoning_content: 'Hm' }) });
    const { chunks } = await post({ model: 'acme/fast', messages: hello, stream: true });
    expect(
      chunks.map(({ choices, usage }) => [choices[0]?.delta, choices[0]?.finish_reason, usage?.total_tokens]),
    ).toEqual([
      [{ role: 'assistant', content: 'Hello there', reasoning: 'Hm' }, null, undefined],
      [{}, 'stop', undefined],
      [undefined, undefined, 12],
    ]);
  });
});

describe('what an answer cost', () => {
  it('is exact, each kind of token at its own price', async () => {
    const usage = {
      prompt_tokens: 1000,
      completion_tokens: 300,
      total_tokens: 1300,
      prompt_tokens_details: { cached_tokens: 600, cache_write_tokens: 100 },
      completion_tokens_details: { reasoning_tokens: 200 },
    };
    // 600 x 0.5 + 100 x 2.5 + 300 x 2 = 1150; 200 x 10 + 100 x 8 = 2800; in millionths of a dollar.
    const { json, record } = await answerTo(completion({ usage }));
    expect(json.usage).toEqual({
      ...usage,
      cost: 0.00395,
      is_byok: false,
      cost_details: {
        upstream_inference_cost: null,
        upstream_inference_prompt_cost: 0.00115,
        upstream_inference_completions_cost: 0.0028,
      },
    });
    expect(record).toMatchObject({ costNanoUsd: 3_950_000, isEstimated: false, outcome: 'ok', status: 200 });
  });
  it("counts cached tokens at the prompt's price where no other is known, and per request", async () => {
    const models = [
      {
        slug: 'acme/fast',
        endpoints: [{ provider: 'up', model: 'm', pricing: { prompt: '0.000002', completion: '0', request: '0.01' } }],
      },
    ];
    const usage = {
      prompt_tokens: 100,
      completion_tokens: 5,
      total_tokens: 105,
      prompt_tokens_details: { cached_tokens: 40 },
    };
    const { json } = await answerTo(completion({ usage }), 'acme/fast', { models });
    expect(json.usage?.cost).toBe(0.0102);
  });
  it('is left out, not null, where the price is not known', async () => {
    const { json, record } = await answerTo(completion(), 'acme/free');
    expect(json.usage).not.toHaveProperty('cost');
    expect(json.usage).not.toHaveProperty('cost_details');
    expect(record?.costNanoUsd).toBe(null);
  });
  it('is estimated, and says so, where the provider reports no usage', async () => {
    const { json, record } = await answerTo(completion({ usage: undefined }));
    expect(json.usage).toMatchObject({ estimated: true, cost: expect.any(Number) });
    const { prompt_tokens: prompt = 0, completion_tokens: completed = 0, cost } = json.usage ?? {};
    expect(prompt).toBeGreaterThan(0);
    expect(completed).toBeGreaterThan(0);
    expect(cost).toBeCloseTo(prompt * Number(testPricing.prompt) + completed * Number(testPricing.completion), 12);
    expect(record?.isEstimated).toBe(true);
  });
  it.each([
    ['negative', { prompt_tokens: -5, completion_tokens: 3, total_tokens: -2 }],
    ['fractional', { prompt_tokens: 1.5, completion_tokens: 3, total_tokens: 4 }],
    ['textual', { prompt_tokens: '10', completion_tokens: '3', total_tokens: '13' }],
    ['huge', { prompt_tokens: 1e15, completion_tokens: 3, total_tokens: 1e15 }],
    ['infinite', '{"prompt_tokens":1e999,"completion_tokens":1,"total_tokens":1}'],
    ['a list', []],
    ['incomplete', { prompt_tokens: 5 }],
  ])('is never taken from usage that is %s', async (_, usage) => {
    const body =
      typeof usage === 'string'
        ? JSON.stringify(completion({ usage: '@' })).replace('"@"', usage)
        : completion({ usage });
    const { json } = await answerTo(body);
    expect(json.usage?.estimated).toBe(true);
    expect(json.usage?.cost).toBeGreaterThan(0);
    expect(json.usage?.cost).toBeLessThan(0.001);
  });
  it('is never more than the whole through its details', async () => {
    const usage = {
      prompt_tokens: 10,
      completion_tokens: 2,
      total_tokens: 12,
      prompt_tokens_details: { cached_tokens: 50, cache_write_tokens: -3 },
      completion_tokens_details: { reasoning_tokens: 99 },
    };
    const { json } = await answerTo(completion({ usage }));
    // 10 x 0.5 + 2 x 8, and 99 x 10 of reasoning: it is more than all output, so it is not in it.
    expect(json.usage).toMatchObject({
      cost: 0.001011,
      prompt_tokens_details: { cached_tokens: 10 },
      completion_tokens: 101,
      completion_tokens_details: { reasoning_tokens: 99 },
    });
  });
  it('counts reasoning that the provider left out of the completion', async () => {
    const usage = {
      prompt_tokens: 10,
      completion_tokens: 2,
      total_tokens: 112,
      completion_tokens_details: { reasoning_tokens: 100 },
    };
    const { json } = await answerTo(completion({ usage }));
    expect(json.usage).toMatchObject({ completion_tokens: 102, total_tokens: 112, cost: 0.00002 + 0.000016 + 0.001 });
  });
});

it('never sends a whole stream where JSON was asked, nor JSON where a stream was', async () => {
  const { post, upstream } = testGateway();
  upstream.answer({ body: textStream('Hi') }, { body: completion() });
  expect((await post({ model: 'acme/fast', messages: hello })).headers.get('content-type')).toBe('application/json');
  expect((await post({ model: 'acme/fast', messages: hello, stream: true })).headers.get('content-type')).toBe(
    'text/event-stream',
  );
});
