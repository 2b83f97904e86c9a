import { isObject, type Loose } from '../../../base/values.ts';
import type { ReportedEnd, ResponseHead } from '../../../call/response-encoder.ts';
import type { ChatRequest, FinishReason } from '../../../schema/chat/chat.ts';
import { isServerTool } from '../../../schema/responses/responses.ts';
import type { ResponseFailure } from './error.ts';
import { responsesUsage } from './usage.ts';

/** The caller's body. */
export type ResponsesBody = Readonly<Record<string, unknown>>;

/** The state of a response. */
export interface ResponseState {
  status: 'in_progress' | 'completed' | 'incomplete' | 'failed';
  /** Unix seconds; null: it is not complete. */
  completedAt: number | null;
  incompleteReason: string | null;
  failure: ResponseFailure | null;
  /** The tier that served; null: the provider named none. */
  serviceTier: string | null;
  end: Partial<ReportedEnd>;
}

export const inProgress: ResponseState = {
  status: 'in_progress',
  completedAt: null,
  incompleteReason: null,
  failure: null,
  serviceTier: null,
  end: {},
};

/** Returns the reason why a response is incomplete, by its finish reason; null: it is complete. */
export function incompleteReason(reason: FinishReason | null): string | null {
  if (reason === 'length') return 'max_output_tokens';
  return reason === 'content_filter' ? 'content_filter' : null;
}

/**
 * Fields that each response has: where the caller did not send them, the default that the Responses interface names.
 * @see https://www.openresponses.org, ResponseResource: none of them may be absent, and numbers may not be null
 */
const repeated: readonly (readonly [string, unknown])[] = [
  ['background', false],
  ['instructions', null],
  ['max_output_tokens', null],
  ['max_tool_calls', null],
  ['metadata', null],
  ['tools', []],
  ['tool_choice', 'auto'],
  ['parallel_tool_calls', true],
  ['prompt_cache_key', null],
  ['safety_identifier', null],
  ['temperature', 1],
  ['top_logprobs', 0],
  ['top_p', 1],
  ['presence_penalty', 0],
  ['frequency_penalty', 0],
  ['truncation', 'disabled'],
];

/** The fields of the request that was served, under the names of Responses. */
export interface HeldFields {
  temperature?: unknown;
  top_p?: unknown;
  presence_penalty?: unknown;
  frequency_penalty?: unknown;
  parallel_tool_calls?: unknown;
  max_output_tokens?: unknown;
  effort?: unknown;
}

/** A few values alone: the request may be large, and is not kept. */
export function heldFields(request: ChatRequest): HeldFields {
  const { temperature, top_p, presence_penalty, frequency_penalty, parallel_tool_calls } = request;
  return {
    temperature,
    top_p,
    presence_penalty,
    frequency_penalty,
    parallel_tool_calls,
    max_output_tokens: request.max_completion_tokens ?? request.max_tokens,
    effort: request.reasoning?.effort ?? request.reasoning_effort,
  };
}

/** The way in which a response repeats its request. */
export interface EchoOptions {
  /** The caller's body. */
  request: ResponsesBody;
  /** false: what the specification demands, and is not known, is left out instead of null. */
  isWhole: boolean;
}

/** The places that a response gets. */
export interface Kept {
  /** true: the response is kept. */
  readonly store: boolean;
  /** The conversation that the response is added to; null: it is added to none. */
  readonly conversation: string | null;
}

export const notKept: Kept = { store: false, conversation: null };

/** Returns the names of the fields that asked for something, without effect. */
export function lostFields(wanted: Kept, kept: Kept): string[] {
  return [
    ...(wanted.store && !kept.store ? ['store'] : []),
    ...(wanted.conversation !== null && kept.conversation === null ? ['conversation'] : []),
  ];
}

/** Returns the fields of a response that tell what becomes of it. */
export function keptFields(request: ResponsesBody, { store, conversation }: Kept): Loose {
  const named = request.conversation ?? null;
  return { store, ...(named === null ? {} : { conversation: conversation === null ? null : { id: conversation } }) };
}

/** Returns the fields of its request that a response repeats. */
export function echoOf({ request, isWhole }: EchoOptions, held: HeldFields, kept: Kept): Loose {
  const echo: Loose = { previous_response_id: request.previous_response_id ?? null, ...keptFields(request, kept) };
  const served = held as Readonly<Record<string, unknown>>;
  for (const [name, absent] of repeated) echo[name] = served[name] ?? request[name] ?? absent;
  const reasoning = isObject(request.reasoning) ? request.reasoning : {};
  echo.reasoning = {
    ...reasoning,
    effort: reasoning.effort ?? held.effort ?? null,
    summary: reasoning.summary ?? null,
  };
  const { format, ...text } = isObject(request.text) ? request.text : {};
  echo.text = { format: isWhole ? wholeFormat(format) : (format ?? plainText), ...withoutNulls(text) };
  if (request.user !== undefined && request.user !== null) echo.user = request.user;
  // Clients know no tools of the gateway, and refuse the whole response.
  if (Array.isArray(echo.tools)) echo.tools = echo.tools.filter((tool) => !isOfGateway(tool)).map(inFull);
  if (isOfGateway(echo.tool_choice)) echo.tool_choice = 'auto';
  return echo;
}

const plainText = { type: 'text' };

/** A format with all fields that the specification demands of one. */
function wholeFormat(format: unknown): unknown {
  if (!isObject(format)) return plainText;
  if (format.type !== 'json_schema') return format;
  return {
    ...format,
    description: format.description ?? null,
    schema: format.schema ?? null,
    strict: format.strict ?? false,
  };
}

/** A function with all fields that the interface demands of one. */
function inFull(tool: unknown): unknown {
  if (!isObject(tool) || tool.type !== 'function') return tool;
  return {
    ...tool,
    description: tool.description ?? null,
    parameters: tool.parameters ?? null,
    strict: tool.strict ?? null,
  };
}

function withoutNulls(fields: Loose): Loose {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

function isOfGateway(tool: unknown): boolean {
  return isObject(tool) && isServerTool(tool.type);
}

/** Returns the fields before `output`. */
export function headOf({ id, created, model }: ResponseHead, state: ResponseState): Loose {
  const { status, completedAt, incompleteReason: reason, failure } = state;
  return {
    id,
    object: 'response',
    created_at: created,
    model,
    status,
    completed_at: completedAt,
    error: failure?.error ?? null,
    incomplete_details: reason === null ? null : { reason },
  };
}

/** The tiers that clients know: their schema refuses the whole response for another, such as `on_demand`. */
const serviceTiers: readonly unknown[] = ['auto', 'default', 'flex', 'priority', 'scale'];

export interface TailOptions extends EchoOptions {
  /** Names the metadata field. */
  brand: string;
}

/** The fields behind `output`, without those of the request. */
export function tailOf({ status, serviceTier, failure, end }: ResponseState, options: TailOptions): Loose {
  const { brand, request, isWhole } = options;
  // What serves is known at the end alone. Where the provider does not say, nobody knows.
  const tier = serviceTier ?? (status === 'in_progress' ? request.service_tier : null);
  return {
    ...(end.usage !== undefined ? { usage: responsesUsage(end.usage) } : isWhole ? { usage: null } : {}),
    service_tier: serviceTiers.includes(tier) ? tier : 'default',
    ...(failure === null ? {} : { error_type: failure.error_type }),
    ...(end.metadata === undefined ? {} : { [`${brand}_metadata`]: end.metadata }),
  };
}
