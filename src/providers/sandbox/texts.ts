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
 * @param tokens  exactly so many; absent: the notice and each sentence once
 */
export function loremText(choice: number, tokens?: number): string {
  const turned = sentences.map((_, index) => sentences[(index + choice) % sentences.length]).join(' ');
  if (tokens === undefined) return `${notice} ${turned}`;
  const text: string[] = splitTokens(notice, tokens);
  const more = splitTokens(` ${turned}`, Infinity);
  while (text.length < tokens) text.push(...more.slice(0, tokens - text.length));
  return text.join('');
}

export const reasoningText =
  'The sandbox does not think. It sends these words as reasoning, so that a client can show them apart from the response.';
export const refusalText = 'The sandbox refuses, because the model sandbox/refusal always does.';
