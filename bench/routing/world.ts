import { chance, exponential, normal } from './chance.ts';

/** Simulated endpoints of one model. Their behaviour does not depend on the callers or on the number of requests. */

export interface EndpointTraits {
  /** Slug of the endpoint's provider. */
  slug: string;
  /** USD per million tokens. */
  promptUsd: number;
  completionUsd: number;
  /** Time to first token on an average day, ms. */
  firstTokenMs: number;
  tokensPerSecond: number;
  /** Average time from the end of an outage to the next outage, in minutes. */
  upMinutes: number;
  /** Average duration of an outage, in minutes. */
  downMinutes: number;
}

export interface WorldOptions {
  seed: number;
  endpoints: readonly EndpointTraits[];
  /** Duration of the simulated time, ms. */
  durationMs: number;
  /** Share of the requests whose first token takes many times as long as usual. Default 0. */
  stalls?: number;
}

/** An endpoint's reaction to a request. */
export type Fate =
  | { kind: 'responds'; firstTokenMs: number; tokensPerSecond: number }
  | { kind: 'fails'; afterMs: number }
  /** @param retryAfterS  whole seconds, as in the header */
  | { kind: 'limits'; afterMs: number; retryAfterS: number };

export interface World {
  endpoints: readonly EndpointTraits[];
  /**
   * @param atMs     time since the start of the simulation
   * @param request  the request's number; an endpoint reacts to the same request in the same way for every strategy
   * @param attempt  number of earlier attempts of this request at this endpoint
   */
  meet(endpoint: number, atMs: number, request: number, attempt: number): Fate;
}

/** A period in which an endpoint fails or rate-limits. */
interface Trouble {
  fromMs: number;
  untilMs: number;
  /** Share of the requests that fail. A rate limit refuses all requests and ignores this value. */
  failing: number;
}

/** Interval at which the latency level changes. */
const stepMs = 10_000;
/** Deviation of the logarithm of latency from its mean, and the time in which it returns to the mean. */
const wanderDeviation = 0.4;
const wanderMs = 20 * 60_000;
/** Deviation of the logarithm of latency between requests. */
const noiseDeviation = 0.35;
/** Share of the requests that fail outside of outages. */
const failingAlways = 0.003;
const limitMinutes = { between: 40, lasting: 1 };
const stallFactor = 25;

export function createWorld({ seed, endpoints, durationMs, stalls = 0 }: WorldOptions): World {
  const timelines = endpoints.map(({ upMinutes, downMinutes }, at) => ({
    level: wander(chance(seed, 1, at), Math.ceil(durationMs / stepMs) + 1),
    outages: stretches(chance(seed, 2, at), durationMs, upMinutes, downMinutes),
    limits: stretches(chance(seed, 3, at), durationMs, limitMinutes.between, limitMinutes.lasting),
  }));
  return {
    endpoints,
    meet(endpoint, atMs, request, attempt) {
      const { firstTokenMs, tokensPerSecond } = endpoints[endpoint] as EndpointTraits;
      const { level, outages, limits } = timelines[endpoint] as (typeof timelines)[number];
      const random = chance(seed, 4, endpoint, request, attempt);
      const responseMs = 40 + 160 * random();
      const limit = during(limits, atMs);
      if (limit) return { kind: 'limits', afterMs: responseMs, retryAfterS: Math.ceil((limit.untilMs - atMs) / 1000) };
      if (random() < (during(outages, atMs)?.failing ?? failingAlways)) return { kind: 'fails', afterMs: responseMs };
      const slowness = Math.exp((level[Math.floor(atMs / stepMs)] ?? 0) + noiseDeviation * normal(random));
      const stall = random() < stalls ? stallFactor : 1;
      return {
        kind: 'responds',
        firstTokenMs: Math.round(firstTokenMs * slowness * stall),
        tokensPerSecond: tokensPerSecond / Math.sqrt(slowness),
      };
    },
  };
}

/** A random walk that returns to 0 (Ornstein and Uhlenbeck). */
function wander(random: () => number, steps: number): Float64Array {
  const stays = Math.exp(-stepMs / wanderMs);
  const level = new Float64Array(steps);
  level[0] = wanderDeviation * normal(random);
  for (let step = 1; step < steps; step++)
    level[step] = stays * (level[step - 1] as number) + wanderDeviation * Math.sqrt(1 - stays ** 2) * normal(random);
  return level;
}

/**
 * Makes periods of trouble, in order. The time between two periods and their duration are exponential. In most periods
 * all requests fail, in the others half of them.
 */
function stretches(random: () => number, durationMs: number, betweenMin: number, lastingMin: number): Trouble[] {
  const found: Trouble[] = [];
  for (let fromMs = 0; ; ) {
    fromMs += exponential(random, betweenMin * 60_000);
    if (fromMs > durationMs) return found;
    const untilMs = fromMs + exponential(random, lastingMin * 60_000);
    found.push({ fromMs, untilMs, failing: random() < 0.7 ? 1 : 0.5 });
    fromMs = untilMs;
  }
}

function during(troubles: readonly Trouble[], atMs: number): Trouble | undefined {
  return troubles.find(({ fromMs, untilMs }) => fromMs <= atMs && atMs < untilMs);
}

/** The highest price is six times the lowest. As in the market, expensive endpoints are mostly faster. */
export const tenEndpoints: readonly EndpointTraits[] = [
  ['alder', 1, 950, 38, 70, 4],
  ['birch', 1.15, 700, 45, 50, 3],
  ['cedar', 1.3, 1200, 62, 90, 5],
  ['elder', 1.6, 550, 52, 60, 3],
  ['fir', 1.9, 420, 80, 110, 4],
  ['hazel', 2.3, 750, 125, 80, 2],
  ['larch', 2.8, 360, 70, 120, 3],
  ['maple', 3.5, 310, 95, 150, 2],
  ['oak', 4.5, 270, 160, 180, 2],
  ['rowan', 6, 220, 115, 240, 3],
].map(([slug, price, firstTokenMs, tokensPerSecond, upMinutes, downMinutes]) => ({
  slug: slug as string,
  promptUsd: round(0.2 * (price as number)),
  completionUsd: round(0.8 * (price as number)),
  firstTokenMs: firstTokenMs as number,
  tokensPerSecond: tokensPerSecond as number,
  upMinutes: upMinutes as number,
  downMinutes: downMinutes as number,
}));

function round(usd: number): number {
  return Math.round(usd * 1000) / 1000;
}

/** The scenarios for the comparison of strategies and of hedging. */
export const strategyScenario = { endpoints: tenEndpoints, requestsPerSecond: 5 };
export const hedgeScenario = { ...strategyScenario, stalls: 0.02 };
