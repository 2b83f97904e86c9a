import type { Address, Storage } from './storage/storage.ts';

/**
 * - recent: the last minutes, and what rests; written every few seconds
 * - history: what is older
 */
export type HealthKind = 'recent' | 'history';

/** What instances on one store tell each other of how endpoints are doing: each writes its own records, all read all. */
export interface HealthRecords {
  /** Replaces what this instance said before. */
  write(kind: HealthKind, instance: string, text: string, atMs: number): Promise<void>;
  /** Those written last, and a few of those that were not for longest, by instance. */
  read(kind: HealthKind): Promise<{ id: string; value: string }[]>;
  /** Unless it was written again since it was read. */
  remove(kind: HealthKind, instance: string, text: string): Promise<void>;
}

/** More instances than this at once do not hear of all the others. */
const maxInstances = 32;
const maxOldest = 8;

/** @returns null: no other instance sees what is written there */
export function healthRecords(storage: Storage): HealthRecords | null {
  // A ledger that is shared says nothing of the records beside it.
  if (!storage.isShared || storage.kind === 'memory' || storage.kind === 'keyv') return null;
  const partition = 'health';
  const nameOf = (kind: HealthKind) => `health-${kind}`;
  const at = (kind: HealthKind, id: string): Address => ({ partition, kind: nameOf(kind), id });
  return {
    async write(kind, instance, text, atMs) {
      // Nobody else writes it. The last written is the first in the list.
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
