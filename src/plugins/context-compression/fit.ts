import type { Endpoint } from '../../call/model.ts';
import type { Shortened } from '../../call/shortener.ts';
import { type Counter, estimateBeside, estimateMessage } from '../../pricing/estimate.ts';
import { TextCounter } from '../../pricing/text-counter.ts';
import type { ChatMessage, ChatRequest } from '../../schema/chat/chat.ts';
import { middleOut } from './middle-out.ts';

export interface Fitting {
  /** Counts the tokens of a text; absent: they are estimated. */
  countTokens?: ((text: string) => number) | undefined;
  /** The room for the response, where the request names no largest output. */
  outputTokens: number;
}

/**
 * The most rounds. An estimate of a long text improves when the text gets shorter, so after one round a part too much
 * may be left.
 */
const mostRounds = 4;

/**
 * Returns a request whose prompt fits the context of an endpoint, with the output that the request wants. Linear in the
 * size of the request.
 * @returns null: the prompt fits as it is. Where it cannot be made to fit, the request as it is, and a stage that tells
 * by how much it is too long
 */
export function fitted(request: ChatRequest, endpoint: Endpoint, fitting: Fitting): Shortened | null {
  const { longest, wanted } = limitsOf(request, endpoint, fitting);
  const counters = countersOf(fitting);
  // These parts all stay. They are counted by themselves: an estimate of text that comes after much other text is
  // rather too high.
  const beside = estimateBeside(request, counters());
  let messages: readonly ChatMessage[] = request.messages;
  let first = 0;
  // Providers count a little more, or less.
  let room = wanted * 0.95;
  for (let round = 0; round < mostRounds; round++) {
    const counts = countsOf(messages, counters());
    const tokens = counts.reduce((sum, count) => sum + count, beside);
    if (tokens <= (round === 0 ? longest : wanted))
      return round === 0 ? null : shortened(request, messages, first, tokens);
    if (round === 0) first = tokens;
    // The estimate of a long text as one is higher than that of its pieces.
    else room *= (0.95 * wanted) / tokens;
    const shorter = middleOut(messages, counts, Math.floor(room) - beside, counters());
    if (typeof shorter === 'number') return tooLong(request, first, shorter);
    messages = shorter;
  }
  return tooLong(request, first, countsOf(messages, counters()).reduce((sum, count) => sum + count, beside) - wanted);
}

/** Returns the tokens of each message. Those that stay are counted first, as exactly as possible. */
function countsOf(messages: readonly ChatMessage[], counter: Counter): number[] {
  const counts = messages.map(() => 0);
  const isFirst = (message: ChatMessage) => message.role === 'system' || message.role === 'developer';
  const count = (place: number, message: ChatMessage) => {
    counts[place] = estimateMessage(message, counter);
  };
  for (const [place, message] of messages.entries()) if (isFirst(message)) count(place, message);
  for (let place = messages.length - 1; place >= 0; place--) {
    const message = messages[place] as ChatMessage;
    if (!isFirst(message)) count(place, message);
  }
  return counts;
}

/**
 * Returns the request as it is: the part that has to stay is too long. The provider refuses it, and the stage says why.
 */
function tooLong(request: ChatRequest, tokens: number, missing: number): Shortened {
  const { length } = request.messages;
  const summary = `not shortened: of about ${tokens} tokens, what has to stay is about ${missing} more than there is room for`;
  const data = { engine: 'middle-out', input_type: 'messages', original_count: length, compressed_count: length };
  return { request, stage: { type: 'context_compression', name: 'context-compression', summary, data } };
}

/**
 * Returns the longest prompt, in tokens, beside which an endpoint has room for a response, and the length that a longer
 * one is brought to. Where the request names no largest output, the gateway may send one of a quarter of the context.
 */
function limitsOf(
  request: ChatRequest,
  { contextLength, maxPromptTokens, maxCompletionTokens }: Endpoint,
  { outputTokens }: Fitting,
): { longest: number; wanted: number } {
  const none = Number.POSITIVE_INFINITY;
  const context = contextLength ?? none;
  const asked = request.max_completion_tokens ?? request.max_tokens ?? null;
  const beside = (output: number) =>
    Math.min(context - Math.min(asked ?? output, maxCompletionTokens ?? none), maxPromptTokens ?? none);
  const longest = beside(Math.min(outputTokens, Math.floor(context / 8)));
  return { longest, wanted: Math.min(longest, beside(context / 4)) };
}

/** Makes counters. A counter of the host app is not asked again for a text that it has counted once. */
function countersOf({ countTokens }: Fitting): () => Counter {
  if (countTokens === undefined) return () => new TextCounter();
  const known = new Map<string, number>();
  const tokensOf = (text: string) => {
    let tokens = known.get(text);
    if (tokens === undefined) {
      tokens = countTokens(text);
      known.set(text, tokens);
    }
    return tokens;
  };
  const counter = {
    tokensOf,
    tokensOfJson: (value: unknown) =>
      typeof value === 'object' && value !== null ? tokensOf(JSON.stringify(value)) : 0,
  };
  return () => counter;
}

function shortened(
  request: ChatRequest,
  messages: readonly ChatMessage[],
  tokensBefore: number,
  tokens: number,
): Shortened {
  const { length } = request.messages;
  const removed = length - messages.length;
  const before = new Set(request.messages);
  const cut = messages.filter((message) => !before.has(message)).length;
  return {
    request: { ...request, messages: [...messages] },
    stage: {
      type: 'context_compression',
      name: 'context-compression',
      summary: `removed ${removed} of ${length} messages, cut ${cut}: about ${tokensBefore} tokens became ${tokens}`,
      data: { engine: 'middle-out', input_type: 'messages', original_count: length, compressed_count: messages.length },
    },
  };
}
