import type { UpstreamError } from '../../base/http/upstream-error.ts';
import type { Ask } from '../../call/ask.ts';
import type { Endpoint } from '../../call/model.ts';
import type { Target } from '../../call/plan.ts';
import { takesReasoning } from '../../pricing/ceiling.ts';
import { estimateUsage } from '../../pricing/estimate.ts';
import { isPlausiblePrompt } from '../../pricing/plausible.ts';
import { type Cost, pricesUpTo, priceUsage } from '../../pricing/price.ts';
import { boundPrompt } from '../../pricing/prompt-bound.ts';
import type { ChatRequest, Usage } from '../../schema/chat/chat.ts';
import type { AttemptDeps } from '../deps.ts';

/** Returns the cost of usage at an endpoint; null: its price is not known. */
export function costAt({ pricing }: Endpoint, usage: Usage, ask: Ask): Cost | null {
  // A price of input alone says nothing of what a model writes.
  if (pricing === null || pricing.isInputOnly === true) return null;
  // Few providers charge pictures each; for the others nobody counts them.
  return priceUsage(usage, pricing, pricing.imagePicoUsd ? boundPrompt(ask).images : 0);
}

/**
 * Returns the most that an attempt at a held target costs when it has made no more than so many tokens: the hold, less
 * the price of the output that was not made. So everything else stays at its bound: prompt, media, cache writes,
 * searches.
 * @returns integer nano-USD
 */
export function mostCost({ ceilingNanoUsd = 0, mostTokens, endpoint }: Target, completionTokens: number): number {
  if (mostTokens === undefined || endpoint.pricing === null) return ceilingNanoUsd;
  const unused = Math.max(mostTokens.completionTokens - completionTokens, 0);
  const prices = pricesUpTo(endpoint.pricing, mostTokens.promptTokens);
  const cheapest = Math.min(...prices.map(({ completionPicoUsd }) => completionPicoUsd));
  return Math.max(ceilingNanoUsd - Number((BigInt(unused) * BigInt(cheapest)) / 1000n), 0);
}

/**
 * Statuses with which a proxy says that it waited for the provider in vain: the provider may have gone on, and charges.
 */
export const gaveUpWaiting: ReadonlySet<number> = new Set([408, 504, 524]);

/**
 * Returns the cost of an attempt that has brought nothing, integer nano-USD.
 * - The usage that the provider reported with its failure, where it can be true; else the larger of that and of the
 * following.
 * - Nothing where the provider refused by an error status, or never got the request.
 * - Else the prompt; and the whole hold where a complete response may have been made: JSON, reasoning that nobody saw,
 * or a provider that goes on without its client.
 * @param ask         the request as it was sent
 * @param error       the reason of the failure: an UpstreamError, or the reason of an abort
 * @param isOnItsWay  true: the provider may have got the request
 */
export function costOfFailure(
  deps: Pick<AttemptDeps, 'provider'>,
  target: Target,
  ask: Ask,
  error: UpstreamError | null,
  isOnItsWay: boolean,
): number {
  const { request } = ask;
  const isRefused = error?.reason === 'status' && !gaveUpWaiting.has(error.status);
  const isWhole = request.stream !== true || (!isRefused && (mayReason(target, request) || generatesOn(deps, target)));
  const reported = error?.usage as Usage | null | undefined;
  const reportedNanoUsd = reported ? (costAt(target.endpoint, reported, ask)?.totalNanoUsd ?? 0) : 0;
  // A report of a stream before its first token does not include the output after it.
  const isFinal = request.stream !== true || !isWhole || error?.reason === 'bad_response';
  const isKnown = reported ? isFinal && isPlausiblePrompt(reported, request) : false;
  if (isKnown || !isOnItsWay || error?.isUnsent === true || isRefused) return reportedNanoUsd;
  return Math.max(reportedNanoUsd, unreportedCost(target, ask, isWhole));
}

function unreportedCost(target: Target, ask: Ask, isWhole: boolean): number {
  const { ceilingNanoUsd, endpoint } = target;
  if (!ceilingNanoUsd) return costAt(endpoint, estimateUsage(ask.request, 0), ask)?.totalNanoUsd ?? 0;
  return isWhole ? ceilingNanoUsd : mostCost(target, 0);
}

/** true: a provider goes on generating when the connection of a stream is closed. */
export function generatesOn({ provider }: Pick<AttemptDeps, 'provider'>, { endpoint }: Target): boolean {
  const serving = provider(endpoint.providerSlug);
  return serving?.dialect.generatesOn?.(serving.quirks) ?? false;
}

/** true: a target may make reasoning tokens that it does not show. The request, its parameters or its prices say so. */
export function mayReason(
  { endpoint, reasons }: Target,
  { reasoning, reasoning_effort: effort }: ChatRequest,
): boolean {
  if (reasons || endpoint.pricing?.reasoningPicoUsd !== undefined || takesReasoning(endpoint)) return true;
  const asked = effort ?? reasoning?.effort ?? null;
  return asked === null ? reasoning !== undefined : asked !== 'none';
}
