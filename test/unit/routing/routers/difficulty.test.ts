import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { needsOf } from '../../../../src/routing/needs.ts';
import { difficultyOf, type Features, featuresOf } from '../../../../src/routing/routers/difficulty.ts';
import type { ChatRequest } from '../../../../src/schema/chat/chat.ts';
import { cpuMs } from '../../../support/cpu-time.ts';
import { modelOf, planFor } from '../../../support/routing.ts';

const rated = (content: string, fields: Partial<ChatRequest> = {}): Features => {
  const request: ChatRequest = { messages: [{ role: 'user', content }], ...fields };
  return featuresOf(request, needsOf(request));
};
const tool = { type: 'function' as const, function: { name: 'f' } };

describe('the difficulty of a request', () => {
  it.each<[keyof Features, Features]>([
    ['length', rated('word '.repeat(20_000))],
    ['code', rated('```ts\nconst f = () => {\n  return await g();\n}\n```')],
    ['maths', rated('Prove the theorem: the integral $$\\int x$$ of a polynomial, by its derivative. ∑')],
    ['tools', rated('Hi', { tools: [tool, tool, tool, tool] })],
    ['language', rated('Расскажи о погоде')],
    ['schema', rated('Hi', { response_format: { type: 'json_object' } })],
  ])('rises with %s', (name, features) => {
    expect(features[name]).toBeGreaterThanOrEqual(0.5);
    expect(rated('Hi')[name]).toBe(0);
    expect(difficultyOf(features)).toBeGreaterThan(difficultyOf(rated('Hi')));
  });
  it('is from 0 to 1 and the same each time, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (text) => {
        const difficulty = difficultyOf(rated(text));
        expect(difficulty >= 0 && difficulty <= 1).toBe(true);
        expect(difficultyOf(rated(text))).toBe(difficulty);
      }),
      { numRuns: 1000, seed: 5 },
    );
  });
  it.each(['(', '{', '\\', '`', 'a', '=> ', '∑', 'function ', '\n', ' '])(
    'of a megabyte of %j takes no time',
    (unit) => {
      const text = unit.repeat(1_000_000 / unit.length);
      const start = cpuMs();
      rated(text);
      expect(cpuMs() - start).toBeLessThan(100);
    },
  );
  it('of very many messages takes no time', () => {
    const messages = Array.from({ length: 50_000 }, () => ({ role: 'user' as const, content: 'x;\n' }));
    const start = cpuMs();
    featuresOf({ messages }, needsOf({ messages }));
    expect(cpuMs() - start).toBeLessThan(200);
  });
});

describe('the choice of service/auto', () => {
  const priceAt = (models: ReturnType<typeof modelOf>[], content: string, cost_quality_tradeoff: number) => {
    const plan = planFor(
      { models },
      {
        model: 'service/auto',
        messages: [{ role: 'user', content }],
        plugins: [{ id: 'auto-router', cost_quality_tradeoff }],
      },
    );
    return plan.targets[0]?.endpoint.pricing?.promptPicoUsd ?? -1;
  };
  it('never costs more for more weight on cost, whatever the models and the prompt', () => {
    const sketch = fc.record({
      price: fc.integer({ min: 0, max: 100_000 }),
      quality: fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: undefined }),
    });
    const prompt = fc.array(fc.constantFrom('Hi ', 'prove ', '```', 'function ', 'привет ', 'word '.repeat(500)), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(fc.array(sketch, { minLength: 1, maxLength: 10 }), prompt, (all, words) => {
        const models = all.map(({ price, quality }, at) =>
          modelOf(`m/${at}`, { a: { price } }, quality === undefined ? {} : { quality }),
        );
        const prices = Array.from({ length: 11 }, (_, tradeoff) => priceAt(models, words.join(''), tradeoff));
        expect(prices).toEqual(prices.toSorted((a, b) => b - a));
      }),
      { numRuns: 3000, seed: 23 },
    );
  });
  it('costs more for a hard request than for an easy one', () => {
    const models = [0.1, 1, 10, 100].map((price) => modelOf(`m/${price}`, { a: { price } }));
    const hard = 'Prove the theorem: the integral of a polynomial, its derivative, a lemma. function class return';
    expect(priceAt(models, hard, 7)).toBeGreaterThan(priceAt(models, 'Hi', 7));
  });
});
