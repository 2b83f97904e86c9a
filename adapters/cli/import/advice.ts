import type { Level } from './report.ts';

/** A level, what became of a setting, and what to do. */
export type Advice = readonly [level: Level, what: string, advice?: string];

/** The advice for a setting that no table names. */
const noCounterpart: Advice = ['warning', 'has no counterpart here'];

/** Finds the advice for a setting. A name is the file's own, so it may also be one of `Object.prototype`. */
export function adviceIn(table: Readonly<Record<string, Advice>>, name: string, otherwise = noCounterpart): Advice {
  return Object.hasOwn(table, name) ? (table[name] as Advice) : otherwise;
}
