import { cleanText } from '../../../base/text/clean-text.ts';
import { isObject, type Loose } from '../../../base/values.ts';

/**
 * Returns the content of an error response: an object, which a list has as its first element, or its text, cleaned. A
 * page of HTML means nothing to an API client, and has no text.
 */
export function errorBody(body: string): Loose | string {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return /^\s*</.test(body) ? '' : cleanText(body, 300);
  }
  const first: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
  if (isObject(first)) return first;
  return typeof first === 'string' ? cleanText(first) : '';
}
