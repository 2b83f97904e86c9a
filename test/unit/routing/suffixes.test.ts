import { describe, expect, it } from 'vitest';
import type { ChatRequest } from '../../../src/schema/chat/chat.ts';
import {
  type EndpointSketch,
  excludedBy,
  modelOf,
  order,
  planFor,
  refusalOf,
  type World,
} from '../../support/routing.ts';

const endpoints: Record<string, EndpointSketch> = {
  a: { price: 0, contextLength: 1000, supportedParameters: ['tools'], quantization: 'fp8' },
  b: { price: 1, contextLength: 2000, supportedParameters: ['reasoning', 'tools'], quantization: 'fp16' },
  c: { price: 2, contextLength: 2000, supportedParameters: [] },
  'c/flex': { price: 0.5, contextLength: 2000, supportedParameters: [] },
  'b/priority': { price: 3, contextLength: 2000, supportedParameters: ['reasoning'] },
  d: { pricing: { promptPicoUsd: 0, completionPicoUsd: 0, requestPicoUsd: 1 }, contextLength: null },
};
const world: World = {
  models: [modelOf('m/1', endpoints)],
  health: { throughput: { c: 30, 'b/priority': 20, b: 10 } },
};
const all = ['a', 'd', 'b', 'c'];

describe('a suffix', () => {
  it.each<[string, string[]]>([
    ['m/1', all],
    ['m/1:free', ['a']],
    ['m/1:nitro', ['c', 'b/priority', 'b', 'a', 'd']],
    ['m/1:floor', ['a', 'd', 'c/flex', 'b', 'c']],
    ['m/1:exacto', ['b', 'a', 'd', 'c']],
    ['m/1:extended', ['b', 'c']],
    ['m/1:thinking', ['b']],
    ['m/1:extended:floor', ['c/flex', 'b', 'c']],
    ['m/1:thinking:nitro', ['b/priority', 'b']],
    ['m/1:floor:nitro', ['c', 'b/priority', 'b', 'a', 'd', 'c/flex']],
    ['m/1:nitro:floor', ['a', 'd', 'c/flex', 'b', 'c', 'b/priority']],
    ['m/1:nitro:nitro', ['c', 'b/priority', 'b', 'a', 'd']],
  ])('%s: %j', (slug, expected) => {
    const plan = planFor(world, { model: slug });
    expect([order(plan), plan.requested, plan.strategy]).toEqual([expected, slug, 'direct']);
    expect(new Set(plan.targets.map(({ endpoint }) => endpoint.modelSlug))).toEqual(new Set(['m/1']));
  });
  it('says which endpoints it left out', () => {
    expect(excludedBy(planFor(world, { model: 'm/1:free' }))).toMatchObject({ b: 'free', c: 'free', d: 'free' });
    expect(excludedBy(planFor(world, { model: 'm/1:thinking' }))).toMatchObject({ a: 'thinking', d: 'thinking' });
    expect(excludedBy(planFor(world, { model: 'm/1:extended' }))).toMatchObject({ a: 'extended', d: 'extended' });
  });
  it('that leaves nothing is 404', () => {
    for (const model of ['m/1:free:thinking', 'm/1:free:extended', 'm/2:free', 'm/2:extended', 'm/2:thinking']) {
      const error = refusalOf({ models: [...world.models, modelOf('m/2', { a: {}, b: {} })] }, { model });
      expect([error.status, error.message.includes(model)]).toEqual([404, true]);
    }
  });
  it('without a meaning is part of the name', () => {
    for (const model of ['m/1:turbo', 'm/1:', 'm/1:nitro:turbo', 'm/1:FREE', 'm/1:constructor', ':free', 'm/1 :free'])
      expect(refusalOf(world, { model }).status).toBe(400);
  });
  it('of a model that does not exist is 400, and names it as it was sent', () => {
    const error = refusalOf(world, { model: 'm/9:nitro:free' });
    expect([error.status, error.metadata]).toEqual([400, { model: 'm/9:nitro:free', did_you_mean: ['m/1'] }]);
  });
  it.each(['m/1:online', 'm/1:free:online', 'm/1:online:nitro', 'service/auto:online', 'service/free:online'])(
    '%s asks for the web: without its plugin it is refused',
    (model) => {
      const error = refusalOf(world, { model });
      expect([error.status, error.metadata]).toEqual([400, { plugin: 'web' }]);
      // Also where no model would be left for it.
      if (model.startsWith('service')) expect(refusalOf({ models: [] }, { model }).status).toBe(400);
    },
  );
  it('that asks for the web means nothing more where the plugin is there', () => {
    const plugins = [{ id: 'web' as const }];
    expect(order(planFor(world, { model: 'm/1:online:nitro', plugins }))).toEqual(
      order(planFor(world, { model: 'm/1:nitro' })),
    );
  });
  it('asks the model to reason', () => {
    expect(planFor(world, { model: 'm/1:thinking' }).targets.map(({ reasons }) => reasons)).toEqual([true]);
    expect(planFor(world, { model: 'm/1' }).targets.map(({ reasons }) => reasons)).toEqual(all.map(() => undefined));
  });
  it('counts before what is a model of its own', () => {
    const listed = { models: [...world.models, modelOf('m/1:free', { x: { price: 5 }, y: { price: 4 } })] };
    expect(order(planFor(listed, { model: 'm/1:free' }))).toEqual(['y', 'x']);
    const nitro = planFor({ ...listed, health: { throughput: { x: 5 } } }, { model: 'm/1:free:nitro' });
    expect([order(nitro), nitro.targets[0]?.endpoint.modelSlug]).toEqual([['x', 'y'], 'm/1:free']);
  });
  it('holds for its own model of several', () => {
    const models = [...world.models, modelOf('m/2', { e: { price: 9 }, f: { price: 8 } })];
    const plan = planFor({ models }, { models: ['m/1:thinking', 'm/2', 'm/1:free'] });
    expect(order(plan)).toEqual(['m/1 b', 'm/2 f', 'm/2 e', 'm/1 a']);
    expect(plan.targets.map(({ reasons }) => reasons ?? false)).toEqual([true, false, false, false]);
  });
});

