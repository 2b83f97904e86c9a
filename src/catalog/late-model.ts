import type { Model } from '../call/model.ts';

/** A model of a list that is made at its first use. */
export interface LateModel {
  slug: string;
  /** The names under which lists know its endpoints, as `listedName` makes them, in the order of the endpoints. */
  names: readonly string[];
  /** Makes the model; the same one each time. */
  make(): Model;
}

/** The model itself. */
export function madeOf(model: Model | LateModel): Model {
  return 'make' in model ? model.make() : model;
}
