import type { Framer } from '../../base/framing/framing.ts';
import { type Redactor, shortestRedacted } from '../../base/secrets.ts';
import type { OutputBuffer } from '../../base/text/output.ts';
import type { ChatChunk } from '../../schema/chat/chunk.ts';
import { keyOf, type OpenSecrets } from '../secrets/open-secrets.ts';

/**
 * Within a stream, nearly all events differ only in one or two string values: the text, and the padding that some
 * providers add. These values are holes. A template holds the constant bytes around the holes, as the upstream writes
 * them and as we write them. To rewrite an event (our id, our model, no nulls), passthrough compares and copies bytes.
 * An event that differs anywhere else does not match and is decoded.
 */
export interface Template {
  /** The upstream's bytes before, between and after the holes: one part more than there are holes. */
  upstream: Uint8Array[];
  /** Our bytes, in the same order. */
  ours: Uint8Array[];
  /** By our place: the number of the upstream's hole that stands there. */
  order: number[];
  /** true: the hole counts as output. */
  isText: boolean[];
  /** The names of the texts that continue in the holes, by `keyOf`. */
  keys: string[];
  /** The hole of two that hold the same thought whose text is the one that counts; -1: there are no two. */
  firstThought: number;
}

const QUOTE = 34;
const BACKSLASH = 92;
const ZERO = 48;

/** A quote inside a string is escaped, so these characters in a row can only be a key and the start of its value. */
const holePattern = /"(content|reasoning_content|reasoning|obfuscation)"\s*:\s*"/g;

const encoder = new TextEncoder();
/** A decoder of keys, which are ASCII. */
const latin1 = new TextDecoder('latin1');

/**
 * Learns a template from an event that was decoded.
 * @param event    the upstream's event as text, with its blank line
 * @param chunk    the decoded event, complete with our id and model
 * @param encode   writes one of our chunks
 * @returns null for an event that holds more than text
 */
export function learnTemplate(event: string, chunk: ChatChunk, encode: (chunk: ChatChunk) => string): Template | null {
  const choice = chunk.choices[0];
  if (chunk.choices.length !== 1 || !choice || choice.finish_reason !== null || choice.logprobs) return null;
  // Said once, in the first chunk of a choice.
  if (choice.delta.role !== undefined) return null;
  // What nests may hold a text of its own. Anything else is constant or, where it changes, makes an event not match.
  if (Object.values(choice.delta).some((value) => typeof value === 'object' && value !== null)) return null;
  const said = deltaOf(event);
  if (!said) return null;
  const names: string[] = [];
  const upstream: string[] = [];
  let from = 0;
  for (const match of event.matchAll(holePattern)) {
    const start = match.index + match[0].length;
    // A key of the same name elsewhere is not the text.
    if ((start > said.from && start < said.to) === (match[1] === 'obfuscation')) return null;
    upstream.push(event.slice(from, start));
    names.push(match[1] as string);
    from = endOfString(event, start);
  }
  upstream.push(event.slice(from));
  if (names.length === 0 || new Set(names).size !== names.length) return null;
  const rewritten = ourSegments(names, chunk, encode);
  if (!rewritten) return null;
  return {
    upstream: upstream.map((text) => encoder.encode(text)),
    ours: rewritten.segments.map((text) => encoder.encode(text)),
    order: rewritten.order,
    isText: names.map((name) => name !== 'obfuscation'),
    keys: names.map((name) => keyOf(choice.index, fieldOf(name, names))),
    firstThought: names.includes('reasoning_content') ? names.indexOf('reasoning') : -1,
  };
}

/**
 * Learns a template from an event of the client's own format, which goes on nearly as it came.
 * @param event    the upstream's event as text, with its blank line
 * @param written  the same event as the client gets it
 * @param fields   the fields that may hold its text
 * @param chunk    the decoded event
 * @returns null for an event that says more than one text
 */
export function learnNativeTemplate(
  event: string,
  written: string,
  fields: readonly string[],
  chunk: ChatChunk,
): Template | null {
  const only = onlyTextOf(chunk);
  const theirs = cutAtText(event, fields);
  const ours = cutAtText(written, fields);
  if (only === null || theirs === null || theirs.value !== ours?.value) return null;
  // A field of that name may be another one, further in.
  if (JSON.parse(`"${theirs.value}"`) !== only.text) return null;
  return {
    upstream: theirs.around.map((text) => encoder.encode(text)),
    ours: ours.around.map((text) => encoder.encode(text)),
    order: [0],
    isText: [true],
    keys: [only.key],
    firstThought: -1,
  };
}

