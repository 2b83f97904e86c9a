import type { Candidate } from './candidates.ts';
import type { Healed, LeftReason } from './healed.ts';
import type { JsonTree } from './json-tree.ts';
import { fieldsOf, type Guide, guideOf, itemsOf } from './schema-guide.ts';
import { type Steps, spend } from './steps.ts';

/** A candidate, with the value that it would become. */
export interface Judged {
  candidate: Candidate;
  healed: Healed;
}

/**
 * Chooses one of several readings of a text. With a schema: the one that fits; an unchanged one before one that was
 * changed to other types, and one with quotation marks before one without. Without a schema: an object before a list.
 * Of several that differ, the one in a fence.
 * @returns the reason why there is none
 */
export function choose(judged: readonly Judged[], schema: object | null, steps: Steps): Judged | LeftReason {
  if (judged.every(({ healed }) => healed.fitsSchema === null)) return onlyOf(likeliest(judged), steps);
  const fitting = ofEachPlace(judged, schema as object, steps).filter(({ healed }) => healed.fitsSchema === true);
  const best = Math.min(...fitting.map(rankOf));
  if (fitting.length > 0)
    return onlyOf(
      fitting.filter((one) => rankOf(one) === best),
      steps,
    );
  // JSON of another shape is better than broken JSON, as long as the text says exactly that.
  const [one, ...others] = judged;
  if (one === undefined || others.length > 0) return 'schema';
  const { brackets, hasBareText, hasStandIn } = one.candidate;
  return brackets > 0 || hasBareText || hasStandIn ? 'schema' : one;
}

function rankOf({ candidate, healed }: Judged): number {
  return (candidate.hasBareText ? 2 : 0) + (healed.fixes.includes('coerced') ? 1 : 0);
}

/** Returns the readings that are most likely meant as the response, without a schema. */
function likeliest(judged: readonly Judged[]): readonly Judged[] {
  const tests: ((one: Judged) => boolean)[] = [
    ({ candidate: { tree } }) => tree.kind === 'object' && tree.members.length > 0,
    ({ candidate: { tree } }) => tree.kind === 'object',
    ({ candidate }) => !candidate.hasBareText,
  ];
  let left = judged.filter((one) => !isMarkOfProse(one));
  for (const test of tests) {
    const passing = left.filter(test);
    if (passing.length > 0) left = passing;
  }
  return left;
}

/**
 * true: the reading is a list such as [1] or [see below], with text around it. It is a reference rather than a
 * response.
 */
function isMarkOfProse({ candidate: { tree, hasBareText }, healed }: Judged): boolean {
  if (tree.kind !== 'list' || !healed.fixes.includes('extracted')) return false;
  return hasBareText || tree.items.every(({ kind }) => kind === 'raw');
}

/** Returns the one reading that is left where all say the same, or where one stands in a fence. */
function onlyOf(judged: readonly Judged[], steps: Steps): Judged | LeftReason {
  const [first] = judged;
  if (first === undefined) return 'no_json';
  if (judged.every(({ healed }) => isSameText(healed, first.healed, steps))) return first;
  const fenced = judged.filter(({ candidate }) => candidate.isFenced);
  return fenced.length > 0 && fenced.length < judged.length ? onlyOf(fenced, steps) : 'ambiguous';
}

function isSameText({ text: one }: Healed, { text: other }: Healed, steps: Steps): boolean {
  if (one === other) return true;
  spend(steps, one.length + other.length);
  return JSON.stringify(JSON.parse(one)) === JSON.stringify(JSON.parse(other));
}

/**
 * Returns one reading of each place: the one whose members the schema names; the simpler one where both are as good.
 */
function ofEachPlace(judged: readonly Judged[], schema: object, steps: Steps): readonly Judged[] {
  const places = new Map<number, Judged>();
  for (const one of judged) {
    const known = places.get(one.candidate.start);
    if (known === undefined || isBetter(one, known, schema, steps)) places.set(one.candidate.start, one);
  }
  return [...places.values()];
}

function isBetter(one: Judged, known: Judged, schema: object, steps: Steps): boolean {
  if (one.healed.fitsSchema !== known.healed.fitsSchema) return one.healed.fitsSchema === true;
  const guide = guideOf(schema, schema, steps);
  return strangersIn(one.candidate.tree, guide, steps) < strangersIn(known.candidate.tree, guide, steps);
}

/** Returns the number of members that the schema does not name. */
function strangersIn(tree: JsonTree, guide: Guide | null, steps: Steps): number {
  spend(steps, 1);
  if (guide === null) return 0;
  let count = 0;
  if (tree.kind === 'list') {
    const items = itemsOf(guide, steps);
    if (items !== null) for (const item of tree.items) count += strangersIn(item, items, steps);
  }
  if (tree.kind === 'object') {
    const fields = fieldsOf(guide, steps);
    if (fields === null) return 0;
    for (const { name, value } of tree.members)
      count += fields.has(name) ? strangersIn(value, fields.get(name) ?? null, steps) : 1;
  }
  return count;
}
