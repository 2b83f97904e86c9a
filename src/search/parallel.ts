import { joinUrl } from '../base/http/base-url.ts';
import type { SearchEngine } from '../call/search.ts';
import { ifAny, joinedTexts, jsonEngine, type KeyedEngineOptions, keyIn, resultsIn } from './engine.ts';

/** @see https://docs.parallel.ai/api-reference/search */
export function parallelSearch(options: KeyedEngineOptions): SearchEngine {
  const apiKey = keyIn('parallelSearch', options);
  const { baseUrl = 'https://api.parallel.ai/v1', nanoUsdPerSearch = 5_000_000, fetch } = options;
  return jsonEngine({
    name: 'parallel',
    takesOneDomainList: true,
    fetch,
    // Ten results are in the price; each further one costs a thousandth of a dollar.
    priceOf: (maxResults) => nanoUsdPerSearch + Math.max(0, maxResults - 10) * 1_000_000,
    request: ({ query, maxResults, maxCharacters, includeDomains, excludeDomains }) => ({
      url: joinUrl(baseUrl, '/search'),
      headers: { 'x-api-key': apiKey },
      body: {
        objective: query,
        search_queries: [query.slice(0, 200)],
        mode: 'basic',
        advanced_settings: {
          max_results: maxResults,
          excerpt_settings: { max_chars_per_result: maxCharacters },
          source_policy: { ...ifAny('include_domains', includeDomains), ...ifAny('exclude_domains', excludeDomains) },
        },
      },
    }),
    answer: ({ results }) => ({
      results: resultsIn(results, 'publish_date', ({ excerpts }) => joinedTexts(excerpts)),
    }),
  });
}
