import type { Clock } from '../../base/clock.ts';
import type { FairCache } from '../../base/fair-cache.ts';
import { isUuid } from '../../base/ids.ts';
import type { CooldownSettings } from '../../schema/settings/settings.ts';
import type { HealthKind, HealthRecords } from '../../stores/health-records.ts';
import { type StoreLogger, writeLog } from '../../stores/storage/logger.ts';
import { nameOfError } from '../../stores/storage/outage.ts';
import { type Cooldown, cooldownUntil } from './cooldown.ts';
import { activityOf, type Entry } from './entry.ts';
import { createPeers, type PeersDeps } from './peers.ts';
import { last1d, last5m, last30m, last30s, type Span, slotsOf, spans } from './series.ts';
import { encodeRecord, type SharedEntry } from './shared-record.ts';

/**
 * Shares the health of endpoints with the other instances on the same store. Sharing runs beside the requests: no
 * request ever waits for it. It runs only while there is something to do, at most every 2 s, and does not keep the
 * process alive. Sharing fails open: without the store, each instance uses its own observations only.
 */
export interface Sharing {
  /** Called when a request needs health data. */
  touch(): void;
  /** Called after each observation. */
  changed(): void;
  /** Writes a last time. Takes at most the time of a few store calls. Never rejects. */
  close(): Promise<void>;
}

export interface SharingDeps {
  clock: Clock;
  records: HealthRecords;
  /** A name that no other instance has. */
  instance: string;
  logger: StoreLogger | null;
  entries: PeersDeps['entries'] & Pick<FairCache<string, Entry>, 'byGroup'>;
  settings: CooldownSettings;
}

const everyMs = 2_000;
const historyEveryMs = 60_000;
const warnEveryMs = 60_000;
/**
 * The most endpoints in a record: those with most attempts; and also the most keys in cooldown. If there are more, each
 * workspace gets an equal share, so that a workspace with a hundred keys does not push out those of others.
 */
const maxShared = 100;
/** The time after the start of a cooldown for which its end is shared as well. */
const shareCooldownsMs = 300_000;

export function createSharing({ clock, records, instance, logger, entries, settings }: SharingDeps): Sharing {
  const peers = createPeers({ instance, entries, settings });
  /** The next planned run. */
  let next: { isSoon: boolean; cancel: () => void } | null = null;
  let running: Promise<void> | null = null;
  let isClosed = false;
  let ranMs = Number.NEGATIVE_INFINITY;
  let warnedMs = Number.NEGATIVE_INFINITY;
  /** The number of observations, and the numbers up to which the store has them in `recent` and in `history`. */
  let [changes, inRecent, inHistory] = [0, 0, 0];
  let [historyWrittenMs, historyReadMs] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];

  function touch(): void {
    if (next?.isSoon || running !== null || isClosed) return;
    plan(true, ranMs + everyMs);
  }

  function plan(isSoon: boolean, atMs: number): void {
    next?.cancel();
    // If the clock was set back, the run must not be delayed for longer.
    const inMs = Math.min(Math.max(atMs - clock.now(), 0), isSoon ? everyMs : historyEveryMs);
    next = { isSoon, cancel: clock.after(inMs, run, { isIdle: true }) };
  }

  function run(): void {
    next = null;
    running = exchange().then((isDone) => {
      running = null;
      // While the store is away, only a request that needs health data causes another run.
      if (!isDone || isClosed) return;
      if (changes !== inRecent) touch();
      else if (changes !== inHistory) plan(false, historyWrittenMs + historyEveryMs);
    });
  }

  /** @returns false: the store failed */
  async function exchange(): Promise<boolean> {
    ranMs = clock.now();
    try {
      await write(isDue(historyWrittenMs, ranMs));
      await read('recent');
      if (isDue(historyReadMs, ranMs)) {
        await read('history');
        historyReadMs = ranMs;
      }
      return true;
    } catch (error) {
      warn(error);
      return false;
    }
  }

  async function write(withHistory: boolean): Promise<void> {
    const nowMs = clock.now();
    const seen = changes;
    if (seen !== inRecent) {
      await records.write('recent', instance, recentText(nowMs), nowMs);
      inRecent = seen;
    }
    if (!withHistory || seen === inHistory) return;
    await records.write('history', instance, historyText(nowMs), nowMs);
    [inHistory, historyWrittenMs] = [seen, nowMs];
  }

  async function read(kind: HealthKind): Promise<void> {
    const found = await records.read(kind);
    const silent = peers.take(kind, found, clock.now());
    for (const { id, value } of silent) await records.remove(kind, id, value);
  }

  function warn(error: unknown): void {
    const nowMs = clock.now();
    if (Math.abs(nowMs - warnedMs) < warnEveryMs) return;
    warnedMs = nowMs;
    writeLog(logger, 'warn', { error: nameOfError(error) }, 'health of endpoints is not shared with other instances');
  }

  /** The short spans, and those slots of the long spans that changed since the history was written. */
  function recentText(nowMs: number): string {
    const sharedEntries: SharedEntry[] = mostActive(nowMs).map(([key, entry]) => ({
      key,
      cooldown: entry.cooldown,
      provenMs: entry.provenMs,
      witnesses: toldWitnesses(entry, nowMs),
      slots: slotsIn(entry, nowMs, (span, endMs) => span < last30m || endMs >= historyWrittenMs),
    }));
    const keys = new Set(sharedEntries.map(({ key }) => key));
    const further = inTurn(
      entries.byGroup().map((group) => toldCooldowns(group, keys, nowMs)),
      maxShared,
    );
    sharedEntries.push(...further);
    return encodeRecord({ atMs: nowMs, entries: sharedEntries });
  }

  function historyText(nowMs: number): string {
    const told = inTurn(
      entries.byGroup().map((group) => historyOf(group, nowMs)),
      maxShared,
    );
    return encodeRecord({ atMs: nowMs, entries: told });
  }

  function mostActive(nowMs: number): [string, Entry][] {
    const active = entries.byGroup().map((group) =>
      group
        .map(([key, entry]) => ({ key, entry, attempts: isOwn(key) ? 0 : activityOf(entry, nowMs) }))
        .filter(({ attempts }) => attempts > 0)
        .sort((a, b) => b.attempts - a.attempts),
    );
    return inTurn(active, maxShared).map(({ key, entry }) => [key, entry]);
  }

  return {
    touch,
    changed() {
      changes++;
      touch();
    },
    async close() {
      isClosed = true;
      next?.cancel();
      next = null;
      await running;
      await write(true).catch(warn);
    },
  };
}

