import type { Model } from '../../call/model.ts';
import { type LateModel, providersOf } from '../../catalog/late-model.ts';
import type { CredentialShape } from '../../providers/provider.ts';
import type { Configured } from '../providers.ts';

/** A provider that was set up without a key of the operator. */
export interface MissingKey {
  provider: string;
  /** Environment variables that usually hold the key. */
  environment: readonly string[];
  /** The options that take the key. */
  options: readonly string[];
  /** A few models of the options that have an endpoint there. */
  models: readonly string[];
  message: string;
}

const aKeyAlone: CredentialShape = { parts: { apiKey: { expected: 'a key' } } };

/** The most models that a warning names. */
const mostModels = 5;

/**
 * Finds providers whose key was probably forgotten. Providers with `byok: true` are left out: workspaces bring the keys
 * there.
 * @param models  the host app's own
 */
export function missingKeys(configured: Iterable<Configured>, models: readonly (Model | LateModel)[]): MissingKey[] {
  const missing: MissingKey[] = [];
  for (const { provider, isConfigured, isUsable, saysByok, isMade } of configured) {
    if (!isConfigured || isUsable || saysByok) continue;
    const { slug, env, credentialShape } = provider;
    const at = isMade ? `defineProvider({ slug: '${slug}' }).` : `providers.${slug}.`;
    const { parts, oneOf = [] } = credentialShape ?? aKeyAlone;
    const needed = Object.entries(parts).filter(([name, part]) => !part.isOptional || oneOf[0]?.includes(name));
    const options = needed.map(([name]) => (name === 'apiKey' ? `${at}apiKey` : `${at}credential.${name}`));
    const naming = models.filter((model) => providersOf(model).includes(slug));
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
