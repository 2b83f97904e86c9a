import { stringifyExact } from '../../../base/exact-json.ts';
import type { Loose } from '../../../base/values.ts';
import type { CountRequest, EncodedRequest } from '../../dialect.ts';
import type { MessagesQuirks } from '../quirks.ts';

/** Fields of a request that say nothing about its prompt, and that the count refuses. */
const notCounted: ReadonlySet<string> = new Set([
  'max_tokens',
  'stream',
  'stop_sequences',
  'temperature',
  'top_p',
  'top_k',
  'metadata',
  'service_tier',
  'diagnostics',
]);

/**
 * Makes the request that counts a prompt. At Google Cloud, the path names no model, so the body does.
 * @see https://platform.claude.com/docs/en/api/messages/count_tokens
 * @see https://docs.cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude/count-tokens
 */
export function countRequest(encoded: EncodedRequest, upstreamModel: string, { host }: MessagesQuirks): CountRequest {
  const isVertex = host === 'vertex';
  const payload: Loose = isVertex ? { model: upstreamModel } : {};
  for (const [name, value] of Object.entries(encoded.payload)) if (!notCounted.has(name)) payload[name] = value;
  return {
    path: isVertex ? '/count-tokens:rawPredict' : '/messages/count_tokens',
    headers: { ...encoded.headers, accept: 'application/json' },
    body: stringifyExact(payload),
    tokensIn: ({ input_tokens: tokens }) => tokens,
  };
}
