import { joinUrl } from '../base/http/base-url.ts';
import { isObject } from '../base/values.ts';
import type { SearchEngine } from '../call/search.ts';
import {
  joinedTexts,
  jsonEngine,
  type KeyedEngineOptions,
  keyIn,
  resultsIn,
  textIn,
  withSiteOperators,
} from './engine.ts';

/** @see https://api-dashboard.search.brave.com/app/documentation/web-search */
export function braveSearch(options: KeyedEngineOptions): SearchEngine {
  const apiKey = keyIn('braveSearch', options);
  const { baseUrl = 'https://api.search.brave.com/res/v1', nanoUsdPerSearch = 5_000_000, fetch } = options;
  return jsonEngine({
    name: 'brave',
    takesCountry: true,
    fetch,
    priceOf: () => nanoUsdPerSearch,
    request(query) {
      const { maxResults, country } = query;
      const parameters = new URLSearchParams({
        q: withSiteOperators(query),
        count: String(maxResults),
        extra_snippets: 'true',
        text_decorations: 'false',
        result_filter: 'web',
        ...(country === null ? {} : { country }),
      });
      return { url: `${joinUrl(baseUrl, '/web/search')}?${parameters}`, headers: { 'x-subscription-token': apiKey } };
    },
    answer({ web }) {
      // Without results there is no `web`.
      const list = isObject(web) ? web.results : [];
      return {
        results: resultsIn(list, 'page_age', ({ description, extra_snippets: more }) =>
          [textIn(description), joinedTexts(more)].filter((text) => text !== '').join('\n\n'),
        ),
      };
    },
  });
}
