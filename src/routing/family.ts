import type { Model } from '../call/model.ts';

/** Parts of a name that say which version or size it is, or how far along, and not of which family. */
const versionPart =
  /^(?:v?\d[\d.]*[a-z]?|\d+(?:\.\d+)?[bkm]|a\d+b|\d+x\d+b|preview|beta|alpha|exp|experimental|latest|rc\d*)$/;

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
      .filter((part) => !versionPart.test(part))
      .join('-')
      // A version may be written onto the name: qwen3.5, glm5.
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
  return [...models].sort((a, b) => compare(versions.get(b) as number[], versions.get(a) as number[]));
}

/** The numbers in a name, in order, but for sizes: 4.5 is 4 and 5. */
function versionOf({ slug }: Model): number[] {
  return baseName(slug)
    .split('-')
    .filter((part) => !/^(?:a?\d+(?:\.\d+)?[bkm]|\d+x\d+b)$/.test(part))
    .flatMap((part) => (part.match(/\d+/g) ?? []).map(Number));
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const difference = (a[at] ?? -1) - (b[at] ?? -1);
    if (difference !== 0) return difference;
  }
  return 0;
}
