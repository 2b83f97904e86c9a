import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

/** The shortest secret that is redacted. A shorter one also appears in ordinary text. */
export const shortestRedacted = 8;
export const placeholder = '[redacted]';

/** Removes secrets from texts. Keep a redactor: finding all spellings of a secret costs more than a search for them. */
export interface Redactor {
  redact(text: string): string;
  /**
   * The texts to search for. A text that contains none of them contains no secret in any spelling, except with
   * characters that are escaped as `\u00…`.
   */
  readonly spellings: readonly string[];
  /** The length of the longest spelling in characters; 0: there are no spellings. */
  readonly longest: number;
  /** The spellings in UTF-8. */
  readonly needles: readonly Uint8Array[];
  /** Indexed by byte: 1 where a needle begins with the byte. */
  readonly startsNeedle: Uint8Array;
}

/**
 * Replaces every secret of at least 8 characters by `[redacted]`. The redactor also finds the secret in these
 * spellings: `Bearer …`, URL-encoded, escaped for JSON by any usual writer or character by character, and base64, alone
 * or inside a longer base64 text such as a Basic header.
 */
export function createRedactor(secrets: readonly string[]): Redactor {
  const spellings = spellingsOf(secrets);
  // Most spellings contain a shorter one. A search for the shorter ones is enough.
  const needles: string[] = [];
  for (const spelling of spellings.toReversed()) {
    if (!needles.some((needle) => spelling.includes(needle))) needles.push(spelling);
  }
  const bytes = needles.map((needle) => utf8ToBytes(needle.toWellFormed()));
  const startsNeedle = new Uint8Array(256);
  for (const [first] of bytes) startsNeedle[first as number] = 1;
  const probes = needles.map(probeOf);
  const isFoundIn = (text: string) =>
    probes.some((probe) => text.includes(probe)) && needles.some((needle) => text.includes(needle));
  return {
    redact(given) {
      let text = given;
      // The text changes only if it contains an escaped secret: elsewhere, what looks like an escape may be meant
      // literally.
      if (needles.length > 0 && text.includes('\\u00')) {
        const unescaped = withoutEscapes(text);
        if (isFoundIn(unescaped)) text = unescaped;
      }
      if (!isFoundIn(text)) return text;
      return spellings.reduce((clean, spelling) => clean.replaceAll(spelling, placeholder), text);
    },
    spellings: needles,
    longest: Math.max(0, ...needles.map(({ length }) => length)),
    needles: bytes,
    startsNeedle,
  };
}

/** Letters and digits, those first that texts and JSON hold least often. */
const rarestFirst = 'ZQXJKVWYUBGHFPMLDRNOSCIETAzqxj9876543210kvwybgfpumcldhrsnioate';
const probeChars = 6;

/**
 * Returns the part of a needle to look for first: it begins with a rare character, and is short (see "Probes" in
 * docs/performance.md).
 */
function probeOf(needle: string): string {
  let from = 0;
  let rarest = rarestFirst.length;
  for (let at = 0; at <= needle.length - probeChars; at++) {
    const rank = rarestFirst.indexOf(needle.charAt(at));
    if (rank < 0 || rank >= rarest) continue;
    rarest = rank;
    from = at;
  }
  return needle.slice(from, from + probeChars);
}

/**
 * Writes ASCII characters that are escaped as `\u00…`, in JSON or in JSON inside JSON, as they are. A quote and a
 * backslash stay, so that JSON stays JSON.
 */
function withoutEscapes(text: string): string {
  return text.replace(/(?<!\\)\\+u00([2-7][0-9a-f])/gi, (escaped, code: string) => {
    const character = String.fromCharCode(Number.parseInt(code, 16));
    return character === '"' || character === '\\' ? escaped : character;
  });
}

/** Like `createRedactor`, for a single text. */
export function redact(text: string, secrets: readonly string[]): string {
  return createRedactor(secrets).redact(text);
}

