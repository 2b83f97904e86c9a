import { describe, expect, it } from 'vitest';
import type { ByokCredential } from '../../../src/call/facts.ts';
import { defaultWorkspaceId } from '../../../src/call/workspace.ts';
import type { ChatRequest } from '../../../src/schema/chat/chat.ts';
import { hello, type TestGateway, testGateway, testPricing } from '../../support/gateway.ts';
import { type EndpointSketch, modelOf, modelsOf, order, planFor, seeded, type World } from '../../support/routing.ts';
import { completion, errorBody } from '../../support/upstream.ts';

const pair = { model: 'acme/pair', messages: hello };
const failure = { status: 500, body: errorBody('Broken') };
const reads = (prompt_tokens: number, cached_tokens: number) => ({
  body: completion({
    usage: { prompt_tokens, completion_tokens: 2, total_tokens: 12, prompt_tokens_details: { cached_tokens } },
  }),
});

/** One model at the endpoints given. */
function one(endpoints: Readonly<Record<string, EndpointSketch>>, rest: Partial<World> = {}): World {
  return { models: [modelOf('m/1', endpoints)], ...rest };
}

/** A gateway that draws as if by chance, with two endpoints of equal price. */
function drawing(cacheRead: string | undefined, seed = 1): TestGateway {
  const pricing = { prompt: '0.000002', completion: '0.000008', ...(cacheRead && { inputCacheRead: cacheRead }) };
  const tested = testGateway({
    random: seeded(seed),
    retry: { attemptsPerEndpoint: 1 },
    models: [
      {
        slug: 'acme/pair',
        order: 'price',
        endpoints: [
          { provider: 'up', model: 'm', pricing },
          { provider: 'alt', model: 'm', pricing },
        ],
      },
    ],
  });
  tested.upstream.always({ body: completion() });
  return tested;
}

async function servedBy({ post }: TestGateway, fields: object = {}): Promise<string | undefined> {
  return (await post({ ...pair, ...fields })).json.provider;
}

/** Who serves so many requests. */
async function servers(tested: TestGateway, fields: object = {}, count = 12): Promise<Set<string | undefined>> {
  const seen = new Set<string | undefined>();
  for (let n = 0; n < count; n++) seen.add(await servedBy(tested, fields));
  return seen;
}

const tools: ChatRequest['tools'] = [{ type: 'function', function: { name: 'f' } }];

