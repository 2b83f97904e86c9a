import type { Keyv } from 'keyv';
import type { ZodType } from 'zod';
import type { Clock } from '../base/clock.ts';
import { GatewayError } from '../base/errors.ts';

/** Records of one kind in a Keyv store. What the store does not answer, or answers with nonsense, throws: it fails closed. */
export interface Collection<T> {
  /** null: there is no such record. @throws GatewayError unavailable (503) when the store cannot tell */
  get(key: string): Promise<T | null>;
  /** @throws GatewayError unavailable (503) when the store did not confirm it */
  put(key: string, value: T): Promise<void>;
  /** @throws GatewayError unavailable (503) when the store did not confirm it */
  delete(key: string): Promise<void>;
}

export interface CollectionOptions<T> {
  /** Asked for when it is first needed. */
  store: () => Keyv | Promise<Keyv>;
  /** Prefix of the keys: one store holds many kinds. */
  kind: string;
  /** Checks what is read. */
  schema: ZodType<T>;
  clock: Clock;
  /** How long the store may take. */
  timeoutMs: number;
}

export function createCollection<T>({ store, kind, schema, clock, timeoutMs }: CollectionOptions<T>): Collection<T> {
  const keyOf = (key: string) => `${kind}:${key}`;

  /** A store that is down may never answer. */
  async function inTime<R>(work: Promise<R>): Promise<R> {
    let cancel: () => void = () => undefined;
    const late = new Promise<never>((_, reject) => {
      cancel = clock.after(timeoutMs, () => reject(new Error(`the store took longer than ${timeoutMs} ms`)));
    });
    try {
      return await Promise.race([work, late]);
    } catch (error) {
      throw unavailable(error);
    } finally {
      cancel();
    }
  }

  /** An adapter may throw at once instead of rejecting. */
  async function read(kv: Keyv, key: string): Promise<unknown> {
    return kv.store.get(keyOf(key));
  }

  return {
    async get(key) {
      const kv = await store();
      // Keyv's own `get` swallows an outage and says "not found"; its adapter throws.
      const raw: unknown = await inTime(read(kv, key));
      if (raw === undefined || raw === null) return null;
      const entry = await kv.decode<unknown>(raw as string);
      if (!entry || (entry.expires !== undefined && entry.expires !== null && entry.expires <= clock.now()))
        return null;
      const parsed = schema.safeParse(entry.value);
      if (!parsed.success)
        throw new GatewayError('internal', 'A stored record is damaged', {
          cause: new Error(`${kind} record is malformed`),
        });
      return parsed.data;
    },
    async put(key, value) {
      const kv = await store();
      if ((await inTime(kv.set(keyOf(key), value))) === false)
        throw unavailable(new Error('the store refused to write'));
    },
    async delete(key) {
      const kv = await store();
      // Keyv answers false for a failure and for nothing to delete alike, so look.
      await inTime(kv.delete(keyOf(key)));
      if (((await inTime(read(kv, key))) ?? undefined) !== undefined)
        throw unavailable(new Error('the store refused to delete'));
    },
  };
}

function unavailable(cause: unknown): GatewayError {
  return new GatewayError('unavailable', 'The store of this gateway does not answer; try again later', {
    cause,
    retryAfterMs: 1000,
  });
}
