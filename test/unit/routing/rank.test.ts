import { describe, expect, it } from 'vitest';
import type { ChatRequest } from '../../../src/schema/chat/chat.ts';
import { type EndpointSketch, type HealthSketch, modelOf, order, planFor, type World } from '../../support/routing.ts';

const world = (endpoints: Readonly<Record<string, EndpointSketch>>, health: HealthSketch = {}): World => ({
  models: [modelOf('m/1', endpoints)],
  health,
});
const tools: ChatRequest['tools'] = [{ type: 'function', function: { name: 'f' } }];

describe('a sort', () => {
  const sorted: World = world(
    {
      a: { price: 3, quantization: 'fp4', supportedParameters: ['tools'] },
      b: { price: 1, quantization: 'bf16', supportedParameters: [] },
      c: { price: 2, quantization: 'fp8', supportedParameters: ['tools'] },
      d: { quantization: 'bf16' },
      e: { price: 2, quantization: 'fp16', supportedParameters: ['tools'] },
    },
    { throughput: { a: 30, b: 10, d: 50 }, latency: { a: 900, c: 100, d: 300 } },
  );

  it.each<[ChatRequest['provider'], string[]]>([
    // What is equal is put in order by price; what is not known comes last.
    [{ sort: 'price' }, ['b', 'c', 'e', 'a', 'd']],
    [{ sort: 'throughput' }, ['d', 'a', 'b', 'c', 'e']],
    [{ sort: 'latency' }, ['c', 'd', 'a', 'b', 'e']],
    [{ sort: 'exacto' }, ['e', 'c', 'a', 'd', 'b']],
    [{ sort: { by: 'price' } }, ['b', 'c', 'e', 'a', 'd']],
    [{ sort: { by: 'latency', partition: 'model' } }, ['c', 'd', 'a', 'b', 'e']],
    [{ sort: { by: 'throughput', partition: null } }, ['d', 'a', 'b', 'c', 'e']],
    [{ sort: 'price', order: ['e', 'd'] }, ['e', 'd', 'a', 'b', 'c']],
    [{ sort: 'price', ignore: ['b'], allow_fallbacks: false }, ['c']],
    // Without a sort it is the default strategy; the random number is always the same here.
    [{ sort: null }, ['b', 'c', 'e', 'a', 'd']],
    [{ sort: {} }, ['b', 'c', 'e', 'a', 'd']],
    [{ sort: { by: null, partition: 'none' } }, ['b', 'c', 'e', 'a', 'd']],
  ])('%j: %j', (provider, expected) => {
    expect(order(planFor(sorted, { provider }))).toEqual(expected);
  });
  it.each([1, 2, 3, 50, 200, 201, 1000])(
    'puts %d endpoints in order, and leaves equal ones as they are listed',
    (count) => {
      const endpoints = Object.fromEntries(
        Array.from({ length: count }, (_, at) => [`p${at}`, { price: 1 + ((at * 7919) % 11) }]),
      );
      const tags = order(planFor(world(endpoints), { provider: { sort: 'price' } }));
      const expected = Object.keys(endpoints).sort((a, b) => {
        const difference = (endpoints[a]?.price as number) - (endpoints[b]?.price as number);
        return difference || Number(a.slice(1)) - Number(b.slice(1));
      });
      expect(tags).toEqual(expected);
    },
  );
  it('asks for no random number', () => {
    const random = () => {
      throw new Error('a random number was asked for');
    };
    for (const sort of ['price', 'throughput', 'latency', 'exacto'] as const)
      expect(order(planFor({ ...sorted, facts: { random } }, { provider: { sort } }))).toHaveLength(5);
    expect(order(planFor({ ...sorted, facts: { random } }, { provider: { order: ['a'] } }))).toHaveLength(5);
  });
  it('counts three prompt tokens to one of the answer', () => {
    const prices = (prompt: number, completion: number) => ({
      pricing: { promptPicoUsd: prompt * 1e6, completionPicoUsd: completion * 1e6 },
    });
    expect(
      order(planFor(world({ a: prices(2, 2), b: prices(1, 4), c: prices(1, 6) }), { provider: { sort: 'price' } })),
    ).toEqual(['b', 'a', 'c']);
  });
  it('ranks what fails now lower for tool calls, within what can call tools', () => {
    const failing = { ...sorted, health: { outages: ['e'] } };
    expect(order(planFor(failing, { provider: { sort: 'exacto' } }))).toEqual(['c', 'a', 'e', 'd', 'b']);
    expect(order(planFor(failing, { provider: { sort: 'price' } }))).toEqual(['b', 'c', 'e', 'a', 'd']);
  });
});

