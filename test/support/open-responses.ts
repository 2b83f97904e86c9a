import type { ErrorObject } from 'ajv/dist/2020.js';
import { specificationErrors } from './reference.ts';

/** Checks responses, and the events of a stream, against the published specification of Responses. */

interface Loose {
  [field: string]: unknown;
}

/**
 * What goes beyond the specification, and why we send it all the same. What it has no schema for is taken out before the
 * check; all else must fit.
 * - items, tools and choices of tools of other types, such as `web_search_call` and `custom`: its lists are closed, and
 *   agents send and need them
 * - annotations other than `url_citation`, which OpenAI has
 * - the `schema` of a JSON format: the published schema has lost the object and takes null alone
 * - efforts and lengths that OpenAI knows, such as `minimal`
 * - events of items that it does not have; thoughts are `response.reasoning_text.…`, as OpenAI's clients know them
 */
const itemTypes: readonly unknown[] = ['message', 'function_call', 'function_call_output', 'reasoning', 'compaction'];
const efforts: readonly unknown[] = [null, 'none', 'low', 'medium', 'high', 'xhigh'];
const lengths: readonly unknown[] = ['low', 'medium', 'high'];

const isKnown = ({ type }: Loose) => itemTypes.includes(type);
const list = (value: unknown) => (Array.isArray(value) ? value : []) as Loose[];

function knownResponse(response: Loose): Loose {
  const { output, tools, tool_choice: choice, text, reasoning } = response;
  const { format, verbosity, ...otherText } = text as Loose & { format: Loose };
  const { effort, ...otherReasoning } = reasoning as Loose;
  const chosen = typeof choice === 'object' ? (choice as Loose).type : choice;
  return {
    ...response,
    output: list(output).filter(isKnown).map(knownItem),
    tools: list(tools).filter(({ type }) => type === 'function'),
    tool_choice: typeof choice === 'object' && chosen !== 'function' && chosen !== 'allowed_tools' ? 'auto' : choice,
    text: {
      ...otherText,
      format: format.type === 'json_schema' && format.schema !== undefined ? { ...format, schema: null } : format,
      ...(verbosity === undefined || !lengths.includes(verbosity) ? {} : { verbosity }),
    },
    reasoning: { ...otherReasoning, effort: efforts.includes(effort) ? effort : null },
  };
}

function knownItem(item: Loose): Loose {
  return Array.isArray(item.content) ? { ...item, content: list(item.content).map(knownPart) } : item;
}

function knownPart(part: Loose): Loose {
  if (part.type !== 'output_text') return part;
  return { ...part, annotations: list(part.annotations).filter(({ type }) => type === 'url_citation') };
}

const events: Readonly<Record<string, string>> = {
  'response.created': 'ResponseCreated',
  'response.in_progress': 'ResponseInProgress',
  'response.completed': 'ResponseCompleted',
  'response.incomplete': 'ResponseIncomplete',
  'response.failed': 'ResponseFailed',
  'response.output_item.added': 'ResponseOutputItemAdded',
  'response.output_item.done': 'ResponseOutputItemDone',
  'response.content_part.added': 'ResponseContentPartAdded',
  'response.content_part.done': 'ResponseContentPartDone',
  'response.output_text.delta': 'ResponseOutputTextDelta',
  'response.output_text.done': 'ResponseOutputTextDone',
  'response.output_text.annotation.added': 'ResponseOutputTextAnnotationAdded',
  'response.refusal.delta': 'ResponseRefusalDelta',
  'response.refusal.done': 'ResponseRefusalDone',
  'response.function_call_arguments.delta': 'ResponseFunctionCallArgumentsDelta',
  'response.function_call_arguments.done': 'ResponseFunctionCallArgumentsDone',
  'response.reasoning.delta': 'ResponseReasoningDelta',
  'response.reasoning.done': 'ResponseReasoningDone',
  'response.reasoning_summary_part.added': 'ResponseReasoningSummaryPartAdded',
  'response.reasoning_summary_part.done': 'ResponseReasoningSummaryPartDone',
  'response.reasoning_summary_text.delta': 'ResponseReasoningSummaryDelta',
  'response.reasoning_summary_text.done': 'ResponseReasoningSummaryDone',
};

/** What is wrong with an event; empty where nothing is, or where the specification has no such event. */
export function problemsOfEvent(event: Loose): string[] {
  const type = String(event.type).replace('reasoning_text', 'reasoning');
  const name = events[type];
  const { item, part, annotation, response } = event as Record<string, Loose | undefined>;
  if (name === undefined || (item && !isKnown(item))) return [];
  if (annotation && annotation.type !== 'url_citation') return [];
  return messagesOf(`${name}StreamingEvent`, {
    ...event,
    type,
    ...(item ? { item: knownItem(item) } : {}),
    ...(part ? { part: knownPart(part) } : {}),
    ...(response ? { response: knownResponse(response) } : {}),
  });
}

/** What is wrong with the body of a response. */
export function problemsOfResponse(response: Loose): string[] {
  return messagesOf('ResponseResource', knownResponse(response));
}

/** What is wrong with the body of a compaction. */
export function problemsOfCompaction(compaction: Loose): string[] {
  return messagesOf('CompactResource', {
    ...compaction,
    output: list(compaction.output).filter(isKnown).map(knownItem),
  });
}

/** Of an item, each member of its list of types says why it is none. */
function messagesOf(schema: string, value: Loose): string[] {
  return specificationErrors(schema, value).map(
    ({ instancePath, message, keyword }: ErrorObject) => `${instancePath}: ${message ?? keyword}`,
  );
}
