import { usualMaxCompletionTokens } from './speak.ts';
import { splitTokens } from './tokens.ts';

const notice = 'This is the sandbox: no model wrote this text.';
const sentences = [
  'Lorem ipsum dolor sit amet, consectetur adipiscing elit.',
  'Sed do eiusmod tempor incididunt ut labore et dolore magna aliqua.',
  'Ut enim ad minim veniam, quis nostrud exercitation ullamco laboris.',
  'Duis aute irure dolor in reprehenderit in voluptate velit esse cillum.',
  'Excepteur sint occaecat cupidatat non proident, sunt in culpa qui officia.',
];

/**
 * Placeholder text that says what it is.
 * @param choice  another choice of the same response gets another text
 * @param asked   the number of tokens; one more than the limit of a response is possible. Absent: the notice and each
 *                sentence once
 */
export function loremText(choice: number, asked?: number): string {
  const turned = sentences.map((_, index) => sentences[(index + choice) % sentences.length]).join(' ');
  if (asked === undefined) return `${notice} ${turned}`;
  const tokens = Math.min(asked, usualMaxCompletionTokens + 1);
  const text: string[] = splitTokens(notice, tokens);
  const more = splitTokens(` ${turned}`, Infinity);
  while (text.length < tokens) text.push(...more.slice(0, tokens - text.length));
  return text.join('');
}

export const reasoningText =
  'The sandbox does not think. It sends these words as reasoning, so that a client can show them apart from the response.';
export const refusalText = 'The sandbox refuses, because the model sandbox/refusal always does.';
