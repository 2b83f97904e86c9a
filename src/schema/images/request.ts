import * as z from 'zod';
import { isUploadedFile, type UploadedFile } from '../../base/http/uploaded-file.ts';
import { lazily } from '../../base/lazily.ts';
import { list, textUpTo } from '../bounded.ts';
import { expectation } from '../chat/expectations.ts';
import { taskFields } from '../task-fields.ts';

const longestPrompt = 32_000;
const mostReferences = 16;

const prompt = lazily(() =>
  textUpTo(longestPrompt).refine((text) => text !== '', expectation('expected a text that is not empty')),
);

const size = lazily(() =>
  z.string().regex(/^(?:auto|[1-9]\d{1,4}x[1-9]\d{1,4})$/, expectation('expected auto, or a size such as 1024x1024')),
);

const count = lazily(() => z.int().min(1).max(10));

/** The fields that generations, edits and the public service's shape have together. */
const sharedFields = lazily(() => ({
  /** The description of the images, up to 32,000 characters. */
  prompt: prompt(),
  ...taskFields(),
  /** The most images that are made, 1 to 10. Default 1. */
  n: count().nullish(),
  /** `auto`, or width and height in pixels, such as `1024x1024`. */
  size: size().nullish(),
  /** The quality. */
  quality: z.enum(['low', 'medium', 'high', 'xhigh', 'max', 'auto', 'standard', 'hd']).nullish(),
  /** The background. */
  background: z.enum(['transparent', 'opaque', 'auto']).nullish(),
  /** The file format. */
  output_format: z.enum(['png', 'webp', 'jpeg', 'gif', 'svg']).nullish(),
  /** The compression of webp and jpeg, 0 to 100. */
  output_compression: z.int().min(0).max(100).nullish(),
  /** true: the response is a stream of events. */
  stream: z.boolean().nullish(),
}));

/** The fields of OpenAI's interface that generations and edits have. */
const openaiFields = lazily(() => ({
  ...sharedFields(),
  /** Intermediate images of a stream, 0 to 3. Each costs further tokens. */
  partial_images: z.int().min(0).max(3).nullish(),
  /** Addresses, or base64. Models that give base64 alone give base64. */
  response_format: z.enum(['url', 'b64_json']).nullish(),
  /** A stable name of the client's user, for the provider. It replaces `user`. */
  safety_identifier: textUpTo(128).nullish(),
  /** The frames of a moving image. */
  frame_count: z.int().min(2).max(16).nullish(),
  /** The time of each frame, in milliseconds. */
  frame_duration_ms: z.int().min(0).max(655_350).nullish(),
  /** The model that writes an image as SVG. */
  svg: z.looseObject({}).nullish(),
  /** The effort of planning an image. */
  complexity: z.enum(['low', 'medium', 'high']).nullish(),
  /** The strictness of the provider's own moderation. */
  moderation: z.enum(['low', 'auto']).nullish(),
}));

/** The body of POST /images/generations. */
export const imageGenerationsRequestSchema = lazily(() =>
  z.strictObject({
    ...openaiFields(),
    /** The style, for models that know styles. */
    style: z.enum(['vivid', 'natural']).nullish(),
    /** A number that makes results repeatable, for models that take one. */
    seed: z.int().nullish(),
    /** A description of what the images must not have, for models that take one. */
    negative_prompt: textUpTo(longestPrompt).nullish(),
  }),
);
export interface ImageGenerationsRequest extends z.infer<ReturnType<typeof imageGenerationsRequestSchema>> {}

/** A file of a form. */
const file = lazily(() =>
  z.custom<UploadedFile>(isUploadedFile, expectation('expected a file of a form')).meta({
    type: 'string',
    format: 'binary',
  }),
);

/** A picture in JSON. */
const reference = lazily(() =>
  z.strictObject({
    /** An address, or a data URL. */
    image_url: z.string().min(1),
  }),
);

/** The body of POST /images/edits: a form with files, or JSON with references. */
export const imageEditsRequestSchema = lazily(() =>
  z.strictObject({
    ...openaiFields(),
    /** The pictures of a form, 1 to 16 files. */
    image: z.union([file(), list(file()).min(1).max(mostReferences)]).nullish(),
    /** The pictures of a JSON body, 1 to 16. */
    images: list(reference()).min(1).max(mostReferences).nullish(),
    /** The part of the first picture that may change: where the mask is transparent. */
    mask: z.union([file(), reference()]).nullish(),
    /** The closeness to the pictures. */
    input_fidelity: z.enum(['high', 'low']).nullish(),
  }),
);
export interface ImageEditsRequest extends z.infer<ReturnType<typeof imageEditsRequestSchema>> {}

/** The body of POST /images. */
export const imagesRequestSchema = lazily(() =>
  z.strictObject({
    ...sharedFields(),
    /** The size without a ratio. */
    resolution: z.enum(['512', '1K', '2K', '4K']).nullish(),
    /** The ratio of the sides. */
    aspect_ratio: z
      .enum(['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9', '1:4', '4:1', '1:8', '8:1'])
      .nullish(),
    /** A size in pixels, or one of the words of `resolution`. */
    size: z
      .string()
      .regex(
        /^(?:auto|512|[124]K|[1-9]\d{1,4}x[1-9]\d{1,4})$/,
        expectation('expected auto, 512, 1K, 2K, 4K, or a size such as 1024x1024'),
      )
      .nullish(),
    /** A number that makes results repeatable, for models that take one. */
    seed: z.int().nullish(),
    /** Pictures to work from. */
    input_references: list(
      z.strictObject({
        /** The kind of the reference. */
        type: z.literal('image_url'),
        /** The picture. */
        image_url: z.strictObject({
          /** An address, or a data URL. */
          url: z.string().min(1),
        }),
      }),
    )
      .max(mostReferences)
      .nullish(),
  }),
);
export interface ImagesRequest extends z.infer<ReturnType<typeof imagesRequestSchema>> {}
