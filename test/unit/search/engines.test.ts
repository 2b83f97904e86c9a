import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { SearchEngine, SearchQuery } from '../../../src/call/search.ts';
import { braveSearch } from '../../../src/search/brave.ts';
import { exaSearch } from '../../../src/search/exa.ts';
import { firecrawlSearch } from '../../../src/search/firecrawl.ts';
import { parallelSearch } from '../../../src/search/parallel.ts';
import { perplexitySearch } from '../../../src/search/perplexity.ts';
import { searxngSearch } from '../../../src/search/searxng.ts';
import { tavilySearch } from '../../../src/search/tavily.ts';

const apiKey = 'search-key-0123456789';
const bananas: SearchQuery = {
  query: 'are bananas berries',
  maxResults: 3,
  maxCharacters: 1000,
  includeDomains: [],
  excludeDomains: [],
  country: null,
  signal: new AbortController().signal,
};

interface Seen {
  method: string | undefined;
  path: string;
  query: Record<string, string>;
  headers: IncomingHttpHeaders;
  body: unknown;
}

let baseUrl = '';
let seen: Seen[] = [];
let answer: { status: number; text: string } = { status: 200, text: '{}' };
const server = createServer(async (request, response) => {
  let text = '';
  for await (const piece of request) text += piece;
  const url = new URL(request.url ?? '', 'http://local');
  seen.push({
    method: request.method,
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    headers: request.headers,
    body: text === '' ? null : JSON.parse(text),
  });
  response
    .writeHead(answer.status, { 'content-type': 'application/json', location: 'http://127.0.0.1:1/' })
    .end(answer.text);
});
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());
beforeEach(() => {
  seen = [];
  answer = { status: 200, text: '{}' };
});

interface Case {
  engine: () => SearchEngine;
  /** As the service answers. */
  shape: object;
  results: object[];
  /** What the service must get for the question alone. */
  sent: object;
  /** For domains and a country, as far as the engine takes them. */
  filtered: object;
  keyHeader: [string, string] | null;
  price: number;
  spent?: number;
}

const page = { url: 'https://botany.example/banana', title: 'Bananas' };
const cases: Record<string, Case> = {
  exa: {
    engine: () => exaSearch({ apiKey, baseUrl }),
    shape: {
      requestId: 'r1',
      resolvedSearchType: 'neural',
      results: [
        { id: page.url, ...page, publishedDate: '2026-01-02T00:00:00.000Z', author: 'B', score: 0.4, text: 'Berries.' },
        { id: 'x', url: 'https://other.example/', title: null, highlights: ['one', 'two'] },
      ],
      costDollars: { total: 0.005 },
    },
    results: [
      { ...page, text: 'Berries.', publishedAt: '2026-01-02T00:00:00.000Z' },
      { url: 'https://other.example/', title: '', text: 'one\n\ntwo', publishedAt: null },
    ],
    sent: {
      method: 'POST',
      path: '/search',
      body: { query: bananas.query, type: 'auto', numResults: 3, contents: { text: { maxCharacters: 1000 } } },
    },
    filtered: { body: { includeDomains: ['a.example', 'b.example'], excludeDomains: ['c.example'] } },
    keyHeader: ['x-api-key', apiKey],
    price: 7_000_000,
    spent: 5_000_000,
  },
  firecrawl: {
    engine: () => firecrawlSearch({ apiKey, baseUrl }),
    shape: {
      success: true,
      data: {
        web: [
          { ...page, description: 'Short.', position: 1 },
          { url: 'https://other.example/', markdown: '# Long' },
        ],
      },
      creditsUsed: 2,
    },
    results: [
      { ...page, text: 'Short.', publishedAt: null },
      { url: 'https://other.example/', title: '', text: '# Long', publishedAt: null },
    ],
    sent: { method: 'POST', path: '/search', body: { query: bananas.query, limit: 3, sources: ['web'] } },
    filtered: { body: { includeDomains: ['a.example', 'b.example'], country: 'DE' } },
    keyHeader: ['authorization', `Bearer ${apiKey}`],
    price: 11_000_000,
  },
  parallel: {
    engine: () => parallelSearch({ apiKey, baseUrl }),
    shape: {
      search_id: 's1',
      results: [{ ...page, publish_date: '2025-12-01', excerpts: ['First.', 'Second.'] }],
      usage: [{ name: 'sku_search', count: 1 }],
    },
    results: [{ ...page, text: 'First.\n\nSecond.', publishedAt: '2025-12-01' }],
    sent: {
      method: 'POST',
      path: '/search',
      body: {
        objective: bananas.query,
        search_queries: [bananas.query],
        mode: 'basic',
        advanced_settings: { max_results: 3, excerpt_settings: { max_chars_per_result: 1000 }, source_policy: {} },
      },
    },
    filtered: { body: { advanced_settings: { source_policy: { include_domains: ['a.example', 'b.example'] } } } },
    keyHeader: ['x-api-key', apiKey],
    price: 5_000_000,
  },
  perplexity: {
    engine: () => perplexitySearch({ apiKey, baseUrl }),
    shape: { results: [{ ...page, snippet: 'A snippet.', date: '2026-03-04', last_updated: '2026-05-06' }], id: 'p1' },
    results: [{ ...page, text: 'A snippet.', publishedAt: '2026-03-04' }],
    sent: { method: 'POST', path: '/search', body: { query: bananas.query, max_results: 3, max_tokens_per_page: 250 } },
    filtered: { body: { search_domain_filter: ['a.example', 'b.example'], country: 'DE' } },
    keyHeader: ['authorization', `Bearer ${apiKey}`],
    price: 5_000_000,
  },
  brave: {
    engine: () => braveSearch({ apiKey, baseUrl }),
    shape: {
      type: 'search',
      query: { original: bananas.query },
      web: {
        type: 'search',
        results: [
          {
            ...page,
            description: 'In short.',
            extra_snippets: ['More.'],
            page_age: '2026-02-03T00:00:00',
            is_live: false,
          },
        ],
      },
    },
    results: [{ ...page, text: 'In short.\n\nMore.', publishedAt: '2026-02-03T00:00:00' }],
    sent: {
      method: 'GET',
      path: '/web/search',
      query: { q: bananas.query, count: '3', extra_snippets: 'true', text_decorations: 'false', result_filter: 'web' },
    },
    filtered: { query: { q: `${bananas.query} (site:a.example OR site:b.example) -site:c.example`, country: 'DE' } },
    keyHeader: ['x-subscription-token', apiKey],
    price: 5_000_000,
  },
  tavily: {
    engine: () => tavilySearch({ apiKey, baseUrl }),
    shape: {
      query: bananas.query,
      answer: null,
      images: [],
      results: [{ ...page, content: 'Content.', score: 0.9, raw_content: null }],
      response_time: 1.1,
      request_id: 't1',
    },
    results: [{ ...page, text: 'Content.', publishedAt: null }],
    sent: { method: 'POST', path: '/search', body: { query: bananas.query, max_results: 3, search_depth: 'basic' } },
    filtered: { body: { include_domains: ['a.example', 'b.example'], exclude_domains: ['c.example'] } },
    keyHeader: ['authorization', `Bearer ${apiKey}`],
    price: 8_000_000,
  },
  searxng: {
    engine: () => searxngSearch({ baseUrl }),
    shape: {
      query: bananas.query,
      number_of_results: 0,
      results: [{ ...page, content: 'Found.', engine: 'duckduckgo', category: 'general', publishedDate: null }],
      answers: [],
      unresponsive_engines: [],
    },
    results: [{ ...page, text: 'Found.', publishedAt: null }],
    sent: { method: 'GET', path: '/search', query: { q: bananas.query, format: 'json' } },
    filtered: { query: { q: `${bananas.query} (site:a.example OR site:b.example) -site:c.example` } },
    keyHeader: null,
    price: 0,
  },
};

