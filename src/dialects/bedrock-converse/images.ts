import { isObject, type Loose } from '../../base/values.ts';

/** An image that the model made, as a data URL; null for what is none. */
export function imageOf(format: unknown, source: unknown): Loose | null {
  if (!isObject(source) || typeof source.bytes !== 'string' || source.bytes === '') return null;
  const type = typeof format === 'string' && /^[a-z]{3,5}$/.test(format) ? format : 'png';
  return { type: 'image_url', image_url: { url: `data:image/${type};base64,${source.bytes}` } };
}
