import type { ResponsesObject } from '../call/responses-origin.ts';
import { type MediaTokens, mediaTokens } from './media-tokens.ts';
import { type Effort, jsonBound } from './token-bound.ts';

/** What items of a Responses request come to at most. */
export interface ItemsBound {
  /** Of text. */
  tokens: number;
  media: readonly MediaTokens[];
  /** How many of the media are images. */
  images: number;
}

/** What an object of an item is in a chat request, and where its content is: that is no text. */
const mediaParts: ReadonlyMap<unknown, { readonly field: string; readonly content: string }> = new Map([
  ['input_image', { field: 'image_url', content: 'image_url' }],
  ['input_file', { field: 'file', content: 'file_data' }],
  ['input_audio', { field: 'input_audio', content: 'input_audio' }],
  ['input_video', { field: 'video_url', content: 'video_url' }],
  ['image_generation_call', { field: 'image_url', content: 'result' }],
]);

/** The marks around an item, and its type. */
const tokensPerItem = 16;

export function boundItems(items: readonly ResponsesObject[], effort: Effort): ItemsBound {
  const bound = { tokens: 0, media: [] as MediaTokens[], images: 0 };
  for (const item of items) bound.tokens += tokensPerItem + jsonBound(textOf(item, bound), effort);
  return bound;
}

/** A value without its media, which are counted. */
function textOf(value: unknown, bound: { media: MediaTokens[]; images: number }): unknown {
  if (Array.isArray(value)) return value.map((one) => textOf(one, bound));
  if (typeof value !== 'object' || value === null) return value;
  const fields = value as Readonly<Record<string, unknown>>;
  const part = mediaParts.get(fields.type);
  const isImage = part?.field === 'image_url';
  const media = part ? mediaTokens(part.field, isImage ? fields : fields[part.content]) : null;
  if (media !== null) bound.media.push(media);
  if (isImage) bound.images++;
  const left: [string, unknown][] = [];
  for (const key in fields) if (key !== part?.content) left.push([key, textOf(fields[key], bound)]);
  return Object.fromEntries(left);
}
