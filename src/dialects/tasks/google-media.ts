import { UpstreamError } from '../../base/http/upstream-error.ts';
import { cleanText } from '../../base/text/clean-text.ts';
import { isIndex, isObject, type Loose } from '../../base/values.ts';
import { badResponse } from '../shared/values.ts';
import type { TaskUsage } from './contract.ts';

/** The files that a model of Gemini has made. */
export interface GoogleMedia {
  /** Each as base64, and what the response says of its type. */
  readonly files: readonly { readonly base64: string; readonly mimeType: unknown }[];
  /** The reason why there are none, where the response names one. */
  readonly reason: unknown;
}

/** Reads the files in a response of `generateContent`. */
export function mediaIn({ candidates, promptFeedback }: Loose): GoogleMedia {
  const files: { base64: string; mimeType: unknown }[] = [];
  let reason: unknown = isObject(promptFeedback) ? promptFeedback.blockReason : undefined;
  for (const candidate of Array.isArray(candidates) ? candidates : []) {
    if (!isObject(candidate)) continue;
    reason ??= candidate.finishReason;
    const parts = isObject(candidate.content) ? candidate.content.parts : [];
    for (const part of Array.isArray(parts) ? parts : []) {
      // Sketches of a model that thinks are no part of the response.
      if (!isObject(part) || part.thought === true || !isObject(part.inlineData)) continue;
      const { data, mimeType } = part.inlineData;
      if (typeof data === 'string' && data !== '') files.push({ base64: data, mimeType });
    }
  }
  return { files, reason };
}

const refusals = /SAFETY|PROHIBITED|BLOCKLIST|RECITATION|SPII|IMAGE_OTHER|filtered|policy|responsible/i;

/**
 * Returns the error of a response without a file: a refusal of the content where the provider says so.
 * @param what  the files that were asked for, such as `images`
 */
export function withoutMedia(what: string, reason: unknown): UpstreamError {
  const word = typeof reason === 'string' ? cleanText(reason, 200) : '';
  if (!refusals.test(word)) return badResponse(`The provider responded without ${what}${word && ` (${word})`}.`);
  return new UpstreamError(`The provider refused to make the ${what} (${word}).`, {
    reason: 'status',
    status: 400,
    fault: 'caller',
    errorType: 'content_policy_violation',
  });
}

/** Reads the tokens of a response. Thoughts are tokens of the output. @returns null: it reports none */
export function mediaUsage(metadata: unknown): TaskUsage | null {
  if (!isObject(metadata)) return null;
  const { promptTokenCount: prompt, candidatesTokenCount: made, thoughtsTokenCount: thoughts } = metadata;
  return {
    promptTokens: isIndex(prompt) ? prompt : null,
    ...(isIndex(made) ? { completionTokens: made + (isIndex(thoughts) ? thoughts : 0) } : {}),
  };
}
