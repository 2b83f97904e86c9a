import { describe, expect, it } from 'vitest';
import type { Model } from '../../../../src/call/model.ts';
import type { ChatRequest } from '../../../../src/schema/chat/chat.ts';
import {
  type EndpointSketch,
  excludedBy,
  modelOf,
  modelsOf,
  order,
  planFor,
  refusalOf,
  seeded,
  type World,
} from '../../../support/routing.ts';

const tools: ChatRequest['tools'] = [{ type: 'function', function: { name: 'f' } }];
const image = [
  { role: 'user' as const, content: [{ type: 'image_url' as const, image_url: { url: 'https://x.test/a' } }] },
];
const auto = (settings: object): Partial<ChatRequest> => ({
  model: 'service/auto',
  plugins: [{ id: 'auto-router', ...settings }],
});
const first = (world: World, fields: Partial<ChatRequest>) => modelsOf(planFor(world, fields))[0];

/** Each ten times the price of the one before. */
const ladder: World = {
  models: Array.from({ length: 7 }, (_, at) => modelOf(`m/${at}`, { a: { price: 10 ** (at - 3) } })),
};
const priceAt = (world: World, tradeoff: number) => {
  const slug = first(world, auto({ cost_quality_tradeoff: tradeoff }));
  return world.models.findIndex((one) => one.slug === slug);
};

