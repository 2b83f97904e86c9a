import { moderationsTask } from '../../pipeline/tasks/moderations.ts';
import { type ModerationsRequest, moderationsRequestSchema } from '../../schema/moderations/request.ts';
import { type ModerationsResult, moderationsResultSchema } from '../../schema/moderations/result.ts';
import type { ApiOperation, Operation } from '../operation.ts';
import { explainTaskOperation, type TaskDeps, type TaskRequest, taskOperation } from '../tasks/task-call.ts';

/** The request, as POST /moderations and its explanation read it. */
const ofRequest = {
  body: moderationsRequestSchema,
  taskOf: moderationsTask,
} satisfies TaskRequest<ModerationsRequest>;

/**
 * Tells whether texts and pictures are harmful.
 * @see docs/moderations.md
 */
export function createModerations(
  deps: TaskDeps,
): ApiOperation<'moderations.create', ModerationsRequest, ModerationsResult, ModerationsRequest> {
  return taskOperation(deps, {
    name: 'createModerations',
    api: 'moderations.create',
    path: '/moderations',
    result: moderationsResultSchema,
    ...ofRequest,
  });
}

/** Explains how such a request would be routed and paid now. */
export function explainModerations(deps: TaskDeps): Operation<ModerationsRequest> {
  return explainTaskOperation(deps, { name: 'explainModerations', path: '/moderations/explain', ...ofRequest });
}
