import type { Clock } from '../../base/clock.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { type StoreLogger, writeLog } from '../storage/logger.ts';
import { nameOfError } from '../storage/outage.ts';
import { type Instant, instantOf } from './slice.ts';

/** Renews the leases of open holds for as long as this process lives. */
export interface Heartbeat {
  add(workspaceId: WorkspaceId, id: string): void;
  remove(workspaceId: WorkspaceId, id: string): void;
  forget(workspaceId: WorkspaceId): void;
  /** The number of open holds of all workspaces. */
  count(): number;
  /** Resolves when no hold is open any more; null: none is open now. */
  whenIdle(): Promise<void> | null;
  stop(): void;
}

/** The number of ids in one step of the ledger. */
const batch = 500;

/**
 * Renews every third of a lease, so two renewals may fail before a hold is lost. Without holds there is no timer.
 * @param onRenewed  called with the ids of renewed holds, and a moment before the ledger was asked
 */
export function createHeartbeat(
  ledger: Pick<Ledger, 'renew'>,
  clock: Clock,
  leaseMs: number,
  logger: StoreLogger | null,
  onRenewed: (ids: readonly string[], from: Instant) => void = () => undefined,
): Heartbeat {
  const open = new Map<WorkspaceId, Set<string>>();
  let cancel: (() => void) | null = null;
  let onIdle: (() => void) | null = null;

  function start(): void {
    cancel = clock.after(leaseMs / 3, () => {
      cancel = null;
      beat();
      if (open.size > 0) start();
    });
  }

  function stop(): void {
    cancel?.();
    cancel = null;
    onIdle?.();
  }

  function beat(): void {
    for (const [workspaceId, ids] of open) {
      const all = [...ids];
      for (let at = 0; at < all.length; at += batch) renew(workspaceId, all.slice(at, at + batch));
    }
  }

  async function renew(workspaceId: WorkspaceId, ids: readonly string[]): Promise<void> {
    const from = instantOf(clock);
    try {
      await ledger.renew(workspaceId, ids, leaseMs);
      onRenewed(ids, from);
    } catch (error) {
      writeLog(
        logger,
        'warn',
        { workspaceId, holds: ids.length, error: nameOfError(error) },
        'holds could not be renewed',
      );
    }
  }

  return {
    add(workspaceId, id) {
      const ids = open.get(workspaceId);
      if (ids) ids.add(id);
      else open.set(workspaceId, new Set([id]));
      if (cancel === null) start();
    },
    remove(workspaceId, id) {
      const ids = open.get(workspaceId);
      if (!ids?.delete(id) || ids.size > 0) return;
      open.delete(workspaceId);
      if (open.size === 0) stop();
    },
    forget(workspaceId) {
      open.delete(workspaceId);
      if (open.size === 0) stop();
    },
    count() {
      let holds = 0;
      for (const ids of open.values()) holds += ids.size;
      return holds;
    },
    whenIdle() {
      if (open.size === 0) return null;
      return new Promise((resolve) => {
        onIdle = resolve;
      });
    },
    stop() {
      open.clear();
      stop();
    },
  };
}
