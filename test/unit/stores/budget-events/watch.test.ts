import { describe, expect, it } from 'vitest';
import type { WorkspaceId } from '../../../../src/call/workspace.ts';
import type { BudgetEvent } from '../../../../src/schema/settings/budget-events.ts';
import { createBudgetWatch } from '../../../../src/stores/budget-events/watch.ts';
import type { LimitedWindow } from '../../../../src/stores/ledger/ledger.ts';
import { manualClock } from '../../../support/manual-clock.ts';

const workspace = 'w' as WorkspaceId;
const window: LimitedWindow = {
  account: 'workspace',
  interval: 'daily',
  startMs: 0,
  endMs: 86_400_000,
  limitNanoUsd: 1_000,
};

function watched(thresholds = [50, 100]) {
  const clock = manualClock();
  const events: BudgetEvent[] = [];
  const logged: string[] = [];
  const store = { spentNanoUsd: 0, isDown: false, reads: 0, reached: 0 };
  const down = () => {
    if (store.isDown) throw new Error('The store is down');
  };
  let id = 0;
  const watch = createBudgetWatch({
    clock,
    thresholds,
    ids: { uuid: () => `event-${++id}` },
    logger: { warn: (_: object, text: string) => logged.push(text) } as never,
    emit: (event) => events.push(event),
    ledger: {
      async read(_, windows) {
        store.reads++;
        down();
        return windows.map(() => ({ spentNanoUsd: store.spentNanoUsd, heldNanoUsd: 0 }));
      },
    },
    marks: {
      async reach(_workspace, _window, percent) {
        down();
        const before = store.reached;
        store.reached = Math.max(before, percent);
        return before;
      },
      async refuse() {
        down();
        return true;
      },
      forget: async () => undefined,
    },
  });
  return { clock, events, logged, store, watch };
}

const refusal = {
  workspaceId: workspace,
  apiKeyHash: null,
  atMs: 5,
  metadata: { scope: 'workspace', interval: 'daily', limit_usd: 0.000001, spent_usd: 0, held_usd: 0 },
};

describe('the watch of budgets', () => {
  it('looks once for many bookings, and not at all without one', async () => {
    const { clock, store, watch } = watched();
    await clock.advance(100_000);
    expect(store.reads).toBe(0);
    for (let n = 0; n < 100; n++) watch.booked(workspace, [window]);
    await clock.advance(500);
    for (let n = 0; n < 100; n++) watch.booked(workspace, [window]);
    await clock.advance(100_000);
    expect(store.reads).toBe(2);
  });
  it('looks no more when all thresholds are reached', async () => {
    const { clock, events, store, watch } = watched();
    store.spentNanoUsd = 1_000;
    for (let n = 0; n < 5; n++) {
      watch.booked(workspace, [window]);
      await clock.advance(10_000);
    }
    expect([store.reads, events.map(({ threshold_percent: percent }) => percent)]).toEqual([1, [50, 100]]);
  });
  it('tries again where the store is away, and loses no threshold', async () => {
    const { clock, events, logged, store, watch } = watched();
    store.spentNanoUsd = 600;
    store.isDown = true;
    watch.booked(workspace, [window]);
    await clock.advance(1_000);
    watch.booked(workspace, [window]);
    await clock.advance(11_000);
    expect(events).toEqual([]);
    expect(logged.length).toBeGreaterThan(1);
    store.isDown = false;
    await clock.advance(5_000);
    expect(events.map(({ threshold_percent: percent }) => percent)).toEqual([50]);
  });
  it('raises a refusal later where the store was away for the first', async () => {
    const { clock, events, store, watch } = watched();
    store.isDown = true;
    watch.refused(refusal);
    await clock.advance(0);
    store.isDown = false;
    watch.refused(refusal);
    watch.refused(refusal);
    await clock.advance(0);
    expect(events.map(({ type }) => type)).toEqual(['budget.refusal']);
  });
  it('takes no error that is not that of a budget for one', async () => {
    const { clock, events, watch } = watched();
    watch.refused({ ...refusal, metadata: {} });
    await clock.advance(0);
    expect(events).toEqual([]);
  });
  it('looks for the last time when it is closed, also where the store is away', async () => {
    const { clock, events, store, watch } = watched();
    store.spentNanoUsd = 500;
    watch.booked(workspace, [window]);
    await watch.close();
    expect(events).toHaveLength(1);
    const other = watched();
    other.store.isDown = true;
    other.watch.booked(workspace, [window]);
    await other.watch.close();
    expect([other.events, other.clock.pending, clock.pending]).toEqual([[], 0, 0]);
  });
});
