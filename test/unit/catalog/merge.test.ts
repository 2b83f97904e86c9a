import { describe, expect, it } from 'vitest';
import type { Endpoint, Model } from '../../../src/call/model.ts';
import { mergeModels } from '../../../src/catalog/merge.ts';

const unknown = { zeroRetention: null, trains: null };
const pricing = { promptPicoUsd: 1, completionPicoUsd: 2 };
const dearer = { promptPicoUsd: 10, completionPicoUsd: 20 };

function endpoint(more: Partial<Endpoint> = {}): Endpoint {
  return {
    modelSlug: 'acme/fast',
    providerSlug: 'up',
    tag: 'up',
    upstreamModel: 'fast',
    pricing: null,
    contextLength: null,
    maxCompletionTokens: null,
    quantization: null,
    supportedParameters: null,
    dataPolicy: unknown,
    ...more,
  };
}

function model(more: Partial<Model> = {}, ...endpoints: Partial<Endpoint>[]): Model {
  return { slug: 'acme/fast', name: 'acme/fast', endpoints: endpoints.map(endpoint), ...more };
}

const facts: Partial<Model> = {
  description: 'Fast.',
  created: 1_700_000_000,
  contextLength: 8_000,
  inputModalities: ['text'],
  outputModalities: ['text'],
  isDistillable: true,
  family: 'fast',
  quality: 0.5,
  huggingFaceId: 'acme/fast',
  knowledgeCutoff: '2026-01-01',
  expirationDate: '2027-01-01',
};
const others: Partial<Model> = {
  description: 'Slow.',
  created: 1,
  contextLength: 1,
  inputModalities: ['image'],
  outputModalities: ['audio'],
  isDistillable: false,
  family: 'slow',
  quality: 0,
  huggingFaceId: 'acme/slow',
  knowledgeCutoff: '2000-01-01',
  expirationDate: '2000-01-01',
};
const limits: Partial<Endpoint> = {
  pricing,
  contextLength: 8_000,
  maxPromptTokens: 7_000,
  maxCompletionTokens: 1_000,
  quantization: 'fp8',
  supportedParameters: ['tools'],
  implicitCaching: true,
};

const merged = (...sources: Model[][]) => [...mergeModels(sources).values()];

describe('a model that several sources name', () => {
  it.each(Object.keys(facts) as (keyof Model)[])('has its %s from the first that knows it', (fact) => {
    const [filled] = merged([model()], [model({ [fact]: facts[fact] })], [model(others)]);
    expect(filled?.[fact]).toEqual(facts[fact]);
    const [first] = merged([model({ [fact]: facts[fact] })], [model(others)]);
    expect(first?.[fact]).toEqual(facts[fact]);
  });
  it('is called by the first name that is not its slug', () => {
    expect(merged([model()], [model({ name: 'Fast' })], [model({ name: 'Faster' })])[0]?.name).toBe('Fast');
  });
  it('has the endpoints of the first, and no other', () => {
    const [first] = merged([model({}, { tag: 'up' })], [model({}, { providerSlug: 'alt', tag: 'alt' })]);
    expect(first?.endpoints.map(({ tag }) => tag)).toEqual(['up']);
  });
  it('is listed where it was named first', () => {
    const slow = model({ slug: 'acme/slow' });
    expect(merged([slow], [model(), slow]).map(({ slug }) => slug)).toEqual(['acme/slow', 'acme/fast']);
  });
  it('is left as it is by sources that say nothing new', () => {
    const whole = model(facts, limits);
    expect(merged([whole], [model(others, { ...limits, pricing: dearer })])).toEqual([whole]);
  });
});

describe('an endpoint that several sources name', () => {
  const first = (own: Partial<Endpoint>, ...later: Partial<Endpoint>[]) =>
    merged([model({}, own)], [model({}, ...later)])[0]?.endpoints[0];

  it.each(Object.keys(limits) as (keyof Endpoint)[])('has its %s from the first that knows it', (limit) => {
    expect(first({}, limits)?.[limit]).toEqual(limits[limit]);
    const own = { [limit]: limit === 'implicitCaching' ? false : limit === 'pricing' ? dearer : 5 };
    expect(first(own, limits)?.[limit]).toEqual(own[limit]);
  });
  it('is never half of one price and half of another', () => {
    const later = { ...pricing, cacheReadPicoUsd: 1 };
    expect(first({ pricing: dearer }, { pricing: later })?.pricing).toEqual(dearer);
  });
  it('keeps its own data policy, tier and state', () => {
    const later = { dataPolicy: { zeroRetention: true, trains: false }, isDisabled: true };
    expect(first({}, later)).toEqual(endpoint());
  });
  it.each<[string, Partial<Endpoint>, Partial<Endpoint>, boolean]>([
    ['of the same name', {}, {}, true],
    ['of the same name, whose variant is told apart by one', { tag: 'up/eu' }, {}, true],
    ['of the same variant', { tag: 'up/eu', upstreamModel: 'fast-eu' }, { tag: 'up/eu' }, true],
    ['of another provider', { providerSlug: 'alt', tag: 'alt' }, {}, false],
    ['of another name without a variant', { upstreamModel: 'ft:fast:mine' }, {}, false],
    ['of another tier', { tag: 'up/priority', serviceTier: 'priority' }, {}, false],
    ['of another name and variant', { tag: 'up/eu', upstreamModel: 'fast-eu' }, { tag: 'up/us' }, false],
  ])('is filled up from one %s: %#', (_, own, later, isFilled) => {
    expect(first(own, { pricing, ...later })?.pricing).toEqual(isFilled ? pricing : null);
  });
  it('is filled up from the one of its own variant, where there are several of its name', () => {
    const later = [{ pricing: dearer }, { tag: 'up/eu', pricing }];
    expect(first({ tag: 'up/eu' }, ...later)?.pricing).toEqual(pricing);
    expect(first({}, ...later.toReversed())?.pricing).toEqual(dearer);
  });
});
