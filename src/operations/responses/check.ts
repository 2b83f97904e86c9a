import { lazily } from '../../base/lazily.ts';
import type { Issue } from '../../base/refusal.ts';
import { packedIssues } from '../../formats/responses/packed-size.ts';
import { checkWithPlugins } from '../../schema/chat/plugin-check.ts';
import { checkWithBounds } from '../../schema/chat/request-bounds.ts';
import { responsesRequestCheck } from '../../schema/compiled.ts';
import { type ResponsesRequest, responsesContradictions, responsesIssues } from '../../schema/responses/responses.ts';
import type { BodyCheck } from '../../schema/schema.ts';
import { withHeaderIssues } from '../chat/call-of.ts';
import type { ResponsesDeps } from './call-of.ts';

/** The checks that all operations with a Responses body share. */
export interface ResponsesChecks {
  /** The schema: 400. */
  body: () => BodyCheck<ResponsesRequest>;
  /** The faults that the schema does not find: 400. */
  issues: (body: ResponsesRequest, headers: Headers) => readonly Issue[];
  /** The contradictions: 422. */
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
