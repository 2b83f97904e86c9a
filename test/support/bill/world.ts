import type { GatewayOptions } from '../../../src/options.ts';

/** Draws from one seed. */
export interface Draw {
  /** In [0, 1). */
  number(): number;
  /** An integer from 0 to `most`. */
  upTo(most: number): number;
  isTrue(share: number): boolean;
  oneOf<T>(all: readonly [T, ...T[]]): T;
}

export function drawFrom(random: () => number): Draw {
  return {
    number: random,
    upTo: (most) => Math.floor(random() * (most + 1)),
    isTrue: (share) => random() < share,
    oneOf: (all) => all[Math.floor(random() * all.length)] as (typeof all)[number],
  };
}

/** How a provider of the world reports what it has used. `first`: in its first event, before there is any output. */
export type Reporting = 'true' | 'none' | 'zero' | 'first' | 'running';

/** What a provider does, whatever it is asked. */
export interface Traits {
  reporting: Reporting;
  /** It goes on generating JSON that nobody waits for any more. */
  goesOn: boolean;
  /** UTF-8 bytes of a token, as its tokenizer counts. */
  bytesPerToken: number;
  /** Milliseconds for a token of output. */
  tokenMs: number;
  /** In a hundred attempts, so many fail. */
  failures: number;
}

/** USD per token, as decimals, and per image or request. */
export interface Prices {
  prompt: string;
  completion: string;
  internalReasoning?: string;
  request?: string;
  image?: string;
  longPrompts?: { abovePromptTokens: number; prompt: string; completion: string }[];
}

export interface WorldEndpoint {
  provider: string;
  /** The upstream's name of the model: it is found by it. */
  model: string;
  pricing: Prices;
  contextLength?: number;
  maxCompletionTokens?: number;
  supportedParameters: string[];
}

/** Providers, models and tenants, drawn from a seed. */
export interface World {
  traits: Record<string, Traits>;
  /** Whether one of the providers serves Responses natively. */
  southSpeaksResponses: boolean;
  models: { slug: string; inputModalities: ('text' | 'image')[]; endpoints: WorldEndpoint[] }[];
  budgets: NonNullable<GatewayOptions['budgets']>;
  timeouts: NonNullable<GatewayOptions['timeouts']>;
  retry: NonNullable<GatewayOptions['retry']>;
  hedge: NonNullable<GatewayOptions['hedge']>;
  /** USD, of the budgets of each workspace. */
  limits: { daily: number; lifetime: number }[];
}

/** The provider for which one workspace has brought a credential: a built-in one, as only those take one. */
export const byokProvider = 'groq';
export const billProviders = ['north', 'south', byokProvider] as const;

export function drawWorld(draw: Draw): World {
  const traits = Object.fromEntries(billProviders.map((name) => [name, drawTraits(draw)]));
  const models = Array.from({ length: 4 }, (_, at) => ({
    slug: `world/model-${at}`,
    inputModalities: ['text', 'image'] as ('text' | 'image')[],
    endpoints: Array.from({ length: 1 + draw.upTo(2) }, (_, where) =>
      drawEndpoint(draw, billProviders[(at + where) % 3] as string, `m${at}`),
    ),
  }));
  return {
    traits,
    southSpeaksResponses: draw.isTrue(0.5),
    models,
    budgets: { shrinkToFit: draw.isTrue(0.3), leaseMs: 60_000 },
    timeouts: {
      headersMs: 1_000 + draw.upTo(9_000),
      jsonHeadersMs: 1_000 + draw.upTo(30_000),
      firstEventMs: 1_000 + draw.upTo(20_000),
      idleMs: 500 + draw.upTo(9_500),
      totalMs: 5_000 + draw.upTo(55_000),
    },
    retry: { maxAttempts: 1 + draw.upTo(3), baseDelayMs: 100, maxDelayMs: 1_000 },
    hedge: draw.isTrue(0.3) ? { enabled: true, afterMs: 500 + draw.upTo(3_000), maxShare: 1 } : {},
    limits: Array.from({ length: 2 }, () => ({ daily: 0.02 + draw.number(), lifetime: 0.05 + draw.number() * 2 })),
  };
}

function drawTraits(draw: Draw): Traits {
  return {
    reporting: draw.isTrue(0.4) ? 'true' : draw.oneOf(['none', 'zero', 'first', 'running']),
    goesOn: draw.isTrue(0.7),
    bytesPerToken: draw.oneOf([1, 3, 4]),
    tokenMs: draw.oneOf([1, 10, 50]),
    failures: draw.oneOf([0, 10, 40]),
  };
}

function drawEndpoint(draw: Draw, provider: string, model: string): WorldEndpoint {
  const price = (most: number) => (draw.number() * most).toFixed(10);
  const reasons = draw.isTrue(0.4);
  return {
    provider,
    model,
    pricing: {
      prompt: price(0.000003),
      completion: price(0.00002),
      ...(reasons && draw.isTrue(0.5) ? { internalReasoning: price(0.00003) } : {}),
      ...(draw.isTrue(0.3) ? { request: price(0.001) } : {}),
      ...(draw.isTrue(0.3) ? { image: price(0.002) } : {}),
      ...(draw.isTrue(0.3)
        ? { longPrompts: [{ abovePromptTokens: 2_000, prompt: price(0.000006), completion: price(0.00004) }] }
        : {}),
    },
    ...(draw.isTrue(0.7) ? { contextLength: draw.oneOf([4_096, 32_768, 200_000]) } : {}),
    ...(draw.isTrue(0.5) ? { maxCompletionTokens: draw.oneOf([256, 2_048, 16_384]) } : {}),
    supportedParameters: ['max_tokens', 'temperature', 'n', ...(reasons ? ['reasoning'] : [])],
  };
}
