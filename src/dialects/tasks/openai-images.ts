import * as z from 'zod';
import { serverSentEvents } from '../../base/framing/sse.ts';
import type { FormPart } from '../../base/http/form-parts.ts';
import { lazily } from '../../base/lazily.ts';
import { isIndex, isObject, type Loose } from '../../base/values.ts';
import { errorIn } from '../openai-chat/errors.ts';
import { badResponse } from '../shared/values.ts';
import {
  type DecodedImages,
  formTask,
  type ImageFacts,
  type ImagePiece,
  type ImageSource,
  type ImagesBatch,
  type ImagesCodec,
  jsonTask,
  type Lack,
  type MadeImage,
  type TaskDecoder,
  type TaskPart,
  type TaskUsage,
} from './contract.ts';
import { eventIn } from './events.ts';
import { addressOf, fileOf, pixelsFor, sidesOf } from './image-files.ts';
import { type OpenAiTaskQuirks, pathOf } from './openai.ts';

/** The differences of a server that makes images like OpenAI. */
export const imagesQuirks = lazily(() =>
  z.strictObject({
    /**
     * true: the provider streams images.
     * @default false
     */
    streams: z.boolean().optional(),
    /**
     * The provider's word for base64 in `response_format`; null: it takes no such field, and always gives base64.
     * @default `b64_json`
     */
    base64Word: z.string().min(1).nullable().optional(),
    /**
     * `size`: the size is one field. `sides`: it is `width` and `height`.
     * @default `size`
     */
    sizeFields: z.enum(['size', 'sides']).optional(),
    /**
     * `form`: pictures to work from are sent to `/images/edits` as files. `references`: they are in `reference_images` of
     * a generation, as addresses. `none`: the provider takes none.
     * @default `form`
     */
    edits: z.enum(['form', 'references', 'none']).optional(),
    /**
     * The most images of a request; a request for more is sent several times.
     * @default 10
     */
    images: z.int().min(1).optional(),
    /**
     * Fields of the request, beside the prompt, the number and the size, that the provider takes; others are dropped.
     * @default all of them
     */
    fields: z.array(z.string()).optional(),
  }),
);

interface Quirks extends OpenAiTaskQuirks {
  images?: z.infer<ReturnType<typeof imagesQuirks>> | undefined;
}

/**
 * Images as OpenAI defined them, at `/images/generations` and `/images/edits`.
 * @see https://platform.openai.com/docs/api-reference/images
 */
export const openaiImages: ImagesCodec<Quirks> = {
  mostImages: ({ quirks: { images: quirks = {} } }) => quirks.images ?? 10,
  outputTokens,
  lacks,
  encode(batch) {
    const { quirks, upstreamModel } = batch;
    const { edits = 'form' } = quirks.images ?? {};
    const { fields, dropped } = fieldsOf(batch);
    const hasFiles = batch.references.length > 0 && edits === 'form';
    const path = pathOf(upstreamModel, quirks, hasFiles ? 'images/edits' : 'images/generations');
    if (!hasFiles) {
      const references = batch.references.map(addressOf);
      const payload = references.length === 0 ? fields : { ...fields, reference_images: references };
      return jsonTask(path, payload, dropped);
    }
    const form = formOf(fields, batch);
    if (form !== null) return formTask(path, form, fields, dropped);
    // A picture that is elsewhere cannot be a file of a form.
    const images = batch.references.map((source) => ({ image_url: addressOf(source) }));
    const mask = batch.mask === null ? {} : { mask: { image_url: addressOf(batch.mask) } };
    return jsonTask(path, { ...fields, images, ...mask }, dropped);
  },
  decode,
  decoder: (batch) => (batch.quirks.images?.streams === true && batch.partialImages !== null ? decoder(batch) : null),
};

function lacks({ references, mask, quirks: { images: quirks = {} } }: ImagesBatch<Quirks>): Lack | null {
  const { edits = 'form' } = quirks;
  if (references.length > 0 && edits === 'none')
    return { path: 'image', expected: 'none: it makes images of the text alone' };
  if (mask !== null && edits !== 'form') return { path: 'mask', expected: 'none: it takes no mask' };
  return null;
}

