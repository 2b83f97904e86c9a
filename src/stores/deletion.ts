import { GatewayError } from '../base/errors.ts';
import type { WorkspaceId } from '../call/workspace.ts';
import type { Address, Change } from './storage/storage.ts';

/** Where a workspace's deletion is noted: in its own partition, so that writing something there can depend on it. */
export function deletionOf(workspaceId: WorkspaceId): Address {
  return { partition: workspaceId, kind: 'deletion', id: 'deletion' };
}

/**
 * To be written together with whatever is new in a workspace: the write then fails once its deletion has begun, and
 * nothing is left behind in a workspace that is gone.
 */
export function unlessDeleted(workspaceId: WorkspaceId): Change {
  return { at: deletionOf(workspaceId), expect: null, value: null };
}

/** Why nothing is served in a workspace. Only its own callers are told. */
export function isDeleted(): GatewayError {
  return new GatewayError('not_found', 'This workspace was deleted, or is being deleted');
}

/** Why something was not written together with `unlessDeleted`. */
export function beingDeleted(): GatewayError {
  return new GatewayError(
    'invalid_request',
    'This workspace is being deleted and takes nothing new; delete it once more if that was broken off',
  );
}
