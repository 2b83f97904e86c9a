import { defaultTransport } from '#transport';
import { type Clock, systemClock } from './base/clock.ts';
import { randomIds } from './base/ids.ts';
import { parsePrice } from './base/money.ts';
import { sha256Hex } from './base/secrets.ts';
import type { Endpoint, Model, Pricing } from './call/model.ts';
import { createCatalog } from './catalog/catalog.ts';
import { createHealth } from './catalog/health.ts';
import { dialects } from './dialects/index.ts';
import { type Authenticate, authenticateByEmbedder, authenticateByKey } from './http/authenticate.ts';
import { createEdge, type HandleContext } from './http/edge.ts';
import { operations } from './operations/index.ts';
import {
  type GatewayOptions,
  type ModelOptions,
  OptionsError,
  type PricingOptions,
  type ProviderOptions,
  type ResolvedOptions,
  resolveOptions,
} from './options.ts';
import { builtInProviders } from './providers/index.ts';
import { type Credential, defineProvider, type Provider } from './providers/provider.ts';
import { sandboxModels } from './providers/sandbox.ts';
import { storedApiKeySchema } from './schema/api-key.ts';
import { type ApiKeys, createApiKeys } from './stores/api-keys.ts';
import { createCollection } from './stores/collection.ts';
import { createRecorder, logSink } from './telemetry/record.ts';
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
  /** Keys callers authenticate with, in the store. */
  apiKeys: ApiKeys;
  /** Ends open streams and upstream connections. */
  close(): Promise<void>;
}

/** Until workspaces are created, everything belongs to this one. */
const defaultWorkspaceId = 'default';

interface Configured {
  provider: Provider;
  credential: Credential;
  isUsable: boolean;
}

/**
 * Puts a gateway together. Nothing is opened until the first request.
 * @throws OptionsError naming every mistaken option and what was expected
 */
export function createGateway(options: GatewayOptions): Gateway {
  const resolved = resolveOptions(options);
  const { clock = systemClock, random = Math.random, ids = randomIds, brand, limits, logger } = resolved;
  const configured = configureProviders(resolved);
  const network = lazily(
    () => resolved.transport ?? (resolved.fetch ? fetchTransport(resolved.fetch) : defaultTransport()),
  );
  const inProcess = new Map<string, Transport>();
  for (const { provider } of configured.values()) {
    if (provider.createTransport) inProcess.set(provider.slug, provider.createTransport({ clock, random }));
  }
  const models = [
    ...(configured.has('sandbox') ? sandboxModels : []),
    ...resolved.models.map((model, at) => modelOf(model, at, configured)),
  ];
  const sinks = [...(resolved.onRecord ? [resolved.onRecord] : []), ...(logger ? [logSink(logger)] : [])];
  const apiKeys = storedKeys(resolved, clock);
  const edge = createEdge({
    operations: operations({
      ids,
      brand,
      pipeline: {
        clock,
        random,
        catalog: createCatalog(
          models,
          new Map([...configured].map(([slug, { provider }]) => [slug, provider.dataPolicy])),
        ),
        provider: (slug) => configured.get(slug)?.provider ?? null,
        health: createHealth(),
        usableProviders: new Set(
          [...configured.values()].filter(({ isUsable }) => isUsable).map(({ provider }) => provider.slug),
        ),
        openCredential: ({ provider }) => (configured.get(provider) as Configured).credential,
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
        record: sinks.length === 0 ? null : createRecorder(sinks),
      },
    }),
    authenticate: authentication(resolved, apiKeys, clock),
    clock,
    limits: { bytes: limits.bodyBytes, depth: limits.depth },
    totalMs: resolved.timeouts.totalMs,
    brand,
    basePath: resolved.basePath,
    logger: logger ?? null,
  });
  return {
    async fetch(input, init) {
      const request = input instanceof Request && init === undefined ? input : new Request(input, init);
      const response = await edge.handle(request);
      if (!request.signal.aborted) return response;
      // Nobody will read it.
      await response.body?.cancel().catch(() => undefined);
      throw request.signal.reason;
    },
    handle: edge.handle,
    basePath: resolved.basePath,
    apiKeys,
    async close() {
      edge.close();
      if (network.isMade() && !resolved.transport) await network().close?.();
    },
  };
}

function storedKeys(
  { store, storeTimeoutMs, storeCacheMs, randomBytes = systemRandomBytes, logger }: ResolvedOptions,
  clock: Clock,
): ApiKeys {
  // Without a listener, an adapter's lost connection is an uncaught exception; its calls fail all the same.
  store?.on('error', (error: unknown) =>
    logger?.warn({ error: error instanceof Error ? error.message : 'unknown' }, 'store error'),
  );
  const inMemory = lazily(async () => new (await import('keyv')).Keyv());
  const collection = createCollection({
    store: () => store ?? inMemory(),
    kind: 'api-key',
    schema: storedApiKeySchema,
    clock,
    timeoutMs: storeTimeoutMs,
  });
  return createApiKeys({ collection, clock, randomBytes, workspaceId: defaultWorkspaceId, cacheMs: storeCacheMs });
}

