import type { Ids } from '../../base/ids.ts';
import { lazily } from '../../base/lazily.ts';
import type { Issue } from '../../base/refusal.ts';
import type { Call } from '../../call/call.ts';
import { completionsEncoder, type JoinedPart } from '../../formats/completions/encoder.ts';
import { askOfTextCompletion, promptIn } from '../../formats/completions/request.ts';
import type { PipelineDeps } from '../../pipeline/deps.ts';
import { checkWithPlugins } from '../../schema/chat/plugin-check.ts';
import { checkWithBounds, type RequestBounds } from '../../schema/chat/request-bounds.ts';
import { contradictions } from '../../schema/chat/validate.ts';
import { promptsOf, textCompletionIssues } from '../../schema/completions/issues.ts';
import type { TextCompletionRequest } from '../../schema/completions/request.ts';
import { textCompletionRequestCheck } from '../../schema/request-checks.ts';
import type { BodyCheck } from '../../schema/schema.ts';
import type { LimitSettings } from '../../schema/settings/settings.ts';
import { completionCalls, withHeaderIssues } from '../chat/call-of.ts';
import type { OperationInput } from '../operation.ts';

/** The dependencies of the operations of text completions. */
export interface CompletionsDeps {
  pipeline: PipelineDeps;
  ids: Ids;
  brand: string;
  bounds: RequestBounds & Pick<LimitSettings, 'completionPrompts'>;
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
    issues: (body, headers) => withHeaderIssues(textCompletionIssues(body, bounds.completionPrompts), headers),
    // Prompts contradict nothing.
    contradictions: (body) => contradictions(askOfTextCompletion(body, promptsOf(body)[0] ?? '').request),
  };
}

/** One of several prompts of a request. */
export interface PromptOfSeveral {
  /** The prompt. */
  readonly prompt: string;
  /** The place of its response. Absent: there will be none. */
  readonly part?: JoinedPart;
  /** As `held` of a call. */
  readonly held?: Call['held'];
}

/**
 * Makes the call of a prompt of a request for a text completion: a chat request whose response is written in the caller's
 * format.
 * @param one  absent: the request has one prompt
 */
export function textCompletionCalls({
  ids,
  brand,
}: Pick<CompletionsDeps, 'ids' | 'brand'>): (
  input: OperationInput<TextCompletionRequest>,
  one?: PromptOfSeveral,
) => Call {
  const callOf = completionCalls(ids, brand, 'createCompletion');
  return (input, one) => {
    let echo = '';
    const encoder = completionsEncoder({ brand, echo: () => echo, joined: one?.part });
    const ask = askOfTextCompletion(input.body, one?.prompt ?? promptsOf(input.body)[0] ?? '');
    // A text that a guardrail has taken out of the prompt does not come back by the echo.
    const asked: Call['asked'] =
      input.body.echo === true
        ? ({ screened }) => {
            echo = promptIn(screened.request);
          }
        : undefined;
    return callOf(input, ask, encoder, asked, one?.held);
  };
}
