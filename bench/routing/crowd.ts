import type { Clock } from '../../src/base/clock.ts';
import { seededRandom } from '../../src/base/random.ts';
import { askOf } from '../../src/call/ask.ts';
import { endpointKey, type Facts } from '../../src/call/facts.ts';
import type { Endpoint, Model } from '../../src/call/model.ts';
import { defaultWorkspaceId } from '../../src/call/workspace.ts';
import { createHealth } from '../../src/catalog/health/index.ts';
import type { PlanInput } from '../../src/routing/plan.ts';
import { routedChat } from '../../src/routing/routed.ts';
import type { ChatRequest } from '../../src/schema/chat/chat.ts';
import type { ProviderPreferences } from '../../src/schema/chat/preferences.ts';

/** A model with many endpoints that all pass every filter, which gives a plan the most work. */

export const crowdSize = 50;

/** Each provider serves the model in two quantizations. */
const slugs = Array.from({ length: crowdSize / 2 }, (_, at) => `provider-${at}`);
const modelSlug = 'bench/crowd';
const startMs = Date.UTC(2026, 0, 1);
/** Number of recent streams that each endpoint has served. */
const seen = 30;

/** All preferences except those for the order of endpoints. They remove no endpoint. */
const filters: ProviderPreferences = {
  only: slugs,
  ignore: ['provider-90', 'provider-91', 'provider-92/fp8'],
  allow_fallbacks: true,
  require_parameters: true,
  data_collection: 'deny',
  zdr: true,
  enforce_distillable_text: true,
  quantizations: ['fp8', 'bf16', 'fp16', 'unknown'],
  max_price: { prompt: '10', completion: 30, image: '1', audio: 1, request: '0.5' },
  preferred_min_throughput: { p50: 40, p75: 30, p90: 20, p99: 5 },
  preferred_max_latency: { p50: 1, p75: 1.5, p90: 2, p99: 4 },
};

/** The measured sets: three with all filters, each with another order of endpoints, and one without preferences. */
export const preferences = {
  sort: { ...filters, sort: { by: 'latency', partition: 'none' } },
  order: { ...filters, order: slugs.slice(0, 10).toReversed(), sort: 'price' },
  weighted: filters,
  none: undefined,
} satisfies Record<string, ProviderPreferences | undefined>;

export type PreferenceSet = keyof typeof preferences;

/** Returns a function that makes the input of a plan. Each input has a new view of health, as each request has. */
export function crowdPlan(name: PreferenceSet): () => PlanInput {
  const endpoints = Array.from({ length: crowdSize }, (_, at) => endpointOf(at));
  const model: Model = { slug: modelSlug, name: modelSlug, endpoints, isDistillable: true };
  const health = createHealth({ clock });
  const random = seededRandom('0badcafe');
  for (const [at, endpoint] of model.endpoints.entries()) {
    for (let stream = 0; stream < seen; stream++) {
      const slowness = 0.5 + random();
      health.observe(endpointKey(endpoint), { outcome: 'ok', firstTokenMs: (300 + 20 * at) * slowness });
      health.observe(endpointKey(endpoint), { tokensPerSecond: (90 - at) / slowness });
    }
  }
  const request: ChatRequest = {
    model: modelSlug,
    messages: [
      { role: 'system', content: 'You are a careful assistant.' },
      { role: 'user', content: 'What does a gateway do all day?' },
    ],
    stream: true,
    temperature: 0.7,
    max_tokens: 500,
    tools: [{ type: 'function', function: { name: 'look_up', parameters: { type: 'object', properties: {} } } }],
    provider: preferences[name],
  };
  const usableProviders = new Set(slugs);
  const view = {
    models: [model],
    model: (slug: string) => (slug === modelSlug ? model : null),
    aliasOf: () => null,
    named: () => [],
  };
  return () => {
    const facts: Facts = {
      health: health.view(startMs),
      random,
      pinned: () => null,
      defaultSort: null,
      usableProviders,
      byokCredentials: [],
      workspaceId: defaultWorkspaceId,
      apiKeyHash: null,
      nowMs: startMs,
    };
    return {
      routed: routedChat(askOf(request), facts, null),
      view,
      facts,
      pluginVariants: new Map([['online', 'web']]),
      brand: 'service',
      providerName: (slug) => slug,
      isConfigured: () => true,
      isSandbox: () => false,
      hasOnlySandboxes: false,
      passthrough: () => true,
    };
  };
}

const clock: Clock = { now: () => startMs, monotonic: () => startMs, after: () => () => undefined };

function endpointOf(at: number): Endpoint {
  const providerSlug = slugs[at >> 1] as string;
  return {
    modelSlug,
    providerSlug,
    tag: at % 2 === 0 ? providerSlug : `${providerSlug}/fp8`,
    upstreamModel: `crowd-${at}`,
    pricing: {
      promptPicoUsd: 100_000 + 37_000 * (at % 11),
      completionPicoUsd: 400_000 + 53_000 * (at % 13),
      imagePicoUsd: 1_000_000,
      requestPicoUsd: 1_000,
    },
    contextLength: 131_072,
    maxCompletionTokens: 16_384,
    quantization: at % 2 === 0 ? 'bf16' : 'fp8',
    supportedParameters: [
      'temperature',
      'top_p',
      'top_k',
      'frequency_penalty',
      'presence_penalty',
      'seed',
      'stop',
      'max_tokens',
      'response_format',
      'structured_outputs',
      'tools',
      'tool_choice',
    ],
    dataPolicy: { zeroRetention: true, trains: false },
  };
}
