import { estimateTokenCount } from 'tokenx';
import type { ChatMessage, ChatRequest, Usage } from '../schema/chat.ts';
import { mediaTokens } from './media-tokens.ts';
import { silentFields } from './silent-fields.ts';

/** What every message costs beside its text, in the formats of the common models. */
const tokensPerMessage = 4;

/** Counting a longer text would keep the process busy for noticeable time. */
const longestCounted = 256 * 1024;

/** One character in three is a token: for most languages rather too many than too few. */
function countTokens(text: string): number {
  return text.length > longestCounted ? Math.ceil(text.length / 3) : estimateTokenCount(text);
}

/** What an answer can't have exceeded, such as a `Ceiling`. */
export interface MostTokens {
  promptTokens: number;
  /** Of all choices together. */
  completionTokens: number;
}

/**
 * Usage for an answer whose provider reported none, or of which only a part was received. Estimated from the text.
 * @param output  what was received: its text, or how many bytes of it
 * @param most    the estimate is no more than this. Default: as it comes out
 */
export function estimateUsage(request: ChatRequest, output: number | string, most?: MostTokens): Usage {
  const received = typeof output === 'string' ? countTokens(output) : Math.ceil(output / 3);
  const promptTokens = Math.min(estimatePrompt(request), most?.promptTokens ?? Number.POSITIVE_INFINITY);
  const completionTokens = Math.min(received, most?.completionTokens ?? Number.POSITIVE_INFINITY);
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0 },
  };
}

function estimatePrompt(request: ChatRequest): number {
  let tokens = 3;
  for (const message of request.messages) tokens += estimateMessage(message);
  if (request.tools) tokens += countJson(request.tools);
  if (request.response_format) tokens += countJson(request.response_format);
  // What we do not know may be read by the model, such as documents.
  for (const [name, value] of Object.entries(request)) if (!silentFields.has(name)) tokens += countJson(value);
  return tokens;
}

function estimateMessage(message: ChatMessage): number {
  let tokens = tokensPerMessage;
  const { content } = message;
  if (typeof content === 'string') tokens += countTokens(content);
  else if (content) {
    for (const part of content) {
      if (part.type === 'text') tokens += countTokens(part.text);
      for (const [field, value] of Object.entries(part)) if (value) tokens += mediaTokens(field, value)?.typical ?? 0;
    }
  }
  if (message.role !== 'tool' && message.name) tokens += countTokens(message.name);
  if (message.role === 'assistant' && message.tool_calls) tokens += countJson(message.tool_calls);
  return tokens;
}

/** Numbers, flags and words such as `auto` are settings. */
function countJson(value: unknown): number {
  return typeof value === 'object' && value !== null ? countTokens(JSON.stringify(value)) : 0;
}