describe('what is decided of routing', () => {
  it('What an endpoint costs', async () => {
    const priced = (prompt: string, completion: string) => ({ prompt, completion });
    const { gateway } = testGateway({
      models: [
        {
          slug: 'acme/three',
          endpoints: [
            { provider: 'up', model: 'a', variant: 'a', pricing: priced('0.000001', '0.000006') },
            { provider: 'up', model: 'b', variant: 'b', pricing: priced('0.000002', '0.000002') },
            { provider: 'up', model: 'c', variant: 'c', pricing: priced('0.000001', '0.000004') },
          ],
        },
      ],
    });
    const explained = await gateway.explain({ model: 'acme/three', messages: hello, provider: { sort: 'price' } });
    expect(explained.candidates.map((each) => [each.provider, each.price_usd_per_million])).toEqual([
      ['up/c', 1.75],
      ['up/b', 2],
      ['up/a', 2.25],
    ]);
  });
  it('Free endpoints, and those of unknown price', async () => {
    const random = seeded(1);
    const world = one({ any: {}, dear: { price: 5 }, nil: { price: 0 }, some: {}, zero: { price: 0 } });
    const firsts: Record<string, number> = { nil: 0, zero: 0 };
    for (let draw = 0; draw < 2_000; draw++) {
      const [first = '', second, ...rest] = order(planFor({ ...world, facts: { random } }));
      expect([[first, second].sort(), rest]).toEqual([
        ['nil', 'zero'],
        ['dear', 'any', 'some'],
      ]);
      firsts[first] = (firsts[first] ?? 0) + 1;
    }
    // Five standard deviations.
    expect(Math.abs((firsts.nil as number) - 1_000)).toBeLessThan(112);
    const unpriced = one({ a: {}, b: {}, c: {} });
    for (let draw = 0; draw < 20; draw++)
      expect(order(planFor({ ...unpriced, facts: { random } }))).toEqual(['a', 'b', 'c']);
  });
  it('`session_id`', async () => {
    const tested = drawing(undefined);
    expect((await servers(tested)).size).toBe(2);
    const session = { session_id: 's' };
    const drawn = await servedBy(tested, session);
    expect(await servers(tested, session)).toEqual(new Set([drawn]));
    // What a draw alone would not do: it stays where a failure moved it.
    tested.upstream.answer(failure);
    const moved = await servedBy(tested, session);
    expect(moved).not.toBe(drawn);
    await tested.clock.advance(60_000);
    expect(await servers(tested, session)).toEqual(new Set([moved]));
  });
  it('`prompt_cache_key`', async () => {
    for (const prompt_cache_key of ['chat 7', 'k'.repeat(1000)]) {
      const tested = drawing(undefined);
      expect((await servers(tested, { prompt_cache_key })).size).toBe(1);
      expect([tested.records[0]?.sessionId, tested.upstream.sent[0]?.body.prompt_cache_key]).toEqual([
        null,
        prompt_cache_key,
      ]);
      expect((await servers(tested)).size).toBe(2);
    }
  });
  it('`modalities` under `require_parameters`', async () => {
    const lists: EndpointSketch = { supportedParameters: ['modalities'] };
    const models = [
      modelOf('m/1', { a: { supportedParameters: ['seed'] }, b: lists }),
      modelOf('m/2', { a: { supportedParameters: ['seed'] } }, { outputModalities: ['text', 'image'] }),
    ];
    const asked: Partial<ChatRequest> = { models: ['m/1', 'm/2'], modalities: ['text', 'image'] };
    expect(order(planFor({ models }, asked))).toHaveLength(3);
    expect(order(planFor({ models }, { ...asked, provider: { require_parameters: true } }))).toEqual([
      'm/1 b',
      'm/2 a',
    ]);
  });
  it('Conversations without a session', async () => {
    for (const [cacheRead, cached, isKept] of [
      ['0.0000005', 8, true],
      ['0.0000005', 0, false],
      ['0.000002', 8, false],
      [undefined, 8, false],
    ] as const) {
      const tested = drawing(cacheRead);
      tested.upstream.answer(reads(10, cached));
      const first = await servedBy(tested);
      const later = [...hello, { role: 'assistant', content: 'Hi' }, { role: 'user', content: 'Go on' }];
      const seen = await servers(tested, { messages: later });
      expect([cacheRead, cached, seen.size]).toEqual([cacheRead, cached, isKept ? 1 : 2]);
      if (isKept) expect(seen).toContain(first);
      expect((await servers(tested, { messages: [{ role: 'user', content: 'Other' }] })).size).toBe(2);
    }
  });
  it('Several instances, and the endpoint of a session', async () => {
    const [first, second] = [drawing(undefined, 1), drawing(undefined, 2)];
    const drawn: (string | undefined)[] = [];
    for (let n = 0; n < 12; n++) {
      const session = { session_id: `session ${n}` };
      drawn.push(await servedBy(first, session));
      expect(await servedBy(second, session)).toBe(drawn[n]);
    }
    expect(new Set(drawn).size).toBe(2);
    const session = { session_id: 'session 0' };
    first.upstream.answer(failure);
    await servedBy(first, session);
    expect([await servedBy(first, session), await servedBy(second, session)]).toEqual([
      drawn[0] === 'Up' ? 'Alt' : 'Up',
      drawn[0],
    ]);
  });
  it('`order`, and what a conversation is kept at', async () => {
    const tested = drawing(undefined);
    const session = { session_id: 's' };
    const drawn = await servedBy(tested, session);
    const other = drawn === 'Up' ? 'Alt' : 'Up';
    expect(await servedBy(tested, { ...session, provider: { order: [other.toLowerCase()] } })).toBe(other);
    expect(await servedBy(tested, session)).toBe(drawn);
  });
  it('An endpoint that lacks', async () => {
    const needing: Record<string, { able: EndpointSketch; unable: EndpointSketch; fields: Partial<ChatRequest> }> = {
      tools: {
        able: { supportedParameters: ['tools'] },
        unable: { supportedParameters: ['stop'] },
        fields: { tools },
      },
      response_format: {
        able: { supportedParameters: ['response_format'] },
        unable: { supportedParameters: ['stop'] },
        fields: { response_format: { type: 'json_object' } },
      },
      verbosity: {
        able: { supportedParameters: ['verbosity'] },
        unable: { supportedParameters: ['stop'] },
        fields: { verbosity: 'low' } as Partial<ChatRequest>,
      },
      context: {
        able: { contextLength: 1_000 },
        unable: { contextLength: 100 },
        fields: { messages: [{ role: 'user', content: 'word '.repeat(200) }] },
      },
      output: { able: { maxCompletionTokens: 200 }, unable: { maxCompletionTokens: 100 }, fields: { max_tokens: 150 } },
    };
    for (const [what, { able, unable, fields }] of Object.entries(needing)) {
      const world = one({ unable: { price: 0.001, ...unable }, able: { price: 1_000, ...able } });
      expect([what, order(planFor(world, fields))]).toEqual([what, ['able', 'unable']]);
      expect(order(planFor(world))).toEqual(['unable', 'able']);
    }
    const image: Partial<ChatRequest> = {
      models: ['m/blind', 'm/sees'],
      provider: { sort: { by: 'price', partition: 'none' } },
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://x.test/a' } }] }],
    };
    const models = [
      modelOf('m/blind', { a: { price: 1 } }, { inputModalities: ['text'] }),
      modelOf('m/sees', { a: { price: 2 } }, { inputModalities: ['text', 'image'] }),
    ];
    expect(modelsOf(planFor({ models }, image))).toEqual(['m/sees', 'm/blind']);
    const strict = { tools, provider: { require_parameters: true } };
    const { able, unable } = needing.tools as (typeof needing)[string];
    expect(order(planFor(one({ unable, able }), strict))).toEqual(['able']);
  });
  it('An outage, under', async () => {
    const world = one({ a: { price: 0.001 }, b: { price: 1_000 } }, { health: { outages: ['a'] } });
    expect(order(planFor(world))).toEqual(['b', 'a']);
    for (const provider of [{ sort: 'price' }, { order: ['a', 'b'] }] satisfies ChatRequest['provider'][])
      expect(order(planFor(world, { provider }))).toEqual(['a', 'b']);
    const [latency, throughput] = [
      { a: 10, b: 20 },
      { a: 20, b: 10 },
    ];
    for (const sort of ['latency', 'throughput'] as const)
      expect(
        order(planFor({ ...world, health: { outages: ['a'], latency, throughput } }, { provider: { sort } })),
      ).toEqual(['a', 'b']);
    // Of equal use for tools.
    expect(order(planFor(world, { provider: { sort: 'exacto' } }))).toEqual(['b', 'a']);
  });
  it('`sort` by what was not measured', async () => {
    const endpoints = { dear: { price: 3 }, cheap: { price: 1 }, slow: { price: 9 }, fast: { price: 8 } };
    for (const [sort, figures] of [
      ['latency', { slow: 9_000, fast: 10 }],
      ['throughput', { slow: 1, fast: 100 }],
    ] as const) {
      const world = one(endpoints, { health: { [sort]: figures } });
      expect(order(planFor(world, { provider: { sort } }))).toEqual(['fast', 'slow', 'cheap', 'dear']);
    }
  });
  it('Which sort holds', async () => {
    const world = one(
      { quick: { price: 5 }, many: { price: 6 }, cheap: { price: 1 } },
      { health: { latency: { quick: 10 }, throughput: { many: 100 } }, facts: { defaultSort: 'latency' } },
    );
    const first = (fields: Partial<ChatRequest>) => order(planFor(world, fields))[0];
    expect(first({})).toBe('quick');
    expect(first({ model: 'm/1:nitro' })).toBe('many');
    expect(first({ model: 'm/1:nitro', provider: { sort: 'price' } })).toBe('cheap');
    const unknown = one(
      { a: { price: 0.001 }, b: { price: 1_000 } },
      { facts: { defaultSort: 'beauty' }, health: { outages: ['a'] } },
    );
    // As without any: a sort would have put the cheap one first.
    expect(order(planFor(unknown))).toEqual(['b', 'a']);
    const { call, post, upstream } = testGateway();
    upstream.always({ body: completion() });
    const set = await call('PATCH', '/workspaces/default', { default_provider_sort: 'beauty' });
    expect([set.status, set.json.error.message]).toEqual([
      400,
      expect.stringMatching(/^default_provider_sort: expected one of .*price/),
    ]);
    expect((await post(pair)).status).toBe(200);
  });
  it('`require_parameters` with nothing to require', async () => {
    const { post, upstream } = testGateway();
    upstream.always({ body: completion() });
    const provider = { require_parameters: true };
    const asked = { model: 'acme/fast', messages: hello, provider };
    expect((await post({ ...asked, user: 'u', metadata: { a: 'b' }, stream: false, tools: [] })).status).toBe(200);
    // Of this endpoint, no list of parameters is known.
    expect((await post({ ...asked, temperature: 1 })).status).toBe(404);
  });
  it('`modalities` come first where the model is known to make them', async () => {
    const model = (slug: string, outputModalities: ('text' | 'image')[]) => ({
      slug,
      outputModalities,
      endpoints: [{ provider: 'up', model: slug.slice(2) }],
    });
    const { post, upstream } = testGateway({
      models: [model('m/words', ['text']), model('m/pictures', ['text', 'image'])],
    });
    upstream.always({ body: completion() });
    const models = ['m/words', 'm/pictures'];
    const asked = { models, messages: hello, provider: { sort: { partition: 'none' } } };
    await post({ ...asked, modalities: ['text', 'image'] });
    await post({ ...asked, modalities: ['image'], models: models.toReversed() });
    await post({ ...asked, modalities: ['text'], provider: { order: ['up'] } });
    expect(upstream.sent.map(({ body }) => body.model)).toEqual(['pictures', 'pictures', 'words']);
  });
  it('`default_image_model`', async () => {
    const { call, post, upstream } = testGateway();
    upstream.always({ body: completion() });
    const settings = { default_text_model: 'acme/fast', default_image_model: 'acme/other' };
    await call('PATCH', '/workspaces/default', settings);
    await post({ messages: hello, modalities: ['image', 'text'] });
    await post({ messages: hello, modalities: ['text'] });
    await post({ messages: hello, model: 'acme/fast', modalities: ['image'] });
    await call('PATCH', '/workspaces/default', { default_image_model: null });
    await post({ messages: hello, modalities: ['image'] });
    expect(upstream.sent.map(({ body }) => body.model)).toEqual(['alt-other', 'up-fast', 'up-fast', 'up-fast']);
  });
  it('A suffix of a model that is not listed', async () => {
    const { post, upstream } = testGateway();
    upstream.always({ body: completion() });
    for (const model of ['up/any:free', 'up/any:nitro', 'acme/fast:nitro']) await post({ model, messages: hello });
    expect(upstream.sent.map(({ body }) => body.model)).toEqual(['any:free', 'any:nitro', 'up-fast']);
  });
  it('`:free`', async () => {
    const free = { promptPicoUsd: 0, completionPicoUsd: 0 };
    const world = one({
      free: { pricing: free },
      request: { pricing: { ...free, requestPicoUsd: 1 } },
      answer: { pricing: { ...free, completionPicoUsd: 1 } },
      prompt: { pricing: { ...free, promptPicoUsd: 1 } },
      unknown: {},
    });
    expect(order(planFor(world, { model: 'm/1:free' }))).toEqual(['free']);
  });
  it('`:extended`, `:thinking`', async () => {
    const world = one({ long: { contextLength: 9 }, short: { contextLength: 8 }, same: { contextLength: 9 }, any: {} });
    expect(order(planFor(world, { model: 'm/1:extended' }))).toEqual(['long', 'same']);
    const endpoints = [
      { provider: 'alt', model: 'plain', pricing: testPricing, supportedParameters: ['tools'] },
      { provider: 'up', model: 'thinks', pricing: testPricing, supportedParameters: ['reasoning'] },
    ];
    const { post, upstream } = testGateway({ models: [{ slug: 'acme/both', endpoints }] });
    upstream.always({ body: completion() });
    for (const fields of [{}, { reasoning: { effort: 'high' } }])
      await post({ model: 'acme/both:thinking', messages: hello, ...fields });
    expect(upstream.sent.map(({ body }) => [body.model, body.reasoning_effort])).toEqual([
      ['thinks', 'medium'],
      ['thinks', 'high'],
    ]);
  });
  it('`:online`', async () => {
    const { post, upstream } = testGateway({ aliases: { looking: 'acme/fast:online' } });
    const { status, json } = await post({ model: 'acme/fast:online', messages: hello });
    expect([status, json.error.message]).toEqual([
      400,
      'Web search is not set up in this gateway: it has no search engine',
    ]);
    const alias = await post({ model: 'looking', messages: hello });
    expect([alias.status, alias.json.error.message]).toEqual([400, 'plugin not available: web']);
    expect(upstream.sent).toEqual([]);
  });
  it('Which models', async () => {
    const at = (slug: string, created?: number, where = 'a', family?: string) =>
      modelOf(slug, { [where]: {} }, { ...(created && { created }), ...(family && { family }) });
    const latest = { model: '~m/sonnet-latest' };
    const chosen = (models: World['models']) => modelsOf(planFor({ models, usable: ['a'] }, latest));
    const dated = [at('m/sonnet-4', 30), at('m/sonnet-4.5', 20), at('m/opus-5', 40), at('n/sonnet-6', 50)];
    expect(chosen(dated)).toEqual(['m/sonnet-4']);
    expect(chosen([...dated, at('m/sonnet-4.1')])).toEqual(['m/sonnet-4.5']);
    expect(chosen([...dated, at('m/sonnet-5', 60, 'b')])).toEqual(['m/sonnet-4']);
    expect(chosen([...dated, at('m/another', 60, 'a', 'sonnet')])).toEqual(['m/another']);
  });
  it('What `service/auto` goes by', async () => {
    const auto = (cost_quality_tradeoff: number): Partial<ChatRequest> => ({
      model: 'service/auto',
      plugins: [{ id: 'auto-router', cost_quality_tradeoff }],
    });
    const at = (slug: string, price: number, quality?: number) =>
      modelOf(slug, { a: { price } }, quality === undefined ? {} : { quality });
    const first = (models: World['models'], tradeoff: number) => modelsOf(planFor({ models }, auto(tradeoff)))[0];
    // Unrated: at 5, √c - c is most a quarter of the way, which on a log scale is at 10.
    const unrated = [1, 10, 100, 1_000, 10_000].map((price) => at(`m/${price}`, price));
    expect([first(unrated, 0), first(unrated, 5), first(unrated, 10)]).toEqual(['m/10000', 'm/10', 'm/1']);
    expect(modelsOf(planFor({ models: unrated }, auto(5)))).toHaveLength(3);
    // Rated: what costs ten times as much loses a quarter of the scale to 10,000.
    const rated = [at('m/1', 1, 0.2), at('m/10', 10, 0.4), at('m/10000', 10_000, 0)];
    expect([first(rated, 5), first(rated, 4)]).toEqual(['m/1', 'm/10']);
  });
  it('What `service/free` goes by', async () => {
    const free = ['a', 'b', 'c', 'd', 'e'].map((name) =>
      modelOf(`m/${name}`, { a: { price: 0, supportedParameters: ['tools'] } }),
    );
    const models = [
      modelOf('m/unable', { a: { price: 0, supportedParameters: ['stop'] } }),
      modelOf('m/dear', { a: { price: 1, supportedParameters: ['tools'] } }),
      ...free,
    ];
    const random = seeded(1);
    const seen = new Set<string>();
    for (let draw = 0; draw < 100; draw++) {
      const chosen = modelsOf(planFor({ models, facts: { random } }, { model: 'service/free', tools }));
      expect(chosen).toHaveLength(3);
      for (const slug of chosen) seen.add(slug);
    }
    expect([...seen].sort()).toEqual(free.map(({ slug }) => slug));
  });
  it('When a router chooses the sandbox', async () => {
    const chosen = async (options: Parameters<typeof testGateway>[0], fields: object = {}) => {
      const { post, upstream } = testGateway({ catalog: { builtInModels: false }, ...options });
      upstream.always({ body: completion() });
      const { status, json } = await post({ model: 'service/auto', messages: hello, ...fields });
      return status === 200 ? json.model : status;
    };
    const allowing = (...allowed_models: string[]) => ({ plugins: [{ id: 'auto-router', allowed_models }] });
    const up = { baseUrl: 'https://up.test/v1' };
    const alone = { providers: { sandbox: {} }, models: [] };
    const beside = {
      providers: { sandbox: {}, up },
      models: [{ slug: 'acme/dear', endpoints: [{ provider: 'up', model: 'm', pricing: testPricing }] }],
    };
    expect(await chosen(alone)).toMatch(/^sandbox\//);
    expect(await chosen(beside)).toBe('acme/dear');
    expect(await chosen({ ...beside, models: [] })).toBe(404);
    expect(await chosen({ ...beside, models: [] }, allowing('*'))).toBe(404);
    expect(await chosen(beside, allowing('sandbox/l*'))).toBe('sandbox/lorem');
    expect(await chosen(beside, { provider: { only: ['sandbox'] } })).toMatch(/^sandbox\//);
    expect(await chosen(beside, { provider: { order: ['sandbox'], allow_fallbacks: false } })).toMatch(/^sandbox\//);
  });
  it('Authors of the router models', async () => {
    for (const [model, status] of [
      ['service/auto', 200],
      ['acme/auto', 200],
      ['other/auto', 400],
    ] as const) {
      const { post, upstream } = testGateway({ brand: 'acme' });
      upstream.always({ body: completion() });
      expect([model, (await post({ model, messages: hello })).status]).toEqual([model, status]);
    }
  });
  it('`allow_fallbacks: false`', async () => {
    const own = (id: string): ByokCredential => ({
      id,
      provider: 'a',
      isFallback: false,
      allowedModels: null,
      allowedUserIds: null,
      allowedApiKeyHashes: null,
    });
    const models = [modelOf('m/1', { a: {}, b: {} }), modelOf('m/2', { a: {} })];
    const world: World = { models, facts: { byokCredentials: [own('first'), own('second')] } };
    const asked = { model: 'm/1', models: ['m/2'] };
    expect(planFor(world, asked).targets.length).toBeGreaterThan(3);
    const without = (provider: object) =>
      planFor(world, { ...asked, provider: { allow_fallbacks: false, ...provider } }).targets.map(
        ({ endpoint, credential }) => [endpoint.modelSlug, endpoint.tag, credential],
      );
    const atA = ['m/1', 'a', { kind: 'byok', provider: 'a', id: 'first', workspaceId: defaultWorkspaceId }];
    expect(without({})).toEqual([atA]);
    expect(without({ order: ['b', 'a'] })).toEqual([['m/1', 'b', { kind: 'operator', provider: 'b' }], atA]);
    const pooled = planFor(
      { models: [modelOf('m/1', { a: { price: 2 } }), modelOf('m/2', { a: { price: 1 } })] },
      {
        ...asked,
        provider: { allow_fallbacks: false, sort: { by: 'price', partition: 'none' } },
      },
    );
    expect(modelsOf(pooled)).toEqual(['m/2']);
  });
});
