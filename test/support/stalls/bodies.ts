import type * as z from 'zod';
import { hidingsIn } from '../hidden-texts.ts';
import { deep, texts } from './shapes.ts';

/** Stands where a shape comes. */
const mark = 'the-place-of-a-shape';
/** Stands where a number comes, which no schema asks for. */
const markedNumber = 424_242;

/** One place of a schema, and what to put there. */
export interface Shaped {
  /** Such as `messages[].content: spaces`. */
  name: string;
  /** The body as JSON, made when it is asked for: all together would be gigabytes. */
  text: () => string;
}

/** How much a body may hold. */
export interface Sizes {
  /** Characters of a text. */
  characters: number;
  /** Values of the body: of a list as long as is allowed, or of an object with as many keys. */
  values: number;
  levels: number;
  /** `all`: each text at each place. `one`: one text at each place, each place another; with the longest lists. */
  texts: 'all' | 'one';
}

/**
 * Every place of a schema with every shape there at its limit: long texts where a text may be, each list as long as is
 * allowed, objects of as many keys, and lists in lists.
 * @param complete  adds what the body needs to be taken, such as a model
 */
export function shapedBodies(schema: z.ZodType, sizes: Sizes, complete: (body: object) => object): Shaped[] {
  const seen = new Set<string>();
  const lists = new Set<string>();
  const found: Shaped[] = [];
  for (const { place, value } of hidingsIn(schema, { text: mark, number: markedNumber })) {
    const json = JSON.stringify(complete(value as object));
    if (seen.has(json)) continue;
    seen.add(json);
    const digits = json.indexOf(String(markedNumber));
    if (digits >= 0) {
      const [before, after] = [json.slice(0, digits), json.slice(digits + String(markedNumber).length)];
      found.push({
        name: `${place}: a number of many digits`,
        text: () => before + '1'.repeat(sizes.characters) + after,
      });
      continue;
    }
    const kind = /\{(\w+)\}$/.exec(place)?.[1];
    if (kind === 'key') {
      if (/\{(?:unknown|any)\}/.test(place)) continue;
      found.push({ name: `${place}: most keys`, text: () => withKeys(json, sizes.values) });
    } else if (kind === 'any' || kind === 'unknown') {
      if (/\{(?:unknown|any)\}.*\{/.test(place)) continue;
      found.push({
        name: `${place}: deepest`,
        text: () => put(json, deep(sizes.levels - place.split(/[.[]/).length - 2)),
      });
      found.push({ name: `${place}: longest list`, text: () => put(json, Array(sizes.values - 100).fill(0)) });
    } else if (json.includes(mark)) {
      const all = [...texts];
      const some = sizes.texts === 'all' ? all : [all[seen.size % all.length] as (typeof all)[number]];
      for (const [name, text] of some)
        found.push({ name: `${place}: ${name}`, text: () => put(json, text(sizes.characters)) });
    }
    for (const [at, path] of listsAbove(JSON.parse(json)).entries()) {
      const list = `${path.join('.')} ${JSON.stringify(itemAt(JSON.parse(json), path))}`;
      if (kind === 'unknown' || kind === 'any' || lists.has(list)) continue;
      lists.add(list);
      for (const isSame of sizes.texts === 'all' ? [false, true] : [false])
        found.push({
          name: `${place}: most items of list ${at + 1}${isSame ? ', all the same' : ''}`,
          text: () => withItems(json, path, sizes.values, isSame),
        });
    }
  }
  return found;
}

function put(json: string, value: unknown): string {
  return JSON.stringify(JSON.parse(json, (_, one) => (one === mark ? value : one)));
}

function withKeys(json: string, values: number): string {
  const body = JSON.parse(json, (_, one) => {
    if (typeof one !== 'object' || one === null || !Object.hasOwn(one, mark)) return one;
    const { [mark]: value, ...rest } = one;
    const more = Math.floor((values - 100) / (1 + valuesIn(value)));
    return { ...rest, ...Object.fromEntries(Array.from({ length: more }, (_, at) => [`k${at}`, value])) };
  });
  return JSON.stringify(body);
}

/** Paths to the lists around the mark, or around the name of a member that it is. */
function listsAbove(value: unknown, path: (string | number)[] = []): (string | number)[][] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const isInside = inner !== null && (JSON.stringify(inner) ?? '').includes(mark);
    if (!isInside) return [];
    const below = listsAbove(inner, [...path, Array.isArray(value) ? Number(key) : key]);
    return Array.isArray(value) ? [path, ...below] : below;
  });
}

function itemAt(value: unknown, path: readonly (string | number)[]): unknown {
  const list = path.reduce<unknown>((one, key) => (one as Record<string | number, unknown>)[key], value);
  return (list as unknown[]).find((item) => JSON.stringify(item).includes(mark));
}

function withItems(json: string, path: readonly (string | number)[], values: number, isSame: boolean): string {
  const body = JSON.parse(json);
  const item = itemAt(body, path);
  const text = JSON.stringify(item);
  const many = Math.floor((values - valuesIn(body)) / valuesIn(item));
  const list = path.reduce<unknown>((one, key) => (one as Record<string | number, unknown>)[key], body) as unknown[];
  const at = list.findIndex((one) => JSON.stringify(one) === text);
  const more = Array.from({ length: many }, (_, nth) => JSON.parse(text.replaceAll(mark, isSame ? 'x' : `x${nth}`)));
  list.splice(at, 1, ...more);
  return JSON.stringify(body).replaceAll(mark, 'x');
}

/** As the gateway counts the values of a body. */
function valuesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  const items = Object.values(value);
  return items.reduce<number>((sum, one) => sum + valuesIn(one), Array.isArray(value) ? 1 : 1 + items.length);
}
