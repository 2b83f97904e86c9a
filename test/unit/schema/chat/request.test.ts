import { describe, expect, it } from 'vitest';
import { chatRequestSchema } from '../../../../src/schema/chat/chat.ts';
import { validationIssues } from '../../../../src/schema/chat/validate.ts';

const messages = [{ role: 'user', content: 'Hello' }];

function issuesOf(body: unknown) {
  const result = chatRequestSchema().safeParse(body);
  return result.success ? [] : validationIssues(result.error);
}

const pairs = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'v']));
const chars = (count: number) => 'x'.repeat(count);
const emojis = (count: number) => '😀'.repeat(count);
const efforts = ['max', 'xhigh', 'high', 'medium', 'low', 'minimal', 'none'];

interface FieldCase {
  accepts: unknown[];
  /** value -> path of the first issue, where it is not the field itself */
  rejects: unknown[];
}

const integerOrNull = { accepts: [0, 1, -1, 40, Number.MAX_SAFE_INTEGER, null], rejects: [1.5, '1', true, 2 ** 53] };
const numberOrNull = { accepts: [0, -1, 0.5, 1e9, null], rejects: ['1', true, [], {}] };
const booleanOrNull = { accepts: [true, false, null], rejects: ['true', 1, {}] };
const outputTokens = { accepts: [1, 16, 1_000_000, null], rejects: [0, -1, 1.5, '16', true] };
const penalty = { accepts: [-2, 0, 1.99, 2, null], rejects: [-2.01, 2.01, '0'] };

/** Every field of the contract's table but `messages`, which has a file of its own. */
const fields: Record<string, FieldCase> = {
  model: { accepts: ['acme/fast', ''], rejects: [null, 1, ['acme/fast']] },
  models: { accepts: [[], ['a/b', 'c/d']], rejects: [null, 'a/b', [1], ['a/b', null]] },
  stream: { accepts: [true, false], rejects: [null, 'true', 1] },
  stream_options: {
    accepts: [null, {}, { include_usage: true }, { include_obfuscation: false }],
    rejects: [true, [], { include_usage: 'yes' }, { include_usage: null }],
  },
  max_tokens: outputTokens,
  max_completion_tokens: outputTokens,
  temperature: { accepts: [0, 0.7, 2, null], rejects: [-0.01, 2.01, '1', []] },
  top_p: { accepts: [0, 0.5, 1, null], rejects: [-0.01, 1.01, '1'] },
  top_k: integerOrNull,
  min_p: numberOrNull,
  top_a: numberOrNull,
  frequency_penalty: penalty,
  presence_penalty: penalty,
  repetition_penalty: numberOrNull,
  logit_bias: { accepts: [null, {}, { 50256: -100, 11: 0.5 }], rejects: [[], 'x', { 1: '2' }, { 1: null }] },
  logprobs: booleanOrNull,
  top_logprobs: { accepts: [0, 20, null], rejects: [-1, 21, 1.5, '5'] },
  seed: integerOrNull,
  stop: {
    accepts: ['\n', '', null, [], ['a', 'b', 'c', 'd']],
    rejects: [1, {}, ['a', 'b', 'c', 'd', 'e'], [1], ['a', null]],
  },
  tools: { accepts: [[], [{ type: 'function', function: { name: 'f' } }]], rejects: [null, {}, [null], [{}]] },
  tool_choice: { accepts: ['none', 'auto', 'required'], rejects: [null, 'any', 1, [], {}] },
  parallel_tool_calls: booleanOrNull,
  response_format: {
    accepts: [
      { type: 'text' },
      { type: 'json_object' },
      { type: 'json_schema', json_schema: { name: 'n' } },
      { type: 'json_schema', json_schema: { name: chars(64), description: 'd', schema: {}, strict: true } },
      { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'object' }, strict: null, more: 1 } },
      { type: 'grammar', grammar: 'root ::= "a"' },
      { type: 'python' },
    ],
    rejects: [
      null,
      'json_object',
      {},
      { type: 'xml' },
      { type: 'json_schema' },
      { type: 'json_schema', json_schema: {} },
      { type: 'json_schema', json_schema: { name: chars(65) } },
      { type: 'json_schema', json_schema: { name: 'n', schema: [] } },
      { type: 'json_schema', json_schema: { name: 'n', schema: true } },
      { type: 'json_schema', json_schema: { name: 'n', strict: 'yes' } },
      { type: 'grammar' },
    ],
  },
  modalities: { accepts: [[], ['text', 'image', 'audio']], rejects: [null, 'text', ['video'], [1]] },
  image_config: {
    accepts: [{}, { aspect_ratio: '16:9', n: 2, list: [1, 'a', null] }],
    rejects: [null, [], { a: null }, { a: true }, { a: {} }],
  },
  reasoning: {
    accepts: [
      {},
      ...efforts.map((effort) => ({ effort })),
      { effort: null, summary: null },
      { summary: 'auto' },
      { summary: 'concise' },
      { summary: 'detailed' },
      { max_tokens: 2000, exclude: true, enabled: false, more: 1 },
    ],
    rejects: [
      null,
      'high',
      { effort: 'huge' },
      { summary: 'long' },
      { max_tokens: -1 },
      { exclude: 1 },
      { enabled: 'x' },
    ],
  },
  reasoning_effort: { accepts: [...efforts, null], rejects: ['huge', 1, {}] },
  service_tier: { accepts: ['auto', 'default', 'flex', 'priority', 'scale', null], rejects: ['gold', 1] },
  session_id: { accepts: ['', chars(256), emojis(256)], rejects: [null, 1, chars(257), emojis(257)] },
  user: { accepts: ['u1', ''], rejects: [null, 1] },
  metadata: {
    accepts: [{}, pairs(16), { [chars(64)]: chars(512) }, { [emojis(64)]: emojis(512) }],
    rejects: [null, [], pairs(17), { [chars(65)]: 'v' }, { k: chars(513) }, { k: 1 }, { k: null }],
  },
  cache_control: {
    accepts: [{ type: 'ephemeral' }, { type: 'ephemeral', ttl: '5m' }, { type: 'ephemeral', ttl: '1h' }],
    rejects: [null, {}, { type: 'persistent' }, { type: 'ephemeral', ttl: '2h' }],
  },
  debug: { accepts: [{}, { echo_upstream_body: true }], rejects: [null, true, { echo_upstream_body: 'yes' }] },
  plugins: {
    accepts: [[], [{ id: 'web' }, { id: 'moderation' }]],
    rejects: [null, {}, [{}], [{ id: 'nope' }], ['web']],
  },
  provider: { accepts: [null, {}, { order: ['a'] }], rejects: ['a', [], { nope: 1 }] },
  route: { accepts: [null, 'fallback', 'sort', {}, { by: 'x' }], rejects: ['other', 1, []] },
  stop_server_tools_when: {
    accepts: [
      [{ type: 'step_count_is', step_count: 3 }],
      [
        { type: 'has_tool_call', tool_name: 'f' },
        { type: 'max_tokens_used', max_tokens: 5 },
      ],
      [{ type: 'max_cost', max_cost_in_dollars: 0.5 }],
      [{ type: 'finish_reason_is', reason: 'stop' }],
      { type: 'step_count_is', step_count: 3 },
    ],
    rejects: [
      null,
      [],
      'never',
      [{}],
      [{ type: 'step_count_is', step_count: 1.5 }],
      [{ type: 'has_tool_call', tool_name: '' }],
      [{ type: 'max_tokens_used' }],
      [{ type: 'max_cost', max_cost_in_dollars: '1' }],
      [{ type: 'finish_reason_is', reason: '' }],
      { type: 'moon_is_full' },
    ],
  },
  trace: {
    accepts: [
      {},
      { trace_id: 't', trace_name: 'n', span_name: 's', generation_name: 'g', parent_span_id: 'p', own: 1 },
    ],
    rejects: [null, 't', { trace_id: 1 }, { span_name: null }],
  },
};

