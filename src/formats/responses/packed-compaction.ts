import { isObject } from '../../base/values.ts';
import { pack, unpack } from './packed.ts';

const maxDepth = 4;

/** Packs a summary of a conversation, for `encrypted_content` of a `compaction` item. */
export function packCompaction(summary: string): string {
  return pack('compaction', { summary });
}

/** @returns the summary; null: the text is of another maker, or was damaged */
export function unpackCompaction(text: string): string | null {
  const packed = unpack('compaction', text, maxDepth);
  return isObject(packed) && typeof packed.summary === 'string' ? packed.summary : null;
}
