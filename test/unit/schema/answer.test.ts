import { describe, expect, it } from 'vitest';
import type * as z from 'zod';
import { chatResultSchema, usageSchema } from '../../../src/schema/chat/chat.ts';
import { chatChunkSchema } from '../../../src/schema/chat/chunk.ts';
import { errorBodySchema, routingStrategies, serviceMetadataSchema } from '../../../src/schema/chat/envelope.ts';
import { validationIssues } from '../../../src/schema/chat/validate.ts';
import { describeWithShared, validateAgainstReference } from '../../support/reference.ts';

function pathsOf(schema: z.ZodType, value: unknown): string[] {
  const result = schema.safeParse(value);
  return result.success ? [] : validationIssues(result.error).map(({ path }) => path);
}

const metadata = {
  requested: 'acme/fast',
  strategy: 'direct',
  region: null,
  summary: 'available=1, selected=Acme',
  attempt: 1,
  is_byok: false,
  endpoints: { total: 1, available: [{ provider: 'Acme', model: 'acme/fast', selected: true }] },
  attempts: [{ provider: 'Acme', model: 'acme/fast', status: 529 }],
  params: { quality_floor: 0.5, throughput_floor: 1, version_group: 'v', own: true },
  pipeline: [
    { type: 'guardrail', name: 'content-filter', guardrail_id: 'g', guardrail_scope: 'workspace', data: { a: 1 } },
    { type: 'plugin', name: 'web-search', summary: 's', cost_usd: 0.001 },
    { type: 'server_tools', name: 'server-tools', cost_usd: null },
  ],
};

const usage = {
  prompt_tokens: 10,
  completion_tokens: 5,
  total_tokens: 15,
  prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 0, audio_tokens: 0, video_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 2, audio_tokens: null, image_tokens: 0 },
  cost: 0.00012,
  is_byok: false,
  cost_details: {
    upstream_inference_cost: null,
    upstream_inference_prompt_cost: 0.0001,
    upstream_inference_completions_cost: 0.00002,
  },
  server_tool_use_details: { web_search_requests: 1, tool_calls_requested: null, tool_calls_executed: 0 },
};

const logprobs = {
  content: [{ token: 'a', logprob: -0.1, bytes: [97], top_logprobs: [{ token: 'b', logprob: -2, bytes: null }] }],
  refusal: null,
};

const call = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } };

const result = {
  id: 'gen-1',
  object: 'chat.completion',
  created: 1_760_000_000,
  model: 'acme/fast',
  provider: 'Acme',
  system_fingerprint: null,
  service_tier: 'default',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'Hi', refusal: null, reasoning: null, annotations: [] },
      finish_reason: 'stop',
      native_finish_reason: 'end_turn',
      logprobs,
    },
    {
      index: 1,
      message: { role: 'assistant', content: null, tool_calls: [call] },
      finish_reason: 'tool_calls',
      logprobs: null,
    },
    {
      index: 2,
      message: { role: 'assistant', content: 'cut' },
      finish_reason: 'error',
      error: { code: 502, message: 'broke off', metadata: { error_type: 'provider_unavailable', provider_code: 'x' } },
    },
    { index: 3, message: { role: 'assistant', content: 'x' }, finish_reason: null },
  ],
  usage,
  service_metadata: metadata,
};

