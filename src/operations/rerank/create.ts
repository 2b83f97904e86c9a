import { rerankTask } from '../../pipeline/tasks/rerank.ts';
import { type RerankRequest, rerankRequestSchema } from '../../schema/rerank/request.ts';
import { type RerankResult, rerankResultSchema } from '../../schema/rerank/result.ts';
import type { ApiOperation, Operation } from '../operation.ts';
import { explainTaskOperation, type TaskDeps, type TaskRequest, taskOperation } from '../tasks/task-call.ts';

/** The request, as POST /rerank and its explanation read it. */
const ofRequest = {
  body: rerankRequestSchema,
  issues: ({ documents, top_n: topN, top_k: topK }, { rerankDocuments: mostDocuments }) => [
    ...(topN != null && topK != null && topN !== topK
      ? [{ path: 'top_k', message: 'expected the same number as top_n, whose other name it is' }]
      : []),
    ...(documents.length > mostDocuments
      ? [{ path: 'documents', message: `expected at most ${mostDocuments} documents` }]
      : []),
    ...documents.flatMap((one, at) =>
      typeof one !== 'string' && one.text === undefined && one.image === undefined
        ? [{ path: `documents[${at}]`, message: 'expected a text or an image' }]
        : [],
    ),
  ],
  taskOf: rerankTask,
} satisfies TaskRequest<RerankRequest>;

/**
 * Ranks documents by a query.
 * @see docs/rerank.md
 */
export function createRerank(
  deps: TaskDeps,
): ApiOperation<'rerank.create', RerankRequest, RerankResult, RerankRequest> {
  return taskOperation(deps, {
    name: 'createRerank',
    api: 'rerank.create',
    path: '/rerank',
    result: rerankResultSchema,
    ...ofRequest,
  });
}

/** Explains how such a request would be routed and paid now. */
export function explainRerank(deps: TaskDeps): Operation<RerankRequest> {
  return explainTaskOperation(deps, { name: 'explainRerank', path: '/rerank/explain', ...ofRequest });
}
