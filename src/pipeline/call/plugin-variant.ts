import { isGatewayError } from '../../base/errors.ts';
import { type Ask, withRequest } from '../../call/ask.ts';
import type { Call } from '../../call/call.ts';
import type { ChatRequest } from '../../schema/chat/chat.ts';
import type { MoneyDeps, RoutingDeps } from '../deps.ts';
import { planNow } from '../plan/plan-of.ts';
import { type ActiveHook, mayHaveVariant, namesPlugin } from './active-hooks.ts';

/** A hook, and the request that it gets, after the variant of a model was read. */
export interface VariantServed {
  hook: ActiveHook;
  ask: Ask;
}

/**
 * Names a plugin that has a variant in the request, so that routing does not refuse the suffix.
 * @returns null: the plugin does not act, because the suffix is the end of a model's own name
 */
export async function withVariantServed(
  deps: RoutingDeps & Pick<MoneyDeps, 'budgetsOf'>,
  call: Call,
  hook: ActiveHook,
  ask: Ask,
): Promise<VariantServed | null> {
  const { id, variant, isByVariant } = hook;
  // An earlier hook may have named it, or chosen another model.
  if (variant === null || namesPlugin(ask.request, id)) return { hook, ask };
  const isAsked = mayHaveVariant(ask.request, variant) && (await isSuffix(deps, call, ask, id));
  if (isByVariant && !isAsked) return null;
  return { hook: isAsked ? { ...hook, isAsked } : hook, ask: naming(ask, [id]) };
}

/** true: routing reads the variant of a plugin as a suffix. It then refuses a request that does not name the plugin. */
async function isSuffix(
  deps: RoutingDeps & Pick<MoneyDeps, 'budgetsOf'>,
  call: Call,
  ask: Ask,
  plugin: string,
): Promise<boolean> {
  // The suffixes of other plugins count as served: they are not the question here.
  const others = [...deps.pluginVariants.values()].filter((id) => id !== plugin && !namesPlugin(ask.request, id));
  try {
    await planNow(deps, call, others.length === 0 ? ask : naming(ask, others));
    return false;
  } catch (error) {
    return isGatewayError(error) && error.metadata?.plugin === plugin;
  }
}

function naming(ask: Ask, ids: readonly string[]): Ask {
  const entries = ids.map((id) => ({ id })) as NonNullable<ChatRequest['plugins']>;
  return withRequest(ask, { ...ask.request, plugins: [...(ask.request.plugins ?? []), ...entries] });
}
