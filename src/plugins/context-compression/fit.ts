import type { Endpoint } from '../../call/model.ts';
import type { Shortened } from '../../call/shortener.ts';
import { type Counter, estimateBeside, estimateMessage } from '../../pricing/estimate.ts';
import { TextCounter } from '../../pricing/text-counter.ts';
import type { ChatMessage, ChatRequest } from '../../schema/chat.ts';
import { middleOut } from './middle-out.ts';

export interface Fitting {
  /** Counts the tokens of a text; absent: they are estimated. */
  countTokens?: ((text: string) => number) | undefined;
  /** Room for the response, where the request names no largest output. */
  outputTokens: number;
}

/** An estimate of a long text improves when the text gets shorter: then a part too much may be left. */
const mostRounds = 4;

/**
 * A request whose prompt fits the context of an endpoint, with the output that the request wants. Linear in the size of
 * the request.
 * @returns null: it fits as it is, or cannot be made to fit
 */
export function fitted(request: ChatRequest, endpoint: Endpoint, fitting: Fitting): Shortened | null {
  const { longest, wanted } = limitsOf(request, endpoint, fitting);
  let messages: readonly ChatMessage[] = request.messages;
  let first = 0;
  for (let round = 0; round < mostRounds; round++) {
    const counter = counterOf(fitting);
    const counts = messages.map((message) => estimateMessage(message, counter));
    const beside = estimateBeside(request, counter);
    const tokens = counts.reduce((sum, count) => sum + count, beside);
    if (tokens <= (round === 0 ? longest : wanted))
      return round === 0 ? null : shortened(request, messages, first, tokens);
    if (round === 0) first = tokens;
    // Providers count a little more, or less.
    const shorter = middleOut(messages, counts, Math.floor(wanted * 0.95) - beside, counterOf(fitting));
    if (shorter === null) return null;
    messages = shorter;
  }
  return null;
}

/**
 * The longest prompt, in tokens, beside which an endpoint has room for a response, and the length that one that is
 * longer is brought to. Where the request names no largest output, the gateway may send one of a quarter of the context.
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

function counterOf({ countTokens }: Fitting): Counter {
  if (countTokens === undefined) return new TextCounter();
  return {
    tokensOf: countTokens,
    tokensOfJson: (value) => (typeof value === 'object' && value !== null ? countTokens(JSON.stringify(value)) : 0),
  };
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
