import { LRUCache } from 'lru-cache';
import type { Clock } from '../../base/clock.ts';
import { isGatewayError } from '../../base/errors.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import type { StoredCredential } from '../../schema/tenants/credential.ts';
import type { OpenedKey } from './key.ts';

/** Remembers opened secrets until their credential changes. Opening a secret takes two decryptions on other threads. */
export interface OpenedSecrets {
  /** Returns no promise when the secret is known. Rejects like the vault. */
  get(workspaceId: WorkspaceId, record: StoredCredential): OpenedKey | Promise<OpenedKey>;
  /** Leaves out the credentials that recently did not open. Returns the same list if all of them opened. */
  withoutBroken<T extends { id: string }>(workspaceId: WorkspaceId, all: readonly T[]): readonly T[];
  /** Forgets the secrets of all other credentials. */
  keep(workspaceId: WorkspaceId, records: ReadonlyMap<string, StoredCredential>): void;
  forget(workspaceId: WorkspaceId, id: string): void;
}

export interface OpenedSecretsDeps {
  clock: Clock;
  open: (workspaceId: WorkspaceId, record: StoredCredential) => Promise<OpenedKey>;
  /** Called for each credential that does not open, at most once in a while. */
  onBroken: (workspaceId: WorkspaceId, record: StoredCredential, error: unknown) => void;
}

type Opened = { ciphertext: string } & (
  | { kind: 'opening'; promise: Promise<OpenedKey> }
  | { kind: 'open'; found: OpenedKey }
  | { kind: 'broken'; error: unknown; untilMs: number }
);

const maxWorkspaces = 1000;
/** The time after which the secrets of an idle workspace are forgotten. */
const idleMs = 600_000;
/**
 * The time for which a credential that did not open is not tried again. It is short, because an operator who repairs
 * the access to a key service should not have to restart the gateway.
 */
const brokenMs = 60_000;

export function createOpenedSecrets({ clock, open, onBroken }: OpenedSecretsDeps): OpenedSecrets {
  const workspaces = new LRUCache<WorkspaceId, Map<string, Opened>>({
    max: maxWorkspaces,
    ttl: idleMs,
    ttlResolution: 0,
    updateAgeOnGet: true,
    perf: { now: () => clock.monotonic() },
  });

  function openedOf(workspaceId: WorkspaceId): Map<string, Opened> {
    const known = workspaces.get(workspaceId);
    if (known) return known;
    // The cache drops an entry only when it is asked for. Secrets must not stay in memory because nobody asks.
    workspaces.purgeStale();
    const fresh = new Map<string, Opened>();
    workspaces.set(workspaceId, fresh);
    return fresh;
  }

  function start(workspaceId: WorkspaceId, record: StoredCredential): Promise<OpenedKey> {
    const opened = openedOf(workspaceId);
    const { id, sealed } = record;
    const { ciphertext } = sealed;
    // A forgotten entry is not replaced: the credential may have changed.
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
          note({ ciphertext, kind: 'broken', error, untilMs: clock.monotonic() + brokenMs });
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
        if (known.untilMs > clock.monotonic()) return Promise.reject(known.error);
      }
      return start(workspaceId, record);
    },
    withoutBroken(workspaceId, all) {
      const opened = all.length > 0 ? workspaces.get(workspaceId) : undefined;
      if (!opened) return all;
      const isBroken = ({ id }: { id: string }) => {
        const known = opened.get(id);
        return known?.kind === 'broken' && known.untilMs > clock.monotonic();
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
