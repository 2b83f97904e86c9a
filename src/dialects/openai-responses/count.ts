import { stringifyExact } from '../../base/exact-json.ts';
import type { Loose } from '../../base/values.ts';
import type { CountRequest, EncodedRequest } from '../dialect.ts';
import type { ResponsesQuirks } from './quirks.ts';

/** The fields that the count takes: it refuses others. */
const counted = [
  'model',
  'instructions',
  'input',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'text',
  'reasoning',
  'truncation',
] as const;

/**
 * Makes the request that counts a prompt, for a provider that has it.
 * @see https://platform.openai.com/docs/api-reference/responses/input-tokens
 */
export function countRequest(
  { path, payload, headers }: EncodedRequest,
  _model: string,
  quirks: ResponsesQuirks,
): CountRequest | null {
  if (quirks.countsInput !== true || path !== '/responses') return null;
  const asked: Loose = {};
  for (const name of counted) if (payload[name] !== undefined) asked[name] = payload[name];
  return {
    path: '/responses/input_tokens',
    headers: { ...headers, accept: 'application/json' },
    body: stringifyExact(asked),
    tokensIn: ({ input_tokens: tokens }) => tokens,
  };
}
