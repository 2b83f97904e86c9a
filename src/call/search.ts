/** What is searched for. */
export interface SearchQuery {
  /** In words. */
  query: string;
  /** 1 to 20. */
  maxResults: number;
  /** Characters of the text of one result. */
  maxCharacters: number;
  /** Only pages of these domains and paths, such as `example.com`, `*.example.com` or `example.com/blog`; [] for all. */
  includeDomains: readonly string[];
  /** No pages of these. */
  excludeDomains: readonly string[];
  /** ISO 3166 code of the country whose results are wanted; null: any. */
  country: string | null;
  /** Aborted when the client leaves, and when the search has had its time. */
  signal: AbortSignal;
}

/** A page that a search has found. */
export interface SearchResult {
  /** Where the page is. */
  url: string;
  /** '' where the engine knows none. */
  title: string;
  /** What the page says of the query; may be ''. */
  text: string;
  /** As the engine gives it; null: not known. */
  publishedAt: string | null;
}

/** What an engine has found. */
export interface SearchAnswer {
  /** The best first. */
  results: readonly SearchResult[];
  /** What the search has cost, integer nano-USD; absent: the highest price. */
  nanoUsd?: number;
}

/** Searches the web. */
export interface SearchEngine {
  /** The name that requests use, such as `exa`; unique. */
  name: string;
  /** The highest price of a search, integer nano-USD: it is held beforehand. */
  priceOf(maxResults: number): number;
  /** true: takes either domains to include, or domains to exclude. Default false. */
  takesOneDomainList?: boolean;
  /** Whether it heeds `country`. Default false. */
  takesCountry?: boolean;
  /** @throws any error: the search has failed; what it says is shown to nobody */
  search(query: SearchQuery): Promise<SearchAnswer>;
}

/** A search that a plugin or a tool asks for. */
export interface SearchRequest {
  /** In words; cut at 400 characters. */
  query: string;
  /** Default: the first engine of the host app. */
  engine?: string | undefined;
  /** Default 5; 20 at most. */
  maxResults?: number | undefined;
  /** Characters of the text of one result. Default 2,000. */
  maxCharacters?: number | undefined;
  /** Default: all domains. */
  includeDomains?: readonly string[] | undefined;
  /** Default: none. */
  excludeDomains?: readonly string[] | undefined;
  /** ISO 3166 code. Default: any country. */
  country?: string | null | undefined;
}

/** What was found, and by whom. */
export interface FoundPages {
  /** Name of the engine. */
  engine: string;
  /** The best first. */
  results: readonly SearchResult[];
  /** What the search has cost, integer nano-USD. */
  nanoUsd: number;
  /** Fields of the search that the engine does not heed: `country`, or none. */
  ignored: readonly 'country'[];
}

const usualResults = 5;
const mostResults = 20;
const usualCharacters = 2000;
const mostCharacters = 20_000;
/** Titles are cut there. */
export const mostTitleCharacters = 300;

/** How many results a search has at most, and how long the text of each is. */
export function boundsOf(asked: SearchRequest): { maxResults: number; maxCharacters: number } {
  return {
    maxResults: bounded(asked.maxResults ?? usualResults, mostResults),
    maxCharacters: bounded(asked.maxCharacters ?? usualCharacters, mostCharacters),
  };
}

function bounded(value: number, most: number): number {
  return Math.max(1, Math.min(Math.floor(value), most));
}
