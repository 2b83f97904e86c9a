import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { count } from '../scalars.ts';
import { taskCostFields } from '../task-usage.ts';

/** The use of a request for a transcript: by the second, or by tokens, as it is sold. */
export const transcriptUsageSchema = lazily(() =>
  z.union([
    z.looseObject({
      /** The measure by which it is sold. */
      type: z.literal('duration'),
      /** Seconds of sound, rounded up. */
      seconds: count(),
      ...taskCostFields(),
    }),
    z.looseObject({
      /** The measure by which it is sold. */
      type: z.literal('tokens'),
      /** Tokens of the sound and of the prompt. */
      input_tokens: count(),
      /** The same by kind. */
      input_token_details: z.looseObject({ audio_tokens: count(), text_tokens: count() }).optional(),
      /** Tokens of the text. */
      output_tokens: count(),
      /** Both. */
      total_tokens: count(),
      /** Seconds of sound, rounded up. */
      seconds: count().optional(),
      ...taskCostFields(),
    }),
  ]),
);
export type TranscriptUsage = z.infer<ReturnType<typeof transcriptUsageSchema>>;

/** The body of a response with `json`, `verbose_json` or `diarized_json`. */
export const transcriptionResultSchema = lazily(() =>
  z.looseObject({
    /** All that was said. */
    text: z.string(),
    /** The language that was spoken. */
    language: z.string().optional(),
    /** Seconds of sound. */
    duration: z.union([z.number(), z.string()]).optional(),
    /** The parts of it, with their times in seconds. */
    segments: z
      .array(z.looseObject({ start: z.number(), end: z.number(), text: z.string(), speaker: z.string().optional() }))
      .optional(),
    /** The words, with their times. */
    words: z.array(z.looseObject({ word: z.string(), start: z.number(), end: z.number() })).optional(),
    /** The use, and its cost. */
    usage: transcriptUsageSchema().optional(),
  }),
);
export interface TranscriptionResult extends z.infer<ReturnType<typeof transcriptionResultSchema>> {}

/** An event of a streamed transcript. */
export const transcriptionEventSchema = lazily(() =>
  z.union([
    /** More of the text. */
    z.looseObject({ type: z.literal('transcript.text.delta'), delta: z.string() }),
    /** A part with its speaker. */
    z.looseObject({ type: z.literal('transcript.text.segment'), text: z.string() }),
    /** The end: all of the text. */
    z.looseObject({ type: z.literal('transcript.text.done'), text: z.string(), usage: transcriptUsageSchema() }),
  ]),
);
export type TranscriptionEvent = z.infer<ReturnType<typeof transcriptionEventSchema>>;
