import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isDeeper, JsonError, parseJson } from '../../../src/base/json.ts';

/** Levels of nesting, counted the slow way. */
function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

describe('parsing JSON with a bound on nesting', () => {
  it('takes what is as deep as the bound and refuses what is deeper, whatever strings hold', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom('', ' ', '\n'), (value, space) => {
        const text = JSON.stringify(value, null, space);
        const depth = depthOf(value);
        expect(parseJson(text, depth)).toEqual(JSON.parse(text));
        if (depth > 0) expect(() => parseJson(text, depth - 1)).toThrow(JsonError);
        expect([isDeeper(value, depth), depth > 0 && !isDeeper(value, depth - 1)]).toEqual([false, false]);
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
    expect(isDeeper(circle, 100)).toBe(true);
  });
});
