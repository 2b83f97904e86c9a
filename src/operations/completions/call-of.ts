import type { Ids } from '../../base/ids.ts';
import { lazily } from '../../base/lazily.ts';
import type { Issue } from '../../base/refusal.ts';
import type { Call } from '../../call/call.ts';
import { completionsEncoder } from '../../formats/completions/encoder.ts';
import { askOfTextCompletion, promptIn } from '../../formats/completions/request.ts';
import type { PipelineDeps } from '../../pipeline/deps.ts';
import { checkWithPlugins } from '../../schema/chat/plugin-check.ts';
import { checkWithBounds, type RequestBounds } from '../../schema/chat/request-bounds.ts';
import { contradictions } from '../../schema/chat/validate.ts';
import { textCompletionRequestCheck } from '../../schema/compiled.ts';
import { textCompletionIssues } from '../../schema/completions/issues.ts';
import type { TextCompletionRequest } from '../../schema/completions/request.ts';
import type { BodyCheck } from '../../schema/schema.ts';
import { completionCalls, withHeaderIssues } from '../chat/call-of.ts';
import type { OperationInput } from '../operation.ts';

/** The dependencies of the operations of text completions. */
export interface CompletionsDeps {
  pipeline: PipelineDeps;
  ids: Ids;
  brand: string;
  bounds: RequestBounds;
}

/** The checks that all operations with the body of a text completion share. */
export interface CompletionsChecks {
  /** The schema: 400. */
  body: () => BodyCheck<TextCompletionRequest>;
  /** The faults that the schema does not find: 400. */
  issues: (body: TextCompletionRequest, headers: Headers) => readonly Issue[];
  /** The contradictions: 422. */
  contradictions: (body: TextCompletionRequest) => Issue[];
}

export function completionsChecks({
  pipeline,
  bounds,
}: Pick<CompletionsDeps, 'pipeline' | 'bounds'>): CompletionsChecks {
  const check = lazily(() => checkWithBounds(checkWithPlugins(textCompletionRequestCheck, pipeline.plugins), bounds));
  return {
    body: () => check()(),
    issues: (body, headers) => withHeaderIssues(textCompletionIssues(body), headers),
    contradictions: (body) => contradictions(askOfTextCompletion(body).request),
  };
}

/** Makes the call of a request for a text completion: a chat request whose response is written in the caller's format. */
export function textCompletionCalls({
  ids,
  brand,
}: Pick<CompletionsDeps, 'ids' | 'brand'>): (input: OperationInput<TextCompletionRequest>) => Call {
  const callOf = completionCalls(ids, brand, 'createCompletion');
  return (input) => {
    let echo = '';
    const encoder = completionsEncoder({ brand, echo: () => echo });
    if (input.body.echo !== true) return callOf(input, askOfTextCompletion(input.body), encoder);
    // A text that a guardrail has taken out of the prompt does not come back by the echo.
    return callOf(input, askOfTextCompletion(input.body), encoder, ({ screened }) => {
      echo = promptIn(screened.request);
    });
  };
}