describe('the order of several models', () => {
  const models = [
    modelOf('m/1', { a: { price: 4 }, b: { price: 2 } }),
    modelOf('m/2', { a: { price: 3 }, c: { price: 1 } }),
  ];
  const apart = ['m/1 b', 'm/1 a', 'm/2 c', 'm/2 a'];
  const together = ['m/2 c', 'm/1 b', 'm/2 a', 'm/1 a'];

  it.each<[Partial<ChatRequest>, string[]]>([
    [{}, apart],
    [{ provider: { sort: 'price' } }, apart],
    [{ provider: { sort: { by: 'price' } } }, apart],
    [{ provider: { sort: { by: 'price', partition: 'model' } } }, apart],
    [{ provider: { sort: { by: 'price', partition: null } } }, apart],
    [{ provider: { sort: { by: 'price', partition: 'none' } } }, together],
    [{ provider: { sort: { partition: 'none' } } }, together],
    [{ route: 'fallback' }, apart],
    [{ route: 'sort' }, together],
    [{ route: 'sort', provider: { sort: 'price' } }, together],
    [{ route: 'sort', provider: { sort: { by: 'price', partition: 'model' } } }, apart],
    [{ route: 'sort', provider: { sort: { by: 'price' } } }, together],
    [{ route: { anything: 1 } }, apart],
    [{ route: null }, apart],
    [{ provider: { order: ['a'] } }, ['m/1 a', 'm/1 b', 'm/2 a', 'm/2 c']],
    [{ provider: { order: ['a'], sort: { partition: 'none' } } }, ['m/1 a', 'm/2 a', 'm/1 b', 'm/2 c']],
  ])('%j: %j', (fields, expected) => {
    const plan = planFor({ models }, { models: ['m/1', 'm/2'], ...fields });
    expect(order(plan)).toEqual(expected);
    expect([plan.strategy, plan.requested]).toEqual(['fallback', 'm/1']);
  });
  it('puts what lacks something last within its model, or of all', () => {
    const lacking = [
      modelOf('m/1', { a: { price: 1, supportedParameters: [] }, b: { price: 2 } }),
      modelOf('m/2', { c: { price: 3 } }),
    ];
    expect(order(planFor({ models: lacking }, { models: ['m/1', 'm/2'], tools }))).toEqual(['m/1 b', 'm/1 a', 'm/2 c']);
    expect(order(planFor({ models: lacking }, { models: ['m/1', 'm/2'], tools, route: 'sort' }))).toEqual([
      'm/1 b',
      'm/2 c',
      'm/1 a',
    ]);
  });
  it('leaves the model of the next that is left when one is filtered away', () => {
    const plan = planFor({ models }, { models: ['m/1', 'm/2'], provider: { only: ['c'] } });
    expect([order(plan), plan.targets.map(({ modelIndex }) => modelIndex)]).toEqual([['c'], [1]]);
  });
});

