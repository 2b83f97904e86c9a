import type { WorkspaceId } from '../../call/workspace.ts';
import type { Address } from '../../stores/storage/storage.ts';
import { indexPartition } from '../records/places.ts';

/** The kind of the entries of conversations. Those of a workspace are in its own partition, the last changed first. */
export const entryKind = 'stored-conversation';

export function entryAt(workspaceId: WorkspaceId, id: string): Address {
  return { partition: workspaceId, kind: entryKind, id };
}

/** The address of the items and the metadata. It is in no list: lists stay short to read. */
export function contentAt(workspaceId: WorkspaceId, id: string): Address {
  return { partition: workspaceId, kind: 'stored-conversation-content', id };
}

/** The kind of the index of the conversations of all workspaces, with the workspace of each. */
export const conversationIndexKind = 'stored-conversation-owner';

export function conversationIndexAt(id: string): Address {
  return { partition: indexPartition, kind: conversationIndexKind, id };
}
