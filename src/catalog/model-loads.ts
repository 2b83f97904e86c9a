import type { Model } from '../call/model.ts';
import { type LateModel, loadOf, namesOf, providersOf } from './late-model.ts';
import { withoutSuffixes } from './names.ts';

/** The models and their further names, as far as loads need them. */
interface Listed {
  bySlug: ReadonlyMap<string, Model | LateModel>;
  aliases: ReadonlyMap<string, string>;
}

/** A provider that may have to load what its models are made with. */
interface LoadingProvider {
  load?: () => Promise<void> | undefined;
}

/** Loads what models are made with, such as the dialects of their providers, before they are made. */
export interface ModelLoads {
  /** true: it is known that nothing is left to load for these slugs. */
  isThere(slugs: readonly string[]): boolean;
  /**
   * Begins to load what is left.
   * @param knownModel  finds a built-in model by the name under which lists know an endpoint of it
   * @returns null: nothing is left
   */
  begin(
    slugs: readonly string[],
    listed: Listed,
    knownModel: (name: string) => LateModel | undefined,
  ): Promise<unknown> | null;
  /** The models are others now. */
  changed(): void;
}

export function modelLoads(providers: ReadonlyMap<string, LoadingProvider>): ModelLoads {
  /** true: all providers and all models have loaded what they need. */
  let isWhole = false;
  /** Slugs of models for which nothing is left. */
  const whole = new Set<string>();
  return {
    isThere: (slugs) => isWhole || (slugs.length > 0 && slugs.every((slug) => whole.has(slug))),
    begin(slugs, listed, knownModel) {
      const asked = modelsAsked(slugs, listed, knownModel);
      const models = asked ?? [...listed.bySlug.values()];
      const of = asked === null ? providers.keys() : new Set(asked.flatMap(providersOf));
      const loads = [
        ...Array.from(of, (provider) => providers.get(provider)?.load?.() ?? []),
        ...models.map((model) => loadOf(model) ?? []),
      ].flat();
      if (loads.length > 0) return Promise.all(loads);
      if (asked === null) isWhole = true;
      else for (const slug of slugs) if (listed.bySlug.has(slug)) whole.add(slug);
      return null;
    },
    changed: () => whole.clear(),
  };
}

/**
 * All models that are made for a request of these slugs: the models that they name, their fallbacks, and the built-in ones
 * that know more of their endpoints. null: any, as for a router or for a slug that is not listed.
 */
function modelsAsked(
  slugs: readonly string[],
  { bySlug, aliases }: Listed,
  knownModel: (name: string) => LateModel | undefined,
): readonly (Model | LateModel)[] | null {
  const found: (Model | LateModel)[] = [];
  const seen = new Set<string>();
  const add = (slug: string): boolean => {
    if (seen.has(slug)) return true;
    seen.add(slug);
    const meant = aliases.get(slug);
    if (meant !== undefined) return addAny(meant);
    const model = bySlug.get(slug);
    if (model === undefined) return false;
    found.push(model, ...namesOf(model).flatMap((name) => knownModel(name) ?? []));
    return (model.fallbacks ?? []).every(addAny);
  };
  const addAny = (slug: string): boolean => {
    const base = withoutSuffixes(slug);
    const isListed = add(slug);
    return (base !== slug && add(base)) || isListed;
  };
  return slugs.length > 0 && slugs.every(addAny) ? found : null;
}
