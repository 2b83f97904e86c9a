import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../src/base/errors.ts';
import type { GatewayOptions } from '../../src/options.ts';
import { serviceMetadataSchema } from '../../src/schema/chat/envelope.ts';
import { hello, testGateway } from '../support/gateway.ts';
import { sharedAvailable, validateAgainstReference } from '../support/reference.ts';
import { chunk, completion, errorBody, sse, textStream } from '../support/upstream.ts';

const enabled = { 'x-service-metadata': 'enabled' };
const direct = { model: 'acme/fast', messages: hello };

/** A plugin or guardrail that refuses every request. */
function refusing(kind: 'guardrail_blocked' | 'invalid_request') {
  return {
    id: 'refusing',
    before(): never {
      throw new GatewayError(kind, 'Not this one');
    },
  };
}

/** Checks the shape, then returns it. */
function checked(metadata: unknown) {
  if (sharedAvailable) expect(validateAgainstReference('ServiceMetadata', metadata)).toEqual([]);
  return serviceMetadataSchema().parse(metadata);
}

describe('routing metadata', () => {
  it('is absent unless asked for', async () => {
    const { post, upstream } = testGateway();
    upstream.answer({ body: completion() }, { body: textStream('Hi') }, { status: 400, body: errorBody('No') });
    for (const [body, headers] of [
      [direct, {}],
      [{ ...direct, stream: true }, { 'x-service-metadata': 'disabled' }],
      [direct, { 'x-service-metadata': 'true' }],
    ] as const) {
      expect((await post(body, headers as Record<string, string>)).text).not.toContain('service_metadata');
    }
  });
  it.each(['x-service-metadata', 'X-Service-Metadata', 'X-SERVICE-EXPERIMENTAL-METADATA'])(
    'is asked for by %s',
    async (name) => {
      const { post, upstream } = testGateway();
      for (const value of ['enabled', 'Enabled', ' ENABLED ']) {
        upstream.answer({ body: completion() });
        expect((await post(direct, { [name]: value })).json.service_metadata).toBeDefined();
      }
    },
  );
  it.each(['disabled', 'Disabled', 'nonsense'])('is not asked for by the legacy header beside %s', async (value) => {
    const { post, upstream } = testGateway();
    upstream.always({ body: completion() });
    const both = { 'x-service-metadata': value, 'x-service-experimental-metadata': 'enabled' };
    expect((await post(direct, both)).text).not.toContain('service_metadata');
    const other = { 'x-service-metadata': 'enabled', 'x-service-experimental-metadata': 'disabled' };
    expect((await post(direct, other)).text).toContain('service_metadata');
  });
  it('says on JSON who was asked and who served', async () => {
    const { post, upstream } = testGateway({ region: 'eu-1' });
    upstream.answer(
      { status: 500, body: errorBody('Oops') },
      { status: 429, body: errorBody('Slow') },
      { body: completion() },
    );
    const { json } = await post({ model: 'acme/pair', models: ['acme/other'], messages: hello }, enabled);
    expect(checked(json.service_metadata)).toEqual({
      requested: 'acme/pair',
      strategy: 'fallback',
      region: 'eu-1',
      summary: 'available=3, selected=Alt',
      attempt: 3,
      is_byok: false,
      endpoints: {
        total: 3,
        available: [
          { provider: 'Up', model: 'acme/pair', selected: false },
          { provider: 'Alt', model: 'acme/pair', selected: true },
          { provider: 'Alt', model: 'acme/other', selected: false },
        ],
      },
      attempts: [
        { provider: 'Up', model: 'acme/pair', status: 500 },
        { provider: 'Up', model: 'acme/pair', status: 429 },
        { provider: 'Alt', model: 'acme/pair', status: 200 },
      ],
    });
  });
  it('is short where the first try won', async () => {
    const { post, upstream } = testGateway();
    upstream.answer({ body: completion() });
    expect(checked((await post(direct, enabled)).json.service_metadata)).toEqual({
      requested: 'acme/fast',
      strategy: 'direct',
      region: null,
      summary: 'available=1, selected=Up',
      attempt: 1,
      is_byok: false,
      endpoints: { total: 1, available: [{ provider: 'Up', model: 'acme/fast', selected: true }] },
    });
  });
  it('rides on the last chunk of a stream only', async () => {
    const { post, upstream } = testGateway();
    upstream.answer({ body: textStream('Hel', 'lo', '!') });
    const { chunks } = await post({ ...direct, stream: true }, enabled);
    expect(chunks.filter(({ service_metadata: metadata }) => metadata !== undefined)).toHaveLength(1);
    expect(checked(chunks.at(-1)?.service_metadata)).toMatchObject({ attempt: 1, summary: 'available=1, selected=Up' });
  });
  it('rides on the error chunk of a stream that broke', async () => {
    const { post, upstream } = testGateway();
    upstream.answer({ body: [sse(chunk({ content: 'Hi' }))] });
    const { chunks } = await post({ ...direct, stream: true }, enabled);
    expect(chunks.at(-1)?.error).toBeDefined();
    expect(checked(chunks.at(-1)?.service_metadata).attempt).toBe(1);
  });
  it.each<[string, object, object[], number, object]>([
    [
      'an unknown model',
      { model: 'no/model' },
      [],
      400,
      { requested: 'no/model', attempt: 0, endpoints: { total: 0, available: [] } },
    ],
    [
      'no endpoint left',
      { provider: { only: ['nobody'] } },
      [],
      404,
      { requested: 'acme/fast', attempt: 0, endpoints: { total: 1, available: [] } },
    ],
    [
      "a provider's 400",
      {},
      [{ status: 400, body: errorBody('No') }],
      400,
      { attempt: 1, attempts: [{ provider: 'Up', model: 'acme/fast', status: 400 }] },
    ],
    [
      'rate limits',
      {},
      [
        { status: 429, body: errorBody('Slow') },
        { status: 429, body: errorBody('Slow') },
      ],
      429,
      { attempt: 2 },
    ],
    [
      "a provider's failure",
      {},
      [{ status: 500, body: errorBody('No') }, { instead: 'refuse' }],
      502,
      { attempt: 2, summary: 'available=1, selected=none' },
    ],
    ['an overload', {}, [{ status: 529 }, { status: 529 }], 529, { attempt: 2 }],
    ['a time-out', {}, [{ instead: 'hang' }, { instead: 'hang' }], 524, { attempt: 2 }],
  ])('sits beside the error of %s', async (_, fields, answers, status, expected) => {
    const { post, upstream } = testGateway({ timeouts: { jsonHeadersMs: 60_000 } });
    upstream.answer(...answers);
    const answer = await post({ ...direct, ...fields }, enabled);
    expect(answer.status).toBe(status);
    expect(checked(answer.json.service_metadata)).toMatchObject(expected);
    expect(answer.json.service_metadata?.endpoints.available.some(({ selected }) => selected)).toBe(false);
    expect(answer.json.error.metadata).not.toHaveProperty('service_metadata');
  });
  it.each<[string, number, Partial<GatewayOptions>]>([
    ['a guardrail', 403, { guardrails: [refusing('guardrail_blocked')] }],
    ['a plugin', 400, { plugins: [{ ...refusing('invalid_request'), isDefault: true }] }],
    ['a rate limit', 429, { rateLimits: { workspace: { requestsPerMinute: 1 } } }],
  ])(
    'says what was asked for, and that nobody served, where %s refused the request before it was planned',
    async (by, status, options) => {
      const { post, upstream } = testGateway(options);
      upstream.always({ body: completion() });
      if (by === 'a rate limit') await post({ model: 'acme/fast', messages: hello });
      for (const stream of [false, true]) {
        const refused = await post({ model: 'acme/fast', messages: hello, stream }, enabled);
        expect([refused.status, refused.json.service_metadata]).toMatchObject([
          status,
          {
            requested: 'acme/fast',
            strategy: 'direct',
            attempt: 0,
            summary: 'available=0, selected=none',
            endpoints: { total: 0, available: [] },
          },
        ]);
      }
      const several = await post({ models: ['acme/fast', 'acme/other'], messages: hello }, enabled);
      expect(several.json.service_metadata).toMatchObject({ requested: 'acme/fast', strategy: 'fallback' });
      expect(upstream.sent).toHaveLength(by === 'a rate limit' ? 1 : 0);
    },
  );
  it('sits beside the error when all that could serve has to rest', async () => {
    const { post, upstream } = testGateway();
    upstream.answer({ status: 401, body: errorBody('No') });
    await post(direct);
    const { status, json } = await post(direct, enabled);
    expect(status).toBe(503);
    expect(checked(json.service_metadata)).toMatchObject({ attempt: 0, endpoints: { total: 1 } });
  });
  it('is left out of 401 and 500', async () => {
    const { post } = testGateway();
    expect((await post(direct, { ...enabled, authorization: 'Bearer nobody' })).json).not.toHaveProperty(
      'service_metadata',
    );
    const failing = testGateway({
      random: () => {
        throw new Error('no dice');
      },
    });
    failing.upstream.answer({ status: 500, body: errorBody('Oops') });
    const { status, json } = await failing.post(direct, enabled);
    expect([status, Object.keys(json)]).toEqual([500, ['error']]);
  });
  it('is never what a provider says', async () => {
    for (const brand of ['service', 'acme']) {
      const { post, upstream } = testGateway({ brand });
      const forged = {
        service_metadata: { requested: 'x' },
        acme_metadata: { requested: 'x' },
        debug: { a: 1 },
        user_id: 'me',
      };
      const events = textStream('Hel', 'lo', ' you').map((frame) =>
        frame.replace('"choices"', `${JSON.stringify(forged).slice(1, -1)},"choices"`),
      );
      upstream.answer({ body: completion(forged) }, { body: events });
      for (const stream of [false, true]) {
        const { text } = await post({ ...direct, stream });
        expect(text).not.toMatch(new RegExp(`service_metadata|${brand}_metadata|"debug"|user_id`));
      }
    }
  });
  it('holds no key and no prompt', async () => {
    const { post, upstream } = testGateway();
    upstream.answer({ body: completion() });
    const { json } = await post(direct, enabled);
    expect(JSON.stringify(json.service_metadata)).not.toMatch(/sk-|Hello/);
  });
});

