import type { Clock } from '../../src/base/clock.ts';
import type { Transport, TransportRequest, TransportResponse } from '../../src/transport/transport.ts';
import type { EndpointTraits, World } from './world.ts';

/** Size of a request and of its response; the same at every endpoint. */
export interface Size {
  promptTokens: number;
  completionTokens: number;
}

export interface SimulatedUpstream {
  transport: Transport;
  /** Number of requests to providers so far. */
  readonly attempts: number;
  /**
   * What providers have charged so far, integer pico-USD. An attempt aborted before its first token costs its prompt.
   */
  readonly spentPicoUsd: number;
}

/**
 * Simulates the endpoints of a world. An endpoint's host name is its slug; the field `user` is the request's number.
 */
export function simulatedUpstream(world: World, clock: Clock, sizeOf: (request: number) => Size): SimulatedUpstream {
  const startMs = clock.now();
  const places = new Map(world.endpoints.map(({ slug }, at) => [slug, at]));
  /** By request: number of attempts at each endpoint. */
  const sent = new Map<number, number[]>();
  let attempts = 0;
  let spentPicoUsd = 0;

  function countOf(request: number, endpoint: number): number {
    // Requests end roughly in the order of arrival, so the old ones can be removed.
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
        const completionPicoUsd = completionTokens * traits.completionUsd * 1e6;
        const fate = world.meet(endpoint, clock.now() - startMs, request, countOf(request, endpoint));
        if (fate.kind !== 'responds') return after(clock, fate.afterMs, signal, () => refusal(fate));
        const chargePrompt = () => {
          spentPicoUsd += Math.round(promptPicoUsd);
        };
        const { firstTokenMs, tokensPerSecond } = fate;
        const remainingMs = Math.round((completionTokens * 1000) / tokensPerSecond);
        return after(
          clock,
          firstTokenMs,
          signal,
          () => {
            spentPicoUsd += Math.round(promptPicoUsd + completionPicoUsd);
            return streamed(clock, remainingMs, signal, usageEvent({ promptTokens, completionTokens }));
          },
          chargePrompt,
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

/** Sends the first chunk at once, the second after half of the remaining time, the last at its end. */
function streamed(
  clock: Clock,
  remainingMs: number,
  signal: TransportRequest['signal'],
  last: Uint8Array,
): TransportResponse {
  const half = Math.round(remainingMs / 2);
  return {
    status: 200,
    headers: { 'content-type': 'text/event-stream' },
    body: sourceOf([
      firstEvent,
      () => after(clock, half, signal, () => middleEvent),
      () => after(clock, remainingMs - half, signal, () => last),
    ]),
  };
}

function sourceOf(chunks: readonly (Uint8Array | (() => Promise<Uint8Array>))[]): TransportResponse['body'] {
  let at = 0;
  return {
    async read() {
      const chunk = chunks[at++] ?? null;
      return typeof chunk === 'function' ? chunk() : chunk;
    },
    cancel: () => undefined,
  };
}

/** @param aborted  called when the signal aborts before the time is over */
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
