import { joinUrl } from '../base/http/base-url.ts';
import type { SearchEngine } from '../call/search.ts';
import {
  checkEngineOptions,
  jsonEngine,
  resultsIn,
  type SearchEngineOptions,
  textIn,
  withSiteOperators,
} from './engine.ts';

/** A SearXNG of your own. */
export interface SearxngOptions extends SearchEngineOptions {
  /** The URL of the server, such as `http://127.0.0.1:8888`. Its settings must allow the format `json`. */
  baseUrl: string;
}

/** @see https://docs.searxng.org/dev/search_api.html */
export function searxngSearch(options: SearxngOptions): SearchEngine {
  checkEngineOptions('searxngSearch', options);
  const { baseUrl, nanoUsdPerSearch = 0, fetch } = options;
  return jsonEngine({
    name: 'searxng',
    fetch,
    priceOf: () => nanoUsdPerSearch,
    request(query) {
      const parameters = new URLSearchParams({ q: withSiteOperators(query), format: 'json' });
      return { url: `${joinUrl(baseUrl, '/search')}?${parameters}`, headers: {} };
    },
    answer: ({ results }) => ({ results: resultsIn(results, 'publishedDate', ({ content }) => textIn(content)) }),
  });
}
