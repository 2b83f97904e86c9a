import { expect } from 'vitest';
import { responsesEventSchema } from '../../src/schema/responses/events.ts';
import { responsesResultSchema } from '../../src/schema/responses/result.ts';
import { problemsOfEvent, problemsOfResponse } from './open-responses.ts';
import { referenceErrors, sharedAvailable } from './reference.ts';

/** Checks responses as a client sees them. It knows the wire and nothing of the encoder. */

/** An event, a response, an item or a part: the fields that are looked at here. */
export interface Loose {
  [field: string]: unknown;
  type: string;
  id: string;
  status: string;
  call_id?: string;
  name?: string;
  sequence_number: number;
  output_index: number;
  content_index: number;
  summary_index: number;
  annotation_index: number;
  item_id: string;
  item: Loose;
  part: Loose;
  response: Loose;
  output: Loose[];
  content: Loose[];
  summary: Loose[];
  annotations: unknown[];
  logprobs: unknown[];
  delta: string;
  error: { code: string; message: string } | null;
}

export interface CheckedStream {
  events: Loose[];
  /** The object in the last event. */
  final: Loose;
  /** What a client has that only adds up events. */
  items: Loose[];
}

export interface CheckOptions {
  /** false: not against schemas, ours and the reference's, which takes most of the time. Default true. */
  schemas?: boolean;
}

/**
 * What the reference does not have, and why we send it all the same:
 * - `error.code` `context_length_exceeded`: agents shorten the conversation after this word alone
 * - a content part `reasoning_text`: the schema of the event allows it, and the schema that it extends does not
 * - a `web_search_call` that does not say yet what it searches for: its provider announces it so, and it passes as it is
 * - `usage: null` as long as it is not known, and `description: null` of a JSON format: the specification of Responses
 *   demands both
 * - items of clients' own tools and of a provider (`local_shell_call`, `tool_search_call`, others): its list is closed
 */
const unknownTypes = (item: Loose) =>
  !/^(?:message|reasoning|function_call|custom_tool_call|web_search_call|file_search_call|image_generation_call|apply_patch_call)$/.test(
    item.type,
  );

const isBegunSearch = ({ type, status }: Loose) => type === 'web_search_call' && status === 'in_progress';

/** Reads frames: `event:` and `data:`, a blank line. */
export function framesOf(text: string): { name: string; data: string }[] {
  expect(text.endsWith('\n\n')).toBe(true);
  return text
    .slice(0, -2)
    .split('\n\n')
    .filter((frame) => !frame.startsWith(':'))
    .map((frame) => {
      const match = /^(?:event: ([^\n]+)\n)?data: ([^\n]+)$/.exec(frame);
      expect(match, `a frame of another form: ${frame.slice(0, 200)}`).not.toBeNull();
      return { name: match?.[1] ?? '', data: match?.[2] ?? '' };
    });
}

/** Checks a complete stream: item after item, numbers, ids, indices, and that what the events add up to is what they end with. */
export function checkResponsesStream(text: string, options: CheckOptions = {}): CheckedStream {
  const frames = framesOf(text);
  expect(frames.at(-1)).toEqual({ name: '', data: '[DONE]' });
  const events: Loose[] = frames.slice(0, -1).map(({ name, data }) => {
    const event = JSON.parse(data);
    expect(event.type).toBe(name);
    return event;
  });
  expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, at) => at));
  expect(events.slice(0, 2).map(({ type }) => type)).toEqual(['response.created', 'response.in_progress']);
  const ends = events.filter(({ type }) => /^response\.(?:completed|incomplete|failed)$/.test(type));
  expect(ends).toEqual([events.at(-1)]);
  const final = ends[0]?.response as Loose;
  expect(`response.${final.status}`).toBe(ends[0]?.type);
  checkHeads(events, final);
  const items = accumulate(events, final.status === 'failed');
  expect(final.output.map(withoutOurs(final.status))).toEqual(items.map(withoutOurs(final.status)));
  checkIds(final.output);
  for (const event of events) checkEvent(event, options);
  return { events, final, items };
}

/** Of a failed response, the items that were not complete have only another status. */
function withoutOurs(status: string) {
  return (item: Loose) => (status === 'failed' && item.status !== 'completed' ? { ...item, status: 'open' } : item);
}

function checkHeads(events: readonly Loose[], final: Loose): void {
  const [created, inProgress] = events.map(({ response }) => response);
  expect(created).toEqual(inProgress);
  expect(created).toMatchObject({ status: 'in_progress', output: [], completed_at: null, error: null });
  for (const same of ['id', 'created_at', 'model', 'tools', 'instructions'])
    expect(created?.[same]).toEqual(final[same]);
  expect(final.completed_at === null).toBe(final.status !== 'completed');
  expect(final.error === null).toBe(final.status !== 'failed');
  expect(final.incomplete_details === null).toBe(final.status !== 'incomplete');
}

