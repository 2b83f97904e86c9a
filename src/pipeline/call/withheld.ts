import { GatewayError } from '../../base/errors.ts';
import type { AttemptTrace } from '../../call/trace.ts';
import type { Guardrail } from '../../guardrails/guardrail.ts';
import type { PipelineStage } from '../../schema/chat/envelope.ts';
import type { ActiveHook } from './active-hooks.ts';

/** true: a guardrail keeps words of a provider from the client. */
export function isWithheld(hooks: readonly ActiveHook[], words: unknown): boolean {
  return hooks.some(({ isGuardrail, hooks: of }) => isGuardrail && (of as Guardrail).withholds?.(words) === true);
}

/** Returns the error, without a provider's words that a guardrail keeps from the client. */
export function withoutWithheld(hooks: readonly ActiveHook[], error: GatewayError): GatewayError {
  const { kind, message, metadata, cause, retryAfterMs, errorType, headers, route } = error;
  // A guardrail names its own patterns. The names of a moderation come from its service.
  const isGuardrails = kind === 'guardrail_blocked' && metadata?.provider_name === undefined;
  if (isGuardrails || !isWithheld(hooks, { message, metadata })) return error;
  const { provider_name: provider } = metadata ?? {};
  return new GatewayError(kind, 'The request failed. A guardrail holds back what the provider says of it', {
    ...(provider === undefined || isWithheld(hooks, provider) ? {} : { metadata: { provider_name: provider } }),
    cause,
    retryAfterMs,
    errorType: isWithheld(hooks, errorType) ? undefined : errorType,
    headers,
    route,
  });
}

/** Returns attempts, without the same words. */
export function attemptsWithoutWithheld(
  hooks: readonly ActiveHook[],
  attempts: readonly AttemptTrace[],
): readonly AttemptTrace[] {
  if (hooks[0]?.isGuardrail !== true) return attempts;
  return attempts.map((one) =>
    one.message !== null && isWithheld(hooks, one.message) ? { ...one, message: null } : one,
  );
}

/** Returns a stage, without the words that a guardrail keeps from the client. */
export function stageWithoutWithheld(hooks: readonly ActiveHook[], stage: PipelineStage): PipelineStage {
  const { type, name, cost_usd: costUsd } = stage;
  if (hooks[0]?.isGuardrail !== true || !isWithheld(hooks, { ...stage, cost_usd: null })) return stage;
  return { type, name, summary: 'held back by a guardrail', ...(costUsd === undefined ? {} : { cost_usd: costUsd }) };
}
