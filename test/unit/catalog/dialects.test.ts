import { describe, expect, it } from 'vitest';
import type { Endpoint, Model } from '../../../src/call/model.ts';
import { type CatalogSources, createCatalog } from '../../../src/catalog/catalog.ts';
import type { LateModel } from '../../../src/catalog/late-model.ts';
import { manualClock } from '../../support/manual-clock.ts';

const dataPolicy = { zeroRetention: true, trains: false };

/** Providers whose dialects are loaded at their first use, and which tell in what order. */
function lateProviders(...slugs: string[]) {
  const loaded: string[] = [];
  const failing = new Set<string>();
  const providers = new Map(
    slugs.map((slug) => [
      slug,
      {
        dataPolicy,
        load: () =>
          loaded.includes(slug)
            ? undefined
            : Promise.resolve().then(() => {
                if (failing.has(slug)) throw new Error(`no ${slug}`);
                loaded.push(slug);
              }),
      },
    ]),
  );
  return { loaded, failing, providers };
}

function endpoint(modelSlug: string, providerSlug: string): Endpoint {
  return {
    modelSlug,
    providerSlug,
    tag: providerSlug,
    upstreamModel: modelSlug,
    pricing: { promptPicoUsd: 1, completionPicoUsd: 1 },
    contextLength: null,
    maxCompletionTokens: null,
    quantization: null,
    supportedParameters: null,
    dataPolicy,
  };
}

function model(slug: string, providers: readonly string[], more: Partial<Model> = {}): Model {
  return { slug, name: slug, endpoints: providers.map((one) => endpoint(slug, one)), ...more };
}

/** A model that cannot be made before the dialects of its providers are loaded. */
function late(made: Model, loaded: readonly string[]): LateModel {
  const providers = made.endpoints.map(({ providerSlug }) => providerSlug);
  return {
    slug: made.slug,
    names: made.endpoints.map(({ providerSlug, upstreamModel }) => `${providerSlug} ${upstreamModel}`),
    providers,
    ...(made.fallbacks === undefined ? {} : { fallbacks: made.fallbacks }),
    ...(made.aliases === undefined ? {} : { aliases: made.aliases }),
    make() {
      for (const one of providers) if (!loaded.includes(one)) throw new Error(`${one} is not loaded`);
      return made;
    },
  };
}

describe('the dialects of a view', () => {
  const slugs = ['here', 'a', 'b', 'c', 'd'];
  function setUp(sources: (loaded: readonly string[]) => Partial<CatalogSources>) {
    const { loaded, failing, providers } = lateProviders(...slugs);
    loaded.push('here');
    const catalog = createCatalog({ models: [], providers, clock: manualClock(), ...sources(loaded) });
    return { loaded, failing, catalog };
  }

  it('are those of the named models alone, and are waited for once', async () => {
    const { loaded, catalog } = setUp((loaded) => ({
      models: [late(model('x/a', ['a']), loaded), late(model('x/b', ['b']), loaded)],
    }));
    const viewed = catalog.view(['x/a']);
    expect(viewed).toBeInstanceOf(Promise);
    expect((await viewed).model('x/a')?.slug).toBe('x/a');
    expect(loaded).toEqual(['here', 'a']);
    for (const _ of [1, 2]) expect(catalog.view(['x/a'])).not.toBeInstanceOf(Promise);
    expect(catalog.view(['x/a', 'x/b'])).toBeInstanceOf(Promise);
  });

  it('are none where the models are made already', () => {
    const { loaded, catalog } = setUp(() => ({ models: [model('x/here', ['here'])] }));
    expect(catalog.view(['x/here'])).not.toBeInstanceOf(Promise);
    expect(catalog.view(['x/here:nitro', 'x/here'])).not.toBeInstanceOf(Promise);
    expect(loaded).toEqual(['here']);
  });

  it('are also those of fallbacks, of aliases, of suffixes, and of the built-in model of the same name', async () => {
    const { loaded, catalog } = setUp((loaded) => ({
      models: [
        late(model('x/a', ['a'], { fallbacks: ['nick:nitro'] }), loaded),
        late(model('x/b', ['b'], { aliases: ['nick'] }), loaded),
      ],
      loadBuiltIn: async () => [late(model('x/b', ['c']), loaded), late(model('x/d', ['d']), loaded)],
    }));
    const view = await catalog.view(['x/a:free']);
    expect(loaded.toSorted()).toEqual(['a', 'b', 'c', 'here']);
    expect(view.model('x/a')?.slug).toBe('x/a');
    expect(view.model('x/b')?.endpoints.map(({ providerSlug }) => providerSlug)).toEqual(['b']);
  });

  it('are not those of all models for an alias, also before the list prices are read', async () => {
    const { loaded, catalog } = setUp((loaded) => ({
      models: [late(model('x/a', ['a']), loaded), late(model('x/b', ['b']), loaded)],
      aliases: new Map([['nick', 'x/a']]),
      loadPrices: async () => ({ find: () => null }),
    }));
    for (const slug of ['nick', 'nick:nitro']) {
      const view = await catalog.view([slug]);
      expect(view.model(view.aliasOf('nick') ?? '')?.slug).toBe('x/a');
    }
    expect(loaded).toEqual(['here', 'a']);
  });

  it.each([
    ['a slug that is not listed', ['x/unknown']],
    ['a listed one beside one that is not', ['x/a', 'x/unknown']],
    ['a fallback that is not listed', ['x/lost']],
    ['a router', ['service/auto']],
    ['a name without its author', ['a']],
    ["a provider's own name of a model", ['a/whatever']],
    ['all models', []],
  ])('are those of every provider for %s', async (_, asked) => {
    const { loaded, catalog } = setUp((loaded) => ({
      models: [late(model('x/a', ['a']), loaded), late(model('x/lost', ['a'], { fallbacks: ['gone'] }), loaded)],
    }));
    const view = await catalog.view(asked);
    expect(loaded.toSorted()).toEqual(slugs.toSorted());
    expect(view.models).toHaveLength(2);
    expect(catalog.view(['x/other'])).not.toBeInstanceOf(Promise);
  });

  it('come with what a model is made of beside them', async () => {
    const { catalog } = setUp((loaded) => {
      let isThere = false;
      const own = late(model('x/a', ['a']), loaded);
      const load = async () => {
        isThere = true;
      };
      const make = () => (isThere ? own.make() : expect.unreachable('made before it was loaded'));
      return { models: [{ ...own, load: () => (isThere ? undefined : load()), make }] };
    });
    expect((await catalog.view(['x/a'])).model('x/a')?.slug).toBe('x/a');
    expect(catalog.view(['x/a'])).not.toBeInstanceOf(Promise);
  });

  it('fail the view when they cannot be loaded, and are loaded by the next', async () => {
    const { loaded, failing, catalog } = setUp((loaded) => ({ models: [late(model('x/a', ['a']), loaded)] }));
    failing.add('a');
    await expect(catalog.view(['x/a'])).rejects.toThrow('no a');
    failing.clear();
    expect((await catalog.view(['x/a'])).model('x/a')?.slug).toBe('x/a');
    expect(loaded).toEqual(['here', 'a']);
  });
});
