import { isObject, type Loose } from '../../base/values.ts';
import type { Usage } from '../../schema/chat/chat.ts';
import { implausibleSearches, tokenCount, tokensOrZero } from '../shared/response/counts.ts';
import { usageOf } from '../shared/response/usage.ts';

/**
 * Reads `usageMetadata`. Thoughts, and tokens that tools added to the prompt, stand beside the other counts; cached
 * tokens are among those of the prompt.
 * @param searches  the number of searches of the web in the response
 * @returns null where a count is missing or nonsense
 * @see https://ai.google.dev/api/generate-content "UsageMetadata"
 */
export function readUsage(raw: unknown, searches = 0): Usage | null {
  if (!isObject(raw)) return null;
  const prompt = tokenCount(raw.promptTokenCount);
  const fromTools = tokensOrZero(raw.toolUsePromptTokenCount);
  const candidates = tokensOrZero(raw.candidatesTokenCount);
  const thoughts = tokensOrZero(raw.thoughtsTokenCount);
  if (prompt === null || fromTools === null || candidates === null || thoughts === null) return null;
  return usageOf({
    prompt: prompt + fromTools,
    completion: candidates + thoughts,
    cached: tokenCount(raw.cachedContentTokenCount) ?? 0,
    reasoning: thoughts,
    ofPrompt: modalityTokens(raw.promptTokensDetails, raw.toolUsePromptTokensDetails),
    ofCompletion: modalityTokens(raw.candidatesTokensDetails),
    searches: Math.min(searches, implausibleSearches),
  });
}

const modalities: ReadonlyMap<unknown, string> = new Map([
  ['AUDIO', 'audio_tokens'],
  ['IMAGE', 'image_tokens'],
  ['VIDEO', 'video_tokens'],
]);

function modalityTokens(...details: readonly unknown[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const list of details) {
    if (!Array.isArray(list)) continue;
    for (const entry of list) {
      if (!isObject(entry)) continue;
      const key = modalities.get(entry.modality);
      const tokens = tokenCount(entry.tokenCount) ?? 0;
      if (key !== undefined) counts[key] = (counts[key] ?? 0) + tokens;
    }
  }
  return counts;
}

const tiers: ReadonlyMap<unknown, string> = new Map([
  ['standard', 'default'],
  ['flex', 'flex'],
  ['priority', 'priority'],
  ['ON_DEMAND', 'default'],
  ['ON_DEMAND_FLEX', 'flex'],
  ['ON_DEMAND_PRIORITY', 'priority'],
]);

/** Returns the tier that served, as the Gemini API or Vertex AI reports it; undefined: it did not. */
export function servedTier(raw: unknown): string | undefined {
  if (!isObject(raw)) return undefined;
  return tiers.get(raw.serviceTier) ?? tiers.get(raw.trafficType);
}

/** Returns the number of searches of one response. Before Gemini 3, Google charges all of them as one. */
export function searchesOf(candidate: Loose, modelVersion: unknown): number {
  const queries = isObject(candidate.groundingMetadata) ? candidate.groundingMetadata.webSearchQueries : undefined;
  const searches = Array.isArray(queries) ? queries.length : 0;
  return typeof modelVersion === 'string' && /gemini-[12]\b/.test(modelVersion) ? Math.min(searches, 1) : searches;
}
