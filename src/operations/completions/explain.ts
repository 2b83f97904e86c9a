import * as z from 'zod';
import type { Call } from '../../call/call.ts';
import { explainEach } from '../../pipeline/explain.ts';
import { explanationSchema } from '../../schema/chat/explanation.ts';
import { promptsOf } from '../../schema/completions/issues.ts';
import type { TextCompletionRequest } from '../../schema/completions/request.ts';
import { explainCall } from '../chat/explain.ts';
import type { Operation } from '../operation.ts';
import { type CompletionsDeps, completionsChecks, textCompletionCalls } from './call-of.ts';

/** Explains how a text completion would be routed and paid now. The operation calls no provider and holds no money. */
export function explainCompletion(deps: CompletionsDeps): Operation<TextCompletionRequest> {
  const callOf = textCompletionCalls(deps);
  return {
    name: 'explainCompletion',
    method: 'POST',
    path: '/completions/explain',
    permissions: ['inference', 'management'],
    wire: 'completions',
    ...completionsChecks(deps),
    result: () => z.object({ data: explanationSchema() }),
    run(input) {
      const [first = '', ...more] = promptsOf(input.body);
      if (more.length === 0) return explainCall(deps.pipeline, callOf(input));
      const calls = [first, ...more].map((prompt) => callOf(input, { prompt }));
      return explainCall(deps.pipeline, calls[0] as Call, (pipeline) =>
        explainEach(pipeline, calls, (at) => `prompt ${at}`),
      );
    },
  };
}
