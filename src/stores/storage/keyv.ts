import type { Keyv } from 'keyv';
import { createLock, type Lock } from '../../base/async/lock.ts';
import type { Clock } from '../../base/clock.ts';
import { isGatewayError } from '../../base/errors.ts';
import { damagedRecord } from '../damaged.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { memoryRates } from '../rates/memory.ts';
import type { Rates } from '../rates/rates.ts';
import { innermostAdapter } from './adapter.ts';
import { type KeyvEntries, keyvEntries } from './keyv-entries.ts';
import { inOrder, type KeyvIndex, keyvIndex } from './keyv-index.ts';
import { StoreTimeoutError } from './outage.ts';
import type { Address, Change, Listed, Page, Storage } from './storage.ts';

export interface KeyvStorageOptions {
  /** `memory`: the data is in this process, so calls cannot hang. */
  kind: 'memory' | 'keyv';
  ledger: Ledger;
  /** Default: rates of this storage alone. */
  rates?: Rates;
  isShared: boolean;
  clock: Clock;
  /** The time limit of one call of the store, and of the wait for a turn. */
  timeoutMs: number;
}

/** The text of a record, and its rank in the list; null: not listed. */
interface Stored {
  text: string;
  rank: number | null;
}

interface Opened {
  entries: KeyvEntries;
  index: KeyvIndex;
  lock: Lock;
  unfinished: Map<string, () => Promise<void>>;
  namespace: string;
}

/** One change in progress: the values before and after it. */
interface Step {
  at: Address;
  key: string;
  before: Stored | null;
  after: Stored | null;
}

/**
 * A storage over any Keyv. A Keyv writes one key at a time and has no conditional writes. So within this process, the
 * changes of a partition take turns, and no reader gets in between. When a write fails, the partial changes are undone:
 * at once or, while the store is down, before the next call in the partition. Another process may get in between, and a
 * crash may leave a change incomplete.
 * @param kv  called at the first use
 */
