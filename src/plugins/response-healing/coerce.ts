import type { JsonTree } from './json-tree.ts';
import { treeOf } from './json-tree.ts';
import { fieldsOf, type Guide, guideOf, itemsOf } from './schema-guide.ts';
import { type Steps, spend } from './steps.ts';

const stepsOfValue = 8;

/**
 * Changes values to the types that a schema names, where nothing is lost: `"42"` to `42`, `"true"` to `true`, `7` to
 * `"7"`, one value to a list of one, JSON in a string to its value. Digits stay as they are written. Reads each value
 * once, and never the members that a schema names and the value does not have.
 * @param tree  is changed in place
 * @returns the tree, or another one in its place
 * @throws OutOfSteps
 */
export function coerce(tree: JsonTree, schema: unknown, steps: Steps): JsonTree {
  return coerced(tree, guideOf(schema, schema, steps), steps);
}

function coerced(tree: JsonTree, guide: Guide | null, steps: Steps): JsonTree {
  spend(steps, stepsOfValue);
  if (guide === null) return tree;
  const types = typesOf(guide);
  const changed =
    types.length === 0 || types.some((type) => isOf(tree, type)) ? tree : (changedTo(tree, types, steps) ?? tree);
  if (changed.kind === 'list') {
    const items = itemsOf(guide, steps);
    if (items !== null) changed.items = changed.items.map((item) => coerced(item, items, steps));
  }
  if (changed.kind === 'object') {
    const fields = fieldsOf(guide, steps);
    if (fields !== null)
      for (const member of changed.members)
        member.value = coerced(member.value, fields.get(member.name) ?? null, steps);
  }
  return changed;
}

function typesOf({ schema: { type } }: Guide): readonly unknown[] {
  return Array.isArray(type) ? type.slice(0, 8) : type === undefined ? [] : [type];
}

function isOf(tree: JsonTree, type: unknown): boolean {
  if (tree.kind === 'list') return type === 'array';
  if (tree.kind !== 'raw') return type === tree.kind;
  if (tree.raw === 'null') return type === 'null';
  if (tree.raw === 'true' || tree.raw === 'false') return type === 'boolean';
  return type === 'number' || (type === 'integer' && Number.isInteger(Number(tree.raw)));
}

/** @returns undefined: none of these types can hold the value without loss */
function changedTo(tree: JsonTree, types: readonly unknown[], steps: Steps): JsonTree | undefined {
  if (tree.kind === 'string') {
    const said = saidBy(tree.text, types, steps);
    if (said !== undefined) return said;
  }
  if (tree.kind === 'raw' && tree.raw !== 'null' && types.includes('string')) return { kind: 'string', text: tree.raw };
  return types.includes('array') && !(tree.kind === 'raw' && tree.raw === 'null')
    ? { kind: 'list', items: [tree] }
    : undefined;
}

/** Returns the value of a string, where it is of one of the types. */
function saidBy(text: string, types: readonly unknown[], steps: Steps): JsonTree | undefined {
  spend(steps, text.length);
  const raw = text.trim();
  if (/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(raw)) {
    const number = Number(raw);
    const isHeld = types.includes('number') || (types.includes('integer') && Number.isInteger(number));
    if (isHeld && Number.isFinite(number)) return { kind: 'raw', raw };
  }
  if (types.includes('boolean') && (raw === 'true' || raw === 'false')) return { kind: 'raw', raw };
  if (types.includes('null') && raw === 'null') return { kind: 'raw', raw };
  const isText = (types.includes('object') && raw.startsWith('{')) || (types.includes('array') && raw.startsWith('['));
  return isText ? treeIn(raw, steps) : undefined;
}

function treeIn(json: string, steps: Steps): JsonTree | undefined {
  try {
    return treeOf(json, steps);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return undefined;
    throw error;
  }
}
