import type { TextRule } from './profile.ts';

/** So many letters and digits at the end of a text tell it apart from others that had to be changed. */
const markLength = 8;
/** Longer texts are not looked through for what must be replaced: what is kept of them is their beginning. */
const mostLookedAt = 1_000;

/**
 * Makes a text of the form of a rule from one that does not have it. It depends on the text alone, so that it is the same
 * in every turn of a conversation.
 * @param number  of the attempt, from 1 on: another number gives another text
 */
export function made(text: string, rule: TextRule, number: number): string {
  const mark = markOf(number === 1 ? text : `${text}\n${number}`, rule.isHash ? rule.longest : markLength);
  if (rule.isHash === true) return mark;
  const read = text.slice(0, mostLookedAt).replace(rule.others, '_');
  const start = rule.badStart?.test(read) === true ? `_${read}` : read;
  return `${start.slice(0, rule.longest - markLength - 1)}_${mark}`;
}

/** Two multiplicative hashes side by side: 53 bits, with 46 of them in nine signs. */
function markOf(text: string, length: number): string {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    high = Math.imul(high ^ code, 2654435761);
    low = Math.imul(low ^ code, 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  const hash = (high >>> 0) * 2 ** 21 + (low >>> 11);
  return hash.toString(36).padStart(length, '0').slice(-length);
}

/** The names of tools as a provider gets them, and back. */
export interface Names {
  /** The provider's name for a tool. */
  of(name: string): string;
  /** The caller's own names, by those that had to be made. */
  readonly own: ReadonlyMap<string, string>;
}

/** All names as they are. */
export const sameNames: Names = { of: (name) => name, own: new Map() };

/** @param all  every name in the request */
export function namesFor(all: ReadonlySet<string>, rule: TextRule): Names {
  const given = new Map<string, string>();
  const own = new Map<string, string>();
  // In the order of the texts: that of the tools may change from turn to turn.
  for (const name of [...all].filter((one) => !rule.fits.test(one)).sort()) {
    let number = 1;
    let free = made(name, rule, number);
    while (all.has(free) || own.has(free)) free = made(name, rule, ++number);
    given.set(name, free);
    own.set(free, name);
  }
  return { of: (name) => given.get(name) ?? name, own };
}

/** Gives each call of a conversation an id that no other call has. */
export interface Ids {
  /** @param id  the caller's */
  next(id: string): string;
}

/** A call keeps its id where that has the form, and no earlier call has it. */
export function idsFor(rule: TextRule): Ids {
  const taken = new Set<string>();
  /** The number to go on with, by the caller's id: thousands of calls may have the same one. */
  const numbers = new Map<string, number>();
  return {
    next(id) {
      let number = numbers.get(id) ?? 0;
      let free = number === 0 && rule.fits.test(id) ? id : made(id, rule, ++number);
      while (taken.has(free)) free = made(id, rule, ++number);
      numbers.set(id, number);
      taken.add(free);
      return free;
    },
  };
}
