import * as z from 'zod';
import { generationId, type Ids } from '../../base/ids.ts';
import { lazily } from '../../base/lazily.ts';
import { askOf } from '../../call/ask.ts';
import { chatEncoder } from '../../formats/chat/encoder.ts';
import type { PipelineDeps } from '../../pipeline/deps.ts';
import { explainTask } from '../../pipeline/explain-task.ts';
import { serveTask } from '../../pipeline/task/serve.ts';
import type { Task } from '../../pipeline/task/task.ts';
import { explanationSchema } from '../../schema/chat/explanation.ts';
import { checkWithBounds, type RequestBounds } from '../../schema/chat/request-bounds.ts';
import { asZod, type BodyCheck, type Schema, takingNulls } from '../../schema/schema.ts';
import type { LimitSettings } from '../../schema/settings/settings.ts';
import type { TaskFields } from '../../schema/task-fields.ts';
import { completionCalls, withHeaderIssues } from '../chat/call-of.ts';
import { explainCall } from '../chat/explain.ts';
import type { ApiOperation, FormFields, Operation } from '../operation.ts';

export interface TaskDeps {
  pipeline: PipelineDeps;
  ids: Ids;
  brand: string;
  bounds: RequestBounds & TaskBounds;
}

/** The bounds of the lists that tasks work on. */
export type TaskBounds = Pick<LimitSettings, 'embeddingItems' | 'rerankDocuments'>;

/** The parts of an operation that asks for a task. */
interface TaskOperation<Place extends string, Body extends TaskFields, Result> extends TaskRequest<Body> {
  name: string;
  api: Place;
  path: string;
  result: () => Schema<Result>;
}

/** The request of a task, as its operations read it. */
export interface TaskRequest<Body extends TaskFields> {
  body: () => Schema<Body>;
  /** The fields of a form that are no single text. Absent: the operation takes JSON alone. */
  form?: FormFields | undefined;
  /** Returns faults that the schema does not find. */
  issues?: ((body: Body, bounds: TaskBounds) => readonly { path: string; message: string }[]) | undefined;
  /** Makes the task of a body. */
  taskOf(body: Body): Task;
}

/** Makes the check of the body of a task: of what it names, and by its schema. */
export function taskCheck<Body>(body: () => Schema<Body>, bounds: RequestBounds): () => BodyCheck<Body> {
  const schema = () => asZod(body());
  const check = lazily(() => checkWithBounds(() => takingNulls(schema() as BodyCheck<Body>, schema), bounds));
  return () => check()();
}

/** Makes the operation that explains a task: it calls no provider, and holds no money. */
export function explainTaskOperation<Body extends TaskFields>(
  { pipeline, ids, brand, bounds }: TaskDeps,
  { name, path, body, form, issues, taskOf }: Omit<TaskOperation<string, Body, unknown>, 'api' | 'result'>,
): Operation<Body> {
  const callOf = completionCalls(ids, brand, name);
  const encoder = chatEncoder(brand);
  const check = taskCheck(body, bounds);
  return {
    name,
    method: 'POST',
    path,
    permissions: ['inference', 'management'],
    body: check,
    ...(form === undefined ? {} : { form }),
    result: () => z.object({ data: explanationSchema() }),
    issues: (given, headers) => withHeaderIssues(issues?.(given, bounds) ?? [], headers),
    run(input) {
      const task = taskOf(input.body);
      const call = callOf(input, askOf(task.view()), encoder);
      return explainCall(pipeline, call, (deps, asked) => explainTask(deps, asked, task));
    },
  };
}

/** Makes an operation that asks for a task: `POST /embeddings` and its like. */
export function taskOperation<Place extends string, Body extends TaskFields, Result>(
  deps: TaskDeps,
  { api, ...operation }: TaskOperation<Place, Body, Result>,
): ApiOperation<Place, Body, Result, Body> {
  return { ...asTaskOperation(deps, operation), api, result: operation.result };
}

/** As `taskOperation`, for an operation without a function of its own name in process. */
export function asTaskOperation<Body extends TaskFields>(
  { pipeline, ids, brand, bounds }: TaskDeps,
  { name, path, body, form, result, issues, taskOf }: Omit<TaskOperation<string, Body, unknown>, 'api'>,
): Operation<Body> {
  const callOf = completionCalls(ids, brand, name);
  const encoder = chatEncoder(brand);
  const check = taskCheck(body, bounds);
  return {
    name,
    method: 'POST',
    path,
    permissions: ['inference'],
    body: check,
    ...(form === undefined ? {} : { form }),
    result,
    issues: (given, headers) => withHeaderIssues(issues?.(given, bounds) ?? [], headers),
    recordsItself: true,
    generationId: (receivedAtMs) => generationId(ids, receivedAtMs),
    run(input) {
      const task = taskOf(input.body);
      return serveTask(pipeline, callOf(input, askOf(task.view()), encoder), task);
    },
  };
}
