import { isObject, type Loose } from '../../base/values.ts';
import type { Encoding } from './encoding.ts';

/** The most marks of parts to cache that are accepted. A mark on the request is one of them. */
const maxMarks = 4;

/** Puts the mark of a part or tool onto the block that it became. */
export function mark(block: Loose, from: object, { marked }: Pick<Encoding, 'marked'>): Loose {
  const { cache_control: given } = from as { cache_control?: unknown };
  if (!isObject(given)) return block;
  block.cache_control = given;
  marked.push(block);
  return block;
}

/**
 * Takes marks away until no more are left than Anthropic accepts. The first stays: the parts before it, such as tools
 * and instructions, are common to conversations. So do the last: they cover the most of this one.
 */
export function limitMarks({ marked, dropped }: Encoding, others: number): void {
  const excess = marked.length + others - maxMarks;
  if (excess <= 0) return;
  for (const block of marked.splice(1, excess)) delete block.cache_control;
  dropped.add('messages[].content[].cache_control');
}
