import { isObject, type Loose } from '../../base/values.ts';

/**
 * The most searches of one request, for providers that search in turns: each turn reads the prompt again, and the pages
 * that the searches before it have found. `ownSearches` of the prompt bound has room for the pages of so many.
 */
export const mostSearchTurns = 3;

/** The number of times that such a provider may read the prompt of a request that lets it search. */
export const searchTurns = mostSearchTurns + 1;

/** The contents of `web_search_options` of a request, for a dialect that has a search tool in its place. */
export interface SearchOptions {
  /** The place of the user: `{ type: 'approximate', country, … }`; null: not said. */
  place: Loose | null;
  /** The amount of text to read, such as `low`; null: not said. */
  contextSize: unknown;
  /** The domains that may be searched; null: all domains. */
  allowedDomains: readonly unknown[] | null;
}

const readFields: ReadonlySet<string> = new Set(['user_location', 'search_context_size', 'filters']);

/**
 * @param drop  receives the paths of fields that no dialect has a place for
 * @returns null: the request does not ask for a search
 * @see https://developers.openai.com/api/docs/guides/tools-web-search
 */
export function searchOptionsOf(request: object, drop: (path: string) => void): SearchOptions | null {
  const { web_search_options: options } = request as Loose;
  if (!isObject(options)) return null;
  for (const field in options) if (!readFields.has(field)) drop(`web_search_options.${field}`);
  const { user_location: where, search_context_size: contextSize = null, filters } = options;
  const domains = isObject(filters) ? filters.allowed_domains : null;
  return { place: placeOf(where), contextSize, allowedDomains: Array.isArray(domains) ? domains : null };
}

/** Returns the place. Chat requests have its fields one level deeper. */
function placeOf(where: unknown): Loose | null {
  if (!isObject(where)) return null;
  const { approximate, ...fields } = where;
  return { type: 'approximate', ...fields, ...(isObject(approximate) ? approximate : {}) };
}
