import type { Model } from '../call/model.ts';
import type { LateModel } from '../catalog/late-model.ts';
import type { ModelSettings } from './options/model.ts';
import { SettingsError } from './providers.ts';

/**
 * Refuses names that would have no effect, or two meanings.
 * @param aliases  the option `aliases`
 * @param models   the host app's
 * @throws SettingsError
 */
export function checkAliases(aliases: Readonly<Record<string, string>>, models: readonly (Model | LateModel)[]): void {
  const slugs = new Set(models.map(({ slug }) => slug));
  const named = new Set(models.flatMap((model) => model.aliases ?? []));
  for (const [name, target] of Object.entries(aliases)) {
    const path = `aliases.${name}`;
    if (slugs.has(name)) throw new SettingsError(path, 'expected a name that is not the slug of one of your models');
    if (named.has(name)) throw new SettingsError(path, 'expected a name that no model has in its own aliases');
    if (Object.hasOwn(aliases, target) || named.has(target))
      throw new SettingsError(path, 'expected the slug of a model, not another alias');
  }
}

/**
 * Refuses further names of models, and fallbacks, that would have no effect.
 * @param slugs  of all the models
 * @throws SettingsError
 */
export function checkNames(given: readonly ModelSettings[], slugs: ReadonlySet<string>): void {
  const seen = new Set<string>();
  for (const [at, { slug, aliases = [], fallbacks = [] }] of given.entries()) {
    for (const [place, name] of aliases.entries()) {
      const path = `models[${at}].aliases[${place}]`;
      if (slugs.has(name)) throw new SettingsError(path, 'expected a name that is not the slug of a model');
      if (seen.has(name)) throw new SettingsError(path, 'expected a name that no other model has');
      seen.add(name);
    }
    for (const [place, one] of fallbacks.entries())
      if (one === slug || fallbacks.indexOf(one) < place)
        throw new SettingsError(`models[${at}].fallbacks[${place}]`, 'expected another model, each once');
  }
}
