import type { Call } from '../call/call.ts';
import type { PluginHooks } from '../call/hooks.ts';
import type { Guardrail } from '../guardrails/guardrail.ts';
import type { PipelineDeps } from './deps.ts';

/** A plugin or guardrail that acts on a call. */
export interface ActiveHook {
  hooks: PluginHooks;
  isGuardrail: boolean;
  /** What the request says of it. */
  options: Record<string, unknown>;
}

const none: readonly ActiveHook[] = [];

/**
 * Which guardrails and plugins act on a call, in the order they are asked: guardrails first, then plugins in the order
 * of the request, then the plugins that act by default.
 */
export function activeHooks(
  { plugins, guardrails }: Pick<PipelineDeps, 'plugins' | 'guardrails'>,
  { request, caller }: Call,
  imposed: readonly Guardrail[] = [],
): readonly ActiveHook[] {
  const requested = request.plugins;
  if (
    requested === undefined &&
    guardrails.length + imposed.length === 0 &&
    !plugins.some(({ isDefault }) => isDefault)
  )
    return none;
  const active: ActiveHook[] = [];
  for (const hooks of guardrails)
    if (hooks.appliesTo?.(caller) !== false) active.push({ hooks, isGuardrail: true, options: {} });
  for (const hooks of imposed) active.push({ hooks, isGuardrail: true, options: {} });
  for (const options of requested ?? []) {
    const hooks = plugins.find(({ id }) => id === options.id);
    if (hooks && options.enabled !== false) active.push({ hooks, isGuardrail: false, options });
  }
  for (const hooks of plugins) {
    const isNamed = requested?.some(({ id }) => id === hooks.id) === true;
    if (hooks.isDefault === true && !isNamed) active.push({ hooks, isGuardrail: false, options: {} });
  }
  // A plugin without hooks is a name that another part of the gateway reads.
  return active.filter(({ hooks: { before, prepare, wrap, steps } }) => before || prepare || wrap || steps);
}
