import type { KeyvStorageAdapter } from 'keyv';

/** The adapter of a store that is somewhere else: every answer takes a few turns, not all the same number. */
export function slowAdapter(): KeyvStorageAdapter {
  const bytes = new Map<string, unknown>();
  let calls = 0;
  const takeTurns = async () => {
    calls += 7;
    for (let turns = calls % 4; turns > 0; turns--) await new Promise<void>((resolve) => setImmediate(resolve));
  };
  const adapter = {
    opts: {},
    async get(key: string) {
      await takeTurns();
      const value = bytes.get(key);
      await takeTurns();
      return value;
    },
    async set(key: string, value: unknown, ttlMs?: number) {
      await takeTurns();
      // A time to live that somebody asked for: gone before anybody looks.
      if (ttlMs === undefined) bytes.set(key, value);
      await takeTurns();
    },
    async delete(key: string) {
      await takeTurns();
      return bytes.delete(key);
    },
    async clear() {
      bytes.clear();
    },
  };
  return adapter as unknown as KeyvStorageAdapter;
}
