import { type Clock, SteadyClock, wait } from '../../base/clock.ts';
import type { Transport, TransportRequest, TransportResponse } from '../../transport/transport.ts';
import { failure, midStreamFailure, refusalOutcome } from './failure.ts';
import { checkProbabilities } from './logprobs.ts';
import { perform, type Turn } from './models.ts';
import type { Document, Outcome } from './outcome.ts';
import { pacedBody } from './paced-body.ts';
import { endMs, jsonSteps, type Performance, streamSteps } from './play.ts';
import { Refusal, readRequest, type SandboxRequest } from './request.ts';
import { audioAnswers, speechBody } from './tasks/audio.ts';
import { failingModels, failureOf, performTask, taskOfPath } from './tasks/tasks.ts';
import { countPromptTokens } from './tokens.ts';

/** An upstream inside this process: OpenAI's chat completions over a Transport instead of over a socket. */
export function createSandboxTransport({ clock }: { clock: Clock }): Transport {
  let requests = 0;
  const flaky = new Map<number, number>();
  const turnOf = (number: number): Turn => ({
    number,
    countFlaky(failures) {
      const count = flaky.get(failures) ?? 0;
      flaky.set(failures, count + 1);
      return count;
    },
  });

  return {
    async send(request) {
      request.signal.throwIfAborted();
      requests += 1;
      // A steady clock: a response must not take longer when the time of day is set.
      const time = new SteadyClock(clock);
      try {
        return await respond(request, turnOf(requests), time.now(), time);
      } catch (error) {
        if (error instanceof Refusal) return documentResponse(refusalOutcome(error), request.signal, clock);
        throw error;
      }
    },
  };
}

async function respond(
  request: TransportRequest,
  turn: Turn,
  startMs: number,
  clock: Clock,
): Promise<TransportResponse> {
  const { signal } = request;
  const task = taskOfPath(new URL(request.url).pathname);
  if (task !== null && request.method === 'POST') {
    if (task === 'speech' || task === 'transcriptions' || task === 'translations')
      return await performAudio(task, request, turn, clock);
    const outcome = await performTask(task, request, turn);
    if (outcome.kind === 'silence') return await silence(signal);
    if (outcome.kind === 'unreachable') throw outcome.error;
    return documentResponse(outcome, signal, clock);
  }
  if (request.method !== 'POST' || !new URL(request.url).pathname.endsWith('/chat/completions')) {
    return documentResponse(
      failure(
        404,
        'The sandbox serves POST /chat/completions, /embeddings, /rerank, /moderations, /decisions, /images and /audio only.',
      ),
      signal,
      clock,
    );
  }
  const asked = readRequest(bodyText(request));
  const promptTokens = countPromptTokens(asked);
  const outcome = perform(asked, turn);
  return await playOutcome(outcome, { asked, promptTokens, number: turn.number, startMs, clock, signal });
}

/** Answers a request for sound, or about it. */
async function performAudio(
  task: 'speech' | 'transcriptions' | 'translations',
  request: TransportRequest,
  turn: Turn,
  clock: Clock,
): Promise<TransportResponse> {
  const { signal } = request;
  const form = task === 'speech' ? null : await formOf(request);
  const spoken = task === 'speech' ? speechBody(bodyText(request)) : null;
  const model = String(form?.get('model') ?? spoken?.model);
  const failed = failureOf(model, turn);
  if (failed?.kind === 'silence') return await silence(signal);
  if (failed?.kind === 'unreachable') throw failed.error;
  if (failed !== null) return documentResponse(failed, signal, clock);
  const isKnown = model === (task === 'speech' ? 'speech' : 'whisper') || failingModels.includes(model);
  if (!isKnown)
    return documentResponse(
      failure(404, `The sandbox has no model "${model.slice(0, 100)}" for ${task}.`),
      signal,
      clock,
    );
  return form === null ? audioAnswers.speech(spoken ?? {}, signal) : await audioAnswers.transcript(form, task, signal);
}

function formOf({ body, headers }: TransportRequest): Promise<FormData> {
  return new Response(body as BodyInit, { headers }).formData();
}

export function bodyText({ body }: TransportRequest): string {
  return typeof body === 'string' ? body : new TextDecoder().decode(body);
}

/** The values for playing an outcome. */
export interface Playing {
  asked: SandboxRequest;
  promptTokens: number;
  /** The number of the request, from 1. */
  number: number;
  startMs: number;
  clock: Clock;
  signal: AbortSignal;
}

/** Plays an outcome over time, as the request asks: as JSON or as a stream. */
export async function playOutcome(
  outcome: Outcome,
  { asked, promptTokens, number, startMs, clock, signal }: Playing,
): Promise<TransportResponse> {
  if (outcome.kind === 'silence') return await silence(signal);
  if (outcome.kind !== 'response') {
    // A failure comes at once, unless the request asks for time.
    const delayMs = asked.options.first_token_ms ?? 0;
    if (delayMs > 0) await wait(clock, delayMs, signal);
    if (outcome.kind === 'unreachable') throw outcome.error;
    return documentResponse(outcome, signal, clock);
  }
  checkProbabilities(outcome.choices, asked.alternatives);
  const performance: Performance = {
    response: outcome,
    id: `chatcmpl-sandbox-${number}`,
    model: asked.model,
    startMs,
    promptTokens,
    cachedTokens: asked.options.cached_tokens ?? 0,
    includeUsage: asked.includeUsage,
    alternatives: asked.alternatives,
  };
  if (asked.stream) {
    const headers = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' };
    return { status: 200, headers, body: pacedBody(clock, signal, streamSteps(performance)) };
  }
  const delayMs = endMs(performance) - clock.now();
  if (delayMs > 0) await wait(clock, delayMs, signal);
  if (outcome.fault?.kind === 'error') {
    return documentResponse(outcome.fault.error ?? midStreamFailure(), signal, clock);
  }
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: pacedBody(clock, signal, jsonSteps(performance)),
  };
}

export function documentResponse(
  { status, headers, body }: Document,
  signal: AbortSignal,
  clock: Clock,
): TransportResponse {
  return { status, headers, body: pacedBody(clock, signal, [{ atMs: clock.now(), text: body }].values()) };
}

function silence(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) return reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
