import type { Model } from '../../call/model.ts';
import { cheapest, fittingModels, type RouterInput } from './routers.ts';

/** A model that a router may choose, with the values that decide the choice. */
export interface Rated {
  model: Model;
  /** The price of its cheapest endpoint, pico-USD per token: three prompt tokens to one completion token. */
  pricePicoUsd: number;
  /** The position of the price on a logarithmic scale: 0 for the cheapest candidate, 1 for the most expensive one. */
  cost: number;
  /** The quality, 0 to 1. */
  quality: number;
}

/**
 * Rates the models that fit and have a known price. A model without a score gets the square root of its cost: a higher
 * price means a better model, with falling gains.
 */
export function rate(input: RouterInput, scoreOf: (model: Model) => number | undefined): Rated[] {
  const priced: { model: Model; pricePicoUsd: number; log: number }[] = [];
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const { model, endpoints } of fittingModels(input, () => true)) {
    const pricePicoUsd = cheapest(endpoints);
    if (pricePicoUsd === null) continue;
    const log = Math.log10(pricePicoUsd + 1);
    low = Math.min(low, log);
    high = Math.max(high, log);
    priced.push({ model, pricePicoUsd, log });
  }
  const span = high - low || 1;
  return priced.map(({ model, pricePicoUsd, log }) => {
    const cost = (log - low) / span;
    return { model, pricePicoUsd, cost, quality: scoreOf(model) ?? Math.sqrt(cost) };
  });
}
