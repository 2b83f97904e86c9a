import { parseJson } from '../../base/json.ts';
import { isObject } from '../../base/values.ts';

/** Arguments that nest deeper go as a text: what reads them later goes down as deep. */
const maxDepth = 64;

/** Tells whether the arguments of a call are a JSON object. Mostly without an error, which costs more than the rest. */
export function isObjectText(text: string): boolean {
  if (!text.trimStart().startsWith('{') || !text.trimEnd().endsWith('}')) return false;
  try {
    return isObject(parseJson(text, maxDepth));
  } catch {
    return false;
  }
}

/**
 * The arguments of a call as a JSON object: as they are where they are one. A model that broke off has written something
 * else, which stays readable in an object.
 * @param key  under which a text that is no object is kept
 */
export function objectText(text: string, key: string): string {
  if (isObjectText(text)) return text;
  return text.trim() === '' ? '{}' : JSON.stringify({ [key]: text });
}
