import type { LedgerOptions } from '../../ledger/ledger.ts';
import { redisLedger } from '../../ledger/redis.ts';
import { redisRates } from '../../rates/redis.ts';
import type { Address, Storage } from '../storage.ts';
import type { RedisAdapter } from './client.ts';
import { connectRedis, createScript, type RedisConnectionOptions } from './connection.ts';
import { checkEviction, type EvictionOptions } from './eviction.ts';

/** Keys: the kind of each record. Arguments: the ids. */
const readScript = `
local values = {}
for i, key in ipairs(KEYS) do values[i] = redis.call('HGET', key, ARGV[i]) end
return values
`;

/**
 * Keys: for each change its kind, and the ranks of the kind. Arguments, for each change: the id; the expected value
 * (\`=\` and the text, \`0\` for none, empty for any); the new value (\`=\` and the text, \`0\` to remove); the rank or
 * nothing. Everything that can fail comes before the first write, since a script that fails does not undo its writes.
 */
const commitScript = `
for i = 1, #KEYS, 2 do
  local at = 2 * i - 1
  local value = redis.call('HGET', KEYS[i], ARGV[at])
  redis.call('ZSCORE', KEYS[i + 1], ARGV[at])
  local expected = ARGV[at + 1]
  if expected == '0' and value then return 0 end
  if expected ~= '' and expected ~= '0' and (not value or '=' .. value ~= expected) then return 0 end
end
for i = 1, #KEYS, 2 do
  local at = 2 * i - 1
  if ARGV[at + 2] == '0' then
    redis.call('HDEL', KEYS[i], ARGV[at])
    redis.call('ZREM', KEYS[i + 1], ARGV[at])
  else
    redis.call('HSET', KEYS[i], ARGV[at], string.sub(ARGV[at + 2], 2))
    if ARGV[at + 3] ~= '' then redis.call('ZADD', KEYS[i + 1], ARGV[at + 3], ARGV[at]) end
  end
end
return 1
`;

/**
 * Keys: the kind and its ranks. Arguments: the first and the last place. Returns the total, then id, value, id, value …
 */
const listScript = `
local listed = { redis.call('ZCARD', KEYS[2]) }
for _, id in ipairs(redis.call('ZRANGE', KEYS[2], ARGV[1], ARGV[2])) do
  listed[#listed + 1] = id
  listed[#listed + 1] = redis.call('HGET', KEYS[1], id)
end
return listed
`;

export type RedisOptions = LedgerOptions & EvictionOptions & RedisConnectionOptions;

/**
 * A storage on Redis 6.2 or later, or Valkey: one server, a cluster or sentinels, over the connection of `@keyv/redis`.
 * `{<partition>}:<kind>` is a hash with the records of a kind. `{<partition>}:<kind>:ranks` has the order of the listed
 * ones. A partition is in one slot, every script names all of its keys, and nothing needs a scan.
 */
export function redisStorage(adapter: RedisAdapter, options: RedisOptions): Storage {
  const redis = checkEviction(connectRedis(adapter, options), options);
  const [read, commit, list] = [createScript(readScript), createScript(commitScript), createScript(listScript)];

  const kindOf = (partition: string, kind: string) => redis.key(partition, kind);
  const ranksOf = (partition: string, kind: string) => redis.key(partition, `${kind}:ranks`);

  async function getMany(at: readonly Address[]): Promise<(string | null)[]> {
    if (at.length === 0) return [];
    const keys = at.map(({ partition, kind }) => kindOf(partition, kind));
    const ids = at.map(({ id }) => id);
    return ((await redis.run(read, keys, ids)) as unknown[]).map(textOf);
  }

  return {
    kind: 'redis',
    isShared: true,
    ledger: redisLedger(redis, options),
    rates: redisRates(redis),
    get: async (at) => (await getMany([at]))[0] ?? null,
    getMany,
    async commit(changes) {
      if (changes.length === 0) return true;
      const keys: string[] = [];
      const args: string[] = [];
      for (const { at, expect, value, rank } of changes) {
        if (rank !== undefined && !Number.isSafeInteger(rank)) throw new RangeError('A rank is an integer');
        keys.push(kindOf(at.partition, at.kind), ranksOf(at.partition, at.kind));
        args.push(
          at.id,
          expect === undefined ? '' : marked(expect),
          marked(value),
          rank === undefined ? '' : `${rank}`,
        );
      }
      return Number(await redis.run(commit, keys, args)) === 1;
    },
    async list(partition, kind, { offset, limit }) {
      const keys = [kindOf(partition, kind), ranksOf(partition, kind)];
      const places = limit > 0 ? [offset, offset + limit - 1] : [1, 0];
      const [total, ...found] = (await redis.run(list, keys, places.map(String))) as unknown[];
      const records: { id: string; value: string }[] = [];
      for (let i = 0; i < found.length; i += 2) {
        const value = textOf(found[i + 1]);
        if (value !== null) records.push({ id: String(found[i]), value });
      }
      return { records, total: Number(total) };
    },
    close: () => redis.close(),
  };
}

/** A client may be configured to return bytes. */
function textOf(reply: unknown): string | null {
  return reply === null || reply === undefined ? null : String(reply);
}

/** Marks a text, so that no text looks like "none". */
function marked(text: string | null): string {
  return text === null ? '0' : `=${text}`;
}
