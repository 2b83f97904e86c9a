import { createLock } from '../../base/async/lock.ts';
import { GatewayError } from '../../base/errors.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import type { StoredCredential } from '../../schema/tenants/credential.ts';
import { noWorkspace } from '../access.ts';
import type { PerWorkspace } from '../collection.ts';
import { deletionOf, unlessDeleted } from '../deletion.ts';
import type { Storage } from '../storage/storage.ts';
import { orderAt, takeNumber } from './order.ts';
import { credentialKind } from './record.ts';

/**
 * The most failed tries of a creation. A try fails when another process adds a credential between our read and our
 * write.
 */
const maxRaces = 50;

/** Writes a new credential after the others of its provider. @returns the credential with its `sort_order` */
export type AddCredential = (workspaceId: WorkspaceId, record: StoredCredential) => Promise<StoredCredential>;

export interface AddCredentialDeps {
  storage: Storage;
  collections: PerWorkspace<StoredCredential>;
  maxPerWorkspace: number;
}

export function createAddCredential({ storage, collections, maxPerWorkspace }: AddCredentialDeps): AddCredential {
  /** Creations in this process take turns, so that they do not make one another fail. */
  const turns = createLock();

  async function add(workspaceId: WorkspaceId, record: StoredCredential): Promise<StoredCredential> {
    const order = orderAt(workspaceId);
    for (let race = 0; race < maxRaces; race++) {
      const text = await storage.get(order);
      // The list is read after the order: a credential that is added from now on changes the order, and our write then
      // fails.
      const { total } = await storage.list(workspaceId, credentialKind, { offset: 0, limit: 1 });
      if (total >= maxPerWorkspace) throw isFull(maxPerWorkspace);
      const { rank, sortOrder, after } = takeNumber(text, record.provider);
      const numbered = { ...record, sort_order: sortOrder };
      const also = [{ at: order, expect: text, value: after }, unlessDeleted(workspaceId)];
      if (await collections(workspaceId).create(record.id, numbered, { rank, also })) return numbered;
      if ((await storage.get(deletionOf(workspaceId))) !== null) throw noWorkspace();
    }
    throw tooManyAtOnce();
  }

  return (workspaceId, record) => turns.run(workspaceId, () => add(workspaceId, record));
}

export function tooManyAtOnce(): GatewayError {
  return new GatewayError('unavailable', 'Too many changes of provider credentials at once; try again', {
    retryAfterMs: 1000,
  });
}

function isFull(max: number): GatewayError {
  return new GatewayError(
    'invalid_request',
    `This workspace has ${max} provider credentials, which is as many as it may`,
  );
}
