import { disregard } from '../../base/async/tell.ts';
import type { Call, Caller } from '../../call/call.ts';
import type { PluginHooks } from '../../call/hooks.ts';
import type { Guardrail } from '../../guardrails/guardrail.ts';
import type { Plugin } from '../../plugins/plugin.ts';
import type { ChatRequest } from '../../schema/chat/chat.ts';
import type { RoutingStrategy } from '../../schema/chat/envelope.ts';
import type { PipelineDeps } from '../deps.ts';
import { type Actor, namedError } from './hook-failure.ts';

/** A plugin or guardrail that acts on a call. */
export interface ActiveHook {
  id: string;
  hooks: PluginHooks;
  isGuardrail: boolean;
  /** The effect on the call when a hook fails. */
  onError: 'fail' | 'skip';
  /** true: `before` runs beside the generation. */
  isParallel: boolean;
  /** The settings of the plugin in the request. */
  options: Record<string, unknown>;
  /** true: the request names the plugin, or asks for it by a variant of a model. */
  isAsked: boolean;
  /**
   * The suffix of slugs that asks for the plugin, where the request does not name it; null: there is none. A slug may
   * end like that by its own name: see `withVariantServed`.
   */
  variant: string | null;
  /** true: the plugin acts only where `variant` is a suffix of a slug of the request. */
  isByVariant: boolean;
  /** The way the plugin chooses the models; null: it chooses none, and the plan does. */
  strategy: RoutingStrategy | null;
}

type HookSources = Pick<PipelineDeps, 'plugins' | 'guardrails' | 'brand' | 'pluginVariants'>;

const none: readonly ActiveHook[] = [];

/**
 * Returns the guardrails and plugins that act on a call, in order: guardrails first, then plugins in the order of the
 * request, then the plugins that act on it without being named.
 */
export function activeHooks(
  { plugins, guardrails, brand, pluginVariants }: HookSources,
  { ask: { request }, caller }: Call,
  imposed: readonly Guardrail[] = [],
): readonly ActiveHook[] {
  const requested = request.plugins;
  const active: ActiveHook[] = [];
  for (const hooks of guardrails) {
    if (appliesTo(hooks, caller)) active.push(ofGuardrail(hooks));
  }
  for (const hooks of imposed) active.push(ofGuardrail(hooks));
  const chosenBy = (plugin: Plugin, acts: boolean) => (acts ? (plugin.strategy ?? null) : null);
  const context = { caller, brand };
  const actsOn = (plugin: Plugin) => plugin.actsOn !== undefined && actsByRequest(plugin, request, context);
  const mayNameVariants = mayHaveVariant(request, '');
  for (const options of requested ?? []) {
    const plugin = plugins.find(({ id }) => id === options.id);
    if (plugin === undefined || options.enabled === false) continue;
    active.push({ ...ofPlugin(plugin, options), isAsked: true, strategy: chosenBy(plugin, actsOn(plugin)) });
  }
  for (const plugin of plugins) {
    if (namesPlugin(request, plugin.id)) continue;
    const byRequest = actsOn(plugin);
    const isByVariant = !byRequest && plugin.isDefault !== true;
    if (isByVariant && !mayNameVariants) continue;
    const { id } = plugin;
    const variant = plugin.variant !== undefined && pluginVariants.get(plugin.variant) === id ? plugin.variant : null;
    if (isByVariant && (variant === null || !mayHaveVariant(request, variant))) continue;
    active.push({ ...ofPlugin(plugin, {}), variant, isByVariant, strategy: chosenBy(plugin, byRequest) });
  }
  if (active.length === 0) return none;
  // A plugin without hooks is a name that another part of the gateway reads.
  return active.filter(({ hooks }) => hasHooks(hooks));
}

/** true: a plugin or guardrail has something to do in a call. */
export function hasHooks({ before, prepare, wrap, steps, restore }: PluginHooks): boolean {
  return Boolean(before ?? prepare ?? wrap ?? steps ?? restore);
}

/** true: a request has an entry of a plugin. The entry may also switch the plugin off. */
export function namesPlugin({ plugins }: ChatRequest, plugin: string): boolean {
  return plugins?.some(({ id }) => id === plugin) === true;
}

/** true: a slug of a request contains the letters of a suffix, anywhere in its name; `''`: of any suffix. */
export function mayHaveVariant({ model, models }: ChatRequest, variant: string): boolean {
  const suffix = `:${variant}`;
  return model?.includes(suffix) === true || models?.some((slug) => slug.includes(suffix)) === true;
}

/** Returns the way a plugin chooses the models of a call; null: no plugin does, and the plan does. */
export function strategyOf(active: readonly ActiveHook[]): RoutingStrategy | null {
  for (const { strategy } of active) if (strategy !== null) return strategy;
  return null;
}

const unasked = { options: {}, isAsked: false, variant: null, isByVariant: false, strategy: null } as const;

function ofGuardrail(hooks: Guardrail): ActiveHook {
  const onError = hooks.onError === 'pass-unchecked' ? 'skip' : 'fail';
  return { ...unasked, id: hooks.id, hooks, isGuardrail: true, isParallel: hooks.mode === 'parallel', onError };
}

function ofPlugin(plugin: Plugin, options: Record<string, unknown>): ActiveHook {
  const { id, onError = 'fail', mode } = plugin;
  return { ...unasked, id, hooks: plugin, isGuardrail: false, isParallel: mode === 'parallel', onError, options };
}

function appliesTo(guardrail: Guardrail, caller: Caller): boolean {
  if (guardrail.appliesTo === undefined) return true;
  return answerOf({ id: guardrail.id, isGuardrail: true }, 'appliesTo', () => guardrail.appliesTo?.(caller)) !== false;
}

function actsByRequest(plugin: Plugin, ...asked: Parameters<NonNullable<Plugin['actsOn']>>): boolean {
  return Boolean(answerOf({ id: plugin.id, isGuardrail: false }, 'actsOn', () => plugin.actsOn?.(...asked)));
}

/**
 * Returns the answer whether a plugin or guardrail acts. A promise, which has no place here, counts as true.
 * @throws the error that it throws, with its name
 */
function answerOf(actor: Actor, question: string, ask: () => boolean | undefined): boolean | undefined {
  try {
    const answer = ask();
    disregard(answer);
    return answer;
  } catch (error) {
    throw namedError(error, actor, question);
  }
}