describe('where the request does not say how to sort', () => {
  const sorted = world({ a: { price: 1 }, b: { price: 2 } }, { throughput: { a: 1, b: 2 }, latency: { a: 2, b: 3 } });
  const byChoice = ['a', 'b'];

  it.each<[Partial<ChatRequest>, string | null, string[]]>([
    [{}, null, byChoice],
    [{}, 'throughput', ['b', 'a']],
    [{}, 'price', ['a', 'b']],
    [{}, 'whatever', byChoice],
    [{ model: 'm/1:floor' }, 'throughput', ['a', 'b']],
    [{ model: 'm/1:nitro' }, 'price', ['b', 'a']],
    [{ model: 'm/1:nitro', provider: { sort: 'price' } }, null, ['a', 'b']],
    [{ model: 'm/1:nitro', provider: { sort: { by: 'latency' } } }, 'throughput', ['a', 'b']],
    [{ model: 'm/1:nitro', provider: { sort: { by: null } } }, null, ['b', 'a']],
    [{ model: 'm/1:floor:nitro' }, null, ['b', 'a']],
    [{ model: 'm/1:nitro:floor' }, null, ['a', 'b']],
    [{ model: 'm/1:nitro', provider: { order: ['a'] } }, 'throughput', ['a', 'b']],
    [{ provider: { sort: 'price' } }, 'throughput', ['a', 'b']],
  ])('%j, workspace %s: %j', (fields, defaultSort, expected) => {
    // The weighted choice would put the more expensive first.
    const random = (() => {
      let calls = 0;
      return () => (calls++ % 2 === 0 ? 0.0001 : 0.9999);
    })();
    expect(order(planFor({ ...sorted, facts: { defaultSort, random } }, fields))).toEqual(expected);
  });
  it('a sort of the workspace is not that of a name every object has', () => {
    for (const defaultSort of ['constructor', '__proto__', 'toString', ''])
      expect(order(planFor({ ...sorted, facts: { defaultSort } }))).toEqual(byChoice);
  });
});

describe('a preferred latency or throughput', () => {
  const figures = { p50: 10, p75: 20, p90: 30, p99: 40 };
  const health: HealthSketch = {
    // ms; a is within any of the limits below, d is not measured.
    latency: { a: 100, b: { p50: 500, p75: 1000, p90: 2000, p99: 9000 }, c: 3000 },
    throughput: { a: 100, b: figures, c: 5 },
  };
  const slow = world({ c: { price: 1 }, b: { price: 2 }, a: { price: 3 }, d: { price: 4 } }, health);
  const all = ['c', 'b', 'a', 'd'];
  const withoutC = ['b', 'a', 'd', 'c'];
  const withoutBoth = ['a', 'd', 'c', 'b'];

  it.each<[object, string[]]>([
    [{ preferred_max_latency: 3 }, all],
    [{ preferred_max_latency: 2.999 }, withoutC],
    [{ preferred_max_latency: 0.5 }, withoutC],
    [{ preferred_max_latency: 0.4 }, withoutBoth],
    // Nothing is fast enough: as without the wish, but for what is not known.
    [{ preferred_max_latency: 0 }, ['d', 'c', 'b', 'a']],
    [{ preferred_max_latency: { p50: 0.5 } }, withoutC],
    [{ preferred_max_latency: { p50: 0.5, p75: 1, p90: 2, p99: 9 } }, withoutC],
    [{ preferred_max_latency: { p50: 0.5, p75: 0.9 } }, withoutBoth],
    [{ preferred_max_latency: { p90: 1.9 } }, withoutBoth],
    [{ preferred_max_latency: { p99: 8 } }, ['c', 'a', 'd', 'b']],
    [{ preferred_max_latency: { p50: null, p75: null, p90: null, p99: 8 } }, ['c', 'a', 'd', 'b']],
    [{ preferred_max_latency: { p50: null } }, all],
    [{ preferred_max_latency: {} }, all],
    [{ preferred_min_throughput: 5 }, all],
    [{ preferred_min_throughput: 6 }, withoutC],
    [{ preferred_min_throughput: 11 }, withoutBoth],
    [{ preferred_min_throughput: { p50: 10, p99: 40 } }, withoutC],
    [{ preferred_min_throughput: { p50: 10, p75: 21 } }, withoutBoth],
    [{ preferred_min_throughput: { p90: 31, p50: null } }, withoutBoth],
    [{ preferred_min_throughput: { p99: 41 } }, withoutBoth],
    [{ preferred_min_throughput: {} }, all],
    [{ preferred_min_throughput: 0, preferred_max_latency: 10 }, all],
    [{ preferred_min_throughput: 6, preferred_max_latency: { p99: 8 } }, withoutBoth],
    // They move to the end, and are not left out.
    [{ preferred_min_throughput: 11, only: ['c', 'b'] }, ['c', 'b']],
    [{ preferred_min_throughput: 11, sort: 'price' }, withoutBoth],
    [{ preferred_min_throughput: 11, order: ['c'] }, ['c', 'a', 'd', 'b']],
  ])('%j: %j', (provider, expected) => {
    expect(order(planFor(slow, { provider }))).toEqual(expected);
  });
  it.each<[object, object | undefined]>([
    [{ preferred_min_throughput: 20 }, { throughput_floor: 20 }],
    [{ preferred_min_throughput: { p50: 5, p90: 1 } }, { throughput_floor: 5 }],
    [{ preferred_min_throughput: { p90: 1 } }, undefined],
    [{ preferred_max_latency: 2 }, undefined],
  ])('%j is shown as %j', (provider, params) => {
    expect(planFor(slow, { provider }).params).toEqual(params);
  });
});

