import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { randomIds } from '../../src/base/ids.ts';
import { type FetchFault, FetchRefused, type FetchUrl } from '../../src/call/fetch-url.ts';
import type { GatewayOptions } from '../../src/options.ts';
import { webFetch } from '../../src/plugins/web-fetch.ts';
import { askResponses, nativeMessage, nativeResponse, nativeUp, streamResponses } from '../support/ask-responses.ts';
import { ledgerOf, withBudget } from '../support/booked.ts';
import { checkResponsesResult, checkResponsesStream } from '../support/check-responses.ts';
import { checkError, hello, testGateway } from '../support/gateway.ts';
import { pdfOf } from '../support/pdf.ts';
import { engineOf, pageOf } from '../support/search.ts';
import { chunk, completion, sse, textStream, usageChunk } from '../support/upstream.ts';

const metadata = { 'x-service-metadata': 'enabled' };
const pages = [pageOf('botany'), pageOf('fruit')];
const said = 'See [botany.example](https://botany.example/page).';
const searching = (parameters: object = {}) => ({
  model: 'acme/fast',
  messages: hello,
  tools: [{ type: 'service:web_search', parameters }],
});
const calling = (name: string, ...args: object[]) =>
  completion(
    {},
    {
      content: null,
      tool_calls: args.map((one, at) => ({
        id: `c${at}`,
        type: 'function',
        function: { name, arguments: JSON.stringify(one) },
      })),
    },
    { finish_reason: 'tool_calls' },
  );
/** What the tools have told the model, at the second request. */
const results = (upstream: { sent: { body: Record<string, unknown> }[] }, at = 1) =>
  ((upstream.sent[at] as (typeof upstream.sent)[number]).body.messages as { role: string; content: string }[])
    .filter(({ role }) => role === 'tool')
    .map(({ content }) => JSON.parse(content));

function searchGateway(engine = engineOf(pages), options: Partial<GatewayOptions> = {}) {
  return { ...testGateway({ searchEngines: [engine], ...options }), engine };
}

