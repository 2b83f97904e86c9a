import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { textUpTo } from '../bounded.ts';
import { expectation } from '../chat/expectations.ts';
import { taskFields } from '../task-fields.ts';

/** The most characters of a text that is spoken. Providers take some thousands. */
const mostCharacters = 100_000;

/** The body of POST /audio/speech. */
export const speechRequestSchema = lazily(() =>
  z.strictObject({
    /** The text. */
    input: z.string().min(1, expectation('expected a text that is not empty')).max(mostCharacters),
    ...taskFields(),
    /** The voice: a name, or `{ id }` for one of your own. Providers differ in the voices that they have. */
    voice: z.union([textUpTo(256), z.strictObject({ id: textUpTo(256) })]).nullish(),
    /** The way in which to speak. */
    instructions: textUpTo(32_000).nullish(),
    /** The form of the sound. Default `mp3`; `pcm` with `compat: 'openrouter'`. */
    response_format: z.enum(['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm']).nullish(),
    /** 0.25 to 4. Default 1. */
    speed: z.number().min(0.25).max(4).nullish(),
    /** `audio`: the bytes of the sound; `sse`: events. Default `audio`. */
    stream_format: z.enum(['audio', 'sse']).nullish(),
  }),
);
export interface SpeechRequest extends z.infer<ReturnType<typeof speechRequestSchema>> {}

/** An event of streamed speech. */
export const speechEventSchema = lazily(() =>
  z.union([
    /** More of the sound, in base64. */
    z.looseObject({ type: z.literal('speech.audio.delta'), audio: z.string() }),
    /** The end. */
    z.looseObject({
      type: z.literal('speech.audio.done'),
      usage: z.looseObject({
        input_tokens: z.int(),
        output_tokens: z.int(),
        total_tokens: z.int(),
        cost: z.number().optional(),
      }),
    }),
  ]),
);
export type SpeechEvent = z.infer<ReturnType<typeof speechEventSchema>>;