function checkIds(output: readonly Loose[]): void {
  const ids = output.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const calls = output.filter(({ call_id }) => call_id !== undefined).map(({ call_id }) => call_id);
  expect(new Set(calls).size).toBe(calls.length);
  for (const id of ids) expect(id).toMatch(/^.+$/s);
}

interface Open {
  item: Loose;
  isDone: boolean;
  /** Parts that are open, as `content 0`. */
  parts: Set<string>;
}

/** The text of an item by the event with more of it, and the event with all of it. */
const texts: Record<string, { list: 'content' | 'summary' | null; field: string; type: string }> = {
  output_text: { list: 'content', field: 'text', type: 'output_text' },
  refusal: { list: 'content', field: 'refusal', type: 'refusal' },
  reasoning_text: { list: 'content', field: 'text', type: 'reasoning_text' },
  reasoning_summary_text: { list: 'summary', field: 'text', type: 'summary_text' },
  function_call_arguments: { list: null, field: 'arguments', type: 'function_call' },
  custom_tool_call_input: { list: null, field: 'input', type: 'custom_tool_call' },
};

function accumulate(events: readonly Loose[], isFailed: boolean): Loose[] {
  const open: Open[] = [];
  for (const event of events.slice(2, -1)) if (event.type !== 'response.debug') apply(event, open);
  if (!isFailed) expect(open.filter(({ isDone }) => !isDone)).toEqual([]);
  return open.map(({ item }) => item);
}

function apply(event: Loose, open: Open[]): void {
  const { type, output_index: index } = event;
  if (type === 'response.output_item.added') {
    expect(index).toBe(open.length);
    expect(open.at(-1)?.isDone ?? true, 'an item that begins before the end of the one before it').toBe(true);
    const { item } = event;
    if (item.type === 'message') expect(item.content).toEqual([]);
    if (item.type === 'reasoning') expect([item.summary, item.content]).toEqual([[], undefined]);
    if (item.type === 'function_call') expect(item.arguments).toBe('');
    if (item.type === 'custom_tool_call') expect(item.input).toBe('');
    open.push({ item: structuredClone(item), isDone: false, parts: new Set() });
    return;
  }
  const target = open[index] as Open;
  expect(target, `${type} of an item that was not announced`).toBeDefined();
  expect(target.isDone, `${type} after the end of its item`).toBe(false);
  if (type === 'response.output_item.done') {
    finish(target, event.item);
    return;
  }
  expect(event.item_id).toBe(target.item.id);
  if (type.endsWith('_part.added') || type.endsWith('_part.done')) applyPart(event, target);
  else if (type === 'response.output_text.annotation.added') {
    const part = partOf(target, 'content', event.content_index);
    expect(part.type).toBe('output_text');
    expect(event.annotation_index).toBe(part.annotations.length);
    part.annotations.push(event.annotation);
  } else applyText(event, target);
}

function applyText(event: Loose, target: Open): void {
  const [, name = '', step] = /^response\.(\w+)\.(delta|done)$/.exec(event.type) ?? [];
  const of = texts[name];
  if (of === undefined) return;
  const { list, field, type } = of;
  const holder =
    list === null ? target.item : partOf(target, list, list === 'content' ? event.content_index : event.summary_index);
  expect(holder?.type).toBe(type);
  if (step === 'delta') {
    holder[field] = `${holder[field]}${event.delta}`;
    if (name === 'output_text') holder.logprobs.push(...event.logprobs);
    return;
  }
  expect(event[field]).toBe(holder[field]);
  if (name === 'output_text') expect(event.logprobs).toEqual(holder.logprobs);
  if (name === 'function_call_arguments') expect(event.name).toBe(target.item.name);
}

function partOf({ item, parts }: Open, list: 'content' | 'summary', index: number): Loose {
  expect(parts, 'text of a part that is not open').toContain(`${list} ${index}`);
  return item[list][index] as Loose;
}

function applyPart(event: Loose, { item, parts }: Open): void {
  const list = event.type.includes('summary') ? 'summary' : 'content';
  const index = list === 'summary' ? event.summary_index : event.content_index;
  const key = `${list} ${index}`;
  if (event.type.endsWith('.done')) {
    expect(parts).toContain(key);
    expect(event.part).toEqual(item[list][index]);
    parts.delete(key);
    return;
  }
  item[list] ??= [];
  expect(index).toBe(item[list].length);
  expect(event.part.text ?? event.part.refusal).toBe('');
  item[list].push(structuredClone(event.part));
  parts.add(key);
}

/** Fields that only the end of an item tells. */
const late: Record<string, readonly string[]> = {
  message: ['phase'],
  reasoning: ['encrypted_content', 'signature', 'format'],
  image_generation_call: ['result', 'output_format'],
};

