import type { Clock } from '../base/clock.ts';
import { GatewayError } from '../base/errors.ts';
import type { Ids } from '../base/ids.ts';
import type { WorkspaceId } from '../call/workspace.ts';
import {
  type GuardrailSettings,
  maxAssignedKeys,
  type StoredGuardrail,
  type StoredGuardrails,
  storedGuardrailsSchema,
} from '../schema/guardrail.ts';
import type { SetBy } from './access.ts';
import { ConflictError, perWorkspace } from './collection.ts';
import { beingDeleted, unlessDeleted } from './deletion.ts';
import type { Owners } from './owners.ts';
import type { Address, Storage } from './storage/storage.ts';

/** The guardrails of one workspace, and what each is assigned to. */
export interface Guardrails {
  /** In order of creation. */
  list(): Promise<readonly StoredGuardrail[]>;
  /** @returns null: there is no such guardrail */
  get(id: string): Promise<StoredGuardrail | null>;
  /** @throws GatewayError invalid_request (400): there are as many as may be, or the workspace is being deleted */
  create(settings: GuardrailSettings, by: SetBy): Promise<StoredGuardrail>;
  /**
   * @returns null: there is no such guardrail
   * @throws GatewayError permission_denied (403): a workspace, of a guardrail that an operator has made
   */
  update(id: string, by: SetBy, change: (before: StoredGuardrail) => StoredGuardrail): Promise<StoredGuardrail | null>;
  /** As `update`. @returns false: there was no such guardrail */
  delete(id: string, by: SetBy): Promise<boolean>;
  /** A key that another has made gets the guardrails of that one. */
  inherit(maker: string, made: string): Promise<void>;
  /** The key is deleted. */
  forgetKey(hash: string): Promise<void>;
  deleteAll(): Promise<void>;
}

export interface GuardrailsDeps {
  storage: Storage;
  owners: Owners;
  clock: Clock;
  ids: Ids;
  /** The most guardrails of a workspace. */
  maxPerWorkspace: number;
  /** Is called after each write: what is cached of the workspace is not true any more. */
  forget(workspaceId: WorkspaceId): void;
}

const id = 'all';
const kind = 'guardrails';

/** Where the guardrails of a workspace are: one record, which requests read together with the budgets. */
export function guardrailsAt(workspaceId: WorkspaceId): Address {
  return { partition: workspaceId, kind, id };
}

/** Every access to a guardrail names its workspace. */
export function createGuardrails(deps: GuardrailsDeps): (workspaceId: WorkspaceId) => Guardrails {
  const { storage, owners, clock, ids } = deps;
  const records = perWorkspace<StoredGuardrails>({ storage, kind, schema: storedGuardrailsSchema });

  return (workspaceId) => {
    const collection = records(workspaceId);
    const guard = [unlessDeleted(workspaceId)];
    const list = async () => (await collection.get(id))?.guardrails ?? [];

    async function change(edit: (all: readonly StoredGuardrail[]) => StoredGuardrail[], guards = guard): Promise<void> {
      try {
        // Another process may write the first one between two of these steps.
        for (let race = 0; race < 20; race++) {
          const changed = await collection.update(
            id,
            ({ guardrails }) => ({ guardrails: edit(guardrails) }),
            () => guards,
          );
          if (changed || (await collection.create(id, { guardrails: edit([]) }, { also: guards }))) return;
          if ((await collection.get(id)) === null) break;
        }
        throw new ConflictError();
      } catch (error) {
        throw error instanceof ConflictError ? beingDeleted() : error;
      } finally {
        // Also after a failure: the store may have written the change all the same.
        deps.forget(workspaceId);
      }
    }

    async function update(one: string, by: SetBy, edit: (before: StoredGuardrail) => StoredGuardrail | null) {
      if ((await list()).every((guardrail) => guardrail.id !== one)) return null;
      let after: StoredGuardrail | null = null;
      let wasThere = false;
      await change((all) => {
        after = null;
        wasThere = false;
        return all.flatMap((before) => {
          if (before.id !== one) return [before];
          if (by === 'workspace' && before.setBy === 'operator') throw ofOperator();
          wasThere = true;
          after = edit(before);
          return after === null ? [] : [after];
        });
      });
      return wasThere ? { after: after as StoredGuardrail | null } : null;
    }

    /** Changes which keys guardrails act on, where it changes anything. */
    async function changeKeys(
      edit: (hashes: readonly string[]) => string[],
      touches: (one: StoredGuardrail) => boolean,
      guards = guard,
    ) {
      if (!(await list()).some(touches)) return;
      await change(
        (all) => all.map((one) => (touches(one) ? { ...one, keyHashes: edit(one.keyHashes) } : one)),
        guards,
      );
    }

    return {
      list,
      get: async (one) => (await list()).find((guardrail) => guardrail.id === one) ?? null,
      async create(settings, by) {
        const made: StoredGuardrail = {
          id: ids.uuid(),
          settings,
          setBy: by,
          ofWorkspace: false,
          keyHashes: [],
          createdAtMs: clock.now(),
          updatedAtMs: null,
        };
        await owners.claim('guardrail', made.id, workspaceId);
        await change((all) => {
          if (all.length >= deps.maxPerWorkspace) throw tooMany(deps.maxPerWorkspace);
          return [...all, made];
        });
        return made;
      },
      async update(one, by, edit) {
        const updated = await update(one, by, (before) => {
          const after = edit(before);
          if (after.keyHashes.length > maxAssignedKeys) throw tooManyKeys();
          return { ...after, updatedAtMs: clock.now() };
        });
        return updated?.after ?? null;
      },
      async delete(one, by) {
        const deleted = await update(one, by, () => null);
        if (deleted !== null) await owners.release('guardrail', one);
        return deleted !== null;
      },
      inherit: (maker, made) =>
        changeKeys(
          (hashes) => [...hashes, made],
          ({ keyHashes }) => keyHashes.includes(maker) && !keyHashes.includes(made),
        ),
      forgetKey: (hash) =>
        changeKeys(
          (hashes) => hashes.filter((one) => one !== hash),
          ({ keyHashes }) => keyHashes.includes(hash),
          // Also while the workspace is being deleted.
          [],
        ),
      async deleteAll() {
        try {
          // A damaged record can be deleted, too. Its owners stay, which does no harm.
          const all = await list().catch(() => []);
          for (const { id: one } of all) await owners.release('guardrail', one);
          await storage.commit([{ at: guardrailsAt(workspaceId), value: null }]);
        } finally {
          deps.forget(workspaceId);
        }
      },
    };
  };
}

function ofOperator(): GatewayError {
  return new GatewayError(
    'permission_denied',
    'An operator has made this guardrail, and only an operator can change, assign or remove it',
  );
}

function tooMany(most: number): GatewayError {
  return new GatewayError('invalid_request', `The workspace has ${most} guardrails, which is the most`);
}

function tooManyKeys(): GatewayError {
  return new GatewayError('invalid_request', `A guardrail is assigned to at most ${maxAssignedKeys} keys`);
}
