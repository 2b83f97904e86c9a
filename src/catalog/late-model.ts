import type { Model } from '../call/model.ts';
import { listedAs, listedName } from './listed-as.ts';

/** A model of a list that is made at its first use, after the dialects of its providers are loaded. */
export interface LateModel extends Pick<Model, 'slug' | 'aliases' | 'fallbacks'> {
  /** The names under which lists know its endpoints, as `listedName` makes them, in the order of the endpoints. */
  names: readonly string[];
  /** Slugs of the providers of its endpoints. */
  providers: readonly string[];
  /** Loads what the model is made of, beside the dialects. Absent, or without a promise: it is there. */
  load?: () => Promise<void> | undefined;
  /** Makes the model; the same one each time. */
  make(): Model;
}

/** The model itself. */
export function madeOf(model: Model | LateModel): Model {
  return 'make' in model ? model.make() : model;
}

/** Loads what the model is made of, beside the dialects; undefined: it is there. */
export function loadOf(model: Model | LateModel): Promise<void> | undefined {
  return 'make' in model ? model.load?.() : undefined;
}

/** Slugs of the providers of its endpoints. */
export function providersOf(model: Model | LateModel): readonly string[] {
  return 'make' in model ? model.providers : model.endpoints.map(({ providerSlug }) => providerSlug);
}

/** The names under which lists know its endpoints. */
export function namesOf(model: Model | LateModel): readonly string[] {
  return 'make' in model ? model.names : model.endpoints.map((endpoint) => listedName(listedAs(endpoint)));
}
