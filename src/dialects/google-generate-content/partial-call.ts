import { isObject, type Loose } from '../../base/values.ts';
import { badResponse } from '../shared/values.ts';

/** The most depth of arguments; deeper ones are nonsense. */
const maxDepth = 64;
/** The most characters of a path; longer ones are nonsense as well. */
const maxPath = 10_000;

/** A function call whose arguments come piece by piece. */
export interface PartialCall {
  /** The index among the calls. */
  index: number;
  args: Loose;
}

/**
 * Takes in pieces of arguments. Each names its place in the arguments; a text may come in several pieces.
 * @throws UpstreamError bad_response for a place that cannot be
 * @see https://docs.cloud.google.com/vertex-ai/generative-ai/docs/multimodal/function-calling "Streaming arguments"
 */
export function addPieces(call: PartialCall, pieces: unknown): void {
  if (!Array.isArray(pieces)) return;
  for (const piece of pieces) {
    if (!isObject(piece) || typeof piece.jsonPath !== 'string') continue;
    const value = valueIn(piece);
    if (value !== undefined) put(call.args, keysOf(piece.jsonPath), value);
  }
}

function valueIn({ stringValue, numberValue, boolValue, ...others }: Loose): unknown {
  if (typeof stringValue === 'string') return stringValue;
  if (typeof numberValue === 'number') return numberValue;
  if (typeof boolValue === 'boolean') return boolValue;
  return 'nullValue' in others ? null : undefined;
}

/** Returns the keys of a path such as `$.steps[0]['a b']`. */
function keysOf(path: string): (string | number)[] {
  const keys: (string | number)[] = [];
  if (path.length > maxPath || !path.startsWith('$')) throw nowhere();
  const step = /\.([^.[\]]+)|\[(\d{1,9})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/y;
  step.lastIndex = 1;
  while (step.lastIndex < path.length) {
    const found = step.exec(path);
    if (found === null || keys.length === maxDepth) throw nowhere();
    const [, name, index, single, double] = found;
    keys.push(index === undefined ? (name ?? unescaped(single ?? double ?? '')) : Number(index));
  }
  return keys;
}

function unescaped(name: string): string {
  return name.replace(/\\(.)/g, '$1');
}

type Holder = Loose | unknown[];

/** Puts a value at its place. A text is appended to a text that is there. */
function put(root: Loose, keys: readonly (string | number)[], value: unknown): void {
  const last = keys.at(-1);
  if (last === undefined) return;
  let holder: Holder = root;
  for (let at = 0; at + 1 < keys.length; at++) {
    let next = get(holder, keys[at]);
    if (next === undefined) {
      next = typeof keys[at + 1] === 'number' ? [] : emptyObject();
      set(holder, keys[at], next);
    }
    if (typeof next !== 'object' || next === null) throw nowhere();
    holder = next as Holder;
  }
  const before = get(holder, last);
  set(holder, last, typeof before === 'string' && typeof value === 'string' ? before + value : value);
}

function get(holder: Holder, key: string | number | undefined): unknown {
  return (holder as Record<string | number, unknown>)[key as string];
}

/** Sets a value. A list grows by one element at a time: a huge index would make a huge list. */
function set(holder: Holder, key: string | number | undefined, value: unknown): void {
  if (Array.isArray(holder) ? typeof key !== 'number' || key > holder.length : typeof key === 'number') throw nowhere();
  (holder as Record<string | number, unknown>)[key as string] = value;
}

/** Returns an object without a prototype, so that every name is that of a property. */
export function emptyObject(): Loose {
  return Object.create(null) as Loose;
}

function nowhere(): Error {
  return badResponse('The provider sent arguments of a tool call for a place that cannot be.');
}
