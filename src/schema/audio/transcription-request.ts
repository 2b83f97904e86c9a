import * as z from 'zod';
import { isUploadedFile, type UploadedFile } from '../../base/http/uploaded-file.ts';
import { lazily } from '../../base/lazily.ts';
import { list, textUpTo } from '../bounded.ts';
import { expectation } from '../chat/expectations.ts';
import { taskFields } from '../task-fields.ts';

const uploaded = lazily(() =>
  z
    .custom<UploadedFile>(
      (value) => isUploadedFile(value) && value.size > 0,
      expectation('expected a file that is not empty, in a form'),
    )
    .meta({ type: 'string', format: 'binary' }),
);

/** The fields that both requests have. */
const commonFields = lazily(() => ({
  /** The sound, in a form: flac, mp3, mp4, mpeg, mpga, m4a, ogg, wav or webm. In JSON, `input_audio` has it. */
  file: uploaded().optional(),
  /** The sound in JSON, in place of `file`. */
  input_audio: z
    .strictObject({
      /** Base64, without `data:` before it. */
      data: z.string().min(1),
      /** The form, such as `mp3` or `wav`. */
      format: textUpTo(16),
    })
    .optional(),
  ...taskFields(),
  /** A text that comes before, or that shows how to write. */
  prompt: textUpTo(32_000).nullish(),
  /** 0 to 1. Default 0. */
  temperature: z.number().min(0).max(1).nullish(),
}));

/** The forms of a response. */
const forms = ['json', 'text', 'srt', 'verbose_json', 'vtt'] as const;

/** The body of POST /audio/transcriptions, in JSON or in a form. */
export const transcriptionRequestSchema = lazily(() =>
  z.strictObject({
    ...commonFields(),
    /** The language that is spoken, ISO 639-1. */
    language: textUpTo(64).nullish(),
    /** Languages that may be spoken. */
    languages: list(textUpTo(64)).optional(),
    /** Words that may be said, such as names. */
    keywords: list(textUpTo(256)).optional(),
    /** The form of the response. Default `json`. */
    response_format: z.enum([...forms, 'diarized_json']).nullish(),
    /** The parts that have times, in `verbose_json`. Default `segment`. */
    timestamp_granularities: list(z.enum(['word', 'segment'])).optional(),
    /** Further parts of the response. */
    include: list(z.enum(['logprobs'])).optional(),
    /** The way in which long sound is cut. */
    chunking_strategy: z.union([z.literal('auto'), z.looseObject({ type: z.string() })]).nullish(),
    /** Names of the speakers, for `diarized_json`. */
    known_speaker_names: list(textUpTo(256)).optional(),
    /** A data URL of the voice of each of them. */
    known_speaker_references: list(z.string()).optional(),
    /** true: the words come as events, as soon as the provider has them. */
    stream: z.boolean().nullish(),
  }),
);
export interface TranscriptionRequest extends z.infer<ReturnType<typeof transcriptionRequestSchema>> {}

/** The body of POST /audio/translations, in JSON or in a form. */
export const translationRequestSchema = lazily(() =>
  z.strictObject({
    ...commonFields(),
    /** The form of the response. Default `json`. */
    response_format: z.enum(forms).nullish(),
  }),
);
export interface TranslationRequest extends z.infer<ReturnType<typeof translationRequestSchema>> {}
