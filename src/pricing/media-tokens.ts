/** Tokens of a picture, sound, film or file: providers count them by rules of their own, which nobody else can apply. */
export interface MediaTokens {
  /** More than any provider is known to count. */
  most: number;
  /** What a usual one comes to. */
  typical: number;
}

/**
 * Most providers count 85 to 5,000 tokens, large models of Qwen up to 16,384, `gpt-4o-mini` up to 48,169: there a token
 * costs little and a picture is meant to cost the same.
 */
export const imageTokens: MediaTokens = { most: 50_000, typical: 1_000 };
/** With `detail: "low"`: 85 as a rule, 2,833 at `gpt-4o-mini`. */
const smallImageTokens: MediaTokens = { most: 3_000, typical: 100 };

/** A second of sound: 10 to 25 as a rule, 32 at Gemini. */
const perAudioSecond: MediaTokens = { most: 32, typical: 20 };

/**
 * Bytes of a second of sound: the fewest a format may take for speech, and what is usual. The format is believed, since
 * providers decode by it.
 */
interface AudioRate {
  leastBytes: number;
  usualBytes: number;
}
/** 6 kbit/s for speech, and as good as nothing for pauses. */
const otherAudio: AudioRate = { leastBytes: 250, usualBytes: 12_000 };
const audioRates: Record<string, AudioRate> = {
  // The lowest rate of the format is 8 kbit/s.
  mp3: { leastBytes: 1_000, usualBytes: 16_000 },
  // Telephone codecs in a wav file; samples of 16 bits otherwise.
  wav: { leastBytes: 1_600, usualBytes: 32_000 },
  pcm16: { leastBytes: 16_000, usualBytes: 48_000 },
};
/** A provider may round up, or begin with something. */
const leastAudio = 100;

/** The sound of an earlier answer, which the provider kept: no answer is longer. */
export const earlierAudioTokens: MediaTokens = { most: 16_384, typical: 500 };

/** An hour of film, at a picture and its sound a second. */
const videoTokens: MediaTokens = { most: 1_000_000, typical: 10_000 };
/** As many pages as providers take, up to 3,000 tokens each; compressed pages and empty ones hide in very few bytes. */
const fileTokens: MediaTokens = { most: 1_000_000, typical: 5_000 };

/**
 * By the field of a content part that holds the medium, whatever `type` the part says it is of.
 * @returns null for fields that hold none, such as text
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

/** Of fields beyond those a part of its type has, nobody has checked the type. */
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