describe('chat request fields', () => {
  it('are the 39 of the contract', () => {
    expect(Object.keys(chatRequestSchema().shape).sort()).toEqual(['messages', ...Object.keys(fields)].sort());
    expect(Object.keys(chatRequestSchema().shape)).toHaveLength(39);
  });

  const cases = Object.entries(fields);
  const show = (value: unknown) => JSON.stringify(value).slice(0, 60);

  for (const [field, { accepts, rejects }] of cases) {
    for (const value of accepts) {
      it(`${field} accepts ${show(value)}`, () => {
        const body = { messages, [field]: value };
        expect(issuesOf(body)).toEqual([]);
        expect(chatRequestSchema().parse(body)).toEqual(body);
      });
    }
    for (const value of rejects) {
      it(`${field} rejects ${show(value)}`, () => {
        const issues = issuesOf({ messages, [field]: value });
        expect(issues).not.toEqual([]);
        for (const { path, message } of issues) {
          expect(path.split(/[.[]/)[0]).toBe(field);
          expect(message).toMatch(/^(expected .+|unknown key .+)$/);
        }
      });
    }
  }

  it('leaves out what is left out: no default is written into the request', () => {
    expect(chatRequestSchema().parse({ messages })).toEqual({ messages });
    expect(Object.keys(chatRequestSchema().parse({ messages }))).toEqual(['messages']);
  });

  it('passes unknown top-level fields of any kind', () => {
    const body = {
      messages,
      include_reasoning: true,
      usage: { include: true },
      web_search_options: null,
      x: [1, { y: 2 }],
    };
    expect(chatRequestSchema().parse(body)).toEqual(body);
  });

  it('keeps the order of a JSON Schema, which a model answers in', () => {
    const schema = JSON.parse('{"required":["b"],"type":"object","properties":{"z":{},"b":{},"a":{}}}');
    const parsed = chatRequestSchema().parse({
      messages,
      tools: [{ type: 'function', function: { name: 'f', parameters: schema } }],
      response_format: { type: 'json_schema', json_schema: { name: 'n', schema } },
    });
    expect(JSON.stringify(parsed)).toContain(`"parameters":${JSON.stringify(schema)}`);
    expect(JSON.stringify(parsed)).toContain(`"schema":${JSON.stringify(schema)}`);
  });

  it('does not let a __proto__ key reach the prototype of what is passed on', () => {
    const body = JSON.parse(
      '{"messages":[{"role":"user","content":"x"}],"__proto__":{"stream":true},"metadata":{"__proto__":"v"}}',
    );
    const parsed = chatRequestSchema().parse(body);
    expect(parsed.stream).toBeUndefined();
    expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
    expect(Object.getPrototypeOf(parsed.metadata)).toBe(Object.prototype);
  });
});

describe('chat request messages', () => {
  it.each([
    [undefined, 'messages', 'expected array'],
    [null, 'messages', 'expected array'],
    ['hi', 'messages', 'expected array'],
    [{}, 'messages', 'expected array'],
    [[], 'messages', 'expected at least 1 item'],
    [['hi'], 'messages[0]', 'expected object'],
    [[null], 'messages[0]', 'expected object'],
  ])('refuses %j', (value, path, message) => {
    expect(issuesOf({ messages: value })).toEqual([{ path, message }]);
  });

  it.each([null, undefined, 'text', 1, [], true])('refuses a body that is %j', (body) => {
    expect(issuesOf(body)).toEqual([{ path: '', message: 'expected object' }]);
  });
});
