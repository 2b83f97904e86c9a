import { generationId } from '../../base/ids.ts';
import { serve } from '../../pipeline/serve.ts';
import { promptsOf } from '../../schema/completions/issues.ts';
import type { TextCompletionRequest } from '../../schema/completions/request.ts';
import { textCompletionResultSchema } from '../../schema/completions/result.ts';
import type { Operation } from '../operation.ts';
import { type CompletionsDeps, completionsChecks, textCompletionCalls } from './call-of.ts';
import { serveSeveral } from './several.ts';

/**
 * Completes a text, by a chat model.
 * @see https://platform.openai.com/docs/api-reference/completions/create
 */
export function createCompletion(deps: CompletionsDeps): Operation<TextCompletionRequest> {
  const callOf = textCompletionCalls(deps);
  return {
    name: 'createCompletion',
    method: 'POST',
    path: '/completions',
    permissions: ['inference'],
    wire: 'completions',
    ...completionsChecks(deps),
    result: textCompletionResultSchema,
    recordsItself: true,
    generationId: (receivedAtMs) => generationId(deps.ids, receivedAtMs),
    run: (input) =>
      promptsOf(input.body).length === 1 ? serve(deps.pipeline, callOf(input)) : serveSeveral(deps, callOf, input),
  };
}