describe('what a request needs', () => {
  const image = [
    { role: 'user' as const, content: [{ type: 'image_url' as const, image_url: { url: 'https://x.test/a' } }] },
  ];
  const text = (chars: number) => [{ role: 'user' as const, content: 'x'.repeat(chars) }];

  it.each<[string, Partial<ChatRequest> & object, EndpointSketch, boolean]>([
    ['tools', { tools }, { supportedParameters: [] }, true],
    ['tools', { tools }, { supportedParameters: ['tools'] }, false],
    ['tools, of which nothing is known', { tools }, { supportedParameters: null }, false],
    ['no tools', { tools: [] }, { supportedParameters: [] }, false],
    ['a format', { response_format: { type: 'json_object' } }, { supportedParameters: ['tools'] }, true],
    ['a format', { response_format: { type: 'json_object' } }, { supportedParameters: ['response_format'] }, false],
    ['a format', { response_format: { type: 'json_object' } }, { supportedParameters: ['structured_outputs'] }, false],
    ['text', { response_format: { type: 'text' } }, { supportedParameters: [] }, false],
    ['verbosity', { verbosity: 'low' } as object, { supportedParameters: [] }, true],
    ['verbosity', { verbosity: 'low' } as object, { supportedParameters: ['verbosity'] }, false],
    ['two things', { tools, verbosity: 'low' } as object, { supportedParameters: ['tools'] }, true],
    ['a temperature, which is not needed', { temperature: 1 }, { supportedParameters: [] }, false],
    ['a short prompt', { messages: text(400) }, { contextLength: 100 }, false],
    ['a prompt that certainly does not fit', { messages: text(404) }, { contextLength: 100 }, true],
    ['a prompt above the largest', { messages: text(404) }, { contextLength: 1000, maxPromptTokens: 100 }, true],
    ['a small answer', { max_tokens: 100 }, { maxCompletionTokens: 100 }, false],
    ['a large answer', { max_tokens: 101 }, { maxCompletionTokens: 100 }, true],
    ['a large answer', { max_completion_tokens: 101, max_tokens: 1 }, { maxCompletionTokens: 100 }, true],
    ['an answer of which nothing is known', { max_tokens: 101 }, {}, false],
  ])('%s: %j with %j moves an endpoint to the end: %s', (_, fields, sketch, isLast) => {
    const models = world({ a: { price: 1, ...sketch }, b: { price: 1000 } });
    expect(order(planFor(models, fields))).toEqual(isLast ? ['b', 'a'] : ['a', 'b']);
    // It stays where it is all there is.
    expect(order(planFor(models, { ...fields, provider: { only: ['a'] } }))).toEqual(['a']);
  });
  it.each<[string[] | undefined, boolean]>([
    [['text'], true],
    [['text', 'image'], false],
    [undefined, false],
  ])('images, with a model that takes %j: the other model comes first: %s', (inputModalities, isLast) => {
    const models = [modelOf('m/1', { a: {} }, inputModalities ? { inputModalities } : {}), modelOf('m/2', { b: {} })];
    const plan = planFor({ models }, { models: ['m/1', 'm/2'], messages: image, route: 'sort' });
    expect(order(plan)).toEqual(isLast ? ['m/2 b', 'm/1 a'] : ['m/1 a', 'm/2 b']);
  });
});

