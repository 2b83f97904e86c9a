import { decisionsTask } from '../../pipeline/tasks/decisions/task.ts';
import { type DecisionsRequest, decisionsRequestSchema } from '../../schema/decisions/request.ts';
import { type DecisionsResult, decisionsResultSchema } from '../../schema/decisions/result.ts';
import type { ApiOperation, Operation } from '../operation.ts';
import { explainTaskOperation, type TaskDeps, type TaskRequest, taskOperation } from '../tasks/task-call.ts';

/** The request, as POST /decisions and its explanation read it. */
const ofRequest = {
  body: decisionsRequestSchema,
  taskOf: decisionsTask,
} satisfies TaskRequest<DecisionsRequest>;

/**
 * Answers typed questions about an input.
 * @see docs/decisions-api.md
 */
export function createDecisions(
  deps: TaskDeps,
): ApiOperation<'decisions.create', DecisionsRequest, DecisionsResult, DecisionsRequest> {
  return taskOperation(deps, {
    name: 'createDecisions',
    api: 'decisions.create',
    path: '/decisions',
    result: decisionsResultSchema,
    ...ofRequest,
  });
}

/** Explains how such a request would be routed and paid now. */
export function explainDecisions(deps: TaskDeps): Operation<DecisionsRequest> {
  return explainTaskOperation(deps, { name: 'explainDecisions', path: '/decisions/explain', ...ofRequest });
}