/**
 * The spellings of secrets, the longest first: a spelling may contain another one. Replacing the inner one first would
 * leave parts of the outer.
 */
function spellingsOf(secrets: readonly string[]): string[] {
  const spellings = new Set<string>();
  for (const secret of secrets) {
    if (secret.length < shortestRedacted) continue;
    const inJson = JSON.stringify(secret).slice(1, -1);
    // The arguments of a tool are JSON inside JSON.
    const written = [inJson, JSON.stringify(inJson).slice(1, -1)];
    const plain = [secret, encodeURIComponent(secret.toWellFormed()), ...written, ...written.flatMap(carefulJson)];
    for (const spelling of plain) {
      spellings.add(spelling);
      spellings.add(`Bearer ${spelling}`);
      spellings.add(spelling.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()));
      spellings.add(spelling.replaceAll('/', '\\/'));
    }
    for (const spelling of base64SpellingsOf(secret)) spellings.add(spelling);
  }
  return [...spellings].sort((a, b) => b.length - a.length);
}

/**
 * The base64 of a text depends on the number of bytes before the text, modulo three. So each secret has three
 * spellings, each of those characters that depend on the secret alone. The first spelling is also returned complete,
 * with padding.
 */
function base64SpellingsOf(secret: string): string[] {
  const bytes = utf8ToBytes(secret.toWellFormed());
  const spellings: string[] = [];
  for (let before = 0; before < 3; before++) {
    const base64 = btoa(String.fromCharCode(...new Uint8Array(before), ...bytes));
    const from = Math.ceil((before * 8) / 6);
    const to = Math.floor(((before + bytes.length) * 8) / 6);
    spellings.push(base64.slice(from, to));
    if (before === 0) spellings.push(base64, base64.replaceAll('=', ''));
  }
  return spellings.flatMap((spelling) => [
    spelling,
    spelling.replaceAll('/', '\\/'),
    spelling.replaceAll('+', '-').replaceAll('/', '_'),
    ...carefulJson(spelling),
  ]);
}

/**
 * Some JSON writers (Go, Gson for Java, .NET) escape more than JSON needs, to protect HTML. These are their spellings.
 */
function carefulJson(inJson: string): string[] {
  const code = (one: string) => `\\u00${one.charCodeAt(0).toString(16)}`;
  return [
    inJson.replace(/[&<>]/g, code),
    inJson.replace(/[&<>'=]/g, code),
    inJson
      .replaceAll('\\"', '\\u0022')
      .replace(/[&<>'+`]/g, (one) => `\\u00${one.charCodeAt(0).toString(16).toUpperCase()}`),
  ];
}

/**
 * Shortens a secret for display: the first five and the last four characters of a long secret; only `...` for a short
 * one.
 */
export function maskSecret(secret: string): string {
  // A secret of 20 characters keeps 11 hidden. For a shorter secret, nine visible characters would help a guesser.
  return secret.length < 20 ? '...' : `${secret.slice(0, 5)}...${secret.slice(-4)}`;
}

/**
 * SHA-256 of the text's UTF-8 bytes, as 64 lower-case hexadecimal digits. Synchronous: for a text as short as a key, a
 * WebCrypto digest took 64 µs of CPU and a change of threads. This function took 3 µs.
 */
export function sha256Hex(text: string): string {
  return bytesToHex(sha256(utf8ToBytes(text)));
}

/** Tells whether two texts are equal. The time depends on their lengths only. */
export function constantTimeEqual(a: string, b: string): boolean {
  let difference = a.length ^ b.length;
  const length = Math.max(a.length, b.length);
  // Beyond the end of a text, charCodeAt returns NaN, which counts as 0 here. The lengths differ then anyway.
  for (let at = 0; at < length; at++) difference |= a.charCodeAt(at) ^ b.charCodeAt(at);
  return difference === 0;
}