describe.each(Object.entries(cases))(
  'the search engine %s',
  (name, { engine, shape, results, sent, filtered, keyHeader, price, spent }) => {
    it('asks its service, and reads what it answers', async () => {
      answer.text = JSON.stringify(shape);
      const found = await engine().search(bananas);
      expect(found).toEqual({ results, ...(spent === undefined ? {} : { nanoUsd: spent }) });
      expect(seen).toHaveLength(1);
      const { method, path, query, headers, body } = seen[0] as Seen;
      expect({ method, path, ...(method === 'GET' ? { query } : { body }) }).toEqual(sent);
      expect(engine().name).toBe(name);
      if (keyHeader) expect(headers[keyHeader[0]]).toBe(keyHeader[1]);
    });
    it('passes on domains and the country, as far as it takes them', async () => {
      answer.text = JSON.stringify(shape);
      const one = engine();
      const excluded = one.takesOneDomainList ? [] : ['c.example'];
      await one.search({
        ...bananas,
        includeDomains: ['a.example', 'b.example'],
        excludeDomains: excluded,
        country: 'DE',
      });
      expect(seen[0]).toMatchObject(filtered);
      if (one.takesCountry !== true) expect(JSON.stringify(seen[0])).not.toContain('"DE"');
    });
    it('has a price, which grows with the results at most', () => {
      const prices = [1, 5, 10, 20].map((most) => engine().priceOf(most));
      expect(prices[1]).toBe(price);
      expect(prices).toEqual(prices.toSorted((a, b) => a - b));
      for (const one of prices) expect(Number.isSafeInteger(one)).toBe(true);
    });
    it.each<[string, { status: number; text: string }]>([
      ['a status that is no success', { status: 401, text: '{"error":"search-key-0123456789 is wrong"}' }],
      ['a redirect', { status: 302, text: '' }],
      ['no JSON', { status: 200, text: '<html>' }],
      ['no object', { status: 200, text: '[]' }],
      ['results that are no list', { status: 200, text: '{"results":{},"data":{"web":1},"web":{"results":"x"}}' }],
    ])('fails for %s, and shows no key', async (_, given) => {
      answer = given;
      const error = await engine()
        .search(bananas)
        .catch((one: unknown) => one);
      expect(error).toBeInstanceOf(Error);
      expect(`${(error as Error).message} ${(error as Error).stack}`).not.toContain(apiKey);
      expect(seen).toHaveLength(1);
    });
    it('leaves out results that are no page', async () => {
      const strange = [
        null,
        1,
        {},
        { url: 'javascript:x()' },
        { url: 'http://' },
        { url: 7 },
        { url: 'https://ok.example/' },
      ];
      answer.text = JSON.stringify({ results: strange, data: { web: strange }, web: { results: strange } });
      expect((await engine().search(bananas)).results).toEqual([
        { url: 'https://ok.example/', title: '', text: '', publishedAt: null },
      ]);
    });
    it('hangs up when the search is over', async () => {
      await expect(engine().search({ ...bananas, signal: AbortSignal.abort(new Error('over')) })).rejects.toThrow(
        'over',
      );
    });
  },
);
