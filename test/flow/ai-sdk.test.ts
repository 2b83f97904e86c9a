import {
  APICallError,
  type LanguageModelV4StreamPart,
  LoadAPIKeyError,
  UnsupportedFunctionalityError,
} from '@ai-sdk/provider';
import { describe, expect, it } from 'vitest';
import { chatResultSchema } from '../../src/schema/chat/chat.ts';
import { aiSdkGateway, ask, finish, usage, writtenModel } from '../support/ai-sdk-models.ts';
import { checkChunks } from '../support/check-chunks.ts';
import { readSaidStream } from '../support/recordings.ts';
import { sharedAvailable, validateAgainstReference } from '../support/reference.ts';

const signed = { anthropic: { signature: 'c2ln' } };
const page = { type: 'source', sourceType: 'url', id: 's1', url: 'https://a.test/p', title: 'P' } as const;
const other = { ...page, id: 's2', url: 'https://a.test/q', title: 'Q' } as const;
const image = new Uint8Array([1, 2, 3]);

/** The same response, in parts and as one. */
const parts: LanguageModelV4StreamPart[] = [
  { type: 'stream-start', warnings: [{ type: 'unsupported', feature: 'topK', details: 'not\nhere' }] },
  { type: 'response-metadata', id: 'r', timestamp: new Date(0), modelId: 'm' },
  { type: 'reasoning-start', id: 'r0' },
  { type: 'reasoning-delta', id: 'r0', delta: 'Let me ' },
  { type: 'reasoning-delta', id: 'r0', delta: 'see.' },
  { type: 'reasoning-end', id: 'r0', providerMetadata: signed },
  { type: 'ping' },
  { type: 'text-start', id: 't0' },
  { type: 'text-delta', id: 't0', delta: 'Warm' },
  { type: 'text-delta', id: 't0', delta: ' — é.' },
  { type: 'text-end', id: 't0', citations: [{ source: page, startIndex: 0, endIndex: 4, citedText: 'warm' }] },
  page,
  other,
  { type: 'file', mediaType: 'image/png', data: { type: 'data', data: image } },
  { type: 'tool-input-start', id: 'c0', toolName: 'get_weather' },
  { type: 'tool-input-start', id: 'c1', toolName: '__proto__' },
  { type: 'tool-input-delta', id: 'c0', delta: '{"city"' },
  { type: 'tool-input-delta', id: 'c1', delta: '{}' },
  { type: 'tool-input-delta', id: 'c0', delta: ':"Rom"}' },
  { type: 'tool-input-end', id: 'c0' },
  { type: 'tool-call', toolCallId: 'c0', toolName: 'get_weather', input: '{"city":"Rom"}' },
  {
    type: 'tool-call',
    toolCallId: 'c1',
    toolName: '__proto__',
    input: '{}',
    providerMetadata: { google: { thoughtSignature: 'dHM=' } },
  },
  { type: 'tool-input-start', id: 'c2', toolName: 'web_search', providerExecuted: true },
  { type: 'tool-input-delta', id: 'c2', delta: '{"query":"x"}' },
  { type: 'tool-call', toolCallId: 'c2', toolName: 'web_search', input: '{"query":"x"}', providerExecuted: true },
  { type: 'tool-result', toolCallId: 'c2', toolName: 'web_search', result: [1n as never] },
  { ...finish, finishReason: { unified: 'tool-calls', raw: 'tool_use' } } as LanguageModelV4StreamPart,
];

const complete = () => ({
  content: [
    { type: 'reasoning' as const, text: 'Let me see.', providerMetadata: signed },
    {
      type: 'text' as const,
      text: 'Warm — é.',
      citations: [{ source: page, startIndex: 0, endIndex: 4, citedText: 'warm' }],
    },
    page,
    other,
    { type: 'file' as const, mediaType: 'image/png', data: { type: 'data' as const, data: image } },
    { type: 'tool-call' as const, toolCallId: 'c0', toolName: 'get_weather', input: '{"city":"Rom"}' },
    {
      type: 'tool-call' as const,
      toolCallId: 'c1',
      toolName: '__proto__',
      input: '{}',
      providerMetadata: { google: { thoughtSignature: 'dHM=' } },
    },
    {
      type: 'tool-call' as const,
      toolCallId: 'c2',
      toolName: 'web_search',
      input: '{"query":"x"}',
      providerExecuted: true,
    },
  ],
  finishReason: { unified: 'tool-calls' as const, raw: 'tool_use' },
  usage,
  warnings: [{ type: 'unsupported' as const, feature: 'topK', details: 'not\nhere' }],
  request: { body: { secret: 'of the request' } },
  response: { body: { secret: 'of the response' } },
});

