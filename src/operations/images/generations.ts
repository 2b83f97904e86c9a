import { imageGenerationsTask } from '../../pipeline/tasks/images.ts';
import { type ImageGenerationsRequest, imageGenerationsRequestSchema } from '../../schema/images/request.ts';
import { type OpenaiImagesResult, openaiImagesResultSchema } from '../../schema/images/result.ts';
import type { ApiOperation, Operation } from '../operation.ts';
import { explainTaskOperation, type TaskDeps, type TaskRequest, taskOperation } from '../tasks/task-call.ts';
import { streamIssues } from './issues.ts';

/** The request, as POST /images/generations and its explanation read it. */
const ofRequest = {
  body: imageGenerationsRequestSchema,
  issues: streamIssues,
  taskOf: imageGenerationsTask,
} satisfies TaskRequest<ImageGenerationsRequest>;

/**
 * Makes images of a text.
 * @see docs/images.md
 */
export function createImages(
  deps: TaskDeps,
): ApiOperation<'images.generate', ImageGenerationsRequest, OpenaiImagesResult, ImageGenerationsRequest> {
  return taskOperation(deps, {
    name: 'createImages',
    api: 'images.generate',
    path: '/images/generations',
    result: openaiImagesResultSchema,
    ...ofRequest,
  });
}

/** Explains how such a request would be routed and paid now. */
export function explainImages(deps: TaskDeps): Operation<ImageGenerationsRequest> {
  return explainTaskOperation(deps, { name: 'explainImages', path: '/images/generations/explain', ...ofRequest });
}
