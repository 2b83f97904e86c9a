import { describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { checkByFields, madeFields } from '../../../src/schema/late-fields.ts';

const plain = { jitless: true } as const;

function setUp() {
  const fields = {
    first: vi.fn(() => z.string().optional()),
    needed: vi.fn(() => z.number()),
    last: vi.fn(() => z.boolean().optional()),
  };
  const whole = vi.fn(() => z.looseObject(madeFields(fields)));
  const check = checkByFields<object>(fields, ['needed'], whole);
  return { fields, whole, check };
}

describe('checkByFields', () => {
  it('makes the schemas of the fields that objects have, and of those that must be there', () => {
    const { fields, whole, check } = setUp();
    expect(check.safeParse({ needed: 1, unknown: 2 }, plain)).toMatchObject({
      success: true,
      data: { needed: 1, unknown: 2 },
    });
    expect(fields.first).not.toHaveBeenCalled();
    expect(check.safeParse({ last: true, needed: 1 }, plain).success).toBe(true);
    expect(fields.first).not.toHaveBeenCalled();
    expect(fields.last).toHaveBeenCalled();
    expect(whole).not.toHaveBeenCalled();
  });

  it('keeps the order of the whole schema, whatever came first', () => {
    const { check } = setUp();
    check.safeParse({ last: true, needed: 1 }, plain);
    const { data } = check.safeParse({ last: true, needed: 1, first: 'a' }, plain);
    expect(JSON.stringify(data)).toBe('{"first":"a","needed":1,"last":true}');
  });

  it.each([
    ['a missing field', {}],
    ['a wrong field', { needed: 1, first: 2 }],
    ['a text', 'needed'],
    ['null', null],
    ['a list', [1]],
  ])('says of %s what the whole schema says', (_, value) => {
    const { whole, check } = setUp();
    expect(check.safeParse(value, plain).error?.issues).toEqual(whole().safeParse(value, plain).error?.issues);
  });

  it('takes no field from the prototype for one of its own', () => {
    const { check } = setUp();
    const value = JSON.parse('{"needed":1,"constructor":2,"toString":3}');
    expect(check.safeParse(value, plain)).toMatchObject({ success: true, data: { constructor: 2, toString: 3 } });
  });
});
