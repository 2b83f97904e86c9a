import { defaultTransport } from '#transport';
import { type Clock, systemClock } from './base/clock.ts';
import { randomIds } from './base/ids.ts';
import { lazily } from './base/lazily.ts';
import { sha256Hex } from './base/secrets.ts';
import { createHealth } from './catalog/health.ts';
import { mergeModels } from './catalog/merge.ts';
import { dialects } from './dialects/index.ts';
import { guardrails } from './guardrails/index.ts';
import { type Authenticate, createAuthenticate, type HostCaller } from './http/authenticate.ts';
import { createCors } from './http/cors.ts';
import { createEdge, type HandleContext } from './http/edge.ts';
import { presentationOf } from './operations/compat.ts';
import { operations } from './operations/index.ts';
import { type GatewayOptions, OptionsError, type ResolvedOptions, resolveOptions } from './options.ts';
import type { PipelineDeps } from './pipeline/deps.ts';
import { createHedging } from './pipeline/hedging.ts';
import { builtInProviders } from './providers/index.ts';
import { sandboxModels } from './providers/sandbox.ts';
import { configureCatalog } from './setup/catalog.ts';
import { credentialOpener, keyReader } from './setup/credentials.ts';
import { createExplainer, type Explain } from './setup/explainer.ts';
import { allOperations, allPlugins } from './setup/extensions.ts';
import { configureModels } from './setup/models.ts';
import { type Configured, configureProviders, SettingsError } from './setup/providers.ts';
import { rateDeps } from './setup/rate-limits.ts';
import { openStores, type Stores } from './setup/stores.ts';
import type { Rotation } from './stores/credentials/rotate.ts';
import type { ApiKeys } from './stores/host-api-keys.ts';
import { createSticky } from './stores/sticky.ts';
import { logCompletion, logOperation, recordTo } from './telemetry/record.ts';
import { fetchTransport } from './transport/fetch.ts';
import type { Transport } from './transport/transport.ts';

/** What an adapter needs of a gateway. */
export interface RequestHandler {
  /** Request in, Response out. Never rejects. Bound. */
  handle(request: Request, context?: HandleContext): Promise<Response>;
  /** Where it expects requests unless told otherwise. Default `/v1`. */
  basePath?: string;
}

export interface Gateway extends RequestHandler {
  /**
   * As `handle`. Takes what `fetch` takes, so that it can be handed to a client as its `fetch`, and like it rejects with
   * the reason of the signal, and breaks the body with it, once that is aborted. Bound.
   */
  fetch(input: Request | URL | string, init?: RequestInit): Promise<Response>;
  basePath: string;
  /**
   * The gateway as one caller sees it, without a key: for requests that the host app makes itself. Its `fetch` is
   * that of the gateway.
   */
  as(caller: HostCaller): Pick<Gateway, 'fetch'>;
  /** Keys callers authenticate with, in the store. */
  apiKeys: ApiKeys;
  /** The provider credentials that workspaces bring. */
  credentials: {
    /**
     * Seals all of them with the current master key, after it was changed. Requests go on meanwhile; may be called again
     * if it was interrupted.
     * @param workspaces  ids of those that only `authenticate` names, for which nobody made a record here
     * @returns how many there are, how many were sealed anew, and the ids of those that no key opens
     * @throws GatewayError unavailable (503) when there is no master key, or the store is out of reach
     */
    rotate(workspaces?: readonly string[]): Promise<Rotation>;
  };
  /** The models there are. */
  catalog: {
    /**
     * Reads the document of the option `catalog.source` now, rather than when it is due.
     * @returns how many of its models are served here; 0 without a document
     * @throws CatalogError naming what is wrong with it; the last good copy then stays
     */
    refresh(): Promise<{ models: number }>;
  };
  /**
   * How a chat request would be routed and paid for now: no provider is asked, nothing is held.
   * @param body  as of POST /chat/completions; text or an object
   * @throws GatewayError as the request itself would be refused, where no route could be planned for it
   */
  explain: Explain;
  /** Ends open streams and upstream connections, and books what is still to be booked. */
  close(): Promise<void>;
}

/**
 * Puts a gateway together. Nothing is opened until the first request.
 * @throws OptionsError naming every mistaken option and what was expected
 */
