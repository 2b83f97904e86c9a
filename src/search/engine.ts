import * as z from 'zod';
import { type JsonRequest, requestJson } from '../base/http/request-json.ts';
import { lazily } from '../base/lazily.ts';
import { isOnOneLine, isUnfilled, pastedKey } from '../base/text/pasted-key.ts';
import { isObject } from '../base/values.ts';
import type { SearchAnswer, SearchEngine, SearchQuery, SearchResult } from '../call/search.ts';
import { checkedHostObject, field } from '../schema/host-object.ts';

/** The options of every engine. */
export interface SearchEngineOptions {
  /** The price of one search, integer nano-USD. Default: the service's price in November 2026. */
  nanoUsdPerSearch?: number | undefined;
  /** The URL of a service with the same interface. Default: the service itself. */
  baseUrl?: string | undefined;
  /** Default: the global `fetch`. */
  fetch?: typeof fetch | undefined;
}

/** An engine whose account has a key. */
export interface KeyedEngineOptions extends SearchEngineOptions {
  /** The key of the account. */
  apiKey: string;
}

const optionShape = lazily(() => ({
  nanoUsdPerSearch: field.count().optional(),
  baseUrl: field.text().optional(),
  fetch: field.fn().optional(),
}));
const keyedShape = lazily(() => ({ ...optionShape(), apiKey: z.string() }));

/**
 * @param of  the function that they are options of
 * @throws GatewayError invalid_request (400) for an option that no engine has, or a value of the wrong type
 */
export function checkEngineOptions(of: string, options: SearchEngineOptions): void {
  checkedHostObject(of, options, optionShape);
}

/**
 * Checks the options of an engine.
 * @returns its key, without what was copied with it
 * @throws GatewayError as `checkEngineOptions`
 * @throws TypeError for what cannot be a key. The message does not hold it
 */
export function keyIn(of: string, options: KeyedEngineOptions): string {
  const { key } = pastedKey(checkedHostObject(of, options, keyedShape).apiKey);
  // Without a key, the service itself refuses each search.
  if (key !== '' && (!isOnOneLine(key) || isUnfilled(key)))
    throw new TypeError('The apiKey of a search engine is no key: expected visible ASCII characters on one line');
  return key;
}

/** A service with one request for each search, which responds with JSON. */
interface JsonEngine extends Pick<SearchEngine, 'name' | 'priceOf' | 'takesOneDomainList' | 'takesCountry'> {
  request(query: SearchQuery): Pick<JsonRequest, 'url' | 'headers' | 'body'>;
  answer(body: Record<string, unknown>): SearchAnswer;
  fetch?: typeof fetch | undefined;
}

/** The largest response: twenty pages with their whole text. */
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
 * Reads the results of a list. Results that are no pages are left out.
 * @param textOf  reads the text of a page
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

/** Reads a text; '' for another value. */
export function textIn(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Joins the texts of a list, one to a paragraph. */
export function joinedTexts(list: unknown): string {
  return Array.isArray(list) ? list.filter((one) => typeof one === 'string').join('\n\n') : '';
}

/** Adds operators to the query, for engines without fields for domains. Most engines know them. */
export function withSiteOperators({ query, includeDomains, excludeDomains }: SearchQuery): string {
  const site = (domain: string) => `site:${domain.replace(/^\*\./, '')}`;
  const included = includeDomains.map(site).join(' OR ');
  const excluded = excludeDomains.map((domain) => `-${site(domain)}`).join(' ');
  return [query, includeDomains.length > 1 ? `(${included})` : included, excluded]
    .filter((part) => part !== '')
    .join(' ');
}

/** An object with the field; empty if the list is. */
export function ifAny<Name extends string>(name: Name, list: readonly string[]): { [key in Name]?: readonly string[] } {
  return list.length === 0 ? {} : ({ [name]: list } as { [key in Name]: readonly string[] });
}
