import type { GatewayOptions } from '../../src/options.ts';
import { seeded } from './routing.ts';

/** Chances, all from one seed. */
export interface Dice {
  /** In [0, 1). */
  next(): number;
  chance(of: number): boolean;
  int(from: number, to: number): number;
  pick<T>(from: readonly T[]): T;
  /** Each with that chance, in random order. */
  some<T>(from: readonly T[], chance: number): T[];
}

export function dice(seed: number): Dice {
  const next = seeded(seed);
  const int = (from: number, to: number) => from + Math.floor(next() * (to - from + 1));
  return {
    next,
    int,
    chance: (of) => next() < of,
    pick: (from) => from[int(0, from.length - 1)] as (typeof from)[number],
    some(from, chance) {
      const keys = new Map(from.map((one) => [one, next()]));
      return from.filter(() => next() < chance).sort((a, b) => (keys.get(a) as number) - (keys.get(b) as number));
    },
  };
}

/** `groq` and `mistral` take credentials of a workspace's own. The last may not be set up by the operator. */
export const ownable = ['groq', 'mistral'];
const providers = ['up', 'alt', 'third', 'groq', 'mistral'];
const variants = [undefined, undefined, undefined, 'turbo', 'flex', 'priority', 'eu'];
const quantizations = ['int4', 'int8', 'fp4', 'fp6', 'fp8', 'fp16', 'bf16', 'fp32', 'unknown'] as const;
const parameters = ['tools', 'response_format', 'max_tokens', 'temperature', 'reasoning', 'verbosity', 'seed'];
const suffixes = ['free', 'nitro', 'floor', 'exacto', 'extended', 'thinking', 'online', 'unknown'];
const prices = ['0', '0.0000001', '0.000001', '0.000002', '0.000003', '0.00001', '0.0001'];
const trueFalseNull = [true, false, null];

type Model = NonNullable<GatewayOptions['models']>[number];

/** What a gateway is made of: providers, models, a default. */
export function randomCatalogue(dice: Dice): Partial<GatewayOptions> & { models: Model[] } {
  const hasLast = dice.chance(0.6);
  return {
    providers: {
      up: { baseUrl: 'https://up.test/v1', apiKey: 'sk-operator-up', dataPolicy: randomPolicy(dice) },
      alt: { baseUrl: 'https://alt.test/v1', apiKey: 'sk-operator-alt', dataPolicy: randomPolicy(dice) },
      third: { baseUrl: 'https://third.test/v1', dataPolicy: randomPolicy(dice) },
      groq: { apiKey: 'sk-operator-groq', baseUrl: 'https://groq.test/v1', byok: true },
      ...(hasLast ? { mistral: { apiKey: 'sk-operator-mistral' } } : {}),
      // No request names it, so no router may choose it.
      ...(dice.chance(0.3) ? { sandbox: {} } : {}),
    },
    models: Array.from({ length: dice.int(2, 6) }, (_, at) =>
      randomModel(dice, at, hasLast ? providers : providers.slice(0, -1)),
    ),
    ...(dice.chance(0.7) ? { defaultModel: 'acme/big-0' } : {}),
    catalog: { builtInModels: false, builtInPrices: false },
  };
}

function randomPolicy(dice: Dice) {
  return { zeroRetention: dice.pick(trueFalseNull), trains: dice.pick(trueFalseNull) };
}

const lines = ['big', 'big', 'small', 'big-coder'];

function randomModel(dice: Dice, at: number, from: readonly string[]): Model {
  // Some are the free listing of another.
  const slug = `acme/${dice.pick(lines)}-${at}${dice.chance(0.1) ? ':free' : ''}`;
  const tags = new Set<string>();
  const endpoints = Array.from({ length: dice.int(1, 6) }, () => {
    const provider = dice.pick(from);
    const variant = dice.pick(variants);
    const tag = variant === undefined ? provider : `${provider}/${variant}`;
    if (tags.has(tag)) return null;
    tags.add(tag);
    return {
      provider,
      // Names the endpoint wherever it is called.
      model: `${slug} ${tag}`,
      ...(variant === undefined ? {} : { variant }),
      ...(dice.chance(0.8) ? { pricing: randomPricing(dice) } : {}),
      ...(dice.chance(0.5) ? { quantization: dice.pick(quantizations) } : {}),
      ...(dice.chance(0.6) ? { supportedParameters: dice.some(parameters, 0.6) } : {}),
      ...(dice.chance(0.5) ? { contextLength: dice.pick([20, 1000, 200_000]) } : {}),
      ...(dice.chance(0.4) ? { maxCompletionTokens: dice.pick([10, 4000]) } : {}),
      ...(dice.chance(0.2) ? { dataPolicy: randomPolicy(dice) } : {}),
      ...(dice.chance(0.08) ? { disabled: true } : {}),
    };
  });
  return {
    slug,
    ...(dice.chance(0.4) ? { created: dice.int(1_600_000_000, 1_800_000_000) } : {}),
    ...(dice.chance(0.3) ? { quality: dice.next() } : {}),
    ...(dice.chance(0.3) ? { distillable: dice.chance(0.5) } : {}),
    ...(dice.chance(0.4)
      ? { inputModalities: ['text' as const, ...(dice.chance(0.5) ? ['image' as const] : [])] }
      : {}),
    ...(dice.chance(0.3)
      ? { outputModalities: ['text' as const, ...(dice.chance(0.5) ? ['image' as const] : [])] }
      : {}),
    endpoints: endpoints.filter((one) => one !== null),
  };
}

