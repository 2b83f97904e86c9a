import { expect, it } from 'vitest';
import { lazily } from '../../../src/base/lazily.ts';
import type { Endpoint, Model, Pricing } from '../../../src/call/model.ts';
import { type CatalogSources, type CatalogView, createCatalog } from '../../../src/catalog/catalog.ts';
import type { LateModel } from '../../../src/catalog/late-model.ts';
import { listedAs, listedName } from '../../../src/catalog/listed-as.ts';
import type { ListPrices } from '../../../src/pricing/list-prices.ts';
import { manualClock } from '../../support/manual-clock.ts';

const dataPolicy = { zeroRetention: true, trains: false };
const providers = new Map([
  ['up', { dataPolicy, isOwn: true }],
  ['openai', { dataPolicy }],
  ['groq', { dataPolicy }],
]);
const price = (prompt: number): Pricing => ({ promptPicoUsd: prompt, completionPicoUsd: prompt });

function endpoint(modelSlug: string, providerSlug: string, more: Partial<Endpoint> = {}): Endpoint {
  return {
    modelSlug,
    providerSlug,
    tag: providerSlug,
    upstreamModel: modelSlug,
    pricing: null,
    contextLength: null,
    maxCompletionTokens: null,
    quantization: null,
    supportedParameters: null,
    dataPolicy,
    ...more,
  };
}

function model(slug: string, provider: string, more: Partial<Endpoint> = {}): Model {
  return { slug, name: slug, endpoints: [endpoint(slug, provider, more)] };
}

function catalogOf(sources: Partial<CatalogSources> = {}) {
  return createCatalog({ models: [], providers, clock: manualClock(), ...sources });
}

/** A view that needs nothing that is not there. */
function viewOf(sources: Partial<CatalogSources> = {}): CatalogView {
  const view = catalogOf(sources).view([]);
  if (view instanceof Promise) throw new Error('The view is a promise');
  return view;
}

/** A price list that counts what it is asked. */
function prices(found: Record<string, Pricing>) {
  const asked: string[] = [];
  const list: ListPrices = {
    find(provider, name) {
      asked.push(`${provider} ${name}`);
      return found[`${provider} ${name}`] ?? null;
    },
  };
  let loads = 0;
  const loadPrices = async () => {
    loads++;
    return list;
  };
  return { asked, loadPrices, loads: () => loads };
}

/** As a list that is long has it. */
function late(made: Model): LateModel {
  return {
    slug: made.slug,
    names: made.endpoints.map((one) => listedName(listedAs(one))),
    providers: made.endpoints.map(({ providerSlug }) => providerSlug),
    make: () => made,
  };
}

it("knows what is listed, and passes the rest of a provider's slug on to it", () => {
  const listed = model('up/listed', 'up');
  const view = viewOf({ models: [listed] });
  expect(view.models).toEqual([listed]);
  expect(view.model('up/listed')).toEqual(listed);
  expect(view.model('up/vendor/x:7b')).toEqual({
    slug: 'up/vendor/x:7b',
    name: 'up/vendor/x:7b',
    isPassThrough: true,
    endpoints: [endpoint('up/vendor/x:7b', 'up', { upstreamModel: 'vendor/x:7b', isPassThrough: true })],
  });
});

it.each(['', '/', 'up', 'up/', '/up', 'down/x', 'UP/x', 'constructor/x', '__proto__/x'])(
  'knows no model "%s"',
  (slug) => {
    expect(viewOf().model(slug)).toBe(null);
  },
);

it('reads what is built in once, with the first view, and fills up from it', async () => {
  let loads = 0;
  const loadBuiltIn = async () => {
    loads++;
    return [late(model('acme/fast', 'groq', { contextLength: 5 })), late(model('acme/slow', 'groq'))];
  };
  const catalog = catalogOf({ models: [model('acme/fast', 'groq')], loadBuiltIn });
  const [view, other] = await Promise.all([catalog.view([]), catalog.view([])]);
  expect(view).toBe(other);
  expect(view.models.map(({ slug }) => slug)).toEqual(['acme/fast', 'acme/slow']);
  expect(view.model('acme/fast')?.endpoints[0]?.contextLength).toBe(5);
  expect(catalog.view(['acme/fast'])).toBe(view);
  expect(loads).toBe(1);
});

it('makes of what is built in only the models that are asked for', async () => {
  const made: string[] = [];
  const noting = (slug: string, upstreamModel: string) => ({
    ...late(model(slug, 'groq', { upstreamModel })),
    make: lazily(() => {
      made.push(slug);
      return model(slug, 'groq', { upstreamModel, contextLength: 7 });
    }),
  });
  const loadBuiltIn = async () => [noting('acme/fast', 'f'), noting('acme/slow', 's'), noting('acme/other', 'o')];
  const view = await catalogOf({ models: [model('mine/x', 'openai')], loadBuiltIn }).view(['mine/x']);
  expect(view.model('mine/x')).not.toBe(null);
  expect(made).toEqual([]);
  view.model('acme/fast');
  expect(view.model('groq/s')?.endpoints[0]?.contextLength).toBe(7);
  expect(made).toEqual(['acme/fast', 'acme/slow']);
  expect(view.models.map(({ slug }) => slug)).toEqual(['mine/x', 'acme/fast', 'acme/slow', 'acme/other']);
});

