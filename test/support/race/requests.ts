import * as z from 'zod';
import { openaiChat } from '../../../src/dialects/openai-chat/index.ts';
import type { Gateway } from '../../../src/gateway.ts';
import { ceilingOf } from '../../../src/pricing/ceiling.ts';
import type { Provider } from '../../../src/providers/provider.ts';
import type { ChatRequest } from '../../../src/schema/chat/chat.ts';
import { configureModels } from '../../../src/setup/models.ts';
import { modelOptions } from '../../../src/setup/options/model.ts';
import { boundOf } from '../prompt-bound.ts';
import { randomFrom } from './random.ts';
import { raceModels, seedMessage } from './upstream.ts';

/** A request and what its client will do, drawn from a seed. */
export interface RaceRequest {
  seed: number;
  body: Record<string, unknown> & { stream: boolean };
  /** Which of the keys it comes with. */
  keyAt: number;
  /** What each endpoint that may serve it may cost at most. Integer nano-USD. */
  ceilingsNanoUsd: number[];
  /** true: a plugin calls the model twice for it. */
  isWrapped: boolean;
  /** true: it may go through the workspace's own credential. */
  isByok: boolean;
  leaves: null | { afterMs: number } | { afterChunks: number };
  /** How long the client lets the gateway work; null: as long as it likes. */
  timeoutMs: number | null;
}

const provider = (slug: string) => ({ slug, dialect: openaiChat, quirks: {} }) as Provider;
const models = configureModels(z.array(modelOptions()).parse(raceModels), provider);

export function raceRequest(seed: number, keys: number): RaceRequest {
  // Not the numbers that its providers draw.
  const random = randomFrom(seed + 0x40000000);
  const upTo = (most: number) => Math.floor(random() * (most + 1));
  const isOneOf = (share: number) => random() < share;
  const named = random();
  const slugs =
    named < 0.2
      ? ['race/one']
      : named < 0.55
        ? ['race/two']
        : named < 0.7
          ? ['race/capped']
          : named < 0.85
            ? ['race/byok']
            : ['race/one', 'race/two'];
  const stream = isOneOf(0.5);
  const isUncapped = slugs[0] === 'race/capped' && isOneOf(0.5);
  const filler = isOneOf(0.3) ? [{ role: 'user', content: 'x'.repeat(upTo(400)) }] : [];
  const body = {
    ...(slugs.length === 1 ? { model: slugs[0] } : { models: slugs }),
    messages: [seedMessage(seed), ...filler],
    stream,
    session_id: `request-${seed}`,
    ...(isUncapped ? {} : { [isOneOf(0.5) ? 'max_tokens' : 'max_completion_tokens']: 1 + upTo(299) }),
  };
  const leaves = isOneOf(0.08) ? { afterMs: upTo(12) } : stream && isOneOf(0.12) ? { afterChunks: 1 + upTo(3) } : null;
  const keyAt = upTo(keys - 1);
  const timeoutMs = isOneOf(0.03) ? 1 + upTo(9) : null;
  const isWrapped = slugs.length === 1 && slugs[0] === 'race/two' && isOneOf(0.4);
  return {
    seed,
    body: isWrapped ? { ...body, plugins: [{ id: 'twice', at_once: isOneOf(0.5) }] } : body,
    keyAt,
    ceilingsNanoUsd: ceilingsOf(body),
    isWrapped,
    isByok: slugs[0] === 'race/byok',
    leaves,
    timeoutMs,
  };
}

/** The smallest request there is, unless more is asked. */
export function smallRequest(seed: number, maxTokens = 1): RaceRequest {
  const body = { model: 'race/one', messages: [seedMessage(seed)], stream: false, max_tokens: maxTokens };
  const isAlone = { isWrapped: false, isByok: false, leaves: null, timeoutMs: null };
  return { seed, body, keyAt: 0, ceilingsNanoUsd: ceilingsOf(body), ...isAlone };
}

export function ceilingsOf(body: Record<string, unknown>): number[] {
  const request = body as unknown as ChatRequest;
  const prompt = boundOf(request);
  const slugs = (body.models ?? [body.model]) as string[];
  return models
    .filter(({ slug }) => slugs.includes(slug))
    .flatMap(({ endpoints }) => endpoints)
    .map((endpoint) => ceilingOf(request, prompt, endpoint, { defaultMaxTokens: 16_384 })?.nanoUsd ?? Number.NaN);
}

