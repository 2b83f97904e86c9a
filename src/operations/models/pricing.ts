import type { Endpoint, PriceUnit, Pricing } from '../../call/model.ts';
import { averagePrice } from '../../routing/rank.ts';
import type { ShownPricing } from '../../schema/models/endpoint.ts';

/** The value for an unknown price, which nobody can take for a real one. */
const unknown = '-1';

/** Shows prices. A kind without a price of its own is left out, except those that the interface always shows. */
export function showPricing(pricing: Pricing | null): ShownPricing {
  if (pricing === null) return { prompt: unknown, completion: unknown, request: unknown, image: unknown };
  const shown: ShownPricing = {
    prompt: usdText(pricing.promptPicoUsd),
    completion: usdText(pricing.completionPicoUsd),
    request: usdText(pricing.requestPicoUsd ?? 0),
    image: usdText(pricing.imagePicoUsd ?? 0),
  };
  for (const [field, of] of furtherPrices) {
    const price = pricing[of];
    if (price !== undefined) shown[field] = usdText(price);
  }
  for (const [field, unit] of unitPrices) {
    const price = pricing.unitsPicoUsd?.[unit];
    if (price !== undefined) shown[field] = usdText(price);
  }
  const { imageVariants = [] } = pricing;
  // Of images by size and quality, the dearest.
  if (imageVariants.length > 0)
    shown.output_image = usdText(
      Math.max(pricing.unitsPicoUsd?.image ?? 0, ...imageVariants.map(({ picoUsd }) => picoUsd)),
    );
  return shown;
}

const unitPrices = [
  ['search_unit', 'search_unit'],
  ['output_image', 'image'],
  ['output_megapixel', 'megapixel'],
  ['character', 'character'],
  ['second', 'second'],
] as const satisfies readonly (readonly [keyof ShownPricing, PriceUnit])[];

const furtherPrices = [
  ['image_token', 'imageTokenPicoUsd'],
  ['image_output', 'imageOutputPicoUsd'],
  ['audio', 'audioPicoUsd'],
  ['audio_output', 'audioOutputPicoUsd'],
  ['input_audio_cache', 'audioCacheReadPicoUsd'],
  ['input_cache_read', 'cacheReadPicoUsd'],
  ['input_cache_write', 'cacheWritePicoUsd'],
  ['input_cache_write_1h', 'cacheWriteHourPicoUsd'],
  ['input_cache_write_12h', 'cacheWrite12hPicoUsd'],
  ['internal_reasoning', 'reasoningPicoUsd'],
  ['web_search', 'webSearchPicoUsd'],
] as const satisfies readonly (readonly [keyof ShownPricing, keyof Pricing])[];

/**
 * Writes an exact decimal without an exponent, such as `0.0000025`. @param picoUsd  a non-negative integer below 1e21
 */
export function usdText(picoUsd: number): string {
  const digits = String(picoUsd).padStart(13, '0');
  const whole = digits.slice(0, -12);
  const fraction = digits.slice(-12).replace(/0+$/, '');
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

/**
 * The endpoint whose prices and limits stand for the model: the cheapest by the planner's measure, the first of equal
 * ones. An endpoint with a service tier, which a request has to ask for, or with an unknown price counts only if there
 * is no other.
 */
export function cheapest(endpoints: readonly Endpoint[]): Endpoint {
  let best = endpoints[0] as Endpoint;
  let bestPrice = comparable(best);
  for (const endpoint of endpoints) {
    const price = comparable(endpoint);
    if (price < bestPrice) [best, bestPrice] = [endpoint, price];
  }
  return best;
}

/** Higher than any price. */
const dearest = 1e24;

function comparable(endpoint: Endpoint): number {
  return (averagePrice(endpoint) ?? dearest) + (endpoint.serviceTier === undefined ? 0 : 2 * dearest);
}
