import { isGatewayError } from '../../base/errors.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import { type StoredCredential, storedCredentialSchema } from '../../schema/tenants/credential.ts';
import type { PerWorkspace } from '../collection.ts';
import type { Storage } from '../storage/storage.ts';
import { noMasterKey } from '../vault/errors.ts';
import type { Vault } from '../vault/index.ts';
import { readAll } from './read-all.ts';
import { credentialKind } from './record.ts';
import { resealCredential } from './reseal.ts';

/** The result of a rotation. */
export interface Rotation {
  /** The number of credentials that were read. */
  checked: number;
  /** The number of credentials that were sealed anew with the current secret. */
  resealed: number;
  /** Ids of the credentials that do not open: no configured secret opens them, or they are damaged. */
  failed: string[];
}

export interface RotationDeps {
  storage: Storage;
  credentials: PerWorkspace<StoredCredential>;
  vault: Vault;
  /** All workspaces. */
  workspaces: () => AsyncIterable<WorkspaceId>;
}

/** The number of credentials that are resealed at once. It is small, because requests go on meanwhile. */
const batchSize = 8;

/**
 * Seals every credential of every workspace with the current master key. Afterwards no earlier master key is needed. A
 * rotation may be interrupted and called again at any time, also by several processes: it skips what is done.
 * @param signal  interrupts the rotation between two batches
 * @throws GatewayError unavailable (503) when there is no master key, or when the key service or the store is out of
 * reach
 */
export async function rotateCredentials(deps: RotationDeps, signal?: AbortSignal): Promise<Rotation> {
  const { storage, vault, workspaces } = deps;
  if (!vault.isOpen) throw noMasterKey();
  const done: Rotation = { checked: 0, resealed: 0, failed: [] };
  for await (const workspaceId of workspaces()) {
    signal?.throwIfAborted();
    const texts = await readAll(
      (page) => storage.list(workspaceId, credentialKind, page),
      ({ id }) => id,
    );
    done.checked += texts.length;
    const stale: StoredCredential[] = [];
    for (const { id, value } of texts) {
      const record = read(value);
      if (record === null || record.id !== id) done.failed.push(id);
      else if (vault.needsReseal(record.sealed)) stale.push(record);
    }
    for (let at = 0; at < stale.length; at += batchSize) {
      signal?.throwIfAborted();
      await Promise.all(
        stale.slice(at, at + batchSize).map(async (record) => {
          try {
            const isOurs = await resealCredential(
              { vault, collection: deps.credentials(workspaceId) },
              workspaceId,
              record,
            );
            if (isOurs) done.resealed++;
          } catch (error) {
            if (!isGatewayError(error) || error.kind !== 'internal') throw error;
            done.failed.push(record.id);
          }
        }),
      );
    }
  }
  return done;
}

function read(text: string): StoredCredential | null {
  try {
    return storedCredentialSchema().parse(JSON.parse(text));
  } catch {
    // The error is dropped: the text of a damaged record may be a secret.
    return null;
  }
}
