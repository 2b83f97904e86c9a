import { imageEditsTask } from '../../pipeline/tasks/images.ts';
import { type ImageEditsRequest, imageEditsRequestSchema } from '../../schema/images/request.ts';
import { type OpenaiImagesResult, openaiImagesResultSchema } from '../../schema/images/result.ts';
import type { ApiOperation, Operation } from '../operation.ts';
import { explainTaskOperation, type TaskDeps, type TaskRequest, taskOperation } from '../tasks/task-call.ts';
import { streamIssues } from './issues.ts';

/** The request, as POST /images/edits and its explanation read it. */
const ofRequest = {
  body: imageEditsRequestSchema,
  form: {
    image: 'files',
    mask: 'file',
    models: 'list',
    provider: 'object',
    trace: 'object',
    svg: 'object',
    n: 'number',
    output_compression: 'number',
    partial_images: 'number',
    frame_count: 'number',
    frame_duration_ms: 'number',
    stream: 'boolean',
  },
  issues(body) {
    const hasFiles = (body.image ?? null) !== null;
    const hasReferences = (body.images ?? null) !== null;
    return [
      ...(hasFiles === hasReferences
        ? [{ path: hasFiles ? 'images' : 'image', message: 'expected files in `image`, or references in `images`' }]
        : []),
      ...streamIssues(body),
    ];
  },
  taskOf: imageEditsTask,
} satisfies TaskRequest<ImageEditsRequest>;

/**
 * Makes images of pictures and a text.
 * @see docs/images.md
 */
export function editImages(
  deps: TaskDeps,
): ApiOperation<'images.edit', ImageEditsRequest, OpenaiImagesResult, ImageEditsRequest> {
  return taskOperation(deps, {
    name: 'editImages',
    api: 'images.edit',
    path: '/images/edits',
    result: openaiImagesResultSchema,
    ...ofRequest,
  });
}

/** Explains how such a request would be routed and paid now. */
export function explainImageEdits(deps: TaskDeps): Operation<ImageEditsRequest> {
  return explainTaskOperation(deps, { name: 'explainImageEdits', path: '/images/edits/explain', ...ofRequest });
}
