import type { Keyv } from 'keyv';
import type { Clock } from '../../base/clock.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import { type KeyvEntries, keyvEntries } from '../storage/keyv-entries.ts';
import { type StoreLogger, writeLog } from '../storage/logger.ts';
import { type Journal, openJournal } from './keyv-journal.ts';
import type { Ledger, LedgerOptions } from './ledger.ts';
import { openBooks } from './memory.ts';

export interface KeyvLedgerOptions extends Pick<LedgerOptions, 'onLostHold'> {
  /** The clock of leases as well: a Keyv has no clock of its own. */
  clock: Clock;
  logger?: StoreLogger | null;
}

/**
 * A ledger over any Keyv, for one process. Its books are in memory, where a step is atomic. A step resolves only when
 * its changes are in the Keyv, so a confirmed step survives the end of the process. The books of a workspace are read
 * at the first use. Another process on the same store has books of its own, and each overwrites those of the other.
 *
 * The memory of ended holds and additions, for repeated calls, is not written: only the process that made a call
 * repeats it. For the same reason a renewal writes nothing: after a restart, nobody renews the old holds.
 * @param kv  called at the first use
 */
export function keyvLedger(kv: () => Keyv | Promise<Keyv>, { onLostHold, clock, logger }: KeyvLedgerOptions): Ledger {
  const { ledger: inMemory, booksOf } = openBooks({ onLostHold, now: () => clock.now() });
  const journals = new Map<WorkspaceId, Promise<Journal>>();
  let entries: KeyvEntries | undefined;
  let hasWarned = false;

  function warnOnce(): void {
    if (hasWarned) return;
    hasWarned = true;
    writeLog(
      logger,
      'warn',
      {},
      'another process writes the budgets in this store: sums are lost when one of them restarts; use one process, or a store that processes can share',
    );
  }

  async function open(workspaceId: WorkspaceId): Promise<Journal> {
    try {
      const opened = await kv();
      // There is no time limit here: a write that was given up might arrive later. The caller's limit still ends its
      // wait.
      entries ??= keyvEntries(opened, { clock, timeoutMs: null });
      return await openJournal({
        entries,
        prefix: `gw:${workspaceId}:ledger:`,
        books: booksOf(workspaceId),
        onForeignWriter: warnOnce,
      });
    } catch (error) {
      await inMemory.forget(workspaceId);
      journals.delete(workspaceId);
      throw error;
    }
  }

  function journalOf(workspaceId: WorkspaceId): Promise<Journal> {
    const known = journals.get(workspaceId);
    if (known !== undefined) return known;
    const opening = open(workspaceId);
    journals.set(workspaceId, opening);
    return opening;
  }

  /** Takes a step in memory, and resolves when the step is written. */
  async function step<T>(workspaceId: WorkspaceId, take: () => Promise<T>): Promise<T> {
    const journal = await journalOf(workspaceId);
    const result = await take();
    await journal.written();
    return result;
  }

  return {
    hold: (request) => step(request.workspaceId, () => inMemory.hold(request)),
    settle: (workspaceId, ...ending) => step(workspaceId, () => inMemory.settle(workspaceId, ...ending)),
    release: (workspaceId, id) => step(workspaceId, () => inMemory.release(workspaceId, id)),
    draw: (workspaceId, drawn) =>
      step(workspaceId, async () => (await inMemory.draw?.(workspaceId, drawn)) ?? 'unknown'),
    renew: (workspaceId, ...leases) => step(workspaceId, () => inMemory.renew(workspaceId, ...leases)),
    expire: (workspaceId) => step(workspaceId, () => inMemory.expire(workspaceId)),
    lost: (workspaceId, sinceMs) => step(workspaceId, async () => (await inMemory.lost?.(workspaceId, sinceMs)) ?? []),
    add: (workspaceId, ...amounts) => step(workspaceId, () => inMemory.add(workspaceId, ...amounts)),
    read: (workspaceId, windows) => step(workspaceId, () => inMemory.read(workspaceId, windows)),
    async forget(workspaceId) {
      const journal = await journalOf(workspaceId);
      await inMemory.forget(workspaceId);
      journals.delete(workspaceId);
      await journal.remove();
    },
  };
}