/** Returns the text of a chunk that has nothing else, and the name of this text; null: it has more. */
function onlyTextOf({ choices }: ChatChunk): { text: string; key: string } | null {
  const [choice] = choices;
  if (choices.length !== 1 || choice === undefined || choice.finish_reason !== null || choice.logprobs) return null;
  const { content, reasoning, reasoning_details: details, tool_calls: calls, ...others } = choice.delta;
  if (Object.keys(others).length > 0) return null;
  const call = calls?.[0];
  const said: [string, string | null | undefined, number | string][] = [
    ['content', content, 'content'],
    ['reasoning', reasoning, 'reasoning'],
    ['arguments', call?.function?.arguments, call?.index ?? 0],
  ];
  const [only, ...more] = said.filter(([, text]) => typeof text === 'string');
  if (only === undefined || more.length > 0) return null;
  // The first piece of a call names it. A detail beside a text is the same text.
  if (calls && (calls.length > 1 || call?.id !== undefined || call?.function?.name !== undefined)) return null;
  if (details && (reasoning === undefined || details.length > 1)) return null;
  return { text: only[1] as string, key: keyOf(choice.index, only[2]) };
}

/** Cuts an event at its only text; null: there is none, or more than one. */
function cutAtText(event: string, fields: readonly string[]): { around: [string, string]; value: string } | null {
  // A quote inside a string is escaped, so these characters in a row can only be a key and the start of its value.
  const [found, ...more] = event.matchAll(new RegExp(`"(?:${fields.join('|')})"\\s*:\\s*"`, 'g'));
  if (found === undefined || more.length > 0) return null;
  const from = found.index + found[0].length;
  const to = endOfString(event, from);
  return { around: [event.slice(0, from), event.slice(to)], value: event.slice(from, to) };
}

/**
 * Returns our field that the text of a hole continues in. Where both fields are there, `reasoning` is the one that is
 * taken.
 */
function fieldOf(name: string, names: readonly string[]): string {
  return name === 'reasoning_content' && !names.includes('reasoning') ? 'reasoning' : name;
}

