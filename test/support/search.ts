import type { SearchAnswer, SearchEngine, SearchQuery, SearchResult } from '../../src/call/search.ts';

export const pageOf = (name: string, more: Partial<SearchResult> = {}): SearchResult => ({
  url: `https://${name}.example/page`,
  title: `About ${name}`,
  text: `What ${name} says.`,
  publishedAt: null,
  ...more,
});

/** A search engine that finds what it is told to, and remembers what it was asked. Each search costs a cent. */
export function engineOf(
  answer: readonly SearchResult[] | ((query: SearchQuery) => SearchAnswer | Promise<SearchAnswer>),
  more: Partial<SearchEngine> = {},
): SearchEngine & { asked: SearchQuery[] } {
  const asked: SearchQuery[] = [];
  return {
    name: 'exa',
    priceOf: () => 10_000_000,
    asked,
    async search(query) {
      asked.push(query);
      return typeof answer === 'function' ? answer(query) : { results: answer };
    },
    ...more,
  };
}
