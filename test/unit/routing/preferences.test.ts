import { describe, expect, it } from 'vitest';
import { type ChatRequest, chatRequestSchema } from '../../../src/schema/chat/chat.ts';
import { excludedBy, modelOf, order, planFor, refusalOf, type World } from '../../support/routing.ts';

const unknownPolicy = { zeroRetention: null, trains: null };

/**
 * Endpoints that differ in all that preferences can ask for. The random number is constant: cheaper ones come first.
 */
const world: World = {
  models: [
    modelOf('m/1', {
      a: {
        pricing: { promptPicoUsd: 1e6, completionPicoUsd: 1e6 },
        quantization: 'fp16',
        supportedParameters: ['tools', 'temperature', 'max_tokens', 'reasoning'],
        dataPolicy: { zeroRetention: true, trains: false },
      },
      'a/turbo': {
        pricing: { promptPicoUsd: 2e6, completionPicoUsd: 4e6, imagePicoUsd: 1e9, requestPicoUsd: 1e10 },
        quantization: 'int4',
        supportedParameters: ['temperature', 'response_format'],
        dataPolicy: { zeroRetention: false, trains: false },
      },
      b: {
        pricing: { promptPicoUsd: 5e6, completionPicoUsd: 5e6, audioPicoUsd: 7e6 },
        quantization: 'unknown',
        supportedParameters: [],
        dataPolicy: { zeroRetention: true, trains: null },
      },
      c: { dataPolicy: { zeroRetention: false, trains: true } },
      d: { price: 10, dataPolicy: unknownPolicy, quantization: 'fp8', supportedParameters: ['verbosity', 'seed'] },
    }),
  ],
};
const all = ['a', 'a/turbo', 'b', 'd', 'c'];

/** What a preference may say is what the wire lets it say. */
const parsed = (fields: object) =>
  chatRequestSchema().parse({ messages: [{ role: 'user', content: 'Hi' }], model: 'm/1', ...fields }) as ChatRequest;
const tried = (provider: object | null, fields: object = {}) => order(planFor(world, parsed({ provider, ...fields })));

