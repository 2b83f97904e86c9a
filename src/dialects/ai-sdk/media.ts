import { isObject, type Loose } from '../../base/values.ts';
import type { ChunkDelta } from '../../schema/chat/chunk.ts';

/**
 * Returns a file that a model made, as the field of a message or delta that holds it. Chat completions have a place for
 * images and for one sound.
 * @returns null: there is no place for it
 */
export function mediaField(part: Loose): Pick<ChunkDelta, 'images' | 'audio'> | null {
  const { mediaType, data } = part;
  if (typeof mediaType !== 'string' || !isObject(data)) return null;
  const content = data.type === 'data' && typeof data.data === 'string' ? data.data : null;
  if (mediaType.startsWith('image/')) {
    const url = content !== null ? `data:${mediaType};base64,${content}` : data.type === 'url' ? data.url : null;
    return typeof url === 'string' ? { images: [{ type: 'image_url', image_url: { url } }] } : null;
  }
  return mediaType.startsWith('audio/') && typeof content === 'string' ? { audio: { data: content } } : null;
}
