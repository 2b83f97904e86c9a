import { setTimeout as sleep } from 'node:timers/promises';
import type { GatewayOptions } from '../../../src/options.ts';
import type { Transport, TransportRequest, TransportResponse } from '../../../src/transport/transport.ts';
import { chunk, completion, partsOf, sse, usageChunk } from '../upstream.ts';
import { randomFrom } from './random.ts';

// Providers that answer as unreliable ones do. What they do is drawn from the seed that the request names, so that a
// request fares the same in every run, however the others go.

export const raceProviders = {
  north: { baseUrl: 'https://north.test/v1', apiKey: 'sk-upstream-north-0123456789' },
  south: { baseUrl: 'https://south.test/v1', apiKey: 'sk-upstream-south-0123456789' },
  groq: { baseUrl: 'https://groq.test/v1', apiKey: 'gsk-upstream-groq-0123456789', byok: true },
} satisfies GatewayOptions['providers'];

/** USD per token and request; none is a whole number of nano-USD per token, so that rounding shows. */
const cheap = { prompt: '0.0000000301', completion: '0.0000007013', request: '0.0000005' };
const dear = {
  prompt: '0.0000000902',
  inputCacheRead: '0.0000000101',
  completion: '0.0000031007',
  internalReasoning: '0.0000040001',
};

export const raceModels = [
  { slug: 'race/one', endpoints: [{ provider: 'north', model: 'one', pricing: cheap }] },
  {
    slug: 'race/two',
    endpoints: [
      { provider: 'north', model: 'two', pricing: cheap },
      { provider: 'south', model: 'two', pricing: dear },
    ],
  },
  // The workspace has brought a credential for this one.
  { slug: 'race/byok', endpoints: [{ provider: 'groq', model: 'own', pricing: dear }] },
  // The caller names no largest output: the endpoint's counts.
  {
    slug: 'race/capped',
    endpoints: [
      { provider: 'north', model: 'capped', pricing: cheap, maxCompletionTokens: 300, contextLength: 4_096 },
      { provider: 'south', model: 'capped', pricing: dear, maxCompletionTokens: 60 },
    ],
  },
] satisfies GatewayOptions['models'];

/** The first message of every request: the seed of what its providers do. */
export function seedMessage(seed: number): { role: 'user'; content: string } {
  return { role: 'user', content: `seed ${seed}` };
}

export function seedOfMessage(content: string): number {
  return Number(content.replace('seed ', ''));
}

type Piece = string | 'breaks' | 'hangs' | 'pause';
type Answer = { status?: number; body: object | string | Piece[] };

interface Asked {
  random: () => number;
  upTo: (most: number) => number;
  maxTokens: number;
}

/** Of a hundred requests, how many are answered how. */
const completeResponses: [share: number, answer: (asked: Asked) => Answer][] = [
  [52, (asked) => ({ body: completion({ usage: usageOf(asked) }) })],
  [10, ({ upTo }) => ({ body: withoutUsage(completion({}, { content: words(upTo(60)) })) })],
  [10, ({ random }) => failure(random)],
  [3, () => ({ status: 400, body: { error: { message: 'No.', type: 'invalid_request_error' } } })],
  [2, () => ({ status: 401, body: { error: { message: 'Wrong key.' } } })],
  // It has worked for nothing, and says so.
  [9, (asked) => ({ body: completion({ choices: [], usage: usageOf(asked) }) })],
  [4, () => ({ body: ['breaks'] })],
  [3, (asked) => ({ body: [JSON.stringify(completion({ usage: usageOf(asked) })).slice(0, 90), 'breaks'] })],
  [2, () => ({ body: ['hangs'] })],
  // A stream, though none was asked for.
  [3, (asked) => ({ body: streamOf(asked, 'Words', sse(usageChunk(usageOf(asked)))) })],
  [2, () => ({ body: '<html>' })],
];
const streams: [share: number, answer: (asked: Asked) => Answer][] = [
  [48, (asked) => ({ body: streamOf(asked, words(asked.upTo(30)), sse(usageChunk(usageOf(asked)))) })],
  [10, (asked) => ({ body: streamOf(asked, words(asked.upTo(60)), '') })],
  [8, ({ random }) => failure(random)],
  // Before its first token, and it has cost something.
  [9, (asked) => ({ body: [opening, sse(usageChunk(usageOf(asked))), asked.random() < 0.5 ? 'breaks' : errorEvent] })],
  [8, (asked) => ({ body: [...streamOf(asked, words(asked.upTo(30)), '').slice(0, -2), 'breaks'] })],
  // The tokens so far with every chunk.
  [5, (asked) => ({ body: [opening, sse(chunk({ content: 'So' }, null, { usage: usageOf(asked) })), errorEvent] })],
  [4, (asked) => ({ body: [opening, sse(chunk({ content: words(asked.upTo(9)) })), 'pause', 'hangs'] })],
  [4, (asked) => ({ body: [opening, sse(chunk({ content: words(asked.upTo(9)) }))] })],
  // No stream, though one was asked for.
  [4, (asked) => ({ body: completion({ usage: usageOf(asked) }) })],
];

