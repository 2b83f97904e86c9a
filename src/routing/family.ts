import type { Model } from '../call/model.ts';

/**
 * Parts of a name that do not belong to the family: version, size, release stage, or training for chat. Examples: 4.5,
 * 4o, v4, k2.6, 70b, a22b, 8x7b.
 */
const versionPart =
  /^(?:[a-z]?\d[\d.]*[a-z]?|\d+x\d+b|rc\d*|preview|beta|alpha|exp|experimental|latest|instruct|it|chat)$/;

/** Returns the author of a model: the part before the slash. */
export function authorOf(slug: string): string {
  return slug.slice(0, slug.indexOf('/'));
}

/**
 * Returns the family that the catalogue sets, else the name without its version: `anthropic/claude-opus-4.5` →
 * `claude-opus`.
 */
export function familyOf({ slug, family }: Model): string {
  if (family !== undefined) return family;
  const name = baseName(slug);
  return (
    name
      .split('-')
      .filter((part, at) => at === 0 || !versionPart.test(part))
      .join('-')
      // Some versions follow the name without a hyphen: qwen3.5, glm5, o3.
      .replace(/(?<=[a-z])\d[\d.]*(?=-|$)/g, '')
  );
}

function baseName(slug: string): string {
  const name = slug.slice(slug.indexOf('/') + 1);
  const colon = name.indexOf(':');
  return colon < 0 ? name : name.slice(0, colon);
}

/** Sorts by release date, newest first; by version when one of the dates is not known. */
export function newestFirst(models: readonly Model[]): Model[] {
  if (models.every(({ created }) => created !== undefined))
    return [...models].sort((a, b) => (b.created as number) - (a.created as number));
  const versions = new Map(models.map((model) => [model, versionOf(model)]));
  return [...models].sort((a, b) => {
    const [ofA, ofB] = [versions.get(a) as Version, versions.get(b) as Version];
    return compare(ofB.numbers, ofA.numbers) || compare(ofB.date, ofA.date);
  });
}

interface Version {
  /** The numbers of the version: `4.5` gives 4 and 5. */
  numbers: readonly number[];
  /** The numbers of the date, to compare builds of the same version. */
  date: readonly number[];
}

/**
 * Reads the numbers in a name, in order and without sizes. The first number of four or more digits starts a date: 2507,
 * 2024-08-06.
 */
function versionOf({ slug }: Model): Version {
  const parts = baseName(slug)
    .split('-')
    .filter((part) => !/^(?:[a-z]?\d+(?:\.\d+)?[bkm]|\d+x\d+b)$/.test(part));
  const from = parts.findIndex((part) => /^\d{4,}$/.test(part));
  const dated = from < 0 ? parts.length : from;
  return { numbers: numbersIn(parts.slice(0, dated)), date: numbersIn(parts.slice(dated)) };
}

function numbersIn(parts: readonly string[]): number[] {
  return parts.flatMap((part) => (part.match(/\d+/g) ?? []).map(Number));
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const difference = (a[at] ?? -1) - (b[at] ?? -1);
    if (difference !== 0) return difference;
  }
  return 0;
}
