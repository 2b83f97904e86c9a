/** The query of a search, with its limits. */
export interface SearchQuery {
  /** The query in words. */
  query: string;
  /** The most results, 1 to 20. */
  maxResults: number;
  /** The most characters of the text of one result. */
  maxCharacters: number;
  /**
   * The domains and paths whose pages are wanted, such as `example.com`, `*.example.com` or `example.com/blog`; []:
   * all.
   */
  includeDomains: readonly string[];
  /** The domains and paths whose pages are not wanted. */
  excludeDomains: readonly string[];
  /** ISO 3166 code of the country whose results are wanted; null: any. */
  country: string | null;
  /** Aborted when the client leaves, and when the search has had its time. */
  signal: AbortSignal;
}

/** A page that a search has found. */
export interface SearchResult {
  /** The URL of the page. */
  url: string;
  /** The title; '' where the engine knows none. */
  title: string;
  /** The text of the page on the query; may be ''. */
  text: string;
  /** The date as the engine gives it; null: not known. */
  publishedAt: string | null;
}

/** The result of an engine. */
export interface SearchAnswer {
  /** The pages, the best first. */
  results: readonly SearchResult[];
  /** The cost of the search, integer nano-USD; absent: the highest price. */
  nanoUsd?: number;
}

/** Searches the web. */
export interface SearchEngine {
  /** The name that requests use, such as `exa`; unique. */
  name: string;
  /** The highest price of a search, integer nano-USD: it is held beforehand. */
  priceOf(maxResults: number): number;
  /** true: the engine takes either domains to include, or domains to exclude. Default false. */
  takesOneDomainList?: boolean;
  /** true: the engine heeds `country`. Default false. */
  takesCountry?: boolean;
  /** @throws any error: the search has failed; nobody is shown its message */
  search(query: SearchQuery): Promise<SearchAnswer>;
}

/** A search that a plugin or a tool asks for. */
export interface SearchRequest {
  /** The query in words; cut at 400 characters. */
  query: string;
  /** The name of the engine. Default: the first engine of the host app. */
  engine?: string | undefined;
  /** The most results. Default 5; 20 at most. */
  maxResults?: number | undefined;
  /** The most characters of the text of one result. Default 2,000. */
  maxCharacters?: number | undefined;
  /** The wanted domains. Default: all. */
  includeDomains?: readonly string[] | undefined;
  /** The domains that are not wanted. Default: none. */
  excludeDomains?: readonly string[] | undefined;
  /** ISO 3166 code. Default: any country. */
  country?: string | null | undefined;
}

/** The pages that were found, and the engine that has found them. */
export interface FoundPages {
  /** Name of the engine. */
  engine: string;
  /** The pages, the best first. */
  results: readonly SearchResult[];
  /** The cost of the search, integer nano-USD. */
  nanoUsd: number;
  /** Fields of the search that the engine does not heed: `country`, or none. */
  ignored: readonly 'country'[];
}

const usualResults = 5;
const mostResults = 20;
const usualCharacters = 2000;
const mostCharacters = 20_000;
/** The most characters of a title; longer ones are cut. */
export const mostTitleCharacters = 300;

/** Returns the most results of a search, and the most characters of the text of each. */
export function boundsOf(asked: SearchRequest): { maxResults: number; maxCharacters: number } {
  return {
    maxResults: bounded(asked.maxResults ?? usualResults, mostResults),
    maxCharacters: bounded(asked.maxCharacters ?? usualCharacters, mostCharacters),
  };
}

function bounded(value: number, most: number): number {
  return Math.max(1, Math.min(Math.floor(value), most));
}
