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
 * The provider keys of a workspace (BYOK). Every method rejects with GatewayError unavailable (503) when the store does
 * not respond. This instance sees its changes at once, other instances within the time of the cache.
 */
export interface Credentials {
  /**
   * Adds the new credential after the others of its provider.
   * @throws GatewayError invalid_request (400): the workspace has as many as it may, or the key lacks a
   *         part that its provider needs; unavailable (503): no master key
   */
  create(input: Omit<CreateCredential, 'workspace_id'>): Promise<StoredCredential>;
  /** @returns null: there is no such credential */
  get(id: string): Promise<StoredCredential | null>;
  /** In order of creation. */
  list(page: Page & { provider?: string }): Promise<{ records: StoredCredential[]; total: number }>;
  /**
   * @returns null: there is no such credential
   * @throws GatewayError invalid_request (400): the key lacks a part that its provider needs
   */
  update(id: string, patch: UpdateCredential): Promise<StoredCredential | null>;
  /** Wipes the record with its key. @returns false: there was no such credential */
  delete(id: string): Promise<boolean>;
  /** Wipes all credentials of a workspace that is being deleted. May be repeated. */
  deleteAll(): Promise<void>;
  /**
   * The credentials that may be used, in order: not disabled, and not recently found impossible to open. Those that
   * their provider is not sent are marked. Returns no promise when they are cached.
   */
  usable(): readonly ByokCredential[] | Promise<readonly ByokCredential[]>;
  /**
   * Opens the key. Returns the same object until the key changes, and no promise when the key is cached.
   * @throws GatewayError not_found (404): deleted meanwhile; internal (500), logged: the key cannot be opened;
   *         unavailable (503): the store or the key service is out of reach. Always by rejecting
   */
  open(id: string): OpenedKey | Promise<OpenedKey>;
}

export interface CredentialsDeps {
  storage: Storage;
  vault: Vault;
  owners: Owners;
  clock: Clock;
  ids: Ids;
  /** How long the cached credentials of a workspace are used before the store is read again. */
  cacheMs: number;
  /** The most credentials of a workspace: every request reads them all. Default 500. */
  maxPerWorkspace?: number;
  /** Reads a key in the form that its provider expects. Default: one string. */
  readKey?: KeyReader;
  /** Whether the gateway sends a provider credentials of workspaces. Default: it does. */
  takesByok?: (provider: string) => boolean;
  /** Called for keys that cannot be opened. */
  warn?: (fields: object, message: string) => void;
}

/** The cached credentials of a workspace. */
interface Remembered {
  records: ReadonlyMap<string, StoredCredential>;
  usable: readonly ByokCredential[];
}

/** Every access to a credential names its workspace. */
export function createCredentials(deps: CredentialsDeps): (workspaceId: WorkspaceId) => Credentials {
  const {
    storage,
    vault,
    owners,
    clock,
    ids,
    maxPerWorkspace = 500,
    readKey = plainKey,
    takesByok = () => true,
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
      return { records, usable: usable.map((one) => ownCredential(one, takesByok(one.provider))) };
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
      // The key opens without resealing. The next opening, or a rotation, tries to reseal it again.
    }
  }

  return (workspaceId) => {
    const collection = collections(workspaceId);

    /** Clears the cache after every change. A change that failed may have been written: only the store knows. */
    async function changing<T>(change: Promise<T>): Promise<T> {
      try {
        return await change;
      } finally {
        remembered.forget(workspaceId);
      }
    }

    /** Removes the owner. If that fails, an owner without a credential stays, which does no harm. */
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
          // Not after an outage: the credential may have been written, and must then be found by its id.
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

/** A record found at another address than its own was put there by somebody else, and may be of another workspace. */
function checked(record: StoredCredential, workspaceId: WorkspaceId, id: string): StoredCredential {
  if (record.id === id && record.workspace_id === workspaceId) return record;
  throw damagedRecord(credentialKind);
}

/** The owner follows from the address of the record, not from its content: a record that was moved does not open. */
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
