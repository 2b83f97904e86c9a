import { joinUrl } from '../base/http/base-url.ts';
import { isObject } from '../base/values.ts';
import type { SearchEngine } from '../call/search.ts';
import { ifAny, joinedTexts, jsonEngine, type KeyedEngineOptions, keyIn, resultsIn, textIn } from './engine.ts';

/** The number of results in the price; each further one costs a thousandth of a dollar. */
const includedResults = 10;

/** @see https://exa.ai/docs/reference/search */
export function exaSearch(options: KeyedEngineOptions): SearchEngine {
  const apiKey = keyIn('exaSearch', options);
  const { baseUrl = 'https://api.exa.ai', nanoUsdPerSearch = 7_000_000, fetch } = options;
  return jsonEngine({
    name: 'exa',
    fetch,
    priceOf: (maxResults) => nanoUsdPerSearch + Math.max(0, maxResults - includedResults) * 1_000_000,
    request: ({ query, maxResults, maxCharacters, includeDomains, excludeDomains }) => ({
      url: joinUrl(baseUrl, '/search'),
      headers: { 'x-api-key': apiKey },
      body: {
        query,
        type: 'auto',
        numResults: maxResults,
        contents: { text: { maxCharacters } },
        ...ifAny('includeDomains', includeDomains),
        ...ifAny('excludeDomains', excludeDomains),
      },
    }),
    answer({ results, costDollars }) {
      const usd = isObject(costDollars) ? costDollars.total : undefined;
      const found = resultsIn(
        results,
        'publishedDate',
        ({ text, highlights }) => textIn(text) || joinedTexts(highlights),
      );
      return typeof usd === 'number' && usd >= 0
        ? { results: found, nanoUsd: Math.ceil(usd * 1e9) }
        : { results: found };
    },
  });
}
