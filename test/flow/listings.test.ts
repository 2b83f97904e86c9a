import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import type { GatewayOptions } from '../../src/options.ts';
import { hello, managementKey, type TestGateway, testGateway, testKey, testPricing } from '../support/gateway.ts';
import { tenantGateway } from '../support/tenant-gateway.ts';
import { completion, textStream } from '../support/upstream.ts';

// Every answer is held against our schemas and the reference's by `manage`.

const slug = 'openai/gpt-oss-20b';
const pricing = { prompt: '0.00000005', completion: '0.0000002', inputCacheRead: '0.000000025' };

/** One model at four providers: two keep nothing, one is disabled, of one only a workspace may have a key. */
const options: Partial<GatewayOptions> = {
  providers: { deepinfra: { apiKey: 'sk-deepinfra' }, groq: { apiKey: 'sk-groq' }, together: { name: 'Together' } },
  models: [
    {
      slug,
      name: 'GPT OSS 20B',
      description: 'A model of open weights.',
      created: '2025-08-05',
      contextLength: 131_072,
      inputModalities: ['text'],
      huggingFaceId: 'openai/gpt-oss-20b',
      endpoints: [
        {
          provider: 'deepinfra',
          model: 'openai/gpt-oss-20b',
          variant: 'turbo',
          pricing,
          contextLength: 131_072,
          maxPromptTokens: 100_000,
          maxCompletionTokens: 32_768,
          quantization: 'fp4',
          supportedParameters: ['tools', 'temperature'],
          implicitCaching: true,
        },
        { provider: 'groq', model: 'openai/gpt-oss-20b', dataPolicy: { zeroRetention: true }, disabled: true },
        { provider: 'groq', model: 'openai/gpt-oss-20b-free', variant: 'free', pricing: { prompt: 0, completion: 0 } },
        { provider: 'together', model: 'openai/gpt-oss-20b', dataPolicy: { zeroRetention: true } },
      ],
    },
  ],
  catalog: { builtInModels: false, builtInPrices: false },
  secrets: { current: 'a master secret of the tests, which is long enough' },
};

const unseen = {
  latency_last_30m: null,
  throughput_last_30m: null,
  uptime_last_5m: null,
  uptime_last_30m: null,
  uptime_last_1d: null,
};
const record = {
  model_id: slug,
  model_name: 'GPT OSS 20B',
  name: 'DeepInfra | openai/gpt-oss-20b',
  provider_name: 'DeepInfra',
  tag: 'deepinfra/turbo',
  context_length: 131_072,
  max_completion_tokens: 32_768,
  max_prompt_tokens: 100_000,
  quantization: 'fp4',
  status: 'default',
  supported_parameters: ['tools', 'temperature'],
  supports_implicit_caching: true,
  pricing: {
    prompt: '0.00000005',
    completion: '0.0000002',
    request: '0',
    image: '0',
    input_cache_read: '0.000000025',
  },
  ...unseen,
};

const tags = (endpoints: { tag: string }[]) => endpoints.map(({ tag }) => tag);

describe('GET /endpoints', () => {
  it('lists the endpoints of all models, and says which keep nothing and until when one is left alone', async () => {
    const { manage, post, upstream, clock } = tenantGateway(options);
    const all = async () => (await manage('GET', '/endpoints')).json.data;
    const listed = await all();
    expect(listed.map(({ tag, is_zdr, cooldown_until }: never) => [tag, is_zdr, cooldown_until])).toMatchObject([
      ['deepinfra/turbo', true, null],
      ['groq/free', false, null],
    ]);
    upstream.always({ status: 429, headers: { 'retry-after': '60' }, body: { error: { message: 'slow down' } } });
    await post({ model: slug, messages: hello });
    expect((await all()).map(({ cooldown_until }: never) => cooldown_until)).toContain(
      new Date(clock.now() + 60_000).toISOString(),
    );
    const [, second] = await all();
    expect((await manage('GET', '/endpoints?offset=1&limit=1')).json.data).toEqual([second]);
  });
});

