import { GatewayError } from '../base/errors.ts';
import { parseWorkspaceId, type WorkspaceId } from '../call/workspace.ts';
import { damagedRecord } from './damaged.ts';
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
  /**
   * May be repeated.
   * @throws GatewayError internal (500) when it belongs to another workspace already: then nothing has changed
   */
  claim(kind: OwnedKind, id: string, workspaceId: WorkspaceId): Promise<void>;
  release(kind: OwnedKind, id: string): Promise<void>;
}

export function createOwners(storage: Storage): Owners {
  // A partition each: they need not be written together, and in a cluster should not all lie on one node.
  const at = (kind: OwnedKind, id: string) => ({ partition: `${kind}.${id}`, kind: 'owner', id: 'owner' });
  return {
    async of(kind, id) {
      if (!ids.test(id)) return null;
      const text = await storage.get(at(kind, id));
      if (text === null) return null;
      const owner = parseWorkspaceId(text);
      if (owner === null) throw damagedRecord('owner');
      return owner;
    },
    async claim(kind, id, workspaceId) {
      if (await storage.commit([{ at: at(kind, id), expect: null, value: workspaceId }])) return;
      if ((await storage.get(at(kind, id))) === workspaceId) return;
      throw new GatewayError('internal', 'This id is taken', {
        cause: new Error(`${kind} belongs to another workspace`),
      });
    },
    release: async (kind, id) => void (await storage.commit([{ at: at(kind, id), value: null }])),
  };
}

/** What can stand in the name of a partition behind its kind. What comes from outside may be any text. */
const ids = /^[A-Za-z0-9_.-]{1,80}$/;