function systemRandomBytes(size: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(size));
}

function authentication({ authenticate, apiKeys = [] }: ResolvedOptions, stored: ApiKeys, clock: Clock): Authenticate {
  if (authenticate) return authenticateByEmbedder(authenticate, defaultWorkspaceId);
  return authenticateByKey(
    apiKeys.map(({ key, permissions }) => ({ hash: sha256Hex(key), permissions, workspaceId: defaultWorkspaceId })),
    stored,
    clock,
  );
}

function configureProviders({ providers }: ResolvedOptions): Map<string, Configured> {
  const builtIn = new Map(builtInProviders.map((provider) => [provider.slug, provider]));
  const configured = new Map<string, Configured>();
  for (const [slug, given] of Object.entries(providers))
    configured.set(slug, configureProvider(slug, given, builtIn.get(slug)));
  return configured;
}

function configureProvider(slug: string, given: ProviderOptions | Provider, builtIn: Provider | undefined): Configured {
  if ('auth' in given && given.slug !== slug) {
    throw new OptionsError([
      { path: `providers.${slug}`, message: 'expected the name that is the slug of the provider' },
    ]);
  }
  if ('auth' in given) return { provider: given, credential: { secret: '' }, isUsable: true };
  const { apiKey, baseUrl, name, headers, dialect, quirks, dataPolicy } = given;
  const address = baseUrl?.replace(/\/+$/, '') ?? builtIn?.baseUrl;
  if (address === undefined) {
    throw new OptionsError([
      { path: `providers.${slug}.baseUrl`, message: 'expected a URL: this provider is not built in' },
    ]);
  }
  const base = builtIn ?? defineProvider({ slug, baseUrl: address, dialect: dialects['openai-chat'] });
  const provider: Provider = {
    ...base,
    baseUrl: address,
    ...(name === undefined ? {} : { name }),
    ...(dialect === undefined ? {} : { dialect: dialects[dialect] }),
    ...(dataPolicy === undefined ? {} : { dataPolicy }),
    ...(headers === undefined ? {} : { auth: withHeaders(base.auth, headers) }),
    quirks: { ...base.quirks, ...quirks },
  };
  // A key that was never set must not turn into requests without one.
  const needsKey = builtIn !== undefined && baseUrl === undefined && provider.createTransport === undefined;
  return { provider, credential: { secret: apiKey ?? '' }, isUsable: apiKey !== undefined || !needsKey };
}

function withHeaders(auth: Provider['auth'], headers: Record<string, string>): Provider['auth'] {
  const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return (request, credential) => auth({ ...request, headers: { ...request.headers, ...lower } }, credential);
}

function modelOf(
  { slug, name = slug, endpoints }: ModelOptions,
  modelAt: number,
  configured: ReadonlyMap<string, Configured>,
): Model {
  return {
    slug,
    name,
    endpoints: endpoints.map((endpoint, at): Endpoint => {
      const provider = configured.get(endpoint.provider)?.provider;
      if (!provider) {
        throw new OptionsError([
          {
            path: `models[${modelAt}].endpoints[${at}].provider`,
            message: 'expected the slug of a configured provider',
          },
        ]);
      }
      return {
        modelSlug: slug,
        providerSlug: provider.slug,
        tag: endpoint.variant === undefined ? provider.slug : `${provider.slug}/${endpoint.variant}`,
        upstreamModel: endpoint.model,
        pricing: endpoint.pricing ? pricingOf(endpoint.pricing) : null,
        contextLength: endpoint.contextLength ?? null,
        maxCompletionTokens: endpoint.maxCompletionTokens ?? null,
        quantization: endpoint.quantization ?? null,
        supportedParameters: endpoint.supportedParameters ?? null,
        dataPolicy: endpoint.dataPolicy ?? provider.dataPolicy,
      };
    }),
  };
}

function pricingOf(given: PricingOptions): Pricing {
  const pico = (price: string | number | undefined) =>
    price === undefined ? undefined : (parsePrice(price) ?? undefined);
  return {
    promptPicoUsd: pico(given.prompt) ?? 0,
    completionPicoUsd: pico(given.completion) ?? 0,
    cacheReadPicoUsd: pico(given.inputCacheRead),
    cacheWritePicoUsd: pico(given.inputCacheWrite),
    reasoningPicoUsd: pico(given.internalReasoning),
    audioPicoUsd: pico(given.audio),
    audioOutputPicoUsd: pico(given.audioOutput),
    imagePicoUsd: pico(given.image),
    requestPicoUsd: pico(given.request),
  };
}

/** Makes a value when it is first asked for. */
function lazily<T>(make: () => T): (() => T) & { isMade: () => boolean } {
  let made: { value: T } | null = null;
  const get = () => {
    made ??= { value: make() };
    return made.value;
  };
  return Object.assign(get, { isMade: () => made !== null });
}
