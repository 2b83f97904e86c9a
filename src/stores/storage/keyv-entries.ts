import type { Keyv } from 'keyv';
import { within } from '../../base/async/within.ts';
import type { Clock } from '../../base/clock.ts';
import { damagedRecord } from '../damaged.ts';
import { storeIsLate } from './outage.ts';

/** Values by key in a Keyv. An outage never looks like an absence, nor a failed write like a successful one. */
export interface KeyvEntries {
  /** In the order asked; undefined: there is no value. @throws GatewayError internal (500) for an undecodable value */
  read(keys: readonly string[]): Promise<unknown[]>;
  write(key: string, value: unknown): Promise<void>;
  remove(key: string): Promise<void>;
}

export interface KeyvEntriesOptions {
  clock: Clock;
  /** The time limit of one call of the store; null: the store cannot hang. */
  timeoutMs: number | null;
}

/**
 * Calls the adapter directly, with Keyv's own encoding. Keyv's `get` hides an outage and reports "not found". Keyv's
 * `set` gives a record the Keyv's default time to live, and changes the key if `sanitize` is on.
 */
export function keyvEntries(kv: Keyv, { clock, timeoutMs }: KeyvEntriesOptions): KeyvEntries {
  // Adapters that hide a failure from the caller still report it by an event.
  let failures = 0;
  kv.on('error', () => {
    failures++;
  });

  /** @param isSure  tells whether a result is valid although the store reported a failure meanwhile */
  async function ask<T>(work: () => T | Promise<T>, isSure: (result: T) => boolean): Promise<T> {
    const before = failures;
    const result = timeoutMs === null ? await work() : await within(clock, timeoutMs, work, storeIsLate);
    if (failures !== before && !isSure(result)) throw new Error('the store reported a failure');
    return result;
  }

  function readRaw(keys: readonly string[]): Promise<unknown[]> {
    const { store } = kv;
    const [only] = keys;
    return ask(
      async () => {
        if (only === undefined) return [];
        if (keys.length === 1) return [await store.get(only)];
        // Some adapters do not have `getMany`.
        if (typeof store.getMany !== 'function') return Promise.all(keys.map((key) => store.get(key)));
        const all: unknown = await store.getMany([...keys]);
        if (!Array.isArray(all) || all.length !== keys.length)
          throw new Error('the store did not respond for every key');
        return all;
      },
      (raw) => raw.every((one) => !isAbsent(one)),
    );
  }

  async function decode(raw: unknown): Promise<unknown> {
    if (isAbsent(raw)) return undefined;
    const entry = await kv.decode<unknown>(raw as string);
    // Keyv returns undefined for a value that it cannot decode.
    if (typeof entry !== 'object' || entry === null || !('value' in entry)) throw damagedRecord('stored');
    return typeof entry.expires === 'number' && entry.expires <= clock.now() ? undefined : entry.value;
  }

  return {
    read: async (keys) => Promise.all((await readRaw(keys)).map(decode)),
    async write(key, value) {
      // No `expires`: records are kept, whatever the Keyv's default time to live.
      const encoded = await kv.encode({ value });
      const isDone: unknown = await ask<unknown>(
        () => kv.store.set(key, encoded),
        () => false,
      );
      if (isDone === false) throw new Error('the store refused to write');
    },
    async remove(key) {
      await ask<unknown>(
        () => kv.store.delete(key),
        () => true,
      );
      // Adapters return false both for a failure and for a missing key, so read the key again.
      const [left] = await readRaw([key]);
      if (!isAbsent(left)) throw new Error('the store refused to delete');
    },
  };
}

function isAbsent(raw: unknown): raw is undefined | null {
  return raw === undefined || raw === null;
}