export function createGateway(options: GatewayOptions): Gateway {
  const resolved = resolveOptions(options);
  const { clock = systemClock, random = Math.random, ids = randomIds, brand, limits, logger } = resolved;
  const configured = asOptions(() => configureProviders(resolved.providers, builtInProviders, dialects));
  const network = lazily(
    () => resolved.transport ?? (resolved.fetch ? fetchTransport(resolved.fetch) : defaultTransport()),
  );
  const inProcess = new Map<string, Transport>();
  for (const { provider, isConfigured } of configured.values()) {
    if (isConfigured && provider.createTransport)
      inProcess.set(provider.slug, provider.createTransport({ clock, random }));
  }
  const operatorsOwn = (slug: string) => {
    const found = configured.get(slug);
    return found?.isConfigured ? found.provider : null;
  };
  const catalog = asOptions(() =>
    configureCatalog({
      settings: resolved.catalog,
      models: [
        ...mergeModels([
          configureModels(resolved.models, operatorsOwn),
          operatorsOwn('sandbox') ? sandboxModels : [],
        ]).values(),
      ],
      providers: configured,
      builtInProviders: new Set(builtInProviders.map(({ slug }) => slug)),
      transport: network,
      headerBytes: limits.upstreamHeaderBytes,
      clock,
      logger: logger ?? null,
    }),
  );
  const randomBytes = resolved.randomBytes ?? systemRandomBytes;
  const readKey = keyReader((slug) => configured.get(slug)?.provider.credentialShape);
  const takesByok = (slug: string) => configured.get(slug)?.takesByok === true;
  const stores = asOptions(() => openStores({ ...resolved, clock, random, ids, randomBytes, readKey, takesByok }));
  const health = createHealth({
    clock,
    cooldown: resolved.health,
    sharing: stores.healthRecords && {
      records: stores.healthRecords,
      // Not of `ids`, which may be made to count: two instances with one name would not hear each other.
      instance: () => randomBytes(16).reduce((hex, byte) => hex + byte.toString(16).padStart(2, '0'), ''),
      logger: logger ?? null,
    },
  });
  const rates = rateDeps(resolved.rateLimits, stores.rateLimiter);
  const pipeline: PipelineDeps = {
    clock,
    random,
    catalog,
    provider: (slug) => configured.get(slug)?.provider ?? null,
    health,
    sticky: createSticky({ clock, ...resolved.sticky }),
    hedging: resolved.hedge.enabled ? createHedging(health, resolved.hedge) : null,
    brand,
    isConfigured: (slug) => configured.get(slug)?.isConfigured === true,
    isSandbox: (slug) => configured.get(slug)?.provider.isSandbox === true,
    hasOnlySandboxes: [...configured.values()].every((one) => !one.isConfigured || one.provider.isSandbox === true),
    defaultsOf: stores.defaultsOf,
    usableProviders: new Set(
      [...configured.values()].filter(({ isUsable }) => isUsable).map(({ provider }) => provider.slug),
    ),
    byokCredentials: (workspaceId) => stores.credentials(workspaceId).usable(),
    budgetsOf: (workspaceId) => stores.budgets(workspaceId).limits(),
    spending: stores.spending,
    budgets: resolved.budgets,
    rates,
    openCredential: credentialOpener(
      (slug) => (configured.get(slug) as Configured).credential,
      stores.credentials,
      takesByok,
    ),
    transportOf: (provider) => inProcess.get(provider.slug) ?? network(),
    limits: {
      bodyBytes: limits.upstreamBodyBytes,
      streamBytes: limits.upstreamStreamBytes,
      eventBytes: limits.upstreamEventBytes,
      errorBytes: limits.upstreamErrorBytes,
      headerBytes: limits.upstreamHeaderBytes,
      depth: limits.depth,
    },
    timeouts: resolved.timeouts,
    retry: resolved.retry,
    keepAlive: resolved.keepAlive,
    region: resolved.region,
    defaultModel: resolved.defaultModel ?? null,
    record: recorderOf(resolved.onRecord, logger && ((record) => logCompletion(logger, record))),
    streams: resolved.streams,
    plugins: asOptions(() => allPlugins(resolved.plugins)),
    guardrails: [...guardrails, ...resolved.guardrails],
  };
  const bodyLimits = { bytes: limits.bodyBytes, depth: limits.depth, values: limits.jsonValues };
  const edge = createEdge({
    operations: asOptions(() =>
      allOperations(
        operations({
          ids,
          clock,
          brand,
          bounds: limits,
          presentation: presentationOf(resolved.compat),
          ...stores,
          pipeline,
        }),
        resolved.operations,
      ),
    ),
    authenticate: authentication(resolved, stores, clock),
    clock,
    limits: bodyLimits,
    overload: resolved.overload,
    totalMs: resolved.timeouts.totalMs,
    brand,
    basePath: resolved.basePath,
    cors: resolved.cors ? createCors(resolved.cors, brand, logger ?? null) : null,
    logger: logger ?? null,
    record: recorderOf(resolved.onOperation, logger && ((record) => logOperation(logger, record))),
  });
  const fetchAs =
    (context?: HandleContext): Gateway['fetch'] =>
    async (input, init) => {
      const request = input instanceof Request && init === undefined ? input : new Request(input, init);
      const response = await edge.handle(request, context);
      if (!request.signal.aborted) return response;
      // Nobody will read it.
      await response.body?.cancel().catch(() => undefined);
      throw request.signal.reason;
    };
  return {
    fetch: fetchAs(),
    as: (caller) => ({ fetch: fetchAs({ caller }) }),
    handle: edge.handle,
    basePath: resolved.basePath,
    apiKeys: stores.hostApiKeys,
    credentials: { rotate: stores.rotateCredentials },
    catalog: { refresh: catalog.refresh },
    explain: createExplainer({ pipeline, ids, brand, bounds: limits }, clock, bodyLimits),
    async close() {
      catalog.close();
      edge.close();
      await health.close();
      await stores.close();
      if (network.isMade() && !resolved.transport) await network().close?.();
    },
  };
}

/** A mistake that only shows when things are put together is a mistake in the options like any other. */
function asOptions<T>(configure: () => T): T {
  try {
    return configure();
  } catch (error) {
    if (error instanceof SettingsError) throw new OptionsError([{ path: error.path, message: error.message }]);
    throw error;
  }
}

/** @returns null: nobody wants to know */
function recorderOf<AnyRecord>(
  ...sinks: readonly (((record: AnyRecord) => void) | undefined)[]
): ((record: AnyRecord) => void) | null {
  const wanted = sinks.filter((sink) => sink !== undefined);
  return wanted.length === 0 ? null : recordTo(wanted);
}

function systemRandomBytes(size: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(size));
}

function authentication({ authenticate, apiKeys = [] }: ResolvedOptions, stores: Stores, clock: Clock): Authenticate {
  return createAuthenticate({
    keys: apiKeys.map(({ key, permissions, workspace }) => ({
      hash: sha256Hex(key),
      permissions,
      workspaceId: workspace ?? null,
    })),
    findKey: stores.findApiKey,
    clock,
    byHostApp: typeof authenticate === 'function' ? authenticate : null,
  });
}
