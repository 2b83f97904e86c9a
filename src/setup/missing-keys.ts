import type { Model } from '../call/model.ts';
import type { Configured } from './providers.ts';

/** A provider that was set up, and that no key of the operator's opens. */
export interface MissingKey {
  provider: string;
  /** Environment variables that usually hold the key. */
  environment: readonly string[];
  /** The options that take it. */
  options: readonly string[];
  /** Models of the options that name it, a few of them. */
  models: readonly string[];
  message: string;
}

/** Models that a warning names. */
const mostModels = 5;

/**
 * What is probably forgotten: providers without a key. Not those for which the operator said `byok: true`: workspaces
 * bring the keys there.
 * @param models  the host app's own
 */
export function missingKeys(configured: Iterable<Configured>, models: readonly Model[]): MissingKey[] {
  const missing: MissingKey[] = [];
  for (const { provider, isConfigured, isUsable, saysByok, isMade } of configured) {
    if (!isConfigured || isUsable || saysByok) continue;
    const { slug, env, credentialShape } = provider;
    const at = isMade ? `defineProvider({ slug: '${slug}' }).` : `providers.${slug}.`;
    const parts = Object.entries(credentialShape?.parts ?? { apiKey: {} }).filter(([, part]) => !part.isOptional);
    const options = parts.map(([name]) => (name === 'apiKey' ? `${at}apiKey` : `${at}credential.${name}`));
    const naming = models.filter(({ endpoints }) => endpoints.some(({ providerSlug }) => providerSlug === slug));
    missing.push({
      provider: slug,
      environment: env,
      options,
      models: naming.slice(0, mostModels).map((model) => model.slug),
      message: messageOf(slug, env, options, isMade, naming.length),
    });
  }
  return missing;
}

function messageOf(
  slug: string,
  env: readonly string[],
  options: readonly string[],
  isMade: boolean,
  models: number,
): string {
  const [variable] = env;
  const used = models === 0 ? '' : `, though ${models === 1 ? 'a model names' : `${models} models name`} it`;
  const from =
    variable === undefined ? '' : isMade ? `, or the variable ${variable}` : `, such as from process.env.${variable}`;
  return `The provider ${slug} has no key, so none of yours is used for it${used}: set ${options.join(' and ')}${from}`;
}
