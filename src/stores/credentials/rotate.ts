import { isGatewayError } from '../../base/errors.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import { type StoredCredential, storedCredentialSchema } from '../../schema/credential.ts';
import type { PerWorkspace } from '../collection.ts';
import type { Storage } from '../storage/storage.ts';
import { noMasterKey } from '../vault/errors.ts';
import type { Vault } from '../vault.ts';
import { readAll } from './read-all.ts';
import { credentialKind } from './record.ts';
import { resealCredential } from './reseal.ts';

/** What a rotation came to. */
export interface Rotation {
  /** Credentials looked at. */
  checked: number;
  /** Sealed anew, with the current secret. */
  resealed: number;
  /** Ids of those that will not open: none of the secrets is theirs, or they are damaged. */
  failed: string[];
}

export interface RotationDeps {
  storage: Storage;
  credentials: PerWorkspace<StoredCredential>;
  vault: Vault;
  /** All that there are. */
  workspaces: () => AsyncIterable<WorkspaceId>;
}

/** So many at once: requests go on beside it. */
const batchSize = 8;

/**
 * Seals every credential of every workspace with the current master key; afterwards no earlier one is needed. It may be
 * broken off and called again at any time, also from several processes: what is done is not done twice.
 * @param signal  breaks it off between two batches
 * @throws GatewayError unavailable (503) when there is no master key, or it or the store is out of reach
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
    // Its content may be a secret; that it will not do is all there is to say.
    return null;
  }
}