/** Returns the place of the delta of an event, which holds no objects; null: the place is not plain. */
function deltaOf(event: string): { from: number; to: number } | null {
  const [found, ...more] = event.matchAll(/"delta"\s*:\s*\{/g);
  if (!found || more.length > 0) return null;
  const from = found.index + found[0].length;
  let to = from;
  while (to < event.length && event[to] !== '}') to = event[to] === '"' ? endOfString(event, to + 1) + 1 : to + 1;
  return { from, to };
}

function endOfString(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
}

/** Writes the chunk with a marker in place of each value, and cuts at the markers. */
function ourSegments(
  names: readonly string[],
  chunk: ChatChunk,
  encode: (chunk: ChatChunk) => string,
): { segments: string[]; order: number[] } | null {
  const choice = chunk.choices[0] as ChatChunk['choices'][number];
  const delta: Record<string, unknown> = { ...choice.delta };
  const marked: Record<string, unknown> = { ...chunk, choices: [{ ...choice, delta }] };
  const used = new Set<string>();
  for (const [hole, name] of names.entries()) {
    const target = name === 'obfuscation' ? marked : delta;
    // Where both fields are there, `reasoning` was taken.
    const key = name === 'reasoning_content' ? 'reasoning' : name;
    if (name === 'reasoning_content' && names.includes('reasoning')) continue;
    // The text belongs to another value, further in. We would write it in every event as it was in the first one.
    if (typeof target[key] !== 'string') return null;
    target[key] = marker(hole);
    used.add(key);
  }
  const text = encode(marked as unknown as ChatChunk);
  const segments: string[] = [];
  const order: number[] = [];
  let from = 0;
  for (const match of text.matchAll(/@@hole-(\d)@@/g)) {
    segments.push(text.slice(from, match.index));
    order.push(Number(match[1]));
    from = match.index + match[0].length;
  }
  segments.push(text.slice(from));
  return order.length === used.size ? { segments, order } : null;
}

function marker(hole: number): string {
  return `@@hole-${hole}@@`;
}

/** The places of the holes of an event, and of its end. */
interface Match {
  starts: number[];
  ends: number[];
  /**
   * The places in the holes where an end starts that is the beginning of a secret; -1: the end of the hole begins none.
   */
  opens: number[];
  /** The bytes by which the escapes in a hole are longer than their characters. */
  escaped: number[];
  end: number;
}

/** The match of the event that is looked at. No stream needs it for longer, so there is one for all. */
const match: Match = {
  starts: [0, 0, 0, 0],
  ends: [0, 0, 0, 0],
  opens: [-1, -1, -1, -1],
  escaped: [0, 0, 0, 0],
  end: 0,
};

/**
 * Compares the event at `start` with a template, and notes the places in `match`.
 * @param redactor  an event whose text holds one of its secrets does not match
 * @param secrets   nor does one whose text continues with a secret, or ends with the greater part of one
 */
function matchTemplate(
  template: Template,
  buffer: Uint8Array,
  start: number,
  length: number,
  redactor: Redactor,
  secrets: OpenSecrets,
): boolean {
  const { upstream, keys } = template;
  const { needles, startsNeedle } = redactor;
  let at = start;
  for (let segment = 0; segment < upstream.length; segment++) {
    const constant = upstream[segment] as Uint8Array;
    const size = constant.length;
    if (at + size > length) return false;
    for (let i = 0; i < size; i++) if (buffer[at + i] !== constant[i]) return false;
    at += size;
    if (segment === upstream.length - 1) break;
    match.starts[segment] = at;
    match.opens[segment] = -1;
    match.escaped[segment] = 0;
    if (!secrets.isEmpty) {
      const open = secrets.get(keys[segment] as string);
      // The held part of it has to come before this text.
      const isHeld = open !== undefined && open.shown < open.text.length;
      if (isHeld || (open !== undefined && mayGoOn(open.text, buffer, at, needles))) return false;
    }
    for (;;) {
      if (at >= length) return false;
      const byte = buffer[at];
      if (byte === QUOTE) break;
      if (startsNeedle[byte as number] === 1) {
        const size = secretAt(buffer, at, needles);
        if (size >= shortestRedacted) return false;
        if (size > 0 && match.opens[segment] === -1) match.opens[segment] = at;
      }
      // A raw control character has no place in a string: the event is malformed or ends here.
      if ((byte as number) < 32) return false;
      const size = byte === BACKSLASH ? escapeSize(buffer, at) : (byte as number) < 128 ? 1 : characterSize(buffer, at);
      if (size === 0) return false;
      if (byte === BACKSLASH) match.escaped[segment] = (match.escaped[segment] as number) + surplusOf(buffer, at, size);
      at += size;
    }
    match.ends[segment] = at;
  }
  match.end = at;
  // Where it is empty, the other one counts.
  const { firstThought } = template;
  return firstThought < 0 || match.starts[firstThought] !== match.ends[firstThought];
}

/** Returns the bytes of the escape sequence at `at`; 0: JSON has no such sequence, or it has to be decoded. */
function escapeSize(buffer: Uint8Array, at: number): number {
  const letter = buffer[at + 1] ?? 0;
  if (letter !== 117) return '"\\/bfnrt'.includes(String.fromCharCode(letter)) ? 2 : 0;
  // Hardly anybody escapes ASCII characters, so a secret may be in there.
  if (buffer[at + 2] === ZERO && buffer[at + 3] === ZERO && (buffer[at + 4] ?? 0) > ZERO + 1) return 0;
  for (let i = at + 2; i < at + 6; i++) {
    const digit = (buffer[i] ?? 0) | 32;
    if (!((digit >= 48 && digit <= 57) || (digit >= 97 && digit <= 102))) return 0;
  }
  return 6;
}

/**
 * Returns the bytes by which an escape sequence is longer than its character in UTF-8. Half of a surrogate pair has two
 * bytes.
 */
function surplusOf(buffer: Uint8Array, at: number, size: number): number {
  if (size === 2) return 1;
  const unit = Number.parseInt(latin1.decode(buffer.subarray(at + 2, at + 6)), 16);
  return size - (unit < 0x80 ? 1 : unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 2 : 3);
}

/**
 * Returns the bytes of the UTF-8 character at `at`, which is not ASCII; 0: it is no character, so that it is decoded
 * and replaced.
 */
function characterSize(buffer: Uint8Array, at: number): number {
  const first = buffer[at] as number;
  const second = buffer[at + 1] ?? 0;
  const size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) return 0;
  // Overlong forms, halves of surrogate pairs, and values beyond Unicode are refused (RFC 3629, section 4).
  const least = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
  const most = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  if (second < least || second > most) return 0;
  for (let i = 2; i < size; i++) if (((buffer[at + i] ?? 0) & 0xc0) !== 0x80) return 0;
  return size;
}

