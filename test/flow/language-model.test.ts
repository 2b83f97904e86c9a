import {
  AISDKError,
  APICallError,
  type LanguageModelV4CallOptions,
  type LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import { describe, expect, it } from 'vitest';
import { isGatewayError } from '../../src/base/errors.ts';
import { createGateway } from '../../src/gateway.ts';
import { fromAiSdk } from '../../src/index.ts';
import { nextTurn, type TestGateway, testGateway } from '../support/gateway.ts';
import { chunk, completion, errorBody, sse, textStream, usageChunk } from '../support/upstream.ts';

const prompt: LanguageModelV4CallOptions['prompt'] = [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }];
/** A provider that wants its thoughts back. */
const keepingThoughts = {
  up: { baseUrl: 'https://up.test/v1', apiKey: 'sk-upstream-up-0123', quirks: { reasoningField: 'reasoning_details' } },
  alt: { baseUrl: 'https://alt.test/v1', apiKey: 'sk-upstream-alt-0123' },
} as const;
const begun = sse(chunk({ role: 'assistant', content: 'Hi' }));

async function partsOf<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const parts: T[] = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

async function streamed(tested: TestGateway, options: Partial<LanguageModelV4CallOptions> = {}, slug = 'acme/fast') {
  const { stream } = await tested.run(tested.gateway.languageModel(slug).doStream({ prompt, ...options }));
  return await tested.run(partsOf<LanguageModelV4StreamPart>(stream));
}

async function errorOf(work: PromiseLike<unknown>): Promise<unknown> {
  return await Promise.resolve(work).then(
    () => {
      throw new Error('It should have thrown');
    },
    (error: unknown) => error,
  );
}

