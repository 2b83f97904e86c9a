import { readFileSync } from 'node:fs';
import type { Attributes } from '@opentelemetry/api';
import { describe, expect, it } from 'vitest';
import type { ConventionVersion } from '../../adapters/otel/otel.ts';
import { defineServerTool } from '../../src/index.ts';
import { hello, testPricing } from '../support/gateway.ts';
import { describeWithShared, sharedPath } from '../support/reference.ts';
import { traced } from '../support/traced.ts';
import { completion, textStream } from '../support/upstream.ts';

const ask = { model: 'acme/fast', messages: hello };

/** Every parameter that spans have a name for. */
const parameters = {
  max_tokens: 300,
  temperature: 0.3,
  top_p: 0.9,
  top_k: 40,
  frequency_penalty: 0.1,
  presence_penalty: 0.2,
  seed: 7,
  n: 2,
  response_format: { type: 'json_object' },
  reasoning: { effort: 'high' },
  service_tier: 'flex',
};

/** With every kind of token. */
const usage = {
  prompt_tokens: 100,
  completion_tokens: 50,
  total_tokens: 150,
  prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 20, audio_tokens: 5 },
  completion_tokens_details: { reasoning_tokens: 30, audio_tokens: 4, image_tokens: 3 },
};

/** With a provider that is named as OpenAI is. */
function tracedOpenAi(conventions: ConventionVersion) {
  const endpoints = [{ provider: 'openai', model: 'one', pricing: testPricing }];
  const run = () => '4';
  return traced({
    telemetry: { conventions, content: true },
    gateway: {
      providers: { openai: { baseUrl: 'https://up.test/v1', apiKey: 'sk-up-0123456789' } },
      models: [{ slug: 'acme/fast', endpoints }],
      serverTools: [defineServerTool({ name: 'dice', description: 'Rolls.', parameters: {}, run })],
    },
  });
}

describe.each(['1.41', 'latest'] as const)('the span of an attempt, by version %s', (conventions) => {
  it('has what the provider is asked for, from the start', async () => {
    const { post, upstream, calls } = tracedOpenAi(conventions);
    upstream.always({ status: 400, body: { error: { message: 'no' } } });
    await post({ ...ask, ...parameters, session_id: 'a-session' });
    expect(calls()[0]?.attributes).toEqual({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.conversation.id': 'a-session',
      'gen_ai.request.model': 'acme/fast',
      'gen_ai.request.stream': false,
      'gateway.endpoint': 'openai',
      'gen_ai.request.max_tokens': 300,
      'gen_ai.request.temperature': 0.3,
      'gen_ai.request.top_p': 0.9,
      'gen_ai.request.top_k': 40,
      'gen_ai.request.frequency_penalty': 0.1,
      'gen_ai.request.presence_penalty': 0.2,
      'gen_ai.request.seed': 7,
      'gen_ai.request.choice.count': 2,
      'gen_ai.output.type': 'json',
      'openai.request.service_tier': 'flex',
      'server.address': 'up.test',
      'server.port': 443,
      'gateway.attempt.status': 400,
      'error.type': expect.any(String),
      ...(conventions === 'latest' && { 'gen_ai.request.reasoning.level': 'high' }),
    });
  });

  it('has what the response is, and its tokens by kind', async () => {
    const { post, upstream, billed } = tracedOpenAi(conventions);
    upstream.always({ body: completion({ usage, service_tier: 'default' }) });
    const { headers } = await post(ask);
    expect(billed()[0]?.attributes).toMatchObject({
      'gen_ai.response.id': headers.get('x-generation-id'),
      'gen_ai.response.model': 'acme/fast',
      'gen_ai.response.finish_reasons': ['stop'],
      'openai.response.service_tier': 'default',
      'gen_ai.usage.input_tokens': 100,
      'gen_ai.usage.output_tokens': 50,
      'gen_ai.usage.cache_read.input_tokens': 60,
      'gen_ai.usage.cache_creation.input_tokens': 20,
      'gen_ai.usage.reasoning.output_tokens': 30,
      ...(conventions === 'latest' && {
        'gen_ai.usage.cache_write.input_tokens': 20,
        'gen_ai.usage.audio.input_tokens': 5,
        'gen_ai.usage.audio.output_tokens': 4,
        'gen_ai.usage.image.output_tokens': 3,
      }),
    });
  });
});

describe('the parameters on a span', () => {
  it('are those that the provider gets: none that its format drops, and a largest output that was planned', async () => {
    const { post, upstream, calls } = traced({
      gateway: {
        providers: {
          up: { baseUrl: 'https://up.test/v1', apiKey: 'sk-up-0123456789', dialect: 'anthropic-messages' },
          alt: { baseUrl: 'https://alt.test/v1', apiKey: 'sk-alt-0123456789' },
        },
      },
    });
    upstream.always({ status: 400, body: { error: { message: 'no' } } });
    await post({ ...ask, seed: 7, presence_penalty: 0.2, top_k: 40, max_completion_tokens: 50 });
    const { attributes } = calls()[0] as { attributes: Attributes };
    expect(upstream.sent[0]?.body).not.toHaveProperty('seed');
    expect(attributes).toMatchObject({ 'gen_ai.request.top_k': 40, 'gen_ai.request.max_tokens': 50 });
    expect(attributes).not.toHaveProperty('gen_ai.request.seed');
    expect(attributes).not.toHaveProperty('gen_ai.request.presence_penalty');
  });

  it('are none where the client has set none, and no service tier of a provider that is not OpenAI', async () => {
    const { post, upstream, calls } = traced();
    upstream.always({ body: completion() });
    await post({ ...ask, service_tier: 'flex', n: 1 });
    const names = Object.keys(calls()[0]?.attributes ?? {}).filter((name) =>
      /request\.|openai|output\.type/.test(name),
    );
    expect(names).toEqual(['gen_ai.request.model', 'gen_ai.request.stream']);
  });

  it('name the form of the output', async () => {
    const { post, upstream, calls } = traced();
    upstream.always({ body: completion() });
    const formats = [
      { response_format: { type: 'text' } },
      { response_format: { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'object' } } } },
      { modalities: ['text', 'image'] },
      { modalities: ['text', 'audio'] },
      { modalities: ['text'] },
    ];
    for (const format of formats) await post({ ...ask, ...format });
    expect(calls().map(({ attributes }) => attributes['gen_ai.output.type'])).toEqual([
      'text',
      'json',
      'image',
      'speech',
      undefined,
    ]);
  });
});