/** The fields of a request without its pictures. */
function fieldsOf(batch: ImagesBatch<Quirks>): { fields: Loose; dropped: readonly string[] } {
  const { prompt, n, quality, outputFormat, wantsUrl, partialImages, user, further, upstreamModel, quirks } = batch;
  const { streams = false, base64Word = 'b64_json', fields: taken } = quirks.images ?? {};
  const dropped: string[] = [];
  const fields: Loose = { model: upstreamModel, prompt, ...(n === 1 ? {} : { n }), ...sizeOf(batch) };
  const add = (name: string, value: unknown) => {
    if (value === null || value === undefined) return;
    if (taken === undefined || taken.includes(name)) fields[name] = value;
    else dropped.push(name);
  };
  add('quality', quality);
  add('output_format', outputFormat);
  for (const [name, value] of Object.entries(further)) add(name, value);
  add('user', user);
  if (wantsUrl !== null) {
    if (base64Word !== null) fields.response_format = wantsUrl ? 'url' : base64Word;
    // Base64 is what such a provider gives anyway.
    else if (wantsUrl) dropped.push('response_format');
  }
  if (partialImages !== null) {
    if (streams) Object.assign(fields, { stream: true }, partialImages > 0 ? { partial_images: partialImages } : {});
    else if (partialImages > 0) dropped.push('partial_images');
  }
  return { fields, dropped };
}

function sizeOf({ size, resolution, aspectRatio, quirks: { images: quirks = {} } }: ImagesBatch<Quirks>): Loose {
  const pixels = pixelsFor(size, resolution, aspectRatio);
  if (pixels === null) return size === null || quirks.sizeFields === 'sides' ? {} : { size };
  if (quirks.sizeFields === 'sides') return { ...pixels };
  return { size: `${pixels.width}x${pixels.height}` };
}

/** @returns null: a picture is elsewhere */
function formOf(fields: Loose, { references, mask }: ImagesBatch<Quirks>): FormPart[] | null {
  const parts = Object.entries(fields).map(([name, value]): FormPart => {
    return [name, typeof value === 'object' ? JSON.stringify(value) : String(value)];
  });
  const name = references.length === 1 ? 'image' : 'image[]';
  const pictures = references.map((source): [string, ImageSource] => [name, source]);
  if (mask !== null) pictures.push(['mask', mask]);
  for (const [field, source] of pictures) {
    const file = fileOf(source);
    if (file === null) return null;
    parts.push([field, file]);
  }
  return parts;
}

/** The tokens of a pixel by quality: those of an image of 1024 by 1536 pixels. The two highest are an assumption. */
const tokensPerPixel: Readonly<Record<string, number>> = {
  low: 408 / (1024 * 1536),
  medium: 1584 / (1024 * 1536),
  high: 6240 / (1024 * 1536),
  xhigh: (2 * 6240) / (1024 * 1536),
  max: (4 * 6240) / (1024 * 1536),
};
/** Models that make no larger image than 1024 by 1536 pixels, of no higher quality than `high`. */
const smaller = /gpt-image-1|chatgpt-image|dall-e/;
/** Models whose tokens are counted as in the table. */
const ofOpenAi = /gpt-image/;
const tokensOfPartial = 100;

/** Small images have more tokens for each pixel. */
const leastTokens = 300;

function outputTokens({ size, resolution, aspectRatio, quality, partialImages, upstreamModel }: ImagesBatch<Quirks>) {
  const isSmaller = smaller.test(upstreamModel);
  // Of other makers' models nobody knows how their qualities count.
  const counted = ofOpenAi.test(upstreamModel) ? quality : null;
  const pixels = pixelsFor(sidesOf(size) === null ? null : size, resolution, aspectRatio);
  const area = pixels === null ? null : pixels.width * pixels.height;
  const most = tokensOf(area ?? (isSmaller ? 1024 * 1536 : 3840 * 2160), counted, isSmaller ? 'high' : 'max');
  const typical = tokensOf(area ?? 1024 * 1024, quality, 'medium');
  const ofPartials = tokensOfPartial * (partialImages ?? 0);
  return { most: most + ofPartials, typical: typical + ofPartials };
}

function tokensOf(area: number, quality: string | null, otherwise: string): number {
  const perPixel = tokensPerPixel[quality ?? otherwise] ?? (tokensPerPixel[otherwise] as number);
  return Math.ceil(area * perPixel) + leastTokens;
}

function decode(body: unknown, batch: ImagesBatch<Quirks>): DecodedImages {
  const reported = isObject(body) ? errorIn(body) : null;
  if (reported !== null) throw reported;
  if (!isObject(body) || !Array.isArray(body.data) || body.data.length === 0)
    throw badResponse('The provider responded without images.');
  const facts = factsOf(body);
  // More than was asked for is nothing that anybody has paid for.
  const images = body.data.slice(0, batch.n).map((one) => imageOf(one, facts, batch));
  return { images, facts, usage: withForm(usageOf(body.usage), facts, images.length) };
}