describe('GET /endpoints/zdr', () => {
  it('lists what a request with zdr may use, with every field of the contract', async () => {
    const { manage } = tenantGateway(options);
    const { status, json } = await manage('GET', '/endpoints/zdr');
    expect(status).toBe(200);
    expect(json).toEqual({ data: [record] });
  });
  it('is what a request with zdr comes to: no other endpoint is called', async () => {
    const { manage, post, upstream } = tenantGateway(options);
    upstream.always({ body: completion() });
    const listed = (await manage('GET', '/endpoints/zdr')).json.data;
    const { json } = await post({ model: slug, messages: hello, provider: { zdr: true } });
    expect([json.provider, upstream.sent.length]).toEqual([listed[0].provider_name, 1]);
    const only = { zdr: true, ignore: tags(listed) };
    const refused = await post({ model: slug, messages: hello, provider: only });
    expect([refused.status, upstream.sent.length]).toEqual([404, 1]);
  });
  it('shows what was seen of an endpoint: latency, throughput, uptime, status', async () => {
    const { manage, post, upstream, clock } = tenantGateway({ ...options, retry: { maxAttempts: 1 } });
    const body = { model: slug, messages: hello, stream: true, provider: { only: ['deepinfra'] } };
    const [start = '', first = '', ...rest] = textStream('Hello', ' there');
    for (let count = 0; count < 9; count++) {
      upstream.answer({ body: [start, { waitMs: 250 }, first, { waitMs: 100 }, ...rest] });
      await post(body);
    }
    upstream.answer({ status: 500, body: {} });
    await post({ ...body, stream: false });
    const [shown] = (await manage('GET', '/endpoints/zdr')).json.data;
    expect(shown).toMatchObject({ uptime_last_5m: 90, uptime_last_30m: 90, uptime_last_1d: 90, status: 'degraded' });
    expect(Object.keys(shown.latency_last_30m)).toEqual(['p50', 'p75', 'p90', 'p99']);
    // As exact as health is: see there.
    expect(Math.abs(shown.latency_last_30m.p50 - 250)).toBeLessThan(50);
    expect(Math.abs(shown.throughput_last_30m.p50 - 20)).toBeLessThan(5);
    await clock.advance(31 * 60_000);
    const [later] = (await manage('GET', '/endpoints/zdr')).json.data;
    expect(later).toMatchObject({ ...unseen, uptime_last_1d: 90, status: 'default' });
  });
});

describe('GET /models/{author}/{slug}/endpoints', () => {
  it('lists what the caller can come to, disabled endpoints as disabled', async () => {
    const { manage } = tenantGateway(options);
    const { json } = await manage('GET', `/models/${slug}/endpoints`);
    expect(json.data).toMatchObject({
      id: slug,
      name: 'GPT OSS 20B',
      created: 1_754_352_000,
      description: 'A model of open weights.',
      architecture: { modality: 'text->text', tokenizer: 'GPT', instruct_type: null },
    });
    expect(json.data.endpoints[0]).toEqual(record);
    expect(json.data.endpoints.map(({ tag, status }: { tag: string; status: string }) => [tag, status])).toEqual([
      ['deepinfra/turbo', 'default'],
      ['groq', 'disabled'],
      ['groq/free', 'default'],
    ]);
  });
  it.each([
    [slug, ['deepinfra/turbo', 'groq', 'groq/free']],
    [`${slug}:nitro`, ['deepinfra/turbo', 'groq', 'groq/free']],
    [`${slug}:free`, ['groq/free']],
    ['~openai/gpt-oss-latest', ['deepinfra/turbo', 'groq', 'groq/free']],
    // Of which the catalogue knows nothing, and which a request may name.
    ['groq/some-model', ['groq']],
    ['groq/some%2Fmodel', ['groq']],
    ['together/unlisted', null],
    ['no/such', null],
    ['service/auto', null],
    [`${slug}:thinking`, null],
  ])('of %s: %j', async (path, expected) => {
    const { manage } = tenantGateway(options);
    const { status, json } = await manage('GET', `/models/${path}/endpoints`);
    if (expected === null) expect([status, json.error.metadata.error_type]).toEqual([404, 'not_found']);
    else expect(tags(json.data.endpoints)).toEqual(expected);
  });
});

