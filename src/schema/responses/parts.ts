import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { list } from '../bounded.ts';
import { cacheControlSchema } from '../chat/part.ts';
import { chosen } from '../chosen.ts';
import { text, textOrNull } from '../scalars.ts';

export const inputTextSchema = lazily(() =>
  z.looseObject({
    /** The kind of the part. */
    type: z.literal('input_text'),
    /** The text. */
    text: text(),
    /** Asks the provider to cache the prompt up to here. */
    cache_control: cacheControlSchema().nullish(),
  }),
);
export interface InputText extends z.infer<ReturnType<typeof inputTextSchema>> {}

const inputImageSchema = lazily(() =>
  z.looseObject({
    /** The kind of the part. */
    type: z.literal('input_image'),
    /** http(s) or data URL. */
    image_url: text(),
    /** The detail in which the model sees the image. */
    detail: z.enum(['auto', 'low', 'high', 'original']).nullish(),
  }),
);
export interface InputImage extends z.infer<ReturnType<typeof inputImageSchema>> {}

const inputFileSchema = lazily(() =>
  z.looseObject({
    /** The kind of the part. */
    type: z.literal('input_file'),
    /** The file: a data URL. */
    file_data: textOrNull(),
    /** URL of the file. */
    file_url: textOrNull(),
    /** Id of a file that the provider already has. */
    file_id: textOrNull(),
    /** Name of the file. */
    filename: textOrNull(),
  }),
);
export interface InputFile extends z.infer<ReturnType<typeof inputFileSchema>> {}

const inputAudioSchema = lazily(() =>
  z.looseObject({
    /** The kind of the part. */
    type: z.literal('input_audio'),
    /** `data` is base64. */
    input_audio: z.looseObject({ data: text(), format: text() }),
  }),
);
export interface InputAudio extends z.infer<ReturnType<typeof inputAudioSchema>> {}

const inputVideoSchema = lazily(() => z.looseObject({ type: z.literal('input_video'), video_url: text() }));
export interface InputVideo extends z.infer<ReturnType<typeof inputVideoSchema>> {}

const outputTextSchema = lazily(() =>
  z.looseObject({
    /** The kind of the part. */
    type: z.literal('output_text'),
    /** The text. */
    text: text(),
    /** The citations of the text. */
    annotations: z.array(z.unknown()).nullish(),
  }),
);
export interface OutputText extends z.infer<ReturnType<typeof outputTextSchema>> {}

const refusalSchema = lazily(() => z.looseObject({ type: z.literal('refusal'), refusal: text() }));
export interface RefusalPart extends z.infer<ReturnType<typeof refusalSchema>> {}

export type InputPart = InputText | InputImage | InputFile | InputAudio | InputVideo;
export type OutputPart = OutputText | RefusalPart | InputText;

/** One schema for each `type`. */
function byType<T extends z.ZodType>(schemas: Readonly<Record<string, T>>): z.ZodType<z.output<T>, z.input<T>> {
  const types = Object.keys(schemas);
  const named = new Map(Object.entries(schemas));
  return chosen(Object.values(schemas), ({ type }) => named.get(type as string) ?? null, types) as never;
}

function textOrParts<T extends z.ZodType>(part: T) {
  return z.union([text(), list(part)]);
}

/** The content of a message to the model, and of a tool's result. */
export const inputContentSchema = lazily(() =>
  textOrParts(
    byType<z.ZodType<InputPart, InputPart>>({
      input_text: inputTextSchema(),
      input_image: inputImageSchema(),
      input_file: inputFileSchema(),
      input_audio: inputAudioSchema(),
      input_video: inputVideoSchema(),
    }),
  ),
);

/** Instructions: text alone, as in a chat request. */
export const instructionContentSchema = lazily(() =>
  textOrParts(byType<z.ZodType<InputText, InputText>>({ input_text: inputTextSchema() })),
);

/** The text of the model. Some clients write it as `input_text`. */
export const outputContentSchema = lazily(() =>
  textOrParts(
    byType<z.ZodType<OutputPart, OutputPart>>({
      output_text: outputTextSchema(),
      refusal: refusalSchema(),
      input_text: inputTextSchema(),
    }),
  ),
);