/** Prices by which endpoints are in one order: the draw always says the same. */
const usd = (price: string) => ({ pricing: { prompt: price, completion: price } });

describe('routing metadata is true', () => {
  const options: Parameters<typeof testGateway>[0] = {
    retry: { attemptsPerEndpoint: 1 },
    models: [
      {
        slug: 'acme/big-2',
        endpoints: [
          { provider: 'up', model: 'up-2', ...usd('0.000001') },
          { provider: 'alt', model: 'alt-2', ...usd('0.000002') },
          { provider: 'alt', variant: 'flex', model: 'alt-2-flex', ...usd('0.0000015') },
        ],
      },
      { slug: 'acme/big-1', endpoints: [{ provider: 'alt', model: 'alt-1', ...usd('0.000004') }] },
      { slug: 'acme/gift', endpoints: [{ provider: 'up', model: 'gift', ...usd('0') }] },
    ],
  };
  const shown = (provider: string, model: string, selected = false) => ({ provider, model, selected });
  const failure = { status: 500, body: errorBody('No') };

  async function metadataOf(body: object, answers: object[] = [], more: Parameters<typeof testGateway>[0] = {}) {
    const tested = testGateway({ ...options, ...more });
    tested.upstream.answer(...answers);
    tested.upstream.always({ body: completion() });
    const answer = await tested.post({ messages: hello, ...body }, enabled);
    return { ...tested, answer, metadata: checked(answer.json.service_metadata ?? answer.json.acme_metadata) };
  }

  it('of the newest of a family', async () => {
    const { metadata, answer } = await metadataOf({ model: '~acme/big-latest' });
    expect(answer.json.model).toBe('acme/big-2');
    expect(metadata).toEqual({
      requested: '~acme/big-latest',
      strategy: 'latest',
      region: null,
      summary: 'available=2, selected=Up',
      attempt: 1,
      is_byok: false,
      endpoints: { total: 3, available: [shown('Up', 'acme/big-2', true), shown('Alt', 'acme/big-2')] },
      params: { version_group: 'acme/big' },
    });
  });
  it('of the automatic router, whose answer names the model that it chose', async () => {
    const { metadata, answer } = await metadataOf({
      model: 'service/auto',
      plugins: [{ id: 'auto-router', cost_quality_tradeoff: 0 }],
    });
    expect(answer.json.model).toBe('acme/big-1');
    expect(metadata).toMatchObject({
      requested: 'service/auto',
      strategy: 'auto',
      summary: 'available=4, selected=Alt',
      params: { cost_quality_tradeoff: 0 },
    });
    expect(metadata.endpoints.available.filter(({ selected }) => selected)).toEqual([shown('Alt', 'acme/big-1', true)]);
  });
  it('of the free router, also under the brand', async () => {
    for (const model of ['service/free', 'acme/free']) {
      const { answer, metadata } = await metadataOf({ model }, [], { brand: 'acme' });
      expect(answer.json.model).toBe('acme/gift');
      expect(metadata).toMatchObject({
        requested: model,
        strategy: 'free',
        summary: 'available=1, selected=Up',
        endpoints: { total: 1 },
      });
    }
  });
  it('of a suffix, which stays in what was asked and not in what answered', async () => {
    const { metadata, answer } = await metadataOf({ model: 'acme/big-2:floor' });
    expect([metadata.requested, metadata.strategy, answer.json.model]).toEqual([
      'acme/big-2:floor',
      'direct',
      'acme/big-2',
    ]);
    expect(metadata.endpoints).toEqual({
      total: 3,
      available: [shown('Up', 'acme/big-2', true), shown('Alt', 'acme/big-2'), shown('Alt', 'acme/big-2')],
    });
  });
  it('of a fallback to another model', async () => {
    const { metadata, answer } = await metadataOf({ models: ['acme/big-2', 'acme/big-1'] }, [failure, failure]);
    expect(answer.json.model).toBe('acme/big-1');
    expect(metadata).toMatchObject({
      requested: 'acme/big-2',
      strategy: 'fallback',
      attempt: 3,
      attempts: [
        { provider: 'Up', model: 'acme/big-2', status: 500 },
        { provider: 'Alt', model: 'acme/big-2', status: 500 },
        { provider: 'Alt', model: 'acme/big-1', status: 200 },
      ],
    });
    expect(metadata.endpoints.available.at(-1)).toEqual(shown('Alt', 'acme/big-1', true));
  });
  it('of a model that was asked for twice: each endpoint is one', async () => {
    const { metadata } = await metadataOf({ models: ['acme/big-2:nitro', 'acme/big-2'] });
    expect(metadata.endpoints.available).toEqual([shown('Up', 'acme/big-2', true), shown('Alt', 'acme/big-2')]);
  });
  it('of preferences: what they leave out is counted and not available', async () => {
    const one = await metadataOf({ model: 'acme/big-2', provider: { allow_fallbacks: false } });
    expect(one.metadata.endpoints).toEqual({ total: 3, available: [shown('Up', 'acme/big-2', true)] });
    const floor = await metadataOf({
      model: 'acme/big-2',
      provider: { only: ['alt'], preferred_min_throughput: { p50: 7 } },
    });
    expect(floor.metadata).toMatchObject({ params: { throughput_floor: 7 }, endpoints: { total: 3 } });
    expect(floor.metadata.endpoints.available).toEqual([shown('Alt', 'acme/big-2', true)]);
  });
  it('when all failed', async () => {
    const { metadata, answer } = await metadataOf({ model: 'acme/big-2' }, [failure, failure]);
    expect(answer.status).toBe(502);
    expect(metadata).toMatchObject({ attempt: 2, summary: 'available=2, selected=none', is_byok: false });
    expect(metadata.endpoints).toEqual({
      total: 3,
      available: [shown('Up', 'acme/big-2'), shown('Alt', 'acme/big-2')],
    });
    expect(metadata.attempts).toHaveLength(2);
  });
  it.each<[string, object, string]>([
    ['a model', { model: 'acme/big-2' }, 'direct'],
    ['one of a list', { models: ['acme/big-2'] }, 'direct'],
    ['several', { models: ['acme/big-2', 'acme/big-1'] }, 'fallback'],
    ['the same twice', { model: 'acme/big-2', models: ['acme/big-2'] }, 'direct'],
    ['the newest', { model: '~acme/big-latest' }, 'latest'],
    ['the automatic router', { model: 'service/auto' }, 'auto'],
    ['the free router', { model: 'service/free:nitro' }, 'free'],
  ])(
    'of %s, whether something served, preferences left nothing, or the budget did not have it',
    async (_, body, strategy) => {
      const served = await metadataOf(body);
      expect([served.answer.status, served.metadata.strategy]).toEqual([200, strategy]);
      const requested = served.metadata.requested;
      const left = await metadataOf({ ...body, provider: { only: ['nobody'] } });
      expect(left.answer.status).toBe(404);
      expect(left.metadata).toMatchObject({ requested, strategy, attempt: 0, summary: 'available=0, selected=none' });
      expect(left.metadata.endpoints.available).toEqual([]);
      expect(left.metadata.endpoints.total).toBeGreaterThan(0);
      if (strategy === 'free') return;
      const poor = testGateway(options);
      await poor.call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 0.0000001 });
      const { status, json } = await poor.post(
        { messages: hello, plugins: [{ id: 'auto-router', allowed_models: ['acme/big*'] }], ...body },
        enabled,
      );
      expect(status).toBe(402);
      expect(checked(json.service_metadata)).toMatchObject({ requested, strategy, attempt: 0 });
      expect(json.service_metadata?.summary).toMatch(/selected=none$/);
      expect(json.service_metadata?.endpoints.total).toBeGreaterThan(0);
      expect(poor.upstream.sent).toEqual([]);
    },
  );
  it('of what the workspace asks for where the request names no model', async () => {
    const tested = testGateway(options);
    await tested.call('PATCH', '/workspaces/default', { default_text_model: '~acme/big-latest' });
    tested.upstream.always({ body: completion() });
    for (const provider of [{}, { only: ['nobody'] }]) {
      const { json } = await tested.post({ messages: hello, provider }, enabled);
      expect(checked(json.service_metadata)).toMatchObject({ requested: '~acme/big-latest', strategy: 'latest' });
    }
  });
  it('when all has to rest', async () => {
    const { metadata, post } = await metadataOf({ model: 'acme/big-2' }, [
      { status: 401, body: errorBody('No') },
      { status: 401, body: errorBody('No') },
    ]);
    expect(metadata.attempt).toBe(2);
    const { status, json } = await post({ messages: hello, model: 'acme/big-2' }, enabled);
    expect(status).toBe(503);
    expect(checked(json.service_metadata)).toMatchObject({
      strategy: 'direct',
      attempt: 0,
      summary: 'available=0, selected=none',
      endpoints: { total: 3, available: [] },
    });
  });
  it("of a workspace's own credentials: the endpoint is one, and it says whose served", async () => {
    const tested = testGateway({
      secrets: { current: 'a master secret of the tests, which is long enough' },
      retry: { attemptsPerEndpoint: 1 },
      providers: {
        groq: { apiKey: 'gsk-operator-0123456789', baseUrl: 'https://groq.test/v1', byok: true, name: 'Groq' },
      },
      models: [{ slug: 'acme/big-2', endpoints: [{ provider: 'groq', model: 'm', ...usd('0.000001') }] }],
    });
    await tested.call('POST', '/byok', { provider: 'groq', key: 'gsk-own-0123456789' });
    const ask = { messages: hello, model: 'acme/big-2' };
    tested.upstream.answer({ body: completion() });
    const own = checked((await tested.post(ask, enabled)).json.service_metadata);
    tested.upstream.answer(failure, { body: completion() });
    const operators = checked((await tested.post(ask, enabled)).json.service_metadata);
    tested.upstream.answer(failure, failure);
    const nobodys = checked((await tested.post(ask, enabled)).json.service_metadata);
    expect([own, operators, nobodys].map(({ is_byok, attempt, summary }) => [is_byok, attempt, summary])).toEqual([
      [true, 1, 'available=1, selected=Groq'],
      [false, 2, 'available=1, selected=Groq'],
      [false, 2, 'available=1, selected=none'],
    ]);
    for (const { endpoints } of [own, operators])
      expect(endpoints).toEqual({ total: 1, available: [shown('Groq', 'acme/big-2', true)] });
  });
  it('in a stream, as in an answer', async () => {
    for (const model of ['~acme/big-latest', 'service/auto', 'service/free', 'acme/big-2:floor', 'acme/big-1']) {
      const whole = await metadataOf({ model }, [failure]);
      const streaming = testGateway(options);
      streaming.upstream.answer(failure, { body: textStream('Hi') });
      const { chunks, json } = await streaming.post({ messages: hello, model, stream: true }, enabled);
      // With nobody else to try, it is an error like any other.
      const streamed = whole.answer.status === 200 ? chunks.at(-1)?.service_metadata : json.service_metadata;
      expect(checked(streamed)).toEqual(whole.metadata);
    }
  });
  it('in what was explained: the same strategy, endpoints and parameters', async () => {
    for (const model of ['~acme/big-latest', 'service/auto', 'service/free', 'acme/big-2:floor', 'acme/big-1']) {
      const { metadata, gateway } = await metadataOf({ model });
      const explained = await gateway.explain({ messages: hello, model });
      expect([explained.requested, explained.strategy, explained.params]).toEqual([
        metadata.requested,
        metadata.strategy,
        metadata.params,
      ]);
      expect(explained.candidates.map((one, at) => shown(one.provider_name, one.model, at === 0))).toEqual(
        metadata.endpoints.available,
      );
      expect(explained.candidates.length + explained.excluded.length).toBe(metadata.endpoints.total);
    }
  });
});

