import { estimateTokenCount } from 'tokenx';
import type { ChatRequest, Usage } from '../schema/chat.ts';

/** What every message costs beside its text, in the formats of the common models. */
const tokensPerMessage = 4;
/** A picture, whatever its size: providers charge from 85 to about 1,500. */
const tokensPerImage = 1000;

/** Counting a longer text would keep the process busy for noticeable time. */
const longestCounted = 256 * 1024;

/** One character in three is a token: for most languages rather too many than too few. */
function countTokens(text: string): number {
  return text.length > longestCounted ? Math.ceil(text.length / 3) : estimateTokenCount(text);
}

/** Usage for an answer whose provider reported none, or of which only a part was received. Estimated from the text. */
export function estimateUsage(request: ChatRequest, outputText: number | string): Usage {
  const promptTokens = estimatePrompt(request);
  const completionTokens = typeof outputText === 'string' ? countTokens(outputText) : Math.ceil(outputText / 3);
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
  for (const message of request.messages) {
    tokens += tokensPerMessage;
    if (typeof message.content === 'string') tokens += countTokens(message.content);
    else if (message.content) {
      for (const part of message.content) tokens += part.type === 'text' ? countTokens(part.text) : tokensPerImage;
    }
    if (message.role === 'assistant' && message.tool_calls) tokens += countTokens(JSON.stringify(message.tool_calls));
  }
  if (request.tools) tokens += countTokens(JSON.stringify(request.tools));
  return tokens;
}
