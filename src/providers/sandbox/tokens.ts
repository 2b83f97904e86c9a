import { estimateTokenCount } from 'tokenx';
import { Refusal, type SandboxMessage, type SandboxRequest, textOf } from './request.ts';

/** Every character belongs to exactly one match, so that the tokens of a text, joined, are the text. */
const token = / ?[\p{L}\p{M}]{1,8}| ?\p{N}{1,3}|\s{1,16}|./gsu;

/**
 * Cuts a text into the sandbox's own tokens: about a word, a number or a sign each.
 * @param limit  the most tokens; a longer text is cut
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

/** The tokens that OpenAI's counting recipe adds for each message, and once for the start of the response. */
const perMessage = 3;
const perAnswer = 3;
/** The tokens of an image or another part without text: OpenAI's number for an image in low detail. */
const perPart = 85;

/** The longest prompt that the sandbox accepts, in tokens. */
export const contextLength = 131_072;
/** The longest text that is counted: counting a longer one would block the process, and it hardly fits the context. */
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
