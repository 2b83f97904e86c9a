// Loaded beforehand: a guardrail loads it when it is first needed, which takes time that a manual clock knows nothing of.
import 're2js';
import { createOpenAI } from '@ai-sdk/openai';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { textGuardrail } from '../../src/guardrails/text-guardrail.ts';
import { textCompletionEventSchema, textCompletionResultSchema } from '../../src/schema/completions/result.ts';
import { nextTurn, testGateway, testKey } from '../support/gateway.ts';
import { chunk, completion, errorBody, sse, textStream, usageChunk } from '../support/upstream.ts';

// biome-ignore lint/suspicious/noExplicitAny: of any response, for a test to look into
type Json = any;

const key = { authorization: `Bearer ${testKey}` };
const body = { model: 'acme/fast', prompt: 'Say hello' };

function completions(options: Parameters<typeof testGateway>[0] = {}) {
  const made = testGateway(options);
  made.upstream.always({ body: completion() });
  const ask = async (more: object = {}, headers: Record<string, string> = {}, path = '/completions') => {
    const response = await made.call('POST', path, { ...body, ...more }, { ...key, ...headers });
    if (response.status === 200 && path === '/completions') textCompletionResultSchema().parse(response.json);
    return response;
  };
  const client = new OpenAI({
    baseURL: 'http://gateway.test/v1',
    apiKey: testKey,
    maxRetries: 0,
    fetch: made.gateway.fetch,
  });
  return { ...made, ask, client };
}

/** The stream of a request, and its events. */
async function streamed(upstreamBody: readonly string[], more: object = {}, headers: Record<string, string> = {}) {
  const test = completions();
  test.upstream.always({ body: upstreamBody });
  const response = await test.run(
    test.gateway.fetch('http://gateway.test/v1/completions', {
      method: 'POST',
      headers: { ...key, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ ...body, stream: true, ...more }),
    }),
  );
  const text = await test.run(response.text());
  expect(response.status, text).toBe(200);
  const datas = text
    .split('\n\n')
    .filter((frame) => frame.startsWith('data: '))
    .map((frame) => frame.slice('data: '.length));
  const events: Json[] = datas.filter((data) => data !== '[DONE]').map((data) => JSON.parse(data));
  for (const event of events) textCompletionEventSchema().parse(event);
  return { ...test, text, events, isDone: datas.at(-1) === '[DONE]' };
}

async function sentFor(more: object): Promise<Json> {
  const { ask, upstream } = completions();
  const { status, text } = await ask(more);
  expect(status, text).toBe(200);
  return upstream.sent[0]?.body;
}

const suffixed = { prompt: 'def area(w, h):\n    return ', suffix: '\n\nprint(area(2, 3))' };
const tokens = (...names: string[]) => ({
  content: names.map((token, at) => ({
    token,
    logprob: -at,
    bytes: null,
    top_logprobs: [{ token: 'other', logprob: -3, bytes: null }],
  })),
});

