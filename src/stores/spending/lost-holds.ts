import type { Clock } from '../../base/clock.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import { expireBatch, type Ledger, type LostHold } from '../ledger/ledger.ts';
import { type StoreLogger, writeLog } from '../storage/logger.ts';
import { nameOfError } from '../storage/outage.ts';
import { type HoldOwner, ownerOfHold, unlimitedWindows } from './hold-owner.ts';
import type { LostCall, LostCallRecorder } from './lost-call.ts';

/**
 * Does the work that the expiry of a hold leaves. The ledger has charged the hold in the windows in which it was made.
 * The amount also belongs into the windows without a limit, and into a record. Any process may do all of that twice,
 * and it counts once.
 */
export interface LostHolds {
  /**
   * Notes that a hold was made in this workspace: from time to time, the holds that others have lost there are looked
   * up.
   */
  used(workspaceId: WorkspaceId): void;
  /** Books and records the holds that were lost since the last look. Never rejects. */
  look(workspaceId: WorkspaceId): Promise<void>;
  /**
   * Takes back what was booked beside the ledger's charge, when a lost hold was settled after all. @throws the ledger's
   * error
   */
  settledLate(workspaceId: WorkspaceId, id: string, heldNanoUsd: number): Promise<void>;
  /**
   * Takes back what was or will be booked beside the ledger's charge. To be called before a part of a lost hold is
   * drawn after all: if this process dies between the two, nothing is booked that is not charged.
   * @throws the ledger's error
   */
  takeBack(workspaceId: WorkspaceId, id: string, chargedNanoUsd: number): Promise<void>;
  /** Books the charge that is left after a part of a lost hold was drawn. @throws the ledger's error */
  drawnLate(workspaceId: WorkspaceId, id: string, chargedNanoUsd: number): Promise<void>;
  record(recorder: LostCallRecorder): void;
  forget(workspaceId: WorkspaceId): void;
  stop(): void;
}

export interface LostHoldsDeps {
  ledger: Ledger;
  clock: Clock;
  logger: StoreLogger | null;
  leaseMs: number;
  /** true: the ledger charges lost holds. */
  isCharged: boolean;
  /**
   * Sends the notes of processes that have died. It goes first: a note knows the cost of a call, a hold only the most.
   */
  recover: (workspaceId: WorkspaceId) => Promise<void>;
}

/** The time that a look goes back behind the last one, in case the clock of the store was set back. */
const slackMs = 60_000;

/**
 * The number of workspaces that are looked at at the same time. A process may have used a hundred thousand, and requests
 * wait for the same store.
 */
const width = 16;

interface Seen {
  /** The instant up to which everything was seen, by the clock of the store. */
  sinceMs: number;
  ids: Map<string, number>;
}

