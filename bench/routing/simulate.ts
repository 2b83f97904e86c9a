import type { createGateway, GatewayOptions } from '../../src/index.ts';
import { percentile } from '../statistics.ts';
import { chance, exponential, normal } from './chance.ts';
import { type Size, simulatedUpstream } from './scripted-upstream.ts';
import { simulatedTime } from './simulated-time.ts';
import type { Strategy } from './strategies.ts';
import { createWorld, type EndpointTraits } from './world.ts';

export interface Scenario {
  seed: number;
  endpoints: readonly EndpointTraits[];
  requests: number;
  /** Average rate; requests arrive at random times. */
  requestsPerSecond: number;
  /** Share of the responses whose first token takes many times as long as usual. Default 0. */
  stalls?: number;
}

/** The outcome of a scenario's requests. */
export interface Outcome {
  requests: number;
  /** Number of complete streams. */
  succeeded: number;
  /** Number of requests to providers. */
  attempts: number;
  spentPicoUsd: number;
  /** Time from request to first token at the client, ms. Only complete streams, in the order in which they ended. */
  firstTokenMs: number[];
}

const startMs = Date.UTC(2026, 0, 1);
const model = 'wood/tree';
const apiKey = 'sk-simulation';
const url = 'http://gateway.sim/v1/chat/completions';
const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
const decoder = new TextDecoder();
const messages = [{ role: 'user', content: 'What is a tree?' }];

/**
 * Sends the requests of a scenario through a complete gateway in simulated time. Arrivals, sizes and the behaviour of
 * endpoints are the same for every strategy.
 */
export async function simulate(create: typeof createGateway, scenario: Scenario, strategy: Strategy): Promise<Outcome> {
  const { seed, endpoints, requests, requestsPerSecond, stalls } = scenario;
  const time = simulatedTime(startMs);
  const durationMs = (requests / requestsPerSecond) * 1000 * 1.5 + 3_600_000;
  const world = createWorld({ seed, endpoints, durationMs, stalls });
  const upstream = simulatedUpstream(world, time.clock, sizesOf(seed));
  const slugs = endpoints.map(({ slug }) => slug);
  const gateway = create({
    ...gatewayOptions(endpoints),
    ...strategy.options,
    clock: time.clock,
    transport: upstream.transport,
    random: chance(seed, 5),
    randomBytes: (size) => new Uint8Array(size),
  });
  const arrivals = chance(seed, 6);
  const firstTokenMs: number[] = [];
  let succeeded = 0;

  async function send(request: number): Promise<void> {
    const sentMs = time.clock.now();
    const body = JSON.stringify({
      model,
      messages,
      stream: true,
      user: String(request),
      provider: strategy.provider(request, slugs),
    });
    const response = await gateway.fetch(new Request(url, { method: 'POST', headers, body }));
    const firstTokenAtMs = await readResponse(response, time.clock.now);
    if (firstTokenAtMs === null) return;
    succeeded++;
    firstTokenMs.push(firstTokenAtMs - sentMs);
  }

  async function sendAll(): Promise<void> {
    const open: Promise<void>[] = [];
    for (let request = 0; request < requests; request++) {
      const pauseMs = exponential(arrivals, 1000 / requestsPerSecond);
      await new Promise<void>((resolve) => time.clock.after(pauseMs, resolve));
      open.push(send(request));
    }
    await Promise.all(open);
  }

  await time.until(sendAll());
  const { attempts, spentPicoUsd } = upstream;
  await gateway.close();
  return { requests, succeeded, attempts, spentPicoUsd, firstTokenMs };
}

/** @returns the time of the first token; null for an error or an incomplete stream */
async function readResponse(response: Response, now: () => number): Promise<number | null> {
  if (response.status !== 200 || response.body === null) {
    await response.body?.cancel();
    return null;
  }
  let firstTokenAtMs: number | null = null;
  let last = '';
  for await (const chunk of response.body) {
    last = decoder.decode(chunk);
    // A comment, which only keeps the connection open, does not count.
    if (firstTokenAtMs === null && last.includes('data: ')) firstTokenAtMs = now();
  }
  return last.includes('data: [DONE]') && !last.includes('"error"') ? firstTokenAtMs : null;
}

/** Prompts and completions have a few hundred tokens, sometimes thousands. */
function sizesOf(seed: number): (request: number) => Size {
  return (request) => {
    const random = chance(seed, 7, request);
    const around = (tokens: number, deviation: number) =>
      Math.max(2, Math.round(tokens * Math.exp(deviation * normal(random))));
    return { promptTokens: around(600, 0.8), completionTokens: around(180, 0.6) };
  };
}

function gatewayOptions(endpoints: readonly EndpointTraits[]): GatewayOptions {
  return {
    apiKeys: [{ key: apiKey }],
    providers: Object.fromEntries(
      endpoints.map(({ slug }) => [slug, { baseUrl: `http://${slug}/v1`, apiKey: `key-of-${slug}` }]),
    ),
    models: [
      {
        slug: model,
        endpoints: endpoints.map(({ slug, promptUsd, completionUsd }) => ({
          provider: slug,
          model: 'tree',
          pricing: { prompt: perToken(promptUsd), completion: perToken(completionUsd) },
        })),
      },
    ],
    catalog: { builtInModels: false, builtInPrices: false },
  };
}

function perToken(usdPerMillion: number): string {
  return (usdPerMillion / 1e6).toFixed(12);
}

/** An outcome in comparable numbers. */
export interface Summary {
  /** Share of the requests that succeeded. */
  succeeded: number;
  /** USD per thousand complete streams. */
  usdPerThousand: number;
  attemptsPerRequest: number;
  /** Time to first token, ms. */
  p50Ms: number;
  p99Ms: number;
}

export function summarise({ requests, succeeded, attempts, spentPicoUsd, firstTokenMs }: Outcome): Summary {
  return {
    succeeded: succeeded / requests,
    usdPerThousand: (spentPicoUsd / 1e12 / succeeded) * 1000,
    attemptsPerRequest: attempts / requests,
    p50Ms: percentile(firstTokenMs, 0.5),
    p99Ms: percentile(firstTokenMs, 0.99),
  };
}
