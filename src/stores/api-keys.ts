import * as z from 'zod';
import type { Clock } from '../base/clock.ts';
import { tryParseJson } from '../base/json.ts';
import { lazily } from '../base/lazily.ts';
import { maskSecret, sha256Hex } from '../base/secrets.ts';
import type { Permission } from '../call/call.ts';
import { parseWorkspaceId, type WorkspaceId } from '../call/workspace.ts';
import { storedApiKeySchema } from '../schema/api-key.ts';
import { createCache } from './cache.ts';
import { ConflictError, perWorkspace } from './collection.ts';
import { readAll } from './credentials/read-all.ts';
import { damagedRecord } from './damaged.ts';
import { beingDeleted, unlessDeleted } from './deletion.ts';
import type { Owners } from './owners.ts';
import type { Page, Storage } from './storage/storage.ts';

const recordSchema = lazily(() =>
  storedApiKeySchema().extend({
    workspaceId: z.custom<WorkspaceId>((id) => typeof id === 'string' && parseWorkspaceId(id) !== null),
  }),
);
/** A key as it is stored: its hash, never the key. */
export interface ApiKeyRecord extends z.infer<ReturnType<typeof recordSchema>> {}

/** What may be changed of a key later on. */
export interface ApiKeySettings {
  name: string;
  permissions: readonly Permission[];
  disabled: boolean;
  /** Integer nano-USD; null: only the budgets of its workspace count. */
  limitNanoUsd: number | null;
  /** null: the limit never starts anew. */
  limitReset: 'daily' | 'weekly' | 'monthly' | null;
  includeByokInLimit: boolean;
}

export interface ApiKeyInput extends Omit<ApiKeySettings, 'disabled'> {
  creatorUserId: string | null;
  /** Epoch ms; null: never. */
  expiresAtMs: number | null;
}

/** Api keys, per workspace and by hash. Only their hashes are stored. */
export interface ApiKeyStore {
  /**
   * By hash, whatever its workspace; null: there is none. From a cache of a few seconds, and without a promise where it
   * is known: for a request on its way. Disabled and expired keys are found as well.
   */
  known(hash: string): ApiKeyRecord | null | Promise<ApiKeyRecord | null>;
  get(workspaceId: WorkspaceId, hash: string): Promise<ApiKeyRecord | null>;
  /** In the order in which they were made. */
  list(workspaceId: WorkspaceId, page: Page & { includeDisabled: boolean }): Promise<ApiKeyRecord[]>;
  /** @throws GatewayError invalid_request (400): the workspace is being deleted */
  create(workspaceId: WorkspaceId, input: ApiKeyInput): Promise<{ key: string; record: ApiKeyRecord }>;
  /**
   * What is left out stays; where all is left out, nothing changes. Seen at once here, by other instances within the cache's time.
   * @returns null: there is none
   * @throws GatewayError invalid_request (400): the workspace is being deleted, and the key would work again
   */
  update(workspaceId: WorkspaceId, hash: string, given: Partial<ApiKeySettings>): Promise<ApiKeyRecord | null>;
  /** false: there was none. */
  delete(workspaceId: WorkspaceId, hash: string): Promise<boolean>;
  deleteAll(workspaceId: WorkspaceId): Promise<void>;
  /** How many are neither disabled nor expired. */
  countLive(workspaceId: WorkspaceId): Promise<number>;
}

export interface ApiKeyStoreDeps {
  storage: Storage;
  owners: Owners;
  clock: Clock;
  /** `size` random bytes. */
  randomBytes: (size: number) => Uint8Array;
  /** How long a key is believed before the store is asked again. */
  cacheMs: number;
}

const kind = 'api-key';

