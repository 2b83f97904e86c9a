import { fromBase64Url, toBase64Url } from '../../base/base64.ts';
import { JsonError, parseJson } from '../../base/json.ts';

/**
 * The beginning of `encrypted_content` of our items: JSON as one text, which clients send back as it is. It is not
 * encrypted: it holds nothing that the caller may not see. The beginning tells it from the encrypted text of a
 * provider.
 */
const beginning = /^gateway-(?:reasoning|compaction)-1\./;

export type PackedKind = 'reasoning' | 'compaction';

const prefixOf = (kind: PackedKind) => `gateway-${kind}-1.`;

export function pack(kind: PackedKind, value: unknown): string {
  return prefixOf(kind) + toBase64Url(new TextEncoder().encode(JSON.stringify(value)));
}

/**
 * @param maxDepth  levels of nesting
 * @returns the value, unchecked; undefined: the text is of another kind or another maker, or was damaged
 */
export function unpack(kind: PackedKind, text: string, maxDepth: number): unknown {
  const prefix = prefixOf(kind);
  if (!text.startsWith(prefix)) return undefined;
  const bytes = fromBase64Url(text.slice(prefix.length));
  if (bytes === null) return undefined;
  try {
    return parseJson(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes), maxDepth);
  } catch (error) {
    // A TypeError: the bytes are no UTF-8.
    if (error instanceof JsonError || error instanceof TypeError) return undefined;
    throw error;
  }
}

export function isPacked(text: string): boolean {
  return beginning.test(text);
}
