import { describe, expect, it } from 'vitest';
import * as z4 from 'zod';
import * as z3 from 'zod/v3';
import { checkBy, type Schema } from '../../../src/schema/schema.ts';

/** As a library writes it that is neither. */
const evenNumber: Schema<number> = {
  '~standard': {
    version: 1,
    vendor: 'by-hand',
    validate: (value) =>
      typeof value === 'number' && value % 2 === 0
        ? { value }
        : { issues: [{ message: 'must be even' }, { message: 'or absent', path: [{ key: 'list' }, 2, 'a b'] }] },
  },
};

describe('a schema of the host app', () => {
  it.each<[string, Schema<{ score: number }>]>([
    ['zod 4', z4.strictObject({ score: z4.int().max(5) })],
    ['zod 3', z3.strictObject({ score: z3.number().int().max(5) })],
  ])('of %s gives the value, or the place of what is wrong', (_, schema) => {
    expect(checkBy(schema, { score: 5 })).toEqual({ value: { score: 5 }, issues: null });
    const { issues } = checkBy(schema, { score: 6 });
    expect(issues).toEqual([{ path: 'score', message: expect.stringMatching(/5/) }]);
  });
  it('of another library is shown in its own words', () => {
    expect(checkBy(evenNumber, 4)).toEqual({ value: 4, issues: null });
    expect(checkBy(evenNumber, 5).issues).toEqual([
      { path: '', message: 'must be even' },
      { path: 'list[2]["a b"]', message: 'or absent' },
    ]);
  });
  it('that checks asynchronously is an error that names its library', () => {
    const later: Schema = {
      '~standard': { version: 1, vendor: 'slow', validate: async (value) => ({ value }) },
    };
    expect(() => checkBy(later, 1)).toThrow('A schema of slow checks asynchronously');
  });
  it('may replace the value', () => {
    expect(checkBy(z3.string().transform(Number), '7')).toEqual({ value: 7, issues: null });
  });
});
