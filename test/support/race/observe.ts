import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkspaceId } from '../../../src/call/workspace.ts';
import type { Ledger, LimitedWindow, WindowState } from '../../../src/stores/ledger/ledger.ts';

export interface Observed {
  reads: number;
  /** The most that was held at once in one window. */
  highestHeldNanoUsd: number;
  /** What should not be possible. */
  wrong: string[];
}

/**
 * Reads the books all the time, as somebody else on the same store, until it is stopped: at no time more is spent and
 * held than a limit.
 * @param options  `mayExpire`: what is charged for a hold that has expired may become less when the hold is settled
 *   later
 */
export function observe(
  ledger: Ledger,
  workspaceId: WorkspaceId,
  windows: readonly LimitedWindow[],
  { mayExpire = false }: { mayExpire?: boolean } = {},
): { stop(): Promise<Observed> } {
  const observed: Observed = { reads: 0, highestHeldNanoUsd: 0, wrong: [] };
  let isOver = false;

  async function look(): Promise<void> {
    let before: WindowState[] = [];
    while (!isOver) {
      const states = await ledger.read(workspaceId, windows);
      observed.reads++;
      for (const [at, { spentNanoUsd, heldNanoUsd }] of states.entries()) {
        const { account, interval, limitNanoUsd } = windows[at] as LimitedWindow;
        const note = (what: string) => observed.wrong.push(`${account} ${interval}: ${what}`);
        if (spentNanoUsd + heldNanoUsd > limitNanoUsd) note(`${spentNanoUsd} + ${heldNanoUsd} > ${limitNanoUsd}`);
        if (spentNanoUsd < 0 || heldNanoUsd < 0) note(`${spentNanoUsd} spent, ${heldNanoUsd} held`);
        const spentBefore = before[at]?.spentNanoUsd ?? 0;
        if (spentNanoUsd < spentBefore && !mayExpire) note(`${spentNanoUsd} spent after ${spentBefore}`);
        observed.highestHeldNanoUsd = Math.max(observed.highestHeldNanoUsd, heldNanoUsd);
      }
      before = states;
      await sleep(2);
    }
  }

  const looking = look();
  // Whoever stops it gets the failure.
  looking.catch(() => undefined);
  return {
    async stop() {
      isOver = true;
      await looking;
      return observed;
    },
  };
}
