import type { Model } from '../call/model.ts';
import type { LateModel } from './late-model.ts';

/** No bare names: models are found only by their slug. */
export const noNames = () => new Map<string, readonly string[]>();

/**
 * Further names and the slugs for which they stand.
 * @param first    names that win
 * @param isTaken  tells whether a name is already in use
 */
export function aliasesOf(
  models: readonly (Model | LateModel)[],
  first: ReadonlyMap<string, string>,
  isTaken: (name: string) => boolean = () => false,
): ReadonlyMap<string, string> {
  if (models.every(({ aliases }) => aliases === undefined)) return first;
  const names = new Map(first);
  for (const { slug, aliases = [] } of models)
    for (const name of aliases) if (!names.has(name) && !isTaken(name)) names.set(name, slug);
  return names;
}

/** Slugs of models by the name after the author. */
export function slugsByName(models: ReadonlyMap<string, unknown>): ReadonlyMap<string, readonly string[]> {
  return Map.groupBy(models.keys(), (slug) => slug.slice(slug.indexOf('/') + 1));
}

/** `author/model:nitro` and `author/model:free:online` may mean `author/model`. */
export function withoutSuffixes(slug: string): string {
  const colon = slug.indexOf(':');
  return colon < 0 ? slug : slug.slice(0, colon);
}
