import { describe, expect, it } from 'vitest';
import { withBudget } from '../support/booked.ts';
import { testGateway, testKey } from '../support/gateway.ts';

// biome-ignore lint/suspicious/noExplicitAny: of any response, for a test to look into
type Json = any;

const pricing = { prompt: '0.000001', completion: '0.000008', image: '0.000001' };
const models = [{ slug: 'acme/own', endpoints: [{ provider: 'up', model: 'gemini-3-pro', pricing }] }];
const up = { baseUrl: 'https://up.test/v1beta', apiKey: 'AIza-upstream-0123456789' };
const dialect = 'google-generate-content' as const;

const answer = {
  candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP', index: 0 }],
  usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 2, totalTokenCount: 12 },
};
const hello = [{ parts: [{ text: 'Hello' }] }];
type Gateway = ReturnType<typeof testGateway>;

async function ask({ gateway, run }: Pick<Gateway, 'gateway' | 'run'>, body: object, slug = 'acme/own') {
  const request = new Request(`http://gateway.test/v1beta/models/${slug}:generateContent`, {
    method: 'POST',
    headers: { 'x-goog-api-key': testKey, 'content-type': 'application/json' },
    body: JSON.stringify({ contents: hello, ...body }),
  });
  const response = await run(gateway.fetch(request));
  const json: Json = await run(response.json());
  return {
    status: response.status,
    json,
    dropped: response.headers.get('x-service-dropped')?.split(', ').toSorted() ?? [],
  };
}

/** Sends a request below a budget. */
async function limited(body: object, limitUsd = 1) {
  const made = await withBudget(limitUsd, { providers: { up: { ...up, dialect } }, models });
  made.upstream.always({ body: answer });
  const reply = await ask(made, body);
  return { ...reply, sent: made.upstream.sent[0]?.body as Json };
}