/**
 * Forwards the event that the framer stands at, where it matches the template.
 * @returns the bytes of output text in it; -1: it does not match
 */
export function forwardMatch(
  template: Template,
  framer: Framer,
  redactor: Redactor,
  secrets: OpenSecrets,
  out: OutputBuffer,
): number {
  const { buffer, end, length } = framer;
  if (!matchTemplate(template, buffer, end, length, redactor, secrets)) return -1;
  if (match.end - end > framer.maxEventBytes) return -1;
  noteOpens(template, buffer, secrets);
  const textBytes = writeMatch(template, buffer, out);
  framer.skipTo(match.end);
  return textBytes;
}

/** Notes the texts of a matched event that end with the beginning of a secret. */
function noteOpens({ keys }: Template, buffer: Uint8Array, secrets: OpenSecrets): void {
  const { opens, ends } = match;
  for (let hole = 0; hole < keys.length; hole++) {
    const from = opens[hole] as number;
    if (from >= 0) secrets.note(keys[hole] as string, latin1.decode(buffer.subarray(from, ends[hole])));
    else if (!secrets.isEmpty) secrets.note(keys[hole] as string, '');
  }
}

/** Writes the matched event as ours. @returns the bytes of output text in it */
function writeMatch(template: Template, buffer: Uint8Array, out: OutputBuffer): number {
  const { ours, order, isText } = template;
  let textBytes = 0;
  for (let segment = 0; segment < ours.length; segment++) {
    const constant = ours[segment] as Uint8Array;
    out.copy(constant, 0, constant.length);
    const hole = order[segment];
    if (hole === undefined) continue;
    const start = match.starts[hole] as number;
    const end = match.ends[hole] as number;
    out.copy(buffer, start, end);
    if (isText[hole]) textBytes += end - start - (match.escaped[hole] as number);
  }
  return textBytes;
}

/**
 * Returns the bytes of a secret that stand at `at`: all of them, or those up to the end of the string. 0: no secret
 * stands there.
 */
function secretAt(buffer: Uint8Array, at: number, needles: readonly Uint8Array[]): number {
  let longest = 0;
  for (const needle of needles) {
    const size = sizeOfSame(buffer, at, needle, 0);
    if (size === needle.length) return size;
    if (buffer[at + size] === QUOTE) longest = Math.max(longest, size);
  }
  return longest;
}

/** true: a string that starts at `at` continues the secret that some end of `open` begins. */
function mayGoOn(open: string, buffer: Uint8Array, at: number, needles: readonly Uint8Array[]): boolean {
  for (let from = 0; from < open.length; from++) {
    for (const needle of needles) {
      const begun = open.length - from;
      if (needle.length <= begun || !beginsWith(needle, open, from)) continue;
      const size = begun + sizeOfSame(buffer, at, needle, begun);
      // The escape sequence may stand for the next character.
      const next = buffer[at + size - begun];
      if (size === needle.length || next === QUOTE || next === BACKSLASH) return true;
    }
  }
  return false;
}

function beginsWith(needle: Uint8Array, text: string, from: number): boolean {
  for (let i = from; i < text.length; i++) if (needle[i - from] !== text.charCodeAt(i)) return false;
  return true;
}

/** Returns the bytes of a needle, from `from` on, that stand at `at`. */
function sizeOfSame(buffer: Uint8Array, at: number, needle: Uint8Array, from: number): number {
  let size = 0;
  while (from + size < needle.length && buffer[at + size] === needle[from + size]) size++;
  return size;
}
