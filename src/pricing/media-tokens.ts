/** Tokens of an image, audio, video or file. Providers count them by their own rules, which nobody else can apply. */
export interface MediaTokens {
  /** More than any known provider counts. */
  most: number;
  /** A usual number. */
  typical: number;
}

/**
 * Most providers count 85 to 5,000 tokens, large models of Qwen up to 16,384. `gpt-4o-mini` counts up to 48,169: a
 * token costs little there, and an image is meant to cost the same as with other models.
 */
export const imageTokens: MediaTokens = { most: 50_000, typical: 1_000 };
/** With `detail: "low"`: usually 85, and 2,833 with `gpt-4o-mini`. */
const smallImageTokens: MediaTokens = { most: 3_000, typical: 100 };

/** A second of audio: usually 10 to 25 tokens, 32 with Gemini. */
const perAudioSecond: MediaTokens = { most: 32, typical: 20 };

/**
 * Bytes of a second of audio: the fewest that the format can use for speech, and the usual number. We trust the
 * declared format, because providers decode by it.
 */
interface AudioRate {
  leastBytes: number;
  usualBytes: number;
}
/** 6 kbit/s for speech, and almost nothing for pauses. */
const otherAudio: AudioRate = { leastBytes: 250, usualBytes: 12_000 };
const audioRates: Record<string, AudioRate> = {
  // The lowest rate of the format is 8 kbit/s.
  mp3: { leastBytes: 1_000, usualBytes: 16_000 },
  // The least: telephone codecs in a wav file. Usual: samples of 16 bits.
  wav: { leastBytes: 1_600, usualBytes: 32_000 },
  pcm16: { leastBytes: 16_000, usualBytes: 48_000 },
};
/** A provider may round up, or add tokens at the beginning. */
const leastAudio = 100;

/** The audio of an earlier response, which the provider has kept: no response is longer. */
export const earlierAudioTokens: MediaTokens = { most: 16_384, typical: 500 };

/** An hour of video, with one image and its audio per second. */
const videoTokens: MediaTokens = { most: 1_000_000, typical: 10_000 };
/** The most pages that providers take, with up to 3,000 tokens each. Compressed or empty pages take very few bytes. */
const fileTokens: MediaTokens = { most: 1_000_000, typical: 5_000 };

/**
 * Finds the tokens by the field of a content part that holds the medium. The `type` of the part does not matter.
 * @returns null for fields without a medium, such as text
 */
export function mediaTokens(field: string, value: unknown): MediaTokens | null {
  switch (field) {
    case 'image_url':
      return textIn(value, 'detail') === 'low' ? smallImageTokens : imageTokens;
    case 'input_audio':
      return audioTokens(textIn(value, 'data').length, textIn(value, 'format').toLowerCase());
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

function audioTokens(base64Length: number, format: string): MediaTokens {
  const bytes = Math.ceil((base64Length * 3) / 4);
  const { leastBytes, usualBytes } = (Object.hasOwn(audioRates, format) && audioRates[format]) || otherAudio;
  return {
    most: leastAudio + Math.ceil((bytes / leastBytes) * perAudioSecond.most),
    typical: Math.ceil((bytes / usualBytes) * perAudioSecond.typical),
  };
}
