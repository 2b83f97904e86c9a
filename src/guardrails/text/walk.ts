import { isObject, type Loose } from '../../base/values.ts';
import { readUrl, textInBase64, writeUrl } from './data-url.ts';
import {
  countMembers,
  isMemberName,
  isWord,
  leastEncodedChars,
  mediaMembers,
  namesModels,
  sealedMembers,
} from './exceptions.ts';
import { spellingsOf } from './json-text.ts';
import type { Work } from './pace.ts';

/**
 * The context of a value, which decides which parts can be rewritten:
 * - `wire`: names and ids stay as they are
 * - `schema`: a JSON Schema, in which only descriptions can change
 * - `free`: made up by a caller or a provider; only names of members stay
 * - `fixed`: nothing can change
 */
export type Kind = 'wire' | 'schema' | 'free' | 'fixed';

/** Checks one text. */
export interface Looks {
  /** true: the work should pause now. */
  readonly isOver: boolean;
  /** @returns the redacted text. JSON stays JSON */
  text(text: string): Work<string>;
  /** Checks a text that cannot be rewritten: a match that would be redacted is noted as blocked. */
  fixed(text: string, place: () => string): Work<void>;
}

/** Only in a URL: an ordinary text may begin with "Data:". */
const isUrl = /^data:(?:[\w.+-]{1,80}\/[\w.+-]{1,80})?(?:;[^\s,]{0,200})?,/i;
const descriptions: ReadonlySet<string> = new Set(['description', 'title', '$comment']);
const schemaMembers: ReadonlySet<string> = new Set([
  'parameters',
  'schema',
  'input_schema',
  'output_schema',
  'parametersJsonSchema',
  'responseSchema',
  'responseJsonSchema',
]);
const freeMembers: ReadonlySet<string> = new Set(['metadata', 'logit_bias', 'variables', 'trace', 'env']);
/** The number of values between two checks of the time. */
const valuesAtOnce = 256;
const plainBase64 = /^[\w+/-]{128,}={0,2}$/;
const ids = /^(?:id|.+_id|file_ids|vector_store_ids|container|previous_response)$/;

/** Checks everything in a value: texts, numbers and names of members. */
export class Walk {
  readonly #looks: Looks;
  readonly #path: (string | number)[];
  #walked = 0;

  /** @param at  the place of the value, for messages */
  constructor(looks: Looks, at: readonly (string | number)[]) {
    this.#looks = looks;
    this.#path = [...at];
  }

  /** @returns the same value if nothing in it changes; else a copy */
  *value(value: unknown, member: string, kind: Kind, owner: Loose | null = null): Work<unknown> {
    this.#walked++;
    if (this.#walked % valuesAtOnce === 0 && this.#looks.isOver) yield;
    if (typeof value === 'string') return yield* this.#text(value, member, kind, owner);
    if (typeof value === 'number' || typeof value === 'bigint') {
      yield* this.#number(value, member);
      return value;
    }
    if (Array.isArray(value)) return yield* this.#list(value, member, kind, owner);
    return isObject(value) ? yield* this.#object(value, member, kind) : value;
  }

  *#text(text: string, member: string, kind: Kind, owner: Loose | null): Work<string> {
    if (text === '' || (kind !== 'free' && isWord(text, member))) return text;
    if (kind === 'fixed' && namesModels.test(member)) return text;
    if (text.length >= leastEncodedChars && sealedMembers.has(member) && isSealed(text, member)) return text;
    const isFixed = isFixedText(member, kind, owner);
    const url = mediaMembers.has(member) || isUrl.test(text) ? readUrl(text) : null;
    if (url === null) return yield* mediaMembers.has(member) ? this.#media(text, isFixed) : this.#plain(text, isFixed);
    yield* this.#fixed(url.head);
    const isBytes = url.isBase64 && mediaMembers.has(member) && url.written.length >= leastEncodedChars;
    let left = text;
    if (url.text !== null && url.isExact && !isFixed) {
      const clean = yield* this.#looks.text(url.text);
      if (clean !== url.text) left = writeUrl(url, clean);
    } else if (url.text !== null) yield* this.#fixed(url.text);
    // Also checked as it is written: a model may read the text in that form.
    if (left !== text || isBytes) return left;
    return yield* this.#plain(text, isFixed);
  }

  /** Checks base64 without a head. */
  *#media(text: string, isFixed: boolean): Work<string> {
    if (text.length < leastEncodedChars || !plainBase64.test(text)) return yield* this.#plain(text, isFixed);
    // The first characters of a long sound show that it is no text.
    const held = textInBase64(text.slice(0, 4_096)) === null ? null : textInBase64(text);
    if (held !== null) yield* this.#fixed(held);
    return text;
  }

  *#plain(text: string, isFixed: boolean): Work<string> {
    if (!isFixed) return yield* this.#looks.text(text);
    yield* this.#fixed(text);
    return text;
  }

  *#fixed(text: string): Work<void> {
    if (text !== '') yield* this.#looks.fixed(text, () => placeOf(this.#path));
  }

  *#number(value: number | bigint, member: string): Work<void> {
    const text = String(value);
    if (text.length <= 6 && countMembers.has(member)) return;
    // One digit means nothing, and occurs everywhere.
    if (text.length > 1) for (const said of spellingsOf(text)) yield* this.#fixed(said);
  }

  *#list(list: unknown[], member: string, kind: Kind, owner: Loose | null): Work<unknown[]> {
    let copy: unknown[] | null = null;
    for (let at = 0; at < list.length; at++) {
      this.#path.push(at);
      const left = yield* this.value(list[at], member, kind, owner);
      this.#path.pop();
      if (left === list[at]) continue;
      copy ??= [...list];
      copy[at] = left;
    }
    return copy ?? list;
  }

  *#object(value: Loose, member: string, kind: Kind): Work<Loose> {
    let copy: Loose | null = null;
    const owner = member === 'function' || member === 'json_schema' ? { ...value, type: member } : value;
    for (const name of Object.keys(value)) {
      this.#path.push(name);
      if (kind === 'free' || !isMemberName(name)) yield* this.#fixed(name);
      const left = yield* this.value(value[name], name, kindOf(kind, name), owner);
      this.#path.pop();
      if (left === value[name]) continue;
      copy ??= { ...value };
      copy[name] = left;
    }
    return copy ?? value;
  }
}

function kindOf(kind: Kind, member: string): Kind {
  if (kind !== 'wire') return kind;
  if (schemaMembers.has(member)) return 'schema';
  return freeMembers.has(member) ? 'free' : kind;
}

function isFixedText(member: string, kind: Kind, owner: Loose | null): boolean {
  if (kind === 'free') return false;
  if (kind === 'fixed') return true;
  if (kind === 'schema') return !descriptions.has(member);
  // The name of a speaker is a text. The name of a function, a tool or a schema links two places.
  if (member === 'name') return owner !== null && !('role' in owner);
  return ids.test(member) || member === 'type' || member === 'role' || member === 'status' || member === 'object';
}

/** Tells whether a text is sealed. `data` is also a member of files and sounds. */
function isSealed(text: string, member: string): boolean {
  return plainBase64.test(text) && (member !== 'data' || textInBase64(text.slice(0, 4_096)) === null);
}

/** Writes a path, such as `messages[0].tool_calls[0].id`. A made-up name shows as `*`: it may be the match itself. */
export function placeOf(path: readonly (string | number)[]): string {
  let place = '';
  for (const step of path) {
    if (typeof step === 'number') place += `[${step}]`;
    else place += `${place === '' ? '' : '.'}${isMemberName(step) ? step : '*'}`;
  }
  return place;
}
