import * as z from 'zod';
import { GatewayError } from '../base/errors.ts';
import { lazily } from '../base/lazily.ts';
import type { Issue } from '../base/refusal.ts';
import type { Revision } from '../call/ask.ts';
import type { Caller } from '../call/call.ts';
import { type HookMode, hookModes, hookShape, idleMode, missingHook } from '../call/hook-shape.ts';
import type { PluginContext, PluginHooks } from '../call/hooks.ts';
import type { ChatRequest } from '../schema/chat/chat.ts';
import type { PipelineStage } from '../schema/chat/envelope.ts';
import { field, hostObjectIssues, throwIssues } from '../schema/host-object.ts';

/** A policy that acts on requests whether they ask for it or not. Has the hooks of a plugin. */
export interface Guardrail extends PluginHooks {
  /** The name that responses and records show; unique. */
  id: string;
  /** The assignment of the guardrail, shown as `guardrail_scope`, such as `workspace`. Default `gateway`. */
  scope?: string | undefined;
  /** Tells whether the guardrail acts on a call. Default: on every call. */
  appliesTo?(caller: Caller): boolean;
  /** The name of its stages. Default: the id. */
  name?: string | undefined;
  /**
   * The time at which `before` runs. `before`: the model is asked after it. `parallel`: the model is asked at the same
   * time, and the response waits for it. A refusal then stops the model, whose work so far is paid for; a `before` that
   * changes the request fails the call. Default `before`.
   */
  mode?: HookMode | undefined;
  /**
   * The effect on the call when a hook throws an error that is no GatewayError, or takes longer than
   * `timeouts.pluginMs`. `fail`: the call fails, with 500 or 504. `pass-unchecked`: what the guardrail should have
   * checked passes without a check; a stage and an error in the log say so. Default `fail`.
   */
  onError?: 'fail' | 'pass-unchecked' | undefined;
  /**
   * Loads what the guardrail needs, such as an engine. Called once, when the gateway is made; the first request does not
   * wait for it, and an error is left for that request to find.
   */
  load?(): unknown;
  /**
   * Tells whether a provider's own words, such as those of an error, contain text that the client must not read. Such
   * words are left out. Absent: they never do.
   */
  withholds?(words: unknown): boolean;
  /** Tells what the guardrail would do with a request, for the explain operations. Calls nothing, and keeps nothing. */
  preview?(request: ChatRequest, context: PreviewContext): Promise<GuardrailPreview>;
}

/** The part of the context that a preview gets. */
export type PreviewContext = Pick<PluginContext, 'clock' | 'call' | 'native'>;

/** The effect that a guardrail would have on a request: `request` and `native` in the form in which they would be routed. */
export interface GuardrailPreview extends Pick<Revision, 'request' | 'native'> {
  /** The stages that `service_metadata.pipeline` would show. */
  stages: PipelineStage[];
  /** The error that would refuse the request; null: it would pass. */
  refusal: GatewayError | null;
}

const shape = lazily(() => ({
  ...hookShape(),
  id: field.id(),
  name: field.text().optional(),
  scope: field.text().optional(),
  mode: z.enum(hookModes).optional(),
  onError: z.enum(['fail', 'pass-unchecked']).optional(),
  load: field.fn().optional(),
  appliesTo: field.fn().optional(),
  withholds: field.fn().optional(),
  preview: field.fn().optional(),
}));

/** Finds the mistakes in a guardrail. */
export function guardrailIssues(given: unknown): Issue[] {
  const issues = hostObjectIssues(given, shape());
  return issues.length > 0 ? issues : [...missingHook(given as object), ...idleMode(given as Guardrail)];
}

/**
 * Checks a guardrail.
 * @throws GatewayError invalid_request (400) for a name that no guardrail has, a value of the wrong type, or no hook: it
 *         would guard nothing
 */
export function defineGuardrail(guardrail: Guardrail): Guardrail {
  throwIssues('defineGuardrail', guardrailIssues(guardrail));
  return guardrail;
}

/**
 * Makes the refusal of a guardrail, with its stage in `service_metadata.pipeline`.
 * @param patterns   the names of the matched patterns, shown as `error.metadata.patterns`; never the text itself
 * @param direction  `input`: found in the request; `output`: in the response
 * @param places     the places of matches that could not be redacted
 * @returns GatewayError guardrail_blocked (403), to be thrown
 * @see interface document, status 403
 */
export function blockedBy(
  guardrail: Guardrail,
  patterns: readonly string[],
  context: Pick<PluginContext, 'addStage'>,
  direction?: 'input' | 'output',
  places: readonly string[] = [],
): GatewayError {
  const data = direction === undefined ? {} : { action: 'block', direction };
  addBlocked(guardrail, `blocked: ${patterns.length} found`, { patterns: [...patterns], ...data }, context);
  const where = places.length === 0 ? '' : `: what it has found in ${places.join(', ')} cannot be redacted`;
  return refused(`${whatOf(direction)} was blocked by the guardrail ${nameOf(guardrail)}${where}`, patterns, places);
}

/**
 * Makes the refusal of a guardrail that could not check everything: an unchecked text does not pass.
 * @param why  the reason, such as `its patterns took more than 5000 ms`
 * @returns GatewayError guardrail_blocked (403), to be thrown
 */
export function notEvaluatedBy(
  guardrail: Guardrail,
  why: string,
  context: Pick<PluginContext, 'addStage'>,
  direction: 'input' | 'output',
): GatewayError {
  addBlocked(guardrail, 'blocked: not evaluated', { patterns: [], action: 'block', direction, reason: why }, context);
  return refused(
    `${whatOf(direction)} was blocked: the guardrail ${nameOf(guardrail)} cannot be evaluated: ${why}`,
    [],
  );
}

function addBlocked(
  guardrail: Guardrail,
  summary: string,
  data: Record<string, unknown>,
  context: Pick<PluginContext, 'addStage'>,
): void {
  const { id, scope = 'gateway' } = guardrail;
  const name = nameOf(guardrail);
  context.addStage({ type: 'guardrail', name, summary, guardrail_id: id, guardrail_scope: scope, data });
}

function refused(message: string, patterns: readonly string[], places: readonly string[] = []): GatewayError {
  const metadata = { patterns: [...patterns], ...(places.length === 0 ? {} : { places: [...places] }) };
  return new GatewayError('guardrail_blocked', message, { metadata });
}

function nameOf({ id, name = id }: Guardrail): string {
  return name;
}

function whatOf(direction?: 'input' | 'output'): string {
  return `The ${direction === 'output' ? 'response' : 'request'}`;
}
