import * as z from 'zod';
import { createLock } from '../../base/async/lock.ts';
import type { Clock } from '../../base/clock.ts';
import { GatewayError, isGatewayError } from '../../base/errors.ts';
import { tryParseJson } from '../../base/json.ts';
import { lazily } from '../../base/lazily.ts';
import { maskSecret, sha256Hex } from '../../base/secrets.ts';
import type { Permission } from '../../call/call.ts';
import { parseWorkspaceId, type WorkspaceId } from '../../call/workspace.ts';
import { storedApiKeySchema, storedKeyPrefix } from '../../schema/tenants/api-key.ts';
import type { RateLimits } from '../../schema/tenants/rate-limits.ts';
import type { SetBy } from '../access.ts';
import { createCache } from '../cache.ts';
import { ConflictError, perWorkspace } from '../collection.ts';
import { readAll } from '../credentials/read-all.ts';
import { damagedRecord } from '../damaged.ts';
import { beingDeleted, deletionOf, unlessDeleted } from '../deletion.ts';
import type { Owners } from '../owners.ts';
import { createRanks } from '../rank.ts';
import type { Address, Change, Page, Storage } from '../storage/storage.ts';
import { changedLimits, limitsWithin } from './limits.ts';

/**
 * The most failed tries of a creation. A try fails when another process creates a key between our read and our write.
 */
const maxRaces = 50;

/**
 * Writes a new key, unless the workspace has as many as it may.
 * @param write  writes it together with the given changes; false: an expectation was not met
 * @throws GatewayError invalid_request (400): full, or being deleted; unavailable (503)
 */
type AddApiKey = (workspaceId: WorkspaceId, write: (also: readonly Change[]) => Promise<boolean>) => Promise<void>;

interface AddApiKeyDeps {
  storage: Storage;
  kind: string;
  maxPerWorkspace: number;
}

const recordSchema = lazily(() =>
  storedApiKeySchema().extend({
    workspaceId: z.custom<WorkspaceId>((id) => typeof id === 'string' && parseWorkspaceId(id) !== null),
  }),
);
/** A stored key. The record holds the hash, never the key. */
export interface ApiKeyRecord extends z.infer<ReturnType<typeof recordSchema>> {}

/** The properties of a key that can be changed later. */
export interface ApiKeySettings {
  name: string;
  permissions: readonly Permission[];
  disabled: boolean;
  /** Integer nano-USD; null: only the budgets of the workspace limit the key. */
  limitNanoUsd: number | null;
  /** null: the limit never resets. */
  limitReset: 'daily' | 'weekly' | 'monthly' | null;
  includeByokInLimit: boolean;
  /** Rate limits; null: those that the options give to every key. */
  requestsPerMinute: number | null;
  tokensPerMinute: number | null;
  requestsInFlight: number | null;
  /** Patterns of the models that the key may use; null: all of them. */
  allowedModels: string[] | null;
  /** Labels, copied into records. */
  tags: string[];
}

export interface ApiKeyInput extends Omit<ApiKeySettings, 'disabled'> {
  creatorUserId: string | null;
  /** Epoch ms; null: never. */
  expiresAtMs: number | null;
}

/** API keys, per workspace and by hash. Only their hashes are stored. */
export interface ApiKeyStore {
  /**
   * Finds a key of any workspace by its hash, for requests. Also finds disabled and expired keys. Reads from a cache of
   * a few seconds; returns no promise when the cache has the key.
   * @returns null: there is no such key
   */
  known(hash: string): ApiKeyRecord | null | Promise<ApiKeyRecord | null>;
  get(workspaceId: WorkspaceId, hash: string): Promise<ApiKeyRecord | null>;
  /** Lists the keys in order of creation. */
  list(workspaceId: WorkspaceId, page: Page & { includeDisabled: boolean }): Promise<ApiKeyRecord[]>;
  /**
   * @param by     default `operator`
   * @param maker  the hash of the key that makes this one; null, the default: none does
   * @throws GatewayError invalid_request (400): the workspace has as many keys as it may, or is being deleted;
   *         permission_denied (403): a key bound to the workspace would make one with more than it has itself
   */
  create(
    workspaceId: WorkspaceId,
    input: ApiKeyInput,
    by?: SetBy,
    maker?: string | null,
  ): Promise<{ key: string; record: ApiKeyRecord }>;
  /**
   * Absent settings stay unchanged; `updatedAtMs` changes also without any setting. This instance sees the change at
   * once, other instances within the time of the cache.
   * @param by  default `operator`
   * @returns null: there is no such key
   * @throws GatewayError invalid_request (400): the workspace is being deleted, and the key would work again;
   *         permission_denied (403): a workspace would lift what an operator set
   */
  update(
    workspaceId: WorkspaceId,
    hash: string,
    given: Partial<ApiKeySettings>,
    by?: SetBy,
  ): Promise<ApiKeyRecord | null>;
  /** @returns false: there was no such key */
  delete(workspaceId: WorkspaceId, hash: string): Promise<boolean>;
  deleteAll(workspaceId: WorkspaceId): Promise<void>;
  /** The number of keys that are neither disabled nor expired. */
  countLive(workspaceId: WorkspaceId): Promise<number>;
}

