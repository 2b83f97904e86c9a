import { randomUUID } from 'node:crypto';
import process from 'node:process';
import { sqliteStore } from '../adapters/sqlite/sqlite.ts';
import { systemClock } from '../src/base/clock.ts';
import { holdId, randomIds } from '../src/base/ids.ts';
import { windowOf } from '../src/base/windows.ts';
import { parseWorkspaceId, type WorkspaceId } from '../src/call/workspace.ts';
import type { LimitedWindow } from '../src/stores/ledger/ledger.ts';
import { chooseStorage } from '../src/stores/storage/choose.ts';
import { measuring, serveParent } from './control.ts';
import { openStore } from './open-store.ts';
import { placeFrom } from './stores.ts';

/** Measures the ledger alone, from the sources: the built package does not export it. */

export interface PairRate {
  /** Number of holds that were made and settled. */
  pairs: number;
  elapsedMs: number;
}

export interface PairQuestion {
  /** Pairs in flight at once. */
  atOnce: number;
  durationMs: number;
}

const opened = openStore(placeFrom(process.argv[2]), sqliteStore);
const storage = chooseStorage(opened.store, { clock: systemClock, timeoutMs: 10_000, onLostHold: 'charge' });
const { ledger } = storage;

const workspaceId = parseWorkspaceId(randomUUID()) as WorkspaceId;
// All rounds use the same windows, so that midnight changes nothing.
const windows: LimitedWindow[] = (['daily', 'monthly'] as const).map((interval) => ({
  account: 'workspace',
  interval,
  ...windowOf(interval, Date.now()),
  limitNanoUsd: 1_000_000 * 1e9,
}));
const heldNanoUsd = 25_000_000;
const spentNanoUsd = 6_015_600;
let settled = 0;

async function pair(): Promise<void> {
  const id = holdId(randomIds, Date.now());
  const request = { id, workspaceId, amountNanoUsd: heldNanoUsd, windows, leaseMs: 60_000 };
  const { isHeld } = await ledger.hold(request);
  if (!isHeld) throw new Error('the ledger refused a hold that fits into the budget');
  const outcome = await ledger.settle(workspaceId, id, spentNanoUsd);
  if (outcome !== 'ended') throw new Error(`a settlement found its hold ${outcome}`);
  settled += 1;
}

async function round({ atOnce, durationMs }: PairQuestion): Promise<PairRate> {
  const before = settled;
  const start = performance.now();
  const work = async () => {
    while (performance.now() - start < durationMs) await pair();
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return { pairs: settled - before, elapsedMs: performance.now() - start };
}

/** @throws Error when the spent amounts differ from the settlements, or when something is still held */
async function audit(): Promise<void> {
  for (const [at, state] of (await ledger.read(workspaceId, windows)).entries()) {
    if (state.spentNanoUsd === settled * spentNanoUsd && state.heldNanoUsd === 0) continue;
    const { interval } = windows[at] as LimitedWindow;
    throw new Error(
      `${settled} settlements of ${spentNanoUsd} nano-USD, but the ${interval} window holds ${JSON.stringify(state)}`,
    );
  }
}

serveParent({
  ...measuring,
  port: () => 0,
  round,
  audit,
  async close() {
    await storage.close();
    await opened.close();
  },
});
