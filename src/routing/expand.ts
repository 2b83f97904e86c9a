import { GatewayError } from '../base/errors.ts';
import type { Model } from '../call/model.ts';
import type { ChatRequest } from '../schema/chat.ts';

/** Slugs in the order they are tried: `model`, then `models`, each once. */
export function requestedSlugs(request: ChatRequest, defaultModel: string | null): string[] {
  const { model, models } = request;
  const slugs = model === undefined ? [] : [model];
  for (const slug of models ?? []) if (!slugs.includes(slug)) slugs.push(slug);
  if (slugs.length === 0 && defaultModel !== null) slugs.push(defaultModel);
  if (slugs.length === 0) {
    throw new GatewayError('invalid_request', 'model: no model was named and there is no default model', {
      metadata: { issues: [{ path: 'model', message: 'expected a model slug, such as "sandbox/echo"' }] },
    });
  }
  return slugs;
}

/** Finds each model. @throws GatewayError invalid_request (400) naming the first that does not exist */
export function lookUpModels(slugs: readonly string[], find: (slug: string) => Model | null): Model[] {
  return slugs.map((slug) => {
    const model = find(slug);
    if (model) return model;
    const shown = slug.length > 100 ? `${slug.slice(0, 100)}…` : slug;
    throw new GatewayError('invalid_request', `${JSON.stringify(shown)} is not a model of this gateway`, {
      metadata: { model: shown },
    });
  });
}
