import { GatewayError } from '../../base/errors.ts';
import { createLock } from '../../base/lock.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import { beingDeleted, deletionOf, unlessDeleted } from '../deletion.ts';
import type { Address, Change, Storage } from '../storage/storage.ts';

/** How many keys a workspace ever made: written with each new one, so that none slips in beside the count. */
export function madeAt(workspaceId: WorkspaceId): Address {
  return { partition: workspaceId, kind: 'api-key-count', id: 'made' };
}

/** Creations of other processes, each between our read and our write, after which we give up. */
const maxRaces = 50;

/**
 * Writes a new key, unless the workspace has as many as it may.
 * @param write  writes it together with the given changes; false: an expectation was not met
 * @throws GatewayError invalid_request (400): full, or being deleted; unavailable (503)
 */
export type AddApiKey = (
  workspaceId: WorkspaceId,
  write: (also: readonly Change[]) => Promise<boolean>,
) => Promise<void>;

export interface AddApiKeyDeps {
  storage: Storage;
  kind: string;
  maxPerWorkspace: number;
}

export function createAddApiKey({ storage, kind, maxPerWorkspace }: AddApiKeyDeps): AddApiKey {
  /** Creations here go one after the other, lest they get in one another's way. */
  const turns = createLock();

  async function add(workspaceId: WorkspaceId, write: Parameters<AddApiKey>[1]): Promise<void> {
    const made = madeAt(workspaceId);
    for (let race = 0; race < maxRaces; race++) {
      const count = await storage.get(made);
      // After the count was read: whatever is added from now on changes it, and our write then fails.
      const { total } = await storage.list(workspaceId, kind, { offset: 0, limit: 1 });
      if (total >= maxPerWorkspace) throw isFull(maxPerWorkspace);
      const next = { at: made, expect: count, value: String((Number(count) || 0) + 1) };
      if (await write([next, unlessDeleted(workspaceId)])) return;
      if ((await storage.get(deletionOf(workspaceId))) !== null) throw beingDeleted();
    }
    throw new GatewayError('unavailable', 'Too many keys are made at once; try again', { retryAfterMs: 1000 });
  }

  return (workspaceId, write) => turns.run(workspaceId, () => add(workspaceId, write));
}

function isFull(max: number): GatewayError {
  return new GatewayError(
    'invalid_request',
    `This workspace has ${max} API keys, which is as many as it may; delete some that are not used`,
  );
}
