import { GatewayError } from '../base/errors.ts';
import type { Caller } from '../call/call.ts';
import type { PluginContext, PluginHooks } from '../call/hooks.ts';

/** A policy that acts on requests whether they ask for it or not. Has the hooks of a plugin. */
export interface Guardrail extends PluginHooks {
  /** The name that responses and records show; unique. */
  id: string;
  /** What it was assigned to, shown as `guardrail_scope`, such as `workspace`. Default `gateway`. */
  scope?: string;
  /** Whether the guardrail acts on a call. Default: on every call. */
  appliesTo?(caller: Caller): boolean;
}

/** Keeps the types of a guardrail together. */
export function defineGuardrail(guardrail: Guardrail): Guardrail {
  return guardrail;
}

/**
 * The refusal of a guardrail, and its stage in `service_metadata.pipeline`.
 * @param patterns  the names of what was found, shown as `error.metadata.patterns`; never the text itself
 * @returns GatewayError guardrail_blocked (403), to be thrown
 * @see interface document, status 403
 */
export function blockedBy(
  { id, scope = 'gateway' }: Guardrail,
  patterns: readonly string[],
  context: PluginContext,
): GatewayError {
  context.addStage({
    type: 'guardrail',
    name: id,
    summary: `blocked: ${patterns.length} found`,
    guardrail_id: id,
    guardrail_scope: scope,
    data: { patterns: [...patterns] },
  });
  return new GatewayError('guardrail_blocked', `The request was blocked by the guardrail ${id}`, {
    metadata: { patterns: [...patterns] },
  });
}