describe('a preference', () => {
  it.each<[object | null, string[]]>([
    [null, all],
    [{}, all],
    [{ order: null, only: null, ignore: null, allow_fallbacks: null, require_parameters: null }, all],
    [{ zdr: null, enforce_distillable_text: null, quantizations: null, sort: null, max_price: {} }, all],
    [{ preferred_min_throughput: null, preferred_max_latency: null }, all],
    [{ order: [], only: [], ignore: [], quantizations: [] }, all],

    [{ order: ['d', 'b'] }, ['d', 'b', 'a', 'a/turbo', 'c']],
    [{ order: ['a'] }, ['a', 'a/turbo', 'b', 'c', 'd']],
    [{ order: ['a/turbo'] }, ['a/turbo', 'a', 'b', 'c', 'd']],
    [{ order: ['a/turbo', 'a'] }, ['a/turbo', 'a', 'b', 'c', 'd']],
    [{ order: ['c', 'nobody', 'C', 'A/Turbo'] }, ['c', 'a/turbo', 'a', 'b', 'd']],
    [{ order: ['nobody'] }, ['a', 'a/turbo', 'b', 'c', 'd']],

    [{ only: ['b', 'a'] }, ['a', 'a/turbo', 'b']],
    [{ only: ['a/turbo', 'c'] }, ['a/turbo', 'c']],
    [{ only: ['A/TURBO'] }, ['a/turbo']],
    [{ only: ['d', 'b'], order: ['b'] }, ['b', 'd']],
    [{ only: ['b'], order: ['a'] }, ['b']],

    [{ ignore: ['a'] }, ['b', 'd', 'c']],
    [{ ignore: ['a/turbo'] }, ['a', 'b', 'd', 'c']],
    [{ ignore: ['nobody', 'D', 'c'] }, ['a', 'a/turbo', 'b']],
    [{ ignore: ['a'], only: ['a', 'b'] }, ['b']],
    [{ ignore: ['b'], order: ['b', 'c'] }, ['c', 'a', 'a/turbo', 'd']],

    [{ allow_fallbacks: true }, all],
    [{ allow_fallbacks: false }, ['a']],
    [{ allow_fallbacks: false, order: ['d', 'a'] }, ['d', 'a', 'a/turbo']],
    [{ allow_fallbacks: false, order: ['a/turbo', 'nobody', 'D'] }, ['a/turbo', 'd']],
    [{ allow_fallbacks: false, order: ['c', 'b'], ignore: ['c'] }, ['b']],
    [{ allow_fallbacks: false, order: [] }, ['a']],
    [{ allow_fallbacks: true, order: ['d'] }, ['d', 'a', 'a/turbo', 'b', 'c']],
    [{ allow_fallbacks: false, only: ['b', 'd'] }, ['b']],
    [{ allow_fallbacks: false, sort: 'price', ignore: ['a'] }, ['b']],

    [{ data_collection: 'allow' }, all],
    // What keeps nothing cannot train on it, whatever else is known.
    [{ data_collection: 'deny' }, ['a', 'a/turbo', 'b']],
    [{ zdr: true }, ['a', 'b']],
    [{ zdr: false }, all],
    [{ zdr: true, data_collection: 'deny', ignore: ['a'] }, ['b']],

    [{ quantizations: ['fp16', 'int4'] }, ['a', 'a/turbo']],
    [{ quantizations: ['unknown'] }, ['b', 'c']],
    [{ quantizations: ['unknown', 'fp8'] }, ['b', 'd', 'c']],

    [{ max_price: { prompt: 2 } }, ['a', 'a/turbo']],
    [{ max_price: { prompt: '2' } }, ['a', 'a/turbo']],
    [{ max_price: { prompt: 1.999999 } }, ['a']],
    [{ max_price: { prompt: '1.999999' } }, ['a']],
    [{ max_price: { completion: '4.' } }, ['a', 'a/turbo']],
    [{ max_price: { completion: 3.99 } }, ['a']],
    [{ max_price: { prompt: 10, completion: 4.99 } }, ['a', 'a/turbo']],
    [{ max_price: { image: '.001' } }, ['a', 'a/turbo', 'b', 'd']],
    [{ max_price: { image: 0.000999 } }, ['a', 'b', 'd']],
    [{ max_price: { audio: '0.000007' } }, ['a', 'a/turbo', 'b', 'd']],
    [{ max_price: { audio: 6.9e-6 } }, ['a', 'a/turbo', 'd']],
    [{ max_price: { request: '0.01' } }, ['a', 'a/turbo', 'b', 'd']],
    [{ max_price: { request: 0 } }, ['a', 'b', 'd']],
    // More than anything could cost, and more than prices are counted in.
    [{ max_price: { prompt: 5_000_000 } }, ['a', 'a/turbo', 'b', 'd']],
    [{ max_price: { prompt: 1e30, completion: '99999999999999999999' } }, ['a', 'a/turbo', 'b', 'd']],
    [{ max_price: { prompt: '00000000000000000002.5' } }, ['a', 'a/turbo']],
  ])('%j: %j', (provider, expected) => {
    expect(tried(provider)).toEqual(expected);
  });

  it('distillable text is only that of models known to allow it', () => {
    const models = [true, false, undefined].map((isDistillable, at) =>
      modelOf(`m/${at}`, { a: {} }, isDistillable === undefined ? {} : { isDistillable }),
    );
    const provider = { enforce_distillable_text: true };
    const plan = planFor({ models }, { models: ['m/2', 'm/1', 'm/0'], provider });
    expect(plan.targets.map(({ endpoint }) => endpoint.modelSlug)).toEqual(['m/0']);
    expect(plan.excluded.map(({ model, filter }) => [model, filter])).toEqual([
      ['m/2', 'enforce_distillable_text'],
      ['m/1', 'enforce_distillable_text'],
    ]);
  });

  it.each<[object, string[]]>([
    [{}, ['a', 'a/turbo', 'b', 'd', 'c']],
    [{ temperature: 1 }, ['a', 'a/turbo']],
    [{ temperature: null }, ['a', 'a/turbo', 'b', 'd', 'c']],
    [{ temperature: 0, max_tokens: 5 }, ['a']],
    [{ max_completion_tokens: 5, reasoning_effort: 'low' }, ['a']],
    [{ seed: 1 }, ['d']],
    [{ seed: 1, temperature: 1 }, []],
    [{ tools: [{ type: 'function', function: { name: 'f' } }] }, ['a']],
    [{ tools: [] }, ['a', 'a/turbo', 'b', 'd', 'c']],
    [{ response_format: { type: 'json_object' } }, ['a/turbo']],
    [{ stream: true, user: 'me', metadata: { k: 'v' }, session_id: 's' }, ['a', 'a/turbo', 'b', 'd', 'c']],
    [{ some_new_field: 1 }, []],
    // Names that every object has.
    [{ constructor: 1 }, []],
    [{ toString: 'x', temperature: 1 }, []],
  ])('require_parameters with %j: %j', (fields, expected) => {
    const request = parsed({ provider: { require_parameters: true }, ...fields });
    if (expected.length > 0) return expect(order(planFor(world, request))).toEqual(expected);
    expect(new Set(Object.values(excludedBy(refusalOf(world, request).metadata as never)))).toEqual(
      new Set(['require_parameters']),
    );
  });

  it.each<[object, Record<string, string>]>([
    [{ only: ['a'] }, { b: 'only', c: 'only', d: 'only' }],
    [
      { ignore: ['a'], zdr: true },
      { a: 'ignore', 'a/turbo': 'ignore', c: 'zdr', d: 'zdr' },
    ],
    [
      { zdr: true, max_price: { prompt: 1 } },
      { 'a/turbo': 'zdr', b: 'max_price', c: 'zdr', d: 'zdr' },
    ],
    [
      { data_collection: 'deny', quantizations: ['fp16'] },
      { 'a/turbo': 'quantizations', b: 'quantizations', c: 'data_collection', d: 'data_collection' },
    ],
  ])('%j says which rule removed each: %j', (provider, expected) => {
    expect(excludedBy(planFor(world, parsed({ provider })))).toEqual(expected);
  });

  it('without fallbacks says that the others are left out by it', () => {
    expect(excludedBy(planFor(world, { provider: { allow_fallbacks: false, ignore: ['b'] } }))).toEqual({
      b: 'ignore',
      'a/turbo': 'allow_fallbacks',
      c: 'allow_fallbacks',
      d: 'allow_fallbacks',
    });
  });

  it('without fallbacks leaves out no endpoint that another credential would have reached', () => {
    const own = { allowedModels: null, allowedUserIds: null, allowedApiKeyHashes: null, isFallback: false };
    const facts = { byokCredentials: [{ ...own, id: '1', provider: 'b' }] };
    const plan = planFor({ ...world, facts }, { provider: { allow_fallbacks: false, only: ['b', 'd'] } });
    expect([order(plan), plan.targets[0]?.isByok]).toEqual([['b'], true]);
    expect(excludedBy(plan)).toEqual({ a: 'only', 'a/turbo': 'only', c: 'only', d: 'allow_fallbacks' });
  });

  it('without fallbacks leaves out what an order does not name, also where nothing of it can serve', () => {
    const provider = { allow_fallbacks: false, order: ['nobody'], ignore: ['b'] };
    const error = refusalOf(world, { provider });
    expect([error.status, excludedBy(error.metadata as never)]).toEqual([
      404,
      { a: 'allow_fallbacks', 'a/turbo': 'allow_fallbacks', b: 'ignore', c: 'allow_fallbacks', d: 'allow_fallbacks' },
    ]);
    const resting = { ...world, health: { rests: { d: 9000 } } };
    expect(refusalOf(resting, { provider: { allow_fallbacks: false, order: ['d'] } }).status).toBe(503);
    expect(tried({ allow_fallbacks: false, order: ['d', 'b'] })).toEqual(['d', 'b']);
    expect(order(planFor(resting, { provider: { allow_fallbacks: false, order: ['d', 'b'] } }))).toEqual(['b']);
  });

  it('without fallbacks keeps the order, and to the first credential of each endpoint', () => {
    const own = { allowedModels: null, allowedUserIds: null, allowedApiKeyHashes: null, isFallback: false };
    const facts = { byokCredentials: [1, 2].map((id) => ({ ...own, id: `${id}`, provider: 'b' })) };
    const { targets } = planFor({ ...world, facts }, { provider: { allow_fallbacks: false, order: ['d', 'b'] } });
    expect(targets.map(({ endpoint, credential }) => [endpoint.tag, 'id' in credential && credential.id])).toEqual([
      ['d', false],
      ['b', '1'],
    ]);
  });

  it('without fallbacks leaves out the other models of a list, unless all are sorted together', () => {
    const models = [
      modelOf('m/1', { a: { price: 3 }, b: { price: 2 } }),
      modelOf('m/2', { a: { price: 1 }, b: { price: 4 } }),
    ];
    const asked = { models: ['m/1', 'm/2'] };
    const without = (provider: object) =>
      order(planFor({ models }, { ...asked, provider: { allow_fallbacks: false, ...provider } }));
    expect(without({})).toEqual(['b']);
    expect(without({ order: ['a', 'b'] })).toEqual(['a', 'b']);
    expect(without({ sort: { by: 'price', partition: 'none' } })).toEqual(['a']);
    expect(without({ order: ['b', 'a'], sort: { partition: 'none' } })).toEqual(['b', 'a']);
    const resting = { models, health: { rests: { a: 9000, b: 9000 } } };
    const own = modelOf('m/3', { c: {} });
    const error = refusalOf(
      { ...resting, models: [...models, own] },
      { models: ['m/1', 'm/3'], provider: { allow_fallbacks: false } },
    );
    expect([error.status, excludedBy(error.metadata as never)]).toEqual([
      503,
      { a: 'cooldown', b: 'cooldown', c: 'allow_fallbacks' },
    ]);
    // A model with and without a suffix is the same endpoints.
    const plan = planFor({ models }, { models: ['m/1', 'm/1:nitro'], provider: { allow_fallbacks: false } });
    expect([order(plan), excludedBy(plan)]).toEqual([['b'], { a: 'allow_fallbacks' }]);
  });

  it('that demands support of every field counts modalities', () => {
    const models = [
      modelOf('m/1', { a: { supportedParameters: [] }, b: { supportedParameters: ['modalities'] } }),
      modelOf('m/2', { c: { supportedParameters: [] } }, { outputModalities: ['text', 'audio'] }),
      modelOf('m/3', { d: { supportedParameters: null } }, { outputModalities: ['text', 'audio'] }),
    ];
    const left = (modalities: string[], require_parameters = true) => {
      const fields = parsed({
        modalities,
        model: undefined,
        models: ['m/1', 'm/2', 'm/3'],
        provider: { require_parameters },
      });
      return planFor({ models }, fields).targets.map(({ endpoint }) => endpoint.tag);
    };
    expect(left(['text', 'audio'])).toEqual(['b', 'c']);
    expect(left(['text', 'image'])).toEqual(['b']);
    expect(left(['text'])).toEqual(['b', 'c']);
    expect(left([])).toEqual(['a', 'b', 'c', 'd']);
    expect(left(['image'], false)).toEqual(['a', 'b', 'c', 'd']);
    const error = refusalOf(
      { models },
      parsed({ modalities: ['image'], model: 'm/2', provider: { require_parameters: true } }),
    );
    expect([error.status, excludedBy(error.metadata as never)]).toEqual([404, { c: 'require_parameters' }]);
  });

  it('that leaves nothing is 404 with every rule', () => {
    const error = refusalOf(world, { provider: { only: ['a', 'b'], ignore: ['a'], quantizations: ['fp32'] } });
    expect([error.status, excludedBy(error.metadata as never)]).toEqual([
      404,
      { a: 'ignore', 'a/turbo': 'ignore', b: 'quantizations', c: 'only', d: 'only' },
    ]);
  });

  it.each([
    [{ only: 'a' }],
    [{ onyl: ['a'] }],
    [{ quantizations: ['fp7'] }],
    [{ sort: 'fastest' }],
    [{ sort: { by: 'price', partition: 'all' } }],
    [{ max_price: { prompt: '-1' } }],
    [{ max_price: { prompt: '1e3' } }],
    [{ max_price: { tokens: 1 } }],
    [{ preferred_max_latency: { p95: 1 } }],
    [{ preferred_min_throughput: -1 }],
    [{ data_collection: 'no' }],
  ])('%j is refused', (provider) => {
    expect(() => parsed({ provider })).toThrow();
  });
});