describe('a request of the Gemini wire below a budget, to an upstream that speaks the wire', () => {
  it('takes no field along whose cost nobody knows, and says so', async () => {
    const { status, sent, dropped } = await limited({
      zeta: 1,
      labels: { a: 'b' },
      generationConfig: {
        maxOutputTokens: 10,
        routingConfig: { manualMode: {} },
        thinkingConfig: { thinkingBudget: 0 },
      },
      toolConfig: { includeServerSideToolInvocations: true },
    });
    expect(status).toBe(200);
    expect(sent).toEqual({
      contents: hello,
      labels: { a: 'b' },
      generationConfig: { maxOutputTokens: 10, thinkingConfig: { thinkingBudget: 0 } },
      toolConfig: {},
    });
    expect(dropped).toEqual(['generationConfig.routingConfig', 'toolConfig.includeServerSideToolInvocations', 'zeta']);
  });
  it('keeps the functions that the client runs, and no other tool', async () => {
    const functions = { functionDeclarations: [{ name: 'read' }] };
    const tools = [{ ...functions, codeExecution: {} }, { googleSearch: {} }, { url_context: {} }, { brandNew: {} }];
    const { sent, dropped } = await limited({ tools });
    expect(sent.tools).toEqual([functions]);
    expect(dropped).toEqual(
      ['brandNew', 'codeExecution', 'googleSearch', 'url_context'].map((one) => `tools[].${one}`),
    );
  });
  describe('with a search of Google’s', () => {
    const priced = { ...pricing, webSearch: '0.014' };
    const found = {
      candidates: [{ ...answer.candidates[0], groundingMetadata: { webSearchQueries: ['a', 'b'] } }],
      usageMetadata: answer.usageMetadata,
      modelVersion: 'gemini-3-pro',
    };
    const config = { generationConfig: { maxOutputTokens: 10 } };
    const search = async (limitUsd: number, body: object, model: object = { pricing: priced }) => {
      const endpoints = [{ provider: 'up', model: 'gemini-3-pro', ...model }] as never;
      const made = await withBudget(limitUsd, {
        providers: { up: { ...up, dialect } },
        models: [{ slug: 'acme/own', endpoints }],
      });
      made.upstream.always({ body: found });
      const reply = await ask(made, { ...config, ...body });
      return { ...reply, made, sent: made.upstream.sent[0]?.body as Json };
    };
    const tools = [{ googleSearch: { excludeDomains: ['a.test'] } }];
    const both = [{ functionDeclarations: [{ name: 'read' }] }, { google_search: {} }];

    it.each<[string, object]>([
      ['alone', { tools }],
      [
        'beside functions, which Google has to be told of',
        { tools: both, toolConfig: { includeServerSideToolInvocations: true } },
      ],
      ['as older models know it', { tools: [{ googleSearchRetrieval: { dynamicRetrievalConfig: {} } }] }],
    ])('goes along where searches have a price, and is paid for: %s', async (_, body) => {
      const { status, sent, dropped, made } = await search(2, body);
      expect([status, dropped]).toEqual([200, []]);
      expect(sent).toEqual({ contents: hello, ...config, ...body });
      const { data } = (await made.call('GET', '/workspaces/default/budgets')).json as Json;
      // 10 and 2 tokens, and two searches.
      expect(data[0].spent_usd).toBeCloseTo(10 * 0.000001 + 2 * 0.000008 + 2 * 0.014, 9);
    });
    it('is held at the price of the most searches, and of what they read', async () => {
      // 20 searches, and 200,000 tokens.
      expect((await search(0.45, { tools })).status).toBe(402);
      expect((await search(0.5, { tools })).status).toBe(200);
      expect((await search(0.05, {})).status).toBe(200);
    });
    it.each<[string, object, object, string[]]>([
      ['the price is not known', { tools }, { pricing }, ['tools[].googleSearch']],
      [
        'it has a setting that is not known',
        { tools: [{ googleSearch: { zeta: 1 } }], toolConfig: { includeServerSideToolInvocations: true } },
        { pricing: priced },
        ['toolConfig.includeServerSideToolInvocations', 'tools[].googleSearch'],
      ],
      [
        'the tool beside it has no price',
        { tools: [{ googleSearch: {}, enterpriseWebSearch: {} }] },
        { pricing: priced },
        ['tools[].enterpriseWebSearch'],
      ],
    ])('is left out, or what stands beside it, and listed, where %s', async (_, body, model, left) => {
      const { status, dropped } = await search(2, body, model);
      expect([status, dropped]).toEqual([200, left]);
    });
  });
  it('is held with the tokens of parts that only this wire has', async () => {
    const text = 'x'.repeat(100_000);
    for (const more of [
      { contents: [{ parts: [{ brandNew: text }] }, ...hello] },
      { contents: [...hello, { role: 'model', parts: [{ brandNew: text }] }] },
      { systemInstruction: { parts: [{ brandNew: text }] } },
      { tools: [{ functionDeclarations: [{ name: 'a', response: { description: text } }] }] },
      {
        tools: [{ functionDeclarations: [{ name: 'a' }, { name: 'b', description: text }] }],
        toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['a'] } },
      },
      {
        contents: [
          { parts: [{ functionCall: { name: 'a', args: { inlineData: { mimeType: 'image/a', data: text } } } }] },
        ],
      },
    ])
      expect([(await limited(more, 0.08)).status, more]).toEqual([402, more]);
  });
  it('is held with the tokens of a picture, and not with those of its base64', async () => {
    const inlineData = { mimeType: 'image/png', data: 'A'.repeat(400_000) };
    const call = { role: 'model', parts: [{ functionCall: { name: 'see' } }] };
    const response = { name: 'see', response: {}, parts: [{ inlineData }] };
    for (const contents of [
      [{ parts: [{ inlineData }] }],
      [{ parts: [{ inline_data: { mime_type: 'image/png', data: inlineData.data } }] }],
      [...hello, call, { parts: [{ functionResponse: response }] }],
    ]) {
      const config = { generationConfig: { maxOutputTokens: 10 } };
      expect((await limited({ contents, ...config }, 0.2)).status).toBe(200);
      expect((await limited({ contents, ...config }, 0.04)).status).toBe(402);
    }
  });
  it('has no cache, whose tokens nobody here can count', async () => {
    const made = await withBudget(1, {
      providers: { up: { ...up, dialect, quirks: { storedContent: true } } },
      models,
    });
    const { status, json } = await ask(made, { cachedContent: 'cachedContents/x' });
    expect([status, json.error.message]).toEqual([400, expect.stringContaining('cachedContent: expected')]);
    expect(made.upstream.sent).toEqual([]);
  });
});

