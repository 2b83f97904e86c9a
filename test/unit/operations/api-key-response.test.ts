import { describe, expect, it } from 'vitest';
import { defaultWorkspaceId } from '../../../src/call/workspace.ts';
import { type ReadsSpending, showApiKey, showApiKeys } from '../../../src/operations/api-keys/response.ts';
import type { ApiKeyRecord } from '../../../src/stores/api-keys/index.ts';
import { apiKeyInput } from '../../support/tenants.ts';

const windows = (daily: number, weekly: number, monthly: number, lifetime: number) => ({
  daily: { spentNanoUsd: daily },
  weekly: { spentNanoUsd: weekly },
  monthly: { spentNanoUsd: monthly },
  lifetime: { spentNanoUsd: lifetime },
});

function record(rest: Partial<ApiKeyRecord> = {}): ApiKeyRecord {
  return {
    ...apiKeyInput(),
    permissions: ['inference'],
    hash: 'a'.repeat(64),
    label: 'sk-gw...abcd',
    workspaceId: defaultWorkspaceId,
    disabled: false,
    createdAtMs: 0,
    updatedAtMs: null,
    ...rest,
  };
}

/** What went through own credentials is a hundredfold. */
const spending: ReadsSpending = {
  read: async (_, account) => (account.endsWith(':byok') ? windows(100, 200, 300, 400) : windows(1, 2, 3, 4)),
};

describe('a key is shown', () => {
  it('with what was spent, in USD', async () => {
    expect(await showApiKey(spending, record(), 0)).toMatchObject({
      usage: 4e-9,
      usage_daily: 1e-9,
      usage_weekly: 2e-9,
      usage_monthly: 3e-9,
      byok_usage: 4e-7,
      byok_usage_daily: 1e-7,
      byok_usage_weekly: 2e-7,
      byok_usage_monthly: 3e-7,
    });
  });
  it.each<[ApiKeyRecord['limitReset'], number | null, number | null]>([
    [null, 10, 6e-9],
    ['daily', 10, 9e-9],
    ['weekly', 10, 8e-9],
    ['monthly', 10, 7e-9],
    ['monthly', 3, 0],
    ['monthly', 2, 0],
    ['daily', null, null],
  ])('reset %s, limit %j: with %j left', async (limitReset, limitNanoUsd, remaining) => {
    const shown = await showApiKey(spending, record({ limitReset, limitNanoUsd }), 0);
    expect(shown.limit_remaining).toBe(remaining);
  });
});

describe('many keys', () => {
  it('are shown in their order, without asking the store for all at once', async () => {
    let [open, most] = [0, 0];
    const counting: ReadsSpending = {
      async read(...asked) {
        most = Math.max(most, ++open);
        await new Promise((resolve) => setImmediate(resolve));
        open -= 1;
        return spending.read(...asked);
      },
    };
    const records = Array.from({ length: 100 }, (_, at) => record({ name: `${at}` }));
    const shown = await showApiKeys(counting, records, 0);
    expect(shown.map(({ name }) => name)).toEqual(records.map(({ name }) => name));
    expect(most).toBeLessThanOrEqual(16);
    expect(most).toBeGreaterThan(2);
  });
});
