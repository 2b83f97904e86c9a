import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { list } from '../bounded.ts';
import { count } from '../scalars.ts';
import { taskCostFields } from '../task-usage.ts';

/** Tokens of images and of text. */
const details = lazily(() =>
  z.looseObject({
    /** Tokens of images. */
    image_tokens: count(),
    /** Tokens of text. */
    text_tokens: count(),
  }),
);

/** The use of a request for images, in OpenAI's words. */
const openaiUsage = lazily(() =>
  z.looseObject({
    /** Tokens of the prompt and of its pictures. */
    input_tokens: count(),
    /** The kinds of the input. */
    input_tokens_details: details(),
    /** Tokens of the images; 0 where they are not sold by tokens. */
    output_tokens: count(),
    /** The kinds of the output. */
    output_tokens_details: details().optional(),
    /** Tokens of input and output. */
    total_tokens: count(),
    ...taskCostFields(),
  }),
);
export interface ImagesUsage extends z.infer<ReturnType<typeof openaiUsage>> {}

/** The fields of every response. */
const headFields = lazily(() => ({
  /** `gen-…`, as in the record. */
  id: z.string(),
  /** The slug of the model that served. */
  model: z.string(),
  /** The provider that served. */
  provider: z.string(),
}));

/** The response of POST /images/generations and POST /images/edits. */
export const openaiImagesResultSchema = lazily(() =>
  z.looseObject({
    /** Unix seconds. */
    created: z.int(),
    /** The background, as the provider names it. */
    background: z.string().optional(),
    /** The file format. */
    output_format: z.string().optional(),
    /** The quality. */
    quality: z.string().optional(),
    /** Width and height. */
    size: z.string().optional(),
    /** The images. */
    data: list(
      z.looseObject({
        /** The image as base64. */
        b64_json: z.string().optional(),
        /** The address of the image at the provider. It expires. */
        url: z.string().optional(),
        /** The description that the model made of the prompt. */
        revised_prompt: z.string().optional(),
      }),
    ),
    /** The use of all images. */
    usage: openaiUsage(),
    ...headFields(),
  }),
);
export interface OpenaiImagesResult extends z.infer<ReturnType<typeof openaiImagesResultSchema>> {}

/** The fields of every event of OpenAI. */
const eventFields = lazily(() => ({
  /** The image as base64. */
  b64_json: z.string(),
  /** Unix seconds. */
  created_at: z.int(),
  /** Width and height, or `auto`. */
  size: z.string(),
  /** The quality, or `auto`. */
  quality: z.string(),
  /** The background, or `auto`. */
  background: z.string(),
  /** The file format. */
  output_format: z.string(),
}));

/** The end of a stream that has failed. */
const failure = lazily(() =>
  z.looseObject({
    /** The kind of the event. */
    type: z.literal('error'),
    /** The reason. */
    error: z.looseObject({
      /** The reason in words. */
      message: z.string(),
    }),
  }),
);

/** An event of a stream of images. */
export const openaiImagesEventSchema = lazily(() =>
  z.discriminatedUnion('type', [
    z.looseObject({
      /** The kind of the event. */
      type: z.enum(['image_generation.partial_image', 'image_edit.partial_image']),
      ...eventFields(),
      /** The place of the intermediate image, from 0. */
      partial_image_index: z.int().min(0),
    }),
    z.looseObject({
      /** The kind of the event. */
      type: z.enum(['image_generation.completed', 'image_edit.completed']),
      ...eventFields(),
      /** The use of all images, in the last of them. */
      usage: openaiUsage(),
    }),
    failure(),
  ]),
);
export type OpenaiImagesEvent = z.infer<ReturnType<typeof openaiImagesEventSchema>>;

/** The use of a request for images, in the words of a chat completion. */
const usage = lazily(() =>
  z.looseObject({
    /** Tokens of the prompt and of its pictures. */
    prompt_tokens: count(),
    /** Tokens of the images; 0 where they are not sold by tokens. */
    completion_tokens: count(),
    /** Tokens of both. */
    total_tokens: count(),
    ...taskCostFields(),
  }),
);

/** The response of POST /images. */
export const imagesResultSchema = lazily(() =>
  z.looseObject({
    /** Unix seconds. */
    created: z.int(),
    /** The images. */
    data: list(
      z.looseObject({
        /** The image as base64. */
        b64_json: z.string(),
        /** The media type, such as `image/png`. */
        media_type: z.string().optional(),
      }),
    ),
    /** The use of all images. */
    usage: usage(),
    ...headFields(),
  }),
);
export interface ImagesResult extends z.infer<ReturnType<typeof imagesResultSchema>> {}

/** An event of a stream of POST /images. */
export const imagesEventSchema = lazily(() =>
  z.discriminatedUnion('type', [
    z.looseObject({
      /** The kind of the event. */
      type: z.literal('image_generation.partial_image'),
      /** The image as base64. */
      b64_json: z.string(),
      /** The place of the intermediate image, from 0. */
      partial_image_index: z.int().min(0),
    }),
    z.looseObject({
      /** The kind of the event. */
      type: z.literal('image_generation.completed'),
      /** The image as base64. */
      b64_json: z.string(),
      /** The media type, such as `image/png`. */
      media_type: z.string().optional(),
      /** Unix seconds. */
      created: z.int(),
      /** The use of all images, in the last of them. */
      usage: usage(),
    }),
    failure(),
  ]),
);
export type ImagesEvent = z.infer<ReturnType<typeof imagesEventSchema>>;