const chunk = {
  id: 'gen-1',
  object: 'chat.completion.chunk',
  created: 1_760_000_000,
  model: 'acme/fast',
  provider: 'Acme',
  system_fingerprint: 'fp_1',
  service_tier: null,
  choices: [
    {
      index: 0,
      delta: {
        role: 'assistant',
        content: 'Hi',
        reasoning: null,
        refusal: null,
        reasoning_details: [{ type: 'reasoning.text', text: 'hm', index: 0 }],
        tool_calls: [
          { index: 0, id: 'c1', type: 'function', function: { name: 'f', arguments: '' } },
          { index: 0, function: { arguments: '{"a"' } },
          { index: 1 },
        ],
        audio: { id: 'a', data: 'AAAA', transcript: 't', expires_at: 1 },
        images: [{ type: 'image_url', image_url: { url: 'data:,' } }],
        annotations: [{ type: 'url_citation', url_citation: { url: 'https://a.org' } }],
      },
      finish_reason: null,
      native_finish_reason: null,
      logprobs,
    },
  ],
};
const usageChunk = { ...chunk, choices: [], usage, service_metadata: metadata };
const errorChunk = {
  ...chunk,
  choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error', native_finish_reason: null }],
  error: { code: 502, message: 'broke off', metadata: { error_type: 'provider_unavailable' } },
};
const debugChunk = { ...chunk, choices: [], debug: { echo_upstream_body: { model: 'x', messages: [] } } };

const errorBody = {
  error: { code: 403, message: 'blocked', metadata: { patterns: ['p'] } },
  service_metadata: metadata,
  user_id: null,
};

const without = (value: object, key: string) => Object.fromEntries(Object.entries(value).filter(([k]) => k !== key));

describe('chat result', () => {
  it('accepts a whole one, and one with the required keys alone, and loses nothing', () => {
    const least = {
      id: 'gen-1',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      system_fingerprint: null,
      choices: [],
    };
    for (const value of [result, least, { ...least, own: { a: [1] } }])
      expect(chatResultSchema().parse(value)).toEqual(value);
  });

  it.each(['id', 'object', 'created', 'model', 'choices', 'system_fingerprint'])('needs the key %s', (key) => {
    expect(pathsOf(chatResultSchema(), without(result, key))).toEqual([key]);
  });

  it.each<[string, object]>([
    ['object', { object: 'chat.completion.chunk' }],
    ['created', { created: 1.5 }],
    ['provider', { provider: null }],
    ['usage', { usage: null }],
    ['service_metadata', { service_metadata: null }],
    ['choices[0].finish_reason', { choices: [{ index: 0, message: { role: 'assistant' } }] }],
    [
      'choices[0].finish_reason',
      { choices: [{ index: 0, message: { role: 'assistant' }, finish_reason: 'end_turn' }] },
    ],
    ['choices[0].index', { choices: [{ index: -1, message: { role: 'assistant' }, finish_reason: null }] }],
    ['choices[0].message.role', { choices: [{ index: 0, message: { role: 'user' }, finish_reason: null }] }],
    [
      'choices[0].logprobs.content',
      { choices: [{ index: 0, message: { role: 'assistant' }, finish_reason: null, logprobs: {} }] },
    ],
  ])('refuses a wrong %s', (path, fields) => {
    expect(pathsOf(chatResultSchema(), { ...result, ...fields })).toEqual([path]);
  });
});

describe('usage', () => {
  it('accepts the three numbers alone, and null details', () => {
    const least = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
    expect(usageSchema().parse(least)).toEqual(least);
    const nulls = { ...least, prompt_tokens_details: null, completion_tokens_details: null, cost_details: null };
    expect(usageSchema().parse(nulls)).toEqual(nulls);
  });

  it.each<[string, object]>([
    ['prompt_tokens', { prompt_tokens: -1 }],
    ['completion_tokens', { completion_tokens: 1.5 }],
    ['total_tokens', { total_tokens: '15' }],
    ['cost', { cost: null }],
    ['is_byok', { is_byok: null }],
    ['prompt_tokens_details.cached_tokens', { prompt_tokens_details: { cached_tokens: null } }],
    ['cost_details.upstream_inference_prompt_cost', { cost_details: { upstream_inference_completions_cost: 1 } }],
  ])('refuses a wrong %s', (path, fields) => {
    expect(pathsOf(usageSchema(), { ...usage, ...fields })).toEqual([path]);
  });
});