export function createApiKeys({ storage, owners, clock, randomBytes, cacheMs }: ApiKeyStoreDeps): ApiKeyStore {
  const records = perWorkspace<ApiKeyRecord>({ storage, kind, schema: recordSchema });
  // Unknown keys are remembered, too, so that guessing does not load the store.
  const cache = createCache({ clock, ttlMs: cacheMs, load });

  const allOf = (workspaceId: WorkspaceId) =>
    readAll(
      (page) => storage.list(workspaceId, kind, page),
      ({ id }) => id,
    );

  async function load(hash: string): Promise<ApiKeyRecord | null> {
    const owner = await owners.of('api-key', hash);
    const record = owner === null ? null : await records(owner).get(hash);
    if (record === null || (record.hash === hash && record.workspaceId === owner)) return record;
    // It lies where another belongs.
    throw damagedRecord(kind);
  }

  /** Not by the collection, which would read it: what is damaged can be deleted, too. */
  async function remove(workspaceId: WorkspaceId, hash: string): Promise<boolean> {
    const at = { partition: workspaceId, kind, id: hash };
    try {
      const wasThere = (await storage.get(at)) !== null;
      await storage.commit([{ at, value: null }]);
      // Also where it is gone: an earlier deletion may have been broken off between the two.
      await owners.release('api-key', hash);
      return wasThere;
    } finally {
      cache.forget(hash);
    }
  }

  return {
    known: (hash) => cache.get(hash),
    get: (workspaceId, hash) => records(workspaceId).get(hash),
    async list(workspaceId, { offset, limit, includeDisabled }) {
      if (includeDisabled) return (await records(workspaceId).list({ offset, limit })).records;
      const all = await readAll(records(workspaceId).list, ({ hash }) => hash);
      return all.filter(({ disabled }) => !disabled).slice(offset, offset + limit);
    },
    async create(workspaceId, { permissions, ...input }) {
      const key = `sk-gw-${base62(randomBytes(32))}`;
      const hash = sha256Hex(key);
      const record: ApiKeyRecord = {
        ...input,
        permissions: [...new Set(permissions)],
        hash,
        label: maskSecret(key),
        workspaceId,
        disabled: false,
        createdAtMs: clock.now(),
        updatedAtMs: null,
      };
      await owners.claim('api-key', hash, workspaceId);
      const also = [unlessDeleted(workspaceId)];
      if (await records(workspaceId).create(hash, record, { rank: record.createdAtMs, also })) {
        cache.forget(hash);
        return { key, record };
      }
      await owners.release('api-key', hash);
      throw beingDeleted();
    },
    async update(workspaceId, hash, given) {
      if (Object.keys(given).length === 0) return records(workspaceId).get(hash);
      const { permissions, ...rest } = given;
      const changes = { ...rest, ...(permissions ? { permissions: [...new Set(permissions)] } : {}) };
      try {
        return await records(workspaceId).update(
          hash,
          (record) => ({ ...record, ...changes, updatedAtMs: clock.now() }),
          (before, after) => (before.disabled && !after.disabled ? [unlessDeleted(workspaceId)] : []),
        );
      } catch (error) {
        throw error instanceof ConflictError ? beingDeleted() : error;
      } finally {
        // Also after a failure: it may have been written all the same.
        cache.forget(hash);
      }
    },
    delete: remove,
    async deleteAll(workspaceId) {
      for (const { id } of await allOf(workspaceId)) await remove(workspaceId, id);
    },
    async countLive(workspaceId) {
      const isLive = ({ disabled, expiresAtMs }: ApiKeyRecord) =>
        !disabled && (expiresAtMs === null || expiresAtMs > clock.now());
      // One that is damaged lets nobody in.
      const keys = (await allOf(workspaceId)).map(({ value }) => recordSchema().safeParse(tryParseJson(value)));
      return keys.filter(({ data }) => data !== undefined && isLive(data)).length;
    },
  };
}

const letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Letters and digits only, so that a double click selects a key. A byte modulo 62 leans to the first ones by a hair. */
function base62(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += letters[byte % 62];
  return text;
}
