import { GatewayError, isGatewayError } from '../../base/errors.ts';
import type { Caller } from '../../call/call.ts';
import type { Facts } from '../../call/facts.ts';
import type { Endpoint, Model } from '../../call/model.ts';
import type { CatalogView } from '../../catalog/catalog.ts';
import { expandModels, slugsToKnow } from '../../routing/expand.ts';
import { needsOf } from '../../routing/needs.ts';
import type { ChatRequest } from '../../schema/chat.ts';
import { type ListingDeps, operatorsFor, reachOf } from './reach.ts';

/** A model with the endpoints at which a request for it could be served, disabled ones among them. */
export interface ResolvedModel {
  model: Model;
  endpoints: readonly Endpoint[];
}

/**
 * The model of a path, as a request would find it: `author/model`, with suffixes, or an alias such as
 * `~author/family-latest`. What a suffix leaves out, such as what is not free, is left out here.
 * @throws GatewayError not_found (404): there is none, or nothing of it that the caller could come to
 */
export async function resolveModel(
  deps: ListingDeps,
  caller: Caller,
  { author, slug }: Readonly<Record<string, string>>,
): Promise<ResolvedModel> {
  const wanted = `${author}/${slug}`;
  const [reaches, view, byokCredentials, operators] = await Promise.all([
    reachOf(deps, caller),
    deps.catalog.view(slugsToKnow([wanted])),
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

/** A request that asks for nothing in particular; with `:online`, a search of the web is part of it. */
const anyRequest: ChatRequest = { messages: [], plugins: [{ id: 'web' }] };

/** null: there is none by this name; nor is a router one, which chooses anew for every request. */
function chosenModel(slug: string, view: CatalogView, { brand, isConfigured }: ListingDeps, facts: Facts) {
  try {
    const needs = needsOf(anyRequest);
    // What a router chooses is not used.
    const anyway = { request: anyRequest, needs, isSandbox: () => false, hasOnlySandboxes: false };
    const { chosen, router } = expandModels([slug], { ...anyway, view, facts, brand, isConfigured });
    return router === null ? chosen[0] : undefined;
  } catch (error) {
    if (isGatewayError(error) && (error.kind === 'invalid_request' || error.kind === 'permission_denied'))
      return undefined;
    throw error;
  }
}