describe('the tool service:web_search', () => {
  it('tells the model what was found, counts it, and cites it', async () => {
    const { post, upstream, engine } = searchGateway();
    upstream.answer({ body: calling('web_search', { query: 'bananas' }) }, { body: completion({}, { content: said }) });
    const { json } = await post(searching());
    expect(engine.asked).toMatchObject([{ query: 'bananas', maxResults: 5, maxCharacters: 2000 }]);
    expect(results(upstream)).toEqual([
      { results: pages.map(({ url, title, text }) => ({ url, title, text, published: null })) },
    ]);
    expect(json.choices[0]?.message.annotations).toMatchObject([
      { url_citation: { url: pages[0]?.url, start_index: 4, end_index: said.length - 1 } },
      { url_citation: { url: pages[1]?.url, start_index: 0, end_index: 0 } },
    ]);
    expect(json.usage?.server_tool_use_details).toEqual({
      web_search_requests: 1,
      tool_calls_requested: 1,
      tool_calls_executed: 1,
    });
  });
  it('says in a stream where the links are in the texts of all steps', async () => {
    const { post, upstream } = searchGateway();
    upstream.answer(
      {
        body: [
          sse(chunk({ role: 'assistant', content: 'Let me look.' })),
          sse(
            chunk({
              tool_calls: [
                { index: 0, id: 'c', type: 'function', function: { name: 'web_search', arguments: '{"query":"x"}' } },
              ],
            }),
          ),
          sse(chunk({}, 'tool_calls')),
          sse(usageChunk()),
          sse('[DONE]'),
        ],
      },
      { body: textStream(...said) },
    );
    const { chunks } = await post({ ...searching(), stream: true });
    const whole = chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');
    const [first] = chunks.flatMap(({ choices }) => choices[0]?.delta.annotations ?? []) as unknown as {
      url_citation: { start_index: number; end_index: number };
    }[];
    expect(whole.slice(first?.url_citation.start_index, first?.url_citation.end_index)).toBe(said.slice(4, -1));
  });
  it.each<[string, object]>([
    [
      'service:web_search',
      {
        type: 'service:web_search',
        parameters: { max_results: 2, search_context_size: 'low', allowed_domains: ['example'] },
      },
    ],
    ['web_search', { type: 'web_search', max_results: 2, search_context_size: 'low', allowed_domains: ['example'] }],
    [
      'web_search_2025_08_26',
      {
        type: 'web_search_2025_08_26',
        max_results: 2,
        search_context_size: 'low',
        filters: { allowed_domains: ['example'] },
      },
    ],
  ])('takes its parameters as %s', async (_, tool) => {
    const { post, upstream, engine } = searchGateway();
    upstream.answer({ body: calling('web_search', { query: 'q' }) }, { body: completion() });
    await post({ ...searching(), tools: [tool] });
    expect(engine.asked).toMatchObject([{ maxResults: 2, maxCharacters: 1000, includeDomains: ['example'] }]);
  });
  it('ends where all results of the request are used up', async () => {
    const { post, upstream, engine } = searchGateway();
    upstream.answer(
      { body: calling('web_search', { query: 'a' }, { query: 'b' }, { query: 'c' }) },
      { body: calling('web_search', { query: 'd' }) },
      { body: completion() },
    );
    await post(searching({ max_total_results: 7 }));
    expect(engine.asked.map(({ maxResults }) => maxResults)).toEqual([5, 2]);
    expect(results(upstream, 2).slice(2)).toEqual([
      { error: expect.stringContaining('no more results') },
      { error: expect.stringContaining('no more results') },
    ]);
  });
  it('tells the model that a search has failed, and what it got wrong', async () => {
    const { post, upstream } = searchGateway(engineOf(() => Promise.reject(new Error('sk-secret'))));
    upstream.answer({ body: calling('web_search', { query: 'a' }, { query: 7 }, {}) }, { body: completion() });
    expect((await post(searching())).status).toBe(200);
    expect(results(upstream)).toEqual([
      { error: 'the search failed' },
      { error: 'expected a text in "query"' },
      { error: 'expected a text in "query"' },
    ]);
  });
  it('is paid for within the budget, and ends the call where it has no money', async () => {
    const engine = engineOf(pages, { priceOf: () => 600_000_000 });
    const test = await withBudget(1, { searchEngines: [engine] });
    test.upstream.answer(
      { body: calling('web_search', { query: 'a' }) },
      { body: calling('web_search', { query: 'b' }) },
    );
    const { status } = await test.post({ ...searching(), model: 'acme/one' });
    expect([status, engine.asked.length]).toEqual([402, 1]);
    expect(await ledgerOf(test)).toEqual({ spent: test.records[0]?.costNanoUsd, held: 0 });
    expect(test.records[0]?.costNanoUsd).toBeGreaterThan(600_000_000);
    // The response has failed: what its tools have cost is shown all the same.
    expect(test.records[0]?.pipeline).toMatchObject([{ name: 'server-tools', cost_usd: 0.6 }]);
  });
  it.each<[string, object, string]>([
    [
      'an engine of the provider',
      { engine: 'native' },
      'tools[0].parameters.engine: expected "auto" or a search engine',
    ],
    ['too many results', { max_results: 21 }, 'tools[0].parameters.max_results'],
    ['a size that there is not', { search_context_size: 'huge' }, 'tools[0].parameters.search_context_size'],
  ])('is refused for %s', async (_, parameters, message) => {
    const { post, upstream } = searchGateway();
    const { status, json } = await post(searching(parameters));
    checkError(400, json);
    expect([status, json.error.message, upstream.sent.length]).toEqual([400, expect.stringContaining(message), 0]);
  });
  it('is not there where the host app has no search engine', async () => {
    const { status, json } = await testGateway().post(searching());
    expect([status, json.error.message]).toEqual([
      400,
      'tool not available: service:web_search; only function tools and service:datetime, service:web_fetch are',
    ]);
  });
  it('works over Responses, as JSON and as a stream', async () => {
    const test = searchGateway();
    const body = { input: 'Bananas?', tools: [{ type: 'service:web_search' }] };
    test.upstream.answer({ body: calling('web_search', { query: 'b' }) }, { body: completion({}, { content: said }) });
    const { status, json } = await askResponses(test, body);
    expect(status).toBe(200);
    checkResponsesResult(json);
    const sources = ['botany', 'fruit'].map((name) => ({ type: 'url', url: `https://${name}.example/page` }));
    const item = { type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'b', sources } };
    expect(json.output).toMatchObject([item, { type: 'message' }]);
    expect(json.output[1].content[0].annotations).toMatchObject([
      { type: 'url_citation', url: 'https://botany.example/page', start_index: 4 },
      { type: 'url_citation', url: 'https://fruit.example/page', start_index: 0 },
    ]);
    test.upstream.answer({ body: calling('web_search', { query: 'b' }) }, { body: textStream(...said) });
    const { text } = await streamResponses(test, body);
    expect(JSON.stringify(checkResponsesStream(text).final)).toContain('"url":"https://fruit.example/page"');
    const types = [...text.matchAll(/"type":"(response\.(?:web_search_call|output_item)\.\w+)"/g)].map(
      ([, type]) => type,
    );
    expect(types.slice(0, 5)).toEqual([
      'response.output_item.added',
      'response.web_search_call.in_progress',
      'response.web_search_call.searching',
      'response.web_search_call.completed',
      'response.output_item.done',
    ]);
    // The next turn has the items in its input.
    test.upstream.answer({ body: completion({}, { content: 'More.' }) });
    const input = [{ role: 'user', content: 'Bananas?' }, ...json.output, { role: 'user', content: 'More?' }];
    expect((await askResponses(test, { ...body, input })).json.output).toMatchObject([{ type: 'message' }]);
  });
});

