import { findFacts, type KnownFacts } from './find.ts';

/** The part of a provider that matters here. */
interface Served {
  quirks: object;
  dialect: { name: string };
}

/** Quirks of a provider with the largest output in the newer field, by its quirks. */
const newer = new WeakMap<object, object>();

/** The quirks of a provider for one of its models: what the operator or the provider says itself, wins. */
export function withFacts({ quirks, dialect }: Served, facts: KnownFacts | null): object {
  if (facts?.maxTokensField === undefined || dialect.name !== 'openai-chat' || 'maxTokensField' in quirks)
    return quirks;
  let changed = newer.get(quirks);
  if (changed === undefined) {
    changed = { ...quirks, maxTokensField: 'max_completion_tokens' };
    newer.set(quirks, changed);
  }
  return changed;
}

/** The request fields that a model never takes, by their names in `supported_parameters`. */
export function refusedBy(provider: string, slug: string, upstreamModel: string): readonly string[] {
  const facts = findFacts(provider, slug, upstreamModel);
  if (facts === null) return [];
  const { refuses = [], noForcedTools } = facts;
  const names: string[] = refuses.flatMap((name) =>
    name === 'reasoning' ? ['reasoning', 'reasoning_effort'] : [name],
  );
  // It lists tools: it calls them as it pleases.
  if (noForcedTools === 'always') names.push('tool_choice');
  return names;
}