describe('POST /completions', () => {
  it('answers with a text, what it cost, and who served', async () => {
    const { ask, records, upstream } = completions();
    const { json, headers } = await ask({}, { 'x-service-metadata': 'enabled' });
    expect(json).toMatchObject({
      id: headers.get('x-generation-id'),
      object: 'text_completion',
      model: 'acme/fast',
      provider: expect.any(String),
      choices: [{ index: 0, text: 'Hello there', logprobs: null, finish_reason: 'stop', native_finish_reason: 'stop' }],
      usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12, cost: expect.any(Number) },
      service_metadata: { requested: 'acme/fast' },
    });
    expect(upstream.sent[0]?.url).toMatch(/\/chat\/completions$/);
    expect(records[0]).toMatchObject({ operation: 'createCompletion', outcome: 'ok', streamed: false });
    expect(records[0]?.costNanoUsd).toBe(Math.round(json.usage.cost * 1e9));
  });
  it('sends the prompt as the message of a user, and every other field as chat has it', async () => {
    const fields = {
      temperature: 0.5,
      top_p: 0.9,
      top_k: 5,
      n: 2,
      max_tokens: 50,
      stop: ['\n'],
      seed: 7,
      frequency_penalty: 1,
      presence_penalty: -1,
      logit_bias: { 50256: -100 },
      user: 'ada',
      some_field: 1,
    };
    const ours = { session_id: 's', provider: { sort: 'price' }, trace: { trace_id: 't' }, route: 'fallback' };
    const sent = await sentFor({ ...fields, ...ours, echo: null, suffix: null, best_of: 2, logprobs: 3 });
    expect(sent).toEqual({
      ...fields,
      model: sent.model,
      messages: [{ role: 'user', content: 'Say hello' }],
      logprobs: true,
      top_logprobs: 3,
    });
  });
  it('takes one prompt in a list', async () => {
    expect((await sentFor({ prompt: ['Hi'] })).messages).toEqual([{ role: 'user', content: 'Hi' }]);
  });
  it('may be 16 tokens long where the request names no length', async () => {
    expect((await sentFor({})).max_tokens).toBe(16);
    expect((await sentFor({ max_tokens: null })).max_tokens).toBe(16);
    expect((await sentFor({ max_tokens: 99 })).max_tokens).toBe(99);
    expect((await sentFor({ max_completion_tokens: 40 })).max_tokens).toBe(40);
  });
  it('asks for the text between prompt and suffix, also where nothing follows', async () => {
    const { messages } = await sentFor(suffixed);
    expect(messages.map(({ role }: Json) => role)).toEqual(['system', 'user']);
    expect(messages[0].content).toMatch(/^You complete a text at a cursor/);
    expect(messages[1].content).toBe(
      '<after_cursor>\n\nprint(area(2, 3))</after_cursor>\n<before_cursor>def area(w, h):\n    return </before_cursor>',
    );
    expect((await sentFor({ prompt: '', suffix: 'x' })).messages[1].content).toContain(
      '<before_cursor></before_cursor>',
    );
    expect((await sentFor({ suffix: '' })).messages).toHaveLength(2);
  });
  it.each([
    ['no prompt in a list', { prompt: [] }, /prompt: expected at least 1 text/],
    ['ids of tokens', { prompt: [1, 2] }, /prompt\[0\]: expected a text: ids of tokens .* are not read/],
    ['lists of ids', { prompt: [[1, 2]] }, /prompt\[0\]: expected a text: ids of tokens/],
    ['no prompt', { prompt: null }, /prompt: expected/],
    ['an empty prompt', { prompt: '' }, /prompt: expected a text that is not empty/],
    ['the best of several', { best_of: 3 }, /best_of: expected the same number as n/],
    ['the best of more than n', { best_of: 3, n: 2 }, /best_of: expected the same number as n/],
    ['an echo with probabilities', { echo: true, logprobs: 0 }, /echo: must not come with logprobs/],
    ['an echo of one side', { echo: true, suffix: 'x' }, /echo: must not come with suffix/],
    ['no tokens', { max_tokens: 0 }, /max_tokens: expected at least 1/],
    ['probabilities as chat has them', { logprobs: true }, /logprobs: expected integer/],
    ['a number of probabilities as chat has it', { top_logprobs: 2 }, /top_logprobs: expected the number in logprobs/],
    ['messages', { messages: [] }, /messages: expected no messages, but a prompt; or send it to \/chat\/completions/],
    ['tools', { tools: [] }, /tools: a text completion calls no tools/],
    ['functions', { functions: [{}] }, /functions: a text completion calls no functions/],
    ['sound', { modalities: ['audio'] }, /modalities: a text completion is a text alone/],
    ['no number of completions', { n: 0 }, /n: expected at least 1/],
    ['too many completions', { n: 1e9 }, /n: expected at most 128/],
  ])('refuses %s, and says so', async (_, more, message) => {
    const { ask, upstream } = completions();
    for (const path of ['/completions', '/completions/explain']) {
      const { status, json } = await ask(more, {}, path);
      expect([status, json.error.code]).toEqual([400, 400]);
      expect(json.error.message).toMatch(message);
    }
    expect(upstream.sent).toEqual([]);
  });
  it('refuses a contradiction as chat does', async () => {
    const { ask } = completions();
    const { status } = await ask({ reasoning: { effort: 'low' }, reasoning_effort: 'high' });
    expect(status).toBe(422);
  });
  it('names what had no effect', async () => {
    const { ask, upstream } = completions({
      providers: { up: { baseUrl: 'https://up.test/v1', dialect: 'anthropic-messages' } },
      models: [{ slug: 'acme/fast', endpoints: [{ provider: 'up', model: 'up-fast' }] }],
    });
    const content = [{ type: 'text', text: 'Hi' }];
    const usage = { input_tokens: 1, output_tokens: 1 };
    upstream.always({
      body: { id: 'm', type: 'message', role: 'assistant', content, stop_reason: 'end_turn', usage },
    });
    const { status, headers, json } = await ask({ logit_bias: { 5: 1 }, logprobs: 2 });
    expect([status, json.choices[0]]).toMatchObject([200, { text: 'Hi', logprobs: null }]);
    expect(headers.get('x-service-dropped')?.split(', ').sort()).toEqual(['logit_bias', 'logprobs', 'top_logprobs']);
  });
  it('leaves thoughts out of the text, and counts them', async () => {
    const { ask, upstream } = completions();
    const usage = {
      prompt_tokens: 10,
      completion_tokens: 9,
      total_tokens: 19,
      completion_tokens_details: { reasoning_tokens: 7 },
    };
    upstream.always({ body: completion({ usage }, { reasoning: 'Let me think' }) });
    const { json, text } = await ask();
    expect(text).not.toContain('Let me think');
    expect(json.choices[0].text).toBe('Hello there');
    expect(json.usage.completion_tokens_details.reasoning_tokens).toBe(7);
  });
  it('says `content_filter` for a refusal, whose words are no completion', async () => {
    const { ask, upstream } = completions();
    upstream.always({ body: completion({}, { content: null, refusal: 'I cannot' }) });
    expect((await ask()).json.choices[0]).toMatchObject({ text: '', finish_reason: 'content_filter' });
    const { events } = await streamed([sse(chunk({ refusal: 'I cannot' }), chunk({}, 'stop'), '[DONE]')]);
    expect(events.map(({ choices }) => choices)).toMatchObject([[{ text: '', finish_reason: 'content_filter' }]]);
  });
  it('fails where the model calls a tool or draws: no text holds that, and it is paid for', async () => {
    const calls = [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }];
    const images = [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }];
    for (const said of [{ tool_calls: calls }, { images }]) {
      const { ask, upstream, records } = completions();
      upstream.always({ body: completion({}, said) });
      const { status, json } = await ask();
      expect([status, json.error.message]).toEqual([502, expect.stringMatching(/a text completion cannot hold/)]);
      expect(records[0]?.costNanoUsd).toBeGreaterThan(0);
    }
    const { events, isDone } = await streamed([
      sse(
        chunk({ content: 'Hi' }),
        chunk({ tool_calls: [{ index: 0, ...calls[0] }] }),
        chunk({}, 'tool_calls'),
        '[DONE]',
      ),
    ]);
    expect([isDone, events.at(-1).choices, events.at(-1).error.code]).toEqual([false, undefined, 502]);
  });
  it('begins with the prompt where an echo is asked for', async () => {
    const { ask } = completions();
    expect((await ask({ echo: true })).json.choices[0].text).toBe('Say helloHello there');
    const { events } = await streamed(textStream('Hel', 'lo'), { echo: true });
    expect(events.map(({ choices }) => choices[0].text)).toEqual(['Say helloHel', 'lo', '']);
    const silent = await streamed([sse(chunk({}, 'stop'), '[DONE]')], { echo: true });
    expect(silent.events.map(({ choices }) => choices[0].text)).toEqual(['Say hello']);
  });
  it('shows probabilities as lists, with the place of each token', async () => {
    const { ask, upstream } = completions();
    upstream.always({ body: completion({}, { content: '🦊ab' }, { logprobs: tokens('🦊', 'a', 'b') }) });
    const logprobs = {
      tokens: ['🦊', 'a', 'b'],
      token_logprobs: [-0, -1, -2],
      top_logprobs: [
        { other: -3, '🦊': -0 },
        { other: -3, a: -1 },
        { other: -3, b: -2 },
      ],
      text_offset: [0, 1, 2],
    };
    expect((await ask({ logprobs: 1 })).json.choices[0].logprobs).toEqual(JSON.parse(JSON.stringify(logprobs)));
    const { events } = await streamed(
      [
        sse(
          {
            ...chunk({ content: '🦊a' }),
            choices: [{ index: 0, delta: { content: '🦊a' }, logprobs: tokens('🦊', 'a') }],
          },
          { ...chunk({ content: 'b' }), choices: [{ index: 0, delta: { content: 'b' }, logprobs: tokens('b') }] },
          chunk({}, 'stop'),
          '[DONE]',
        ),
      ],
      { logprobs: 1 },
    );
    expect(events.map(({ choices }) => choices[0].logprobs?.text_offset)).toEqual([[0, 1], [2], undefined]);
  });
  it('is explained without a call, as chat is', async () => {
    const { ask, upstream } = completions();
    const { status, json } = await ask(suffixed, {}, '/completions/explain');
    expect([status, json.data.requested, json.data.candidates[0].max_completion_tokens]).toEqual([
      200,
      'acme/fast',
      16,
    ]);
    expect(upstream.sent).toEqual([]);
  });
  it('holds money, and is refused where none is left', async () => {
    const { ask, call, upstream } = completions();
    await call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 0.000001 });
    expect((await ask({ max_tokens: 1000 })).status).toBe(402);
    expect(upstream.sent).toEqual([]);
  });
  it('is seen by guardrails: prompt and suffix, the text, and the echo', async () => {
    const guard = (action: 'block' | 'redact') => ({
      guardrails: [textGuardrail({ id: 'pii', patterns: [{ builtin: 'email', action }] })],
    });
    for (const more of [{ prompt: 'Write to bob@example.com' }, { suffix: 'bob@example.com' }]) {
      const blocking = completions(guard('block'));
      expect((await blocking.ask(more)).status).toBe(403);
      expect(blocking.upstream.sent).toEqual([]);
      const redacting = completions(guard('redact'));
      expect((await redacting.ask(more)).status).toBe(200);
      expect(redacting.upstream.sent[0]?.text).not.toContain('bob@example.com');
    }
    const { ask, upstream } = completions(guard('redact'));
    const echoed = await ask({ prompt: 'Write to bob@example.com', echo: true });
    expect(echoed.json.choices[0].text).toMatch(/^Write to (?!bob).+Hello there$/);
    upstream.always({ body: completion({}, { content: 'Ask bob@example.com' }) });
    expect((await ask()).text).not.toContain('bob@example.com');
  });
  it('has the error of chat in the envelope of chat', async () => {
    const { ask, call } = completions();
    expect((await call('POST', '/completions', body, { authorization: 'Bearer no' })).json).toMatchObject({
      error: { code: 401, metadata: { error_type: expect.any(String) } },
    });
    expect((await call('POST', '/completions', body, { 'x-api-key': 'no', authorization: '' })).json.error.code).toBe(
      401,
    );
    expect((await ask({ model: 'acme/none' })).json.error.code).toBe(400);
    expect((await call('GET', '/completions')).status).toBe(405);
  });
});

