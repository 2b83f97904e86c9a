import { GatewayError, isGatewayError } from '../../base/errors.ts';
import { UpstreamError } from '../../base/http/upstream-error.ts';
import { CallAborted } from '../../call/abort.ts';
import type { PluginHooks } from '../../call/hooks.ts';

export type HookName = keyof PluginHooks;

/** A plugin or a guardrail. */
export interface Actor {
  readonly id: string;
  readonly isGuardrail: boolean;
}

/** Learns that a plugin or guardrail was left out, and why. The client learns only that it was. */
export type ReportPluginFailure = (actor: Actor, hook: HookName, error: unknown) => void;

/** The name of a plugin or guardrail in messages. */
export function nameOf({ id, isGuardrail }: Actor): string {
  return `The ${isGuardrail ? 'guardrail' : 'plugin'} ${JSON.stringify(id)}`;
}

/**
 * Says of an error which plugin or guardrail has thrown it: the client learns that, the log its own words too. Errors
 * that are told to clients anyway, of a provider or of the gateway, stay as they are: they only pass through `wrap`.
 * @param hook  the function of the plugin that has thrown, such as `before`
 */
export function namedError(error: unknown, actor: Actor, hook: string): unknown {
  if (isGatewayError(error) || error instanceof UpstreamError || error instanceof CallAborted) return error;
  return new GatewayError('internal', `${nameOf(actor)} failed`, {
    metadata: { [actor.isGuardrail ? 'guardrail' : 'plugin']: actor.id, hook },
    cause: error,
  });
}