/** What a client saw of its request. */
export interface Played {
  /** Of the answer, or of the error within a stream; 0: the client has left. */
  status: number;
  generationId: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: of any answer
  error: any;
  /** As reported to the client; null where it is not. */
  costUsd: number | null;
  startedAtMs: number;
  tookMs: number;
}

/** Sends a request as its client would, and reads the answer for as long as that stays. */
export async function play({ fetch }: Gateway, request: RaceRequest, key: string): Promise<Played> {
  const { body, leaves, timeoutMs } = request;
  const startedAtMs = performance.now();
  const leaving = new AbortController();
  const timer = leaves && 'afterMs' in leaves ? setTimeout(() => leaving.abort(), leaves.afterMs) : undefined;
  const seen = (status: number, rest: Partial<Played> = {}): Played => ({
    status,
    generationId: null,
    error: null,
    costUsd: null,
    ...rest,
    startedAtMs,
    tookMs: performance.now() - startedAtMs,
  });
  try {
    const response = await fetch('http://gateway.test/v1/chat/completions', {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        ...(timeoutMs === null ? {} : { 'x-service-timeout-ms': `${timeoutMs}` }),
      },
      body: JSON.stringify(body),
      signal: leaving.signal,
    });
    const generationId = response.headers.get('x-generation-id');
    if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
      const json = JSON.parse(await response.text());
      const { error = null, usage } = json;
      return seen(response.status, { generationId, error, costUsd: usage?.cost ?? null });
    }
    const text = await readFor(response, leaves && 'afterChunks' in leaves ? leaves.afterChunks : null);
    if (text === null) return seen(0, { generationId });
    const last = lastChunk(text);
    return seen(last.error?.code ?? 200, {
      generationId,
      error: last.error ?? null,
      costUsd: last.usage?.cost ?? null,
    });
  } catch (error) {
    if (!leaving.signal.aborted) throw error;
    return seen(0);
  } finally {
    clearTimeout(timer);
  }
}

/** @returns null: the client has left before the end */
async function readFor({ body }: Response, chunks: number | null): Promise<string | null> {
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (let count = 0; ; count++) {
    if (count === chunks) {
      await reader.cancel();
      return null;
    }
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    text += decoder.decode(value, { stream: true });
  }
}

// biome-ignore lint/suspicious/noExplicitAny: whatever it holds
function lastChunk(text: string): any {
  const events = text.split('\n\n').filter((event) => event.startsWith('data: {'));
  return JSON.parse((events.at(-1) ?? 'data: {}').slice('data: '.length));
}

/** How things stood, by the message alone: a stream that had begun has no more, as on a machine that keeps a hold waiting. */
function inWords(message: string) {
  const [, limit_usd, spent_usd, held_usd] = (
    /of \$([\d.]+), \$([\d.]+) are spent and \$([\d.]+) are held/.exec(message) ?? []
  ).map(Number);
  return { scope: message.includes('of this API key') ? 'key' : 'workspace', limit_usd, spent_usd, held_usd };
}

/** What is wrong with a 402; null: it says how things stood, and that the request did not fit. */
export function wrongRefusal(
  { ceilingsNanoUsd, isByok }: RaceRequest,
  { error }: Played,
  keyIncludesByok: boolean,
): string | null {
  const { scope, limit_usd, spent_usd, held_usd } = { ...inWords(error.message), ...error.metadata };
  const [limit, spent, held] = [limit_usd, spent_usd, held_usd].map((usd) => Math.round(usd * 1e9)) as [
    number,
    number,
    number,
  ];
  const room = limit - spent - held;
  // Through the workspace's own credential it costs nothing that this limit counts.
  const isFree = isByok && !(scope === 'key' && keyIncludesByok);
  const least = isFree ? 0 : Math.min(...ceilingsNanoUsd);
  if ([limit, spent, held].some((nanoUsd) => nanoUsd < 0 || Number.isNaN(nanoUsd)))
    return `says ${JSON.stringify(error)}`;
  if (room < 0) return `more was spent and held than the limit: ${error.message}`;
  return room >= least ? `refused ${ceilingsNanoUsd.join(', ')}, which fits: ${error.message}` : null;
}
