import * as z from 'zod';
import { explanationSchema } from '../../schema/chat/explanation.ts';
import type { GeminiRequest } from '../../schema/gemini/request.ts';
import { explainCall } from '../chat/explain.ts';
import type { Operation } from '../operation.ts';
import { type GeminiDeps, geminiCalls } from './call-of.ts';
import { geminiChecks } from './check.ts';
import { type GeminiQuery, geminiQuery } from './query.ts';

/**
 * Explains how a request of the Gemini wire would be routed and paid now. The operation calls no provider and holds no
 * money.
 */
export function explainContent(deps: GeminiDeps): Operation<GeminiRequest, GeminiQuery> {
  const callOf = geminiCalls(deps, 'generateContent', false);
  return {
    name: 'explainContent',
    method: 'POST',
    path: '/models/:model+[:]explain',
    permissions: ['inference', 'management'],
    wire: 'gemini',
    ...geminiChecks(deps),
    query: geminiQuery,
    result: () => z.object({ data: explanationSchema() }),
    run: (input) => explainCall(deps.pipeline, callOf(input)),
  };
}
