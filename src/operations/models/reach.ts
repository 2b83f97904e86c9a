import type { Clock } from '../../base/clock.ts';
import { isGatewayError } from '../../base/errors.ts';
import type { Caller } from '../../call/call.ts';
import { type ByokCredential, operatorsProviders } from '../../call/facts.ts';
import type { Endpoint, Model } from '../../call/model.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import type { Catalog, CatalogView } from '../../catalog/catalog.ts';
import type { Health } from '../../catalog/health/index.ts';
import type { Imposed } from '../../guardrails/stored.ts';
import type { WorkspaceDefaults } from '../../pipeline/deps.ts';
import type { PluginVariants } from '../../routing/variant.ts';
import { credentialFits } from '../../stores/credentials/fits.ts';
import type { Presentation } from '../compat.ts';

/** The dependencies of the listings. */
export interface ListingDeps {
  catalog: Pick<Catalog, 'view'>;
  health: Pick<Health, 'view' | 'statistics'>;
  clock: Clock;
  /** A provider known here, by slug; null for any other. */
  provider: (slug: string) => { name: string } | null;
  /** Providers for which the operator has a credential, or that need none. */
  usableProviders: ReadonlySet<string>;
  /** The workspace's own credentials. @throws GatewayError unavailable (503) */
  byokCredentials: (workspaceId: WorkspaceId) => readonly ByokCredential[] | Promise<readonly ByokCredential[]>;
  /** Tells whether a workspace uses BYOK credentials alone. @throws GatewayError unavailable (503) */
  defaultsOf: (
    workspaceId: WorkspaceId,
  ) => Pick<WorkspaceDefaults, 'isByokOnly'> | Promise<Pick<WorkspaceDefaults, 'isByokOnly'>>;
  /** The guardrails of the store that act on a caller. @throws GatewayError unavailable (503) */
  imposedOn?: ((caller: Caller) => Pick<Imposed, 'routing'> | Promise<Pick<Imposed, 'routing'>>) | undefined;
  /** Tells whether the operator has set a provider up. */
  isConfigured: (providerSlug: string) => boolean;
  /** Author of the router models. */
  brand: string;
  /** Suffixes of model slugs that ask for plugins. */
  pluginVariants: PluginVariants;
  presentation: Presentation;
  /** Tells whether health checks have found an endpoint down; absent: none are made. */
  isDown?: ((endpoint: Endpoint) => boolean) | undefined;
}

/** Tells whether there is a credential with which a caller's requests could reach an endpoint. */
export type Reaches = (endpoint: Endpoint) => boolean;

/** A model with the endpoints that a caller could come to, at least one of which is not disabled. */
export interface ReachedModel {
  model: Model;
  /** In the catalogue's order, disabled ones left out. */
  endpoints: readonly Endpoint[];
}

/**
 * Makes the test whether a caller reaches an endpoint: by the operator's credential, or one of the workspace's own,
 * unless the key or a guardrail excludes it. A credential for certain users counts: a request may name one of them. A
 * credential for certain keys counts for those keys, and for a caller that cannot make requests but manages the
 * workspace.
 */
export async function reachOf(
  deps: Pick<ListingDeps, 'usableProviders' | 'byokCredentials' | 'defaultsOf' | 'imposedOn'>,
  caller: Caller,
): Promise<Reaches> {
  const [own, { usableProviders }, imposed] = await Promise.all([
    deps.byokCredentials(caller.workspaceId),
    operatorsFor(deps, caller),
    deps.imposedOn?.(caller),
  ]);
  const { models } = caller;
  const routing = imposed?.routing ?? null;
  const mayUse = (endpoint: Endpoint) =>
    models?.allows(endpoint.modelSlug) !== false &&
    routing?.mayUseModel?.(endpoint.modelSlug) !== false &&
    routing?.refuses(endpoint) !== true;
  if (own.length === 0) return (endpoint) => usableProviders.has(endpoint.providerSlug) && mayUse(endpoint);
  return (endpoint) => mayUse(endpoint) && hasCredential(endpoint);

  function hasCredential({ providerSlug, modelSlug }: Endpoint): boolean {
    if (usableProviders.has(providerSlug)) return true;
    return own.some((one) => !one.isRefused && one.provider === providerSlug && mayFit(one, modelSlug, caller));
  }
}

/** The providers that the operator's credentials reach in the caller's workspace. */
export async function operatorsFor(
  { usableProviders, defaultsOf }: Pick<ListingDeps, 'usableProviders' | 'defaultsOf'>,
  { workspaceId, isByokOnly }: Caller,
) {
  const defaults = await defaultsOf(workspaceId);
  return operatorsProviders(usableProviders, isByokOnly === true || defaults.isByokOnly);
}

/** The providers with an endpoint that no guardrail excludes; null: guardrails exclude nothing. */
export async function allowedProviders(
  { catalog, imposedOn }: Pick<ListingDeps, 'catalog' | 'imposedOn'>,
  caller: Caller,
): Promise<ReadonlySet<string> | null> {
  const routing = (await imposedOn?.(caller))?.routing ?? null;
  if (routing === null) return null;
  const { models } = await catalog.view([]);
  const allowed = models
    .flatMap(({ endpoints }) => endpoints)
    .filter((one) => routing.mayUseModel?.(one.modelSlug) !== false && !routing.refuses(one));
  return new Set(allowed.map(({ providerSlug }) => providerSlug));
}

function mayFit(credential: ByokCredential, model: string, { permissions, apiKeyHash }: Caller): boolean {
  const { allowedUserIds, allowedApiKeyHashes } = credential;
  return credentialFits(credential, {
    model,
    user: allowedUserIds?.[0] ?? null,
    apiKeyHash: permissions.includes('inference') ? apiKeyHash : (allowedApiKeyHashes?.[0] ?? null),
  });
}

/** The models a caller could use, in the catalogue's order. */
export async function reachedModels(deps: ListingDeps, caller: Caller): Promise<readonly ReachedModel[]> {
  const [reaches, view] = await Promise.all([reachOf(deps, caller), deps.catalog.view([])]);
  const reached = reachedOf(view, reaches);
  const priced = await withPrices(deps.catalog, view, reached);
  return priced === view ? reached : reachedOf(priced, reaches);
}

/** Loads prices: a catalogue may not look for a price before a request needs the model. */
async function withPrices(
  catalog: ListingDeps['catalog'],
  view: CatalogView,
  reached: readonly ReachedModel[],
): Promise<CatalogView> {
  const unpriced = reached.filter(({ endpoints }) => endpoints.some(({ pricing }) => pricing === null));
  if (unpriced.length === 0) return view;
  try {
    return await catalog.view(unpriced.map(({ model }) => model.slug));
  } catch (error) {
    // The list is shown also while a further source for it is out of reach.
    if (isGatewayError(error) && error.kind === 'unavailable') return view;
    throw error;
  }
}

function reachedOf({ models }: CatalogView, reaches: Reaches): readonly ReachedModel[] {
  const reached: ReachedModel[] = [];
  for (const model of models) {
    const endpoints = model.endpoints.filter((endpoint) => endpoint.isDisabled !== true && reaches(endpoint));
    if (endpoints.length > 0) reached.push({ model, endpoints });
  }
  return reached;
}
