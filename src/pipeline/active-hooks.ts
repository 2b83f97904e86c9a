import type { Call } from '../call/call.ts';
import type { PluginHooks } from '../call/hooks.ts';
import type { ChatRequest } from '../schema/chat.ts';
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
): readonly ActiveHook[] {
  const requested = request.plugins;
  const online = mayBeOnline(request);
  if (requested === undefined && !online && guardrails.length === 0 && !plugins.some(({ isDefault }) => isDefault))
    return none;
  const active: ActiveHook[] = [];
  for (const hooks of guardrails)
    if (hooks.appliesTo?.(caller) !== false) active.push({ hooks, isGuardrail: true, options: {} });
  for (const options of requested ?? []) {
    const hooks = plugins.find(({ id }) => id === options.id);
    if (hooks && options.enabled !== false) active.push({ hooks, isGuardrail: false, options });
  }
  for (const hooks of plugins) {
    const isNamed = requested?.some(({ id }) => id === hooks.id) === true;
    if ((hooks.isDefault === true || (online && hooks.id === 'web')) && !isNamed)
      active.push({ hooks, isGuardrail: false, options: {} });
  }
  // A plugin without hooks is a name that another part of the gateway reads.
  return active.filter(({ hooks: { before, prepare, wrap, steps } }) => before || prepare || wrap || steps);
}

const online = ':online';

/** Whether a model's name may have the suffix that asks for the plugin `web`. */
export function mayBeOnline({ model, models }: ChatRequest): boolean {
  return model?.includes(online) === true || models?.some((slug) => slug.includes(online)) === true;
}

/** The request as it is when the plugin `web` has acted, for those who only plan. */
export function withOnlineServed(request: ChatRequest): ChatRequest {
  const isNamed = request.plugins?.some(({ id }) => id === 'web') === true;
  return isNamed || !mayBeOnline(request)
    ? request
    : { ...request, plugins: [...(request.plugins ?? []), { id: 'web' }] };
}
