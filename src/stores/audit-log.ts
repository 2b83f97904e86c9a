import type { Clock } from '../base/clock.ts';
import { GatewayError } from '../base/errors.ts';
import { tryParseJson } from '../base/json.ts';
import { type AuditEntry, auditEntrySchema } from '../schema/records/audit.ts';
import { damagedRecord } from './damaged.ts';
import type { Address, Storage } from './storage/storage.ts';

export interface AuditLogDeps {
  storage: Storage;
  clock: Clock;
  /** The most entries that each log keeps. */
  maxEntries: number;
  /** The age in ms up to which entries are kept. */
  maxAgeMs: number;
}

/**
 * The log of changes. The entries of operators, and those of the callers of each workspace, have separate bounds:
 * nobody can push out what another has changed.
 */
export interface AuditLog {
  /** Writes an entry and gives it its id. @throws GatewayError unavailable (503): nothing was written */
  append(entry: Omit<AuditEntry, 'id'>, atMs: number): Promise<AuditEntry>;
  /** Replaces an entry, unless the entry has gone meanwhile. */
  replace(before: AuditEntry, after: AuditEntry): Promise<void>;
  remove(entry: AuditEntry): Promise<void>;
  /**
   * Lists the entries that fit, newest first, and their total number.
   * @param workspaceId  only entries that concern this workspace; undefined: all entries
   */
  list(
    workspaceId: string | undefined,
    fits: (entry: AuditEntry) => boolean,
    page: { offset: number; limit: number },
  ): Promise<{ entries: AuditEntry[]; total: number }>;
}

/**
 * The partition of the operators' entries. It also has the list of the workspaces whose callers have changed something.
 */
const shared = 'audit';
const kind = 'audit-entry';
const tenantKind = 'audit-tenant';
const placeOf = ({ actor, workspace_id: own }: Pick<AuditEntry, 'actor' | 'workspace_id'>) =>
  actor.type === 'operator' ? shared : placeOfTenant(actor.workspace_id ?? own);
const placeOfTenant = (workspaceId: string) => `${shared}.${workspaceId}`;
/** The number of entries in one read. */
const batch = 500;
/** The most entries that one append removes. It is more than an append adds, so the log shrinks to its bounds. */
const removedAtOnce = 50;
const maxTries = 100;
const numberDigits = 6;

export function createAuditLog({ storage, clock, maxEntries, maxAgeMs }: AuditLogDeps): AuditLog {
  const at = (partition: string, id: string): Address => ({ partition, kind, id });
  const knownTenants = new Set<string>();

  async function prune(partition: string): Promise<void> {
    const { records, total } = await storage.list(partition, kind, { offset: 0, limit: removedAtOnce });
    const oldestMs = clock.now() - maxAgeMs;
    const gone = records.filter(({ id }, place) => place < total - maxEntries || timeOf(id) < oldestMs);
    if (gone.length > 0) await storage.commit(gone.map(({ id }) => ({ at: at(partition, id), value: null })));
  }

  /** Lists the partition before its first entry is written: otherwise nobody would find the entry. */
  async function register(partition: string): Promise<void> {
    if (partition === shared || knownTenants.has(partition)) return;
    const id = partition.slice(shared.length + 1);
    await storage.commit([{ at: { partition: shared, kind: tenantKind, id }, value: id, rank: 0 }]);
    knownTenants.add(partition);
  }

  async function places(workspaceId: string | undefined): Promise<string[]> {
    if (workspaceId !== undefined) return [shared, placeOfTenant(workspaceId)];
    const found = [shared];
    for (;;) {
      const { records } = await storage.list(shared, tenantKind, { offset: found.length - 1, limit: batch });
      found.push(...records.map(({ id }) => placeOfTenant(id)));
      if (records.length < batch) return found;
    }
  }

  /** The latest number given here. A number is never given twice, so that ids stay in order. */
  let next = { atMs: -1, number: 0 };

  return {
    async append(entry, atMs) {
      // Instances that write in the same millisecond want the same number. The store gives the number to one of them.
      const partition = placeOf(entry);
      await register(partition);
      let number = next.atMs === atMs ? next.number + 1 : 0;
      // Numbers only grow: other instances may write in another millisecond meanwhile, and a taken number stays taken.
      for (let tries = 0; tries < maxTries; tries++, number++) {
        next = { atMs, number };
        const id = `audit-${String(atMs).padStart(15, '0')}-${String(number).padStart(numberDigits, '0')}`;
        const named = { id, ...entry };
        if (await storage.commit([{ at: at(partition, id), expect: null, value: JSON.stringify(named), rank: atMs }]))
          return named;
      }
      throw new GatewayError('unavailable', 'Too many changes at once: this one was not made', { retryAfterMs: 1000 });
    },
    async replace(before, after) {
      const expect = JSON.stringify(before);
      await storage.commit([
        { at: at(placeOf(before), after.id), expect, value: JSON.stringify(after), rank: timeOf(after.id) },
      ]);
      // Pruning waits until now: the entry of a refused request is removed again, and must push out no other. If
      // pruning fails, the next change prunes.
      await prune(placeOf(before)).catch(() => undefined);
    },
    async remove(entry) {
      await storage.commit([{ at: at(placeOf(entry), entry.id), expect: JSON.stringify(entry), value: null }]);
    },
    async list(workspaceId, fits, { offset, limit }) {
      const oldestMs = clock.now() - maxAgeMs;
      const found: AuditEntry[] = [];
      for (const partition of await places(workspaceId)) {
        for (let start = 0; ; start += batch) {
          const { records } = await storage.list(partition, kind, { offset: start, limit: batch });
          for (const { id, value } of records) {
            if (timeOf(id) < oldestMs) continue;
            const entry = parsed(value);
            if (fits(entry)) found.push(entry);
          }
          if (records.length < batch) break;
        }
      }
      // The ids are ordered by time.
      found.sort((one, other) => (one.id < other.id ? 1 : -1));
      return { entries: found.slice(offset, offset + limit), total: found.length };
    },
  };
}

/** @throws GatewayError internal (500) for a damaged entry */
function parsed(value: string): AuditEntry {
  const { success, data } = auditEntrySchema().safeParse(tryParseJson(value));
  if (!success) throw damagedRecord(kind);
  return data;
}

function timeOf(id: string): number {
  return Number(id.slice('audit-'.length, -(numberDigits + 1)));
}
