import { joinUrl } from '../base/http/base-url.ts';
import { bearerHeader } from '../base/http/request-json.ts';
import { isObject } from '../base/values.ts';
import type { SearchEngine } from '../call/search.ts';
import { ifAny, jsonEngine, type KeyedEngineOptions, keyIn, resultsIn, textIn } from './engine.ts';

/** @see https://docs.firecrawl.dev/api-reference/endpoint/search */
export function firecrawlSearch(options: KeyedEngineOptions): SearchEngine {
  const apiKey = keyIn('firecrawlSearch', options);
  const { baseUrl = 'https://api.firecrawl.dev/v2', nanoUsdPerSearch = 11_000_000, fetch } = options;
  return jsonEngine({
    name: 'firecrawl',
    takesOneDomainList: true,
    takesCountry: true,
    fetch,
    // Two credits for every ten results.
    priceOf: (maxResults) => nanoUsdPerSearch * Math.ceil(maxResults / 10),
    request: ({ query, maxResults, includeDomains, excludeDomains, country }) => ({
      url: joinUrl(baseUrl, '/search'),
      headers: bearerHeader(apiKey),
      body: {
        query,
        limit: maxResults,
        sources: ['web'],
        ...(country === null ? {} : { country }),
        ...ifAny('includeDomains', includeDomains),
        ...ifAny('excludeDomains', excludeDomains),
      },
    }),
    answer({ data }) {
      const list = isObject(data) ? data.web : data;
      return {
        results: resultsIn(list, 'date', ({ markdown, description }) => textIn(markdown) || textIn(description)),
      };
    },
  });
}
