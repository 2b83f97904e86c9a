import type { Call } from '../call/call.ts';
import type { Model } from '../call/model.ts';
import { namedSlugs, slugsToKnow } from '../routing/expand.ts';
import { splitSuffixes } from '../routing/variant.ts';
import type { ChatRequest } from '../schema/chat.ts';
import type { RoutingDeps } from './deps.ts';

/**
 * The models that a request names, in order.
 * @returns null for a router, an alias of several models, and a slug that the catalogue does not know
 * @throws GatewayError unavailable (503)
 */
export async function namedModels(
  { catalog, defaultsOf, defaultModel }: Pick<RoutingDeps, 'catalog' | 'defaultsOf' | 'defaultModel'>,
  { caller }: Call,
  request: ChatRequest,
): Promise<readonly (Model | null)[]> {
  const { textModel } = await defaultsOf(caller.workspaceId);
  const slugs = namedSlugs(request, textModel ?? defaultModel);
  const view = await catalog.view(slugsToKnow(slugs));
  return slugs.map((slug) => {
    for (const one of [slug, ...[...splitSuffixes(slug)].map(({ base }) => base)]) {
      const model = view.model(view.aliasOf(one) ?? one);
      if (model !== null) return model;
    }
    return null;
  });
}
