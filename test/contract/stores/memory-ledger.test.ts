import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { keepEndedMs, keepWindowsMs } from '../../../src/stores/ledger/ledger.ts';
import { maxSeen, memoryLedger } from '../../../src/stores/ledger/memory.ts';
import { storeClock } from '../../support/timed-ledger.ts';
import { limited, newWorkspace, noonMs, testLedger } from './ledger.ts';

testLedger('memory ledger', async ({ onLostHold = 'charge', now } = {}) => ({
  ledger: memoryLedger({ onLostHold, now }),
  close: async () => {},
}));

describe('memory ledger drops what is old:', () => {
  const { now, timed } = storeClock(noonMs);
  const ledger = timed(memoryLedger({ onLostHold: 'charge', now }));
  const hour = 3_600_000;

  it('windows 40 days after their end, but not while something is held in them', async () => {
    const workspaceId = newWorkspace();
    const [day, key, life] = [
      limited('daily', 100),
      limited('daily', 100, { account: 'key:abc' }),
      limited('lifetime', 100),
    ];
    const hold = (windows: (typeof day)[], nowMs: number) =>
      ledger.hold({
        id: randomUUID(),
        workspaceId,
        amountNanoUsd: 10,
        windows,
        nowMs,
        leaseUntilMs: Number.MAX_SAFE_INTEGER,
      });
    await ledger.add(
      workspaceId,
      randomUUID(),
      [
        { window: day, nanoUsd: 5 },
        { window: life, nanoUsd: 7 },
      ],
      noonMs,
    );
    await hold([key], noonMs);
    const laterMs = day.endMs! + keepWindowsMs + hour;
    await hold([limited('daily', 100, { atMs: laterMs })], laterMs);
    expect(await ledger.read(workspaceId, [day, key, life], laterMs)).toEqual([
      { spentNanoUsd: 0, heldNanoUsd: 0 },
      { spentNanoUsd: 0, heldNanoUsd: 10 },
      { spentNanoUsd: 7, heldNanoUsd: 0 },
    ]);
  });
  it('holds that have expired after a day', async () => {
    const workspaceId = newWorkspace();
    const id = randomUUID();
    const windows = [limited('daily', 100)];
    await ledger.hold({ id, workspaceId, amountNanoUsd: 10, windows, nowMs: noonMs, leaseUntilMs: noonMs + 1 });
    await ledger.expire(workspaceId, noonMs + 1);
    await ledger.expire(workspaceId, noonMs + 1 + keepEndedMs);
    expect(await ledger.settle(workspaceId, id, 3, noonMs + 1 + keepEndedMs)).toBe('unknown');
    expect(await ledger.read(workspaceId, windows, noonMs)).toEqual([{ spentNanoUsd: 10, heldNanoUsd: 0 }]);
  });
  it('ids that were released or added after a day, or when there are too many', async () => {
    const workspaceId = newWorkspace();
    const windows = [limited('lifetime', 100)];
    const isHeld = async (id: string, nowMs: number) =>
      (await ledger.hold({ id, workspaceId, amountNanoUsd: 0, windows, nowMs, leaseUntilMs: nowMs + 1 })).isHeld;
    const [first, second] = [randomUUID(), randomUUID()];
    await ledger.release(workspaceId, first, noonMs);
    await ledger.release(workspaceId, second, noonMs + keepEndedMs - 1);
    expect(await isHeld(second, noonMs + keepEndedMs - 1)).toBe(false);
    await ledger.release(workspaceId, randomUUID(), noonMs + keepEndedMs);
    expect(await isHeld(second, noonMs + keepEndedMs)).toBe(false);
    expect(await isHeld(first, noonMs + keepEndedMs)).toBe(true);
    for (let count = 0; count < maxSeen; count++) {
      await ledger.add(workspaceId, randomUUID(), [], noonMs + keepEndedMs);
    }
    expect(await isHeld(second, noonMs + keepEndedMs)).toBe(true);
  });
});
