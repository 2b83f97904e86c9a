import { describe, expect, it } from 'vitest';
import type { PdfReader } from '../../src/documents/pdf.ts';
import type { GatewayOptions } from '../../src/options.ts';
import { fileParser } from '../../src/plugins/file-parser/index.ts';
import { mistralOcr } from '../../src/plugins/file-parser/ocr.ts';
import { moderation, openaiModerator } from '../../src/plugins/moderation/index.ts';
import { definePlugin } from '../../src/plugins/plugin.ts';
import { web } from '../../src/plugins/web.ts';
import { braveSearch } from '../../src/search/brave.ts';
import { exaSearch } from '../../src/search/exa.ts';
import { firecrawlSearch } from '../../src/search/firecrawl.ts';
import { parallelSearch } from '../../src/search/parallel.ts';
import { perplexitySearch } from '../../src/search/perplexity.ts';
import { searxngSearch } from '../../src/search/searxng.ts';
import { tavilySearch } from '../../src/search/tavily.ts';
import { hello, testGateway } from '../support/gateway.ts';
import { pdfOf } from '../support/pdf.ts';
import { traced } from '../support/traced.ts';
import { completion } from '../support/upstream.ts';

const key = 'key-of-the-operator-0123456789';
const metadata = { 'x-service-metadata': 'enabled' };

/** The clock of the tests does not wait for a thread. */
const reader: PdfReader = { read: async () => ({ pages: ['Bananas'], total: 1, isCut: false }) };

/** Services of the operator, which remember how often they were asked. */
function services(answer: (url: string) => unknown = () => ({}), first = 'exa') {
  const asked: string[] = [];
  const fetch = (async (url: string) => {
    asked.push(url);
    return Response.json(answer(url));
  }) as unknown as typeof globalThis.fetch;
  const spends = definePlugin({
    id: 'spends',
    isDefault: true,
    async before(request, { hold }) {
      if ((request as { spend?: boolean }).spend !== true) return request;
      const expense = await hold(0);
      asked.push('spent');
      expense.settle(0);
      return request;
    },
  });
  const keyed = { apiKey: key, fetch };
  const searchEngines = [
    exaSearch(keyed),
    braveSearch(keyed),
    tavilySearch(keyed),
    parallelSearch(keyed),
    perplexitySearch(keyed),
    firecrawlSearch(keyed),
    searxngSearch({ baseUrl: 'https://searx.example', fetch }),
  ];
  const options: Partial<GatewayOptions> = {
    searchEngines: searchEngines.toSorted((one, other) => Number(other.name === first) - Number(one.name === first)),
    plugins: [
      fileParser({ ocr: mistralOcr(keyed), reader }),
      moderation({ moderator: openaiModerator(keyed) }),
      spends,
    ],
  };
  return { asked, options };
}

async function byokOnly(options: Partial<GatewayOptions>) {
  const tested = testGateway({
    secrets: { current: 'a master secret of the tests, which is long enough' },
    models: [{ slug: 'acme/one', endpoints: [{ provider: 'groq', model: 'm' }] }],
    providers: { groq: { apiKey: 'gsk-operator-0123456789' } },
    ...options,
  });
  tested.upstream.always({ body: completion() });
  const made = await tested.call('POST', '/workspaces', { name: 'Acme', slug: 'acme', is_byok_only: true });
  const workspace = made.json.data.id as string;
  const keyBody = { name: 'k', workspace_id: workspace, permissions: ['inference', 'management'] };
  const { key: own } = (await tested.call('POST', '/keys', keyBody)).json;
  await tested.call('POST', '/byok', {
    provider: 'groq',
    key: 'gsk-own-0123456789-0123456789',
    workspace_id: workspace,
  });
  const ask = (fields: object, path = '/chat/completions') =>
    tested.call(
      'POST',
      path,
      { model: 'acme/one', messages: hello, ...fields },
      { authorization: `Bearer ${own}`, ...metadata },
    );
  return { ...tested, ask };
}

const pdf = (text: string) => ({
  messages: [
    {
      role: 'user',
      content: [
        {
          type: 'file',
          file: {
            filename: 'a.pdf',
            file_data: `data:application/pdf;base64,${Buffer.from(pdfOf([text])).toString('base64')}`,
          },
        },
      ],
    },
  ],
});
const engines = ['exa', 'brave', 'tavily', 'parallel', 'perplexity', 'firecrawl', 'searxng'];

/** Every door behind which the operator pays. */
const doors: [string, object][] = [
  ['the plugin web', { plugins: [{ id: 'web' }] }],
  ['the plugin web with an engine', { plugins: [{ id: 'web', engine: 'perplexity' }] }],
  ['the suffix :online', { model: 'acme/one:online' }],
  ['the tool web_search', { tools: [{ type: 'service:web_search' }] }],
  ['the tool web_search in its short form', { tools: [{ type: 'web_search' }] }],
  [
    'a tool that the plugin fusion is to offer',
    { plugins: [{ id: 'fusion', analysis_models: ['acme/one'], tools: [{ type: 'service:web_search' }] }] },
  ],
  ['OCR', { plugins: [{ id: 'file-parser', pdf: { engine: 'mistral-ocr' } }], ...pdf('Bananas') }],
  ['a moderation service', { plugins: [{ id: 'moderation' }] }],
  ['what a plugin of the host app holds money for', { spend: true }],
];