function finish(target: Open, item: Loose): void {
  expect([...target.parts], 'parts that are open at the end of their item').toEqual([]);
  const { status, ...has } = structuredClone(item) as Partial<Loose>;
  const { status: _status, ...had } = target.item as Partial<Loose>;
  if (['message', 'reasoning', 'function_call', 'custom_tool_call', 'image_generation_call'].includes(item.type)) {
    expect(status).toMatch(/^(?:completed|incomplete)$/);
    for (const field of late[item.type] ?? []) {
      delete has[field];
      delete had[field];
    }
    expect(has).toEqual(had);
  } else expect([has.id, has.type]).toEqual([had.id, had.type]);
  target.item = structuredClone(item);
  target.isDone = true;
}

function checkEvent(event: Loose, { schemas = true }: CheckOptions): void {
  if (!schemas) return;
  const schema = responsesEventSchema();
  const known = schema.options.some(({ shape }) => shape.type.value === event.type);
  if (known) expect(schema.safeParse(event).error?.issues ?? [], JSON.stringify(event).slice(0, 300)).toEqual([]);
  if (!sharedAvailable) return;
  const problems = [...problemsOf(event), ...problemsOfEvent(event)];
  expect(problems, JSON.stringify(event).slice(0, 600)).toEqual([]);
}

/** An event by the schema of its type: the union would report each of its members. */
function problemsOf(event: Loose): string[] {
  const name = schemaNames[event.type];
  if (name === undefined) return [];
  if ('item' in event && (unknownTypes(event.item) || isBegunSearch(event.item))) return [];
  if ('part' in event && event.part.type === 'reasoning_text') return messagesOf('ReasoningTextContent', event.part);
  return messagesOf(name, softened(event));
}

/** Without what the reference does not have: see above. */
function softened(event: Pick<Loose, 'response'>) {
  if (!('response' in event)) return event as { response?: unknown };
  const { error, output, usage, text, ...rest } = event.response;
  const known = usage === null ? {} : { usage };
  const { description, ...format } = (text as { format: { description?: unknown } }).format;
  const shown = error?.code === 'context_length_exceeded' ? { ...error, code: 'invalid_prompt' } : error;
  return {
    ...event,
    response: {
      ...rest,
      ...known,
      text: { ...(text as object), format: { ...format, ...(description ? { description } : {}) } },
      error: shown,
      output: output.filter((item) => !unknownTypes(item)),
    },
  };
}

function messagesOf(schema: string, value: unknown): string[] {
  return referenceErrors(schema, value).map((error) => `${error.instancePath}: ${error.message ?? error.keyword}`);
}

const schemaNames: Record<string, string> = {
  'response.created': 'OpenResponsesCreatedEvent',
  'response.in_progress': 'OpenResponsesInProgressEvent',
  'response.completed': 'StreamEventsResponseCompleted',
  'response.incomplete': 'StreamEventsResponseIncomplete',
  'response.failed': 'StreamEventsResponseFailed',
  'response.output_item.added': 'StreamEventsResponseOutputItemAdded',
  'response.output_item.done': 'StreamEventsResponseOutputItemDone',
  'response.content_part.added': 'ContentPartAddedEvent',
  'response.content_part.done': 'ContentPartDoneEvent',
  'response.output_text.delta': 'TextDeltaEvent',
  'response.output_text.done': 'TextDoneEvent',
  'response.output_text.annotation.added': 'AnnotationAddedEvent',
  'response.refusal.delta': 'RefusalDeltaEvent',
  'response.refusal.done': 'RefusalDoneEvent',
  'response.function_call_arguments.delta': 'FunctionCallArgsDeltaEvent',
  'response.function_call_arguments.done': 'FunctionCallArgsDoneEvent',
  'response.custom_tool_call_input.delta': 'CustomToolCallInputDeltaEvent',
  'response.custom_tool_call_input.done': 'CustomToolCallInputDoneEvent',
  'response.reasoning_text.delta': 'ReasoningDeltaEvent',
  'response.reasoning_text.done': 'ReasoningDoneEvent',
  'response.reasoning_summary_part.added': 'ReasoningSummaryPartAddedEvent',
  'response.reasoning_summary_part.done': 'ReasoningSummaryPartDoneEvent',
  'response.reasoning_summary_text.delta': 'ReasoningSummaryTextDeltaEvent',
  'response.reasoning_summary_text.done': 'ReasoningSummaryTextDoneEvent',
  'response.image_generation_call.in_progress': 'ImageGenCallInProgressEvent',
  'response.image_generation_call.generating': 'ImageGenCallGeneratingEvent',
  'response.image_generation_call.completed': 'ImageGenCallCompletedEvent',
  'response.debug': 'DebugEvent',
};

/** Checks the body of a response as JSON. */
export function checkResponsesResult(body: unknown, { schemas = true }: CheckOptions = {}): Loose {
  const result = JSON.parse(JSON.stringify(body)) as Loose;
  checkIds(result.output);
  if (!schemas) return result;
  expect(responsesResultSchema().safeParse(result).error?.issues ?? []).toEqual([]);
  if (!sharedAvailable) return result;
  const { response } = softened({ response: result });
  const problems = [...messagesOf('OpenResponsesResult', response), ...problemsOfResponse(result)];
  expect(problems, JSON.stringify(result).slice(0, 600)).toEqual([]);
  return result;
}
