import { generationId } from '../../base/ids.ts';
import { refusal } from '../../base/refusal.ts';
import type { Loose } from '../../base/values.ts';
import { askOf } from '../../call/ask.ts';
import type { OperationReply } from '../../call/reply.ts';
import { chatEncoder } from '../../formats/chat/encoder.ts';
import { embeddingsOf, itemIssues, itemsOf, withCamelNames } from '../../formats/gemini/embeddings.ts';
import { serveTask } from '../../pipeline/task/serve.ts';
import { embeddingsTask } from '../../pipeline/tasks/embeddings.ts';
import type { EmbeddingsResult } from '../../schema/embeddings/result.ts';
import {
  type BatchEmbedContentsRequest,
  batchEmbedContentsResultSchema,
  batchEmbedContentsSchema,
  type EmbedContentRequest,
  embedContentResultSchema,
  embedContentSchema,
} from '../../schema/gemini/embed.ts';
import type { Schema } from '../../schema/schema.ts';
import { completionCalls, withHeaderIssues } from '../chat/call-of.ts';
import type { Operation } from '../operation.ts';
import { type TaskDeps, taskCheck } from '../tasks/task-call.ts';
import { modelOf } from './call-of.ts';
import { asEvent } from './generate-content.ts';
import { type GeminiQuery, geminiQuery, wantsEvents } from './query.ts';

/**
 * Makes a vector.
 * @see https://ai.google.dev/api/embeddings#method:-models.embedcontent
 */
export function embedContent(deps: TaskDeps): Operation<EmbedContentRequest, GeminiQuery> {
  return embedding(deps, {
    name: 'embedContent',
    body: embedContentSchema,
    result: embedContentResultSchema,
    vectorsIn: ([first]) => ({ embedding: first }),
  });
}

/**
 * Makes a vector of each item.
 * @see https://ai.google.dev/api/embeddings#method:-models.batchembedcontents
 */
export function batchEmbedContents(deps: TaskDeps): Operation<BatchEmbedContentsRequest, GeminiQuery> {
  return embedding(deps, {
    name: 'batchEmbedContents',
    body: batchEmbedContentsSchema,
    result: batchEmbedContentsResultSchema,
    vectorsIn: (embeddings) => ({ embeddings }),
  });
}

interface Form<Body> {
  name: string;
  body: () => Schema<Body>;
  result: () => Schema<unknown>;
  /** Makes the member of the response that has the vectors. */
  vectorsIn(vectors: readonly { values: unknown }[]): Loose;
}

function embedding<Body extends EmbedContentRequest | BatchEmbedContentsRequest>(
  { pipeline, ids, brand, bounds }: TaskDeps,
  { name, body, result, vectorsIn }: Form<Body>,
): Operation<Body, GeminiQuery> {
  const callOf = completionCalls(ids, brand, name);
  const encoder = chatEncoder(brand);
  const check = taskCheck(body, bounds);
  return {
    name,
    method: 'POST',
    path: `/models/:model+[:]${name}`,
    permissions: ['inference'],
    wire: 'gemini',
    body: () => ({ safeParse: (value) => check().safeParse(withCamelNames(value)) }),
    query: geminiQuery,
    result,
    issues: (given, headers) => {
      const most = bounds.embeddingItems;
      const tooMany = 'requests' in given && given.requests.length > most;
      const issues = tooMany ? [{ path: 'requests', message: `expected at most ${most} items` }] : [];
      return withHeaderIssues(issues, headers);
    },
    recordsItself: true,
    generationId: (receivedAtMs) => generationId(ids, receivedAtMs),
    async run(input) {
      const model = modelOf(input.params);
      const items = itemsOf(input.body);
      // The path is not known where the body is checked.
      const issues = itemIssues(items, model, 'requests' in input.body);
      if (issues.length > 0) throw refusal('invalid_request', issues);
      const task = embeddingsTask(embeddingsOf(input.body, model));
      const reply = await serveTask(pipeline, callOf(input, askOf(task.view()), encoder), task);
      const shown = withTitles(inForm(reply, vectorsIn, brand), items);
      return wantsEvents(input.query) ? asEvent(shown) : shown;
    },
  };
}

/** Returns the reply of POST /embeddings in the form of this wire. */
function inForm(reply: OperationReply, vectorsIn: Form<never>['vectorsIn'], brand: string): OperationReply {
  if (reply.kind !== 'json') return reply;
  const { data, usage, ...others } = reply.body as unknown as EmbeddingsResult & Loose;
  const metadata = `${brand}_metadata`;
  return {
    ...reply,
    body: {
      ...vectorsIn(data.map(({ embedding: values }) => ({ values }))),
      usageMetadata: { promptTokenCount: usage.prompt_tokens },
      ...(others[metadata] === undefined ? {} : { [metadata]: others[metadata] }),
    },
  };
}

const droppedHeader = 'x-service-dropped';

/** Says of titles that no provider got them. */
function withTitles(reply: OperationReply, items: ReturnType<typeof itemsOf>): OperationReply {
  if (!items.some(({ title }) => title)) return reply;
  const dropped = reply.headers?.[droppedHeader];
  return {
    ...reply,
    headers: { ...reply.headers, [droppedHeader]: dropped === undefined ? 'title' : `${dropped}, title` },
  };
}
