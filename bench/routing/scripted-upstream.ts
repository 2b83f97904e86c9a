import type { Clock } from '../../src/base/clock.ts';
import type { Transport, TransportRequest, TransportResponse } from '../../src/transport/transport.ts';
import type { EndpointTraits, World } from './world.ts';

/** What a request holds, and what its answer will; the same wherever it goes. */
export interface Size {
  promptTokens: number;
  completionTokens: number;
}

export interface SimulatedUpstream {
  transport: Transport;
  /** So far. */
  readonly attempts: number;
  /** What providers have charged so far, integer pico-USD: of an answer all of it, of one that was let go of the prompt. */
  readonly spentPicoUsd: number;
}

/** Plays the endpoints of a world, whose slugs are the hosts of their addresses; the field `user` is the request's number. */
export function simulatedUpstream(world: World, clock: Clock, sizeOf: (request: number) => Size): SimulatedUpstream {
  const startMs = clock.now();
  const places = new Map(world.endpoints.map(({ slug }, at) => [slug, at]));
  /** How often each request in flight was sent to each endpoint. */
  const sent = new Map<number, number[]>();
  let attempts = 0;
  let spentPicoUsd = 0;

  function countOf(request: number, endpoint: number): number {
    // Requests end about in the order in which they came.
    if (sent.size > 10_000) for (const old of sent.keys()) if (old < request - 5_000) sent.delete(old);
    const counts = sent.get(request) ?? [];
    sent.set(request, counts);
    const count = counts[endpoint] ?? 0;
    counts[endpoint] = count + 1;
    return count;
  }

  return {
    transport: {
      takesStopSignal: true,
      send({ url, body, signal }) {
        attempts++;
        const request = Number(/"user":"(\d+)"/.exec(String(body))?.[1]);
        const endpoint = places.get(new URL(url).hostname) as number;
        const traits = world.endpoints[endpoint] as EndpointTraits;
        const { promptTokens, completionTokens } = sizeOf(request);
        const promptPicoUsd = promptTokens * traits.promptUsd * 1e6;
        const answerPicoUsd = completionTokens * traits.completionUsd * 1e6;
        const fate = world.meet(endpoint, clock.now() - startMs, request, countOf(request, endpoint));
        if (fate.kind !== 'answers') return after(clock, fate.afterMs, signal, () => refusal(fate));
        const letGo = () => {
          spentPicoUsd += Math.round(promptPicoUsd);
        };
        const { firstTokenMs, tokensPerSecond } = fate;
        const cooldownMs = Math.round((completionTokens * 1000) / tokensPerSecond);
        return after(
          clock,
          firstTokenMs,
          signal,
          () => {
            spentPicoUsd += Math.round(promptPicoUsd + answerPicoUsd);
            return answer(clock, cooldownMs, signal, usageEvent({ promptTokens, completionTokens }));
          },
          letGo,
        );
      },
    },
    get attempts() {
      return attempts;
    },
    get spentPicoUsd() {
      return spentPicoUsd;
    },
  };
}

function refusal(fate: { kind: 'fails' } | { kind: 'limits'; retryAfterS: number }): TransportResponse {
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (fate.kind === 'limits') headers['retry-after'] = String(fate.retryAfterS);
  return { status: fate.kind === 'limits' ? 429 : 503, headers, body: sourceOf([errorBody]) };
}

/** The first piece at once, the second after half of the time, the last after all of it. */
function answer(
  clock: Clock,
  cooldownMs: number,
  signal: TransportRequest['signal'],
  last: Uint8Array,
): TransportResponse {
  const half = Math.round(cooldownMs / 2);
  return {
    status: 200,
    headers: { 'content-type': 'text/event-stream' },
    body: sourceOf([
      firstEvent,
      () => after(clock, half, signal, () => middleEvent),
      () => after(clock, cooldownMs - half, signal, () => last),
    ]),
  };
}

function sourceOf(pieces: readonly (Uint8Array | (() => Promise<Uint8Array>))[]): TransportResponse['body'] {
  let at = 0;
  return {
    async read() {
      const piece = pieces[at++] ?? null;
      return typeof piece === 'function' ? piece() : piece;
    },
    cancel: () => undefined,
  };
}

/** @param aborted  called when the signal comes first */
function after<T>(
  clock: Clock,
  ms: number,
  signal: TransportRequest['signal'],
  make: () => T,
  aborted?: () => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      cancel();
      aborted?.();
      reject(signal.reason);
    };
    const cancel = clock.after(ms, () => {
      signal.removeEventListener('abort', onAbort);
      resolve(make());
    });
    signal.addEventListener('abort', onAbort, { once: true });
  });
}

const bytes = (text: string) => new TextEncoder().encode(text);
const event = (fields: object) =>
  `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1767225600, model: 'tree', ...fields })}\n\n`;
const choice = (delta: object, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason }],
});

const errorBody = bytes('{"error":{"message":"Not now","type":"unavailable"}}');
const firstEvent = bytes(event(choice({ role: 'assistant', content: 'A' })));
const middleEvent = bytes(event(choice({ content: ' tree' })));

function usageEvent({ promptTokens, completionTokens }: Size): Uint8Array {
  const usage = {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  };
  return bytes(`${event(choice({ content: '.' }, 'stop'))}${event({ choices: [], usage })}data: [DONE]\n\n`);
}