describe('service/auto', () => {
  it('chooses the dearest for quality alone, the cheapest for cost alone, and never a dearer for more weight on cost', () => {
    const chosen = Array.from({ length: 11 }, (_, tradeoff) => priceAt(ladder, tradeoff));
    expect([chosen[0], chosen[10]]).toEqual([6, 0]);
    expect(chosen).toEqual([...chosen].sort((a, b) => b - a));
    expect(new Set(chosen).size).toBeGreaterThan(3);
  });
  it('never chooses a dearer for more weight on cost, whatever quality is said to be', () => {
    const random = seeded(7);
    for (let n = 0; n < 200; n++) {
      const models = Array.from({ length: 8 }, (_, at) =>
        modelOf(`m/${at}`, { a: { price: random() * 10 } }, random() < 0.7 ? { quality: random() } : {}),
      ).sort((x, y) => (x.endpoints[0]?.pricing?.promptPicoUsd ?? 0) - (y.endpoints[0]?.pricing?.promptPicoUsd ?? 0));
      const chosen = Array.from({ length: 11 }, (_, tradeoff) => priceAt({ models }, tradeoff));
      expect(chosen).toEqual([...chosen].sort((a, b) => b - a));
    }
  });
  it('goes by the quality that is given', () => {
    const models = [
      modelOf('m/dear', { a: { price: 100 } }, { quality: 0.3 }),
      modelOf('m/good', { a: { price: 1 } }, { quality: 0.9 }),
      modelOf('m/cheap', { a: { price: 0.5 } }, { quality: 0.1 }),
    ];
    expect(first({ models }, auto({ cost_quality_tradeoff: 0 }))).toBe('m/good');
    expect(first({ models }, auto({ cost_quality_tradeoff: 10 }))).toBe('m/cheap');
  });
  it('names the model it chose and two fallbacks, and says how', () => {
    const plan = planFor(ladder, { model: 'service/auto' });
    expect([modelsOf(plan).length, plan.strategy, plan.requested, plan.router, plan.params]).toEqual([
      3,
      'auto',
      'service/auto',
      'service/auto',
      { cost_quality_tradeoff: 7 },
    ]);
    expect(plan.targets.map(({ modelIndex }) => modelIndex)).toEqual([0, 1, 2]);
    const branded = planFor(ladder, { model: 'acme/auto' });
    expect([modelsOf(branded), branded.router]).toEqual([modelsOf(plan), 'acme/auto']);
  });
  it.each<[object, number]>([
    [{}, 7],
    [{ cost_quality_tradeoff: 2 }, 2],
    // What is switched off says nothing.
    [{ enabled: false, cost_quality_tradeoff: 0, allowed_models: ['x/*'] }, 7],
    [{ enabled: true, cost_quality_tradeoff: 10 }, 10],
  ])('with %j weighs cost by %i', (settings, tradeoff) => {
    expect(planFor(ladder, auto(settings)).params).toEqual({ cost_quality_tradeoff: tradeoff });
  });
  it.each<[string[], string[] | null]>([
    [['m/4'], ['m/4']],
    [['m/*'], ['m/0', 'm/1', 'm/2']],
    [
      ['*/5', '*/6'],
      ['m/5', 'm/6'],
    ],
    [['other/*'], null],
    [['m'], null],
    [[], null],
  ])('chooses among the models allowed by %j: %j', (allowed_models, expected) => {
    const fields = auto({ allowed_models });
    if (expected) expect(modelsOf(planFor(ladder, fields)).sort()).toEqual([...expected].sort());
    else expect(refusalOf(ladder, fields)).toMatchObject({ status: 404, metadata: { excluded: [] } });
  });
  it('chooses what can do what the request needs, and has a known price', () => {
    const models = [
      modelOf('m/cheap', { a: { price: 1, supportedParameters: [] } }, { inputModalities: ['text'] }),
      modelOf('m/unknown', { a: {} }),
      modelOf('m/able', { a: { price: 5, supportedParameters: ['tools'] } }, { inputModalities: ['text', 'image'] }),
      modelOf('m/paints', { a: { price: 0.1 } }, { outputModalities: ['image'] }),
    ];
    const cheapest = (fields: Partial<ChatRequest>) =>
      modelsOf(planFor({ models }, { ...auto({ cost_quality_tradeoff: 10 }), ...fields }));
    expect(cheapest({})).toEqual(['m/cheap', 'm/able']);
    expect(cheapest({ tools })).toEqual(['m/able']);
    expect(cheapest({ messages: image })).toEqual(['m/able']);
  });
  it('chooses among what can be reached, and is 404 without anything', () => {
    const models = [
      modelOf('m/1', { z: { price: 1 } }),
      modelOf('m/2', { a: { price: 1, isDisabled: true } }),
      modelOf('m/3', { 'a/flex': { price: 1 } }),
      modelOf('m/4', { a: { price: 2 }, z: { price: 1 } }),
    ];
    expect(modelsOf(planFor({ models, usable: ['a'] }, { model: 'service/auto' }))).toEqual(['m/4']);
    expect(refusalOf({ models, usable: [] }, { model: 'service/auto' }).status).toBe(404);
    expect(refusalOf({ models: [] }, { model: 'service/auto' }).status).toBe(404);
  });
  it('minds the preferences when it chooses', () => {
    const keepsNothing: EndpointSketch = { price: 50, dataPolicy: { zeroRetention: true, trains: false } };
    const models = [...ladder.models, modelOf('m/private', { b: keepsNothing })];
    expect(modelsOf(planFor({ models }, { model: 'service/auto', provider: { zdr: true } }))).toEqual(['m/private']);
    expect(modelsOf(planFor({ models }, { model: 'service/auto', provider: { only: ['b'] } }))).toEqual(['m/private']);
    expect(first({ models }, { ...auto({ cost_quality_tradeoff: 0 }), provider: { max_price: { prompt: 0.5 } } })).toBe(
      'm/2',
    );
  });
  it('that preferences leave nothing says which', () => {
    const error = refusalOf(ladder, { model: 'service/auto', provider: { zdr: true } });
    expect([error.status, excludedBy(error.metadata as never)]).toEqual([404, { a: 'zdr' }]);
  });
  it('keeps what it chose for a conversation, as long as it would still do', () => {
    const chosen = modelsOf(planFor(ladder, { model: 'service/auto' }));
    const [, second = ''] = chosen;
    const kept = (slug: string) =>
      modelsOf(planFor({ ...ladder, pinned: { 'service/auto': slug } }, { model: 'service/auto' }));
    expect(kept(second)[0]).toBe(second);
    expect([...kept(second)].sort()).toEqual([...chosen].sort());
    expect(kept('m/6')).toEqual(['m/6', ...chosen.slice(0, 2)]);
    expect(kept('m/gone')).toEqual(chosen);
    const narrowed = { ...ladder, pinned: { 'service/auto': 'm/6' } };
    expect(first(narrowed, auto({ allowed_models: ['m/1', 'm/2'] }))).not.toBe('m/6');
  });
  it('takes suffixes: they hold for what it chose', () => {
    const models = [modelOf('m/1', { a: { price: 2 }, 'a/flex': { price: 1 } })];
    expect(order(planFor({ models }, { model: 'service/auto:floor' }))).toEqual(['a/flex', 'a']);
  });
  it.each(['service/other', 'acme/other', 'other/auto', 'service/', 'service/auto/x', 'service/bodybuilder'])(
    '%s is no router: 400',
    (model) => {
      expect(refusalOf(ladder, { model }).status).toBe(400);
    },
  );
  it('stands behind a model of that name', () => {
    const models = [...ladder.models, modelOf('acme/auto', { b: {} })];
    expect(order(planFor({ models }, { model: 'acme/auto' }))).toEqual(['b']);
  });
});

