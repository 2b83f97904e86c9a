import type { Endpoint } from '../call/model.ts';
import { type Cost, priceUsage } from '../pricing/price.ts';
import { boundPrompt } from '../pricing/prompt-bound.ts';
import type { ChatRequest, Usage } from '../schema/chat.ts';

/** What usage costs at an endpoint; null: its price is not known. */
export function costAt({ pricing }: Endpoint, usage: Usage, request: ChatRequest): Cost | null {
  if (pricing === null) return null;
  // Few charge pictures each; for the others nobody counts them.
  return priceUsage(usage, pricing, pricing.imagePicoUsd ? boundPrompt(request).images : 0);
}
