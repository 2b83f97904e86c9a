import { GatewayError } from '../base/errors.ts';
import type { Facts } from '../call/facts.ts';
import type { Endpoint, Model } from '../call/model.ts';
import type { Exclusion, Plan, Try } from '../call/plan.ts';
import type { ChatRequest } from '../schema/chat.ts';
import { credentialFits } from '../stores/credential-fits.ts';
import { type Reach, reaches, restsUntil } from './candidates.ts';
import { matchesProvider, preferenceRules } from './filter.ts';

export interface PlanInput {
  request: ChatRequest;
  /** In the order the caller named them. */
  models: readonly Model[];
  facts: Facts;
  providerName: (slug: string) => string;
  /** Whether a provider's stream may be forwarded as bytes. */
  verbatim: (providerSlug: string) => boolean;
}

/**
 * Decides who is tried in which order, and with whose credentials. Pure: no I/O, no keys.
 * @throws GatewayError not_found (404) when the caller's preferences leave nothing: `metadata.excluded` names the rule
 *         that removed each endpoint; unavailable (503, Retry-After), with the same, when all that is left has to rest
 */
export function planRoute({ request, models, facts, providerName, verbatim }: PlanInput): Plan {
  const rules = preferenceRules(request);
  const excluded: Exclusion[] = [];
  const tries: Try[] = [];
  /** Ends of rests, epoch ms. */
  const rests: number[] = [];
  const of = { user: request.user ?? null, apiKeyHash: facts.apiKeyHash };

  models.forEach((model, modelIndex) => {
    const exclude = (endpoint: Endpoint, filter: string) =>
      excluded.push({ model: model.slug, provider: endpoint.tag, filter });
    const passing: Endpoint[] = [];
    for (const endpoint of ordered(model.endpoints, request)) {
      const failed = rules.find(([, passes]) => !passes(endpoint))?.[0];
      if (failed === undefined) passing.push(endpoint);
      else exclude(endpoint, failed);
    }
    const all = reaches(passing, facts, (one, { modelSlug }) => credentialFits(one, { ...of, model: modelSlug }));
    const isAwake = (reach: Reach) => {
      const untilMs = restsUntil(reach, facts);
      if (untilMs !== undefined) rests.push(untilMs);
      return untilMs === undefined;
    };
    const awake = facts.resting.size === 0 ? all : all.filter(isAwake);
    // As many ways as endpoints, all of them the operator's: each is there.
    const isWhole = facts.ownCredentials.length === 0 && awake.length === passing.length;
    for (const endpoint of isWhole ? [] : passing) {
      if (awake.some((reach) => reach.endpoint === endpoint)) continue;
      exclude(endpoint, all.some((reach) => reach.endpoint === endpoint) ? 'resting' : 'credentials');
    }
    for (const { endpoint, credential } of awake) {
      tries.push({
        endpoint,
        providerName: providerName(endpoint.providerSlug),
        credential,
        isByok: credential.kind === 'own',
        modelIndex,
        lane: verbatim(endpoint.providerSlug) ? 'verbatim' : 'decoded',
      });
    }
  });
  if (tries.length === 0) throw rests.length > 0 ? allResting(rests, excluded, facts) : nothingLeft(models, excluded);
  if (request.provider?.allow_fallbacks === false) tries.splice(1);
  return {
    requested: request.model ?? (models[0] as Model).slug,
    strategy: models.length > 1 ? 'fallback' : 'direct',
    tries,
    excluded,
  };
}

/** The caller's `order` first; the others follow as they are listed. */
function ordered(endpoints: readonly Endpoint[], request: ChatRequest): readonly Endpoint[] {
  const order = request.provider?.order;
  if (!order || order.length === 0) return endpoints;
  const place = (endpoint: Endpoint) => {
    const at = order.findIndex((slug) => matchesProvider(endpoint, slug));
    return at < 0 ? order.length : at;
  };
  return [...endpoints].sort((a, b) => place(a) - place(b));
}

function nothingLeft(models: readonly Model[], excluded: Exclusion[]): GatewayError {
  const filters = [...new Set(excluded.map(({ filter }) => filter))].join(', ');
  return new GatewayError(
    'not_found',
    `No endpoint of ${models.map(({ slug }) => slug).join(', ')} is left (filtered by: ${filters || 'none listed'})`,
    {
      metadata: { excluded },
    },
  );
}

function allResting(rests: readonly number[], excluded: Exclusion[], facts: Facts): GatewayError {
  return new GatewayError(
    'unavailable',
    'Every endpoint that could serve is set aside after failures; try again later',
    {
      retryAfterMs: Math.max(Math.min(...rests) - facts.nowMs, 1000),
      metadata: { excluded },
    },
  );
}