describe('service/free', () => {
  const free = (slug: string, sketch: EndpointSketch = {}, known: Partial<Model> = {}) =>
    modelOf(slug, { a: { price: 0, supportedParameters: ['tools'], ...sketch }, b: { price: 1 } }, known);
  const models = [
    free('m/1'),
    free('m/2'),
    free('m/3'),
    free('m/4'),
    modelOf('m/paid', { a: { price: 1 } }),
    modelOf('m/unknown', { a: {} }),
  ];

  it('chooses a model that costs nothing, each as often as the next, and only its endpoints that cost nothing', () => {
    const random = seeded(3);
    const counts = new Map<string, number>();
    for (let n = 0; n < 4000; n++) {
      const plan = planFor({ models, facts: { random } }, { model: 'service/free' });
      expect(plan.targets.map(({ endpoint }) => endpoint.tag)).toEqual(['a', 'a', 'a']);
      const slug = plan.targets[0]?.endpoint.modelSlug ?? '';
      counts.set(slug, (counts.get(slug) ?? 0) + 1);
    }
    expect([...counts.keys()].sort()).toEqual(['m/1', 'm/2', 'm/3', 'm/4']);
    // 3 degrees of freedom: 99.9 % of all values are below.
    expect([...counts.values()].reduce((sum, seen) => sum + (seen - 1000) ** 2 / 1000, 0)).toBeLessThan(16.27);
  });
  it('says so', () => {
    const plan = planFor({ models }, { model: 'acme/free' });
    expect([plan.strategy, plan.requested, plan.router, plan.params]).toEqual([
      'free',
      'acme/free',
      'acme/free',
      undefined,
    ]);
    expect(excludedBy(plan)).toEqual({ b: 'free' });
  });
  it('chooses what can do what the request needs', () => {
    const some = [
      free('m/1', { supportedParameters: [] }),
      free('m/2', {}, { inputModalities: ['text'] }),
      free('m/3', { contextLength: 10 }),
      free('m/4', {}, { outputModalities: ['image'] }),
      free('m/5', { isDisabled: true }),
      free('m/6'),
    ];
    const chosen = (fields: Partial<ChatRequest>) =>
      modelsOf(planFor({ models: some }, { model: 'service/free', ...fields })).sort();
    expect(chosen({ tools, messages: image })).toEqual(['m/3', 'm/6']);
    expect(chosen({ tools, messages: [{ role: 'user', content: 'x'.repeat(400) }] })).toEqual(['m/2', 'm/6']);
  });
  it('never costs anything, whatever its suffix or the preferences', () => {
    const random = seeded(5);
    const preferences: ChatRequest['provider'][] = [{}, { sort: 'throughput' }, { order: ['b'] }, { ignore: ['c'] }];
    for (const model of ['service/free', 'service/free:nitro', 'service/free:floor', 'service/free:exacto'])
      for (const provider of preferences)
        for (const { endpoint } of planFor({ models, facts: { random } }, { model, provider }).targets)
          expect(endpoint.pricing).toEqual({ promptPicoUsd: 0, completionPicoUsd: 0 });
  });
  it('is 404 when nothing is free, and says what stood in the way of what is', () => {
    expect(refusalOf({ models: models.slice(-2) }, { model: 'service/free' })).toMatchObject({ status: 404 });
    const error = refusalOf({ models }, { model: 'service/free', provider: { ignore: ['a'] } });
    expect([error.status, excludedBy(error.metadata as never)]).toEqual([404, { a: 'ignore', b: 'free' }]);
  });
  it('is one of several models', () => {
    const plan = planFor({ models }, { models: ['service/free', 'm/paid'] });
    expect([plan.strategy, modelsOf(plan).at(-1), modelsOf(plan).length]).toEqual(['fallback', 'm/paid', 4]);
  });
});

