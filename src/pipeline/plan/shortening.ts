import { type Ask, withRequest } from '../../call/ask.ts';
import type { Shortening } from '../../call/facts.ts';
import type { Target } from '../../call/plan.ts';
import type { Shortened, Shortener } from '../../call/shortener.ts';
import { boundPrompt, type PromptBound } from '../../pricing/prompt-bound.ts';
import { withDefaults } from '../../routing/model-defaults.ts';
import type { ChatRequest } from '../../schema/chat/chat.ts';
import type { MoneyDeps, RoutingDeps } from '../deps.ts';

/** Returns the endpoints that get the prompts of a call in a shorter form, where they are too long; null: none does. */
export function shorteningOf(
  { provider }: Pick<RoutingDeps, 'provider'>,
  shortener: Shortener,
  ask: Ask,
): Shortening | null {
  const asked = shortener.asked(ask);
  if (asked === false) return null;
  if (asked === true) return { isAsked: true, isFor: () => true };
  const { bySize } = shortener;
  const { native } = ask;
  if (native?.fields.truncation !== 'auto') return bySize;
  // A provider that speaks the client's format gets the field, and does it by itself.
  return {
    isAsked: true,
    isFor: (endpoint) => bySize.isFor(endpoint) || provider(endpoint.providerSlug)?.dialect.format !== native.format,
  };
}

/** Returns a request as its target gets it; null: it is not changed. */
export function shortenedFor(
  { shortener }: Pick<MoneyDeps, 'shortener'>,
  request: ChatRequest,
  { shortens, endpoint }: Target,
): Shortened | null {
  return shortens === true && shortener !== null ? shortener.shorten(request, endpoint) : null;
}

const bounds = new WeakMap<Shortened, PromptBound>();

/** Returns the request that a target gets, with the defaults of its model, and the bound of its prompt. */
export function sentTo(
  deps: Pick<MoneyDeps, 'shortener'>,
  ask: Ask,
  prompt: PromptBound,
  target: Target,
): { own: ChatRequest; prompt: PromptBound } {
  const shortened = shortenedFor(deps, ask.request, target);
  if (shortened === null) return { own: withDefaults(ask.request, target.endpoint), prompt };
  let bound = bounds.get(shortened);
  if (bound === undefined) {
    bound = boundPrompt(withRequest(ask, shortened.request));
    bounds.set(shortened, bound);
  }
  return { own: withDefaults(shortened.request, target.endpoint), prompt: bound };
}
