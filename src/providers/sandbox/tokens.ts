import { estimateTokenCount } from 'tokenx';
import { Refusal, type SandboxMessage, type SandboxRequest, textOf } from './request.ts';

/** Every character belongs to exactly one match, so that the tokens of a text, joined, are the text. */
const token = / ?[\p{L}\p{M}]{1,8}| ?\p{N}{1,3}|\s{1,16}|./gsu;

/**
 * Cuts a text into the sandbox's own tokens: about a word, a number or a sign each.
 * @param limit  at most so many; what is longer is cut
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

/** What OpenAI's own counting recipe adds for each message, and once for the response's start. */
const perMessage = 3;
const perAnswer = 3;
/** For an image or another part without text: what OpenAI counts for an image in low detail. */
const perPart = 85;

/** The longest prompt the sandbox takes, in tokens. */
export const contextLength = 131_072;
/** Counting a longer text would hold up the process that hosts the sandbox; so much hardly fits the context anyway. */
const maxCharacters = 2 ** 20;

/**
 * Tokens of the prompt: an estimate over all text of the messages and tools, the same for the same request.
 * @throws Refusal (400, context_length_exceeded) for a prompt that is too long
 */
export function countPromptTokens(request: SandboxRequest): number {
  const { messages } = request;
  const texts = [request.toolsText, ...messages.flatMap(textsOf)];
  const characters = texts.reduce((sum, text) => sum + text.length, 0);
  if (characters > maxCharacters) throw tooLong(`${characters} characters`, `${maxCharacters}`);
  const parts = messages.flatMap(({ content }) =>
    Array.isArray(content) ? content.filter(({ text }) => text === undefined) : [],
  );
  const overhead = perAnswer + perMessage * messages.length + perPart * parts.length;
  const count = texts.reduce((sum, text) => sum + estimateTokenCount(text), overhead);
  if (count > contextLength) throw tooLong(`${count} tokens`, `${contextLength}`);
  return count;
}

function textsOf(message: SandboxMessage): string[] {
  const calls = (message.tool_calls ?? []).flatMap(({ function: call }) => (call ? [call.name, call.arguments] : []));
  return [message.role, message.name ?? '', textOf(message), ...calls];
}

function tooLong(size: string, limit: string): Refusal {
  return new Refusal(`The prompt has ${size}; the sandbox takes ${limit}.`, {
    code: 'context_length_exceeded',
    param: 'messages',
  });
}
