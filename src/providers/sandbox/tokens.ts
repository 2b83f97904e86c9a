import { estimateTokenCount } from 'tokenx';
import { textOf, type SandboxRequest } from './request.ts';

/** Every character belongs to exactly one match, so that the tokens of a text, joined, are the text. */
const token = / ?[\p{L}\p{M}]{1,8}| ?\p{N}{1,3}|\s{1,16}|[^]/gu;

/**
 * Cuts a text into the sandbox's own tokens: about a word, a number or a sign each.
 * @param limit  at most so many; the rest of the text is left out
 */
export function splitTokens(text: string, limit: number): string[] {
  const tokens: string[] = [];
  if (limit < 1) return tokens;
  for (const [match] of text.matchAll(token)) {
    tokens.push(match);
    if (tokens.length >= limit) break;
  }
  return tokens;
}

/** What OpenAI's own counting recipe adds for each message, and once for the answer's start. */
const perMessage = 3;
const perAnswer = 3;
/** For an image or another part without text: what OpenAI counts for an image in low detail. */
const perPart = 85;

/** Tokens of the prompt: an estimate over all text of the messages and tools, the same for the same request. */
export function countPromptTokens(request: SandboxRequest): number {
  let count = perAnswer + estimateTokenCount(request.toolsText);
  for (const message of request.messages) {
    count += perMessage + estimateTokenCount(message.role) + estimateTokenCount(textOf(message));
    if (message.name !== undefined) count += estimateTokenCount(message.name);
    if (typeof message.content === 'object') count += perPart * (message.content?.filter((part) => part.text === undefined).length ?? 0);
    for (const { function: call } of message.tool_calls ?? []) {
      if (call) count += estimateTokenCount(call.name) + estimateTokenCount(call.arguments);
    }
  }
  return count;
}
