import { isIndex, isObject, type Loose } from '../../base/values.ts';
import { badResponse } from '../shared/values.ts';
import {
  type DecodedImages,
  type EncodedTask,
  type ImagesBatch,
  type ImagesCodec,
  jsonTask,
  type Lack,
  type MadeImage,
  type TaskUsage,
} from './contract.ts';
import { modelPath } from './google.ts';
import { mediaIn, mediaUsage, withoutMedia } from './google-media.ts';
import { base64Of, ratioOf } from './image-files.ts';

/** Models with an interface for images alone. Gemini makes images as a part of what it says. */
const isImagen = (model: string) => /imagen/i.test(model);

/** The most images of a request to Imagen. */
const mostOfImagen = 4;
/** The tokens of an image of Gemini: 1,290 of the usual size, and up to 2,520 of the largest. */
const usualTokens = 1_290;
/** The largest output of Gemini, thoughts included, where an endpoint does not say. */
const largestOutput = 32_768;

/**
 * Images of Google: those of Gemini by `generateContent`, one a request; those of Imagen by `predict`.
 * @see https://ai.google.dev/gemini-api/docs/image-generation
 * @see https://docs.cloud.google.com/vertex-ai/generative-ai/docs/model-reference/imagen-api
 */
export const googleImages: ImagesCodec = {
  mostImages: ({ upstreamModel }) => (isImagen(upstreamModel) ? mostOfImagen : 1),
  outputTokens: (_, mostCompletionTokens) => ({ most: mostCompletionTokens ?? largestOutput, typical: usualTokens }),
  lacks,
  encode: (batch) => (isImagen(batch.upstreamModel) ? predict(batch) : generateContent(batch)),
  decode(body, batch) {
    if (!isObject(body)) throw badResponse('The provider responded without images.');
    const decoded = isImagen(batch.upstreamModel) ? predictionsIn(body) : candidatesIn(body);
    return { ...decoded, images: decoded.images.slice(0, batch.n) };
  },
  decoder: () => null,
};

function lacks({ references, mask, size, aspectRatio, upstreamModel }: ImagesBatch): Lack | null {
  if (mask !== null) return { path: 'mask', expected: 'none: it takes no mask' };
  if (aspectRatio === null && size !== null && size !== 'auto' && ratioOf(size) === null)
    return { path: 'size', expected: 'a size of a usual ratio, such as 16:9: it takes ratios' };
  if (references.length > 0 && isImagen(upstreamModel))
    return { path: 'image', expected: 'none: it makes images of the text alone' };
  const at = references.findIndex((source) => base64Of(source) === null);
  return at < 0 ? null : { path: `images[${at}]`, expected: 'a file, or a data URL' };
}

function predict(batch: ImagesBatch): EncodedTask {
  const ratio = ratioFor(batch);
  const { prompt, n, resolution, upstreamModel } = batch;
  const payload = {
    instances: [{ prompt }],
    parameters: {
      sampleCount: n,
      ...(ratio === null ? {} : { aspectRatio: ratio }),
      ...(resolution === '1K' || resolution === '2K' ? { sampleImageSize: resolution } : {}),
    },
  };
  const kept = resolution === '1K' || resolution === '2K' ? ['resolution'] : [];
  return jsonTask(`${modelPath(upstreamModel)}:predict`, payload, droppedOf(batch, kept));
}

function generateContent(batch: ImagesBatch): EncodedTask {
  const ratio = ratioFor(batch);
  const { prompt, references, resolution, further, upstreamModel } = batch;
  const imageConfig = {
    ...(ratio === null ? {} : { aspectRatio: ratio }),
    ...(resolution === null ? {} : { imageSize: resolution }),
  };
  const parts: Loose[] = references.map((source) => {
    const { mediaType, base64 } = base64Of(source) as { mediaType: string; base64: string };
    return { inlineData: { mimeType: mediaType, data: base64 } };
  });
  const payload = {
    contents: [{ role: 'user', parts: [...parts, { text: prompt }] }],
    generationConfig: {
      responseModalities: ['IMAGE'],
      ...(typeof further.seed === 'number' ? { seed: further.seed } : {}),
      ...(Object.keys(imageConfig).length > 0 ? { imageConfig } : {}),
    },
  };
  return jsonTask(`${modelPath(upstreamModel)}:generateContent`, payload, droppedOf(batch, ['resolution', 'seed']));
}

function ratioFor({ aspectRatio, size }: ImagesBatch): string | null {
  return aspectRatio ?? ratioOf(size);
}

/** Returns the fields without an effect. Of a size, the ratio alone has one. @param kept  fields that have one */
function droppedOf(batch: ImagesBatch, kept: readonly string[]): readonly string[] {
  const given: Readonly<Record<string, unknown>> = {
    size: batch.size === 'auto' ? null : batch.size,
    resolution: batch.resolution,
    quality: batch.quality,
    output_format: batch.outputFormat,
    response_format: batch.wantsUrl === true ? true : null,
    partial_images: batch.partialImages === 0 ? null : batch.partialImages,
    user: batch.user,
    ...batch.further,
  };
  return Object.keys(given).filter((name) => (given[name] ?? null) !== null && !kept.includes(name));
}

function predictionsIn({ predictions }: Loose): DecodedImages {
  const list = Array.isArray(predictions) ? predictions : [];
  const images = list.flatMap((one): MadeImage[] =>
    isObject(one) && typeof one.bytesBase64Encoded === 'string' ? [imageOf(one.bytesBase64Encoded, one.mimeType)] : [],
  );
  const reason = list.map((one) => (isObject(one) ? one.raiFilteredReason : null)).find(Boolean);
  if (images.length === 0) throw withoutMedia('images', reason);
  return { images, facts: {}, usage: { promptTokens: null, units: { image: images.length } } };
}

function candidatesIn(body: Loose): DecodedImages {
  const { files, reason } = mediaIn(body);
  if (files.length === 0) throw withoutMedia('images', reason);
  const images = files.map(({ base64, mimeType }) => imageOf(base64, mimeType));
  return { images, facts: {}, usage: { ...usageIn(body.usageMetadata), units: { image: images.length } } };
}

function imageOf(base64: string, mediaType: unknown): MadeImage {
  const known = typeof mediaType === 'string' ? mediaType : 'image/png';
  return { base64, url: null, mediaType: known, revisedPrompt: null };
}

function usageIn(metadata: unknown): TaskUsage {
  const counted = mediaUsage(metadata);
  if (counted === null || !isObject(metadata)) return { promptTokens: null };
  const { candidatesTokenCount: made, promptTokensDetails, candidatesTokensDetails } = metadata;
  const imageTokens = ofImages(promptTokensDetails);
  return {
    ...counted,
    ...(imageTokens === undefined ? {} : { imageTokens }),
    ...(isIndex(made) ? { imageOutputTokens: ofImages(candidatesTokensDetails) ?? made } : {}),
  };
}

/** Returns the tokens of images among details; undefined: there are no details. */
function ofImages(details: unknown): number | undefined {
  if (!Array.isArray(details)) return undefined;
  const found = details.find((one) => isObject(one) && one.modality === 'IMAGE');
  return isObject(found) && isIndex(found.tokenCount) ? found.tokenCount : 0;
}
