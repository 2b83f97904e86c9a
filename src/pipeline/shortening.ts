import type { Call } from '../call/call.ts';
import type { Shortening } from '../call/facts.ts';
import type { Target } from '../call/plan.ts';
import { originOf } from '../call/responses-origin.ts';
import type { Shortened, Shortener } from '../call/shortener.ts';
import { boundPrompt, type PromptBound } from '../pricing/prompt-bound.ts';
import { withDefaults } from '../routing/model-defaults.ts';
import type { ChatRequest } from '../schema/chat.ts';
import type { MoneyDeps, RoutingDeps } from './deps.ts';

/** Which endpoints get the prompts of a call in a shorter form, where they are too long; null: none. */
export function shorteningOf(
  { provider }: Pick<RoutingDeps, 'provider'>,
  shortener: Shortener,
  { request }: Call,
): Shortening | null {
  const asked = shortener.asked(request);
  if (asked === false) return null;
  if (asked === true) return { isAsked: true, isFor: () => true };
  const { bySize } = shortener;
  if (originOf(request)?.fields.truncation !== 'auto') return bySize;
  // A provider that speaks Responses gets the field, and does it by itself.
  return {
    isAsked: true,
    isFor: (endpoint) => bySize.isFor(endpoint) || provider(endpoint.providerSlug)?.dialect.speaksResponses !== true,
  };
}

/** A request as its target gets it; null: as it is. */
export function shortenedFor(
  { shortener }: Pick<MoneyDeps, 'shortener'>,
  request: ChatRequest,
  { shortens, endpoint }: Target,
): Shortened | null {
  return shortens === true && shortener !== null ? shortener.shorten(request, endpoint) : null;
}

const bounds = new WeakMap<Shortened, PromptBound>();

/** What a target gets, with the defaults of its model, and what that can come to. */
export function sentTo(
  deps: Pick<MoneyDeps, 'shortener'>,
  request: ChatRequest,
  prompt: PromptBound,
  target: Target,
): { own: ChatRequest; prompt: PromptBound } {
  const shortened = shortenedFor(deps, request, target);
  if (shortened === null) return { own: withDefaults(request, target.endpoint), prompt };
  let bound = bounds.get(shortened);
  if (bound === undefined) {
    bound = boundPrompt(shortened.request);
    bounds.set(shortened, bound);
  }
  return { own: withDefaults(shortened.request, target.endpoint), prompt: bound };
}
