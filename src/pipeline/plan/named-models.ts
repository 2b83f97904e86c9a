import type { Call } from '../../call/call.ts';
import type { Model } from '../../call/model.ts';
import { slugsToKnow } from '../../routing/expand.ts';
import { namedSlugs } from '../../routing/slugs.ts';
import { splitSuffixes } from '../../routing/variant.ts';
import type { ChatRequest } from '../../schema/chat/chat.ts';
import type { RoutingDeps, WorkspaceDefaults } from '../deps.ts';

/** Returns the model of a workspace for a request that names none; null: the workspace has none for it. */
export function defaultModelOf({ textModel, imageModel }: WorkspaceDefaults, { modalities }: ChatRequest) {
  return (modalities?.includes('image') ? imageModel : null) ?? textModel;
}

/**
 * Returns the models that a request names, in order.
 * @returns null for a router, an alias of several models, and a slug that the catalogue does not know
 * @throws GatewayError unavailable (503)
 */
export async function namedModels(
  {
    catalog,
    defaultsOf,
    defaultModel,
    pluginVariants,
  }: Pick<RoutingDeps, 'catalog' | 'defaultsOf' | 'defaultModel' | 'pluginVariants'>,
  { caller }: Call,
  request: ChatRequest,
): Promise<readonly (Model | null)[]> {
  const slugs = namedSlugs(request, defaultModelOf(await defaultsOf(caller.workspaceId), request) ?? defaultModel);
  const view = await catalog.view(slugsToKnow(slugs, pluginVariants));
  return slugs.map((slug) => {
    for (const one of [slug, ...splitSuffixes(slug, pluginVariants).map(({ base }) => base)]) {
      const model = view.model(view.aliasOf(one) ?? one);
      if (model !== null) return model;
    }
    return null;
  });
}
