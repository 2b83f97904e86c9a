import { stringifyExact } from '../../base/exact-json.ts';
import type { Loose } from '../../base/values.ts';
import type { CountRequest, EncodedRequest } from '../dialect.ts';
import type { GoogleQuirks } from './quirks.ts';

/** The parts of a request that Vertex AI counts. */
const counted = ['contents', 'systemInstruction', 'tools', 'generationConfig'] as const;

/**
 * Makes the request that counts a prompt. The Gemini API takes the complete request in one field, Vertex AI its parts.
 * @see https://ai.google.dev/api/tokens#method:-models.counttokens
 * @see https://docs.cloud.google.com/vertex-ai/generative-ai/docs/model-reference/count-tokens
 */
export function countRequest({ path, payload }: EncodedRequest, _model: string, quirks: GoogleQuirks): CountRequest {
  const model = path.slice(1, path.lastIndexOf(':'));
  const parts: Loose = {};
  for (const name of counted) if (payload[name] !== undefined) parts[name] = payload[name];
  const body = quirks.countsParts === true ? parts : { generateContentRequest: { model, ...payload } };
  return {
    path: `/${model}:countTokens`,
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: stringifyExact(body),
    tokensIn: ({ totalTokens: tokens }) => tokens,
  };
}
