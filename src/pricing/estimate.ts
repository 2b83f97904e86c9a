import type { ChatMessage, ChatRequest, Usage } from '../schema/chat/chat.ts';
import { mayBeText } from './known-fields.ts';
import { mediaTokens } from './media-tokens.ts';
import { TextCounter } from './text-counter.ts';

/** Counts the tokens of texts, and of values written as JSON. */
export type Counter = Pick<TextCounter, 'tokensOf' | 'tokensOfJson'>;

/** The tokens of a message in addition to its text, in the formats of the common models. */
const tokensPerMessage = 4;

/**
 * Estimates usage from the text, for a response without reported usage, or for one that was only partly received.
 * @param outputBytes  the bytes of the received text
 */
export function estimateUsage(request: ChatRequest, outputBytes: number): Usage {
  const promptTokens = estimatePrompt(request);
  const completionTokens = estimateOutput(outputBytes);
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0 },
  };
}

/**
 * One token for each three bytes. It depends on the bytes alone, so that the same text costs the same in any form: the
 * bytes are all that is known of a stream that passes untouched.
 */
export function estimateOutput(bytes: number): number {
  return Math.ceil(bytes / 3);
}

export function estimatePrompt(request: ChatRequest, counter: Counter = new TextCounter()): number {
  let tokens = 0;
  for (const message of request.messages) tokens += estimateMessage(message, counter);
  return tokens + estimateBeside(request, counter);
}

/** Estimates the parts of the prompt beside its messages, such as tools. */
export function estimateBeside(request: ChatRequest, counter: Counter): number {
  let tokens = 3;
  if (request.tools) tokens += counter.tokensOfJson(request.tools);
  if (request.response_format) tokens += counter.tokensOfJson(request.response_format);
  // The model may read fields that we do not know, such as documents.
  for (const [name, value] of Object.entries(request)) if (mayBeText(name)) tokens += counter.tokensOfJson(value);
  return tokens;
}

export function estimateMessage(message: ChatMessage, counter: Counter): number {
  let tokens = tokensPerMessage;
  const { content } = message;
  if (typeof content === 'string') tokens += counter.tokensOf(content);
  else if (content) {
    for (const part of content) {
      if (part.type === 'text') tokens += counter.tokensOf(part.text);
      for (const [field, value] of Object.entries(part)) if (value) tokens += mediaTokens(field, value)?.typical ?? 0;
    }
  }
  if (message.role !== 'tool' && message.name) tokens += counter.tokensOf(message.name);
  if (message.role === 'assistant' && message.tool_calls) tokens += counter.tokensOfJson(message.tool_calls);
  return tokens;
}
