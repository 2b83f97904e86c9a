import type { PricedKind, Pricing } from '../call/model.ts';

/**
 * Marks the kinds of tokens that a published price does not cover. Audio and generated images cost a multiple of text
 * nearly everywhere. Searches are never part of a token's price, so a list without their price leaves it unknown.
 * @param imagesAsText  true: an image of the prompt is known to cost as much as text with as many tokens
 */
export function withUnknownKinds(pricing: Pricing, imagesAsText: boolean): Pricing {
  const kinds: PricedKind[] = [];
  if (pricing.audioPicoUsd === undefined) kinds.push('audio');
  if (pricing.imageTokenPicoUsd === undefined && !imagesAsText) kinds.push('image');
  if (pricing.audioOutputPicoUsd === undefined) kinds.push('audioOutput');
  if (pricing.imageOutputPicoUsd === undefined) kinds.push('imageOutput');
  // Some providers charge for searches with the request.
  if (pricing.webSearchPicoUsd === undefined && pricing.requestPicoUsd === undefined) kinds.push('search');
  return kinds.length > 0 ? { ...pricing, unknownKinds: kinds } : pricing;
}
