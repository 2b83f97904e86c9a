import { isObject, type Loose } from '../../base/values.ts';

/** Returns the readable text of a detail; '': it has none. */
export function readable(detail: Loose): string {
  const text = detail.type === 'reasoning.summary' ? detail.summary : detail.text;
  return detail.type !== 'reasoning.encrypted' && typeof text === 'string' ? text : '';
}

/**
 * Adds a detail to a list. Pieces of one thought, which a stream has in many details, become one: they are sent back as
 * one, and a message is not many times as long as its text.
 * @param list  made here; changed
 */
export function addDetail(list: Loose[], detail: Loose): void {
  const last = list.at(-1);
  const field = detail.type === 'reasoning.summary' ? 'summary' : 'text';
  const isMore =
    last !== undefined &&
    detail.type !== 'reasoning.encrypted' &&
    last.type === detail.type &&
    last.index === detail.index &&
    (last.id ?? detail.id) === (detail.id ?? last.id) &&
    // A signature ends a thought.
    !(last.signature && readable(detail) !== '');
  if (!isMore) {
    list.push({ ...detail });
    return;
  }
  for (const name in detail) {
    const value = detail[name];
    if (value === null || value === undefined || name === '__proto__') continue;
    last[name] = name === field && typeof last[name] === 'string' ? `${last[name]}${String(value)}` : value;
  }
}

/** Returns the details of a message or a delta. */
export function detailsIn(value: unknown): Loose[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
