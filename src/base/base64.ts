import { lazily } from './lazily.ts';

/** Standard base64, with padding. */
export function toBase64(bytes: Uint8Array): string {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

/** @returns null where the text is not base64 */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const noLetter = 64;

/** The value of each ASCII letter. */
const values = lazily(() => {
  const table = new Uint8Array(128).fill(noLetter);
  for (let value = 0; value < letters.length; value++) table[letters.charCodeAt(value)] = value;
  return table;
});

/** Base64 for URLs, without padding. */
export function toBase64Url(bytes: Uint8Array): string {
  return toBase64(bytes)
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/={1,2}$/, '');
}

/**
 * Reads base64 for URLs, without padding. Letter by letter: anybody may send many megabytes of it, and `atob` is of no
 * use before all letters have been replaced.
 * @returns null where the text is not of that form
 */
export function fromBase64Url(text: string): Uint8Array<ArrayBuffer> | null {
  const { length } = text;
  if (length % 4 === 1) return null;
  const table = values();
  const bytes = new Uint8Array(Math.floor((length * 3) / 4));
  let bits = 0;
  let open = 0;
  let filled = 0;
  for (let at = 0; at < length; at++) {
    const value = table[text.charCodeAt(at)] ?? noLetter;
    if (value === noLetter) return null;
    bits = ((bits << 6) | value) & 0xffff;
    open += 6;
    if (open < 8) continue;
    open -= 8;
    bytes[filled++] = bits >> open;
  }
  return bytes;
}
