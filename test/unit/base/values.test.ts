import { describe, expect, it } from 'vitest';
import { without } from '../../../src/base/values.ts';

describe('a copy without some fields', () => {
  it.each<[string, readonly string[], string]>([
    ['is whole where none of them is there', ['c'], '{"a":1,"__proto__":{"x":1},"b":2}'],
    ['leaves them out', ['b'], '{"a":1,"__proto__":{"x":1}}'],
    ['may leave out what is named like the prototype', ['__proto__'], '{"a":1,"b":2}'],
  ])('%s', (_, names, expected) => {
    const copy = without(names, JSON.parse('{"a":1,"__proto__":{"x":1},"b":2}'));
    expect(JSON.stringify(copy)).toBe(expected);
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
  });
});
