import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChatRequest } from '../../../../src/schema/chat/chat.ts';
import { modelOf, modelsOf, planFor, refusalOf, type World } from '../../../support/routing.ts';

const pareto = (min_coding_score?: number, model = 'service/pareto-code'): Partial<ChatRequest> => ({
  model,
  plugins: [{ id: 'pareto-router', ...(min_coding_score === undefined ? {} : { min_coding_score }) }],
});
const scored = (slug: string, price: number, codingScore: number) =>
  modelOf(`m/${slug}`, { [slug]: { price } }, { codingScore });

/** `waste` is beaten by `fine` at a lower price. */
const models = [
  scored('tiny', 0.1, 0.1),
  scored('small', 0.5, 0.3),
  scored('middle', 1, 0.4),
  scored('better', 2, 0.6),
  scored('fine', 4, 0.7),
  scored('waste', 5, 0.68),
  scored('best', 20, 0.95),
];
const world: World = { models };
const chosen = (fields: Partial<ChatRequest>, more: Partial<World> = {}) =>
  modelsOf(planFor({ ...world, ...more }, fields));

describe('service/pareto-code', () => {
  it.each<[number | undefined, string[]]>([
    [undefined, ['m/fine', 'm/best', 'm/waste']],
    [1, ['m/fine', 'm/best', 'm/waste']],
    [0.66, ['m/fine', 'm/best', 'm/waste']],
    [0.659, ['m/middle', 'm/better']],
    [0.33, ['m/middle', 'm/better']],
    [0.329, ['m/tiny', 'm/small']],
    [0, ['m/tiny', 'm/small']],
  ])('with min_coding_score %s chooses %j', (score, expected) => {
    expect(chosen(pareto(score))).toEqual(expected);
  });
  it('takes a better tier where the asked one has nothing, or where the better is cheaper', () => {
    expect(chosen(pareto(0.4), { models: models.slice(4) })).toEqual(['m/fine', 'm/best', 'm/waste']);
    expect(chosen(pareto(0.4), { models: [...models, scored('gift', 0.2, 0.9)] })[0]).toBe('m/gift');
  });
  it('prefers the fastest with :nitro, of those that no other beats', () => {
    const throughput = { fine: 50, best: 90, waste: 500 };
    const fast = pareto(undefined, 'service/pareto-code:nitro');
    expect(chosen(fast, { health: { throughput } })).toEqual(['m/best', 'm/fine', 'm/waste']);
    expect(chosen(pareto(), { health: { throughput } })[0]).toBe('m/fine');
    // Nothing is measured: the cheapest.
    expect(chosen(fast)).toEqual(['m/fine', 'm/best', 'm/waste']);
  });
  it('shows what it chose and why the others were left out', () => {
    const plan = planFor(world, pareto(0.5, 'acme/pareto-code'));
    expect(plan).toMatchObject({
      strategy: 'pareto',
      router: 'acme/pareto-code',
      params: { quality_floor: 0.33, tier: 'medium' },
    });
    expect(plan.stages).toEqual([
      {
        type: 'plugin',
        name: 'pareto-router',
        summary: 'chose m/middle of tier medium or better',
        data: {
          tier: 'medium',
          chosen: ['m/middle', 'm/better'],
          excluded: [
            { model: 'm/tiny', reason: 'tier' },
            { model: 'm/small', reason: 'tier' },
            { model: 'm/fine', reason: 'not_needed' },
            { model: 'm/waste', reason: 'dominated' },
            { model: 'm/best', reason: 'not_needed' },
          ],
          excluded_count: 5,
        },
      },
    ]);
  });
  it('goes by the quality, then by the price, of a model without a coding score', () => {
    const guessed = [
      modelOf('m/cheap', { a: { price: 0.01 } }),
      modelOf('m/rated', { a: { price: 1 } }, { quality: 0.8 }),
      modelOf('m/dear', { a: { price: 100 } }),
    ];
    expect(chosen(pareto(), { models: guessed })).toEqual(['m/rated', 'm/dear']);
    expect(chosen(pareto(0), { models: guessed })).toEqual(['m/cheap']);
  });
  it('is 404 when restrictions leave nothing', () => {
    expect(refusalOf({ models: models.slice(0, 4) }, pareto())).toMatchObject({ status: 404 });
    expect(
      refusalOf(world, { ...pareto(), provider: { ignore: models.map(({ slug }) => slug.slice(2)) } }).status,
    ).toBe(404);
    expect(refusalOf({ models: [modelOf('m/unpriced', { a: {} }, { codingScore: 1 })] }, pareto()).status).toBe(404);
  });
  it('heeds preferences, needs and the switch of the plugin', () => {
    expect(chosen({ ...pareto(), provider: { ignore: ['fine'] } })[0]).toBe('m/waste');
    expect(
      chosen({
        ...pareto(),
        provider: { max_price: { prompt: 1 } },
        plugins: [{ id: 'pareto-router', min_coding_score: 0.5 }],
      }),
    ).toEqual(['m/middle']);
    expect(
      chosen({
        model: 'service/pareto-code',
        plugins: [{ id: 'pareto-router', enabled: false, min_coding_score: 0 }],
      })[0],
    ).toBe('m/fine');
  });
  it('keeps the model of a conversation while it is a candidate', () => {
    const kept = (slug: string, fields = pareto()) => chosen(fields, { pinned: { 'service/pareto-code': slug } })[0];
    expect(kept('m/best')).toBe('m/best');
    expect(kept('m/tiny')).toBe('m/fine');
    expect(kept('m/best', pareto(0))).toBe('m/best');
  });
  it('never pays more than a model of the tier would cost, and never goes below it', () => {
    const sketch = fc.record({
      price: fc.integer({ min: 1, max: 1000 }),
      score: fc.double({ min: 0, max: 1, noNaN: true }),
    });
    fc.assert(
      fc.property(
        fc.array(sketch, { minLength: 1, maxLength: 12 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (all, asked) => {
          const floor = asked >= 0.66 ? 0.66 : asked >= 0.33 ? 0.33 : 0;
          const good = all.filter(({ score }) => score >= floor);
          const random = all.map(({ price, score }, at) => scored(`${at}`, price, score));
          if (good.length === 0) {
            expect(refusalOf({ models: random }, pareto(asked)).status).toBe(404);
            return;
          }
          const slugs = chosen(pareto(asked), { models: random });
          const found = slugs.map((slug) => all[Number(slug.slice(2))] ?? { price: -1, score: -1 });
          expect(found[0]?.price).toBe(Math.min(...good.map(({ price }) => price)));
          expect(found.every(({ score }) => score >= floor)).toBe(true);
          expect(found.length).toBeLessThanOrEqual(3);
        },
      ),
      { numRuns: 2000, seed: 11 },
    );
  });
});
