import fc from 'fast-check';
import { expect, it } from 'vitest';
import { UpstreamError } from '../../../../src/base/http/upstream-error.ts';
import { anthropicMessages } from '../../../../src/dialects/anthropic-messages/index.ts';
import type { MessagesQuirks } from '../../../../src/dialects/anthropic-messages/quirks.ts';
import type { EncodedRequest } from '../../../../src/dialects/dialect.ts';
import { encodeFitted } from '../../../../src/dialects/fit/index.ts';
import type { ChatRequest } from '../../../../src/schema/chat/chat.ts';
import { chatRequest } from '../../schema/arbitrary.ts';

const model = fc.constantFrom(
  'claude-3-haiku-20240307',
  'claude-3-7-sonnet-20250219',
  'claude-sonnet-4-5',
  'claude-opus-4-6',
  'claude-opus-4-8',
  'claude-opus-5-5',
  'm',
);
const quirks: fc.Arbitrary<MessagesQuirks> = fc.record(
  { host: fc.constantFrom('anthropic' as const, 'vertex' as const), dropParams: fc.constant(['stop', 'user']) },
  { requiredKeys: [] },
);

/** Fields that Anthropic's body has. */
const known = new Set([
  'anthropic_version',
  'cache_control',
  'max_tokens',
  'messages',
  'metadata',
  'model',
  'output_config',
  'service_tier',
  'stop_sequences',
  'stream',
  'system',
  'temperature',
  'thinking',
  'tool_choice',
  'tools',
  'top_k',
  'top_p',
]);

/** Fields of a request that speak to the gateway, or that are looked at below. */
const elsewhere = new Set([
  ...['messages', 'max_tokens', 'max_completion_tokens', 'tools', 'stream', 'stream_options', 'cache_control'],
  ...['model', 'models', 'provider', 'plugins', 'route', 'debug', 'trace', 'session_id', 'stop_server_tools_when'],
  ...['include_reasoning', 'usage', 'transforms'],
]);
/** Where a field of a request goes. */
const becomes: Record<string, string> = {
  stop: 'stop_sequences',
  user: 'metadata',
  safety_identifier: 'metadata',
  reasoning_effort: 'thinking',
  reasoning: 'thinking',
  parallel_tool_calls: 'tool_choice',
};

interface Body {
  max_tokens: number;
  thinking?: { budget_tokens?: number };
  messages: { role: string; content: { type: string; id?: string; tool_use_id?: string }[] }[];
}

it('of any shape becomes a body that Anthropic can read, or an error that names its place', () => {
  let bodies = 0;
  fc.assert(
    fc.property(chatRequest, model, quirks, (given, upstreamModel, taken) => {
      const request = given as unknown as ChatRequest;
      let encoded: EncodedRequest;
      try {
        encoded = encodeFitted(anthropicMessages, { request, upstreamModel, quirks: taken });
      } catch (error) {
        if (!(error instanceof UpstreamError)) throw error;
        expect(error).toMatchObject({ status: 400, message: expect.stringMatching(/^(?:messages|tools|tool_choice)/) });
        return;
      }
      bodies++;
      const body = JSON.parse(encoded.body) as Body;
      expect(Object.keys(body).filter((key) => !known.has(key))).toEqual([]);
      checkTokens(body, request);
      checkTurns(body);
      expect(encoded.body.split('"cache_control":').length - 1).toBeLessThanOrEqual(4 + countOf(request));
      expect(unaccounted(request, encoded)).toEqual([]);
    }),
    { numRuns: 2_000 },
  );
  expect(bodies).toBeGreaterThan(100);
});

/** Texts and unknown schemas may hold the word themselves. */
function countOf(request: ChatRequest): number {
  return JSON.stringify(request).includes('\\"cache_control') ? 100 : 0;
}

function checkTokens(body: Body, request: ChatRequest): void {
  const largest = request.max_completion_tokens ?? request.max_tokens;
  if (largest) expect(body.max_tokens).toBe(largest);
  const budget = body.thinking?.budget_tokens;
  if (budget !== undefined) {
    expect(budget).toBeGreaterThanOrEqual(1_024);
    expect(budget).toBeLessThan(body.max_tokens);
  }
}

function checkTurns({ messages }: Body): void {
  const roles = messages.map(({ role }) => role);
  roles.forEach((role, at) => {
    expect(role).not.toBe(roles[at + 1]);
  });
  for (const { content } of messages) {
    expect(content.length).toBeGreaterThan(0);
    const types = content.map(({ type }) => type);
    expect(types.lastIndexOf('tool_result')).toBeLessThan(types.filter((type) => type === 'tool_result').length);
    for (const { id, tool_use_id: of } of content) expect(id ?? of ?? 'a').toMatch(/^[\w-]+$/);
  }
}

/** Fields that neither reach the provider nor are listed. */
function unaccounted(request: ChatRequest, { payload, dropped }: EncodedRequest): string[] {
  return Object.keys(request).filter((key) => {
    const value = (request as Record<string, unknown>)[key];
    // Of two that differ, one has its way.
    if (key.startsWith('reasoning') && request.reasoning && request.reasoning_effort) return false;
    if (value === null || value === undefined || elsewhere.has(key) || dropped.includes(key)) return false;
    return !((becomes[key] ?? key) in payload) && !asksForNothing(key, value, payload);
  });
}

function asksForNothing(key: string, value: unknown, payload: Record<string, unknown>): boolean {
  const { type, enabled, effort } = Object(value);
  if (key === 'response_format')
    return type === 'text' || 'output_config' in payload || 'tools' in payload || 'system' in payload;
  if (key === 'reasoning' || key === 'reasoning_effort')
    return 'output_config' in payload || value === 'none' || effort === 'none' || enabled === false || isEmpty(value);
  if (key === 'tool_choice') return value === 'auto' || type === 'allowed_tools';
  if (key === 'parallel_tool_calls') return value === true || 'tool_choice' in payload;
  if (key === 'modalities') return (value as string[]).every((one) => one === 'text');
  return [0, 1, false].includes(value as number) || isEmpty(value);
}

/** Such as `reasoning: { exclude: true }`, which is not the provider's, and an empty list. */
function isEmpty(value: unknown): boolean {
  if (typeof value === 'string') return value === '';
  if (Array.isArray(value)) return value.length === 0;
  const { effort, max_tokens: max, enabled } = Object(value);
  return typeof value === 'object' && !effort && (max ?? null) === null && enabled !== true;
}
