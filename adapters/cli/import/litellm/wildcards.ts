import { isBuiltIn, slugForm } from '../accounts.ts';
import { type Mapping, textOf } from '../mapping.ts';
import { type Place, type Placing, placeOf } from './places.ts';
import { servedBy, splitModel } from './providers.ts';

/**
 * Sets up the provider of a wildcard. A name that begins with the slug of a provider goes to that provider, so a
 * wildcard needs no model: the provider gets the slug with which the names of the wildcard begin.
 * @returns null: nothing serves it
 */
export function placeWildcard(
  name: string,
  placing: Placing,
  path: string,
  params: Mapping,
  info: Mapping,
): Place | null {
  const { report } = placing;
  const at = `${path}.model_name`;
  const author = name.slice(0, Math.max(0, name.indexOf('/')));
  const asked = textOf(params, 'model') ?? '';
  const [prefix, model] = splitModel(asked, textOf(params, 'custom_llm_provider'));
  const served = prefix === null ? null : servedBy(prefix);
  const isSame = model !== '' && name.slice(author.length + 1) === model;
  const isFree = author !== '' && slugForm(author) === author && (!isBuiltIn(author) || likeOf(served) === author);
  const place = placeOf(placing, `${path}.litellm_params`, params, info, isSame && isFree ? author : undefined);
  if (place === null) return null;
  if (!isSame || place.provider !== author) {
    const instead = JSON.stringify(`${place.provider}/…`);
    const what =
      name === '*'
        ? 'lets callers ask for every name; here a name without an author is the one model of the catalogue that has it'
        : 'is a wildcard whose names go to no model here';
    report.warning(at, what, `Ask for ${instead} instead.`);
    report.needsWork(name);
  } else if (model !== '*') report.note(at, 'lets callers ask for every model of that provider');
  return place;
}

function likeOf(served: ReturnType<typeof servedBy>): string | null {
  return served !== null && 'like' in served ? served.like : null;
}
