import { lazily } from '../base/lazily.ts';
import type { Endpoint, Model } from '../call/model.ts';
import { type LateModel, loadOf, madeOf, namesOf, providersOf } from './late-model.ts';
import { listedAs } from './listed-as.ts';

/**
 * Merges several lists. The first list that names a model decides its endpoints. Later lists fill in the unknown
 * fields. Models keep the order in which they are first named.
 * @param sources  the most trusted first; a slug occurs once in each
 */
export function mergeModels(sources: readonly (readonly Model[])[]): ReadonlyMap<string, Model>;
export function mergeModels(
  sources: readonly (readonly (Model | LateModel)[])[],
): ReadonlyMap<string, Model | LateModel>;
export function mergeModels(
  sources: readonly (readonly (Model | LateModel)[])[],
): ReadonlyMap<string, Model | LateModel> {
  const merged = new Map<string, Model | LateModel>();
  for (const models of sources) {
    for (const model of models) {
      const first = merged.get(model.slug);
      merged.set(model.slug, first ? filled(first, model) : model);
    }
  }
  return merged;
}

function filled(first: Model | LateModel, later: Model | LateModel): Model | LateModel {
  if (!('make' in first) && !('make' in later)) return fillModel(first, later);
  const aliases = first.aliases ?? later.aliases;
  const fallbacks = first.fallbacks ?? later.fallbacks;
  return {
    slug: first.slug,
    names: namesOf(first),
    providers: [...providersOf(first), ...providersOf(later)],
    ...(aliases === undefined ? {} : { aliases }),
    ...(fallbacks === undefined ? {} : { fallbacks }),
    load: () => {
      const loads = [first, later].flatMap((model) => loadOf(model) ?? []);
      return loads.length === 0 ? undefined : Promise.all(loads).then(() => undefined);
    },
    make: lazily(() => fillModel(madeOf(first), madeOf(later))),
  };
}

function fillModel(first: Model, later: Model): Model {
  return {
    ...first,
    // A name that equals the slug is a default, not a given name.
    name: first.name === first.slug ? later.name : first.name,
    endpoints: first.endpoints.map((endpoint) => {
      const same = sameEndpoint(endpoint, later.endpoints);
      return same ? fillEndpoint(endpoint, same) : endpoint;
    }),
    description: first.description ?? later.description,
    created: first.created ?? later.created,
    contextLength: first.contextLength ?? later.contextLength,
    inputModalities: first.inputModalities ?? later.inputModalities,
    outputModalities: first.outputModalities ?? later.outputModalities,
    isDistillable: first.isDistillable ?? later.isDistillable,
    family: first.family ?? later.family,
    quality: first.quality ?? later.quality,
    codingScore: first.codingScore ?? later.codingScore,
    huggingFaceId: first.huggingFaceId ?? later.huggingFaceId,
    knowledgeCutoff: first.knowledgeCutoff ?? later.knowledgeCutoff,
    expirationDate: first.expirationDate ?? later.expirationDate,
    aliases: first.aliases ?? later.aliases,
    fallbacks: first.fallbacks ?? later.fallbacks,
  };
}

/**
 * Finds the same model at the same provider: by the provider's own name for the model, else by a variant that both
 * have. Two endpoints with different names and no variant may be different models, such as a model and its fine-tuned
 * version. A service tier has prices of its own, so both must have the same tier.
 */
function sameEndpoint(endpoint: Endpoint, others: readonly Endpoint[]) {
  const { tag, serviceTier } = endpoint;
  const { providerSlug, upstreamModel } = listedAs(endpoint);
  const there = others.filter(
    (other) => listedAs(other).providerSlug === providerSlug && other.serviceTier === serviceTier,
  );
  const named = there.filter((other) => listedAs(other).upstreamModel === upstreamModel);
  return named.find((other) => other.tag === tag) ?? named[0] ?? there.find((other) => isVariant(other, tag)) ?? null;
}

function isVariant({ tag, providerSlug }: Endpoint, wanted: string): boolean {
  return tag === wanted && tag !== providerSlug;
}

/**
 * Fills the unknown fields of an endpoint from another one of the same model and provider. Keeps its own data policy.
 */
export function fillEndpoint(first: Endpoint, later: Endpoint): Endpoint {
  return {
    ...first,
    pricing: first.pricing ?? later.pricing,
    contextLength: first.contextLength ?? later.contextLength,
    maxPromptTokens: first.maxPromptTokens ?? later.maxPromptTokens,
    maxCompletionTokens: first.maxCompletionTokens ?? later.maxCompletionTokens,
    quantization: first.quantization ?? later.quantization,
    supportedParameters: first.supportedParameters ?? later.supportedParameters,
    implicitCaching: first.implicitCaching ?? later.implicitCaching,
    defaults: first.defaults ?? later.defaults,
  };
}