export interface ApiKeyStoreDeps {
  storage: Storage;
  owners: Owners;
  clock: Clock;
  /** Returns `size` random bytes. */
  randomBytes: (size: number) => Uint8Array;
  /** The time in ms for which a cached key is used before the store is read again. */
  cacheMs: number;
  /** The most keys that a workspace may have. Default 1,000. */
  maxPerWorkspace?: number;
  /** The rate limits of every key that has none of its own; null, the default: no limits. */
  rateLimits?: RateLimits | null;
  /** Called when a key was deleted. */
  forgotten?: (workspaceId: WorkspaceId, hash: string) => Promise<void>;
}

const kind = 'api-key';

export function createApiKeys(deps: ApiKeyStoreDeps): ApiKeyStore {
  const { storage, owners, clock, randomBytes, cacheMs, maxPerWorkspace = 1_000, rateLimits = null } = deps;
  const records = perWorkspace<ApiKeyRecord>({ storage, kind, schema: recordSchema });
  // Unknown keys are cached as well, so that guesses do not load the store. They have a group of their own, so they
  // push out no existing key.
  const cache = createCache({ clock, ttlMs: cacheMs, load, groupOf: (record) => record?.workspaceId ?? 'nobody' });
  const nextRank = createRanks(clock);

  const add = createAddApiKey({ storage, kind, maxPerWorkspace });

  const allOf = (workspaceId: WorkspaceId) =>
    readAll(
      (page) => storage.list(workspaceId, kind, page),
      ({ id }) => id,
    );

  async function load(hash: string): Promise<ApiKeyRecord | null> {
    const owner = await owners.of('api-key', hash);
    const record = owner === null ? null : await records(owner).get(hash);
    if (record === null || (record.hash === hash && record.workspaceId === owner)) return record;
    // The record was found at the address of another one.
    throw damagedRecord(kind);
  }

  /** Deletes without the collection, which would read the record: a damaged record can be deleted, too. */
  async function remove(workspaceId: WorkspaceId, hash: string): Promise<boolean> {
    const at = { partition: workspaceId, kind, id: hash };
    try {
      const wasThere = (await storage.get(at)) !== null;
      await storage.commit([{ at, value: null }]);
      // Also if the key is gone: an earlier deletion may have stopped between the two steps.
      await owners.release('api-key', hash);
      await deps.forgotten?.(workspaceId, hash);
      return wasThere;
    } finally {
      cache.forget(hash);
    }
  }

  /**
   * Reads the key that makes another one from the store, not from the cache: a key that was revoked a moment ago must
   * not live on in a new one.
   * @returns null: the maker is no key of the store
   * @throws GatewayError unauthenticated (401)
   */
  async function makerOf(workspaceId: WorkspaceId, hash: string | null): Promise<ApiKeyRecord | null> {
    // Authentication has filled the cache. A key of the options is not in the store.
    if (hash === null || (await cache.get(hash)) === null) return null;
    const record = await records(workspaceId).get(hash);
    if (record && isLive(record)) return record;
    throw new GatewayError('unauthenticated', 'The API key is not valid');
  }

  function isLive({ disabled, expiresAtMs }: ApiKeyRecord): boolean {
    return !disabled && (expiresAtMs === null || expiresAtMs > clock.now());
  }

  return {
    known: (hash) => cache.get(hash),
    get: (workspaceId, hash) => records(workspaceId).get(hash),
    async list(workspaceId, { offset, limit, includeDisabled }) {
      if (includeDisabled) return (await records(workspaceId).list({ offset, limit })).records;
      const all = await readAll(records(workspaceId).list, ({ hash }) => hash);
      return all.filter(({ disabled }) => !disabled).slice(offset, offset + limit);
    },
    async create(workspaceId, { permissions, ...given }, by = 'operator', maker = null) {
      const made = { ...given, disabled: false };
      const input = by === 'operator' ? made : limitsWithin(made, await makerOf(workspaceId, maker), rateLimits);
      const key = `${storedKeyPrefix}${base62(randomBytes(32))}`;
      const hash = sha256Hex(key);
      const record: ApiKeyRecord = {
        ...input,
        permissions: [...new Set(permissions)],
        hash,
        label: maskSecret(key),
        workspaceId,
        createdAtMs: clock.now(),
        updatedAtMs: null,
      };
      await owners.claim('api-key', hash, workspaceId);
      const rank = nextRank();
      try {
        await add(workspaceId, (also) => records(workspaceId).create(hash, record, { rank, also }));
      } catch (error) {
        // After an outage the owner stays: the key may have been written, and must then be found by its hash.
        if (isGatewayError(error) && error.kind === 'invalid_request') await owners.release('api-key', hash);
        throw error;
      }
      cache.forget(hash);
      return { key, record };
    },
    async update(workspaceId, hash, given, by = 'operator') {
      const { permissions, name, ...limits } = given;
      const changes = {
        ...(name === undefined ? {} : { name }),
        ...(permissions ? { permissions: [...new Set(permissions)] } : {}),
      };
      try {
        return await records(workspaceId).update(
          hash,
          (record) => ({ ...changedLimits(record, limits, by, rateLimits), ...changes, updatedAtMs: clock.now() }),
          (before, after) => (before.disabled && !after.disabled ? [unlessDeleted(workspaceId)] : []),
        );
      } catch (error) {
        throw error instanceof ConflictError ? beingDeleted() : error;
      } finally {
        // Also after a failure: the store may have written the change nevertheless.
        cache.forget(hash);
      }
    },
    delete: remove,
    async deleteAll(workspaceId) {
      for (const { id } of await allOf(workspaceId)) await remove(workspaceId, id);
      await storage.commit([{ at: madeAt(workspaceId), value: null }]);
    },
    async countLive(workspaceId) {
      // A damaged key lets nobody in, so it does not count.
      const keys = (await allOf(workspaceId)).map(({ value }) => recordSchema().safeParse(tryParseJson(value)));
      return keys.filter(({ data }) => data !== undefined && isLive(data)).length;
    },
  };
}

const letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/**
 * Letters and digits only, so that a double click selects a key. A byte modulo 62 slightly favours the first
 * characters.
 */
function base62(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += letters[byte % 62];
  return text;
}

/**
 * The address of a counter of all keys that a workspace ever made. Every new key changes the counter, so no key slips
 * in beside the count.
 */
function madeAt(workspaceId: WorkspaceId): Address {
  return { partition: workspaceId, kind: 'api-key-count', id: 'made' };
}

function createAddApiKey({ storage, kind, maxPerWorkspace }: AddApiKeyDeps): AddApiKey {
  /** Creations in this process take turns, so that they do not make one another fail. */
  const turns = createLock();

  async function add(workspaceId: WorkspaceId, write: Parameters<AddApiKey>[1]): Promise<void> {
    const made = madeAt(workspaceId);
    for (let race = 0; race < maxRaces; race++) {
      const count = await storage.get(made);
      // The list is read after the counter: a key that is added from now on changes the counter, and our write then
      // fails.
      const { total } = await storage.list(workspaceId, kind, { offset: 0, limit: 1 });
      if (total >= maxPerWorkspace) throw isFull(maxPerWorkspace);
      const next = { at: made, expect: count, value: String((Number(count) || 0) + 1) };
      if (await write([next, unlessDeleted(workspaceId)])) return;
      if ((await storage.get(deletionOf(workspaceId))) !== null) throw beingDeleted();
    }
    throw new GatewayError('unavailable', 'Too many keys are made at once; try again', { retryAfterMs: 1000 });
  }

  return (workspaceId, write) => turns.run(workspaceId, () => add(workspaceId, write));
}

function isFull(max: number): GatewayError {
  return new GatewayError(
    'invalid_request',
    `This workspace has ${max} API keys, which is as many as it may; delete some that are not used`,
  );
}