export function keyvStorage(kv: () => Keyv | Promise<Keyv>, options: KeyvStorageOptions): Storage {
  const { kind, ledger, rates = memoryRates(), isShared, clock, timeoutMs } = options;
  let opening: Promise<Opened> | undefined;

  async function open(): Promise<Opened> {
    const known = await kv();
    const entries = keyvEntries(known, { clock, timeoutMs: kind === 'memory' ? null : timeoutMs });
    return {
      entries,
      index: keyvIndex(entries, prefixOf),
      ...sharedBy(innermostAdapter(known)),
      namespace: known.namespace ?? '',
    };
  }

  function opened(): Promise<Opened> {
    opening ??= open().catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  }

  /** Waits for the earlier changes of the partition. */
  async function turn<T>(partition: string, work: (opened: Opened) => Promise<T>): Promise<T> {
    const handles = await opened();
    const { lock, unfinished, namespace } = handles;
    const name = `${namespace} ${partition}`;
    const queuedMs = clock.monotonic();
    return lock.run(name, async () => {
      // The caller has got a time-out by now. A store that hangs must not collect work for later.
      if (clock.monotonic() - queuedMs >= timeoutMs) throw new StoreTimeoutError(timeoutMs);
      const finish = unfinished.get(name);
      if (finish) {
        await finish();
        unfinished.delete(name);
      }
      return work(handles);
    });
  }

  async function read({ entries }: Opened, keys: readonly string[]): Promise<(Stored | null)[]> {
    return (await entries.read(keys)).map((value) => {
      if (value === undefined) return null;
      if (!isStored(value)) throw damagedRecord('stored');
      return value;
    });
  }

  /** Restores the values from before, except where they are unchanged or another process has written since. */
  async function takeBack(handles: Opened, steps: readonly Step[]): Promise<void> {
    for (const { key, before, after } of steps.toReversed()) {
      const [now = null] = await read(handles, [key]).catch((error: unknown) => {
        // This process did not write a damaged record.
        if (isGatewayError(error)) return [before];
        throw error;
      });
      if (isSame(now, before) || !isSame(now, after)) continue;
      if (before) await handles.entries.write(key, before);
      else await handles.entries.remove(key);
    }
  }

  async function writeAll(handles: Opened, partition: string, steps: readonly Step[]): Promise<void> {
    const { entries, unfinished, namespace } = handles;
    const tried: Step[] = [];
    try {
      for (const step of steps) {
        tried.push(step);
        if (step.after) await entries.write(step.key, step.after);
        else await entries.remove(step.key);
      }
    } catch (error) {
      // A single record is written or not; a partial change is not possible.
      if (steps.length > 1) {
        const finish = () => takeBack(handles, tried);
        await finish().catch(() => void unfinished.set(`${namespace} ${partition}`, finish));
      }
      throw error;
    }
  }

  async function commitInTurn(handles: Opened, partition: string, changes: readonly Change[]): Promise<boolean> {
    const keys = changes.map(({ at }) => keyOf(at));
    const found = await read(handles, keys);
    const steps = new Map<string, Step>();
    for (const [position, { at, expect, value, rank }] of changes.entries()) {
      const key = keys[position] as string;
      const before = found[position] ?? null;
      if (expect !== undefined && expect !== (before ? before.text : null)) return false;
      const listedAt = rank ?? steps.get(key)?.after?.rank ?? before?.rank ?? null;
      steps.set(key, { at, key, before, after: value === null ? null : { text: value, rank: listedAt } });
    }
    const moves = [...steps.values()].filter(({ before, after }) => rankOf(before) !== rankOf(after));
    for (const [ofKind, moved] of byKind(moves)) {
      const coming = moved.flatMap(({ at, after }) =>
        after && after.rank !== null ? [{ id: at.id, rank: after.rank }] : [],
      );
      if (coming.length > 0) await handles.index.include(partition, ofKind, coming);
    }
    await writeAll(handles, partition, [...steps.values()]);
    for (const [ofKind, moved] of byKind(moves.filter(({ before }) => rankOf(before) !== null))) {
      const truth = new Map(moved.map(({ at, after }) => [at.id, rankOf(after)]));
      // The records are written. A reader of the list finds surplus listings.
      await handles.index.correct(partition, ofKind, truth).catch(() => undefined);
    }
    return true;
  }

  async function listInTurn(handles: Opened, partition: string, ofKind: string, page: Page): Promise<Listed> {
    const { index } = handles;
    let all = await index.all(partition, ofKind);
    for (;;) {
      const listed = all.slice(page.offset, page.offset + page.limit);
      const found = await read(
        handles,
        listed.map(({ id }) => keyOf({ partition, kind: ofKind, id })),
      );
      const wrong = new Map<string, number | null>();
      for (const [position, { id, rank }] of listed.entries()) {
        const truth = rankOf(found[position] ?? null);
        if (truth !== rank) wrong.set(id, truth);
      }
      if (wrong.size === 0) {
        const records = listed.map(({ id }, position) => ({ id, value: (found[position] as Stored).text }));
        return { records, total: all.length };
      }
      // Listings that a failed change or a dead process has left behind.
      await index.correct(partition, ofKind, wrong).catch(() => undefined);
      all = all.filter(({ id }) => !wrong.has(id));
      for (const [id, rank] of wrong) if (rank !== null) all.push({ id, rank });
      all.sort(inOrder);
    }
  }

  return {
    kind,
    ledger,
    rates,
    isShared,
    async get(at) {
      // The read begins in its turn, after the earlier changes. Later changes need not wait for its end.
      const { reading } = await turn(at.partition, async (handles) => {
        const begun = read(handles, [keyOf(at)]);
        begun.catch(() => undefined);
        return { reading: begun };
      });
      return (await reading)[0]?.text ?? null;
    },
    async getMany(at) {
      const [first] = at;
      if (!first) return [];
      const found = await turn(first.partition, (handles) => read(handles, at.map(keyOf)));
      return found.map((stored) => stored?.text ?? null);
    },
    async commit(changes) {
      const [first] = changes;
      if (!first) return true;
      const { partition } = first.at;
      return turn(partition, (handles) => commitInTurn(handles, partition, changes));
    },
    list: (partition, ofKind, page) => turn(partition, (handles) => listInTurn(handles, partition, ofKind, page)),
    close: async () => undefined,
  };
}

/** The state that all storages of one process on one store share: two gateways may be given the same Keyv. */
const shared = new WeakMap<object, Pick<Opened, 'lock' | 'unfinished'>>();

function sharedBy(adapter: object): Pick<Opened, 'lock' | 'unfinished'> {
  const known = shared.get(adapter) ?? { lock: createLock(), unfinished: new Map() };
  shared.set(adapter, known);
  return known;
}

/**
 * The beginning of keys. It has a prefix, because a Keyv without a namespace may hold other things. Names contain no
 * colon.
 */
function prefixOf(partition: string, kind: string): string {
  return `gw:${partition}:${kind}:`;
}

function keyOf({ partition, kind, id }: Address): string {
  return prefixOf(partition, kind) + id;
}

function byKind(steps: readonly Step[]): Map<string, Step[]> {
  return Map.groupBy(steps, ({ at }) => at.kind);
}

function rankOf(stored: Stored | null): number | null {
  return stored?.rank ?? null;
}

function isSame(a: Stored | null, b: Stored | null): boolean {
  return a === null || b === null ? a === b : a.text === b.text && a.rank === b.rank;
}

function isStored(value: unknown): value is Stored {
  if (typeof value !== 'object' || value === null) return false;
  const { text, rank } = value as Partial<Stored>;
  return typeof text === 'string' && (rank === null || Number.isSafeInteger(rank));
}