describe('a stream of POST /completions', () => {
  it('ends with one event that has the reasons, the tokens and the cost, and with the sentinel', async () => {
    const { events, isDone, records } = await streamed(
      textStream('Hel', 'lo'),
      {},
      { 'x-service-metadata': 'enabled' },
    );
    expect(isDone).toBe(true);
    expect(events.map(({ object, choices }) => [object, choices])).toMatchObject([
      ['text_completion', [{ index: 0, text: 'Hel', logprobs: null, finish_reason: null }]],
      ['text_completion', [{ index: 0, text: 'lo', logprobs: null, finish_reason: null }]],
      ['text_completion', [{ index: 0, text: '', finish_reason: 'stop', native_finish_reason: 'stop' }]],
    ]);
    expect(events.map((event) => ['usage' in event, 'service_metadata' in event])).toEqual([
      [false, false],
      [false, false],
      [true, true],
    ]);
    expect(records[0]?.costNanoUsd).toBe(Math.round(events.at(-1).usage.cost * 1e9));
    expect(new Set(events.map(({ id }) => id)).size).toBe(1);
  });
  it('keeps several completions apart', async () => {
    const of = (index: number, content: string, finish: string | null = null) => ({
      ...chunk({}),
      choices: [{ index, delta: { content }, finish_reason: finish }],
    });
    const { events } = await streamed(
      [sse(of(1, 'b'), of(0, 'a'), of(0, '', 'stop'), of(1, 'B', 'length'), usageChunk(), '[DONE]')],
      { n: 2, echo: true, prompt: '>' },
    );
    const texts = ['', ''];
    for (const { choices } of events) for (const { index, text } of choices) texts[index] += text;
    expect(texts).toEqual(['>a', '>bB']);
    expect(events.at(-1).choices.map((one: Json) => [one.index, one.finish_reason])).toEqual([
      [0, 'stop'],
      [1, 'length'],
    ]);
  });
  it('shows the body that the provider got, where that is asked for', async () => {
    const { events } = await streamed(textStream('Hi'), { debug: { echo_upstream_body: true } });
    expect(events[0]).toMatchObject({ choices: [], debug: { echo_upstream_body: { messages: [{ role: 'user' }] } } });
  });
  it.each([
    ['in a text', [sse(chunk({ content: 'Hi' }))], {}],
    ['with an error', [sse(chunk({ content: 'Hi' }), errorBody('Overloaded'))], {}],
    ['after one of two completions', [sse(chunk({ content: 'Hi' }, 'stop'))], { n: 2 }],
  ])('that is cut %s never looks complete, and is paid for', async (_, upstreamBody, more) => {
    const { events, isDone, records } = await streamed(upstreamBody, more);
    expect(isDone).toBe(false);
    expect(events.at(-1)).toMatchObject({ object: 'text_completion', error: { code: 502 } });
    expect(events.at(-1)).not.toHaveProperty('choices');
    expect(events.flatMap(({ choices = [] }) => choices).every((one: Json) => one.finish_reason === null)).toBe(true);
    expect(records[0]).toMatchObject({ outcome: 'cut' });
    expect(records[0]?.costNanoUsd).toBeGreaterThan(0);
  });
  it('stops the provider when its client leaves', async () => {
    const { client, upstream, records } = completions();
    upstream.always({ body: [sse(chunk({ content: 'Hi' })), { hangs: true }] });
    const stream = await client.completions.create({ ...body, stream: true });
    for await (const _ of stream) break;
    await nextTurn();
    expect([upstream.sent[0]?.closedAtMs === null, records.at(-1)?.outcome]).toEqual([false, 'cancelled']);
  });
});

