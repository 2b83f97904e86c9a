import type { ChatRequest, Usage } from '../schema/chat/chat.ts';

/**
 * The most bytes of text in one token. The longest tokens of the common vocabularies are runs of 128 spaces. A provider
 * that reports fewer tokens than this allows has not counted the text; one that counts honestly never reports fewer.
 */
export const mostBytesPerToken = 128;

/** Tells whether a response with so much text can have so few tokens. */
export function isPlausibleOutput({ completion_tokens }: Usage, textBytes: number): boolean {
  return completion_tokens * mostBytesPerToken >= textBytes;
}

/** Tells whether the text of a request can have so few tokens. Reads lengths only, since every response is checked. */
export function isPlausiblePrompt({ prompt_tokens }: Usage, { messages }: ChatRequest): boolean {
  const most = prompt_tokens * mostBytesPerToken;
  let units = 0;
  for (const { content } of messages) {
    if (typeof content === 'string') units += content.length;
    else if (content) for (const part of content) if (part.type === 'text') units += part.text.length;
  }
  return units <= most;
}