describe('GET /models', () => {
  it('links to a page that is there, and to the same model', async () => {
    const { manage } = tenantGateway(options);
    const [listed] = (await manage('GET', '/models')).json.data;
    const { json } = await manage('GET', listed.links.details.replace(/^\/v1/, ''));
    expect(json.data.id).toBe(listed.id);
    expect((await manage('GET', `/model/${listed.id}`)).json).toEqual({ data: listed });
    expect((await manage('GET', `/model/${listed.id}:floor`)).json).toEqual({ data: listed });
  });
  it.each([
    ['chat', {}, 'after_id=acme/fast', 'after_id', 'offset, limit'],
    ['chat', {}, 'before_id=acme/fast', 'before_id', 'offset, limit'],
    ['chat', {}, 'pageSize=1', 'pageSize', 'offset, limit'],
    ['chat', {}, 'pageToken=x', 'pageToken', 'offset, limit'],
    ['Messages', { 'anthropic-version': '2023-06-01' }, 'offset=1', 'offset', 'limit, after_id, before_id'],
    ['Messages', { 'anthropic-version': '2023-06-01' }, 'pageSize=1', 'pageSize', 'limit, after_id, before_id'],
    ['Gemini', { 'x-goog-api-key': managementKey }, 'limit=1', 'limit', 'pageSize, pageToken'],
    ['Gemini', { 'x-goog-api-key': managementKey }, 'after_id=x', 'after_id', 'pageSize, pageToken'],
  ])('refuses pages of other wires: %s %o %s', async (_, headers, query, name, own) => {
    const { call } = testGateway(options);
    const { status, json } = await call('GET', `/models?${query}`, undefined, headers);
    expect([status, json.error.message]).toEqual([400, expect.stringContaining(`${name}: clients that speak`)]);
    expect(json.error.message).toContain(`by ${own}`);
  });
  it('links below the path that the request came in at', async () => {
    const { gateway } = tenantGateway(options);
    const request = new Request('http://gateway.test/api/llm/models', {
      headers: { authorization: `Bearer ${testKey}` },
    });
    const response = await gateway.handle(request, { basePath: '/api/llm' });
    const { data } = (await response.json()) as { data: { links: object }[] };
    expect(data[0]?.links).toEqual({ details: `/api/llm/models/${slug}/endpoints` });
  });
  it('refuses a filter it does not understand, naming it', async () => {
    const { manage } = tenantGateway(options);
    const { status, json } = await manage('GET', '/models?sort=best&context=0');
    expect(status).toBe(400);
    expect(json.error.metadata.issues.map(({ path }: { path: string }) => path)).toEqual(['context', 'sort']);
  });
  it('shows all that is built in, for a gateway with many keys', async () => {
    const providers = ['openai', 'deepinfra', 'groq', 'mistral', 'deepseek', 'xai'];
    const { manage } = tenantGateway({
      providers: Object.fromEntries(providers.map((name) => [name, { apiKey: 'sk-test-0123456789' }])),
      models: [],
      catalog: {},
    });
    const { data } = (await manage('GET', '/models?sort=pricing-low-to-high')).json;
    expect(data.length).toBeGreaterThan(30);
    expect((await manage('GET', '/models/count')).json.data.count).toBe(data.length);
    const some = ['meta-llama/llama-3.3-70b-instruct', 'openai/gpt-4.1'];
    expect(data.map(({ id }: { id: string }) => id)).toEqual(expect.arrayContaining(some));
    for (const { links } of data) {
      expect((await manage('GET', links.details.replace('/v1', ''))).json.data.endpoints.length).toBeGreaterThan(0);
    }
    const { json: zdr } = await manage('GET', '/endpoints/zdr');
    expect(new Set(zdr.data.map((one: { provider_name: string }) => one.provider_name))).toContain('DeepInfra');
  });
});

const everyListing = [
  '/models',
  '/models/user',
  '/models/count',
  `/model/${slug}`,
  `/models/${slug}/endpoints`,
  '/endpoints/zdr',
  '/providers',
];

describe('every listing', () => {
  it.each(everyListing)('%s is for any key, and for no one else', async (path) => {
    const { manage } = tenantGateway(options);
    const statuses = [];
    for (const key of [testKey, managementKey, null, 'sk-wrong']) {
      statuses.push((await manage('GET', path, undefined, key)).status);
    }
    expect(statuses).toEqual([200, 200, 401, 401]);
  });
  it('shows a workspace what its own credentials open, and no other workspace', async () => {
    const { manage, call, workspace, key } = tenantGateway(options);
    const ids = { acme: await workspace('acme'), rival: await workspace('rival') };
    const keys = {
      acme: (await key({ workspace_id: ids.acme })).key,
      rival: (await key({ workspace_id: ids.rival })).key,
    };
    const own = { provider: 'together', key: 'sk-own-0123456789', workspace_id: ids.acme };
    const { json: made } = await call('POST', '/byok', own);
    const seenBy = async (who: 'acme' | 'rival') => {
      const get = async (path: string) => (await manage('GET', path, undefined, keys[who])).json.data;
      return [
        (await get(`/models/${slug}/endpoints`)).endpoints.some(({ tag }: { tag: string }) => tag === 'together'),
        tags(await get('/endpoints/zdr')).includes('together'),
        (await get('/providers')).some((one: { slug: string }) => one.slug === 'together'),
        (await manage('GET', '/model/together/unlisted', undefined, keys[who])).status,
      ];
    };
    expect(await seenBy('acme')).toEqual([true, true, true, 200]);
    expect(await seenBy('rival')).toEqual([false, false, false, 404]);
    await call('PATCH', `/byok/${made.data.id}`, { disabled: true });
    expect(await seenBy('acme')).toEqual([false, false, false, 404]);
    await call('PATCH', `/byok/${made.data.id}`, { disabled: false, allowed_models: ['acme/*'] });
    expect((await seenBy('acme')).slice(0, 2)).toEqual([false, false]);
  });
});

