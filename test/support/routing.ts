import { GatewayError } from '../../src/base/errors.ts';
import { seededRandom } from '../../src/base/random.ts';
import { askOf } from '../../src/call/ask.ts';
import { endpointKey, type HealthView, type Percentiles } from '../../src/call/facts.ts';
import type { Endpoint, Model, Pricing } from '../../src/call/model.ts';
import type { Plan } from '../../src/call/plan.ts';
import { defaultWorkspaceId } from '../../src/call/workspace.ts';
import { type PlanInput, planRoute } from '../../src/routing/plan.ts';
import { routedChat } from '../../src/routing/routed.ts';
import type { ChatRequest } from '../../src/schema/chat/chat.ts';

/** What a test says of an endpoint of a model: its tag, and what is known of it. */
export interface EndpointSketch extends Partial<Omit<Endpoint, 'pricing'>> {
  /** USD per million tokens, of prompt and answer alike; or all prices. */
  price?: number;
  pricing?: Pricing | null;
}

/** Endpoints by tag, `provider` or `provider/variant`; of the model nothing else is known but for what is given. */
export function modelOf(
  slug: string,
  endpoints: Readonly<Record<string, EndpointSketch>>,
  known: Partial<Model> = {},
): Model {
  return {
    slug,
    name: slug,
    endpoints: Object.entries(endpoints).map(([tag, sketch]) => endpointOf(slug, tag, sketch)),
    ...known,
  };
}

function endpointOf(modelSlug: string, tag: string, { price, ...known }: EndpointSketch): Endpoint {
  const [providerSlug = tag, variant] = tag.split('/');
  return {
    modelSlug,
    providerSlug,
    tag,
    // A name of its own for each, so that health and pins mean one.
    upstreamModel: variant === undefined ? modelSlug : `${modelSlug}-${variant}`,
    pricing: price === undefined ? null : { promptPicoUsd: price * 1e6, completionPicoUsd: price * 1e6 },
    contextLength: null,
    maxCompletionTokens: null,
    quantization: null,
    supportedParameters: null,
    dataPolicy: { zeroRetention: null, trains: null },
    ...(variant === 'flex' || variant === 'priority' ? { serviceTier: variant } : {}),
    ...known,
  };
}

/** How endpoints are doing, by tag; nothing is known of those left out. A number is every percentile. */
export interface HealthSketch {
  outages?: readonly string[];
  /** ms */
  latency?: Readonly<Record<string, number | Percentiles>>;
  /** Output tokens per second. */
  throughput?: Readonly<Record<string, number | Percentiles>>;
  /** Ends of rests, epoch ms. */
  rests?: Readonly<Record<string, number>>;
}

export interface World {
  models: readonly Model[];
  health?: HealthSketch;
  /** Tag of the endpoint that served the conversation last, by slug of the model; of a router the model. */
  pinned?: Readonly<Record<string, string>>;
  defaultModel?: string | null;
  facts?: Partial<PlanInput['facts']>;
  /** Default: every provider. */
  usable?: readonly string[];
}

/** Plans a request for `m/1`, unless it names another. */
export function planFor(world: World, fields: Partial<ChatRequest> = {}): Plan {
  return planRoute(inputOf(world, fields));
}

export function inputOf(world: World, fields: Partial<ChatRequest> = {}): PlanInput {
  const { models, health = {}, pinned = {}, facts = {} } = world;
  const endpoints = models.flatMap((model) => model.endpoints);
  const usable = new Set(world.usable ?? endpoints.map(({ providerSlug }) => providerSlug));
  const named = fields.model !== undefined || fields.models !== undefined || world.defaultModel !== undefined;
  const pinOf = (slug: string) => {
    const pin = pinned[slug];
    if (pin === undefined) return null;
    const endpoint = endpoints.find(({ modelSlug, tag }) => modelSlug === slug && tag === pin);
    return endpoint ? endpointKey(endpoint) : pin;
  };
  const ask = askOf({ messages: [{ role: 'user', content: 'Hi' }], ...(named ? {} : { model: 'm/1' }), ...fields });
  return {
    routed: routedChat(ask, facts, world.defaultModel ?? null),
    view: {
      models,
      model: (slug) => models.find((one) => one.slug === slug) ?? null,
      aliasOf: () => null,
      named: () => [],
    },
    pluginVariants: new Map([['online', 'web']]),
    brand: 'acme',
    isConfigured: (slug) => usable.has(slug),
    isSandbox: (slug) => slug === 'sandbox',
    hasOnlySandboxes: [...usable].every((slug) => slug === 'sandbox'),
    providerName: (slug) => slug,
    facts: {
      health: healthOf(health, endpoints),
      random: () => 0.5,
      pinned: pinOf,
      defaultSort: null,
      usableProviders: usable,
      byokCredentials: [],
      workspaceId: defaultWorkspaceId,
      apiKeyHash: null,
      nowMs: 0,
      ...facts,
    },
  };
}

function healthOf(sketch: HealthSketch, endpoints: readonly Endpoint[]): HealthView {
  const tags = new Map(endpoints.map((endpoint) => [endpointKey(endpoint), endpoint.tag]));
  const figures = (of: HealthSketch['latency'], key: string): Percentiles | null => {
    const figure = of?.[tags.get(key) ?? ''];
    return typeof figure === 'number' ? { p50: figure, p75: figure, p90: figure, p99: figure } : (figure ?? null);
  };
  return {
    cooldownUntil: (key) => sketch.rests?.[tags.get(key) ?? ''],
    hasOutage: (key) => sketch.outages?.includes(tags.get(key) ?? '') ?? false,
    latency: (key) => figures(sketch.latency, key),
    latencyP95: () => null,
    throughput: (key) => figures(sketch.throughput, key),
  };
}

/** Tags in the order they are tried; with their model where there are several. */
export function order(plan: Plan): string[] {
  const isOne = new Set(plan.targets.map(({ endpoint }) => endpoint.modelSlug)).size < 2;
  return plan.targets.map(({ endpoint: { tag, modelSlug } }) => (isOne ? tag : `${modelSlug} ${tag}`));
}

/** Models in the order they are tried, each once. */
export function modelsOf(plan: Plan): string[] {
  return [...new Set(plan.targets.map(({ endpoint }) => endpoint.modelSlug))];
}

/** By tag, the rule that removed it. */
export function excludedBy({ excluded }: Pick<Plan, 'excluded'>): Record<string, string> {
  return Object.fromEntries(excluded.map(({ provider, filter }) => [provider, filter]));
}

/** The error a plan is refused with. */
export function refusalOf(world: World, fields: Partial<ChatRequest> = {}): GatewayError {
  try {
    planFor(world, fields);
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error('It was not refused');
}

/** The same numbers every time. */
export function seeded(seed: number): () => number {
  return seededRandom(seed.toString(16).padStart(8, '0'));
}