type Group = readonly (readonly [key: string, entry: Entry])[];

/** @param keys  keys that are already in the record */
function* toldCooldowns(group: Group, keys: ReadonlySet<string>, nowMs: number): Generator<SharedEntry> {
  for (const [key, entry] of group) {
    const { cooldown, provenMs } = entry;
    if (keys.has(key)) continue;
    const witnesses = toldWitnesses(entry, nowMs);
    if (witnesses.length > 0 || isToTell(cooldown, nowMs)) yield { key, cooldown, slots: [], provenMs, witnesses };
  }
}

function* historyOf(group: Group, nowMs: number): Generator<SharedEntry> {
  for (const [key, entry] of group) {
    const slots = isOwn(key) ? [] : slotsIn(entry, nowMs, (span) => span >= last30m);
    if (slots.length > 0) yield { key, cooldown: null, slots, provenMs: -1, witnesses: [] };
  }
}

/** Takes the first of each list, then the second of each, and so on. Reads nothing beyond `max`. */
function inTurn<T>(lists: readonly Iterable<T>[], max: number): T[] {
  const taken: T[] = [];
  for (let open = lists.map((list) => list[Symbol.iterator]()); open.length > 0; ) {
    open = open.filter((list) => {
      if (taken.length === max) return false;
      const { done, value } = list.next();
      if (done !== true) taken.push(value);
      return done !== true;
    });
  }
  return taken;
}

function isDue(doneMs: number, nowMs: number): boolean {
  return Math.abs(nowMs - doneMs) >= historyEveryMs;
}

/** Tells whether a cooldown is on, or began a short time ago. */
function isToTell(cooldown: Cooldown, nowMs: number): boolean {
  const begunMs = Math.max(cooldown.sinceMs, cooldown.askedSinceMs);
  return begunMs >= nowMs - shareCooldownsMs || cooldownUntil(cooldown, nowMs) !== undefined;
}

/** The recent failures of single workspaces. */
function toldWitnesses({ witnesses }: Entry, nowMs: number): SharedEntry['witnesses'] {
  const told: SharedEntry['witnesses'] = [];
  for (const [workspaceId, { cooldown, failedMs }] of witnesses ?? []) {
    if (failedMs >= nowMs - shareCooldownsMs || isToTell(cooldown, nowMs))
      told.push({ workspaceId, failedMs, cooldown });
  }
  return told;
}

/** The slots of this instance that others may need. */
function slotsIn(
  { series }: Entry,
  nowMs: number,
  isWanted: (span: Span, endMs: number) => boolean,
): SharedEntry['slots'] {
  return ([last30s, last5m, last30m, last1d] as const).flatMap((span) =>
    slotsOf(series, span, nowMs)
      .filter(({ number }) => isWanted(span, (number + 1) * spans[span].slotMs))
      .map((slot) => ({ span, slot })),
  );
}

/**
 * Tells whether a key is for an endpoint that is reached with a credential of a workspace (BYOK). Its statistics mean
 * nothing to others, but its cooldowns count for all instances. See `healthKey`.
 */
function isOwn(key: string): boolean {
  return isUuid(key.slice(key.lastIndexOf(' ') + 1));
}