describe('a workspace that uses its own credentials alone', () => {
  it.each(doors)('gets nothing of the operator’s by %s, and the explanation says so', async (_, fields) => {
    const { asked, options } = services();
    const { ask, upstream } = await byokOnly(options);
    const { status, json } = await ask(fields);
    expect([status, json.error]).toMatchObject([403, { metadata: { filter: 'byok_only' } }]);
    expect(asked).toEqual([]);
    expect(upstream.sent).toEqual([]);
    if ('spend' in fields) return;
    const explained = await ask(fields, '/chat/completions/explain');
    expect([explained.status, JSON.stringify(explained.json)]).toEqual([
      expect.any(Number),
      expect.stringContaining('is_byok_only'),
    ]);
  });
  it('reads PDFs without a service', async () => {
    const { asked, options } = services();
    const { ask } = await byokOnly(options);
    const { status, json } = await ask({
      plugins: [{ id: 'file-parser', pdf: { engine: 'pdf-text' } }],
      ...pdf('Bananas'),
    });
    expect([status, json.error, asked]).toEqual([200, undefined, []]);
  });
  it('has a fusion whose analysis models do not search, where it names no tools', async () => {
    const { asked, options } = services();
    const { ask, upstream } = await byokOnly(options);
    const { status, json } = await ask({ plugins: [{ id: 'fusion', analysis_models: ['acme/one'] }] });
    expect([status, asked]).toEqual([200, []]);
    const [analysis] = upstream.sent.map(({ body }) => body.tools as { function: { name: string } }[]);
    expect(analysis?.map(({ function: { name } }) => name)).toEqual(['web_fetch']);
    expect(json.service_metadata.pipeline[0].data).toMatchObject({ unavailable_tools: ['service:web_search'] });
  });
  it('is served without a search where the plugin acts by default, and hears so', async () => {
    const { asked, options } = services();
    const { ask } = await byokOnly({ ...options, plugins: [web({ isDefault: true })] });
    const { status, json } = await ask({});
    expect([status, asked]).toEqual([200, []]);
    expect(json.service_metadata.pipeline[0].summary).toContain('its own credentials alone');
  });
  it('is moderated where the operator imposes it', async () => {
    const { asked, options } = services(() => ({ results: [{ flagged: true, categories: { violence: true } }] }));
    const keyed = {
      apiKey: key,
      fetch: (async (url: string) => {
        asked.push(url);
        return Response.json({ results: [{ flagged: true, categories: { violence: true } }] });
      }) as unknown as typeof fetch,
    };
    const { ask } = await byokOnly({
      ...options,
      plugins: [moderation({ isDefault: true, moderator: openaiModerator(keyed) })],
    });
    expect((await ask({})).json.error.message).toContain('flagged');
    expect(asked).toHaveLength(1);
  });
});

describe('a key of a service that the service sends back', () => {
  const page = {
    url: `https://pages.example/${key}`,
    title: `Key ${key}`,
    text: key,
    content: key,
    description: key,
    snippet: key,
    excerpts: [key],
  };
  const echo = () => ({
    results: [page],
    web: { results: [page] },
    data: { web: [page] },
    success: true,
    pages: [{ markdown: `Bearer ${key}`, images: [] }],
  });
  const fields: [string, object][] = [
    ...engines.slice(0, -1).map((engine): [string, object] => [engine, { plugins: [{ id: 'web' }] }]),
    ['OCR', { plugins: [{ id: 'file-parser', pdf: { engine: 'mistral-ocr' } }], ...pdf('Bananas') }],
  ];
  it.each(fields)('is in no prompt, response, record, log line or span: %s', async (engine, asked) => {
    const { options, asked: sent } = services(echo, engine);
    const lines: string[] = [];
    const log = (...args: unknown[]) => void lines.push(JSON.stringify(args));
    // With the texts of the call on its spans, as far as a host app can have them there.
    const tested = traced({
      telemetry: { content: true },
      gateway: { ...options, logger: { debug: log, info: log, warn: log, error: log } } as Partial<GatewayOptions>,
    });
    const { records } = tested;
    tested.upstream.always({ body: completion({}, { content: 'Yes.' }) });
    const { status, json } = await tested.post({ messages: hello, model: 'acme/fast', ...asked }, metadata);
    expect(status).toBe(200);
    expect(sent).toHaveLength(1);
    const prompt = JSON.stringify(tested.upstream.sent.map(({ body }) => body));
    expect(prompt).toContain('[redacted]');
    expect(records).toHaveLength(1);
    const spans = tested
      .spans()
      .map(({ name, attributes, events, status: ended }) => JSON.stringify([name, attributes, events, ended]));
    expect(spans.length).toBeGreaterThan(1);
    expect(spans.join()).toContain('[redacted]');
    for (const text of [prompt, JSON.stringify(json), JSON.stringify(records), lines.join(''), ...spans])
      expect(text).not.toContain(key);
  });
});
