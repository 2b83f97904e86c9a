import { type Clock, isoTime } from '../base/clock.ts';
import { definedOnly } from '../base/defined-only.ts';
import { GatewayError, isGatewayError } from '../base/errors.ts';
import type { Ids } from '../base/ids.ts';
import type { ByokCredential } from '../call/facts.ts';
import type { WorkspaceId } from '../call/workspace.ts';
import {
  type CreateCredential,
  type StoredCredential,
  storedCredentialSchema,
  type UpdateCredential,
} from '../schema/credential.ts';
import { createCache } from './cache.ts';
import { perWorkspace } from './collection.ts';
import { createAddCredential } from './credentials/add.ts';
import { type KeyReader, type OpenedKey, plainKey } from './credentials/key.ts';
import { createOpenedSecrets } from './credentials/opened.ts';
import { readAll } from './credentials/read-all.ts';
import { byTrying, credentialKind, labelOf, ownCredential } from './credentials/record.ts';
import { removeAllCredentials, removeCredential } from './credentials/remove.ts';
import { resealCredential } from './credentials/reseal.ts';
import { damagedRecord } from './damaged.ts';
import type { Owners } from './owners.ts';
import type { Page, Storage } from './storage/storage.ts';
import type { SecretOwner, Vault } from './vault.ts';

/**
 * The provider keys a workspace brought (BYOK). Every method rejects with GatewayError unavailable (503) when the store
 * cannot tell. What is changed here is seen here at once, by other instances within the cache's time.
 */
export interface Credentials {
  /**
   * The new one is the last of its provider's.
   * @throws GatewayError invalid_request (400): the workspace has as many as it may, or the key lacks a part that its
   *         provider asks for; unavailable (503): no master key
   */
  create(input: Omit<CreateCredential, 'workspace_id'>): Promise<StoredCredential>;
  /** null: there is none. */
  get(id: string): Promise<StoredCredential | null>;
  /** In the order they were made. */
  list(page: Page & { provider?: string }): Promise<{ records: StoredCredential[]; total: number }>;
  /**
   * @returns null: there is none
   * @throws GatewayError invalid_request (400): the key lacks a part that its provider asks for
   */
  update(id: string, patch: UpdateCredential): Promise<StoredCredential | null>;
  /** Wipes the key with all that belongs to it. false: there is none. */
  delete(id: string): Promise<boolean>;
  /** Wipes all, of a workspace that is deleted; may be done twice. */
  deleteAll(): Promise<void>;
  /**
   * Those that may be tried, in that order: not disabled, and not found lately to be such as will not open. Without a
   * promise where they are known.
   */
  usable(): readonly ByokCredential[] | Promise<readonly ByokCredential[]>;
  /**
   * The key itself, always the same object until it changes. Without a promise where it is known.
   * @throws GatewayError not_found (404): deleted meanwhile; internal (500), logged: it will not open; unavailable (503):
   *         the store or the key service is out of reach. All by rejecting
   */
  open(id: string): OpenedKey | Promise<OpenedKey>;
}

export interface CredentialsDeps {
  storage: Storage;
  vault: Vault;
  owners: Owners;
  clock: Clock;
  ids: Ids;
  /** How long a workspace's credentials are believed before the store is asked again. */
  cacheMs: number;
  /** How many a workspace may have: every request reads them all. Default 500. */
  maxPerWorkspace?: number;
  /** What a key means to its provider. Default: one string. */
  readKey?: KeyReader;
  /** Is called for keys that do not open. */
  warn?: (fields: object, message: string) => void;
}

/** A workspace's, as they are remembered. */
interface Remembered {
  records: ReadonlyMap<string, StoredCredential>;
  usable: readonly ByokCredential[];
}

