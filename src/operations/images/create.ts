import { imagesTask } from '../../pipeline/tasks/images.ts';
import { type ImagesRequest, imagesRequestSchema } from '../../schema/images/request.ts';
import { type ImagesResult, imagesResultSchema } from '../../schema/images/result.ts';
import type { ApiOperation, Operation } from '../operation.ts';
import { explainTaskOperation, type TaskDeps, type TaskRequest, taskOperation } from '../tasks/task-call.ts';
import { sizeIssues } from './issues.ts';

/** The request, as POST /images and its explanation read it. */
const ofRequest = {
  body: imagesRequestSchema,
  issues: sizeIssues,
  taskOf: imagesTask,
} satisfies TaskRequest<ImagesRequest>;

/**
 * Makes images in the shape of the public service.
 * @see docs/images.md
 */
export function createImage(deps: TaskDeps): ApiOperation<'images.create', ImagesRequest, ImagesResult, ImagesRequest> {
  return taskOperation(deps, {
    name: 'createImage',
    api: 'images.create',
    path: '/images',
    result: imagesResultSchema,
    ...ofRequest,
  });
}

/** Explains how such a request would be routed and paid now. */
export function explainImage(deps: TaskDeps): Operation<ImagesRequest> {
  return explainTaskOperation(deps, { name: 'explainImage', path: '/images/explain', ...ofRequest });
}
