import { isObject, type Loose } from '../../base/values.ts';

/**
 * A file that a model made, as the field of a message or delta that holds it. Chat completions have a place for images
 * and for one sound.
 * @returns null: there is no place for it
 */
export function mediaField(part: Loose): Loose | null {
  const { mediaType, data } = part;
  if (typeof mediaType !== 'string' || !isObject(data)) return null;
  const isData = data.type === 'data' && typeof data.data === 'string';
  if (mediaType.startsWith('image/')) {
    const url = isData ? `data:${mediaType};base64,${data.data}` : data.type === 'url' ? data.url : null;
    return typeof url === 'string' ? { images: [{ type: 'image_url', image_url: { url } }] } : null;
  }
  return mediaType.startsWith('audio/') && isData ? { audio: { data: data.data } } : null;
}