describe('the web search of a Responses request', () => {
  const body = { input: 'Bananas?', tools: [{ type: 'web_search', filters: { allowed_domains: ['example'] } }] };

  it('is done by the gateway where the provider speaks chat completions', async () => {
    const test = searchGateway();
    test.upstream.answer({ body: calling('web_search', { query: 'b' }) }, { body: completion({}, { content: said }) });
    const { json } = await askResponses(test, body, metadata);
    expect(test.engine.asked).toMatchObject([{ query: 'b', includeDomains: ['example'] }]);
    expect(json.output[1].content[0].annotations).toHaveLength(2);
    expect(json.service_metadata.dropped).toBeUndefined();
  });
  it('is done by the provider where it speaks Responses', async () => {
    const test = searchGateway(engineOf(pages), nativeUp);
    test.upstream.answer({ body: nativeResponse([nativeMessage('Found.')]) });
    await askResponses(test, body);
    expect(test.upstream.sent[0]?.body.tools).toEqual(body.tools);
    expect(test.engine.asked).toEqual([]);
  });
  it.each<[string, object, object]>([
    ['where the host app has no search engine', {}, body.tools[0] as object],
    [
      'where the client wants nothing new',
      { searchEngines: [engineOf(pages)] },
      { type: 'web_search', external_web_access: false },
    ],
  ])('is left out, and listed, %s', async (_, options, tool) => {
    const test = testGateway(options);
    test.upstream.always({ body: completion() });
    const { status, json } = await askResponses(test, { ...body, tools: [tool] }, metadata);
    expect([status, json.service_metadata.dropped]).toEqual([200, ['tools[].web_search']]);
    // A client that asks for no metadata is told as well.
    const plain = await askResponses(test, { ...body, tools: [tool] });
    expect(plain.headers.get('x-service-dropped')).toBe('tools[].web_search');
  });
});

const html = `<html><head><title>Bananas</title></head><body><article><p>${'Bananas are berries. '.repeat(30)}</p></article></body></html>`;
const bytesOf = (text: string) => new TextEncoder().encode(text);
type Served = { mediaType?: string; charset?: string; bytes?: Uint8Array; fault?: FetchFault };

