import type { Loose } from '../../../base/values.ts';
import type { ChatRequest, ResponseFormat } from '../../../schema/chat/chat.ts';
import type { ResponsesRequest, TextFormat } from '../../../schema/responses/responses.ts';
import type { Dropped } from './dropped.ts';

/** Fields that become messages, tools, or fields of another name. */
const rewritten: ReadonlySet<string> = new Set([
  'input',
  'instructions',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'max_output_tokens',
  'text',
  'reasoning',
  'include',
  'top_logprobs',
  // These are refused, or ask for nothing.
  'store',
  'previous_response_id',
  'conversation',
  'prompt',
  'background',
  // JSON can make such a key, and an assignment would take it for the prototype.
  '__proto__',
]);

/** Fields that a chat request has no place for, and their values that ask only for the usual behaviour. */
const onlyHere: ReadonlyMap<string, readonly unknown[]> = new Map([
  // The plugin context-compression does the work that `auto` asks for.
  ['truncation', ['disabled', 'auto']],
  ['max_tool_calls', []],
  ['context_management', []],
  ['client_metadata', []],
]);

/** The fields of a Responses request, for both kinds of upstream. */
export interface ConvertedFields {
  /** Fields of the chat request. */
  chat: Loose;
  /** Fields that only an upstream that speaks Responses gets, as the caller wrote them. */
  own: Loose;
  /** Further values of `include`. */
  include: readonly string[];
}

/** Converts all fields but the input and the tools. Null means that a field is not set. */
export function convertFields(request: ResponsesRequest, hasFunctions: boolean, dropped: Dropped): ConvertedFields {
  const chat: Loose = {};
  const own: Loose = {};
  for (const key in request) {
    const value = request[key];
    if (value === null || value === undefined || rewritten.has(key)) continue;
    if (!onlyHere.has(key)) chat[key] = value;
    else {
      own[key] = value;
      if (!onlyHere.get(key)?.includes(value)) dropped.note(key);
    }
  }
  const { max_output_tokens: largest, parallel_tool_calls: parallel } = request;
  if (typeof largest === 'number') chat.max_completion_tokens = largest;
  if (typeof parallel === 'boolean') (hasFunctions ? chat : own).parallel_tool_calls = parallel;
  convertText(request, chat, dropped);
  const reasoning = reasoningOf(request);
  if (reasoning !== null) chat.reasoning = reasoning;
  return { chat, own, include: convertInclude(request, chat, dropped) };
}

function convertText({ text }: ResponsesRequest, chat: Loose, dropped: Dropped): void {
  if (!text) return;
  const { format, verbosity, ...others } = text;
  if (format) chat.response_format = formatOf(format, dropped);
  if (verbosity) chat.verbosity = verbosity;
  for (const key in others) if (others[key] !== null) dropped.note('text.', key);
}

/** Converts the format of the text. The name and the schema stand one level lower in a chat request. */
function formatOf(format: TextFormat, dropped: Dropped): ResponseFormat {
  if (format.type !== 'json_schema') return { type: format.type };
  const { type, name, description, schema, strict, ...others } = format;
  for (const key in others) if (others[key] !== null) dropped.note('text.format.', key);
  return {
    type,
    json_schema: {
      name,
      ...(description ? { description } : {}),
      ...(schema ? { schema } : {}),
      ...(typeof strict === 'boolean' ? { strict } : {}),
    },
  };
}

function reasoningOf({ reasoning }: ResponsesRequest): ChatRequest['reasoning'] | null {
  if (!reasoning) return null;
  const { generate_summary: older, ...fields } = reasoning;
  const asked: Loose = {};
  for (const [key, value] of Object.entries(fields)) if (value !== null && key !== '__proto__') asked[key] = value;
  if (older && asked.summary === undefined) asked.summary = older;
  return Object.keys(asked).length === 0 ? null : asked;
}

const sealed = 'reasoning.encrypted_content';
const logprobs = 'message.output_text.logprobs';

/** @returns the values that only an upstream that speaks Responses can include */
function convertInclude({ include, top_logprobs: top }: ResponsesRequest, chat: Loose, dropped: Dropped): string[] {
  const further = new Set<string>();
  for (const name of include ?? []) {
    // Every response holds the reasoning that a later turn needs.
    if (name === sealed) continue;
    if (name === logprobs) chat.logprobs = true;
    else {
      further.add(name);
      dropped.note('include.', name);
    }
  }
  if (top) chat.logprobs = true;
  if (chat.logprobs === true && typeof top === 'number') chat.top_logprobs = top;
  return [...further];
}
