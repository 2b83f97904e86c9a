import type { Loose } from '../../base/values.ts';
import type { CacheControl } from '../../schema/chat/part.ts';
import type { ModelTraits } from './model.ts';

/** The most marks of parts to cache; more are an error at the provider. */
export const maxMarks = 4;

/**
 * Makes the mark behind the part to cache. Five minutes are the default.
 * @param path     the path of the mark in the request
 * @param dropped  gets the time to live where the model takes none
 * @see https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html
 */
export function cachePoint(
  { ttl }: CacheControl,
  { longCaching }: ModelTraits,
  path: string,
  dropped: Set<string>,
): Loose {
  if (ttl !== '1h') return { cachePoint: { type: 'default' } };
  if (longCaching) return { cachePoint: { type: 'default', ttl } };
  dropped.add(`${path}.ttl`);
  return { cachePoint: { type: 'default' } };
}
