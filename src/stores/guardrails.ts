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
} from '../schema/tenants/guardrail.ts';
import type { SetBy } from './access.ts';
import { ConflictError, perWorkspace } from './collection.ts';
import { beingDeleted, unlessDeleted } from './deletion.ts';
import type { Owners } from './owners.ts';
import type { Address, Storage } from './storage/storage.ts';

/** The guardrails of one workspace, with their assignments. */
export interface Guardrails {
  /** Lists the guardrails in order of creation. */
  list(): Promise<readonly StoredGuardrail[]>;
  /** @returns null: there is no such guardrail */
  get(id: string): Promise<StoredGuardrail | null>;
  /**
   * @param steps  the most steps that the expressions of the guardrail may take
   * @throws GatewayError invalid_request (400): the workspace has as many guardrails as it may, or is being deleted
   */
  create(settings: GuardrailSettings, steps: number, by: SetBy): Promise<StoredGuardrail>;
  /**
   * @returns null: there is no such guardrail
   * @throws GatewayError permission_denied (403): a workspace would change a guardrail of an operator; invalid_request
   *         (400): the guardrails that act on one request may then take too many steps
   */
  update(id: string, by: SetBy, change: (before: StoredGuardrail) => StoredGuardrail): Promise<StoredGuardrail | null>;
  /** Throws like `update`. @returns false: there was no such guardrail */
  delete(id: string, by: SetBy): Promise<boolean>;
  /** Gives a new key the guardrails of the key that has made it. */
  inherit(maker: string, made: string): Promise<void>;
  /** Removes a deleted key from all guardrails. */
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
  /** The most steps of all guardrails that act on one request. */
  maxSteps: number;
  /** Counts the steps that the expressions of settings may take: earlier versions did not store the number. */
  stepsOf(settings: GuardrailSettings): Promise<number>;
  /** Called after each write, to drop the cached guardrails of the workspace. */
  forget(workspaceId: WorkspaceId): void;
}

const id = 'all';
const kind = 'guardrails';

/** The address of the guardrails of a workspace: one record, which requests read together with the budgets. */
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
        // Also after a failure: the store may have written the change nevertheless.
        deps.forget(workspaceId);
      }
    }

    async function update(
      one: string,
      by: SetBy,
      edit: (before: StoredGuardrail) => StoredGuardrail | null,
      check?: (before: readonly StoredGuardrail[], after: readonly StoredGuardrail[], id: string) => void,
    ) {
      const known = await list();
      if (known.every((guardrail) => guardrail.id !== one)) return null;
      const counted = await countedSteps(known);
      let after: StoredGuardrail | null = null;
      let wasThere = false;
      await change((all) => {
        after = null;
        wasThere = false;
        const before = all.map((guardrail) => ({
          ...guardrail,
          // A process of an earlier version may have written this one meanwhile. Then it counts as the most, which
          // leaves no room beside it.
          steps: guardrail.steps ?? counted.get(guardrail.id) ?? deps.maxSteps,
        }));
        const edited = before.flatMap((guardrail): StoredGuardrail[] => {
          if (guardrail.id !== one) return [guardrail];
          if (by === 'workspace' && guardrail.setBy === 'operator') throw ofOperator();
          wasThere = true;
          after = edit(guardrail);
          return after === null ? [] : [after];
        });
        if (after !== null) check?.(before, edited, one);
        return edited;
      });
      return wasThere ? { after: after as StoredGuardrail | null } : null;
    }

    /** The steps of guardrails that earlier versions have written. */
    async function countedSteps(all: readonly StoredGuardrail[]): Promise<ReadonlyMap<string, number>> {
      const counted = new Map<string, number>();
      for (const { id: one, settings, steps } of all)
        if (steps === null) counted.set(one, await deps.stepsOf(settings));
      return counted;
    }

    /** Changes the keys that guardrails act on. Writes only if a guardrail changes. */
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
      async create(settings, steps, by) {
        const made: StoredGuardrail = {
          id: ids.uuid(),
          settings,
          steps,
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
        const updated = await update(
          one,
          by,
          (before) => {
            const after = edit(before);
            if (after.keyHashes.length > maxAssignedKeys) throw tooManyKeys();
            return { ...after, updatedAtMs: clock.now() };
          },
          (before, after, changed) => {
            const steps = mostSteps(after, changed);
            // A change that lowers the steps is never refused.
            if (steps > deps.maxSteps && steps > mostSteps(before, changed)) throw tooManySteps(steps, deps.maxSteps);
          },
        );
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

/** The most steps that guardrails take for one request on which the given guardrail acts. */
function mostSteps(all: readonly StoredGuardrail[], id: string): number {
  const { ofWorkspace, keyHashes } = all.find((one) => one.id === id) as StoredGuardrail;
  let ofAll = 0;
  const ofKey = new Map<string, number>();
  for (const one of all) {
    if (one.ofWorkspace) ofAll += one.steps ?? 0;
    else for (const hash of one.keyHashes) ofKey.set(hash, (ofKey.get(hash) ?? 0) + (one.steps ?? 0));
  }
  const keys = ofWorkspace ? [...ofKey.values()] : keyHashes.map((hash) => ofKey.get(hash) ?? 0);
  const most = keys.reduce((largest, steps) => Math.max(largest, steps), 0);
  return ofWorkspace || keys.length > 0 ? ofAll + most : 0;
}

function tooManySteps(steps: number, most: number): GatewayError {
  return new GatewayError(
    'invalid_request',
    `The expressions of all guardrails that would act on one request may take ${steps} steps (instructions times characters), and the limit is ${most}`,
  );
}

function tooManyKeys(): GatewayError {
  return new GatewayError('invalid_request', `A guardrail is assigned to at most ${maxAssignedKeys} keys`);
}
