import { estimateTokenCount } from 'tokenx';
import type { ChatMessage, ChatRequest, Usage } from '../schema/chat.ts';
import { mediaTokens } from './media-tokens.ts';
import { silentFields } from './silent-fields.ts';

/** The tokens of a message in addition to its text, in the formats of the common models. */
const tokensPerMessage = 4;

/** The longest text that is counted. Counting a longer one would block the process for a noticeable time. */
const longestCounted = 256 * 1024;

/** A token for every three characters: rather too many than too few for most languages. */
function countTokens(text: string): number {
  return text.length > longestCounted ? Math.ceil(text.length / 3) : estimateTokenCount(text);
}

/**
 * Estimates usage from the text, for a response without reported usage, or for one that was only partly received.
 * @param output  the received text, or its number of bytes
 */
export function estimateUsage(request: ChatRequest, output: number | string): Usage {
  const promptTokens = estimatePrompt(request);
  const completionTokens = estimateOutput(output);
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0 },
  };
}

/** @param output  the received text, or its number of bytes */
export function estimateOutput(output: number | string): number {
  return typeof output === 'string' ? countTokens(output) : Math.ceil(output / 3);
}

export function estimatePrompt(request: ChatRequest): number {
  let tokens = 3;
  for (const message of request.messages) tokens += estimateMessage(message);
  if (request.tools) tokens += countJson(request.tools);
  if (request.response_format) tokens += countJson(request.response_format);
  // The model may read fields that we do not know, such as documents.
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

/** Skips numbers, flags, and words such as `auto`: they are settings. */
function countJson(value: unknown): number {
  return typeof value === 'object' && value !== null ? countTokens(JSON.stringify(value)) : 0;
}