describe('GET /providers', () => {
  it('lists those that requests can come to, by slug', async () => {
    const { manage } = tenantGateway(options);
    const unknown = {
      privacy_policy_url: null,
      terms_of_service_url: null,
      status_page_url: null,
      headquarters: null,
      datacenters: null,
    };
    expect((await manage('GET', '/providers')).json).toEqual({
      data: [
        { name: 'DeepInfra', slug: 'deepinfra', ...unknown },
        { name: 'Groq', slug: 'groq', ...unknown },
      ],
    });
  });
});

describe('clients of OpenAI’s interface', () => {
  const models = [
    { slug: 'acme/fast', endpoints: [{ provider: 'up', model: 'fast', pricing: testPricing }] },
    { slug: 'meta/llama/guard:free', endpoints: [{ provider: 'up', model: 'guard', pricing: testPricing }] },
  ];
  const openai = ({ gateway }: TestGateway) =>
    new OpenAI({ apiKey: testKey, baseURL: 'http://gateway.test/v1', fetch: gateway.fetch, maxRetries: 0 });

  it('list models, and get each by the id of the list', async () => {
    const tested = testGateway({ models });
    const client = openai(tested);
    const listed: OpenAI.Models.Model[] = [];
    for await (const model of client.models.list()) listed.push(model);
    expect(listed).toMatchObject([
      { id: 'acme/fast', object: 'model', owned_by: 'acme' },
      { id: 'meta/llama/guard:free', object: 'model', owned_by: 'meta' },
    ]);
    // The client writes the slash as %2F.
    for (const model of listed) expect(await client.models.retrieve(model.id)).toEqual(model);
    for (const model of listed) expect((await tested.call('GET', `/models/${model.id}`)).json).toEqual(model);
    expect(await tested.gateway.models.retrieve({ id: 'acme/fast' })).toEqual(listed[0]);
  });
  it('get a 404 in the envelope for a model that there is not, and none of the paths beside it changes', async () => {
    const { call } = testGateway({ models });
    for (const id of ['acme/none', 'none', 'acme/fast/endpoints/more', '%2F', 'a%2f%2fb', '%E0%A4%A'])
      expect([id, (await call('GET', `/models/${id}`)).json.error?.code]).toEqual([id, 404]);
    expect((await call('GET', '/models/count')).json.data).toEqual({ count: 2 });
    expect((await call('GET', '/models/user')).json.data).toHaveLength(2);
    expect((await call('GET', '/models/acme/fast/endpoints')).json.data.id).toBe('acme/fast');
    expect((await call('DELETE', '/models/acme/fast')).status).toBe(405);
  });
  it.each(['/models', '/models/user', '/endpoints/zdr', '/providers'])('ask for a part of %s', async (path) => {
    const { call } = testGateway({
      models,
      providers: {
        up: { baseUrl: 'https://up.test/v1', apiKey: 'sk-up', dataPolicy: { zeroRetention: true } },
        other: { baseUrl: 'https://other.test/v1', apiKey: 'sk-other' },
      },
    });
    const all = (await call('GET', path)).json.data;
    expect(all.length).toBeGreaterThan(1);
    expect((await call('GET', `${path}?limit=1000`)).json.data).toEqual(all);
    expect((await call('GET', `${path}?limit=1`)).json.data).toEqual(all.slice(0, 1));
    expect((await call('GET', `${path}?limit=1&offset=1`)).json.data).toEqual(all.slice(1, 2));
    expect((await call('GET', `${path}?limit=0`)).status).toBe(400);
  });
});
