import { cleanName } from '../base/text/clean-text.ts';
import { nearest } from '../base/text/nearest.ts';
import type { Facts } from '../call/facts.ts';
import type { Model } from '../call/model.ts';
import type { CatalogView } from '../catalog/catalog.ts';
import type { ProviderPreferences } from '../schema/chat/preferences.ts';
import { credentialFits } from '../stores/credentials/fits.ts';

/**
 * Returns models that an unknown slug may have meant: only those that the request could use. If none is similar, the
 * provider that the slug begins with may be misspelt.
 */
export function nearestModels(slug: string, view: CatalogView, facts: Facts, user: string | null): string[] {
  const base = slug.replace(/:.*$/s, '');
  const bySlug = new Map<string, Model>();
  for (const model of view.models) bySlug.set(model.slug, model);
  const models = nearest(base, bySlug.keys(), {
    isShown: (name) => isReached(bySlug.get(name) as Model, facts, user),
  });
  if (models.length > 0) return models;
  const slash = slug.indexOf('/');
  const own = facts.byokCredentials.filter(({ isRefused }) => isRefused !== true).map(({ provider }) => provider);
  return nearest(slug.slice(0, Math.max(slash, 0)), new Set([...facts.usableProviders, ...own])).map((provider) =>
    cleanName(provider + slug.slice(slash), 101),
  );
}

function isReached({ slug, endpoints }: Model, facts: Facts, user: string | null): boolean {
  if (facts.mayUseModel?.(slug) === false) return false;
  const { usableProviders, byokCredentials, apiKeyHash } = facts;
  const fits = { model: slug, user, apiKeyHash };
  return endpoints.some(
    ({ isDisabled, providerSlug }) =>
      isDisabled !== true &&
      (usableProviders.has(providerSlug) ||
        byokCredentials.some(
          (own) => own.provider === providerSlug && own.isRefused !== true && credentialFits(own, fits),
        )),
  );
}

/** Slugs of preferences that name no provider, with those that may have been meant. */
export type UnknownProviders = Readonly<Record<string, readonly string[]>>;

/** The most unknown slugs that are shown. */
const mostShown = 5;

/**
 * Returns the slugs of `order`, `only` and `ignore` that no provider has. They have no effect, or leave no endpoint.
 * @param builtIn  slugs of the built-in providers; besides them a workspace knows those that it can use
 * @returns null: all are known, which is the usual case
 */
export function unknownProviders(
  provider: ProviderPreferences | null,
  { usableProviders, byokCredentials }: Facts,
  builtIn: ReadonlySet<string>,
): UnknownProviders | null {
  if (!provider) return null;
  let unknown: Record<string, readonly string[]> | null = null;
  let shown = 0;
  for (const slugs of [provider.order, provider.only, provider.ignore]) {
    for (const slug of slugs ?? []) {
      // A slug may name a variant, such as `openai/flex`.
      const base = (slug.split('/', 1)[0] as string).toLowerCase();
      if (builtIn.has(base) || usableProviders.has(base)) continue;
      if (byokCredentials.some((own) => own.provider === base)) continue;
      const name = cleanName(slug, 64);
      unknown ??= {};
      if (Object.hasOwn(unknown, name)) continue;
      if (shown++ === mostShown) return unknown;
      Object.defineProperty(unknown, name, {
        value: nearest(base, new Set([...usableProviders, ...builtIn])),
        enumerable: true,
      });
    }
  }
  return unknown;
}