export function createLostHolds({ ledger, clock, logger, leaseMs, isCharged, recover }: LostHoldsDeps): LostHolds {
  const seen = new Map<WorkspaceId, Seen>();
  const toLook = new Set<WorkspaceId>();
  const looking = new Map<WorkspaceId, Promise<void>>();
  let recorder: LostCallRecorder | null = null;
  let cancel: (() => void) | null = null;
  let isStopped = false;

  const list = async (workspaceId: WorkspaceId, sinceMs: number) => (await ledger.lost?.(workspaceId, sinceMs)) ?? [];

  async function lookAt(workspaceId: WorkspaceId): Promise<void> {
    await recover(workspaceId);
    if (!ledger.lost) return;
    for (;;) {
      const { sinceMs, ids } = seen.get(workspaceId) ?? { sinceMs: 0, ids: new Map<string, number>() };
      const fresh = (await list(workspaceId, Math.max(0, sinceMs - slackMs))).filter(({ id }) => !ids.has(id));
      if (fresh.length === 0) return;
      for (const hold of fresh) await book(workspaceId, hold);
      const calls = byCall(fresh);
      await recordCalls(workspaceId, calls.keys(), false);
      for (const { id, expiredAtMs } of fresh) ids.set(id, expiredAtMs);
      const latestMs = fresh.reduce((latest, { expiredAtMs }) => Math.max(latest, expiredAtMs), sinceMs);
      for (const [id, atMs] of ids) if (atMs < latestMs - slackMs) ids.delete(id);
      seen.set(workspaceId, { sinceMs: latestMs, ids });
      writeLog(logger, 'warn', { workspaceId, holds: fresh.length, calls: calls.size }, 'holds of a process were lost');
      // One step of the ledger ends at most `expireBatch` holds.
      if (fresh.length < expireBatch) return;
    }
  }

  /**
   * Books the charge for a lost hold. The id of the addition follows from the hold and the charge: another process that
   * has seen the same charge adds nothing. A charge that late reports have made smaller is another one, whoever sees it
   * first.
   */
  async function book(workspaceId: WorkspaceId, { id, chargedNanoUsd }: Pick<LostHold, 'id' | 'chargedNanoUsd'>) {
    const owner = ownerOfHold(id);
    if (owner === null || chargedNanoUsd === 0) return;
    await add(workspaceId, `lost:${id}:${chargedNanoUsd}`, owner, chargedNanoUsd);
  }

  /** Takes back a charge, whether or not another process has booked it yet. */
  async function takeBack(workspaceId: WorkspaceId, id: string, nanoUsd: number): Promise<void> {
    const owner = ownerOfHold(id);
    if (owner === null || !ledger.lost || nanoUsd === 0) return;
    // Another process may still be booking it. After this step, that booking adds nothing.
    await book(workspaceId, { id, chargedNanoUsd: nanoUsd });
    await add(workspaceId, `late:${id}:${nanoUsd}`, owner, -nanoUsd);
  }

  async function add(workspaceId: WorkspaceId, id: string, owner: HoldOwner, nanoUsd: number): Promise<void> {
    const additions = unlimitedWindows(owner).map((window) => ({ window, nanoUsd }));
    if (additions.length > 0) await ledger.add(workspaceId, id, additions);
  }

  /**
   * Writes the records of lost calls. Then looks again, because a late settlement of another process may have come
   * between.
   */
  async function recordCalls(workspaceId: WorkspaceId, callIds: Iterable<string>, isLate: boolean): Promise<void> {
    if (recorder === null) return;
    let left = [...new Set(callIds)];
    let charged = byCall(await list(workspaceId, 0));
    for (let isExact = isLate; left.length > 0; isExact = true) {
      for (const id of left) await recorder(workspaceId, charged.get(id) ?? settledCall(id), isExact);
      const now = byCall(await list(workspaceId, 0));
      left = left.filter((id) => charged.get(id)?.nanoUsd !== now.get(id)?.nanoUsd);
      charged = now;
    }
  }

  function look(workspaceId: WorkspaceId): Promise<void> {
    const running = looking.get(workspaceId);
    if (running) return running;
    const run = lookAt(workspaceId)
      .catch((error: unknown) =>
        writeLog(logger, 'warn', { workspaceId, error: nameOfError(error) }, 'lost holds could not be recorded yet'),
      )
      .finally(() => looking.delete(workspaceId));
    looking.set(workspaceId, run);
    return run;
  }

  function schedule(): void {
    if (isStopped || cancel !== null) return;
    const run = () => {
      cancel = null;
      const line = [...toLook].values();
      toLook.clear();
      const lookAtRest = async () => {
        for (const workspaceId of line) if (!isStopped) await look(workspaceId);
      };
      for (let n = 0; n < width; n++) void lookAtRest();
    };
    cancel = clock.after(leaseMs, run, { isIdle: true });
  }

  return {
    used(workspaceId) {
      // Without records, the look at the next read is soon enough.
      if (!ledger.lost || recorder === null || toLook.has(workspaceId)) return;
      toLook.add(workspaceId);
      schedule();
    },
    look,
    async settledLate(workspaceId, id, heldNanoUsd) {
      const owner = ownerOfHold(id);
      if (owner === null || !ledger.lost) return;
      if (isCharged) await takeBack(workspaceId, id, heldNanoUsd);
      await recordCalls(workspaceId, [owner.callId], true);
    },
    takeBack,
    async drawnLate(workspaceId, id, chargedNanoUsd) {
      const owner = ownerOfHold(id);
      if (owner === null || !ledger.lost) return;
      await book(workspaceId, { id, chargedNanoUsd });
      await recordCalls(workspaceId, [owner.callId], true);
    },
    record(to) {
      recorder = to;
    },
    forget(workspaceId) {
      seen.delete(workspaceId);
      toLook.delete(workspaceId);
    },
    stop() {
      isStopped = true;
      cancel?.();
      cancel = null;
    },
  };
}

/** The calls of lost holds, each with its charge. */
function byCall(lost: readonly LostHold[]): Map<string, LostCall> {
  const calls = new Map<string, LostCall & { workspaceNanoUsd: number; keyNanoUsd: number }>();
  for (const { id, chargedNanoUsd } of lost) {
    const owner = ownerOfHold(id);
    if (owner === null) continue;
    let call = calls.get(owner.callId);
    if (call === undefined) {
      call = { ...settledCall(owner.callId), receivedAtMs: owner.atMs, workspaceNanoUsd: 0, keyNanoUsd: 0 };
      calls.set(owner.callId, call);
    }
    call.holds++;
    call.apiKeyHash ??= owner.apiKeyHash;
    // Two reservations of one call hold the same money, each for its own limits.
    call[owner.isFurther ? 'keyNanoUsd' : 'workspaceNanoUsd'] += chargedNanoUsd;
    call.nanoUsd = Math.max(call.workspaceNanoUsd, call.keyNanoUsd);
  }
  return calls;
}

function settledCall(id: string): LostCall {
  return { id, apiKeyHash: null, receivedAtMs: 0, holds: 0, nanoUsd: 0 };
}