/** There is no way to a credential but by naming its workspace. */
export function createCredentials(deps: CredentialsDeps): (workspaceId: WorkspaceId) => Credentials {
  const {
    storage,
    vault,
    owners,
    clock,
    ids,
    maxPerWorkspace = 500,
    readKey = plainKey,
    warn = () => undefined,
  } = deps;
  const collections = perWorkspace({ storage, kind: credentialKind, schema: storedCredentialSchema });
  const nowIso = () => isoTime(clock.now());
  const add = createAddCredential({ storage, collections, maxPerWorkspace });

  const opened = createOpenedSecrets({
    clock,
    open: async (workspaceId, record) => {
      const secret = await vault.open(record.sealed, ownerOf(workspaceId, record));
      if (vault.needsReseal(record.sealed)) void resealInBackground(workspaceId, record);
      return readStored(record.provider, secret);
    },
    onBroken: (workspaceId, { id, provider }, error) =>
      warn(
        { workspaceId, credentialId: id, provider, error: reasonOf(error) },
        'A provider credential is left out: its key cannot be opened',
      ),
  });

  const remembered = createCache<Remembered>({
    clock,
    ttlMs: deps.cacheMs,
    load: async (workspaceId) => {
      const found = await readAll(collections(workspaceId as WorkspaceId).list, idOf);
      const records = new Map(found.map((record) => [record.id, record]));
      opened.keep(workspaceId as WorkspaceId, records);
      const usable = found.filter(({ disabled }) => !disabled).sort(byTrying);
      return { records, usable: usable.map(ownCredential) };
    },
  });

  /** Its provider may ask for other parts than when the key was stored. */
  function readStored(provider: string, secret: string): OpenedKey {
    try {
      return readKey(provider, secret).key;
    } catch (cause) {
      throw new GatewayError('internal', 'A provider credential lacks what its provider asks for', { cause });
    }
  }

  async function resealInBackground(workspaceId: WorkspaceId, record: StoredCredential): Promise<void> {
    try {
      await resealCredential({ vault, collection: collections(workspaceId) }, workspaceId, record);
    } catch {
      // It opens as it is; the next opening, or a rotation, tries again.
    }
  }

  return (workspaceId) => {
    const collection = collections(workspaceId);

    /** Even a change that failed may have been made: whether it was, the store knows. */
    async function changing<T>(change: Promise<T>): Promise<T> {
      try {
        return await change;
      } finally {
        remembered.forget(workspaceId);
      }
    }

    /** An owner of nothing that is left behind does no harm. */
    async function leave(id: string): Promise<void> {
      await owners.release('credential', id).catch(() => undefined);
    }

    return {
      async create({ key, provider, ...settings }) {
        const { labelled } = readKey(provider, key);
        const id = ids.uuid();
        const record: StoredCredential = {
          id,
          workspace_id: workspaceId,
          provider,
          name: null,
          label: labelOf(labelled),
          disabled: false,
          is_fallback: false,
          sort_order: 0,
          allowed_models: null,
          allowed_user_ids: null,
          allowed_api_key_hashes: null,
          ...definedOnly(settings),
          created_at: nowIso(),
          updated_at: null,
          sealed: await vault.seal(key, { workspaceId, provider, credentialId: id }),
        };
        await owners.claim('credential', id, workspaceId);
        try {
          return await changing(add(workspaceId, record));
        } catch (error) {
          // Not after an outage: what may have been written must be found by its id.
          if (isGatewayError(error) && error.kind !== 'unavailable') await leave(id);
          throw error;
        }
      },
      async get(id) {
        const record = await collection.get(id);
        return record && checked(record, workspaceId, id);
      },
      async list({ offset, limit, provider }) {
        if (provider === undefined) return collection.list({ offset, limit });
        const all = await readAll(collection.list, idOf);
        const records = all.filter((record) => record.provider === provider);
        return { records: records.slice(offset, offset + limit), total: records.length };
      },
      async update(id, { key, ...settings }) {
        const change = async (record: StoredCredential): Promise<StoredCredential> => ({
          ...checked(record, workspaceId, id),
          ...definedOnly(settings),
          ...(key === undefined
            ? {}
            : {
                label: labelOf(readKey(record.provider, key).labelled),
                sealed: await vault.seal(key, ownerOf(workspaceId, record)),
              }),
          updated_at: nowIso(),
        });
        const changed = await changing(collection.update(id, change));
        if (key !== undefined) opened.forget(workspaceId, id);
        return changed;
      },
      async delete(id) {
        const wasThere = await changing(removeCredential(storage, workspaceId, id));
        opened.forget(workspaceId, id);
        if (wasThere) await leave(id);
        return wasThere;
      },
      async deleteAll() {
        for await (const ids of removeAllCredentials(storage, workspaceId)) {
          remembered.forget(workspaceId);
          for (const id of ids) opened.forget(workspaceId, id);
          await Promise.all(ids.map(leave));
        }
      },
      usable() {
        const pick = ({ usable }: Remembered) => opened.withoutBroken(workspaceId, usable);
        const known = remembered.get(workspaceId);
        return known instanceof Promise ? known.then(pick) : pick(known);
      },
      open(id) {
        const openIn = ({ records }: Remembered) => {
          const record = records.get(id);
          return record ? opened.get(workspaceId, record) : Promise.reject(isGone());
        };
        const known = remembered.get(workspaceId);
        return known instanceof Promise ? known.then(openIn) : openIn(known);
      },
    };
  };
}

function idOf({ id }: { id: string }): string {
  return id;
}

/** What lies elsewhere than it says was put there by somebody else, and may be of another workspace. */
function checked(record: StoredCredential, workspaceId: WorkspaceId, id: string): StoredCredential {
  if (record.id === id && record.workspace_id === workspaceId) return record;
  throw damagedRecord(credentialKind);
}

/** Where a record lies decides, not what it says of that: one that was moved does not open. */
function ownerOf(workspaceId: WorkspaceId, { id, provider }: StoredCredential): SecretOwner {
  return { workspaceId, provider, credentialId: id };
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message : 'unknown';
}

function isGone(): GatewayError {
  return new GatewayError('not_found', 'This provider credential was deleted');
}
