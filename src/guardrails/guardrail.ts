import { GatewayError } from '../base/errors.ts';
import type { Caller } from '../call/call.ts';
import type { PluginContext, PluginHooks } from '../call/hooks.ts';
import type { ChatRequest } from '../schema/chat.ts';
import type { PipelineStage } from '../schema/envelope.ts';

/** A policy that acts on requests whether they ask for it or not. Has the hooks of a plugin. */
export interface Guardrail extends PluginHooks {
  /** The name that responses and records show; unique. */
  id: string;
  /** What it was assigned to, shown as `guardrail_scope`, such as `workspace`. Default `gateway`. */
  scope?: string;
  /** Whether the guardrail acts on a call. Default: on every call. */
  appliesTo?(caller: Caller): boolean;
  /** The name of its stages. Default: the id. */
  name?: string;
  /** What it would do with a request, for the explain operations: nothing is called, and nothing is kept. */
  preview?(request: ChatRequest): Promise<GuardrailPreview>;
}

/** What a guardrail would do with a request. */
export interface GuardrailPreview {
  /** As it would be routed. */
  request: ChatRequest;
  /** What would be shown in `service_metadata.pipeline`. */
  stages: PipelineStage[];
  /** What the request would be refused with; null: it would not be. */
  refusal: GatewayError | null;
}

/** Keeps the types of a guardrail together. */
export function defineGuardrail(guardrail: Guardrail): Guardrail {
  return guardrail;
}

/**
 * The refusal of a guardrail, and its stage in `service_metadata.pipeline`.
 * @param patterns   the names of what was found, shown as `error.metadata.patterns`; never the text itself
 * @param direction  `input`: found in the request; `output`: in the response
 * @returns GatewayError guardrail_blocked (403), to be thrown
 * @see interface document, status 403
 */
export function blockedBy(
  { id, name = id, scope = 'gateway' }: Guardrail,
  patterns: readonly string[],
  context: Pick<PluginContext, 'addStage'>,
  direction?: 'input' | 'output',
): GatewayError {
  context.addStage({
    type: 'guardrail',
    name,
    summary: `blocked: ${patterns.length} found`,
    guardrail_id: id,
    guardrail_scope: scope,
    data: { patterns: [...patterns], ...(direction === undefined ? {} : { action: 'block', direction }) },
  });
  const what = direction === 'output' ? 'response' : 'request';
  return new GatewayError('guardrail_blocked', `The ${what} was blocked by the guardrail ${name}`, {
    metadata: { patterns: [...patterns] },
  });
}