const details = [
  { type: 'reasoning.text', text: 'Six times ', index: 0, format: 'anthropic-claude-v1' },
  { type: 'reasoning.text', text: 'seven.', index: 0, format: 'anthropic-claude-v1' },
  { type: 'reasoning.text', signature: 'c2ln', index: 0, format: 'anthropic-claude-v1' },
];
const joined = {
  type: 'reasoning.text',
  text: 'Six times seven.',
  signature: 'c2ln',
  index: 0,
  format: 'anthropic-claude-v1',
};
const called = { index: 0, id: 'c0', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Rom"}' } };
const citation = {
  type: 'url_citation',
  url_citation: { url: 'https://a.test/p', title: 'P', content: 'warm', start_index: 0, end_index: 4 },
};

describe('a language model of the gateway', () => {
  it('writes a complete response: text, thoughts, calls, sources, files, usage, cost and routing', async () => {
    const { gateway, upstream, records } = testGateway();
    upstream.always({
      body: completion(
        {
          usage: {
            prompt_tokens: 10,
            completion_tokens: 6,
            total_tokens: 16,
            prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 1 },
            completion_tokens_details: { reasoning_tokens: 2 },
          },
        },
        {
          content: 'Warm there',
          reasoning: 'Six times seven.',
          reasoning_details: [joined],
          annotations: [citation],
          images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AQID' } }],
          tool_calls: [{ ...called, index: undefined }],
        },
        { finish_reason: 'tool_calls' },
      ),
    });
    const asking = { 'x-service-metadata': 'enabled' };
    const result = await gateway.languageModel('acme/fast').doGenerate({ prompt, topK: 5, seed: 1, headers: asking });
    const source = { type: 'source', sourceType: 'url', id: 'source-0', url: 'https://a.test/p', title: 'P' };
    expect(result.content).toEqual([
      {
        type: 'reasoning',
        text: 'Six times seven.',
        providerMetadata: { gateway: { reasoning_details: [joined] } },
      },
      { type: 'text', text: 'Warm there', citations: [{ source, startIndex: 0, endIndex: 4, citedText: 'warm' }] },
      source,
      { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AQID' } },
      { type: 'tool-call', toolCallId: 'c0', toolName: 'get_weather', input: '{"city":"Rom"}' },
    ]);
    expect(result.finishReason).toEqual({ unified: 'tool-calls', raw: 'tool_calls' });
    expect(result.usage).toMatchObject({
      inputTokens: { total: 10, noCache: 5, cacheRead: 4, cacheWrite: 1 },
      outputTokens: { total: 6, text: 4, reasoning: 2 },
      raw: { cost: expect.any(Number), total_tokens: 16 },
    });
    expect(result.providerMetadata.gateway).toMatchObject({
      generationId: records[0]?.id,
      provider: 'Up',
      cost: (records[0]?.costNanoUsd ?? 0) / 1e9,
      systemFingerprint: 'fp_upstream',
      routing: { requested: 'acme/fast', attempt: 1 },
    });
    expect(result.response).toMatchObject({
      id: records[0]?.id,
      modelId: 'acme/fast',
      timestamp: new Date('2026-01-01T00:00:00Z'),
      headers: { 'x-generation-id': records[0]?.id },
    });
    expect(result.request.body).toMatchObject({ model: 'acme/fast', top_k: 5, seed: 1 });
    expect(upstream.sent[0]?.body).toMatchObject({ model: 'up-fast', messages: [{ role: 'user', content: 'Hello' }] });
  });
  it('writes the same in parts, each block opened and closed once', async () => {
    const tested = testGateway();
    tested.upstream.always({
      body: [
        ...[
          chunk({ role: 'assistant', content: '' }),
          ...details.map((detail) => chunk({ reasoning: detail.text, reasoning_details: [detail] })),
          chunk({ content: 'Warm ' }),
          chunk({ content: 'there' }),
          chunk({ annotations: [citation] }),
          chunk({ tool_calls: [{ ...called, function: { name: 'get_weather', arguments: '{"ci' } }] }),
          chunk({ tool_calls: [{ index: 0, function: { arguments: 'ty":"Rom"}' } }] }),
          chunk({}, 'tool_calls'),
          usageChunk(),
          '[DONE]',
        ].map((event) => sse(event)),
      ],
    });
    const parts = await streamed(tested, { includeRawChunks: false });
    const source = { type: 'source', sourceType: 'url', id: 'source-0', url: 'https://a.test/p', title: 'P' };
    expect(parts).toEqual([
      { type: 'stream-start', warnings: [] },
      { type: 'response-metadata', id: tested.records[0]?.id, modelId: 'acme/fast', timestamp: expect.any(Date) },
      { type: 'reasoning-start', id: 'reasoning-0' },
      { type: 'reasoning-delta', id: 'reasoning-0', delta: 'Six times ' },
      { type: 'reasoning-delta', id: 'reasoning-0', delta: 'seven.' },
      {
        type: 'reasoning-end',
        id: 'reasoning-0',
        providerMetadata: { gateway: { reasoning_details: [joined] } },
      },
      { type: 'text-start', id: 'text-1' },
      { type: 'text-delta', id: 'text-1', delta: 'Warm ' },
      { type: 'text-delta', id: 'text-1', delta: 'there' },
      source,
      { type: 'text-end', id: 'text-1', citations: [{ source, startIndex: 0, endIndex: 4, citedText: 'warm' }] },
      { type: 'tool-input-start', id: 'c0', toolName: 'get_weather' },
      { type: 'tool-input-delta', id: 'c0', delta: '{"ci' },
      { type: 'tool-input-delta', id: 'c0', delta: 'ty":"Rom"}' },
      { type: 'tool-input-end', id: 'c0' },
      { type: 'tool-call', toolCallId: 'c0', toolName: 'get_weather', input: '{"city":"Rom"}' },
      {
        type: 'finish',
        finishReason: { unified: 'tool-calls', raw: 'tool_calls' },
        usage: expect.objectContaining({ inputTokens: expect.objectContaining({ total: 10 }) }),
        providerMetadata: {
          gateway: expect.objectContaining({ cost: expect.any(Number), generationId: tested.records[0]?.id }),
        },
      },
    ]);
    const raw = (await streamed(tested, { includeRawChunks: true })).filter(({ type }) => type === 'raw');
    expect(raw[0]).toMatchObject({ rawValue: { object: 'chat.completion.chunk' } });
  });
  it('gets back what it noted on parts, so that the next turn has the same thoughts', async () => {
    const { gateway, upstream } = testGateway({ providers: keepingThoughts });
    const thoughts = [
      joined,
      { type: 'reasoning.encrypted', data: 'b3BhcXVl', index: 1, format: 'anthropic-claude-v1' },
    ];
    upstream.always({
      body: completion(
        {},
        { content: 'Let me see.', reasoning: 'Six times seven.', reasoning_details: thoughts, tool_calls: [called] },
        { finish_reason: 'tool_calls' },
      ),
    });
    const model = gateway.languageModel('acme/fast');
    const { content } = await model.doGenerate({ prompt });
    await model.doGenerate({
      prompt: [
        ...prompt,
        {
          role: 'assistant',
          content: content.map((part) => {
            const { providerMetadata: providerOptions, ...rest } = part as { providerMetadata?: object };
            const { input } = part as { input?: string };
            return { ...rest, ...(input ? { input: JSON.parse(input) } : {}), providerOptions };
          }) as never,
        },
        {
          role: 'tool',
          content: [
            {
              type: 'tool-result',
              toolCallId: 'c0',
              toolName: 'get_weather',
              output: { type: 'json', value: { warm: true } },
            },
          ],
        },
      ],
    });
    expect(upstream.sent[1]?.body.messages).toEqual([
      { role: 'user', content: 'Hello' },
      {
        role: 'assistant',
        content: 'Let me see.',
        reasoning_details: thoughts,
        tool_calls: [{ id: 'c0', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Rom"}' } }],
      },
      { role: 'tool', tool_call_id: 'c0', content: '{"warm":true}' },
    ]);
  });
  it('warns of what the provider that served did not get, and of what a request has no place for', async () => {
    const { gateway, upstream } = testGateway({
      providers: {
        up: { baseUrl: 'https://up.test/v1', apiKey: 'sk-upstream-up-0123456789', quirks: { dropParams: ['seed'] } },
        alt: { baseUrl: 'https://alt.test/v1' },
      },
    });
    upstream.always({ body: completion() });
    const options: LanguageModelV4CallOptions = {
      prompt,
      seed: 1,
      providerOptions: { openai: { store: false }, gateway: { sesion_id: 's', n: 2 } },
      tools: [{ type: 'provider', id: 'openai.web_search', name: 'web_search', args: {} }],
    };
    const { warnings, providerMetadata } = await gateway.languageModel('acme/fast').doGenerate(options);
    expect(providerMetadata.gateway).not.toHaveProperty('routing');
    upstream.always({ body: textStream('Hi') });
    const { stream } = await gateway.languageModel('acme/fast').doStream(options);
    expect((await stream.getReader().read()).value).toEqual({ type: 'stream-start', warnings });
    expect(warnings).toEqual([
      { type: 'unsupported', feature: 'providerOptions.openai', details: expect.any(String) },
      { type: 'unsupported', feature: 'provider tool openai.web_search', details: expect.any(String) },
      { type: 'other', message: expect.stringContaining('did you mean "session_id"') },
      { type: 'unsupported', feature: 'providerOptions.gateway.n' },
      { type: 'unsupported', feature: 'seed', details: expect.any(String) },
    ]);
  });
  it('acts for its caller: permissions, workspace, models and budget', async () => {
    const { gateway, upstream, records } = testGateway();
    upstream.always({ body: completion() });
    const ada = gateway.as({
      permissions: ['inference'],
      workspaceId: 'w-1',
      userId: 'ada',
      allowedModels: ['acme/f*'],
    });
    await ada.languageModel('acme/fast', { session_id: 's-1', user: 'u' }).doGenerate({ prompt });
    expect(records[0]).toMatchObject({ workspaceId: 'w-1', userId: 'ada', sessionId: 's-1', apiKeyHash: null });
    const refused = await errorOf(ada.languageModel('acme/other').doGenerate({ prompt }));
    expect(refused).toMatchObject({ statusCode: 403, isRetryable: false });
    await gateway.budgets.put({ id: 'default', interval: 'daily', limit_usd: 0.000001 });
    const spent = await errorOf(gateway.languageModel('acme/fast').doStream({ prompt }));
    expect(spent).toMatchObject({ statusCode: 402, isRetryable: false });
  });
  it('throws what the AI SDK knows as an APICallError, and the gateway as its own error', async () => {
    const tested = testGateway({ retry: { maxAttempts: 1 } });
    const { gateway, upstream, run } = tested;
    const model = gateway.languageModel('acme/fast');
    for (const [answer, status, isRetryable] of [
      [{ status: 400, body: errorBody('no such thing') }, 400, false],
      [{ status: 500, body: errorBody('broken') }, 502, false],
      [{ status: 429, headers: { 'retry-after': '7' }, body: errorBody('slow down') }, 429, true],
    ] as const) {
      for (const call of [() => model.doGenerate({ prompt }), () => model.doStream({ prompt })]) {
        upstream.answer(answer);
        const error = await run(errorOf(call()));
        if (!APICallError.isInstance(error)) throw new Error('no APICallError', { cause: error });
        expect([AISDKError.isInstance(error), isGatewayError(error)]).toEqual([true, true]);
        expect([error.statusCode, error.isRetryable]).toEqual([status, isRetryable]);
        expect(error.requestBodyValues).toMatchObject({ model: 'acme/fast' });
        expect(JSON.parse(error.responseBody ?? '')).toMatchObject({ error: { code: status, message: error.message } });
        if (isRetryable) expect(Number(error.responseHeaders?.['retry-after'])).toBeGreaterThan(0);
        await tested.clock.advance(60_000);
      }
    }
    const sent = upstream.sent.length;
    for (const wrong of [[{ role: 'robot', content: [] }], [{ role: 'user', content: 'text' }], 'Hello', [null]])
      expect(await errorOf(model.doGenerate({ prompt: wrong as never }))).toMatchObject({ statusCode: 400 });
    expect(upstream.sent).toHaveLength(sent);
    for (const slug of ['', null, 5]) expect(() => gateway.languageModel(slug as never)).toThrow(/slug/);
    expect(() => gateway.languageModel('acme/fast', 'fast' as never)).toThrow(/settings/);
  });
});

describe('a stream of a language model that', () => {
  it('breaks off ends with an error part and the reason error, and no call looks complete', async () => {
    const call = sse(chunk({ tool_calls: [{ ...called, function: { name: 'get_weather', arguments: '{}' } }] }));
    for (const cut of [
      [begun, { breaks: true }],
      [begun],
      [begun, call],
      [begun, sse({ error: { message: 'Overloaded', code: 503 } })],
    ]) {
      const tested = testGateway();
      tested.upstream.always({ body: cut as string[] });
      const parts = await streamed(tested);
      expect(parts.slice(-2)).toMatchObject([
        { type: 'error', error: { name: 'AI_APICallError', isRetryable: false } },
        {
          type: 'finish',
          finishReason: { unified: 'error' },
          usage: { raw: { cost: expect.any(Number) } },
          providerMetadata: { gateway: { generationId: tested.records[0]?.id } },
        },
      ]);
      expect(parts.some(({ type }) => type === 'tool-call')).toBe(false);
      expect(parts.filter(({ type }) => type.endsWith('-start')).length).toBe(
        parts.filter(({ type }) => type.endsWith('-end')).length + 1,
      );
    }
  });
  it('is aborted stops the provider, and breaks with the reason', async () => {
    const { gateway, upstream, records } = testGateway();
    upstream.always({ body: [begun, { hangs: true }] });
    const stop = new AbortController();
    const { stream } = await gateway.languageModel('acme/fast').doStream({ prompt, abortSignal: stop.signal });
    const reader = stream.getReader();
    while ((await reader.read()).value?.type !== 'text-delta');
    const waiting = reader.read();
    stop.abort();
    await expect(waiting).rejects.toBe(stop.signal.reason);
    expect([upstream.sent[0]?.closedAtMs, records[0]?.outcome]).toEqual([expect.any(Number), 'cancelled']);
  });
  it('is cancelled stops the provider, and costs what came', async () => {
    const { gateway, upstream, records } = testGateway();
    upstream.always({ body: [begun, { hangs: true }] });
    const { stream } = await gateway.languageModel('acme/fast').doStream({ prompt });
    const reader = stream.getReader();
    while ((await reader.read()).value?.type !== 'text-delta');
    await reader.cancel();
    expect([upstream.sent[0]?.closedAtMs, records[0]?.outcome]).toEqual([expect.any(Number), 'cancelled']);
    expect(records[0]?.costNanoUsd).toBeGreaterThan(0);
  });
  it('has not begun is aborted with its reason', async () => {
    const { gateway, upstream } = testGateway();
    upstream.always({ instead: 'hang' });
    const model = gateway.languageModel('acme/fast');
    for (const call of [model.doGenerate, model.doStream]) {
      const stop = new AbortController();
      const asked = errorOf(call({ prompt, abortSignal: stop.signal }));
      await nextTurn();
      stop.abort();
      expect(await asked).toBe(stop.signal.reason);
    }
  });
});

describe('a language model of one gateway, as the provider of another', () => {
  it('says the same: texts, thoughts, calls, sources, files', async () => {
    const first = testGateway({ providers: keepingThoughts });
    const second = createGateway({
      providers: { first: fromAiSdk({ slug: 'first', models: (id) => first.gateway.languageModel(id) }) },
      models: [{ slug: 'far/fast', endpoints: [{ provider: 'first', model: 'acme/fast' }] }],
      authenticate: 'host',
    });
    const message = {
      content: 'Warm there',
      reasoning: 'Six times seven.',
      reasoning_details: [joined],
      annotations: [citation],
      images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AQID' } }],
      tool_calls: [called],
    };
    first.upstream.always({ body: completion({}, message, { finish_reason: 'tool_calls' }) });
    const body = { model: 'far/fast', messages: [{ role: 'user' as const, content: 'Hello' }] };
    const { choices, usage } = await second.chat.completions.create(body);
    expect(choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        content: message.content,
        reasoning: message.reasoning,
        annotations: [citation],
        images: message.images,
        tool_calls: [{ id: 'c0', function: called.function }],
      },
    });
    expect(usage).toMatchObject({ prompt_tokens: 10, completion_tokens: 2 });
    first.upstream.always({ body: textStream('Hel', 'lo', ' there') });
    let text = '';
    for await (const { choices } of await second.chat.completions.create({ ...body, stream: true }))
      text += choices[0]?.delta.content ?? '';
    expect(text).toBe('Hello there');
    // What was noted on the thought reaches the first gateway again, and its provider gets its own details back.
    first.upstream.always({ body: completion() });
    const said = choices[0]?.message;
    if (said === undefined) throw new Error('There is no message');
    await second.chat.completions.create({
      ...body,
      messages: [...body.messages, said, { role: 'tool', tool_call_id: 'c0', content: 'warm' }],
    });
    const sent = first.upstream.sent.at(-1)?.body.messages as object[];
    expect(sent[1]).toMatchObject({ role: 'assistant', content: 'Warm there', reasoning_details: [joined] });
    await second.close();
  });
  it('fails as the provider does, and a cut stream is cut', async () => {
    const first = testGateway({ retry: { maxAttempts: 1 } });
    const second = createGateway({
      providers: { first: fromAiSdk({ slug: 'first', models: (id) => first.gateway.languageModel(id) }) },
      models: [{ slug: 'far/fast', endpoints: [{ provider: 'first', model: 'acme/fast' }] }],
      authenticate: 'host',
      retry: { maxAttempts: 1 },
    });
    const body = { model: 'far/fast', messages: [{ role: 'user' as const, content: 'Hello' }] };
    first.upstream.answer({ status: 400, body: errorBody('no such thing') });
    expect(await errorOf(second.chat.completions.create(body))).toMatchObject({ status: 400 });
    first.upstream.answer({ body: [begun, { breaks: true }] });
    const stream = await second.chat.completions.create({ ...body, stream: true });
    const error = await errorOf(partsOf(stream));
    expect(isGatewayError(error)).toBe(true);
    await second.close();
  });
});
