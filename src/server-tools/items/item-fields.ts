import { isObject } from '../../base/values.ts';

/** The result of a built-in tool; `{}` while it runs. */
export function objectOf(result: string | null): Record<string, unknown> {
  if (result === null) return {};
  try {
    const value: unknown = JSON.parse(result);
    return isObject(value) ? value : {};
  } catch {
    // The message of a failed tool is JSON as well; a host app's own tool may return any text.
    return {};
  }
}

/** Reads a text; a model may write any value. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
