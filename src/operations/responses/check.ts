import { lazily } from '../../base/lazily.ts';
import type { Issue } from '../../base/refusal.ts';
import { packedIssues } from '../../formats/responses/packed-size.ts';
import { checkWithPlugins } from '../../schema/chat/plugin-check.ts';
import { checkWithBounds } from '../../schema/chat/request-bounds.ts';
import { responsesRequestCheck } from '../../schema/request-checks.ts';
import { conversationIdOf } from '../../schema/responses/conversations.ts';
import { type ResponsesRequest, responsesContradictions, responsesIssues } from '../../schema/responses/responses.ts';
import { withHeaderIssues } from '../chat/call-of.ts';
import type { OperationInput } from '../operation.ts';
import { type ConversationChecks, continued } from './continue.ts';
import type { ResponsesDeps } from './deps.ts';
import { checkMayKeep } from './may-keep.ts';

/** The checks that all operations with a Responses body share. */
export interface ResponsesChecks extends ConversationChecks {
  /** The contradictions: 422. They are looked for later where an earlier response comes before the input. */
  contradictions: (body: ResponsesRequest) => Issue[];
  /** Puts an earlier response, or a conversation, before the input; see `continued`. */
  prepare: (input: OperationInput<ResponsesRequest>) => Promise<OperationInput<ResponsesRequest>>;
  /** The same for a response that may be kept, or added to a conversation: where that cannot be, the request is refused. */
  prepareToKeep: (input: OperationInput<ResponsesRequest>) => Promise<OperationInput<ResponsesRequest>>;
}

export function responsesChecks(
  deps: Pick<ResponsesDeps, 'pipeline' | 'bounds' | 'responses' | 'conversations'>,
): ResponsesChecks {
  const { pipeline, bounds } = deps;
  const keeps = deps.responses !== null;
  const check = lazily(() => checkWithBounds(checkWithPlugins(responsesRequestCheck, pipeline.plugins), bounds));
  const checks: ResponsesChecks = {
    body: () => check()(),
    issues: (body, headers) => withHeaderIssues([...responsesIssues(body, keeps), ...packedIssues(body)], headers),
    contradictions: (body) => (goesOn(body) ? [] : responsesContradictions(body)),
    wholeContradictions: (body) => responsesContradictions(body),
    prepare: (input) => continued(deps, checks, input),
    async prepareToKeep(input) {
      await checkMayKeep(pipeline, input);
      return continued(deps, checks, input, true);
    },
  };
  return checks;
}

/** Tells whether something stands before the input. */
function goesOn(body: ResponsesRequest): boolean {
  return body.previous_response_id != null || conversationIdOf(body) !== null;
}
