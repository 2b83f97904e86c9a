import type { Caller } from '../../src/call/call.ts';
import type { ByokCredential } from '../../src/call/facts.ts';
import { endpointKey } from '../../src/call/facts.ts';
import type { Endpoint, Model, Pricing } from '../../src/call/model.ts';
import { defaultWorkspaceId } from '../../src/call/workspace.ts';
import type { EndpointStatistics } from '../../src/catalog/health/index.ts';
import { presentationOf } from '../../src/operations/compat.ts';
import type { ListingDeps } from '../../src/operations/models/reach.ts';
import type { Operation } from '../../src/operations/operation.ts';
import { asZod } from '../../src/schema/schema.ts';
import { manualClock } from './manual-clock.ts';

/** An endpoint of which nothing is known, but for what is given. */
export function endpoint(providerSlug: string, modelSlug: string, known: Partial<Endpoint> = {}): Endpoint {
  return {
    modelSlug,
    providerSlug,
    tag: providerSlug,
    upstreamModel: modelSlug,
    pricing: null,
    contextLength: null,
    maxCompletionTokens: null,
    quantization: null,
    supportedParameters: null,
    dataPolicy: { zeroRetention: null, trains: null },
    ...known,
  };
}

/** USD per million tokens. */
export function perMillion(prompt: number, completion: number, others: Partial<Pricing> = {}): Pricing {
  return { promptPicoUsd: prompt * 1e6, completionPicoUsd: completion * 1e6, ...others };
}

/** A model at the provider `up`, but for what is given. */
export function model(slug: string, known: Partial<Model> = {}): Model {
  return { slug, name: slug, endpoints: [endpoint('up', slug)], ...known };
}

export const nothingSeen: EndpointStatistics = {
  uptime5m: null,
  uptime30m: null,
  uptime1d: null,
  latency30m: null,
  latency1d: null,
  throughput30m: null,
  throughput1d: null,
  status: 'default',
};

export interface ListingWorld {
  models: readonly Model[];
  /** By endpoint key. */
  statistics?: Readonly<Record<string, Partial<EndpointStatistics>>>;
  usable?: readonly string[];
  own?: readonly ByokCredential[];
  compat?: 'openrouter';
}

/** What the listings are given: providers `up`, `alt` and `other`, of which the operator can use the first two. */
export function listingDeps({ models, statistics = {}, usable = ['up', 'alt'], own = [], compat }: ListingWorld) {
  const names: Record<string, string> = { up: 'Up', alt: 'Alt', other: 'The Other' };
  const neverCoolsDown = {
    cooldownUntil: () => undefined,
    hasOutage: () => false,
    latency: () => null,
    latencyP95: () => null,
    throughput: () => null,
  };
  return {
    catalog: {
      view: () => ({
        model: (slug) => models.find((one) => one.slug === slug) ?? null,
        models,
        aliasOf: () => null,
        named: () => [],
      }),
    },
    health: { view: () => neverCoolsDown, statistics: (key) => ({ ...nothingSeen, ...statistics[key] }) },
    clock: manualClock(),
    provider: (slug) => (names[slug] === undefined ? null : { name: names[slug] }),
    usableProviders: new Set(usable),
    byokCredentials: () => own,
    defaultsOf: () => ({ isByokOnly: false }),
    isConfigured: (slug) => usable.includes(slug),
    pluginVariants: new Map([['online', 'web']]),
    brand: 'service',
    presentation: presentationOf(compat),
  } satisfies ListingDeps;
}

export function keyOf(of: Endpoint | undefined): string {
  return of === undefined ? '' : endpointKey(of);
}

export const anyCaller: Caller = {
  permissions: ['inference'],
  apiKeyHash: 'a'.repeat(64),
  workspaceId: defaultWorkspaceId,
  managesAll: false,
  keyLimit: null,
  userId: null,
};

/** Asks an operation as a GET request would, without a gateway around it. */
export async function ask<Body, Query>(
  operation: Operation<Body, Query>,
  {
    query = {},
    params = {},
    caller = anyCaller,
    basePath = '/v1',
  }: {
    query?: Record<string, string>;
    params?: Record<string, string>;
    caller?: Caller;
    basePath?: string;
  } = {},
  // biome-ignore lint/suspicious/noExplicitAny: of any operation, for a test to look into
): Promise<any> {
  const reply = await operation.run({
    body: null as Body,
    query: (operation.query ? asZod(operation.query()).parse(query) : null) as Query,
    params,
    isLong: false,
    basePath,
    wire: 'chat',
    caller,
    headers: new Headers(),
    signal: new AbortController().signal as never,
    time: { now: () => 0 },
    receivedAtMs: 0,
    authenticatedAtMs: 0,
  });
  if (reply.kind !== 'json') throw new Error('The answer is no JSON');
  return asZod(operation.result()).parse(reply.body);
}
