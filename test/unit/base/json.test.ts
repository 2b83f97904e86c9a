import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkParsed, JsonError, parseJson } from '../../../src/base/json.ts';

/** Levels of nesting, counted the slow way. */
function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

/** Values, counted the slow way: an empty list or object counts as two. */
function valuesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  const items = Object.values(value);
  const names = Array.isArray(value) ? 0 : items.length;
  return items.length === 0 ? 2 : items.reduce<number>((sum, item) => sum + valuesIn(item), 1 + names);
}

describe('parsing JSON with a bound on nesting', () => {
  it('takes what is as deep as the bound and refuses what is deeper, whatever strings hold', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom('', ' ', '\n'), (value, space) => {
        const text = JSON.stringify(value, null, space);
        const depth = depthOf(value);
        expect(parseJson(text, depth)).toEqual(JSON.parse(text));
        if (depth > 0) expect(() => parseJson(text, depth - 1)).toThrow(JsonError);
        checkParsed(value, depth);
        if (depth > 0) expect(() => checkParsed(value, depth - 1)).toThrow(JsonError);
      }),
    );
  });
  it.each(['{"a":"]]]]}}}}"}', '{"a":"[[[[{{{{"}', '{"\\"[[[[":1}', '["\\\\",[1]]', '"[[[["'])(
    'is not misled by %s',
    (text) => {
      expect(parseJson(text, 2)).toEqual(JSON.parse(text));
    },
  );
  it.each(['', '{', '{"a":1,}', "{'a':1}", 'undefined', 'NaN', '[1]]', '\u0000'])(
    'refuses %j without quoting it',
    (text) => {
      expect(() => parseJson(text, 10)).toThrow(new JsonError('not valid JSON'));
    },
  );
  it('survives nesting that would overflow the stack', () => {
    const text = '['.repeat(1_000_000) + ']'.repeat(1_000_000);
    expect(() => parseJson(text, 100)).toThrow(JsonError);
  });
  it.each(['"', '{"aaaaaa', '["aaaaaa\\', '"\\"', `${'x'.repeat(300)}"`])(
    'comes to an end with a string that does not: %j',
    (text) => {
      expect(() => parseJson(text, 5)).toThrow(new JsonError('not valid JSON'));
    },
  );
  it('refuses brackets by their number before it looks whether they are closed', () => {
    expect(() => parseJson('['.repeat(1_000_000), 100)).toThrow(new JsonError('nested deeper than 100 levels'));
  });
  it('refuses what refers to itself', () => {
    const circle: Record<string, unknown> = {};
    circle.self = circle;
    expect(() => checkParsed(circle, 100)).toThrow(new JsonError('nested deeper than 100 levels'));
  });
});

describe('parsing JSON with a bound on its values', () => {
  it('takes as many as the bound and refuses more, whatever strings hold', () => {
    const texts = fc.string({ unit: fc.constantFrom(',', '[', '{', '"', '\\', 'a'), maxLength: 8 });
    // No key ends in a quote: JSON.parse of V8 14.6 takes such a key for one that ends in a backslash, seen before.
    const names = texts.map((text) => `${text}a`);
    const json = fc.letrec((tie) => ({
      any: fc.oneof({ maxDepth: 4 }, texts, fc.integer(), tie('list'), tie('object')),
      list: fc.array(tie('any'), { maxLength: 6 }),
      object: fc.dictionary(names, tie('any'), { maxKeys: 6 }),
    })).any;
    fc.assert(
      fc.property(json, fc.constantFrom('', ' ', '\n'), (value, space) => {
        const text = JSON.stringify(value, null, space);
        const values = valuesIn(value);
        expect(parseJson(text, 100, values)).toEqual(JSON.parse(text));
        checkParsed(value, 100, values);
        if (values === 1) return;
        const tooMany = new JsonError(`made of more than ${values - 1} values`, true);
        expect(() => checkParsed(value, 100, values - 1)).toThrow(tooMany);
        // A text of few characters is not counted: where it is too much, then by its empty lists alone.
        if (text.length > 2 * values) expect(() => parseJson(text, 100, values - 1)).toThrow(tooMany);
      }),
      { numRuns: 500 },
    );
  });
  it('counts before it parses: of too many values nothing is parsed', () => {
    const text = `[${'0,'.repeat(1_000_000)}`;
    expect(() => parseJson(text, 100, 1000)).toThrow(new JsonError('made of more than 1000 values', true));
  });
});
