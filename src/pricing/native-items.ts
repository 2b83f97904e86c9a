import type { NativeObject } from '../call/native.ts';
import { type MediaTokens, mediaTokens } from './media-tokens.ts';
import { type Effort, jsonBound } from './token-bound.ts';

/** The upper bound of a Responses request's items. */
export interface ItemsBound {
  /** The tokens of text. */
  tokens: number;
  media: readonly MediaTokens[];
  /** The number of images among the media. */
  images: number;
}

/** By type of an item's object: its field in a chat request, and the member with its content, which is no text. */
const mediaParts: ReadonlyMap<unknown, { readonly field: string; readonly content: string }> = new Map([
  ['input_image', { field: 'image_url', content: 'image_url' }],
  ['input_file', { field: 'file', content: 'file_data' }],
  ['input_audio', { field: 'input_audio', content: 'input_audio' }],
  ['input_video', { field: 'video_url', content: 'video_url' }],
  ['image_generation_call', { field: 'image_url', content: 'result' }],
]);

/** The tokens of the marks around an item, and of its type. */
const tokensPerItem = 16;

export function boundItems(items: readonly NativeObject[], effort: Effort): ItemsBound {
  const bound = { tokens: 0, media: [] as MediaTokens[], images: 0 };
  for (const item of items) bound.tokens += tokensPerItem + jsonBound(textOf(item, bound), effort);
  return bound;
}

/** A value without its media, which are added to the bound; the value itself if it has none. */
function textOf(value: unknown, bound: { media: MediaTokens[]; images: number }): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return listOfTexts(value, bound);
  const fields = value as Readonly<Record<string, unknown>>;
  const part = mediaParts.get(fields.type);
  const isImage = part?.field === 'image_url';
  const media = part ? mediaTokens(part.field, isImage ? fields : fields[part.content]) : null;
  if (media !== null) bound.media.push(media);
  if (isImage) bound.images++;
  let changed: Map<string, unknown> | null = null;
  for (const key in fields) {
    const text = key === part?.content ? undefined : textOf(fields[key], bound);
    if (text === fields[key]) continue;
    changed ??= new Map(Object.entries(fields));
    if (text === undefined) changed.delete(key);
    else changed.set(key, text);
  }
  return changed === null ? fields : Object.fromEntries(changed);
}

function listOfTexts(list: readonly unknown[], bound: { media: MediaTokens[]; images: number }): readonly unknown[] {
  let changed: unknown[] | null = null;
  for (let at = 0; at < list.length; at++) {
    const text = textOf(list[at], bound);
    if (text === list[at]) continue;
    changed ??= [...list];
    changed[at] = text;
  }
  return changed ?? list;
}
