import { GatewayError } from '../base/errors.ts';
import { parseWorkspaceId, type WorkspaceId } from '../call/workspace.ts';
import { damagedRecord } from './damaged.ts';
import type { Storage } from './storage/storage.ts';

/** The kinds of things that have an id of their own and belong to a workspace. */
export type OwnedKind = 'credential' | 'api-key' | 'guardrail';

/**
 * Finds the workspace of a thing, for requests that name the thing by its id alone. The owner is written before the
 * thing and removed after it. So an owner may exist without its thing, which does no harm. An owner does not prove that
 * the thing exists.
 */
export interface Owners {
  /** @returns null: the id belongs to no workspace */
  of(kind: OwnedKind, id: string): Promise<WorkspaceId | null>;
  /**
   * Notes the owner of an id. May be repeated.
   * @throws GatewayError internal (500) when the id belongs to another workspace already; nothing has changed then
   */
  claim(kind: OwnedKind, id: string, workspaceId: WorkspaceId): Promise<void>;
  release(kind: OwnedKind, id: string): Promise<void>;
}

export function createOwners(storage: Storage): Owners {
  // Each owner has a partition of its own: owners need not be written together, and a cluster should spread them.
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

/** The characters that an id may have in the name of a partition. Ids from outside may be any text. */
const ids = /^[A-Za-z0-9_.-]{1,80}$/;
