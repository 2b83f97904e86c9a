import { isObject } from '../base/values.ts';
import type { Native, NativeObject } from '../call/native.ts';
import { textOf } from '../schema/gemini/fields.ts';
import { type MediaTokens, mediaTokens } from './media-tokens.ts';
import { type Effort, jsonBound } from './token-bound.ts';

/** The upper bound of the items of a request in the caller's own format. */
export interface ItemsBound {
  /** The tokens of text. */
  tokens: number;
  media: readonly MediaTokens[];
  /** The number of images among the media. */
  images: number;
}

/** An object with a medium: its field in a chat request, and the member with its content, which is no text. */
interface MediaPart {
  readonly field: string;
  readonly content: string;
}

const mediaParts: ReadonlyMap<unknown, MediaPart> = new Map([
  ['input_image', { field: 'image_url', content: 'image_url' }],
  ['input_file', { field: 'file', content: 'file_data' }],
  ['input_audio', { field: 'input_audio', content: 'input_audio' }],
  ['input_video', { field: 'video_url', content: 'video_url' }],
  ['image_generation_call', { field: 'image_url', content: 'result' }],
]);

const messagesParts: ReadonlyMap<unknown, MediaPart> = new Map([
  ['image', { field: 'image_url', content: 'source' }],
  ['document', { field: 'file', content: 'source' }],
]);
/** The sources of a block of the Messages wire whose content is no text. */
const mediaSources: ReadonlySet<unknown> = new Set(['base64', 'url', 'file']);

/** The fields of a chat request for media of the Gemini wire, by the beginning of their types. Others are files. */
const geminiParts: readonly (readonly [RegExp, string])[] = [
  [/^image\//i, 'image_url'],
  [/^audio\//i, 'input_audio'],
  [/^video\//i, 'video_url'],
];

type PartOf = (fields: Readonly<Record<string, unknown>>) => MediaPart | undefined;

const partOfMessages: PartOf = ({ type, source }) =>
  isObject(source) && mediaSources.has(source.type) ? messagesParts.get(type) : undefined;

const partOfGemini: PartOf = (fields) => {
  for (const content of ['inlineData', 'inline_data', 'fileData', 'file_data']) {
    const medium = fields[content];
    if (!isObject(medium)) continue;
    const type = textOf(medium, 'mimeType') ?? '';
    const field = geminiParts.find(([beginning]) => beginning.test(type))?.[1] ?? 'file';
    return { field, content };
  }
  return undefined;
};

const partsOf: Readonly<Record<Native['format'], PartOf>> = {
  responses: ({ type }) => mediaParts.get(type),
  messages: partOfMessages,
  gemini: partOfGemini,
};

/** The tokens of the marks around an item, and of its type. */
const tokensPerItem = 16;

export function boundItems(items: readonly NativeObject[], format: Native['format'], effort: Effort): ItemsBound {
  const bound: Bound = { tokens: 0, media: [], images: 0, partOf: partsOf[format] };
  for (const item of items) bound.tokens += tokensPerItem + jsonBound(withoutMedia(item, bound), effort);
  return bound;
}

/** The bound while it is counted. */
interface Bound {
  tokens: number;
  media: MediaTokens[];
  images: number;
  partOf: PartOf;
}

/** A value without its media, which are added to the bound; the value itself if it has none. */
function withoutMedia(value: unknown, bound: Bound): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return listOfTexts(value, bound);
  const fields = value as Readonly<Record<string, unknown>>;
  const part = bound.partOf(fields);
  const isImage = part?.field === 'image_url';
  const media = part ? mediaTokens(part.field, isImage ? fields : fields[part.content]) : null;
  if (media !== null) bound.media.push(media);
  if (isImage) bound.images++;
  let changed: Map<string, unknown> | null = null;
  for (const key in fields) {
    const text = key === part?.content ? undefined : withoutMedia(fields[key], bound);
    if (text === fields[key]) continue;
    changed ??= new Map(Object.entries(fields));
    if (text === undefined) changed.delete(key);
    else changed.set(key, text);
  }
  return changed === null ? fields : Object.fromEntries(changed);
}

function listOfTexts(list: readonly unknown[], bound: Bound): readonly unknown[] {
  let changed: unknown[] | null = null;
  for (let at = 0; at < list.length; at++) {
    const text = withoutMedia(list[at], bound);
    if (text === list[at]) continue;
    changed ??= [...list];
    changed[at] = text;
  }
  return changed ?? list;
}