/** What the readers of docs/telemetry.md make of the attributes of spans. */
const readers = {
  /** It subtracts what was cached from the input, and stops at 0. */
  langfuse: (attributes: Attributes) => {
    const tokens = (name: string) => Number(attributes[`gen_ai.usage.${name}`] ?? 0);
    const cached = tokens('cache_read.input_tokens') + tokens('cache_creation.input_tokens');
    return {
      model: attributes['gen_ai.response.model'] ?? attributes['gen_ai.request.model'],
      freshInput: Math.max(0, tokens('input_tokens') - cached),
      output: tokens('output_tokens'),
      costUsd: Number(attributes['gen_ai.usage.cost'] ?? 0),
    };
  },
  /** It counts every span with a requested model as a call of one. */
  signoz: (attributes: Attributes) => 'gen_ai.request.model' in attributes,
};

describe.each(['1.41', 'latest'] as const)('readers of spans of version %s', (conventions) => {
  it('find the tokens, the cost and the calls once each, whatever was tried', async () => {
    const { post, upstream, spans, records } = traced({ telemetry: { conventions } });
    const failed = { status: 404, body: { error: { message: 'gone' } } };
    upstream.answer(failed, { body: completion({ usage }) }, { body: textStream('Hello there').slice(0, 2) });
    await post({ ...ask, model: 'acme/pair', provider: { order: ['up'] } });
    await post({ ...ask, stream: true });
    const seen = spans().map(({ attributes }) => readers.langfuse(attributes));
    const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
    expect(sum(seen.map(({ costUsd }) => costUsd))).toBeCloseTo(sum(records.map((one) => one.usage?.cost ?? 0)), 9);
    expect(sum(seen.map(({ output }) => output))).toBe(sum(records.map((one) => one.usage?.completion_tokens ?? 0)));
    const served = spans().find(({ attributes }) => attributes['gen_ai.usage.cache_read.input_tokens'] === 60);
    expect(readers.langfuse(served?.attributes ?? {})).toMatchObject({ model: 'acme/pair', freshInput: 20 });
    expect(spans().filter(({ attributes }) => readers.signoz(attributes))).toHaveLength(3);
  });
});

/** Names of the conventions in a text: `a.{b,c}` are two. */
function namesIn(text: string): Set<string> {
  const found = new Set<string>();
  const expand = (name: string): void => {
    const list = /^(.*?)\{([^{}]*)\}(.*)$/.exec(name);
    if (list === null) found.add(name);
    else for (const item of list[2]?.split(',') ?? []) expand(`${list[1]}${item}${list[3]}`);
  };
  for (const [, quoted = ''] of text.matchAll(/`([^`]+)`/g)) expand(quoted.replace('[.cache_read]', ''));
  return found;
}

describeWithShared('names of spans and metrics', () => {
  const known = namesIn(readFileSync(sharedPath('interface/telemetry.md'), 'utf8'));
  // The document shortens these.
  const shortened = [
    'gen_ai.usage.audio.output_tokens',
    'gen_ai.usage.image.output_tokens',
    'gen_ai.usage.cache_write.input_tokens',
    'gen_ai.tool.name',
    'gen_ai.tool.call.id',
    'gen_ai.client.inference.operation.input_tokens',
    'gen_ai.client.inference.operation.output_tokens',
    'gen_ai.client.inference.time_to_first_chunk',
    'openai.request.service_tier',
    'openai.response.service_tier',
    'openai.api.type',
    // Of the conventions for HTTP.
    'http.response.status_code',
  ];

  it.each(['1.41', 'latest'] as const)('of version %s are those of the conventions', async (conventions) => {
    const { post, upstream, spans, measured } = tracedOpenAi(conventions);
    const call = { id: 'call_7', type: 'function', function: { name: 'dice', arguments: '{}' } };
    upstream.answer(
      { body: completion({}, { content: null, tool_calls: [call] }, { finish_reason: 'tool_calls' }) },
      { body: completion({ usage, service_tier: 'default' }) },
      { body: completion() },
      { body: textStream('Hello ', 'there') },
    );
    await post({ ...ask, ...parameters, n: 1, session_id: 'a-session', tools: [{ type: 'service:dice' }] });
    await post({ ...ask, n: 2 });
    await post({ ...ask, stream: true });
    const metrics = await measured();
    const names = new Set([
      ...spans().flatMap(({ attributes }) => Object.keys(attributes)),
      ...metrics.flatMap(({ descriptor, dataPoints }) => [
        descriptor.name,
        ...dataPoints.flatMap(({ attributes }) => Object.keys(attributes)),
      ]),
    ]);
    expect(names.size).toBeGreaterThan(40);
    const unknown = [...names].filter(
      (name) => !known.has(name) && !shortened.includes(name) && !name.startsWith('gateway.'),
    );
    expect(unknown).toEqual([]);
    expect(spans().some(({ name }) => name === 'execute_tool dice')).toBe(true);
  });
});
