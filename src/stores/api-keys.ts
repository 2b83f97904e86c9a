import { LRUCache } from 'lru-cache';
import type { Clock } from '../base/clock.ts';
import { maskSecret, sha256Hex } from '../base/secrets.ts';
import { type NewApiKey, newApiKeySchema, type StoredApiKey } from '../schema/api-key.ts';
import type { Collection } from './collection.ts';

/** Keys callers authenticate with. Only their hashes are stored; a key is shown once, when it is made. */
export interface ApiKeys {
  /** @throws ZodError for wrong input; GatewayError unavailable (503) */
  create(input?: NewApiKey): Promise<{ key: string; record: StoredApiKey }>;
  /** By hash; null where there is none. From a cache of a few seconds. */
  find(hash: string): Promise<StoredApiKey | null>;
  /** Switches a key off or on; null where there is none. Seen at once here, by other instances within the cache's time. */
  setDisabled(hash: string, disabled: boolean): Promise<StoredApiKey | null>;
  /** false where there was none. */
  delete(hash: string): Promise<boolean>;
}

export interface ApiKeysDeps {
  collection: Collection<StoredApiKey>;
  clock: Clock;
  /** `size` random bytes. */
  randomBytes: (size: number) => Uint8Array;
  workspaceId: string;
  /** How long a key is remembered before the store is asked again. */
  cacheMs: number;
}

/** Enough for every key in use at once; unknown keys are remembered too, so that guessing does not load the store. */
const maxCached = 10_000;

/** lru-cache holds no null. */
type Cached = { record: StoredApiKey | null };

export function createApiKeys({ collection, clock, randomBytes, workspaceId, cacheMs }: ApiKeysDeps): ApiKeys {
  const cache = new LRUCache<string, Cached>({
    max: maxCached,
    ttl: cacheMs,
    ttlResolution: 0,
    perf: { now: () => clock.now() },
    fetchMethod: async (hash) => ({ record: await collection.get(hash) }),
  });

  async function find(hash: string): Promise<StoredApiKey | null> {
    return (await cache.fetch(hash))?.record ?? null;
  }

  return {
    find,
    async create(input = {}) {
      const { name, permissions, expiresAtMs } = newApiKeySchema.parse(input);
      const key = `sk-gw-${base62(randomBytes(32))}`;
      const hash = sha256Hex(key);
      const record: StoredApiKey = {
        hash,
        name,
        label: maskSecret(key),
        permissions,
        workspaceId,
        disabled: false,
        createdAtMs: clock.now(),
        expiresAtMs,
      };
      await collection.put(hash, record);
      cache.set(hash, { record });
      return { key, record };
    },
    async setDisabled(hash, disabled) {
      const found = await collection.get(hash);
      if (!found) return null;
      const record = { ...found, disabled };
      await collection.put(hash, record);
      cache.set(hash, { record });
      return record;
    },
    async delete(hash) {
      if (!(await collection.get(hash))) return false;
      await collection.delete(hash);
      cache.set(hash, { record: null });
      return true;
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
