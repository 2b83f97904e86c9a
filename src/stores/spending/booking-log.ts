import type { Clock } from '../../base/clock.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import { unlessDeleted } from '../deletion.ts';
import { keepEndedMs } from '../ledger/ledger.ts';
import { type StoreLogger, writeLog } from '../storage/logger.ts';
import type { Storage } from '../storage/storage.ts';
import { type Note, noteAt, noteKind, noteRemovals, noteText, parseNote } from './booking-note.ts';
import type { HoldEnd } from './hold.ts';
import { type Holds, holdOf, type NotedHold } from './holds.ts';
import type { PendingBookings, RecordCommit } from './pending-bookings.ts';
import { type SliceReport, unconfirmedBefore } from './slice.ts';
import type { CountedSums, SendSums, UsageCounter } from './usage-counter.ts';

/**
 * Writes a note of the bookings of ended calls before they are sent to the ledger: the ends of holds, the sums without
 * a limit, and the records of the calls, in one atomic step of the store. If the process dies before all of it has
 * reached the ledger, another process sends the note again. Each step of the ledger books once, so a note may be sent
 * any number of times. At most one note of a workspace is being written. Bookings that come meanwhile are in the next
 * one.
 */
export interface BookingLog {
  /**
   * Takes the ends of the holds of a call. The sums of the call and its record have to come before the next turn of the
   * event loop.
   */
  book(workspaceId: WorkspaceId, callId: string | undefined, ends: readonly HoldEnd[]): void;
  /** Resolves when all earlier bookings and sums were sent once, with success or not. Never rejects. */
  flush(workspaceId: WorkspaceId): Promise<void>;
  /** Like `flush`; null: no booking waits. */
  inFlight(workspaceId: WorkspaceId): Promise<void> | null;
  /** Sends again the notes of processes that have died. @throws the store's error */
  recover(workspaceId: WorkspaceId): Promise<void>;
  /** Deletes the notes of a deleted workspace. @throws the store's error */
  forget(workspaceId: WorkspaceId): Promise<void>;
  /** Removes the notes that are not needed any more. Never rejects. */
  close(): Promise<void>;
  readonly pending: PendingBookings;
}

export interface BookingLogDeps {
  /** Guarded: no call takes longer than its time limit. */
  storage: Storage;
  clock: Clock;
  logger: StoreLogger | null;
  holds: Pick<Holds, 'end' | 'endNoted' | 'report' | 'escrow'>;
  usageCounter: Pick<UsageCounter, 'take'>;
  sendSums: SendSums;
  /** The name of this process, which no other process has. */
  instance: () => string;
  /** The latest time, in ms, at which a note that is not needed any more is removed. */
  flushMs: number;
}

/** The number of notes in one read. */
const pageSize = 100;
/** For each millisecond that a batch took, the workspace writes nothing for this many milliseconds. */
const pauseFactor = 4;
/** A longer pause would make batches so large that they block the process. */
const longestPauseMs = 20;
/**
 * The time for which the costs of requests that were held in slices are collected. The money is held until then, and the
 * holds of other requests do not wait for it.
 */
const reportMs = 100;

/** The bookings of a workspace. */
interface Line {
  ends: HoldEnd[];
  callIds: Set<string>;
  /** true: something waits that is no cost of a request in a slice. */
  isUrgent: boolean;
  /** The batch that is being written and sent. */
  running: Promise<void> | null;
  pauseMs: number;
  cancelPause: (() => void) | null;
  /** The ids of notes whose bookings have all reached the ledger. */
  done: string[];
  cancelRemoval: (() => void) | null;
}

/** The bookings that are sent together. */
interface Batch {
  ends?: readonly HoldEnd[];
  /** The reports of slices of this process. */
  reports?: readonly SliceReport[];
  /** The ends and the reports of another process. */
  noted?: readonly NotedHold[];
  sums: CountedSums | null;
}

function isWaiting({ ends, callIds }: Line): boolean {
  return ends.length > 0 || callIds.size > 0;
}