const opening = sse(chunk({ role: 'assistant', content: '' }));
const errorEvent = sse({ error: { message: 'It broke.', code: 500 } });

function failure(random: () => number): Answer {
  const status = [500, 502, 503, 429, 529][Math.floor(random() * 5)] as number;
  return { status, body: { error: { message: 'Not now.' } } };
}

/** Never more than was asked. */
function usageOf({ upTo, maxTokens }: Asked): object {
  const prompt = upTo(1_000);
  // Often all of it: that is where a hold that is too small would show.
  const output = upTo(3) === 0 ? maxTokens : upTo(maxTokens);
  return {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
    prompt_tokens_details: { cached_tokens: upTo(prompt) },
    completion_tokens_details: { reasoning_tokens: upTo(output) },
  };
}

function withoutUsage(body: object): object {
  const { usage: _, ...rest } = body as { usage?: unknown };
  return rest;
}

function streamOf({ upTo }: Asked, text: string, usage: string): Piece[] {
  const cut = upTo(text.length);
  const texts = [text.slice(0, cut), text.slice(cut)].map((content) => sse(chunk({ content })));
  return [opening, texts[0] as string, 'pause', `${texts[1]}${sse(chunk({}, 'stop'))}`, `${usage}${sse('[DONE]')}`];
}

function words(count: number): string {
  return `${'word '.repeat(count)}end`;
}

export interface RaceUpstream {
  /** Of the pauses in an answer: long enough for requests to meet, short enough for thousands. Default 6. */
  longestPauseMs?: number;
  /** true: every response is complete and reports its usage. */
  isReliable?: boolean;
}

/** Providers that keep a bill of their own. */
export interface RaceTransport extends Transport {
  /** What the usage that was read to its end costs, for requests with this seed. Integer nano-USD, rounded down. */
  billOf(seed: number): number;
}

export function raceTransport({ longestPauseMs = 6, isReliable = false }: RaceUpstream = {}): RaceTransport {
  // Of a request's attempts, each draws where the one before has stopped.
  const draws = new Map<number, () => number>();
  const bills = new Map<number, number>();

  return {
    billOf: (seed) => bills.get(seed) ?? 0,
    async send(request): Promise<TransportResponse> {
      const { body } = request;
      const asked = JSON.parse(typeof body === 'string' ? body : new TextDecoder().decode(body));
      const random = drawOf(asked.messages[0].content);
      const upTo = (most: number) => Math.floor(random() * (most + 1));
      const maxTokens = asked.max_completion_tokens ?? asked.max_tokens;
      // Where a budget is set, no provider is left to decide how much it writes.
      if (!Number.isInteger(maxTokens)) throw new Error(`${asked.model} was asked for any number of tokens`);
      const answers = asked.stream ? streams : completeResponses;
      const answer = pick(isReliable ? answers.slice(0, 1) : answers, random)({ random, upTo, maxTokens });
      await paused(upTo(longestPauseMs), request.signal);
      if (Array.isArray(answer.body) && answer.body.length === 1 && answer.body[0] === 'breaks')
        throw connectionError();
      const seed = seedOfMessage(asked.messages[0].content);
      let usedNanoUsd = 0;
      // Of a stream that reports its usage several times, the last counts.
      const onRead = (text: string) => {
        const used = costOfText(text, new URL(request.url).host, asked.model) ?? usedNanoUsd;
        bills.set(seed, (bills.get(seed) ?? 0) + used - usedNanoUsd);
        usedNanoUsd = used;
      };
      return { status: answer.status ?? 200, ...bodyOf(answer, upTo(longestPauseMs), request, onRead) };
    },
  };

  function drawOf(content: string): () => number {
    const seed = seedOfMessage(content);
    const random = draws.get(seed) ?? randomFrom(seed);
    draws.set(seed, random);
    return random;
  }
}

