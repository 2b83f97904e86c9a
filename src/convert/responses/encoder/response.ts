import { isObject, type Loose } from '../../../base/values.ts';
import type { ReportedEnd, ResponseHead } from '../../../call/response-encoder.ts';
import type { FinishReason } from '../../../schema/chat.ts';
import { isServerTool } from '../../../schema/responses.ts';
import type { ResponseFailure } from './error.ts';
import { responsesUsage } from './usage.ts';

/** The caller's body. */
export type ResponsesBody = Readonly<Record<string, unknown>>;

/** How far a response has come. */
export interface ResponseState {
  status: 'in_progress' | 'completed' | 'incomplete' | 'failed';
  /** Unix seconds; null: it is not complete. */
  completedAt: number | null;
  incompleteReason: string | null;
  failure: ResponseFailure | null;
  /** The tier that served; null: the provider did not say. */
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

/** Why a response is incomplete, by why it ended; null: it is complete. */
export function incompleteReason(reason: FinishReason | null): string | null {
  if (reason === 'length') return 'max_output_tokens';
  return reason === 'content_filter' ? 'content_filter' : null;
}

/** Fields that public clients demand: where the caller did not send them, their default, or null. */
const demanded: readonly (readonly [string, unknown])[] = [
  ['instructions', null],
  ['metadata', null],
  ['tools', []],
  ['tool_choice', 'auto'],
  ['parallel_tool_calls', true],
  ['temperature', null],
  ['top_p', null],
  ['presence_penalty', null],
  ['frequency_penalty', null],
];
/** Fields that are shown where the caller sent them. */
const optional = [
  'max_output_tokens',
  'max_tool_calls',
  'reasoning',
  'text',
  'top_logprobs',
  'truncation',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'background',
] as const;

/** What a response repeats of its request. */
export function echoOf(request: ResponsesBody): Loose {
  const echo: Loose = { previous_response_id: null, store: false };
  for (const [name, absent] of demanded) echo[name] = request[name] ?? absent;
  for (const name of optional) if (request[name] !== undefined && request[name] !== null) echo[name] = request[name];
  // Clients know no such tools, and refuse the whole response.
  if (Array.isArray(echo.tools) && echo.tools.some(isOfGateway)) {
    echo.tools = echo.tools.filter((tool) => !isOfGateway(tool));
    if (isOfGateway(echo.tool_choice)) echo.tool_choice = 'auto';
  }
  return echo;
}

function isOfGateway(tool: unknown): boolean {
  return isObject(tool) && isServerTool(tool.type);
}

/** The fields before `output`. */
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
 * The fields behind `output`, without those of the request.
 * @param metadataField  such as `service_metadata`
 */
export function tailOf(state: ResponseState, request: ResponsesBody, metadataField: string): Loose {
  const { serviceTier, failure, end } = state;
  const tier = serviceTier ?? request.service_tier;
  return {
    ...(end.usage === undefined ? {} : { usage: responsesUsage(end.usage) }),
    ...(serviceTiers.includes(tier) ? { service_tier: tier } : {}),
    ...(failure === null ? {} : { error_type: failure.error_type }),
    ...(end.metadata === undefined ? {} : { [metadataField]: end.metadata }),
  };
}
