import type { Keyv } from 'keyv';
import type { Clock } from '../../base/clock.ts';
import { within } from '../../base/within.ts';
import { damagedRecord } from '../damaged.ts';
import { storeIsLate } from './outage.ts';

/** Values by key in a Keyv, from which an outage never looks like an absence, nor a failed write like one that was done. */
export interface KeyvEntries {
  /** In the order asked; undefined: there is none. @throws GatewayError internal (500) for what cannot be decoded */
  read(keys: readonly string[]): Promise<unknown[]>;
  write(key: string, value: unknown): Promise<void>;
  remove(key: string): Promise<void>;
}

export interface KeyvEntriesOptions {
  clock: Clock;
  /** How long one call of the store may take; null: it has no way to hang. */
  timeoutMs: number | null;
}

/**
 * Goes to the adapter directly, with Keyv's own encoding. Keyv's `get` swallows an outage and says "not found"; its
 * `set` gives a record the Keyv's default time to live, and changes the key where `sanitize` is on.
 */
export function keyvEntries(kv: Keyv, { clock, timeoutMs }: KeyvEntriesOptions): KeyvEntries {
  // Adapters that swallow a failure, too, still tell of it by an event.
  let failures = 0;
  kv.on('error', () => {
    failures++;
  });

  /** @param isSure  whether a result stands even though the store told of a failure meanwhile */
  async function ask<T>(work: () => T | Promise<T>, isSure: (result: T) => boolean): Promise<T> {
    const before = failures;
    const result = timeoutMs === null ? await work() : await within(clock, timeoutMs, work, storeIsLate);
    if (failures !== before && !isSure(result)) throw new Error('the store told of a failure');
    return result;
  }

  function readRaw(keys: readonly string[]): Promise<unknown[]> {
    const { store } = kv;
    const [only] = keys;
    return ask(
      async () => {
        if (only === undefined) return [];
        if (keys.length === 1) return [await store.get(only)];
        // Not every adapter has it.
        if (typeof store.getMany !== 'function') return Promise.all(keys.map((key) => store.get(key)));
        const all: unknown = await store.getMany([...keys]);
        if (!Array.isArray(all) || all.length !== keys.length)
          throw new Error('the store did not answer for every key');
        return all;
      },
      (raw) => raw.every((one) => !isAbsent(one)),
    );
  }

  async function decode(raw: unknown): Promise<unknown> {
    if (isAbsent(raw)) return undefined;
    const entry = await kv.decode<unknown>(raw as string);
    // Keyv gives undefined for what it cannot decode.
    if (typeof entry !== 'object' || entry === null || !('value' in entry)) throw damagedRecord('stored');
    return typeof entry.expires === 'number' && entry.expires <= clock.now() ? undefined : entry.value;
  }

  return {
    read: async (keys) => Promise.all((await readRaw(keys)).map(decode)),
    async write(key, value) {
      // No `expires`: what is kept here lasts, whatever the Keyv's default time to live.
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
      // Adapters answer false for a failure and for nothing to delete alike, so look.
      const [left] = await readRaw([key]);
      if (!isAbsent(left)) throw new Error('the store refused to delete');
    },
  };
}

function isAbsent(raw: unknown): raw is undefined | null {
  return raw === undefined || raw === null;
}