/** A gateway that fetches what it is told to. */
function fetchGateway(serve: (url: string) => Served = () => ({}), options: Partial<GatewayOptions> = {}) {
  const asked: string[] = [];
  const fetchUrl: FetchUrl = async (url, { isAllowed }) => {
    asked.push(url);
    const { mediaType = 'text/plain', charset = null, bytes = bytesOf('plain text'), fault } = serve(url);
    if (fault) throw new FetchRefused(fault);
    if (isAllowed?.(new URL(url)) === false) throw new FetchRefused('not_allowed');
    return { url, mediaType, charset, bytes };
  };
  return { ...testGateway({ fetchUrl, ...options }), asked };
}
const fetching = (parameters: object = {}) => ({
  model: 'acme/fast',
  messages: hello,
  tools: [{ type: 'service:web_fetch', parameters }],
});
const url = 'https://site.example/a';

describe('the tool service:web_fetch', () => {
  it('tells the model the text of a page', async () => {
    // Pages are read in a thread, which keeps its own time.
    const { gateway, upstream } = fetchGateway(() => ({ mediaType: 'text/html', bytes: bytesOf(html) }), {
      clock: systemClock,
    });
    upstream.answer({ body: calling('web_fetch', { url }) }, { body: completion() });
    const response = await gateway.fetch('http://in-process/v1/chat/completions', {
      method: 'POST',
      headers: { authorization: 'Bearer sk-test-inference', 'content-type': 'application/json' },
      body: JSON.stringify(fetching()),
    });
    expect(response.status).toBe(200);
    expect(results(upstream)).toEqual([{ url, title: 'Bananas', text: 'Bananas are berries. '.repeat(30).trim() }]);
  });
  it('tells the model the text of a PDF', async () => {
    const { gateway, upstream } = fetchGateway(() => ({ mediaType: 'application/pdf', bytes: pdfOf(['Hi there']) }), {
      clock: systemClock,
    });
    upstream.answer({ body: calling('web_fetch', { url }) }, { body: completion() });
    await gateway.fetch('http://in-process/v1/chat/completions', {
      method: 'POST',
      headers: { authorization: 'Bearer sk-test-inference', 'content-type': 'application/json' },
      body: JSON.stringify(fetching()),
    });
    expect(results(upstream)).toEqual([{ url, text: 'Hi there' }]);
  });
  it.each<[string, Served, object]>([
    ['a text', {}, { text: 'plain text' }],
    ['JSON', { mediaType: 'application/json', bytes: bytesOf('{"a":1}') }, { text: '{"a":1}' }],
    ['another encoding, as the server says', { charset: 'iso-8859-1', bytes: new Uint8Array([0xe4]) }, { text: 'ä' }],
    ['an encoding that nobody knows', { charset: 'x-nobody', bytes: bytesOf('ä') }, { text: 'ä' }],
  ])('reads %s', async (_, served, expected) => {
    const { post, upstream } = fetchGateway(() => served);
    upstream.answer({ body: calling('web_fetch', { url }) }, { body: completion() });
    await post(fetching());
    expect(results(upstream)).toEqual([{ url, ...expected }]);
  });
  it('cuts the text at the most tokens', async () => {
    const text = 'one two three four five '.repeat(2000);
    const { post, upstream } = fetchGateway(() => ({ bytes: bytesOf(text) }));
    upstream.answer({ body: calling('web_fetch', { url }) }, { body: completion() });
    await post(fetching({ max_content_tokens: 100 }));
    const [read] = results(upstream) as [{ text: string; is_cut: boolean }];
    expect(text.startsWith(read.text)).toBe(true);
    expect([read.is_cut, read.text.length > 300, read.text.length < 900]).toEqual([true, true, true]);
  });
  it('is counted in the record of the request, beside the engine of the plugin web', async () => {
    const options = { searchEngines: [engineOf(pages)], records: { enabled: true }, ids: randomIds };
    const { post, call, upstream, gateway } = fetchGateway(undefined, options);
    upstream.answer({ body: calling('web_fetch', { url }, { url }) }, { body: completion() });
    const { headers } = await post({ ...fetching(), plugins: [{ id: 'web' }] });
    const { json } = await call('GET', `/generation?id=${headers.get('x-generation-id')}`);
    expect(json.data).toMatchObject({ num_fetches: 2, web_search_engine: 'exa', num_search_results: 1 });
    await gateway.close();
  });
  it('keeps to the domains and the uses of the request', async () => {
    const { post, upstream, asked } = fetchGateway();
    const urls = ['https://a.example/', 'https://b.a.example/x', 'https://c.example/', 'https://a.example/2'];
    upstream.answer({ body: calling('web_fetch', ...urls.map((one) => ({ url: one }))) }, { body: completion() });
    await post(fetching({ allowed_domains: ['a.example'], blocked_domains: ['b.a.example'], max_uses: 3 }));
    expect(results(upstream)).toEqual([
      { url: urls[0], text: 'plain text' },
      { error: 'expected a URL of an allowed domain' },
      { error: 'expected a URL of an allowed domain' },
      { error: expect.stringContaining('no more pages') },
    ]);
    expect(asked).toHaveLength(3);
  });
  it('tells the model why a page was not fetched', async () => {
    const { post, upstream } = fetchGateway(() => ({ fault: 'host' }));
    upstream.answer({ body: calling('web_fetch', { url }, { url: 7 }, {}) }, { body: completion() });
    await post(fetching());
    expect(results(upstream)).toEqual([
      { error: 'expected a URL whose host has public addresses' },
      { error: 'expected a URL in "url"' },
      { error: 'expected a URL in "url"' },
    ]);
  });
  it('reaches no address inside, whatever the model asks for', async () => {
    const { post, upstream } = testGateway();
    const urls = ['http://169.254.169.254/latest/meta-data/', 'http://localhost:8080/', 'file:///etc/passwd'];
    upstream.answer({ body: calling('web_fetch', ...urls.map((one) => ({ url: one }))) }, { body: completion() });
    await post(fetching());
    for (const { error } of results(upstream))
      expect(error).toMatch(/^expected a URL (whose host has public|with http)/);
  });
  it('is refused for an engine that is not here', async () => {
    const { status, json } = await fetchGateway().post(fetching({ engine: 'firecrawl' }));
    expect([status, json.error.message]).toEqual([
      400,
      expect.stringContaining('tools[0].parameters.engine: expected one of "auto", "service"'),
    ]);
  });
  it('is offered by the plugin web-fetch too, with its settings', async () => {
    const { post, upstream } = fetchGateway();
    upstream.answer({ body: calling('web_fetch', { url }, { url }) }, { body: completion() });
    const { status, json } = await post(
      {
        model: 'acme/fast',
        messages: hello,
        plugins: [{ id: 'web-fetch', max_uses: 1, allowed_domains: ['site.example'] }],
      },
      metadata,
    );
    expect(status).toBe(200);
    expect(results(upstream)).toEqual([
      { url, text: 'plain text' },
      { error: expect.stringContaining('no more pages') },
    ]);
    expect(json.service_metadata?.pipeline).toMatchObject([
      { type: 'server_tools', data: { calls: { web_fetch: 2 } } },
    ]);
  });
  it('has the settings of the host app, unless the request has its own', async () => {
    const { post, upstream, asked } = fetchGateway(() => ({}), {
      plugins: [webFetch({ isDefault: true, maxUses: 1, allowedDomains: ['site.example'] })],
    });
    const twice = { body: calling('web_fetch', { url: 'https://other.example/' }, { url }) };
    upstream.answer(twice, { body: completion() }, twice, { body: completion() });
    await post({ model: 'acme/fast', messages: hello });
    expect(results(upstream)).toEqual([
      { error: 'expected a URL of an allowed domain' },
      { error: expect.stringContaining('no more pages') },
    ]);
    const plugins = [{ id: 'web-fetch', max_uses: 2, allowed_domains: ['other.example', 'site.example'] }];
    await post({ model: 'acme/fast', messages: hello, plugins });
    expect(asked).toHaveLength(3);
    upstream.answer({ body: completion() });
    await post({ model: 'acme/fast', messages: hello, plugins: [{ id: 'web-fetch', enabled: false }] });
    expect(upstream.sent.at(-1)?.body.tools).toBeUndefined();
  });
});