describe('a longer context', () => {
  it.each<[string, EndpointSketch, readonly string[] | undefined]>([
    ['that is disabled', { contextLength: 9000, isDisabled: true }, undefined],
    ['of a service tier', { contextLength: 9000, serviceTier: 'flex' }, undefined],
    ['that nobody here can reach', { contextLength: 9000 }, ['a', 'b', 'c', 'd']],
  ])('%s does not stand in the way of the longest there is', (_, sketch, usable) => {
    const models = [modelOf('m/1', { ...endpoints, z: sketch })];
    expect(order(planFor({ models, ...(usable ? { usable } : {}) }, { model: 'm/1:extended' }))).toEqual(['b', 'c']);
  });
});

describe('a model that is asked for twice', () => {
  const twice = (models: string[], fields: Partial<ChatRequest> = {}) => planFor(world, { models, ...fields });

  it.each<[string[], string[]]>([
    [['m/1', 'm/1'], all],
    [
      ['m/1', 'm/1:nitro'],
      [...all, 'b/priority'],
    ],
    [
      ['m/1:nitro', 'm/1'],
      ['c', 'b/priority', 'b', 'a', 'd'],
    ],
    [
      ['m/1:free', 'm/1'],
      ['a', 'd', 'b', 'c'],
    ],
    [
      ['m/1:free', 'm/1:extended'],
      ['a', 'b', 'c'],
    ],
    [
      ['m/1:nitro', 'm/1:floor'],
      ['c', 'b/priority', 'b', 'a', 'd', 'c/flex'],
    ],
  ])('%j tries each endpoint once: %j', (models, expected) => {
    expect(order(twice(models))).toEqual(expected);
  });
  it('leaves out only what neither lets in', () => {
    expect(excludedBy(twice(['m/1:free', 'm/1']))).toEqual({ 'c/flex': 'free', 'b/priority': 'free' });
    expect(excludedBy(twice(['m/1:nitro', 'm/1:floor']))).toEqual({});
  });
  it('may do once with reasoning and once without', () => {
    const plan = twice(['m/1:thinking', 'm/1'], { provider: { only: ['b'] } });
    expect(plan.targets.map(({ endpoint, reasons }) => [endpoint.tag, reasons])).toEqual([
      ['b', true],
      ['b', undefined],
    ]);
  });
});

describe('a model that is not listed', () => {
  const passThrough = (slug: string): World => ({
    models: [modelOf(slug, { up: {} }, { isPassThrough: true }), ...world.models],
  });

  it.each(['up/x:free', 'up/x:nitro:online', 'up/x:whatever'])('keeps its name, whatever it ends with: %s', (slug) => {
    const plan = planFor(passThrough(slug), { model: slug });
    expect(plan.targets.map(({ endpoint }) => endpoint.modelSlug)).toEqual([slug]);
  });
  it('does not stand for one that is, with a suffix', () => {
    const both: World = { models: [...passThrough('m/1:free').models, ...world.models] };
    expect(order(planFor(both, { model: 'm/1:free' }))).toEqual(['a']);
  });
  it('of a provider that is not set up does not exist', () => {
    expect(refusalOf({ ...passThrough('up/x'), usable: ['a'] }, { model: 'up/x' }).status).toBe(400);
  });
});
