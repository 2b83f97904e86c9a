import { lazily } from '../../base/lazily.ts';
import type { Issue } from '../../base/refusal.ts';
import { packedIssues } from '../../convert/responses/packed-size.ts';
import { responsesRequestCheck } from '../../schema/compiled.ts';
import { checkWithPlugins } from '../../schema/plugin-check.ts';
import { checkWithBounds } from '../../schema/request-bounds.ts';
import { type ResponsesRequest, responsesContradictions, responsesIssues } from '../../schema/responses.ts';
import type { BodyCheck } from '../../schema/schema.ts';
import { withHeaderIssues } from '../chat/call-of.ts';
import type { ResponsesDeps } from './call-of.ts';

/** The checks that all operations with a Responses body share, as far as an operation names them. */
export interface ResponsesChecks {
  /** The schema: 400. */
  body: () => BodyCheck<ResponsesRequest>;
  /** What the schema does not say: 400. */
  issues: (body: ResponsesRequest, headers: Headers) => readonly Issue[];
  /** What contradicts itself: 422. */
  contradictions: (body: ResponsesRequest) => Issue[];
}

export function responsesChecks({ pipeline, bounds }: Pick<ResponsesDeps, 'pipeline' | 'bounds'>): ResponsesChecks {
  const check = lazily(() => checkWithBounds(checkWithPlugins(responsesRequestCheck, pipeline.plugins), bounds));
  return {
    body: () => check()(),
    issues: (body, headers) => withHeaderIssues([...responsesIssues(body), ...packedIssues(body)], headers),
    contradictions: (body) => responsesContradictions(body),
  };
}