describe('a sandbox, whose text no model wrote', () => {
  const echo = modelOf('sandbox/echo', { sandbox: { price: 0 } });
  const failing = modelOf('sandbox/error-500', { sandbox: { price: 0 } });
  const real = modelOf('m/1', { a: { price: 1 } });
  /** The host app's own name for models of both. */
  const mixed = modelOf('m/mixed', { a: { price: 2 }, sandbox: { price: 0 } });
  const free = modelOf('m/free', { a: { price: 0 }, sandbox: { price: 0 } });
  const models = [echo, failing, real, mixed, free];
  const routers = ['service/auto', 'service/free', 'acme/auto', 'service/free:nitro'];
  const endpoints = (world: World, fields: Partial<ChatRequest>) =>
    planFor(world, fields).targets.map(({ endpoint: { modelSlug, tag } }) => `${modelSlug} ${tag}`);
  const own = { id: '1', isFallback: false, allowedModels: null, allowedUserIds: null, allowedApiKeyHashes: null };

  it('is chosen by no router beside another provider, not even for a model that others have too', () => {
    for (const model of routers)
      for (let tradeoff = 0; tradeoff <= 10; tradeoff++)
        for (const one of endpoints({ models }, { ...auto({ cost_quality_tradeoff: tradeoff }), model }))
          expect([model, tradeoff, one]).toEqual([model, tradeoff, expect.stringMatching(/ a$/)]);
    const plan = planFor({ models }, { model: 'service/auto' });
    expect(plan.excluded).toContainEqual({ model: 'm/mixed', provider: 'sandbox', filter: 'sandbox' });
  });
  it.each<[string, World, Partial<ChatRequest>]>([
    ['nothing else can serve', { models: [echo], usable: ['a', 'sandbox'] }, {}],
    ['nothing else is free', { models: [echo, real] }, { model: 'service/free' }],
    ['all else is left out', { models }, { provider: { ignore: ['a'] } }],
    [
      'it matches a pattern of all',
      { models: [echo], usable: ['a', 'sandbox'] },
      auto({ allowed_models: ['*', '*/echo'] }),
    ],
    [
      'the workspace has a credential for another provider',
      { models: [echo], usable: ['sandbox'], facts: { byokCredentials: [{ ...own, provider: 'b' }] } },
      {},
    ],
  ])('is not chosen where %s: 404, which says why', (_, world, fields) => {
    const error = refusalOf(world, { model: 'service/auto', ...fields });
    expect([error.status, excludedBy(error.metadata as never).sandbox]).toEqual([404, 'sandbox']);
    expect(error.message).toContain('sandbox');
  });
  it('is chosen where nothing else is set up', () => {
    const world = { models, usable: ['sandbox'] };
    expect(endpoints(world, { model: 'service/auto' })).toContain('sandbox/echo sandbox');
    const byokCredentials = [{ ...own, provider: 'sandbox' }];
    expect(endpoints({ ...world, facts: { byokCredentials } }, { model: 'service/free' })).toHaveLength(6);
  });
  it.each<[string, Partial<ChatRequest>, string[]]>([
    ['by only', { provider: { only: ['Sandbox'] } }, ['sandbox/echo', 'sandbox/error-500', 'm/mixed']],
    ['by its model', auto({ allowed_models: ['sandbox/echo'] }), ['sandbox/echo']],
    [
      'by its model, beside all others',
      auto({ allowed_models: ['sandbox/echo', '*'] }),
      ['sandbox/echo', 'm/free', 'm/1'],
    ],
    ['by a pattern of its own', auto({ allowed_models: ['sandbox/e*'] }), ['sandbox/echo', 'sandbox/error-500']],
    ["by the host app's name", auto({ allowed_models: ['m/mixed'] }), ['m/mixed']],
  ])('is chosen where the request names it: %s', (_, fields, chosen) => {
    expect(modelsOf(planFor({ models }, { model: 'service/auto', ...fields }))).toEqual(chosen);
  });
  it('is chosen where the request orders it', () => {
    const order = { order: ['sandbox'], allow_fallbacks: false };
    for (const model of routers) expect(endpoints({ models }, { model, provider: order })[0]).toMatch(/ sandbox$/);
  });
  it('is called where the request names its model', () => {
    expect(modelsOf(planFor({ models }, { models: ['sandbox/echo', 'service/auto'] }))[0]).toBe('sandbox/echo');
    expect(order(planFor({ models }, { model: 'm/mixed' }))).toEqual(['sandbox', 'a']);
  });
});

describe('a request that names no model', () => {
  it('is for the default model, which may be a router or have a suffix', () => {
    for (const [defaultModel, slug] of [
      ['m/3', 'm/3'],
      ['m/3:floor', 'm/3'],
      ['service/auto', 'm/1'],
      ['~m/-latest', null],
    ] as const) {
      const world: World = { ...ladder, defaultModel };
      if (slug) expect([planFor(world).requested, first(world, {})]).toEqual([defaultModel, slug]);
      else expect(refusalOf(world).status).toBe(400);
    }
  });
  it('has its own models before the default', () => {
    expect(modelsOf(planFor({ ...ladder, defaultModel: 'm/3' }, { models: ['m/1'] }))).toEqual(['m/1']);
    expect(modelsOf(planFor({ ...ladder, defaultModel: 'm/3' }, { models: [] }))).toEqual(['m/3']);
  });
  it('is refused without one', () => {
    expect(refusalOf({ ...ladder, defaultModel: null }).status).toBe(400);
  });
});
