import { embeddingsTask } from '../../pipeline/tasks/embeddings.ts';
import { type EmbeddingsRequest, embeddingsRequestSchema } from '../../schema/embeddings/request.ts';
import { type EmbeddingsResult, embeddingsResultSchema } from '../../schema/embeddings/result.ts';
import type { ApiOperation, Operation } from '../operation.ts';
import { explainTaskOperation, type TaskDeps, type TaskRequest, taskOperation } from '../tasks/task-call.ts';

/** The request, as POST /embeddings and its explanation read it. */
const ofRequest = {
  body: embeddingsRequestSchema,
  issues: ({ input }, { embeddingItems: mostItems }) =>
    Array.isArray(input) && typeof input[0] !== 'number' && input.length > mostItems
      ? [{ path: 'input', message: `expected at most ${mostItems} items` }]
      : [],
  taskOf: embeddingsTask,
} satisfies TaskRequest<EmbeddingsRequest>;

/**
 * Makes vectors of texts, token ids or parts.
 * @see docs/embeddings.md
 */
export function createEmbeddings(
  deps: TaskDeps,
): ApiOperation<'embeddings.create', EmbeddingsRequest, EmbeddingsResult, EmbeddingsRequest> {
  return taskOperation(deps, {
    name: 'createEmbeddings',
    api: 'embeddings.create',
    path: '/embeddings',
    result: embeddingsResultSchema,
    ...ofRequest,
  });
}

/** Explains how such a request would be routed and paid now. */
export function explainEmbeddings(deps: TaskDeps): Operation<EmbeddingsRequest> {
  return explainTaskOperation(deps, { name: 'explainEmbeddings', path: '/embeddings/explain', ...ofRequest });
}
