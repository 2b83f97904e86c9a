import { type JsonRequest, requestJson } from '../base/request-json.ts';
import { isObject } from '../base/values.ts';
import type { SearchAnswer, SearchEngine, SearchQuery, SearchResult } from '../call/search.ts';

/** What every engine can be told. */
export interface SearchEngineOptions {
  /** The price of one search, integer nano-USD. Default: what the service asked for in November 2026. */
  nanoUsdPerSearch?: number;
  /** Of a service with the same interface. Default: the service itself. */
  baseUrl?: string;
  /** Default: the global `fetch`. */
  fetch?: typeof fetch;
}

/** An engine whose account has a key. */
export interface KeyedEngineOptions extends SearchEngineOptions {
  /** The key of the account. */
  apiKey: string;
}

/** A service that is asked once, and answers with JSON. */
interface JsonEngine extends Pick<SearchEngine, 'name' | 'priceOf' | 'takesOneDomainList' | 'takesCountry'> {
  request(query: SearchQuery): Pick<JsonRequest, 'url' | 'headers' | 'body'>;
  answer(body: Record<string, unknown>): SearchAnswer;
  fetch?: typeof fetch | undefined;
}

/** Twenty pages with their whole text. */
const maxBytes = 8 * 1024 * 1024;

export function jsonEngine({ request, answer, fetch, ...facts }: JsonEngine): SearchEngine {
  return {
    ...facts,
    async search(query) {
      const body = await requestJson({ ...request(query), maxBytes, signal: query.signal, fetch });
      if (!isObject(body)) throw new Error('The search engine answered without results');
      return answer(body);
    },
  };
}

/**
 * The results in a list, with what is no page left out.
 * @param textOf  what the page says
 * @throws Error where there is no list
 */
export function resultsIn(
  list: unknown,
  dateField: string,
  textOf: (result: Record<string, unknown>) => string,
): SearchResult[] {
  if (!Array.isArray(list)) throw new Error('The search engine answered without results');
  return list.flatMap((one): SearchResult[] => {
    if (!isObject(one) || typeof one.url !== 'string' || !/^https?:\/\//i.test(one.url) || !URL.canParse(one.url))
      return [];
    const date = one[dateField];
    return [
      {
        url: one.url,
        title: textIn(one.title),
        text: textOf(one),
        publishedAt: typeof date === 'string' ? date : null,
      },
    ];
  });
}

/** '' for what is no text. */
export function textIn(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The texts of a list, one to a paragraph. */
export function joinedTexts(list: unknown): string {
  return Array.isArray(list) ? list.filter((one) => typeof one === 'string').join('\n\n') : '';
}

/** The query with operators that most engines know, for those without fields for domains. */
export function withSiteOperators({ query, includeDomains, excludeDomains }: SearchQuery): string {
  const site = (domain: string) => `site:${domain.replace(/^\*\./, '')}`;
  const included = includeDomains.map(site).join(' OR ');
  const excluded = excludeDomains.map((domain) => `-${site(domain)}`).join(' ');
  return [query, includeDomains.length > 1 ? `(${included})` : included, excluded]
    .filter((part) => part !== '')
    .join(' ');
}

/** The field with the list, unless it is empty. */
export function ifAny<Name extends string>(name: Name, list: readonly string[]): { [key in Name]?: readonly string[] } {
  return list.length === 0 ? {} : ({ [name]: list } as { [key in Name]: readonly string[] });
}
