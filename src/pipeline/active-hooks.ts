import type { Call } from '../call/call.ts';
import type { PluginHooks } from '../call/hooks.ts';
import type { Guardrail } from '../guardrails/guardrail.ts';
import type { Plugin } from '../plugins/plugin.ts';
import type { ChatRequest } from '../schema/chat.ts';
import type { PipelineDeps } from './deps.ts';

/** A plugin or guardrail that acts on a call. */
export interface ActiveHook {
  id: string;
  hooks: PluginHooks;
  isGuardrail: boolean;
  /** What becomes of the call where a hook fails; a guardrail that fails always ends it. */
  onError: 'fail' | 'skip';
  /** What the request says of it. */
  options: Record<string, unknown>;
}

const none: readonly ActiveHook[] = [];

/**
 * Which guardrails and plugins act on a call, in the order they are asked: guardrails first, then plugins in the order
 * of the request, then the plugins that act by default.
 */
export function activeHooks(
  { plugins, guardrails, brand }: Pick<PipelineDeps, 'plugins' | 'guardrails' | 'brand'>,
  { request, caller }: Call,
  imposed: readonly Guardrail[] = [],
): readonly ActiveHook[] {
  const requested = request.plugins;
  const byModel = pluginOf(request, brand);
  const isGuarded = guardrails.length + imposed.length > 0;
  if (requested === undefined && byModel === null && !isGuarded && !plugins.some(isDefault)) return none;
  const active: ActiveHook[] = [];
  for (const hooks of guardrails) if (hooks.appliesTo?.(caller) !== false) active.push(ofGuardrail(hooks));
  for (const hooks of imposed) active.push(ofGuardrail(hooks));
  for (const options of requested ?? []) {
    const hooks = plugins.find(({ id }) => id === options.id);
    if (hooks && options.enabled !== false) active.push(ofPlugin(hooks, options));
  }
  for (const hooks of plugins) {
    const isNamed = requested?.some(({ id }) => id === hooks.id) === true;
    if ((isDefault(hooks) || hooks.id === byModel) && !isNamed) active.push(ofPlugin(hooks, {}));
  }
  // A plugin without hooks is a name that another part of the gateway reads.
  return active.filter(({ hooks: { before, prepare, wrap, steps } }) => before || prepare || wrap || steps);
}

function ofGuardrail(hooks: Guardrail): ActiveHook {
  return { id: hooks.id, hooks, isGuardrail: true, onError: 'fail', options: {} };
}

function ofPlugin(plugin: Plugin, options: Record<string, unknown>): ActiveHook {
  return { id: plugin.id, hooks: plugin, isGuardrail: false, onError: plugin.onError ?? 'fail', options };
}

function isDefault(plugin: Plugin): boolean {
  return plugin.isDefault === true;
}

/** The plugin that the model of a request asks for. */
function pluginOf(request: ChatRequest, brand: string): 'fusion' | 'web' | null {
  if (namesFusion(request, brand)) return 'fusion';
  return mayBeOnline(request) ? 'web' : null;
}

/** Whether the model is `service/fusion`: the plugin then chooses the models. */
export function namesFusion({ model }: ChatRequest, brand: string): boolean {
  return model === 'service/fusion' || model === `${brand}/fusion`;
}

const online = ':online';

/** Whether a model's name may have the suffix that asks for the plugin `web`. */
function mayBeOnline({ model, models }: ChatRequest): boolean {
  return model?.includes(online) === true || models?.some((slug) => slug.includes(online)) === true;
}

/** The request as it is when the plugin `web` has acted, for those who only plan. */
export function withOnlineServed(request: ChatRequest): ChatRequest {
  const isNamed = request.plugins?.some(({ id }) => id === 'web') === true;
  return isNamed || !mayBeOnline(request)
    ? request
    : { ...request, plugins: [...(request.plugins ?? []), { id: 'web' }] };
}
