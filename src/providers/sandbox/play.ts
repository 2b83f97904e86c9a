import { midStreamFailure, networkError } from './failure.ts';
import { logprobsOf } from './logprobs.ts';
import type { Choice, Fault, PlayedResponse, Token } from './outcome.ts';
import type { BodyStep } from './paced-body.ts';

/** A response and the values for playing it. */
export interface Performance {
  response: PlayedResponse;
  id: string;
  model: string;
  /** Milliseconds since the epoch. */
  startMs: number;
  promptTokens: number;
  cachedTokens: number;
  includeUsage: boolean;
  /** See `SandboxRequest.alternatives`. */
  alternatives: number | null;
}

/** The usage of a response: its tokens exactly, unless the response reports other numbers. */
export function usageOf({ response, ...counted }: Performance) {
  const all = response.choices.flatMap(({ tokens }) => tokens);
  const { usage = {} } = response;
  const promptTokens = usage.promptTokens ?? counted.promptTokens;
  const completionTokens = usage.completionTokens ?? all.length;
  const cachedTokens = usage.cachedTokens ?? Math.min(counted.cachedTokens, promptTokens);
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoningTokens ?? all.filter(({ kind }) => kind === 'reasoning').length,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

/** The time of the last token of the longest choice. */
export function endMs({ response, startMs }: Performance): number {
  return roundMs(response, startMs, roundsOf(response) - 1);
}

/** The complete response as a `chat.completion` body. */
function completionBody(performance: Performance): string {
  return JSON.stringify({
    ...head(performance, 'chat.completion'),
    choices: performance.response.choices.map((choice, index) => ({
      index,
      message: messageOf(choice),
      logprobs: logprobsOf(choice.tokens, performance.alternatives),
      finish_reason: choice.finishReason,
    })),
    ...(performance.response.reportsUsage ? { usage: usageOf(performance) } : {}),
  });
}

/** The complete response as an event stream: steps in order of time, made as they are taken. */
export function* streamSteps(performance: Performance): Generator<BodyStep, void> {
  const { response, startMs } = performance;
  const reportsUsage = performance.includeUsage && response.reportsUsage;
  const chunkHead = head(performance, 'chat.completion.chunk');
  const chunk = (choices: unknown[], usage: unknown = null) =>
    `data: ${JSON.stringify({ ...chunkHead, choices, ...(reportsUsage ? { usage } : {}) })}\n\n`;
  const delta = (index: number, fields: object, finishReason: string | null = null, tokens: readonly Token[] = []) => {
    const logprobs = logprobsOf(tokens, performance.alternatives);
    return chunk([{ index, delta: fields, logprobs, finish_reason: finishReason }]);
  };

  const { fault, inOneEvent } = response;
  for (let round = 0; round < roundsOf(response); round += 1) {
    const atMs = roundMs(response, startMs, round);
    if (fault && round >= fault.afterTokens) return yield* faultSteps(fault, atMs);
    for (const [index, { tokens, finishReason }] of response.choices.entries()) {
      if (round === 0)
        yield {
          atMs,
          text: delta(index, { role: 'assistant', content: tokens[0]?.kind === 'content' ? '' : null, refusal: null }),
        };
      const now = inOneEvent ? tokens : tokens.slice(round, round + 1);
      const fields = deltaOf(now);
      if (fields) yield { atMs, text: delta(index, fields, null, now) };
      // A fault replaces the end, also if the text was too short for the fault.
      const isLast = inOneEvent || round === Math.max(tokens.length - 1, 0);
      if (isLast && !fault) yield { atMs, text: delta(index, {}, finishReason) };
    }
  }
  const atMs = endMs(performance);
  if (fault) return yield* faultSteps(fault, atMs);
  if (reportsUsage) yield { atMs, text: chunk([], usageOf(performance)) };
  yield { atMs, text: 'data: [DONE]\n\n' };
}

/** The complete response as JSON. A response cannot be half JSON, so a fault spoils the body instead. */
export function* jsonSteps(performance: Performance): Generator<BodyStep, void> {
  const body = completionBody(performance);
  const atMs = endMs(performance);
  const { fault } = performance.response;
  if (!fault) yield { atMs, text: body };
  else if (fault.kind === 'bad-json') yield { atMs, text: `${body.slice(0, -1)},}` };
  else {
    yield { atMs, text: body.slice(0, body.length / 2) };
    yield* faultSteps(fault, atMs);
  }
}

function* faultSteps({ kind, error }: Fault, atMs: number): Generator<BodyStep, void> {
  if (kind === 'silence') yield { atMs: Infinity, text: '' };
  else if (kind === 'reset') yield { atMs, error: networkError('The connection was reset') };
  else if (kind === 'error') yield { atMs, text: `data: ${(error ?? midStreamFailure()).body}\n\n` };
  else if (kind === 'bad-json')
    yield { atMs, text: 'data: {"id":"chatcmpl-sandbox","object":"chat.completion.chunk","choices":[{"index":0,\n\n' };
}

function head({ id, model, startMs }: Performance, object: string) {
  return { id, object, created: Math.floor(startMs / 1000), model, system_fingerprint: 'sandbox' };
}

/** The number of rounds. In a round, each unfinished choice sends one token; an empty response still has its end. */
function roundsOf({ choices, inOneEvent }: PlayedResponse): number {
  return inOneEvent ? 1 : Math.max(1, ...choices.map(({ tokens }) => tokens.length));
}

function roundMs({ pace }: PlayedResponse, startMs: number, round: number): number {
  return startMs + pace.firstTokenMs + round * pace.tokenMs;
}

/** The wire's delta for tokens of one kind, joined; null without any. */
function deltaOf(tokens: readonly Token[]): object | null {
  const [first] = tokens;
  if (!first) return null;
  if (first.kind === 'call')
    return {
      tool_calls: [
        { index: first.call, id: first.id, type: 'function', function: { name: first.name, arguments: '' } },
      ],
    };
  if (first.kind === 'arguments')
    return { tool_calls: [{ index: first.call, function: { arguments: argumentsOf(tokens, first.call) } }] };
  return { [first.kind]: textOf(tokens, first.kind) };
}

function messageOf({ tokens }: Choice) {
  const calls = tokens.filter((token) => token.kind === 'call');
  const has = (kind: Token['kind']) => tokens.some((token) => token.kind === kind);
  return {
    role: 'assistant',
    // A response without tokens is an empty text. A refusal or a call has no text.
    content: has('content') || tokens.length === 0 ? textOf(tokens, 'content') : null,
    refusal: has('refusal') ? textOf(tokens, 'refusal') : null,
    ...(has('reasoning') ? { reasoning: textOf(tokens, 'reasoning') } : {}),
    ...(calls.length > 0
      ? {
          tool_calls: calls.map(({ id, name, call }) => ({
            id,
            type: 'function',
            function: { name, arguments: argumentsOf(tokens, call) },
          })),
        }
      : {}),
  };
}

function textOf(tokens: readonly Token[], kind: 'content' | 'reasoning' | 'refusal'): string {
  return tokens.map((token) => (token.kind === kind ? token.text : '')).join('');
}

function argumentsOf(tokens: readonly Token[], call: number): string {
  return tokens.map((token) => (token.kind === 'arguments' && token.call === call ? token.text : '')).join('');
}
