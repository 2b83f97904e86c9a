import { readDataUrl } from '../../base/data-url.ts';
import { isObject, type Loose } from '../../base/values.ts';
import { withNotes } from './notes.ts';
import type { OutputFile } from './types.ts';

/** Returns the images of a delta. */
export function imageParts(images: unknown): OutputFile[] {
  if (!Array.isArray(images)) return [];
  return images.flatMap((image): OutputFile[] => {
    const url = isObject(image) && isObject(image.image_url) ? image.image_url.url : null;
    if (typeof url !== 'string') return [];
    const data = readDataUrl(url);
    if (data !== null) return [{ type: 'file', mediaType: data.mediaType, data: { type: 'data', data: data.base64 } }];
    if (!URL.canParse(url)) return [];
    const ending = /\.(png|jpe?g|gif|webp)$/i.exec(new URL(url).pathname)?.[1]?.toLowerCase() ?? 'png';
    const mediaType = `image/${ending === 'jpg' ? 'jpeg' : ending}`;
    return [{ type: 'file', mediaType, data: { type: 'url', url: new URL(url) } }];
  });
}

/**
 * Joins the pieces of a sound, which is complete only at the end.
 * @param mediaType  depends on the request
 */
export function soundReader(mediaType: string) {
  const pieces: string[] = [];
  const words: string[] = [];
  let facts: Loose = {};
  return {
    add(delta: unknown): void {
      if (!isObject(delta)) return;
      const { data, transcript, ...others } = delta;
      if (typeof data === 'string') pieces.push(data);
      if (typeof transcript === 'string') words.push(transcript);
      facts = { ...facts, ...others };
    },
    part(): OutputFile[] {
      const data = pieces.join('');
      if (data === '') return [];
      const audio = { ...facts, ...(words.length > 0 ? { transcript: words.join('') } : {}) };
      return [{ type: 'file', mediaType, data: { type: 'data', data }, ...withNotes({ audio }) }];
    },
  };
}
