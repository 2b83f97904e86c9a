import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

/** A shorter secret is not looked for: it would also be found in ordinary text. */
const shortestRedacted = 8;
const placeholder = '[redacted]';

/** Takes certain secrets out of texts. To be kept: finding out how a secret may be spelled costs more than looking for it. */
export interface Redactor {
  redact(text: string): string;
  /** In UTF-8: a text that holds none of these holds no secret in any spelling. */
  readonly needles: readonly Uint8Array[];
  /** By byte: 1 where a needle begins with it. */
  readonly startsNeedle: Uint8Array;
}

/**
 * Replaces every occurrence of a secret of at least 8 characters by `[redacted]`, also where it is written as
 * `Bearer …`, URL-encoded, escaped for JSON by whichever writer, or in base64, alone or inside a longer base64 text such
 * as a Basic header.
 */
export function createRedactor(secrets: readonly string[]): Redactor {
  const spellings = spellingsOf(secrets);
  // Most spellings hold a shorter one: looking for those will do.
  const needles: string[] = [];
  for (const spelling of spellings.toReversed()) {
    if (!needles.some((needle) => spelling.includes(needle))) needles.push(spelling);
  }
  const bytes = needles.map((needle) => utf8ToBytes(needle.toWellFormed()));
  const startsNeedle = new Uint8Array(256);
  for (const [first] of bytes) startsNeedle[first as number] = 1;
  return {
    redact(text) {
      if (!needles.some((needle) => text.includes(needle))) return text;
      return spellings.reduce((clean, spelling) => clean.replaceAll(spelling, placeholder), text);
    },
    needles: bytes,
    startsNeedle,
  };
}

/** As `createRedactor`, for a single text. */
export function redact(text: string, secrets: readonly string[]): string {
  return createRedactor(secrets).redact(text);
}

/** The longest first: a spelling may hold another, and replacing the inner one would leave the rest of the outer. */
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
 * In base64 a text looks different depending on how many bytes stand before it, modulo three. Of each of the three
 * looks, the characters that depend on the secret alone; of the first, also the whole with its padding.
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

/** What writers of JSON escape though they need not, lest it means something in HTML: those of Go, Java (Gson) and .NET. */
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

/** For display: the first five and the last four characters of a long secret, `...` alone for a short one. */
export function maskSecret(secret: string): string {
  // Of 20 characters, 11 stay hidden; of fewer, what is shown would help a guesser.
  return secret.length < 20 ? '...' : `${secret.slice(0, 5)}...${secret.slice(-4)}`;
}

/**
 * SHA-256 of the text's UTF-8 bytes, 64 lower-case hexadecimal digits. Synchronous: for texts as short as a key, a
 * WebCrypto digest measured 64 µs of CPU and a change of threads, this one 3 µs.
 */
export function sha256Hex(text: string): string {
  return bytesToHex(sha256(utf8ToBytes(text)));
}

/** Whether two texts are the same, in a time that depends on their lengths only. */
export function constantTimeEqual(a: string, b: string): boolean {
  let difference = a.length ^ b.length;
  const length = Math.max(a.length, b.length);
  // Beyond the end of a text charCodeAt gives NaN, which counts as 0 here; the lengths already differ then.
  for (let at = 0; at < length; at++) difference |= a.charCodeAt(at) ^ b.charCodeAt(at);
  return difference === 0;
}
