import { GatewayError } from '../base/errors.ts';

/** A request that names models. */
export interface NamingModels {
  model?: string | undefined;
  models?: readonly string[] | undefined;
}

/** Returns a request's slugs in order, each once: `model`, then `models`; the default model when both are absent. */
export function namedSlugs({ model, models }: NamingModels, defaultModel: string | null): string[] {
  const slugs = model === undefined ? [] : [model];
  if (models !== undefined && models.length > 0) {
    const named = new Set(slugs);
    for (const slug of models) if (named.size < named.add(slug).size) slugs.push(slug);
  }
  if (slugs.length === 0 && defaultModel !== null) slugs.push(defaultModel);
  return slugs;
}

/** Returns the same slugs as `namedSlugs`. @throws GatewayError invalid_request (400) when there is no slug */
export function requestedSlugs(request: NamingModels, defaultModel: string | null): string[] {
  const slugs = namedSlugs(request, defaultModel);
  if (slugs.length === 0) {
    throw new GatewayError('invalid_request', 'model: no model was named and there is no default model', {
      metadata: { issues: [{ path: 'model', message: 'expected a model slug, such as "sandbox/echo"' }] },
    });
  }
  return slugs;
}
