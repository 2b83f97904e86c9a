import { parseJson } from '../../base/json.ts';
import { isObject } from '../../base/values.ts';

/** The most depth of arguments. Most are flat; a tool may want some depth. */
const maxArgumentDepth = 32;

/** Reads the arguments of a call; null: the model wrote something else. */
export function argumentsOf(text: string): Record<string, unknown> | null {
  if (text.trim() === '') return {};
  try {
    const parsed = parseJson(text, maxArgumentDepth);
    return isObject(parsed) ? parsed : null;
  } catch {
    return null;
  }
}
