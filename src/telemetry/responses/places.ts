import type { WorkspaceId } from '../../call/workspace.ts';
import type { Address, Change } from '../../stores/storage/storage.ts';
import { indexPartition } from '../records/places.ts';

/** The kind of the entries of kept responses. Those of a workspace are in its own partition, newest first. */
export const entryKind = 'stored-response';

export function entryAt(workspaceId: WorkspaceId, id: string): Address {
  return { partition: workspaceId, kind: entryKind, id };
}

/** The address of the response itself and its input. It is in no list: lists stay short to read. */
export function contentAt(workspaceId: WorkspaceId, id: string): Address {
  return { partition: workspaceId, kind: 'stored-response-content', id };
}

/** Removes a response. */
export function removal(workspaceId: WorkspaceId, id: string): Change[] {
  return [entryAt(workspaceId, id), contentAt(workspaceId, id)].map((at) => ({ at, value: null }));
}

/** The kind of the index of the responses of all workspaces, oldest first, with the workspace of each. */
export const responseIndexKind = 'stored-response-owner';

export function responseIndexAt(id: string): Address {
  return { partition: indexPartition, kind: responseIndexKind, id };
}
