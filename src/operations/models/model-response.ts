import type { Endpoint, Model } from '../../call/model.ts';
import { authorOf } from '../../routing/family.ts';
import type { ShownModel } from '../../schema/models/model.ts';
import { showArchitecture } from './architecture.ts';
import { cheapest, showPricing } from './pricing.ts';
import type { ReachedModel } from './reach.ts';

/** Shows models under each of their names: the slug, then the aliases. @param show  makes the form of a wire */
export function withAliases<Shown>(
  reached: readonly ReachedModel[],
  basePath: string,
  show: (model: ShownModel, id: string) => Shown,
): Shown[] {
  return reached.flatMap((one) => {
    const shown = showModel(one, basePath);
    return [shown.id, ...(one.model.aliases ?? [])].map((id) => show(shown, id));
  });
}

/** @param basePath  the path of the mount, such as `/v1` */
export function showModel({ model, endpoints }: ReachedModel, basePath: string): ShownModel {
  const { contextLength, maxCompletionTokens, pricing } = cheapest(endpoints);
  return {
    id: model.slug,
    object: 'model',
    owned_by: authorOf(model.slug),
    canonical_slug: model.slug,
    name: model.name,
    created: model.created ?? 0,
    description: model.description ?? '',
    context_length: contextOf(model, endpoints),
    architecture: showArchitecture(model),
    pricing: showPricing(pricing),
    top_provider: {
      context_length: contextLength ?? model.contextLength ?? null,
      max_completion_tokens: maxCompletionTokens,
      is_moderated: false,
    },
    per_request_limits: null,
    supported_parameters: [...new Set(endpoints.flatMap(({ supportedParameters }) => supportedParameters ?? []))],
    default_parameters: endpoints[0]?.defaults ? { ...endpoints[0].defaults } : null,
    supported_voices: null,
    hugging_face_id: model.huggingFaceId ?? null,
    knowledge_cutoff: model.knowledgeCutoff ?? null,
    expiration_date: model.expirationDate ?? null,
    links: { details: `${basePath === '/' ? '' : basePath}/models/${pathOf(model.slug)}/endpoints` },
  };
}

/** The context in tokens: the model's own, else the longest of its endpoints. null: not known. */
export function contextOf({ contextLength }: Model, endpoints: readonly Endpoint[]): number | null {
  if (contextLength !== undefined) return contextLength;
  const longest = Math.max(...endpoints.map((endpoint) => endpoint.contextLength ?? 0));
  return longest === 0 ? null : longest;
}

/** A path of two segments: a slash inside the name of a model is escaped, a colon may stay. */
function pathOf(slug: string): string {
  const slash = slug.indexOf('/');
  const [author, name] = [slug.slice(0, slash), slug.slice(slash + 1)];
  return `${encodeURIComponent(author)}/${encodeURIComponent(name).replaceAll('%3A', ':')}`;
}
