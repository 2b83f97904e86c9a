import { isObject, type Loose } from '../../../base/values.ts';
import type { ReportedEnd, ResponseHead } from '../../../call/response-encoder.ts';
import type { FinishReason } from '../../../schema/chat/chat.ts';
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

/** Returns the fields of the request that a response repeats. */
export function echoOf(request: ResponsesBody): Loose {
  const echo: Loose = { previous_response_id: null, store: false };
  for (const [name, absent] of repeated) echo[name] = request[name] ?? absent;
  echo.reasoning = { effort: null, summary: null, ...(isObject(request.reasoning) ? request.reasoning : {}) };
  const { format, ...text } = isObject(request.text) ? request.text : {};
  echo.text = { format: format ?? { type: 'text' }, ...text };
  if (request.user !== undefined && request.user !== null) echo.user = request.user;
  // Clients know no tools of the gateway, and refuse the whole response.
  if (Array.isArray(echo.tools)) echo.tools = echo.tools.filter((tool) => !isOfGateway(tool)).map(inFull);
  if (isOfGateway(echo.tool_choice)) echo.tool_choice = 'auto';
  return echo;
}

/** Returns a function with all fields that the interface demands. */
function inFull(tool: unknown): unknown {
  if (!isObject(tool) || tool.type !== 'function') return tool;
  return {
    ...tool,
    description: tool.description ?? null,
    parameters: tool.parameters ?? null,
    strict: tool.strict ?? null,
  };
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

/**
 * Returns the fields behind `output`, without those of the request.
 * @param metadataField  such as `service_metadata`
 */
export function tailOf(state: ResponseState, request: ResponsesBody, metadataField: string): Loose {
  const { serviceTier, failure, end } = state;
  const tier = serviceTier ?? request.service_tier;
  return {
    usage: end.usage === undefined ? null : responsesUsage(end.usage),
    service_tier: serviceTiers.includes(tier) ? tier : 'default',
    ...(failure === null ? {} : { error_type: failure.error_type }),
    ...(end.metadata === undefined ? {} : { [metadataField]: end.metadata }),
  };
}
