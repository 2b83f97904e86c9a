import type { Endpoint } from '../../call/model.ts';
import { listedAs } from '../listed-as.ts';
import { anthropicFacts } from './anthropic.ts';
import type { ModelFact } from './fact.ts';
import { openaiFacts } from './openai.ts';
import { otherFacts } from './others.ts';

/** All rows. */
export const modelFacts: readonly ModelFact[] = [...openaiFacts, ...anthropicFacts, ...otherFacts];

/** The facts of a model at a provider: its rows, put together. */
export interface KnownFacts extends Omit<ModelFact, 'name' | 'isOf' | 'at' | 'asOf' | 'source'> {
  /** Names of the rows. */
  rows: readonly string[];
}

const known = new WeakMap<Endpoint, KnownFacts | null>();

/** Finds what is known of the model of an endpoint, once. */
export function factsOf(endpoint: Endpoint): KnownFacts | null {
  let facts = known.get(endpoint);
  if (facts === undefined) {
    const { providerSlug, upstreamModel } = listedAs(endpoint);
    facts = findFacts(providerSlug, endpoint.modelSlug, upstreamModel);
    known.set(endpoint, facts);
  }
  return facts;
}

/**
 * Finds what is known of a model. The provider's name says more than the slug, which an operator may have chosen; a
 * deployment that has a name of its own is known by its slug.
 * @returns null: nothing
 */
export function findFacts(provider: string, slug: string, upstreamModel: string): KnownFacts | null {
  return lookUp(provider, upstreamModel) ?? lookUp(provider, slug);
}

function lookUp(provider: string, name: string): KnownFacts | null {
  const model = bareModel(name);
  const rows = modelFacts.filter(({ isOf, at }) => (at === undefined || at.includes(provider)) && isOf(model));
  if (rows.length === 0) return null;
  const joined: KnownFacts = { rows: rows.map((row) => row.name) };
  for (const { name: _, isOf: __, at: ___, asOf: ____, source: _____, refuses = [], ...rest } of rows)
    Object.assign(joined, rest, { refuses: [...new Set([...(joined.refuses ?? []), ...refuses])] });
  return joined;
}

/**
 * The name of a model alone: without its author, the prefixes and the suffixes of hosts, and what it was trained to.
 * `us.anthropic.claude-…`, `openai/gpt-5:nitro`, `models/gemini-…`, `ft:gpt-4.1-mini:org`, `accounts/x/models/kimi-k2p5`.
 */
function bareModel(name: string): string {
  const bare = name.toLowerCase().replace(/^ft:/, '');
  return bare
    .slice(bare.lastIndexOf('/') + 1)
    .replace(/^(?:[a-z]{2,6}\.)?[a-z]+\.(?=[a-z])/, '')
    .replace(/[:@].*$/, '');
}
