import type { Model } from '../call/model.ts';

/**
 * Parts of a name that say which version or size it is, how far along, or that it was taught to chat, and not of which
 * family: 4.5, 4o, v4, k2.6, 70b, a22b, 8x7b.
 */
const versionPart =
  /^(?:[a-z]?\d[\d.]*[a-z]?|\d+x\d+b|rc\d*|preview|beta|alpha|exp|experimental|latest|instruct|it|chat)$/;

/** The author of a model: what is before the slash. */
export function authorOf(slug: string): string {
  return slug.slice(0, slug.indexOf('/'));
}

/** `claude-opus` of `anthropic/claude-opus-4.5`: as its owner says, else the name without its version. */
export function familyOf({ slug, family }: Model): string {
  if (family !== undefined) return family;
  const name = baseName(slug);
  return (
    name
      .split('-')
      .filter((part, at) => at === 0 || !versionPart.test(part))
      .join('-')
      // A version may be written onto the name: qwen3.5, glm5, o3.
      .replace(/(?<=[a-z])\d[\d.]*(?=-|$)/g, '')
  );
}

function baseName(slug: string): string {
  const name = slug.slice(slug.indexOf('/') + 1);
  const colon = name.indexOf(':');
  return colon < 0 ? name : name.slice(0, colon);
}

/** The newest first: by when they came out where that is known of all, else by their version. */
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
  /** 4.5 is 4 and 5. */
  numbers: readonly number[];
  /** Of builds of the same version. */
  date: readonly number[];
}

/** The numbers in a name, in order, but for sizes. From the first of four digits on they are a date: 2507, 2024-08-06. */
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
