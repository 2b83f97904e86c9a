import type { Ledger } from '../ledger/ledger.ts';
import { memoryRates } from '../rates/memory.ts';
import type { Address, Change, Storage } from './storage.ts';

interface MemoryRecord {
  id: string;
  value: string;
  /** undefined: not listed. */
  rank: number | undefined;
}

/**
 * The storage if the host app passes none. The data is lost with this process. It does not use Keyv: loading Keyv might
 * take longer than a store call may.
 */
export function memoryStorage(ledger: Ledger): Storage {
  /** Records of a kind in a partition, by id. */
  const kinds = new Map<string, Map<string, MemoryRecord>>();
  /** The listed records in order; sorted again after a change. */
  const lists = new Map<string, MemoryRecord[]>();
  const nameOf = ({ partition, kind }: Pick<Address, 'partition' | 'kind'>) => `${partition}:${kind}`;
  const find = (at: Address) => kinds.get(nameOf(at))?.get(at.id);

  function write({ at, value, rank }: Change): void {
    const name = nameOf(at);
    const records = kinds.get(name) ?? new Map<string, MemoryRecord>();
    if (value === null) records.delete(at.id);
    else records.set(at.id, { id: at.id, value, rank: rank ?? records.get(at.id)?.rank });
    if (records.size > 0) kinds.set(name, records);
    else kinds.delete(name);
    lists.delete(name);
  }

  function listed(name: string): MemoryRecord[] {
    const known = lists.get(name);
    if (known) return known;
    const made = [...(kinds.get(name)?.values() ?? [])].filter(({ rank }) => rank !== undefined).sort(byRank);
    if (made.length > 0) lists.set(name, made);
    return made;
  }

  return {
    kind: 'memory',
    isShared: false,
    ledger,
    rates: memoryRates(),
    get: async (at) => find(at)?.value ?? null,
    getMany: async (all) => all.map((at) => find(at)?.value ?? null),
    async commit(changes) {
      const holds = ({ at, expect }: Change) => expect === undefined || (find(at)?.value ?? null) === expect;
      if (!changes.every(holds)) return false;
      for (const change of changes) write(change);
      return true;
    },
    async list(partition, kind, { offset, limit }) {
      const all = listed(nameOf({ partition, kind }));
      return { records: all.slice(offset, offset + limit).map(({ id, value }) => ({ id, value })), total: all.length };
    },
    close: async () => undefined,
  };
}

/** Sorts by rank, then by id. Ids are ASCII, so their order in UTF-16 is their order by bytes. */
function byRank(a: MemoryRecord, b: MemoryRecord): number {
  return (a.rank as number) - (b.rank as number) || (a.id < b.id ? -1 : 1);
}
