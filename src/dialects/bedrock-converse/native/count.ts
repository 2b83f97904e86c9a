import { toBase64 } from '../../../base/base64.ts';
import { stringifyExact } from '../../../base/exact-json.ts';
import type { Loose } from '../../../base/values.ts';
import type { CountRequest, EncodedRequest } from '../../dialect.ts';
import { claudeName } from '../../shared/claude-name.ts';

/** The parts of a Converse request that the count takes. */
const counted = ['messages', 'system', 'toolConfig', 'additionalModelRequestFields'] as const;

/** The place from which a profile serves a model: the count is asked of the model itself. */
const placeOfProfile = /^[a-z]{2,6}(?:-[a-z]{2,4})?\.(?=anthropic\.)/;

/**
 * Makes the request that counts a prompt. Bedrock counts for Claude alone.
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_CountTokens.html
 */
export function countRequest({ path, payload, body }: EncodedRequest, upstreamModel: string): CountRequest | null {
  if (claudeName(upstreamModel) === null) return null;
  const isInvoked = /\/invoke(?:-with-response-stream)?$/.test(path);
  const converse: Loose = {};
  for (const name of counted) if (payload[name] !== undefined) converse[name] = payload[name];
  return {
    path: `/model/${encodeURIComponent(upstreamModel.replace(placeOfProfile, ''))}/count-tokens`,
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: stringifyExact({
      input: isInvoked ? { invokeModel: { body: toBase64(new TextEncoder().encode(body)) } } : { converse },
    }),
    tokensIn: ({ inputTokens: tokens }) => tokens,
  };
}
