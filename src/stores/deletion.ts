import { GatewayError } from '../base/errors.ts';
import type { WorkspaceId } from '../call/workspace.ts';
import type { Address, Change } from './storage/storage.ts';

/**
 * The address of the mark of a workspace's deletion. It is in the workspace's own partition, so that a write there can
 * depend on the mark.
 */
export function deletionOf(workspaceId: WorkspaceId): Address {
  return { partition: workspaceId, kind: 'deletion', id: 'deletion' };
}

/**
 * A change to write together with every new thing of a workspace. The write then fails once the deletion of the
 * workspace has begun, and nothing stays behind in a deleted workspace.
 */
export function unlessDeleted(workspaceId: WorkspaceId): Change {
  return { at: deletionOf(workspaceId), expect: null, value: null };
}

/** The error of every request in a deleted workspace. Only the workspace's own callers get it. */
export function isDeleted(): GatewayError {
  return new GatewayError('not_found', 'This workspace was deleted, or is being deleted');
}

/** The error when a write together with `unlessDeleted` fails. */
export function beingDeleted(): GatewayError {
  return new GatewayError(
    'invalid_request',
    'This workspace is being deleted and takes nothing new; delete it once more if that was broken off',
  );
}
