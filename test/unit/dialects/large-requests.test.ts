import { describe, expect, it } from 'vitest';
import type { ChatRequest } from '../../../src/schema/chat/chat.ts';
import { cpuMs } from '../../support/cpu-time.ts';
import { dialects } from '../../support/dialects.ts';

/** Each took seconds, or made a body of hundreds of times the size; what is linear takes some 20 ms. */
const mostMs = 600;

const models: Record<string, string> = {
  'openai-chat': 'gpt-4.1',
  'openai-responses': 'gpt-5',
  'anthropic-messages': 'claude-sonnet-4-5',
  'google-generate-content': 'gemini-2.5-pro',
  'bedrock-converse': 'mistral.mistral-large',
  'cohere-chat': 'command-a',
  'ai-sdk': 'any',
};

const times = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));
const user = { role: 'user', content: 'Hi' };
const call = (id: string, name = 'f') => ({ id, type: 'function', function: { name, arguments: '' } });
const tool = (name: string, parameters: object, strict = false) => ({
  type: 'function',
  function: { name, parameters, strict },
});
const withCalls = (calls: object[], tools = [tool('f', {})]) => ({
  tools,
  messages: [user, { role: 'assistant', content: null, tool_calls: calls }],
});
const closed = { type: 'object', additionalProperties: false };
const withSchema = (schema: object) => ({
  messages: [user],
  response_format: { type: 'json_schema', json_schema: { name: 'a', schema } },
});
/** Each definition refers to the next one twice. */
const doubled = Object.fromEntries(
  times(13, (at) => [
    `d${at}`,
    at === 12 ? { type: 'string' } : { anyOf: times(2, () => ({ $ref: `#/$defs/d${at + 1}` })) },
  ]),
);
const references = { a: { anyOf: times(3_000, () => ({ $ref: '#/$defs/a' })) } };
const thought = (data: object, more: object = {}) => ({
  type: 'reasoning.encrypted',
  data: JSON.stringify(data),
  format: 'unknown',
  index: 0,
  id: 'ai-sdk-v4',
  ...more,
});

const requests: Record<string, object> = {
  'ids of calls that become the same id': withCalls(
    times(16_000, (at) => call(String.fromCharCode(0x4e00 + at) + (at % 2 ? '一' : '二'))),
  ),
  'ids of calls that become the same once they are cut': withCalls(
    times(12_000, (at) => call(`pppp${at % 2 ? '!' : ''}${(at >> 1).toString(36).padStart(5, 'x')}`)),
  ),
  'results of a tool with a long name': {
    messages: [
      ...withCalls([call('a', 'n'.repeat(20_000))]).messages,
      ...times(5_000, () => ({ role: 'tool', tool_call_id: 'a', content: 'a' })),
    ],
  },
  'strict tools whose references multiply': {
    messages: [user],
    tools: times(1_000, (at) =>
      tool(`f${at}`, { ...closed, properties: { a: { $ref: '#/$defs/d0' } }, required: ['a'], $defs: doubled }, true),
    ),
  },
  'references to a list of required properties': withSchema({
    ...closed,
    properties: references,
    required: ['a'],
    $defs: { a: { ...closed, properties: { x: {} }, required: times(50_000, () => 'x') } },
  }),
  'references to an object of many properties': withSchema({
    ...closed,
    properties: references,
    required: ['a'],
    $defs: {
      a: {
        ...closed,
        properties: Object.fromEntries(times(20_000, (at) => [`p${at}`, true])),
        required: times(20_000, (at) => `p${at}`),
      },
    },
  }),
  'definitions that nothing refers to': withSchema({
    ...closed,
    properties: {},
    $defs: { a: { anyOf: times(200_000, () => ({})) } },
  }),
  'notes on one thought': {
    messages: [
      user,
      { role: 'assistant', content: 'a', reasoning_details: times(10_000, (at) => thought({ [`k${at}`]: { a: 1 } })) },
    ],
  },
  'notes of one provider on one text': {
    messages: [
      user,
      {
        role: 'assistant',
        content: 'a',
        reasoning_details: times(10_000, (at) => thought({ a: { [`k${at}`]: 1 } }, { id: 'ai-sdk-v4:text' })),
      },
    ],
  },
  'many parts in one message': {
    messages: [{ role: 'user', content: times(150_000, () => ({ type: 'text', text: 'a' })) }],
  },
  'reasoning between calls': {
    messages: [
      user,
      {
        role: 'assistant',
        content: null,
        tool_calls: times(30_000, (at) => call(`c${at}`)),
        reasoning_details: times(30_000, (at) =>
          thought({}, { id: `r${at}`, index: at * 2, format: 'openai-responses-v1' }),
        ),
      },
    ],
  },
};

describe.each(Object.entries(models))('a large request at %s', (name, upstreamModel) => {
  it.each(Object.entries(requests))('takes time in proportion to its size, with %s', (_, request) => {
    const dialect = dialects[name as keyof typeof dialects];
    const startMs = cpuMs();
    const { body } = dialect.encodeRequest({ request: request as ChatRequest, upstreamModel, quirks: {} });
    expect(cpuMs() - startMs).toBeLessThan(mostMs);
    expect(body.length).toBeLessThan(10 * JSON.stringify(request).length);
  });
});