it("takes what is built in for a provider's own name of a model, also where it is only passed on", async () => {
  const loadBuiltIn = async () => [
    late(model('acme/fast', 'groq', { upstreamModel: 'vendor/fast', pricing: price(3), contextLength: 7 })),
  ];
  const own = model('mine/fast', 'groq', { upstreamModel: 'vendor/fast' });
  const view = await catalogOf({ models: [own], loadBuiltIn }).view([]);
  expect(view.model('groq/vendor/fast')?.endpoints[0]).toMatchObject({ pricing: price(3), contextLength: 7 });
  expect(view.model('mine/fast')?.endpoints[0]).toMatchObject({ pricing: price(3), contextLength: null });
  expect(view.model('openai/vendor/fast')?.endpoints[0]).toMatchObject({ pricing: null, contextLength: null });
});

it("leaves a slug that starts with the host app's own provider to that provider", async () => {
  const loadBuiltIn = async () => [late(model('up/x', 'groq')), late(model('openai/x', 'groq'))];
  const view = await catalogOf({ loadBuiltIn }).view([]);
  expect(view.model('up/x')).toMatchObject({ isPassThrough: true, endpoints: [{ providerSlug: 'up' }] });
  expect(view.model('openai/x')).toMatchObject({ endpoints: [{ providerSlug: 'groq' }] });
});

it('does without what is built in when it cannot be read, and says so once', async () => {
  const told: string[] = [];
  const broken = async () => {
    throw new Error('not in this bundle');
  };
  const catalog = catalogOf({
    models: [model('acme/fast', 'openai')],
    loadBuiltIn: broken,
    loadPrices: broken,
    logger: { info: () => undefined, warn: (_, text) => told.push(text) },
  });
  const view = await catalog.view(['acme/fast']);
  expect(view.model('acme/fast')?.endpoints[0]?.pricing).toBe(null);
  expect(catalog.view(['openai/x'])).toBe(view);
  expect(told).toEqual([
    'the built-in models cannot be read and are not used',
    'the built-in prices cannot be read and are not used',
  ]);
});

it('reads list prices only when a model that is asked for has no other price', async () => {
  const { loadPrices, loads, asked } = prices({ 'openai x': price(2), 'openai acme/two': price(4) });
  const catalog = catalogOf({
    models: [
      model('acme/priced', 'openai', { pricing: price(9) }),
      model('acme/own', 'up'),
      model('acme/tier', 'openai', { serviceTier: 'priority' }),
      model('acme/two', 'openai'),
    ],
    loadPrices,
  });
  const before = catalog.view(['acme/priced', 'acme/own', 'acme/tier', 'up/x']);
  expect(before).not.toBeInstanceOf(Promise);
  expect(loads()).toBe(0);
  const view = await catalog.view(['openai/x']);
  expect(view.model('openai/x')?.endpoints[0]?.pricing).toEqual(price(2));
  expect(view.model('acme/two')?.endpoints[0]?.pricing).toEqual(price(4));
  expect(view.model('acme/priced')?.endpoints[0]?.pricing).toEqual(price(9));
  expect(view.model('acme/tier')?.endpoints[0]?.pricing).toBe(null);
  expect((before as CatalogView).model('openai/x')?.endpoints[0]?.pricing).toBe(null);
  expect(catalog.view(['acme/two'])).toBe(view);
  view.model('openai/x');
  expect(asked).toEqual(['openai x', 'openai acme/two']);
  expect(loads()).toBe(1);
});

it('looks for the price of a model that is asked for with a suffix', async () => {
  const { loadPrices } = prices({ 'openai acme/fast': price(2) });
  const view = await catalogOf({ models: [model('acme/fast', 'openai')], loadPrices }).view(['acme/fast:nitro']);
  expect(view.model('acme/fast')?.endpoints[0]?.pricing).toEqual(price(2));
});

it('looks for the prices of those that are listed when what is asked for may choose among them', async () => {
  const { loadPrices } = prices({ 'openai acme/fast': price(2) });
  const view = await catalogOf({ models: [model('acme/fast', 'openai')], loadPrices }).view(['~acme/fast-latest']);
  expect(view.models[0]?.endpoints[0]?.pricing).toEqual(price(2));
});

it('believes a list price for a minute', async () => {
  const clock = manualClock();
  const list: ListPrices = { find: (_provider, _name, nowMs) => price(nowMs) };
  const catalog = catalogOf({ models: [model('acme/fast', 'openai')], loadPrices: async () => list, clock });
  const startMs = clock.now();
  const view = await catalog.view(['acme/fast']);
  await clock.advance(59_999);
  expect(catalog.view(['acme/fast'])).toBe(view);
  await clock.advance(1);
  const later = await catalog.view(['acme/fast']);
  expect(later.model('acme/fast')?.endpoints[0]?.pricing).toEqual(price(startMs + 60_000));
  expect(view.model('acme/fast')?.endpoints[0]?.pricing).toEqual(price(startMs));
});
