import type { WorkspaceId } from '../../call/workspace.ts';
import type { Storage } from '../storage/storage.ts';
import { tooManyAtOnce } from './add.ts';
import { orderAt } from './order.ts';
import { credentialKind } from './record.ts';

const maxRaces = 20;
const batchSize = 100;

/**
 * Deletes without the collection, which would read the record: a damaged record can be deleted, too.
 * @returns false: there was no record
 */
export async function removeCredential(storage: Storage, workspaceId: WorkspaceId, id: string): Promise<boolean> {
  const at = { partition: workspaceId, kind: credentialKind, id };
  for (let race = 0; race < maxRaces; race++) {
    const text = await storage.get(at);
    if (text === null) return false;
    if (await storage.commit([{ at, expect: text, value: null }])) return true;
  }
  throw tooManyAtOnce();
}

/** Deletes all credentials in batches. Yields the ids of each batch as soon as it is deleted. */
export async function* removeAllCredentials(storage: Storage, workspaceId: WorkspaceId): AsyncGenerator<string[]> {
  for (;;) {
    const { records } = await storage.list(workspaceId, credentialKind, { offset: 0, limit: batchSize });
    if (records.length === 0) break;
    await storage.commit(
      records.map(({ id }) => ({ at: { partition: workspaceId, kind: credentialKind, id }, value: null })),
    );
    yield records.map(({ id }) => id);
  }
  await storage.commit([{ at: orderAt(workspaceId), value: null }]);
}
