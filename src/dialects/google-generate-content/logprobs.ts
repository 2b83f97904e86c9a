import { isObject } from '../../base/values.ts';
import type { Logprobs } from '../../schema/chat/chat.ts';

/**
 * Returns the probabilities of the tokens; null where there are none.
 * @see https://ai.google.dev/api/generate-content "LogprobsResult"
 */
export function decodeLogprobs(raw: unknown): Logprobs | null {
  if (!isObject(raw) || !Array.isArray(raw.chosenCandidates)) return null;
  const tops = Array.isArray(raw.topCandidates) ? raw.topCandidates : [];
  const content: NonNullable<Logprobs['content']> = [];
  raw.chosenCandidates.forEach((chosen, at) => {
    const token = tokenOf(chosen);
    if (token === null) return;
    const top = isObject(tops[at]) && Array.isArray(tops[at].candidates) ? tops[at].candidates : [];
    content.push({ ...token, top_logprobs: top.map(tokenOf).filter((one) => one !== null) });
  });
  return { content, refusal: null };
}

function tokenOf(raw: unknown): { token: string; logprob: number; bytes: null } | null {
  if (!isObject(raw) || typeof raw.token !== 'string') return null;
  // A probability of 1 has the logarithm 0, which Google leaves out.
  const logprob = raw.logProbability ?? 0;
  return typeof logprob === 'number' ? { token: raw.token, logprob, bytes: null } : null;
}