describe('chat chunk', () => {
  it('accepts content, usage, error and debug chunks, and loses nothing', () => {
    for (const value of [chunk, usageChunk, errorChunk, debugChunk])
      expect(chatChunkSchema().parse(value)).toEqual(value);
  });

  it.each(['id', 'object', 'created', 'model', 'choices'])('needs the key %s', (key) => {
    expect(pathsOf(chatChunkSchema(), without(chunk, key))).toEqual([key]);
  });

  it.each<[string, object]>([
    ['system_fingerprint', { system_fingerprint: null }],
    ['usage', { usage: null }],
    ['error', { error: null }],
    ['error.code', { error: { code: '502', message: 'x' } }],
    ['error.metadata.error_type', { error: { code: 502, message: 'x', metadata: {} } }],
    ['choices[0].finish_reason', { choices: [{ index: 0, delta: {} }] }],
    ['choices[0].delta', { choices: [{ index: 0, finish_reason: null }] }],
    ['choices[0].index', { choices: [{ delta: {}, finish_reason: null }] }],
  ])('refuses what known clients break on: %s', (path, fields) => {
    expect(pathsOf(chatChunkSchema(), { ...chunk, ...fields })).toEqual([path]);
  });

  it.each<[string, object]>([
    ['index', {}],
    ['id', { index: 0, id: null }],
    ['type', { index: 0, type: null }],
    ['function', { index: 0, function: null }],
    ['function.name', { index: 0, function: { name: null } }],
    ['function.arguments', { index: 0, function: { arguments: null } }],
  ])('refuses a tool call whose %s is missing or null', (path, call) => {
    const choices = [{ index: 0, delta: { tool_calls: [call] }, finish_reason: null }];
    expect(pathsOf(chatChunkSchema(), { ...chunk, choices })).toEqual([`choices[0].delta.tool_calls[0].${path}`]);
  });
});

describe('error body and service metadata', () => {
  it('accept whole ones and least ones', () => {
    expect(errorBodySchema().parse(errorBody)).toEqual(errorBody);
    expect(errorBodySchema().parse({ error: { code: 400, message: 'm' } })).toEqual({
      error: { code: 400, message: 'm' },
    });
    for (const strategy of routingStrategies)
      expect(pathsOf(serviceMetadataSchema(), { ...metadata, strategy })).toEqual([]);
    expect(routingStrategies).toHaveLength(9);
  });

  it.each(['requested', 'strategy', 'region', 'summary', 'attempt', 'is_byok', 'endpoints'])(
    'need the key %s',
    (key) => {
      expect(pathsOf(serviceMetadataSchema(), without(metadata, key))).toEqual([key]);
    },
  );

  it.each<[string, object]>([
    ['error', {}],
    ['error.code', { error: { code: '400', message: 'm' } }],
    ['error.message', { error: { code: 400 } }],
    ['error.metadata', { error: { code: 400, message: 'm', metadata: [] } }],
    ['user_id', { error: { code: 400, message: 'm' }, user_id: 5 }],
    ['service_metadata.requested', { error: { code: 400, message: 'm' }, service_metadata: {} }],
  ])('refuse a wrong %s', (path, body) => {
    expect(pathsOf(errorBodySchema(), body)).toContain(path);
  });
});

describeWithShared('the answers above, in the reference', () => {
  it.each<[string, unknown]>([
    ['ChatResult', result],
    ['ChatStreamChunk', chunk],
    ['ChatStreamChunk', usageChunk],
    ['ChatStreamChunk', errorChunk],
    ['ChatStreamChunk', debugChunk],
    ['ChatUsage', usage],
    ['ServiceMetadata', metadata],
    ['BadRequestResponse', errorBody],
  ])('%s is valid', (name, value) => {
    expect(validateAgainstReference(name, value)).toEqual([]);
  });

  it('and broken ones are not, so that the check can fail', () => {
    expect(validateAgainstReference('ChatResult', without(result, 'system_fingerprint'))).not.toEqual([]);
    expect(validateAgainstReference('ChatStreamChunk', { ...chunk, system_fingerprint: null })).not.toEqual([]);
    expect(() => validateAgainstReference('NoSuchSchema', {})).toThrow();
  });
});