describe('a client of POST /completions', () => {
  it('is `openai`, as JSON and as a stream', async () => {
    const { client, upstream } = completions();
    const made = await client.completions.create({ ...body, ...suffixed, n: 1, logprobs: 1 });
    expect([made.object, made.choices[0]?.text, made.usage?.total_tokens]).toEqual([
      'text_completion',
      'Hello there',
      12,
    ]);
    upstream.always({ body: textStream('Hel', 'lo') });
    let text = '';
    let usage: OpenAI.CompletionUsage | undefined;
    const stream = await client.completions.create({ ...body, stream: true, stream_options: { include_usage: true } });
    for await (const event of stream) {
      // Editors look for a choice in every event.
      text += event.choices[0]?.text ?? 'none';
      usage = event.usage ?? usage;
    }
    expect([text, usage?.total_tokens]).toEqual(['Hello', 12]);
  });
  it('is `openai`, which throws where a stream breaks off', async () => {
    const { client, upstream } = completions();
    upstream.always({ body: [sse(chunk({ content: 'Hi' }))] });
    const stream = await client.completions.create({ ...body, stream: true });
    const read = async () => {
      for await (const _ of stream);
    };
    await expect(read()).rejects.toMatchObject({ code: 502 });
    await expect(client.completions.create({ ...body, best_of: 5 })).rejects.toMatchObject({ status: 400 });
  });
  it('is the completion model of the AI SDK, which hears that a stream broke off', async () => {
    const { gateway, upstream } = completions();
    const provider = createOpenAI({ baseURL: 'http://gateway.test/v1', apiKey: testKey, fetch: gateway.fetch });
    const model = provider.completion('acme/fast');
    const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Hello' }] }];
    const options = { prompt, maxOutputTokens: 40 };
    const made = await model.doGenerate(options);
    expect([made.content, made.finishReason.unified]).toEqual([[{ type: 'text', text: 'Hello there' }], 'stop']);
    expect(upstream.sent[0]?.body).toMatchObject({ max_tokens: 40, stop: ['\nuser:'] });
    const partsOf = async (upstreamBody: readonly string[]) => {
      upstream.always({ body: upstreamBody });
      const parts: Json[] = [];
      for await (const part of (await model.doStream(options)).stream) parts.push(part);
      return parts;
    };
    const whole = await partsOf(textStream('Hel', 'lo'));
    expect(whole.filter(({ type }) => type === 'text-delta').map(({ delta }) => delta)).toEqual(['Hel', 'lo']);
    expect(whole.at(-1)).toMatchObject({
      type: 'finish',
      finishReason: { unified: 'stop' },
      usage: { raw: { total_tokens: 12 } },
    });
    const cut = await partsOf([sse(chunk({ content: 'Hi' }))]);
    expect(cut.map(({ type }) => type)).toContain('error');
    expect(cut.at(-1)).toMatchObject({ type: 'finish', finishReason: { unified: 'error' } });
  });
  it('is a function in process, whose stream throws where it breaks off', async () => {
    const { gateway, upstream, records } = completions();
    const made = await gateway.completions.create({ ...body, suffix: '.' });
    expect(textCompletionResultSchema().parse(made).choices[0]?.text).toBe('Hello there');
    const ada = gateway.as({ permissions: ['inference'], workspaceId: 'w-1', userId: 'ada' });
    upstream.always({ body: textStream('Hel', 'lo') });
    let text = '';
    for await (const { choices } of await ada.completions.create({ ...body, stream: true })) text += choices[0]?.text;
    expect(text).toBe('Hello');
    upstream.always({ body: [sse(chunk({ content: 'Hi' }))] });
    const broken = await gateway.completions.create({ ...body, stream: true });
    const read = async () => {
      for await (const _ of broken);
    };
    await expect(read()).rejects.toMatchObject({ kind: 'upstream_failed', metadata: { usage: expect.any(Object) } });
    expect(records.map(({ operation, userId, outcome }) => [operation, userId, outcome])).toEqual([
      ['createCompletion', null, 'ok'],
      ['createCompletion', 'ada', 'ok'],
      ['createCompletion', null, 'cut'],
    ]);
  });
});