const said = {
  content: 'Warm — é.',
  reasoning: 'Let me see.',
  tool_calls: [
    { id: 'c0', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Rom"}' } },
    { id: 'c1', type: 'function', function: { name: '__proto__', arguments: '{}' } },
  ],
  images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AQID' } }],
  annotations: [
    {
      type: 'url_citation',
      url_citation: { url: 'https://a.test/p', title: 'P', content: 'warm', start_index: 0, end_index: 4 },
    },
    { type: 'url_citation', url_citation: { url: 'https://a.test/q', title: 'Q', content: '' } },
  ],
};
const counted = {
  prompt_tokens: 10,
  completion_tokens: 6,
  total_tokens: 16,
  prompt_tokens_details: { cached_tokens: 5, cache_write_tokens: 1 },
  completion_tokens_details: { reasoning_tokens: 2 },
};

interface Message {
  reasoning_details: { type: string; text?: string; data?: string; id: string; index: number }[];
}

describe('a language model of the AI SDK', () => {
  it('says as JSON all that it gave', async () => {
    const gateway = aiSdkGateway({ model: writtenModel([], complete).model });
    const response = await ask(gateway, {});
    const text = await response.text();
    expect([response.status, text.includes('secret')]).toEqual([200, false]);
    const body = JSON.parse(text);
    expect(chatResultSchema().safeParse(body).error).toBeUndefined();
    if (sharedAvailable) expect(validateAgainstReference('ChatResult', body)).toEqual([]);
    expect(body).toMatchObject({
      usage: counted,
      warnings: ['unsupported: topK: not here'],
      choices: [{ finish_reason: 'tool_calls', native_finish_reason: 'tool_use', message: said }],
    });
    checkDetails(body.choices[0].message);
  });

  it('says as a stream the same', async () => {
    const gateway = aiSdkGateway({ model: writtenModel(parts).model });
    const response = await ask(gateway, { stream: true });
    const text = await response.text();
    checkChunks(text, 'acme/m');
    expect(readSaidStream(text)).toMatchObject({
      isDone: true,
      error: null,
      usage: { prompt_tokens: 10, total_tokens: 16 },
      choices: { 0: { content: said.content, reasoning: said.reasoning, finish: 'tool_calls' } },
    });
    expect(text).toContain('"warnings":["unsupported: topK: not here"]');
    expect(readSaidStream(text).choices[0]?.calls).toEqual(
      said.tool_calls.map(({ id, function: called }) => ({ id, ...called })),
    );
  });

  it('gets back what it noted on thoughts and calls, from JSON and from a stream', async () => {
    const { model, calls } = writtenModel(parts, complete);
    const gateway = aiSdkGateway({ model });
    const { choices } = (await (await ask(gateway, {})).json()) as { choices: { message: Message }[] };
    const stream = await (await ask(gateway, { stream: true })).text();
    const streamed = deltasOf(stream);
    for (const message of [choices[0]?.message, { role: 'assistant', ...streamed }]) {
      await ask(gateway, {
        messages: [
          { role: 'user', content: 'Rome?' },
          message,
          { role: 'tool', tool_call_id: 'c0', content: 'warm' },
          { role: 'tool', tool_call_id: 'c1', content: 'yes' },
        ],
      });
      const assistant = calls.at(-1)?.prompt[1];
      expect(assistant?.content.slice(0, 1)).toEqual([
        { type: 'reasoning', text: 'Let me see.', providerOptions: signed },
      ]);
      expect(assistant?.content.slice(-2)).toEqual([
        { type: 'tool-call', toolCallId: 'c0', toolName: 'get_weather', input: { city: 'Rom' } },
        {
          type: 'tool-call',
          toolCallId: 'c1',
          toolName: '__proto__',
          input: {},
          providerOptions: { google: { thoughtSignature: 'dHM=' } },
        },
      ]);
    }
  });

  it('is called with URLs and a signal, and with nothing that is not a setting', async () => {
    const { model, calls } = writtenModel([], complete, {
      supportedUrls: Promise.resolve({ 'image/*': [/^https:\/\/a\.test\//g] }),
    });
    const image_url = { url: 'https://a.test/Cat.png' };
    const gateway = aiSdkGateway({ model });
    const content = [{ type: 'image_url', image_url }];
    for (const _ of [1, 2]) expect((await ask(gateway, { messages: [{ role: 'user', content }] })).status).toBe(200);
    expect(calls[1]).toEqual({
      prompt: [
        {
          role: 'user',
          content: [{ type: 'file', mediaType: 'image/png', data: { type: 'url', url: new URL(image_url.url) } }],
        },
      ],
      abortSignal: expect.any(AbortSignal),
    });
    const refused = await ask(gateway, {
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://b.test/c.png' } }] }],
    });
    expect(refused.status).toBe(400);
    expect(await refused.text()).toContain('https://b.test/c.png: expected a data URL');
  });

  it('is found by the name that the endpoint has for it', async () => {
    const { model } = writtenModel([finish], complete);
    expect((await ask(aiSdkGateway({ models: { 'm-1': model } }), {})).status).toBe(200);
    expect(
      (await ask(aiSdkGateway({ models: (id) => (id === 'm-1' ? model : (undefined as never)) }), {})).status,
    ).toBe(200);
    const old = { ...model, specificationVersion: 'v2' as never };
    for (const models of [{}, { other: model }, { 'm-1': old }] as Record<string, typeof model>[]) {
      const response = await ask(aiSdkGateway({ models }), {});
      expect(response.status).toBe(404);
      expect(await response.text()).toContain('no AI SDK language model of version 4 named m-1');
    }
  });
});

describe('a stream of a model', () => {
  it('that ends without its last part is broken', async () => {
    for (const end of [1, 8, 10, parts.length - 1]) {
      const gateway = aiSdkGateway({ model: writtenModel(parts.slice(0, end)).model });
      const response = await ask(gateway, { stream: true });
      if (response.status === 200) expect(readSaidStream(await response.text()).error).toEqual(expect.any(String));
      else expect(response.status).toBe(502);
    }
  });
  it.each(['error', 'interrupted'] as const)('that ends as %s is broken', async (unified) => {
    const end = { ...finish, finishReason: { unified, raw: undefined } } as LanguageModelV4StreamPart;
    const text = { type: 'text-delta', id: 't', delta: 'A' } as const;
    const gateway = aiSdkGateway({ model: writtenModel([text, end]).model });
    const answer = readSaidStream(await (await ask(gateway, { stream: true })).text());
    expect(answer).toMatchObject({ error: expect.stringContaining(unified), choices: { 0: { finish: 'error' } } });
  });
  it('is cancelled, and its model told to stop, when the client leaves', async () => {
    let cancelled: unknown = null;
    const { model, calls } = writtenModel(
      () =>
        new ReadableStream({
          pull(controller) {
            controller.enqueue({ type: 'text-delta', id: 't', delta: 'more ' });
          },
          cancel(reason) {
            cancelled = reason ?? 'cancelled';
          },
        }),
    );
    const response = await ask(aiSdkGateway({ model }), { stream: true });
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    await expect.poll(() => calls[0]?.abortSignal?.aborted).toBe(true);
    expect(cancelled).not.toBeNull();
  });
  it('that never comes ends with the client, though the model does not listen', async () => {
    const leaving = new AbortController();
    const opened = Promise.withResolvers<void>();
    const never = new Promise<never>(() => undefined);
    const doStream = () => {
      opened.resolve();
      return never;
    };
    const { model } = writtenModel([], undefined, { doStream });
    const asked = ask(aiSdkGateway({ model }), { stream: true }, leaving.signal);
    await opened.promise;
    leaving.abort();
    expect((await asked).status).toBeGreaterThanOrEqual(400);
  });
  it('is not told to stop once it has finished', async () => {
    const { model, calls } = writtenModel([{ type: 'text-delta', id: 't', delta: 'A' }, finish]);
    expect(readSaidStream(await (await ask(aiSdkGateway({ model }), { stream: true })).text()).isDone).toBe(true);
    expect(calls[0]?.abortSignal?.aborted).toBe(false);
  });
});

describe('an error of a model', () => {
  const url = 'https://api.test/v1';
  const apiError = (statusCode: number | undefined, message: string, more: object = {}) =>
    new APICallError({
      url,
      requestBodyValues: { secret: 'prompt' },
      message,
      ...(statusCode === undefined ? {} : { statusCode }),
      ...more,
    });
  const failing = (error: unknown) =>
    writtenModel(
      () => new ReadableStream({ start: (controller) => controller.error(error) }),
      () => {
        throw error;
      },
      { doStream: () => Promise.reject(error) },
    ).model;
  const errorOf = async (error: unknown, request: object = {}) => {
    const response = await ask(aiSdkGateway({ model: failing(error), apiKey: 'a-very-secret-key' }), request);
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, error: JSON.parse(text).error };
  };

  it.each<[string, unknown, number, string, string]>([
    [
      'a full context',
      apiError(400, 'prompt is too long: 9 tokens > 8 maximum'),
      400,
      'context_length_exceeded',
      'prompt is too long',
    ],
    ['a refusal', apiError(400, 'blocked by our content policy'), 400, 'content_policy_violation', 'content policy'],
    ['a rate limit', apiError(429, 'slow down'), 429, 'rate_limit_exceeded', 'slow down'],
    ['an overload', apiError(529, 'Overloaded'), 529, 'provider_overloaded', 'Overloaded'],
    [
      'what the model cannot do',
      new UnsupportedFunctionalityError({ functionality: 'video' }),
      400,
      'invalid_request',
      "'video'",
    ],
    ['no connection', apiError(undefined, 'Cannot connect to API'), 502, 'provider_unavailable', 'Cannot connect'],
    ['no JSON', apiError(200, 'Invalid JSON response'), 502, 'provider_unavailable', 'Invalid JSON'],
  ])('that is %s is told as such, in either form', async (_, error, status, errorType, message) => {
    for (const stream of [false, true]) {
      const answer = await errorOf(error, { stream });
      expect(answer.error.metadata.error_type).toBe(errorType);
      expect(answer.error.message).toContain(message);
      expect([answer.status, answer.text.includes('secret')]).toEqual([status, false]);
    }
  });
  it('has the code of its provider, and its pause', async () => {
    const data = { error: { type: 'rate_limit_error', message: 'slow' } };
    const { headers, error } = await errorOf(apiError(429, 'slow', { data, responseHeaders: { 'Retry-After': '7' } }));
    expect(error.metadata.provider_code).toBe('rate_limit_error');
    expect(headers.get('retry-after')).toBe('7');
  });
  it('is the fault of the operator where the model has no key', async () => {
    const { status } = await errorOf(new LoadAPIKeyError({ message: 'OPENAI_API_KEY is missing' }));
    expect(status).toBeGreaterThanOrEqual(500);
  });
  it('does not tell keys, and is bounded', async () => {
    const keys = [
      'sk-proj-abcdefghijklmnop',
      'AIzaSyA1234567890abcdefghijk',
      'a-very-secret-key',
      'Bearer abcdefgh1234',
    ];
    for (const key of keys) {
      const { text, error } = await errorOf(apiError(400, `wrong key ${key} ${'x'.repeat(100_000)}`));
      expect(text).not.toContain(key);
      expect(error.message).toContain('[redacted]');
      expect(error.message.length).toBeLessThan(700);
    }
  });
  it('that the host app wrote is not told', async () => {
    for (const stream of [false, true]) {
      const { status, text } = await errorOf(new Error('select * from users'), { stream });
      expect([status, text.includes('users')]).toEqual([502, false]);
    }
  });
  it.each<[string, unknown, string]>([
    ['of a provider', apiError(429, 'slow down'), 'slow down'],
    ["as the provider's own object", { type: 'overloaded_error', message: 'Overloaded' }, 'Overloaded'],
    ['as a text', 'it broke', 'it broke'],
    ['of the host app', new Error('select * from users'), 'connection to the provider failed'],
  ])('in the middle of a stream, %s, ends it', async (_, error, message) => {
    const middle: LanguageModelV4StreamPart[] = [
      { type: 'text-delta', id: 't', delta: 'A' },
      { type: 'error', error },
      finish,
    ];
    const gateway = aiSdkGateway({ model: writtenModel(middle).model });
    const text = await (await ask(gateway, { stream: true })).text();
    expect(text).not.toContain('users');
    const answer = readSaidStream(text);
    expect(answer.error).toContain(message);
    expect(answer.choices[0]).toMatchObject({ content: 'A', finish: 'error' });
  });
});

function checkDetails({ reasoning_details: details }: Message): void {
  expect(details).toEqual([
    { type: 'reasoning.text', text: 'Let me see.', id: 'ai-sdk-v4', format: 'unknown', index: 0 },
    { type: 'reasoning.encrypted', data: JSON.stringify(signed), id: 'ai-sdk-v4', format: 'unknown', index: 0 },
    {
      type: 'reasoning.encrypted',
      data: '{"google":{"thoughtSignature":"dHM="}}',
      id: 'ai-sdk-v4:call:c1',
      format: 'unknown',
      index: 1,
    },
  ]);
}

/** What a client keeps of a stream to send it back: details as they came. */
function deltasOf(stream: string): object {
  const details: unknown[] = [];
  for (const [, payload = ''] of stream.matchAll(/^data: (\{.*)$/gm)) {
    const [choice] = JSON.parse(payload).choices;
    details.push(...(choice?.delta.reasoning_details ?? []));
  }
  const { content, calls } = readSaidStream(stream).choices[0] as { content: string; calls: Record<string, string>[] };
  const tool_calls = calls.map(({ id, ...called }) => ({ id, type: 'function', function: called }));
  return { content, tool_calls, reasoning_details: details };
}