export function createBookingLog(deps: BookingLogDeps): BookingLog {
  const { storage, clock, logger, holds, usageCounter, instance, flushMs } = deps;
  const lines = new Map<WorkspaceId, Line>();
  const waiting = new Set<string>();
  let isRecorded = false;
  let commit: RecordCommit = (workspaceId, _, changes) => storage.commit([...changes, unlessDeleted(workspaceId)]);
  let count = 0;

  function lineOf(workspaceId: WorkspaceId): Line {
    let line = lines.get(workspaceId);
    if (!line) {
      line = {
        ends: [],
        callIds: new Set(),
        isUrgent: false,
        running: null,
        pauseMs: 0,
        cancelPause: null,
        done: [],
        cancelRemoval: null,
      };
      lines.set(workspaceId, line);
    }
    return line;
  }

  function run(workspaceId: WorkspaceId, line: Line): Promise<void> {
    line.cancelPause?.();
    line.cancelPause = null;
    const startedMs = clock.monotonic();
    // One turn later, the records of the calls are there.
    line.running = Promise.resolve()
      .then(() => writeAndSend(workspaceId, line))
      .finally(() => {
        line.running = null;
        line.pauseMs = Math.min(longestPauseMs, (clock.monotonic() - startedMs) * pauseFactor);
        runLater(workspaceId, line);
      });
    return line.running;
  }

  /** Ends the wait for further costs of requests in slices. */
  function hurry(line: Line): void {
    if (line.isUrgent) return;
    line.isUrgent = true;
    line.cancelPause?.();
    line.cancelPause = null;
  }

  function runLater(workspaceId: WorkspaceId, line: Line): void {
    if (line.running !== null || line.cancelPause !== null) return;
    const pauseMs = line.isUrgent ? line.pauseMs : reportMs;
    if (!isWaiting(line)) removeLater(workspaceId, line);
    else if (pauseMs <= 0) void run(workspaceId, line);
    else line.cancelPause = clock.after(pauseMs, () => void run(workspaceId, line));
  }

  /** Writes the note of a batch, and sends the batch. Never rejects. */
  async function writeAndSend(workspaceId: WorkspaceId, line: Line): Promise<void> {
    const { ends: taken, callIds } = line;
    line.ends = [];
    line.callIds = new Set();
    line.isUrgent = false;
    for (const callId of callIds) waiting.delete(callId);
    const sums = usageCounter.take(workspaceId);
    const { direct, reports } = holds.escrow?.reports(taken) ?? { direct: taken, reports: [] };
    const ends: Note['ends'][number][] = direct.map((end) => ({ ...end, before: [] }));
    const draws: Note['draws'][number][] = [];
    for (const report of reports) {
      const { toNanoUsd, spentNanoUsd } = report;
      const ofSlice = { hold: holdOf(report), before: unconfirmedBefore(report) };
      if (toNanoUsd === null) ends.push({ ...ofSlice, nanoUsd: spentNanoUsd });
      else draws.push({ ...ofSlice, toNanoUsd, spentNanoUsd });
    }
    const isNoted = ends.length > 0 || draws.length > 0 || (callIds.size > 0 && sums !== null);
    const id = isNoted ? `${instance()}.${++count}` : null;
    const note = { atMs: clock.now(), ends, draws, sums: sums?.parts ?? [] };
    if (id !== null) await write(workspaceId, line, callIds, { id, ...note });
    await send(workspaceId, { ends: direct, reports, sums }, (isBooked) => {
      if (!isBooked || id === null) return;
      line.done.push(id);
      removeLater(workspaceId, line);
    });
  }

  /** Writes a note. Telemetry fails open: a booking is sent also if its note could not be written. */
  async function write(
    workspaceId: WorkspaceId,
    line: Line,
    callIds: ReadonlySet<string>,
    { id, ...note }: Note & { id: string },
  ): Promise<void> {
    const done = line.done.splice(0);
    const changes = [
      { at: noteAt(workspaceId, id), value: noteText(note), rank: note.atMs },
      ...noteRemovals(workspaceId, done),
    ];
    try {
      if (await commit(workspaceId, callIds, changes)) return;
    } catch {
      // The guard of the store has logged it.
    }
    line.done.push(...done);
  }

  /** @param onEnd  called once, with whether everything has reached the ledger */
  async function send(
    workspaceId: WorkspaceId,
    { ends = [], reports = [], noted = [], sums }: Batch,
    onEnd: (isBooked: boolean) => void,
  ): Promise<void> {
    const parts = sums?.parts ?? [];
    let left = ends.length + reports.length + noted.length + parts.length;
    let isBooked = true;
    const ended = (isTaken: boolean) => {
      isBooked &&= isTaken;
      if (--left === 0) onEnd(isBooked);
    };
    await Promise.all([
      ...ends.map(({ hold, nanoUsd }) => holds.end(hold, nanoUsd, ended)),
      ...reports.map((report) => holds.report(report, ended)),
      ...noted.map((one) => holds.endNoted(one, ended)),
      ...parts.map((part) =>
        deps.sendSums(workspaceId, part, (isTaken) => {
          sums?.confirm();
          ended(isTaken);
        }),
      ),
    ]);
  }

  function removeLater(workspaceId: WorkspaceId, line: Line): void {
    if (line.cancelRemoval !== null) return;
    line.cancelRemoval = clock.after(
      flushMs,
      () => {
        line.cancelRemoval = null;
        void removeDone(workspaceId, line);
      },
      { isIdle: true },
    );
  }

  /** Removes notes. Never rejects: another process sends a note that stays once more, and removes it. */
  async function removeDone(workspaceId: WorkspaceId, line: Line): Promise<void> {
    const done = line.done.splice(0);
    if (done.length > 0) await storage.commit(noteRemovals(workspaceId, done)).catch(() => line.done.push(...done));
    const isIdle = line.running === null && line.done.length === 0 && !isWaiting(line);
    if (isIdle && lines.get(workspaceId) === line) lines.delete(workspaceId);
  }

  function flush(workspaceId: WorkspaceId): Promise<void> {
    const line = lineOf(workspaceId);
    // The running batch may have begun before the latest booking.
    return line.running ? line.running.then(() => line.running ?? run(workspaceId, line)) : run(workspaceId, line);
  }

  /** @returns true: the note is not needed any more */
  async function sendAgain(workspaceId: WorkspaceId, { atMs, ends, draws, sums }: Note): Promise<boolean> {
    const fields = { workspaceId, holds: ends.length + draws.length };
    if (clock.now() - atMs >= keepEndedMs) {
      // The ledger has forgotten these bookings, and would book them twice.
      writeLog(logger, 'warn', fields, 'bookings of more than a day ago are not sent again');
      return true;
    }
    let isAll = false;
    // The other process has measured by a monotonic clock of its own.
    const sinceMs = clock.monotonic() - Math.max(0, clock.now() - atMs);
    const noted: NotedHold[] = [
      ...ends.map(({ nanoUsd, ...end }) => ({ ...end, spentNanoUsd: nanoUsd, toNanoUsd: null })),
      ...draws,
    ].map(({ hold, ...of }) => ({ ...of, hold: { ...hold, workspaceId, sinceMs } }));
    const batch = { noted, sums: { parts: sums, confirm: () => undefined } };
    await send(workspaceId, batch, (isBooked) => {
      isAll = isBooked;
    });
    if (isAll) writeLog(logger, 'warn', fields, 'bookings of another process were sent again');
    return isAll;
  }

  /** @returns true: the note was removed */
  async function recoverOne(workspaceId: WorkspaceId, id: string, text: string): Promise<boolean> {
    if (id.startsWith(`${instance()}.`)) return false;
    const found = parseNote(text);
    if (found === null) {
      writeLog(logger, 'warn', { workspaceId, id }, 'a note of bookings is damaged');
      return false;
    }
    // A living process removes its note in a moment. The clock of the other process may be ahead.
    if (Math.abs(clock.now() - found.atMs) < 2 * flushMs) return false;
    if (!(await sendAgain(workspaceId, found))) return false;
    await storage.commit(noteRemovals(workspaceId, [id]));
    return true;
  }

  return {
    book(workspaceId, callId, ends) {
      const isWithRecord = isRecorded && callId !== undefined;
      // Sums without a limit may wait for their time, unless a record has to agree with them.
      if (ends.length === 0 && !isWithRecord) return;
      const line = lineOf(workspaceId);
      line.ends.push(...ends);
      for (const { hold, nanoUsd } of ends) holds.escrow?.ended(hold, nanoUsd);
      if (ends.length === 0 || ends.some(({ hold }) => !hold.slice)) hurry(line);
      if (isWithRecord) {
        line.callIds.add(callId);
        waiting.add(callId);
      }
      runLater(workspaceId, line);
    },
    flush,
    inFlight(workspaceId) {
      const line = lines.get(workspaceId);
      return line && (line.running !== null || isWaiting(line)) ? flush(workspaceId) : null;
    },
    async recover(workspaceId) {
      let kept = 0;
      for (;;) {
        const { records } = await storage.list(workspaceId, noteKind, { offset: kept, limit: pageSize });
        for (const { id, value } of records) if (!(await recoverOne(workspaceId, id, value))) kept++;
        if (records.length < pageSize) return;
      }
    },
    async forget(workspaceId) {
      lines.get(workspaceId)?.cancelPause?.();
      lines.delete(workspaceId);
      for (;;) {
        const { records } = await storage.list(workspaceId, noteKind, { offset: 0, limit: pageSize });
        if (records.length === 0) return;
        const all = records.map(({ id }) => id);
        await storage.commit(noteRemovals(workspaceId, all));
      }
    },
    async close() {
      await Promise.all([...lines.keys()].map(flush));
      await Promise.all([...lines].map(([workspaceId, line]) => removeDone(workspaceId, line)));
    },
    pending: {
      has: (callId) => waiting.has(callId),
      flush: async () => void (await Promise.all([...lines.keys()].map(flush))),
      commitWith(to) {
        commit = to;
        isRecorded = true;
      },
    },
  };
}
