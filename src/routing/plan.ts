import { GatewayError } from '../base/errors.ts';
import { endpointKey, type Facts } from '../call/facts.ts';
import type { Endpoint, Model } from '../call/model.ts';
import type { Exclusion, Plan, Try } from '../call/plan.ts';
import type { ChatRequest } from '../schema/chat.ts';
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
 * Decides who is tried in which order. Pure: no I/O, no keys.
 * @throws GatewayError not_found (404) when the caller's preferences leave nothing: `metadata.excluded` names the rule
 *         that removed each endpoint; unavailable (503, Retry-After), with the same, when all that is left has to rest
 */
export function planRoute({ request, models, facts, providerName, verbatim }: PlanInput): Plan {
  const rules = preferenceRules(request);
  const excluded: Exclusion[] = [];
  const tries: Try[] = [];
  const resting: Endpoint[] = [];

  models.forEach((model, modelIndex) => {
    for (const endpoint of ordered(model.endpoints, request)) {
      const failed = facts.usableProviders.has(endpoint.providerSlug)
        ? rules.find(([, passes]) => !passes(endpoint))?.[0]
        : 'credentials';
      const isResting = failed === undefined && facts.resting.has(endpointKey(endpoint));
      if (isResting) resting.push(endpoint);
      if (failed !== undefined || isResting)
        excluded.push({ model: model.slug, provider: endpoint.tag, filter: failed ?? 'resting' });
      else {
        tries.push({
          endpoint,
          providerName: providerName(endpoint.providerSlug),
          credential: { kind: 'operator', provider: endpoint.providerSlug },
          isByok: false,
          modelIndex,
          lane: verbatim(endpoint.providerSlug) ? 'verbatim' : 'decoded',
        });
      }
    }
  });
  if (tries.length === 0)
    throw resting.length > 0 ? allResting(resting, excluded, facts) : nothingLeft(models, excluded);
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

function allResting(resting: readonly Endpoint[], excluded: Exclusion[], facts: Facts): GatewayError {
  const earliest = Math.min(...resting.map((endpoint) => facts.resting.get(endpointKey(endpoint)) ?? facts.nowMs));
  return new GatewayError(
    'unavailable',
    'Every endpoint that could serve is set aside after failures; try again later',
    {
      retryAfterMs: Math.max(earliest - facts.nowMs, 1000),
      metadata: { excluded },
    },
  );
}
