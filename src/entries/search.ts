export type {
  FoundPages,
  SearchAnswer,
  SearchEngine,
  SearchQuery,
  SearchRequest,
  SearchResult,
} from '../call/search.ts';
export { braveSearch } from '../search/brave.ts';
export type { KeyedEngineOptions, SearchEngineOptions } from '../search/engine.ts';
export { exaSearch } from '../search/exa.ts';
export { firecrawlSearch } from '../search/firecrawl.ts';
export { parallelSearch } from '../search/parallel.ts';
export { perplexitySearch } from '../search/perplexity.ts';
export { type SearxngOptions, searxngSearch } from '../search/searxng.ts';
export { tavilySearch } from '../search/tavily.ts';