function pick<T>(shares: readonly [number, T][], random: () => number): T {
  let left = random() * shares.reduce((sum, [share]) => sum + share, 0);
  for (const [share, one] of shares) {
    left -= share;
    if (left < 0) return one;
  }
  throw new Error('The shares add up to less than their sum');
}

/** What the usage in a text costs by the prices of its endpoint; null: there is none in it. */
function costOfText(text: string, host: string, upstreamModel: string): number | null {
  const start = text.indexOf('"usage":{');
  if (start < 0) return null;
  const end = text.indexOf('}}', start);
  if (end < 0) return null;
  const usage = JSON.parse(text.slice(start + '"usage":'.length, end + 2));
  const endpoints: readonly { provider: string; model: string; pricing: Prices }[] = raceModels.flatMap<{
    provider: string;
    model: string;
    pricing: Prices;
  }>((one) => one.endpoints);
  const found = endpoints.find(({ provider, model }) => host.startsWith(`${provider}.`) && model === upstreamModel);
  if (found === undefined) throw new Error(`${upstreamModel} at ${host} has no price`);
  const { prompt, completion, request = '0', inputCacheRead = prompt, internalReasoning = completion } = found.pricing;
  const { cached_tokens } = usage.prompt_tokens_details;
  const { reasoning_tokens } = usage.completion_tokens_details;
  const picoUsd = (price: string) => Math.round(Number(price) * 1e12);
  return Math.floor(
    ((usage.prompt_tokens - cached_tokens) * picoUsd(prompt) +
      cached_tokens * picoUsd(inputCacheRead) +
      (usage.completion_tokens - reasoning_tokens) * picoUsd(completion) +
      reasoning_tokens * picoUsd(internalReasoning) +
      picoUsd(request)) /
      1_000,
  );
}

interface Prices {
  prompt: string;
  completion: string;
  request?: string;
  inputCacheRead?: string;
  internalReasoning?: string;
}

function bodyOf(
  { body }: Answer,
  pauseMs: number,
  { signal }: TransportRequest,
  onRead: (text: string) => void,
): Omit<TransportResponse, 'status'> {
  const { headers, pieces } = partsOf({ body });
  const rest = [...pieces] as Piece[];
  return {
    headers,
    body: {
      async read() {
        for (;;) {
          if (signal.aborted) throw signal.reason;
          const piece = rest.shift();
          if (piece === undefined) return null;
          if (piece === 'breaks') throw connectionError();
          if (piece === 'hangs') await paused(60_000, signal);
          else if (piece === 'pause') await paused(pauseMs, signal);
          else {
            onRead(piece);
            return new TextEncoder().encode(piece);
          }
        }
      },
      cancel: () => undefined,
    },
  };
}

function paused(ms: number, signal: AbortSignal): Promise<void> {
  return sleep(ms, undefined, { signal }).catch(() => {
    throw signal.reason;
  });
}

function connectionError(): Error {
  return Object.assign(new Error('connect ECONNRESET 203.0.113.9:443'), { code: 'ECONNRESET' });
}