describe('an endpoint of a service tier', () => {
  const tiers: World = {
    models: [
      modelOf('m/1', { a: { price: 2 }, 'a/flex': { price: 1 }, 'a/priority': { price: 4 }, 'b/fast': { price: 8 } }),
    ],
  };
  const usual = ['a', 'b/fast'];

  it.each<[Partial<ChatRequest>, string[]]>([
    [{}, usual],
    [{ provider: { only: ['a'] } }, ['a']],
    [{ provider: { order: ['a', 'b'] } }, usual],
    [{ provider: { order: ['flex', 'priority'] } }, usual],
    [{ service_tier: 'auto' }, usual],
    [{ service_tier: 'default' }, usual],
    [{ service_tier: 'flex' }, ['a/flex', 'a', 'b/fast']],
    [{ service_tier: 'priority' }, ['a', 'a/priority', 'b/fast']],
    [{ provider: { order: ['a/flex'] } }, ['a/flex', 'a', 'b/fast']],
    [{ provider: { order: ['b', 'A/Priority'] } }, ['b/fast', 'a/priority', 'a']],
    [{ provider: { only: ['a/flex'] } }, ['a/flex']],
    [{ provider: { only: ['a/flex', 'a'] } }, ['a/flex', 'a']],
    [{ model: 'm/1:nitro' }, ['a', 'a/priority', 'b/fast']],
    [{ model: 'm/1:floor' }, ['a/flex', 'a', 'b/fast']],
    [{ model: 'm/1:floor:nitro', provider: { sort: 'price' } }, ['a/flex', 'a', 'a/priority', 'b/fast']],
    [{ model: 'm/1:floor', provider: { ignore: ['a/flex'] } }, usual],
    [{ model: 'm/1:floor', provider: { ignore: ['a'] } }, ['b/fast']],
    [{ model: 'm/1:exacto' }, usual],
  ])('%j: %j', (fields, expected) => {
    expect(order(planFor(tiers, fields))).toEqual(expected);
  });
  it('that takes no part is said to', () => {
    expect(excludedBy(planFor(tiers))).toEqual({ 'a/flex': 'service_tier', 'a/priority': 'service_tier' });
  });
});

describe('an endpoint that is disabled', () => {
  const world: World = { models: [modelOf('m/1', { a: { isDisabled: true, price: 1 }, b: { price: 2 } })] };

  it.each([{}, { only: ['a', 'b'] }, { order: ['a'] }])('is never used: %j', (provider) => {
    const plan = planFor(world, { provider });
    expect([order(plan), excludedBy(plan)]).toEqual([['b'], { a: 'disabled' }]);
  });
  it('is named first among the reasons of a 404', () => {
    const error = refusalOf(world, { provider: { only: ['a'], zdr: true } });
    expect([error.status, excludedBy(error.metadata as never)]).toEqual([404, { a: 'disabled', b: 'only' }]);
  });
});