describe('what is stored in an account of Google', () => {
  const names: [string, object][] = [
    ['cachedContent', { cachedContent: 'cachedContents/abc' }],
    ['cachedContent', { cached_content: 'projects/p/locations/l/cachedContents/abc' }],
    [
      'contents[0].parts[0].fileData.fileUri',
      { contents: [{ parts: [{ fileData: { fileUri: 'files/a', mimeType: 'a/b' } }] }] },
    ],
    ['contents[0].parts[0].fileData.fileUri', { contents: [{ parts: [{ file_data: { file_uri: 'gs://b/a' } }] }] }],
    [
      'contents[0].parts[0].functionResponse.parts[0].fileData.fileUri',
      {
        contents: [
          {
            parts: [
              {
                functionResponse: {
                  name: 'f',
                  response: {},
                  parts: [{ fileData: { fileUri: 'https://generativelanguage.googleapis.com/v1beta/files/a' } }],
                },
              },
            ],
          },
        ],
      },
    ],
    [
      'tools[0].fileSearch.fileSearchStoreNames[0]',
      { tools: [{ fileSearch: { fileSearchStoreNames: ['fileSearchStores/a'] } }] },
    ],
    [
      'tools[0].retrieval.vertexAiSearch.datastore',
      { tools: [{ retrieval: { vertexAiSearch: { datastore: 'projects/p/d' } } }] },
    ],
    ['zeta[0].x', { zeta: [{ x: 'projects/p/secrets/s' }] }],
  ];
  const providers = (more: object = {}) => ({
    'google-ai-studio': { apiKey: up.apiKey, baseUrl: up.baseUrl, ...more },
    other: { baseUrl: 'https://alt.test/v1', apiKey: 'sk-alt-0123456789' },
  });
  const gatewayOf = (more: object = {}) =>
    testGateway({
      secrets: { current: 'a master secret of the tests, which is long enough' },
      providers: providers(more),
      models: [
        { slug: 'acme/own', endpoints: [{ provider: 'google-ai-studio', model: 'gemini-3-pro', pricing }] },
        { slug: 'acme/chat', endpoints: [{ provider: 'other', model: 'm', pricing }] },
      ],
    });

  it.each(names)('is used with a credential of the caller’s own alone: %s %o', async (path, body) => {
    const made = gatewayOf({ byok: true });
    made.upstream.always({ body: answer });
    const refused = await ask(made, body);
    expect([refused.status, refused.json.error.message]).toEqual([400, expect.stringContaining(`${path}: expected`)]);
    expect(made.upstream.sent).toEqual([]);
    const own = 'AIza-own-credential-0123456789';
    expect((await made.call('POST', '/byok', { provider: 'google-ai-studio', key: own })).status).toBe(201);
    const { status, json } = await ask(made, body);
    expect(status, JSON.stringify(json)).toBe(200);
    expect(made.upstream.sent.map(({ headers }) => headers['x-goog-api-key'])).toEqual([own]);
    expect(made.upstream.sent[0]?.body).toEqual({ contents: hello, ...body });
  });
  it('is used with the operator’s credential where its provider says so', async () => {
    const made = gatewayOf({ quirks: { storedContent: true } });
    made.upstream.always({ body: answer });
    expect((await ask(made, { cachedContent: 'cachedContents/abc' })).status).toBe(200);
    expect(made.upstream.sent[0]?.body).toEqual({ contents: hello, cachedContent: 'cachedContents/abc' });
  });
  it('is refused at an upstream of another wire, and sends a request past it', async () => {
    const made = gatewayOf({ quirks: { storedContent: true } });
    made.upstream.always({ body: answer });
    const body = { cachedContent: 'cachedContents/abc' };
    const { status, json } = await ask(made, body, 'acme/chat');
    expect([status, json.error.message]).toEqual([400, expect.stringContaining('cachedContent: expected')]);
    expect((await ask(made, { ...body, models: ['acme/own'] }, 'acme/chat')).json.modelVersion).toBe('acme/own');
  });
  it('passes endpoints over that cannot have it, and says why', async () => {
    const google = { ...up, dialect };
    const { gateway, run } = testGateway({
      providers: { ...providers(), up: google, shared: { ...google, quirks: { storedContent: true } } },
      models: [
        {
          slug: 'acme/own',
          endpoints: ['up', 'other', 'shared'].map((provider) => ({ provider, model: 'gemini-3-pro', pricing })),
        },
      ],
    });
    const request = new Request('http://gateway.test/v1beta/models/acme/own:explain', {
      method: 'POST',
      headers: { 'x-goog-api-key': testKey, 'content-type': 'application/json' },
      body: JSON.stringify({ contents: hello, cachedContent: 'cachedContents/abc' }),
    });
    const { data }: Json = await run((await run(gateway.fetch(request))).json());
    expect(data.candidates.map(({ provider }: Json) => provider)).toEqual(['shared']);
    expect(data.excluded).toEqual([
      { model: 'acme/own', provider: 'up', filter: 'stored' },
      { model: 'acme/own', provider: 'other', filter: 'wire_format' },
    ]);
  });
  it('is refused where a change would leave it out', async () => {
    const before = (request: object) => ({ ...request, seed: 1 }) as never;
    const made = testGateway({
      providers: providers({ quirks: { storedContent: true } }),
      models: [{ slug: 'acme/own', endpoints: [{ provider: 'google-ai-studio', model: 'gemini-3-pro', pricing }] }],
      plugins: [{ id: 'test', isDefault: true, before }],
    });
    const { status, json } = await ask(made, { cachedContent: 'cachedContents/abc' });
    expect([status, json.error.message]).toEqual([400, expect.stringContaining('has changed the request')]);
    expect(made.upstream.sent).toEqual([]);
  });
  it('may be named in a text, in arguments and in schemas', async () => {
    const made = gatewayOf();
    made.upstream.always({ body: answer });
    const { status } = await ask(made, {
      contents: [
        { parts: [{ text: 'files/a' }] },
        { role: 'model', parts: [{ functionCall: { name: 'f', args: { a: 'gs://x' } }, thoughtSignature: 'eA==' }] },
        { parts: [{ functionResponse: { name: 'f', response: { a: 'projects/p' } } }] },
      ],
      tools: [{ functionDeclarations: [{ name: 'f', description: 'files/a' }] }],
      generationConfig: { responseSchema: { type: 'STRING', enum: ['files/a'] } },
    });
    expect(status).toBe(200);
  });
});
