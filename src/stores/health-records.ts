import { type Address, type Storage, sharesRecords } from './storage/storage.ts';

/**
 * - recent: the last minutes, and the cooldowns; written every few seconds
 * - history: older data
 */
export type HealthKind = 'recent' | 'history';

/** The health that instances on one store share. Each instance writes its own records, and all read all. */
export interface HealthRecords {
  /** Replaces this instance's earlier record. */
  write(kind: HealthKind, instance: string, text: string, atMs: number): Promise<void>;
  /** The latest records, by instance, and a few of the oldest ones. */
  read(kind: HealthKind): Promise<{ id: string; value: string }[]>;
  /** Removes a record, unless its instance has written it again since the read. */
  remove(kind: HealthKind, instance: string, text: string): Promise<void>;
}

/** The most records of other instances that one read returns. */
const maxInstances = 32;
const maxOldest = 8;

/** @returns null: no other instance sees the records of this storage */
export function healthRecords(storage: Storage): HealthRecords | null {
  if (!sharesRecords(storage)) return null;
  const partition = 'health';
  const nameOf = (kind: HealthKind) => `health-${kind}`;
  const at = (kind: HealthKind, id: string): Address => ({ partition, kind: nameOf(kind), id });
  return {
    async write(kind, instance, text, atMs) {
      // No other instance writes this record. The latest record is the first in the list.
      await storage.commit([{ at: at(kind, instance), value: text, rank: -Math.round(atMs) }]);
    },
    async read(kind) {
      const { records, total } = await storage.list(partition, nameOf(kind), { offset: 0, limit: maxInstances });
      if (total <= maxInstances) return records;
      const offset = Math.max(maxInstances, total - maxOldest);
      const oldest = await storage.list(partition, nameOf(kind), { offset, limit: maxOldest });
      return [...records, ...oldest.records];
    },
    async remove(kind, instance, text) {
      await storage.commit([{ at: at(kind, instance), expect: text, value: null }]);
    },
  };
}