function imageOf(
  one: unknown,
  { output_format: format }: ImageFacts,
  { outputFormat }: ImagesBatch<Quirks>,
): MadeImage {
  const { b64_json: base64, url, revised_prompt: revised } = isObject(one) ? one : {};
  const isText = typeof base64 === 'string' && base64 !== '';
  if (!isText && typeof url !== 'string') throw badResponse('The provider responded with an image that is none.');
  const known = format ?? outputFormat;
  return {
    base64: isText ? base64 : null,
    url: typeof url === 'string' ? url : null,
    mediaType: known === null ? null : mediaTypeOf(known),
    revisedPrompt: typeof revised === 'string' ? revised : null,
  };
}

/** Returns the media type of a file format. */
export function mediaTypeOf(format: string): string {
  return format === 'svg' ? 'image/svg+xml' : `image/${format}`;
}

const factNames = ['size', 'quality', 'background', 'output_format'] as const;

function factsOf(body: Loose): ImageFacts {
  const facts: Partial<Record<(typeof factNames)[number], string>> = {};
  for (const name of factNames) {
    const value = body[name];
    if (typeof value === 'string' && value.length <= 64) facts[name] = value;
  }
  return facts;
}

/** Reads the usage of images, in the words of OpenAI. @returns null: there is none */
export function usageOf(usage: unknown): TaskUsage | null {
  if (!isObject(usage)) return null;
  const { input_tokens: input, output_tokens: output } = usage;
  const details = isObject(usage.input_tokens_details) ? usage.input_tokens_details : {};
  const ofOutput = isObject(usage.output_tokens_details) ? usage.output_tokens_details : {};
  return {
    promptTokens: isIndex(input) ? input : null,
    ...(isIndex(details.image_tokens) ? { imageTokens: details.image_tokens } : {}),
    ...(isIndex(output) ? { completionTokens: output } : {}),
    ...(isIndex(ofOutput.image_tokens) ? { imageOutputTokens: ofOutput.image_tokens } : {}),
  };
}

/** Adds what is sold by the image: their number, and their form. */
function withForm(usage: TaskUsage | null, { size, quality }: ImageFacts, images: number): TaskUsage {
  return {
    ...(usage ?? { promptTokens: null }),
    units: { image: images },
    ...(size === undefined && quality === undefined
      ? {}
      : { imageForm: { size: size ?? null, quality: quality ?? null } }),
  };
}

function decoder(batch: ImagesBatch<Quirks>): TaskDecoder {
  let images = 0;
  let usage: TaskUsage | null = null;
  return {
    framing: serverSentEvents,
    isSlow: true,
    decode(data) {
      if (data.trim() === '[DONE]') return [];
      const { event, error } = eventIn(data);
      if (error !== null) return [{ kind: 'error', error }];
      const type = String(event.type);
      const isPartial = /^image_(?:generation|edit)\.partial_image$/.test(type);
      if (!isPartial && !/^image_(?:generation|edit)\.completed$/.test(type)) return [];
      const facts = factsOf(event);
      const image = imageOf(event, facts, batch);
      const index = isIndex(event.partial_image_index) ? event.partial_image_index : 0;
      const piece: ImagePiece = { kind: isPartial ? 'partial' : 'image', image, index: isPartial ? index : 0, facts };
      if (isPartial) return [{ kind: 'piece', piece }];
      images++;
      usage = added(usage, usageOf(event.usage));
      const parts: TaskPart[] = [
        { kind: 'piece', piece },
        { kind: 'usage', usage: withForm(usage, facts, images) },
      ];
      return images === batch.n ? [...parts, { kind: 'done' }] : parts;
    },
    // The number that was asked for is the most that comes.
    end: () => (images > 0 ? [{ kind: 'done' }] : []),
  };
}

const counted = ['promptTokens', 'imageTokens', 'completionTokens', 'imageOutputTokens'] as const;

/** Adds up the reports of several images of a stream. */
function added(sum: TaskUsage | null, next: TaskUsage | null): TaskUsage | null {
  if (sum === null || next === null) return sum ?? next;
  const both: TaskUsage = { ...sum };
  for (const name of counted) {
    const more = next[name] ?? null;
    if (more !== null) both[name] = (sum[name] ?? 0) + more;
  }
  return both;
}
