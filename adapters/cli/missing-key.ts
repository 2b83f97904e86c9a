import { builtInProviders, type GatewayOptions } from '../../src/index.ts';

/** Settings that hold a key, or say where it comes from. */
const holdsKey = /key|credential|auth/i;

/**
 * Returns what to set where a model is served only by providers that need a key and have none.
 * @returns null: a provider has a key, needs none, or is not known
 */
export function missingKeyFor(model: string, { providers = {}, models = [] }: GatewayOptions): string | null {
  const listed = models.find(({ slug }) => slug === model);
  const slugs = listed?.endpoints?.map(({ provider }) => provider) ?? [model.split('/', 1)[0] ?? ''];
  const missing = slugs.map((slug) => variableOf(slug, (providers as Record<string, object | undefined>)[slug]));
  if (missing.length === 0 || missing.includes(null)) return null;
  return `Set ${[...new Set(missing)].join(' or ')} to ask ${model}`;
}

/** Returns the variable with the key that a provider lacks; null: it lacks none. */
function variableOf(slug: string, settings: object | undefined): string | null {
  const provider = builtInProviders.find((one) => one.slug === slug);
  const variable = provider?.env[0];
  if (variable === undefined) return null;
  const hasOwn = Object.entries(settings ?? {}).some(([name, value]) => Boolean(value) && holdsKey.test(name));
  return hasOwn ? null : variable;
}

/** Providers that most people have a key of, for a hint. */
const usual = ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY'];

/** Returns a hint where only the sandbox can respond; null: there is another provider. */
export function sandboxHint({ providers = {} }: GatewayOptions): string | null {
  if (Object.keys(providers).some((slug) => slug !== 'sandbox')) return null;
  return `No key of a provider is set, so the sandbox responds. Set ${usual.join(' or ')}, …, or LOCAL_BASE_URL.`;
}
