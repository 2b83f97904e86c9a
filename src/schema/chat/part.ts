import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { optionalText, text } from '../scalars.ts';

/** Marks the end of a prefix that the provider may keep in its prompt cache. */
export const cacheControlSchema = lazily(() =>
  z.looseObject({
    /** Always `ephemeral`. */
    type: z.literal('ephemeral'),
    /** The time for which it is cached. */
    ttl: z.enum(['5m', '1h']).optional(),
  }),
);
export interface CacheControl extends z.infer<ReturnType<typeof cacheControlSchema>> {}

export const textPartSchema = lazily(() =>
  z.looseObject({
    /** The kind of the part. */
    type: z.literal('text'),
    /** The text. */
    text: text(),
    /** Asks the provider to cache the prompt up to here. */
    cache_control: cacheControlSchema().optional(),
  }),
);
export interface TextPart extends z.infer<ReturnType<typeof textPartSchema>> {}

export const imagePartSchema = lazily(() =>
  z.looseObject({
    /** The kind of the part. */
    type: z.literal('image_url'),
    /** The image. */
    image_url: z.looseObject({
      /** http(s) or data URL. */
      url: text(),
      /** The detail in which the model sees the image. */
      detail: z.enum(['auto', 'low', 'high', 'original']).optional(),
    }),
  }),
);
export interface ImagePart extends z.infer<ReturnType<typeof imagePartSchema>> {}

export const audioPartSchema = lazily(() =>
  z.looseObject({
    /** The kind of the part. */
    type: z.literal('input_audio'),
    /** `data` is base64, never a URL; the accepted values of `format` depend on the model. */
    input_audio: z.looseObject({ data: text(), format: text() }),
  }),
);
export interface AudioPart extends z.infer<ReturnType<typeof audioPartSchema>> {}

const videoInput = lazily(() => z.looseObject({ url: text() }));

export const videoPartSchema = lazily(() => z.looseObject({ type: z.literal('video_url'), video_url: videoInput() }));
export interface VideoPart extends z.infer<ReturnType<typeof videoPartSchema>> {}

/** Deprecated form of `video_url`, with the same inner object. */
export const legacyVideoPartSchema = lazily(() =>
  z.looseObject({ type: z.literal('input_video'), video_url: videoInput() }),
);
export interface LegacyVideoPart extends z.infer<ReturnType<typeof legacyVideoPartSchema>> {}

export const filePartSchema = lazily(() =>
  z.looseObject({
    /** The kind of the part. */
    type: z.literal('file'),
    /** `file_data` is a data URL or a URL. */
    file: z.looseObject({
      /** The file: a data URL or a URL. */
      file_data: optionalText(),
      /** Name of the file. */
      filename: optionalText(),
      /** Id of a file that the provider already has. */
      file_id: optionalText(),
    }),
  }),
);
export interface FilePart extends z.infer<ReturnType<typeof filePartSchema>> {}

/** The parts that user, assistant and tool messages may hold besides plain text. */
export const contentPartSchema = lazily(() =>
  z.discriminatedUnion('type', [
    textPartSchema(),
    imagePartSchema(),
    audioPartSchema(),
    videoPartSchema(),
    legacyVideoPartSchema(),
    filePartSchema(),
  ]),
);
export type ContentPart = TextPart | ImagePart | AudioPart | VideoPart | LegacyVideoPart | FilePart;
