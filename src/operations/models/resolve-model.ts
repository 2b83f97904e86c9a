import { GatewayError, isGatewayError } from '../../base/errors.ts';
import { askOf } from '../../call/ask.ts';
import type { Caller } from '../../call/call.ts';
import type { Facts } from '../../call/facts.ts';
import type { Endpoint, Model } from '../../call/model.ts';
import type { CatalogView } from '../../catalog/catalog.ts';
import { expandModels, slugsToKnow } from '../../routing/expand.ts';
import { routedChat } from '../../routing/routed.ts';
import type { PluginVariants } from '../../routing/variant.ts';
import type { ChatRequest } from '../../schema/chat/chat.ts';
import type { ShownModel } from '../../schema/models/model.ts';
import { showModel } from './model-response.ts';
import { type ListingDeps, operatorsFor, reachOf } from './reach.ts';

/** A model with the endpoints at which a request for it could be served, disabled ones among them. */
export interface ResolvedModel {
  model: Model;
  endpoints: readonly Endpoint[];
}

/**
 * The model of a slug, as a request would find it: `author/model`, with suffixes, or an alias such as
 * `~author/family-latest`. Endpoints that a suffix excludes, such as `:free` does, are left out.
 * @throws GatewayError not_found (404): there is none, or the caller reaches none of its endpoints
 */
export async function resolveModel(deps: ListingDeps, caller: Caller, wanted: string): Promise<ResolvedModel> {
  const [reaches, view, byokCredentials, operators] = await Promise.all([
    reachOf(deps, caller),
    deps.catalog.view(slugsToKnow([wanted], deps.pluginVariants)),
    deps.byokCredentials(caller.workspaceId),
    operatorsFor(deps, caller),
  ]);
  const nowMs = deps.clock.now();
  const found = chosenModel(wanted, view, deps, {
    health: deps.health.view(nowMs, caller.workspaceId),
    random: () => 0,
    pinned: () => null,
    defaultSort: null,
    ...operators,
    byokCredentials,
    workspaceId: caller.workspaceId,
    apiKeyHash: caller.apiKeyHash,
    mayUseModel: caller.models?.allows ?? null,
    nowMs,
  });
  const endpoints = found?.model.endpoints.filter(
    (endpoint) => reaches(endpoint) && found.variants.every(({ rule }) => !rule || rule[1](endpoint)),
  );
  if (found && endpoints && endpoints.length > 0) return { model: found.model, endpoints };
  throw new GatewayError('not_found', 'There is no such model here, or nothing that serves it');
}

/**
 * The model of a slug, as listings show it.
 * @throws GatewayError not_found (404), as `resolveModel`, and if all endpoints that serve it are disabled
 */
export async function shownModel(
  deps: ListingDeps,
  caller: Caller,
  wanted: string,
  basePath: string,
): Promise<ShownModel> {
  const { model, endpoints: all } = await resolveModel(deps, caller, wanted);
  const endpoints = all.filter(({ isDisabled }) => isDisabled !== true);
  if (endpoints.length === 0) throw new GatewayError('not_found', 'All that serves this model is disabled');
  return showModel({ model, endpoints }, basePath);
}

/** A request without wishes, but for all plugins that a suffix may ask for. */
function anyRequest(pluginVariants: PluginVariants): ChatRequest {
  const plugins = [...pluginVariants.values()].map((id) => ({ id })) as NonNullable<ChatRequest['plugins']>;
  return { messages: [], plugins };
}

/** null: there is no model of this name, or it is a router model, which chooses anew for every request. */
function chosenModel(slug: string, view: CatalogView, deps: ListingDeps, facts: Facts) {
  const { brand, pluginVariants, isConfigured } = deps;
  try {
    const request = anyRequest(pluginVariants);
    // What a router chooses is not used.
    const routed = { ...routedChat(askOf(request), facts, slug), slugs: [slug] };
    const anyway = { routed, isSandbox: () => false, hasOnlySandboxes: false };
    const { chosen, router } = expandModels([slug], { ...anyway, view, facts, brand, pluginVariants, isConfigured });
    return router === null ? chosen[0] : undefined;
  } catch (error) {
    if (isGatewayError(error) && (error.kind === 'invalid_request' || error.kind === 'permission_denied'))
      return undefined;
    throw error;
  }
}
