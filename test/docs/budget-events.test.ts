import { describe, expect, it } from 'vitest';
import type { Gateway } from '../../src/gateway.ts';
import type { BudgetEvent } from '../../src/schema/settings/budget-events.ts';
import { examplesOf, writeExample } from './example-files.ts';
import { quoted, readDoc, tableRows } from './markdown.ts';

const path = 'docs/budget-events.md';

describe(path, () => {
  it('shows gateways that can be made', async () => {
    process.env.BUDGET_WEBHOOK_SECRET = `whsec_${Buffer.alloc(32).toString('base64')}`;
    const examples = examplesOf(path);
    expect(examples).toHaveLength(2);
    for (const [at, code] of examples.entries()) {
      const { gateway } = (await import(/* @vite-ignore */ writeExample(`budget-events-${at}`, code))) as {
        gateway: Gateway;
      };
      expect(typeof gateway.fetch).toBe('function');
      await gateway.close();
    }
    delete process.env.BUDGET_WEBHOOK_SECRET;
  });
  it('has a row for every field of an event', () => {
    const event: Record<keyof BudgetEvent, true> = {
      id: true,
      type: true,
      created_at: true,
      workspace_id: true,
      scope: true,
      api_key_hash: true,
      guardrail_id: true,
      interval: true,
      threshold_percent: true,
      limit_usd: true,
      spent_usd: true,
      held_usd: true,
      resets_at: true,
    };
    const rows = tableRows(readDoc(path)).filter(({ columns }) => columns[0] === 'Field');
    expect(rows.flatMap(({ cells: [name = ''] }) => quoted(name)).sort()).toEqual(Object.keys(event).sort());
  });
});
