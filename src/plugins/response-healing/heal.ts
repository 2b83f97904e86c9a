import { nextTurn } from '../../base/async/next-turn.ts';
import { type Candidate, candidatesIn, type Found } from './candidates.ts';
import { choose, type Judged } from './choose.ts';
import { coerce } from './coerce.ts';
import type { Fix, Healed, Left } from './healed.ts';
import { type JsonTree, treeOf, writeTree } from './json-tree.ts';
import { fitsSchema, Uncheckable } from './schema-check.ts';
import { OutOfSteps, type Steps, spendQuick } from './steps.ts';

/** The steps after which other work has its turn of the event loop. */
const stepsOfTurn = 60_000;
/** The most strings within each other that hold JSON: more are no accident. */
const mostStrings = 3;

/**
 * Makes JSON of a text that a model wrote, without a value that it did not write: removes the text around it, corrects
 * its syntax, and changes values to the types that the schema names. Where a text can be read in several ways, the
 * schema decides.
 * @param schema  null: any object or list is good
 * @param steps   the work that is left: a character that is read is one step, a look at the schema is several
 * @returns null: the text is good as it is
 */
export async function heal(text: string, schema: object | null, steps: Steps): Promise<Healed | Left | null> {
  try {
    return await healed(text, schema, steps);
  } catch (error) {
    if (error instanceof OutOfSteps) return { kind: 'left', reason: 'steps' };
    throw error;
  }
}

async function healed(text: string, schema: object | null, steps: Steps): Promise<Healed | Left | null> {
  const inTurns = turns(steps);
  const whole = parsed(text, steps);
  // Valid JSON stays as it is to the byte.
  if (isContainer(whole)) {
    const fits = checked(whole, schema, steps);
    if (fits !== false) return null;
    await inTurns();
    return (await inOtherTypes(text, schema as object, steps, inTurns)) ?? { kind: 'left', reason: 'schema' };
  }
  const { source, found } = await read(text, schema, steps, inTurns);
  if (found.cut !== null) return { kind: 'left', reason: 'cut', cutIn: found.cut };
  if (found.candidates.length === 0) return { kind: 'left', reason: found.isTooDeep ? 'depth' : 'no_json' };

  const judged: Judged[] = [];
  for (const candidate of found.candidates) {
    judged.push(await judge(candidate, schema, steps, inTurns));
    await inTurns();
  }
  const chosen = choose(judged, schema, steps);
  if (typeof chosen === 'string') return { kind: 'left', reason: chosen };
  return { ...chosen.healed, fixes: source === text ? chosen.healed.fixes : ['unescaped', ...chosen.healed.fixes] };
}

/** Makes a function that gives other work its turn after so many steps. */
function turns(steps: Steps): () => Promise<void> {
  let last = steps.left;
  return async () => {
    if (last - steps.left < stepsOfTurn) return;
    await nextTurn();
    last = steps.left;
  };
}

async function read(
  text: string,
  schema: object | null,
  steps: Steps,
  inTurns: () => Promise<void>,
): Promise<{ source: string; found: Found }> {
  const found: Found = { candidates: [], cut: null, isTooDeep: false };
  let source = text;
  for (let count = 0; count < mostStrings; count++) {
    const said = parsed(source, steps);
    if (isContainer(said) && source !== text) {
      const tree = treeIn(source, steps);
      if (tree !== null) return { source, found: { ...found, candidates: [wholeOf(source, tree)] } };
    }
    if (typeof said === 'string') {
      source = said;
      continue;
    }
    const plain = unescaped(source, steps);
    if (plain !== null) {
      source = plain;
      continue;
    }
    const reading = candidatesIn(source, schema, steps);
    for (let step = reading.next(); ; step = reading.next()) {
      if (step.done === true) return { source, found: step.value };
      await inTurns();
    }
  }
  return { source, found };
}

function wholeOf(source: string, tree: JsonTree): Candidate {
  const reading = { tree, start: 0, end: source.length, brackets: 0, hasBareText: false, hasStandIn: false };
  return { ...reading, source, isFenced: false };
}

const entities: Readonly<Record<string, string>> = {
  '&quot;': '"',
  '&#34;': '"',
  '&#x22;': '"',
  '&apos;': "'",
  '&#39;': "'",
  '&lt;': '<',
  '&gt;': '>',
  '&amp;': '&',
};
const letters: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };

/** Returns a text without the escapes of its quotation marks, as in a string or a page; null: they are not escaped. */
function unescaped(text: string, steps: Steps): string | null {
  spendQuick(steps, text.length);
  const first = text.search(/[{[]/);
  const begins = first === -1 ? '' : text.slice(first + 1, first + 200);
  if (/^(?:\s|\\[nrt])*\\"/.test(begins))
    return text.replace(/\\(["\\/nrt])/g, (_, char: string) => letters[char] ?? char);
  if (/^\s*&(?:quot|#34|#x22);/.test(begins))
    return text.replace(/&(?:quot|apos|lt|gt|amp|#34|#39|#x22);/g, (one) => entities[one] as string);
  return null;
}

/** Returns a candidate as it is, where it fits, or in the types of the schema. */
async function judge(
  candidate: Candidate,
  schema: object | null,
  steps: Steps,
  inTurns: () => Promise<void>,
): Promise<Judged> {
  const { source, start, end, tree } = candidate;
  spendQuick(steps, end - start);
  const slice = source.slice(start, end).trim();
  const isJson = candidate.brackets === 0 && parsed(slice, steps) !== undefined;
  const text = isJson ? slice : writeTree(tree);
  const fixes: Fix[] = [];
  if (source.slice(0, start).trim() !== '' || source.slice(end).trim() !== '') fixes.push('extracted');
  if (!isJson) fixes.push('repaired');
  const fits = checked(JSON.parse(text), schema, steps);
  if (fits !== false) return { candidate, healed: { kind: 'healed', text, fixes, fitsSchema: fits } };
  await inTurns();
  const other = await inOtherTypes(text, schema as object, steps, inTurns, fixes);
  return { candidate, healed: other ?? { kind: 'healed', text, fixes, fitsSchema: false } };
}

/** Returns JSON with its values in the types of the schema; null: it does not fit then either. */
async function inOtherTypes(
  json: string,
  schema: object,
  steps: Steps,
  inTurns: () => Promise<void>,
  fixes: readonly Fix[] = [],
): Promise<Healed | null> {
  const tree = treeIn(json, steps);
  if (tree === null) return null;
  await inTurns();
  const changed = coerce(tree, schema, steps);
  await inTurns();
  const text = writeTree(changed);
  spendQuick(steps, text.length);
  await inTurns();
  if (checked(JSON.parse(text), schema, steps) !== true) return null;
  return { kind: 'healed', text, fixes: [...fixes, 'coerced'], fitsSchema: true };
}

/** @returns null: there is no schema, or one that cannot be checked. @throws OutOfSteps */
function checked(value: unknown, schema: object | null, steps: Steps): boolean | null {
  if (schema === null) return null;
  try {
    return fitsSchema(value, schema, steps);
  } catch (error) {
    if (error instanceof Uncheckable) return null;
    throw error;
  }
}

/** Reads an object or a list; undefined: the text is neither. @throws OutOfSteps */
export function readJson(text: string, steps: Steps): unknown {
  const value = parsed(text, steps);
  return isContainer(value) ? value : undefined;
}

function parsed(text: string, steps: Steps): unknown {
  spendQuick(steps, text.length);
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** @returns null: it is too deep */
function treeIn(json: string, steps: Steps): JsonTree | null {
  try {
    return treeOf(json, steps);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function isContainer(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}
