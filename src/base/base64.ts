import { lazily } from './lazily.ts';

/**
 * The buffer of Node, Bun and Deno, which other runtimes may also have. It is ten times as fast as `atob` and
 * `Uint8Array.fromBase64`.
 */
interface NativeBuffer {
  from(text: string, encoding: 'base64'): Uint8Array<ArrayBuffer>;
  from(buffer: ArrayBufferLike, offset: number, length: number): { toString(encoding: 'base64'): string };
}
const native = (globalThis as { Buffer?: NativeBuffer }).Buffer;

/** Shorter buffers may lie in memory that a native buffer shares with others. */
const nativeFrom = 64 * 1024;

const lettersAndPadding = /^[A-Za-z0-9+/]*={0,2}$/;
const withWhiteSpace = /^[A-Za-z0-9+/\t\n\f\r ]*(?:=[\t\n\f\r ]*){0,2}$/;

/** The number of characters for one call of `String.fromCharCode`: too many arguments are an error. */
const charactersAtOnce = 8 * 1024;

/** Writes standard base64, with padding. */
export function toBase64(bytes: Uint8Array): string {
  if (native !== undefined && bytes.length >= nativeFrom)
    return native.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');
  let binary = '';
  for (let at = 0; at < bytes.length; at += charactersAtOnce)
    binary += String.fromCharCode(...bytes.subarray(at, at + charactersAtOnce));
  return btoa(binary);
}

/**
 * Reads standard base64 as `atob` does: padding may be left out, and ASCII white space is skipped. Many megabytes of it
 * are read at the speed of the platform, without a function call for each character.
 * @returns null where the text is not base64
 */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  return native !== undefined && text.length >= nativeFrom ? fromNative(text, native) : fromAtob(text);
}

function fromAtob(text: string): Uint8Array<ArrayBuffer> | null {
  // An error of `atob` takes 10 µs, and a request may hold thousands of texts that are no base64.
  if (!withWhiteSpace.test(text)) return null;
  let binary: string;
  try {
    binary = atob(text);
  } catch {
    return null;
  }
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

/** A native buffer accepts text that is not base64, and skips white space. So this checks the text first. */
function fromNative(text: string, buffer: NativeBuffer): Uint8Array<ArrayBuffer> | null {
  const isPlain = lettersAndPadding.test(text);
  if (!isPlain && !withWhiteSpace.test(text)) return null;
  const length = isPlain ? text.length : text.length - whiteSpaceIn(text);
  // A last letter alone is no byte; padding fills up four letters.
  if (length % 4 === 1 || (text.trimEnd().endsWith('=') && length % 4 !== 0)) return null;
  const bytes = buffer.from(text, 'base64');
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** Counts white space in a text whose only characters up to the space are white space. */
function whiteSpaceIn(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) <= 32) count++;
  return count;
}

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const noLetter = 64;

/** The value of each ASCII letter. */
const values = lazily(() => {
  const table = new Uint8Array(128).fill(noLetter);
  for (let value = 0; value < letters.length; value++) table[letters.charCodeAt(value)] = value;
  return table;
});

/** Returns base64 with the letters of the standard, where it has those for URLs. Other texts stay as they are. */
export function standardBase64(text: string): string {
  return /[-_]/.test(text) ? text.replaceAll('-', '+').replaceAll('_', '/') : text;
}

/** Writes base64 for URLs, without padding. */
export function toBase64Url(bytes: Uint8Array): string {
  return toBase64(bytes)
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/={1,2}$/, '');
}

/**
 * Reads base64 for URLs, without padding. Reads letter by letter: a text may have many megabytes, and `atob` would need
 * a copy with other letters.
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
