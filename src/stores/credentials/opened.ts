import { LRUCache } from 'lru-cache';
import type { Clock } from '../../base/clock.ts';
import { isGatewayError } from '../../base/errors.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import type { StoredCredential } from '../../schema/credential.ts';
import type { OpenedKey } from './key.ts';

/**
 * Secrets that were opened, remembered until their credential changes: opening takes two decryptions on other threads.
 */
export interface OpenedSecrets {
  /** Without a promise where it is known. Rejects as the vault does. */
  get(workspaceId: WorkspaceId, record: StoredCredential): OpenedKey | Promise<OpenedKey>;
  /** Those of a workspace's that were not found lately to be such as will not open: the same list, if they are all. */
  withoutBroken<T extends { id: string }>(workspaceId: WorkspaceId, all: readonly T[]): readonly T[];
  /** Forgets what is not of these any more. */
  keep(workspaceId: WorkspaceId, records: ReadonlyMap<string, StoredCredential>): void;
  forget(workspaceId: WorkspaceId, id: string): void;
}

export interface OpenedSecretsDeps {
  clock: Clock;
  open: (workspaceId: WorkspaceId, record: StoredCredential) => Promise<OpenedKey>;
  /** Is called for each that will not open, once in a while. */
  onBroken: (workspaceId: WorkspaceId, record: StoredCredential, error: unknown) => void;
}

type Opened = { ciphertext: string } & (
  | { kind: 'opening'; promise: Promise<OpenedKey> }
  | { kind: 'open'; found: OpenedKey }
  | { kind: 'broken'; error: unknown; untilMs: number }
);

const maxWorkspaces = 1000;
/** A workspace that is idle for so long has its secrets forgotten. */
const idleMs = 600_000;
/** How long what will not open is left alone: whoever changed the access to a key service need not restart us. */
const brokenMs = 60_000;

export function createOpenedSecrets({ clock, open, onBroken }: OpenedSecretsDeps): OpenedSecrets {
  const workspaces = new LRUCache<WorkspaceId, Map<string, Opened>>({
    max: maxWorkspaces,
    ttl: idleMs,
    ttlResolution: 0,
    updateAgeOnGet: true,
    perf: { now: () => clock.now() },
  });

  function openedOf(workspaceId: WorkspaceId): Map<string, Opened> {
    const known = workspaces.get(workspaceId);
    if (known) return known;
    // Only what is asked for is dropped by itself; secrets should not stay in memory because nobody asks.
    workspaces.purgeStale();
    const fresh = new Map<string, Opened>();
    workspaces.set(workspaceId, fresh);
    return fresh;
  }

  function start(workspaceId: WorkspaceId, record: StoredCredential): Promise<OpenedKey> {
    const opened = openedOf(workspaceId);
    const { id, sealed } = record;
    const { ciphertext } = sealed;
    // Forgotten meanwhile: it may have been changed.
    const note = (now: Opened) => {
      if (opened.get(id) === entry) opened.set(id, now);
    };
    const promise = open(workspaceId, record).then(
      (found) => {
        note({ ciphertext, kind: 'open', found });
        return found;
      },
      (error) => {
        if (isGatewayError(error) && error.kind === 'internal') {
          note({ ciphertext, kind: 'broken', error, untilMs: clock.now() + brokenMs });
          onBroken(workspaceId, record, error);
        } else if (opened.get(id) === entry) {
          opened.delete(id);
        }
        throw error;
      },
    );
    const entry: Opened = { ciphertext, kind: 'opening', promise };
    opened.set(id, entry);
    return promise;
  }

  return {
    get(workspaceId, record) {
      const known = workspaces.get(workspaceId)?.get(record.id);
      if (known?.ciphertext === record.sealed.ciphertext) {
        if (known.kind === 'open') return known.found;
        if (known.kind === 'opening') return known.promise;
        if (known.untilMs > clock.now()) return Promise.reject(known.error);
      }
      return start(workspaceId, record);
    },
    withoutBroken(workspaceId, all) {
      const opened = all.length > 0 ? workspaces.get(workspaceId) : undefined;
      if (!opened) return all;
      const isBroken = ({ id }: { id: string }) => {
        const known = opened.get(id);
        return known?.kind === 'broken' && known.untilMs > clock.now();
      };
      return all.some(isBroken) ? all.filter((one) => !isBroken(one)) : all;
    },
    keep(workspaceId, records) {
      const opened = workspaces.get(workspaceId);
      for (const [id, { ciphertext }] of opened ?? []) {
        if (records.get(id)?.sealed.ciphertext !== ciphertext) opened?.delete(id);
      }
    },
    forget: (workspaceId, id) => void workspaces.get(workspaceId)?.delete(id),
  };
}
