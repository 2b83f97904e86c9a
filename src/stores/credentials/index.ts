import { type Clock, isoTime } from '../../base/clock.ts';
import { definedOnly } from '../../base/defined-only.ts';
import { GatewayError, isGatewayError } from '../../base/errors.ts';
import { createFairCache } from '../../base/fair-cache.ts';
import type { Ids } from '../../base/ids.ts';
import type { ByokCredential } from '../../call/facts.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import {
  type CreateCredential,
  type StoredCredential,
  storedCredentialSchema,
  type UpdateCredential,
} from '../../schema/tenants/credential.ts';
import { createCache } from '../cache.ts';
import { perWorkspace } from '../collection.ts';
import { damagedRecord } from '../damaged.ts';
import type { Owners } from '../owners.ts';
import type { Page, Storage } from '../storage/storage.ts';
import type { SecretOwner, Vault } from '../vault/index.ts';
import { createAddCredential } from './add.ts';
import { type KeyReader, type OpenedKey, plainKey } from './key.ts';
import { createOpenedSecrets } from './opened.ts';
import { createPatternCap } from './pattern-cap.ts';
import { readAll } from './read-all.ts';
import { byTrying, credentialKind, labelOf, ownCredential } from './record.ts';
import { removeAllCredentials, removeCredential } from './remove.ts';
import { resealCredential } from './reseal.ts';

/**
 * The provider keys of a workspace (BYOK). Every method rejects with GatewayError unavailable (503) when the store does
 * not respond. This instance sees its changes at once, other instances within the time of the cache.
 */
export interface Credentials {
  /**
   * Adds a new credential after the others of its provider. A key that lacks a part which its provider needs is stored
   * together with the list of missing parts, and is not used.
   * @throws GatewayError invalid_request (400): the workspace has as many credentials as it may; unavailable (503):
   * there
   *         is no master key
   */
  create(input: Omit<CreateCredential, 'workspace_id'>): Promise<StoredCredential>;
  /** @returns null: there is no such credential */
  get(id: string): Promise<StoredCredential | null>;
  /** Lists the credentials in order of creation. */
  list(page: Page & { provider?: string }): Promise<{ records: StoredCredential[]; total: number }>;
  /** @returns null: there is no such credential */
  update(id: string, patch: UpdateCredential): Promise<StoredCredential | null>;
  /** Wipes the record with its key. @returns false: there was no such credential */
  delete(id: string): Promise<boolean>;
  /** Wipes all credentials of a workspace that is being deleted. May be repeated. */
  deleteAll(): Promise<void>;
  /**
   * The credentials that may be used, in the order of use. Disabled ones are left out, and those that recently did not
   * open. A credential that is not sent to its provider is marked. Returns no promise when the cache has them.
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
  /** The time in ms for which the cached credentials of a workspace are used before the store is read again. */
  cacheMs: number;
  /** The most credentials of a workspace, since every request reads them all. Default 500. */
  maxPerWorkspace?: number;
  /** The most different patterns with a star in all credentials of a workspace. Default 1000. */
  maxPatterns?: number;
  /** Reads a key in the form that its provider expects. Default: one string. */
  readKey?: KeyReader;
  /** Tells whether the gateway sends credentials of workspaces to a provider. Default: yes. */
  takesByok?: (provider: string) => boolean;
  /** Called for each key that does not open. */
  warn?: (fields: object, message: string) => void;
}

/**
 * The size of the cache of parsed records, in thousands of characters of their text. A workspace may have 500
 * credentials with 100 patterns each, and they are read every few seconds: checking all of them took 100 ms.
 */
const maxKnownThousands = 20_000;

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
    maxPatterns = 1000,
    readKey = plainKey,
    takesByok = () => true,
    warn = () => undefined,
  } = deps;
  const known = createFairCache<string, StoredCredential>({
    clock,
    max: maxKnownThousands,
    placesOf: (text) => Math.ceil(text.length / 1_000),
  });
  const collections = perWorkspace<StoredCredential>({
    storage,
    kind: credentialKind,
    schema: storedCredentialSchema,
    known: { get: known.get, set: (text, record) => known.set(record.workspace_id, text, record) },
  });
  const nowIso = () => isoTime(clock.now());
  const add = createAddCredential({ storage, collections, maxPerWorkspace });
  const patterns = createPatternCap({
    readAll: (workspaceId) => readAll(collections(workspaceId).list, idOf),
    max: maxPatterns,
  });

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

  /** Reads the key again, because its provider may need other parts than at the time of storing. */
  function readStored(provider: string, secret: string): OpenedKey {
    const { key, lacks } = readKey(provider, secret);
    if (key !== null) return key;
    throw new GatewayError('internal', 'A provider credential lacks what its provider asks for', {
      cause: new Error(lacks ?? undefined),
    });
  }

  /** The fields that a new key changes. */
  async function keyFields(workspaceId: WorkspaceId, record: StoredCredential, key: string) {
    const { labelled, lacks } = readKey(record.provider, key);
    const sealed = await vault.seal(key, ownerOf(workspaceId, record));
    return { label: labelOf(labelled), lacks, sealed };
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

    /**
     * Clears the cache after every change, also after a failed one: only the store knows whether the change was
     * written.
     */
    async function changing<T>(change: Promise<T>): Promise<T> {
      try {
        return await change;
      } finally {
        remembered.forget(workspaceId);
      }
    }

    /** Removes the owner. If that fails, the owner stays without a credential, which does no harm. */
    async function leave(id: string): Promise<void> {
      await owners.release('credential', id).catch(() => undefined);
    }

    return {
      async create({ key, provider, ...settings }) {
        const { labelled, lacks } = readKey(provider, key);
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
          lacks,
        };
        await owners.claim('credential', id, workspaceId);
        try {
          return await changing(
            patterns.within(workspaceId, null, record.allowed_models, () => add(workspaceId, record)),
          );
        } catch (error) {
          // After an outage the owner stays: the credential may have been written, and must then be found by its id.
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
          ...(key === undefined ? {} : await keyFields(workspaceId, record, key)),
          updated_at: nowIso(),
        });
        const changed = await changing(
          patterns.within(workspaceId, id, settings.allowed_models, () => collection.update(id, change)),
        );
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

/**
 * Checks that a record is at its own address. Otherwise somebody else has put it there, and it may be of another
 * workspace.
 */
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
