import type { PricedKind } from '../call/model.ts';
import { wavSeconds } from './wav.ts';

/**
 * The tokens of an image, audio, video or file. Providers count them by rules of their own, which only they can apply.
 */
export interface MediaTokens {
  /** An upper bound for every known provider. */
  most: number;
  /** The upper bound at a provider that honours `detail: "low"`, if the request asks for it. */
  mostLowDetail?: number;
  /** The prices that may apply to them. */
  kinds: readonly PricedKind[];
  /** A usual number. */
  typical: number;
}

/**
 * Most providers count 85 to 5,000 tokens, large models of Qwen up to 16,384. `gpt-4o-mini` counts up to 48,169: a
 * token costs little there, and an image is meant to cost the same as with other models.
 */
export const imageTokens: MediaTokens = { most: 50_000, typical: 1_000, kinds: ['image'] };
/**
 * With `detail: "low"`: usually 85, and 2,833 with `gpt-4o-mini`. But many providers ignore the field, and count the
 * image as any other.
 */
const smallImageTokens: MediaTokens = { ...imageTokens, mostLowDetail: 3_000, typical: 100 };

/** The tokens of a second of audio: usually 10 to 25, and 32 with Gemini. */
const perAudioSecond = { most: 32, typical: 20 };
/** The least tokens of audio: a provider may round up, or add tokens at the beginning. */
const leastAudio = 100;
/**
 * The longest audio that a provider takes: nine and a half hours, with Gemini. Neither the size nor the declared format
 * of audio limits its length: silence takes next to no bytes, and a header may give any sample rate.
 */
const longestAudioSeconds = 34_200;

/** The bytes of a usual second, by the declared format. */
const usualAudioBytes: Record<string, number> = { mp3: 16_000, wav: 32_000, pcm16: 48_000 };
const otherAudioBytes = 12_000;

/** The audio of an earlier response, which the provider has kept: no response is longer. */
export const earlierAudioTokens: MediaTokens = { most: 16_384, typical: 500, kinds: ['audio'] };

/** An hour of video, with one image and its audio per second. */
const videoTokens: MediaTokens = { most: 1_000_000, typical: 10_000, kinds: ['image', 'audio'] };
/** The most pages that providers take, with up to 3,000 tokens each. Compressed or empty pages take very few bytes. */
const fileTokens: MediaTokens = { most: 1_000_000, typical: 5_000, kinds: ['image'] };

/**
 * Finds the tokens by the field of a content part that holds the medium. The `type` of the part does not matter.
 * @returns null for fields without a medium, such as text
 */
export function mediaTokens(field: string, value: unknown): MediaTokens | null {
  switch (field) {
    case 'image_url':
      return textIn(value, 'detail') === 'low' ? smallImageTokens : imageTokens;
    case 'input_audio':
      return audioTokens(textIn(value, 'data'), textIn(value, 'format').toLowerCase());
    case 'video_url':
      return videoTokens;
    case 'file':
      return fileTokens;
    default:
      return null;
  }
}

/** A text field of an unchecked value: the schema checks only the fields that belong to the type of the part. */
function textIn(value: unknown, field: string): string {
  const text: unknown = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[field] : '';
  return typeof text === 'string' ? text : '';
}

function audioTokens(base64: string, format: string): MediaTokens {
  const usualBytes = (Object.hasOwn(usualAudioBytes, format) && usualAudioBytes[format]) || otherAudioBytes;
  const seconds = wavSeconds(base64) ?? longestAudioSeconds;
  return {
    most: leastAudio + Math.ceil(Math.min(seconds, longestAudioSeconds) * perAudioSecond.most),
    typical: Math.ceil(((base64.length * 3) / 4 / usualBytes) * perAudioSecond.typical),
    kinds: ['audio'],
  };
}
