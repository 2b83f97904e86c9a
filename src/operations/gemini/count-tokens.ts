import * as z from 'zod';
import { refusal } from '../../base/refusal.ts';
import { isObject } from '../../base/values.ts';
import type { GeminiRequest } from '../../schema/gemini/request.ts';
import { count } from '../../schema/scalars.ts';
import type { BodyCheck } from '../../schema/schema.ts';
import { countedReply } from '../chat/counted.ts';
import type { Operation } from '../operation.ts';
import { type GeminiDeps, geminiCalls } from './call-of.ts';
import { geminiChecks } from './check.ts';
import { type GeminiQuery, geminiQuery } from './query.ts';

/**
 * Counts the tokens of a request, without a call of a model: its provider does where it can, else the gateway estimates,
 * which a header says.
 * @see https://ai.google.dev/api/tokens#method:-models.counttokens
 */
export function countTokens(deps: GeminiDeps): Operation<GeminiRequest, GeminiQuery> {
  const checks = geminiChecks(deps);
  const callOf = geminiCalls(deps, 'countTokens', false);
  return {
    name: 'countTokens',
    method: 'POST',
    path: '/models/:model+[:]countTokens',
    permissions: ['inference'],
    wire: 'gemini',
    ...checks,
    body: () => withinRequest(checks.body()),
    query: geminiQuery,
    result: () =>
      z.object({
        /** Tokens of the contents, the instructions and the tools. */
        totalTokens: count(),
      }),
    run: (input) => countedReply(deps.pipeline, callOf(input), (tokens) => ({ totalTokens: tokens })),
  };
}

/** A body may hold the whole request in one field, and then nothing beside it. */
function withinRequest(check: BodyCheck<GeminiRequest>): BodyCheck<GeminiRequest> {
  return {
    safeParse(value) {
      const inner = isObject(value) ? (value.generateContentRequest ?? value.generate_content_request) : undefined;
      if (!isObject(inner)) return check.safeParse(value);
      if ((value as { contents?: unknown }).contents == null) return check.safeParse(inner);
      throw refusal('invalid_request', [
        { path: 'contents', message: 'expected either contents or generateContentRequest' },
      ]);
    },
  };
}
