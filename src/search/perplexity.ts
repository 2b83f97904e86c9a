import { joinUrl } from '../base/http/base-url.ts';
import { bearerHeader } from '../base/http/request-json.ts';
import type { SearchEngine } from '../call/search.ts';
import { ifAny, jsonEngine, type KeyedEngineOptions, keyIn, resultsIn, textIn } from './engine.ts';

/** @see https://docs.perplexity.ai/api-reference/search-post */
export function perplexitySearch(options: KeyedEngineOptions): SearchEngine {
  const apiKey = keyIn('perplexitySearch', options);
  const { baseUrl = 'https://api.perplexity.ai', nanoUsdPerSearch = 5_000_000, fetch } = options;
  return jsonEngine({
    name: 'perplexity',
    takesOneDomainList: true,
    takesCountry: true,
    fetch,
    priceOf: () => nanoUsdPerSearch,
    request: ({ query, maxResults, maxCharacters, includeDomains, excludeDomains, country }) => ({
      url: joinUrl(baseUrl, '/search'),
      headers: bearerHeader(apiKey),
      body: {
        query,
        max_results: maxResults,
        // A token has some four characters.
        max_tokens_per_page: Math.ceil(maxCharacters / 4),
        ...(country === null ? {} : { country }),
        ...ifAny('search_domain_filter', [...includeDomains, ...excludeDomains.map((domain) => `-${domain}`)]),
      },
    }),
    answer: ({ results }) => ({ results: resultsIn(results, 'date', ({ snippet }) => textIn(snippet)) }),
  });
}
