import { parseWorkspaceId, type WorkspaceId } from '../call/workspace.ts';
import type { Storage } from './storage/storage.ts';

/** What has an id of its own and belongs to a workspace. */
export type OwnedKind = 'credential' | 'api-key';

/**
 * Which workspace something belongs to, for requests that name it by its id alone. Written before the thing itself and
 * removed after it: an owner of nothing does no harm, and says nothing of what is there.
 */
export interface Owners {
  /** null: of nobody. */
  of(kind: OwnedKind, id: string): Promise<WorkspaceId | null>;
  claim(kind: OwnedKind, id: string, workspaceId: WorkspaceId): Promise<void>;
  release(kind: OwnedKind, id: string): Promise<void>;
}

export function createOwners(storage: Storage): Owners {
  // A partition each: they need not be written together, and in a cluster should not all lie on one node.
  const at = (kind: OwnedKind, id: string) => ({ partition: `${kind}.${id}`, kind: 'owner', id: 'owner' });
  return {
    async of(kind, id) {
      const text = await storage.get(at(kind, id));
      return text === null ? null : parseWorkspaceId(text);
    },
    claim: async (kind, id, workspaceId) => void (await storage.commit([{ at: at(kind, id), value: workspaceId }])),
    release: async (kind, id) => void (await storage.commit([{ at: at(kind, id), value: null }])),
  };
}