describe('a brand', () => {
  it('names header and field; the names without it are still accepted', async () => {
    const { post, upstream } = testGateway({ brand: 'acme' });
    for (const name of ['x-acme-metadata', 'x-service-metadata', 'x-service-experimental-metadata']) {
      upstream.answer({ body: completion() }, { body: textStream('Hi') });
      const { json } = await post(direct, { [name]: 'enabled' });
      expect(checked(json.acme_metadata).requested).toBe('acme/fast');
      expect(json).not.toHaveProperty('service_metadata');
      const { chunks } = await post({ ...direct, stream: true }, { [name]: 'enabled' });
      expect(chunks.at(-1)).toHaveProperty('acme_metadata');
    }
    const { json } = await post({ ...direct, model: 'no/model' }, { 'x-acme-metadata': 'enabled' });
    expect(json).toHaveProperty('acme_metadata');
  });
});

describe('debug.echo_upstream_body', () => {
  const debug = { echo_upstream_body: true };
  it('shows the transformed body in a chunk before all others', async () => {
    const { post, upstream } = testGateway();
    upstream.answer({ body: textStream('Hi') });
    const { chunks, text } = await post({ ...direct, stream: true, debug, max_completion_tokens: 5 });
    expect(chunks[0]).toMatchObject({ id: chunks[1]?.id, model: 'acme/fast', provider: 'Up', choices: [] });
    expect(chunks[0]?.debug?.echo_upstream_body).toEqual({
      model: 'up-fast',
      messages: hello,
      max_tokens: 5,
      stream: true,
      stream_options: { include_usage: true },
    });
    expect(chunks[0]?.debug?.echo_upstream_body).toEqual(upstream.sent[0]?.body);
    expect(chunks.filter((one) => one.debug !== undefined)).toHaveLength(1);
    expect(text).not.toContain('sk-');
  });
  it('shows the body of every provider that was tried', async () => {
    const { post, upstream } = testGateway({ retry: { attemptsPerEndpoint: 1 } });
    upstream.answer({ status: 500, body: errorBody('Oops') }, { body: textStream('Hi') });
    const { chunks } = await post({ model: 'acme/pair', messages: hello, stream: true, debug });
    expect(chunks.flatMap((one) => (one.debug ? [one.debug.echo_upstream_body?.model] : []))).toEqual([
      'up-pair',
      'alt-pair',
    ]);
  });
  it.each([
    { stream: false, debug },
    { stream: true, debug: { echo_upstream_body: false } },
    { stream: true, debug: {} },
  ])('shows nothing for %j', async (fields) => {
    const { post, upstream } = testGateway();
    upstream.answer({ body: fields.stream ? textStream('Hi') : completion() });
    expect((await post({ ...direct, ...fields })).text).not.toContain('echo_upstream_body');
  });
});
