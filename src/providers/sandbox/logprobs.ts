import type { Choice, Token } from './outcome.ts';
import { mostAlternatives, Refusal } from './request.ts';

/** More in one response would block the process. */
const mostProbabilities = 20_000;

/** @throws Refusal (400) where a response would have too many probabilities */
export function checkProbabilities(choices: readonly Choice[], alternatives: number | null): void {
  if (alternatives === null) return;
  const count = choices.reduce((sum, { tokens }) => sum + tokens.length, 0) * (1 + alternatives);
  if (count > mostProbabilities)
    throw new Refusal(`The response has ${count} probabilities of tokens; the sandbox gives ${mostProbabilities}.`, {
      param: 'top_logprobs',
    });
}

interface TokenProbability {
  token: string;
  /** Natural logarithm of its probability. */
  logprob: number;
  bytes: number[];
}

/**
 * Probabilities of the tokens of a text, in OpenAI's form. They depend on the token alone: the same response has the same
 * ones in every run.
 * @param alternatives  the number of further tokens at each place; null: probabilities were not asked for
 * @returns null: there are none
 */
export function logprobsOf(tokens: Choice['tokens'], alternatives: number | null) {
  const said = tokens.filter((token): token is Extract<Token, { kind: 'content' }> => token.kind === 'content');
  if (alternatives === null || said.length === 0) return null;
  return {
    content: said.map(({ text }) => ({
      ...probability(text, 0.9),
      top_logprobs: [text, ...otherTokens(text)]
        .slice(0, alternatives)
        .map((token, at) => probability(token, at === 0 ? 0.9 : 0.05 / 2 ** at)),
    })),
    refusal: null,
  };
}

function probability(token: string, share: number): TokenProbability {
  return { token, logprob: Math.log(share), bytes: [...new TextEncoder().encode(token)] };
}

/** Tokens that could stand there: the same one in other writings, and then numbers. */
function otherTokens(text: string): readonly string[] {
  const bare = text.trim();
  const writings = [bare.toUpperCase(), bare.toLowerCase(), ` ${bare}`, `${bare}s`];
  const numbers = Array.from({ length: mostAlternatives }, (_, at) => ` ${at}`);
  return [...new Set([...writings, ...numbers])].filter((one) => one !== '' && one !== text);
}
