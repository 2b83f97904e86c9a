import type { Model } from '../../src/call/model.ts';
import { autoModels } from '../../src/routing/routers/auto.ts';
import type { RouterInput } from '../../src/routing/routers/routers.ts';
import type { Choose } from './curve.ts';

/** Chooses as `service/auto` does. */
export const chooseModel: Choose = (models, difficulty, tradeoff) => {
  const listed = models.map(({ price, quality }, at) => modelOf(`${at}`, price * 1e6, quality));
  const input = {
    models: listed,
    needs: { parameters: [], modalities: [], promptTokens: 0, maxTokens: null },
    facts: { usableProviders: new Set(['a']), byokCredentials: [] },
    passes: () => true,
  } as unknown as RouterInput;
  return Number(autoModels(input, { allowedModels: null, tradeoff }, difficulty).ranked[0]?.slug);
};

function modelOf(slug: string, picoUsd: number, quality: number): Model {
  const endpoint = {
    modelSlug: slug,
    providerSlug: 'a',
    tag: 'a',
    upstreamModel: slug,
    pricing: { promptPicoUsd: picoUsd, completionPicoUsd: picoUsd },
    contextLength: null,
    maxCompletionTokens: null,
    quantization: null,
    supportedParameters: null,
    dataPolicy: { zeroRetention: null, trains: null },
  };
  return { slug, name: slug, quality, endpoints: [endpoint] };
}