function randomPricing(dice: Dice) {
  if (dice.chance(0.15)) return { prompt: '0', completion: '0' };
  return {
    prompt: dice.pick(prices),
    completion: dice.pick(prices),
    ...(dice.chance(0.2) ? { request: dice.pick(['0', '0.001']) } : {}),
    ...(dice.chance(0.2) ? { inputCacheRead: dice.pick(prices) } : {}),
  };
}

/** A request for what such a catalogue has, and now and then for what it does not have. */
export function randomRequest(dice: Dice, models: readonly Model[]): Record<string, unknown> {
  const fields: Record<string, unknown> = { messages: [{ role: 'user', content: randomContent(dice) }] };
  const slug = () => randomSlug(dice, models);
  if (dice.chance(0.9)) fields.model = slug();
  if (dice.chance(0.25)) fields.models = Array.from({ length: dice.int(1, 3) }, slug);
  if (dice.chance(0.6)) fields.provider = randomPreferences(dice);
  if (dice.chance(0.15)) fields.tools = [{ type: 'function', function: { name: 'f' } }];
  if (dice.chance(0.1)) fields.response_format = { type: 'json_object' };
  if (dice.chance(0.1)) fields.verbosity = 'low';
  if (dice.chance(0.6)) fields.max_tokens = dice.pick([1, 8, 16, 5000]);
  if (dice.chance(0.2)) fields.temperature = 1;
  if (dice.chance(0.1)) fields.reasoning = { effort: 'low' };
  if (dice.chance(0.1)) fields.service_tier = dice.pick(['auto', 'default', 'flex', 'priority']);
  if (dice.chance(0.1)) fields.route = dice.pick(['fallback', 'sort', null]);
  if (dice.chance(0.3)) fields.session_id = `session ${dice.int(0, 3)}`;
  if (dice.chance(0.15)) fields.prompt_cache_key = `cache ${dice.int(0, 1)}`;
  if (dice.chance(0.1)) fields.modalities = dice.pick([[], ['text'], ['text', 'image']]);
  if (dice.chance(0.2)) fields.user = dice.pick(['u1', 'u2']);
  if (dice.chance(0.15)) fields.plugins = [randomAutoRouter(dice)];
  return fields;
}

function randomContent(dice: Dice): unknown {
  if (dice.chance(0.8)) return 'x'.repeat(dice.pick([5, 60, 100, 5000]));
  return [
    { type: 'text', text: 'What is this?' },
    { type: 'image_url', image_url: { url: 'https://images.test/a.png' } },
  ];
}

function randomSlug(dice: Dice, models: readonly Model[]): string {
  const { slug } = dice.pick(models);
  const roll = dice.next();
  if (roll < 0.55) return slug;
  if (roll < 0.75) return `${slug}:${dice.pick(suffixes)}`;
  if (roll < 0.8) return `${slug}:${dice.pick(suffixes)}:${dice.pick(suffixes)}`;
  if (roll < 0.86) return `~acme/${dice.pick(lines)}-latest`;
  if (roll < 0.91)
    return dice.pick(['service/auto', 'service/auto:nitro', 'service/pareto-code', 'service/pareto-code:nitro']);
  if (roll < 0.95) return dice.pick(['service/free', 'service/free:floor']);
  if (roll < 0.98) return `${dice.pick(providers)}/passed through${dice.chance(0.5) ? ':free' : ''}`;
  return 'no/model';
}

function randomAutoRouter(dice: Dice) {
  return {
    id: 'auto-router',
    ...(dice.chance(0.2) ? { enabled: false } : {}),
    ...(dice.chance(0.5) ? { allowed_models: [dice.pick(['acme/big*', 'acme/*', 'other/*'])] } : {}),
    ...(dice.chance(0.5) ? { cost_quality_tradeoff: dice.int(0, 10) } : {}),
  };
}

const tags = providers.flatMap((provider) => [provider, provider, `${provider}/turbo`, `${provider}/flex`]);
const sorts = ['price', 'throughput', 'latency', 'exacto'];

function randomPreferences(dice: Dice): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  if (dice.chance(0.25)) fields.order = dice.some([...tags, 'nobody'], 0.2);
  if (dice.chance(0.15)) fields.only = dice.some(tags, 0.5);
  if (dice.chance(0.15)) fields.ignore = dice.some(tags, 0.15);
  if (dice.chance('order' in fields ? 0.4 : 0.15)) fields.allow_fallbacks = dice.chance(0.4);
  if (dice.chance(0.1)) fields.require_parameters = dice.chance(0.5);
  if (dice.chance(0.1)) fields.data_collection = dice.pick(['allow', 'deny']);
  if (dice.chance(0.1)) fields.zdr = dice.chance(0.5);
  if (dice.chance(0.05)) fields.enforce_distillable_text = dice.chance(0.5);
  if (dice.chance(0.1)) fields.quantizations = dice.some(quantizations, 0.6);
  if (dice.chance(0.15)) fields.sort = dice.pick(sorts);
  else if (dice.chance(0.2))
    fields.sort = { by: dice.pick([...sorts, null]), partition: dice.pick(['model', 'none', null]) };
  if (dice.chance(0.15))
    fields.max_price = { [dice.pick(['prompt', 'completion', 'request'])]: dice.pick(['2', 5, 0, '0.5', 1e9]) };
  if (dice.chance(0.15)) fields.preferred_max_latency = dice.pick([0.1, 5, { p50: 0.2, p90: null }, { p99: 1 }]);
  if (dice.chance(0.15)) fields.preferred_min_throughput = dice.pick([5, 1000, { p75: 50 }]);
  return fields;
}
