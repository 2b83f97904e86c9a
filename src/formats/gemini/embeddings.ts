import type { Issue } from '../../base/refusal.ts';
import { isObject, type Loose } from '../../base/values.ts';
import type { EmbeddingsRequest } from '../../schema/embeddings/request.ts';
import type { BatchEmbedContentsRequest, EmbedContentRequest } from '../../schema/gemini/embed.ts';
import { camelName, objectOf, textOf } from '../../schema/gemini/fields.ts';

type Item = BatchEmbedContentsRequest['requests'][number];

/** The words of POST /embeddings for the uses of vectors that Google names. */
const inputTypes: Readonly<Record<string, string | null>> = {
  TASK_TYPE_UNSPECIFIED: null,
  RETRIEVAL_QUERY: 'search_query',
  RETRIEVAL_DOCUMENT: 'search_document',
  CLASSIFICATION: 'classification',
  CLUSTERING: 'clustering',
};

/** Returns a body with the names of its fields as Google writes them, those of its items and settings included. */
export function withCamelNames(body: unknown): unknown {
  if (!isObject(body)) return body;
  const named: Loose = {};
  for (const [name, value] of Object.entries(body)) {
    const camel = name === 'session_id' ? name : camelName(name);
    if (camel === 'requests' && Array.isArray(value)) named[camel] = value.map(withCamelNames);
    else if (camel === 'embedContentConfig') named[camel] = withCamelNames(value);
    // Where both spellings are there, the schema refuses the one with underscores.
    else named[camel !== name && camel in body ? name : camel] = value;
  }
  return named;
}

/** Returns the items of a request, with their settings. */
export function itemsOf(body: EmbedContentRequest | BatchEmbedContentsRequest): readonly Item[] {
  if ('requests' in body) return body.requests;
  const { embedContentConfig: config, content, model, taskType, title, outputDimensionality } = body;
  return [{ content, model, taskType, title, outputDimensionality, ...config }];
}

/** Returns the faults of items that their schema does not find. @param model  the model of the path */
export function itemIssues(items: readonly Item[], model: string, isBatch: boolean): Issue[] {
  const [first] = items as [Item];
  return items.flatMap((item, at) => {
    const path = isBatch ? `requests[${at}].` : '';
    const issues: Issue[] = [];
    if (item.model != null && item.model.replace(/^models\//, '') !== model)
      issues.push({ path: `${path}model`, message: 'expected the model of the path' });
    for (const name of ['taskType', 'outputDimensionality'] as const)
      if ((item[name] ?? null) !== (first[name] ?? null))
        issues.push({ path: `${path}${name}`, message: 'expected the same in all requests' });
    item.content.parts.forEach((part, place) => {
      if (partOf(part) === null)
        issues.push({
          path: `${path}content.parts[${place}]`,
          message: 'expected a text that is not empty, or inlineData of a picture',
        });
    });
    return issues;
  });
}

/** The same request, as POST /embeddings has it. */
export function embeddingsOf(
  body: EmbedContentRequest | BatchEmbedContentsRequest,
  model: string,
): EmbeddingsRequest & { model: string } {
  const items = itemsOf(body);
  const { taskType, outputDimensionality: dimensions = null } = items[0] as Item;
  const { models, provider, user, session_id, trace } = body;
  const input = items.map(({ content }) => ({ content: content.parts.map((part) => partOf(part) as Part) }));
  const texts = input.map(({ content }) => (content.length === 1 ? content[0]?.text : undefined));
  return {
    model,
    ...(models === undefined ? {} : { models }),
    ...(session_id === undefined ? {} : { session_id }),
    provider,
    user,
    trace,
    input: texts.every((text) => text !== undefined) ? (texts as string[]) : input,
    dimensions,
    encoding_format: 'float',
    input_type: wordOf(taskType ?? null),
  };
}

function wordOf(taskType: string | null): string | null {
  if (taskType === null) return null;
  return Object.hasOwn(inputTypes, taskType) ? (inputTypes[taskType] as string | null) : taskType;
}

interface Part {
  type: string;
  text?: string;
  image_url?: { url: string };
  [field: string]: unknown;
}

/** @returns null: no vector can be made of the part */
function partOf(part: Loose): Part | null {
  const text = textOf(part, 'text');
  if (text !== null) return text === '' ? null : { type: 'text', text };
  const inline = objectOf(part, 'inlineData');
  const [mediaType, data] = [textOf(inline, 'mimeType'), textOf(inline, 'data')];
  if (data === null || mediaType?.startsWith('image/') !== true) return null;
  return { type: 'image_url', image_url: { url: `data:${mediaType};base64,${data}` } };
}
