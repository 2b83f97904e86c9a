import { describe, expect, it } from 'vitest';
import { limitToNano } from '../../../../src/base/money.ts';
import { putBudgetSchema } from '../../../../src/schema/tenants/budget.ts';
import { issuesOf, testFields } from '../fields.ts';

describe('a budget:', () => {
  testFields(
    putBudgetSchema(),
    {},
    {
      limit_usd: {
        accepts: [1e-9, 0.01, 1, 100.5, 8_388_607.999999999, 9_000_000],
        rejects: [
          [0, 'expected more than 0'],
          [-0.01, 'expected more than 0'],
          [9e-10, 'expected at least 1e-9'],
          [9_000_000.000000002, 'expected at most 9000000'],
          [1e300, 'expected at most 9000000'],
          [Number.POSITIVE_INFINITY, 'expected number'],
          [Number.NaN, 'expected number'],
          ['1', 'expected number'],
          [null, 'expected number'],
          [true, 'expected number'],
        ],
      },
    },
  );
  it('needs its limit, and knows no other field', () => {
    expect(issuesOf(putBudgetSchema(), { limit: 5 })).toEqual([
      { path: 'limit_usd', message: 'expected number' },
      { path: 'limit', message: 'unknown key "limit"' },
    ]);
  });
  it('that is accepted has an exact limit in nano-USD', () => {
    for (const usd of [1e-9, 0.1 + 0.2, 9_000_000]) {
      expect(issuesOf(putBudgetSchema(), { limit_usd: usd })).toEqual([]);
      expect(Number.isSafeInteger(limitToNano(usd))).toBe(true);
    }
  });
});