describe('what speaks against an endpoint', () => {
  const endpoints = {
    both: { price: 1, supportedParameters: [] },
    lacks: { price: 2, supportedParameters: [] },
    late: { price: 3 },
    fails: { price: 4 },
    slow: { price: 5 },
    fine: { price: 6 },
  };
  const health: HealthSketch = {
    outages: ['both', 'late', 'fails'],
    latency: { late: 5000, slow: 5000 },
  };
  const fields: Partial<ChatRequest> = { tools, provider: { preferred_max_latency: 1 } };
  const ranked = ['fine', 'slow', 'fails', 'late', 'lacks', 'both'];

  it('counts in this order, whatever it costs: it lacks something, it fails, it is slow', () => {
    expect(order(planFor(world(endpoints, health), fields))).toEqual(ranked);
  });
  it('counts after what served the conversation last, unless that fails or lacks something', () => {
    const pinnedAt = (tag: string) => order(planFor({ ...world(endpoints, health), pinned: { 'm/1': tag } }, fields));
    expect(pinnedAt('slow')).toEqual(['slow', 'fine', ...ranked.slice(2)]);
    expect(pinnedAt('fails')).toEqual(ranked);
    expect(pinnedAt('lacks')).toEqual(ranked);
    expect(pinnedAt('gone')).toEqual(ranked);
  });
  it('does not count where the request says the order; neither does what served last', () => {
    const ordered = (named: string[]) =>
      order(
        planFor(
          { ...world(endpoints, health), pinned: { 'm/1': 'slow' } },
          { ...fields, provider: { ...fields.provider, order: named } },
        ),
      );
    expect(ordered(['both', 'late']).slice(0, 2)).toEqual(['both', 'late']);
    // Of what is not named it does.
    expect(ordered(['both']).slice(1, 3)).toEqual(['fine', 'slow']);
  });
  it('an outage does not count against a sort', () => {
    const provider = { sort: 'price' as const, preferred_max_latency: 1 };
    expect(order(planFor(world(endpoints, health), { tools, provider }))).toEqual([
      'fails',
      'fine',
      'late',
      'slow',
      'both',
      'lacks',
    ]);
  });
});

describe('what a plan asks', () => {
  const asked = (models: World['models'], fields: Partial<ChatRequest>) => {
    const calls: string[] = [];
    const pinned = (slug: string) => {
      calls.push(slug);
      return null;
    };
    const random = () => {
      calls.push('random');
      return 0.5;
    };
    planFor({ models, facts: { pinned, random } }, fields);
    return calls;
  };
  const two = { a: { price: 1 }, b: { price: 2 } };

  it('is once for each model which endpoint served last', () => {
    const models = [modelOf('m/1', two), modelOf('m/2', two)];
    const slugs = (calls: string[]) => calls.filter((call) => call !== 'random');
    expect(slugs(asked(models, { models: ['m/1', 'm/2'] }))).toEqual(['m/1', 'm/2']);
    expect(slugs(asked(models, { models: ['m/1', 'm/2'], route: 'sort' }))).toEqual(['m/1', 'm/2']);
  });
  it('is nothing where the request says the order', () => {
    expect(asked([modelOf('m/1', two)], { provider: { order: ['b'] } })).toEqual([]);
  });
  it('is nothing of a model with one endpoint: it comes first anyway', () => {
    expect(asked([modelOf('m/1', { a: { price: 1 } })], {})).toEqual([]);
  });
});
