import { joinUrl } from '../base/http/base-url.ts';
import { bearerHeader } from '../base/http/request-json.ts';
import type { SearchEngine } from '../call/search.ts';
import { ifAny, jsonEngine, type KeyedEngineOptions, keyIn, resultsIn, textIn } from './engine.ts';

/** @see https://docs.tavily.com/documentation/api-reference/endpoint/search */
export function tavilySearch(options: KeyedEngineOptions): SearchEngine {
  const apiKey = keyIn('tavilySearch', options);
  const { baseUrl = 'https://api.tavily.com', nanoUsdPerSearch = 8_000_000, fetch } = options;
  return jsonEngine({
    name: 'tavily',
    fetch,
    priceOf: () => nanoUsdPerSearch,
    request: ({ query, maxResults, includeDomains, excludeDomains }) => ({
      url: joinUrl(baseUrl, '/search'),
      headers: bearerHeader(apiKey),
      body: {
        query,
        max_results: maxResults,
        search_depth: 'basic',
        ...ifAny('include_domains', includeDomains),
        ...ifAny('exclude_domains', excludeDomains),
      },
    }),
    answer: ({ results }) => ({ results: resultsIn(results, 'published_date', ({ content }) => textIn(content)) }),
  });
}
