import { type Clock, systemClock } from '../../../base/clock.ts';
import { GatewayError } from '../../../base/errors.ts';
import type { RedisSettings } from '../../../schema/settings/settings.ts';
import { NotSentError } from '../circuit.ts';
import { type StoreLogger, writeLog } from '../logger.ts';
import { isOutage, nameOfError } from '../outage.ts';
import { createScript, type RedisConnection } from './connection.ts';

export interface EvictionOptions {
  onEviction?: RedisSettings['onEviction'] | undefined;
  logger?: StoreLogger | null | undefined;
  /** Default: the system's clock, also where the ledger's leases use another one. */
  clock?: Clock | undefined;
}

/** A script, so that the command goes to the server of the key. Servers that refuse CONFIG mostly allow INFO. */
const infoScript = createScript(`return redis.call('INFO', 'memory')`);

const safe = 'noeviction';
/** The time after which a server that was refused is asked again. */
const againMs = 1_000;

/**
 * Asks every server for its eviction policy before the first script. A server with another policy than `noeviction`
 * deletes budgets and keys when its memory is full. The log says so once. With `onEviction: 'refuse'`, no script runs
 * on such a server, nor on one that does not tell its policy.
 */
export function checkEviction(redis: RedisConnection, options: EvictionOptions): RedisConnection {
  const { onEviction = 'warn', logger, clock = systemClock } = options;
  let isDone = false;
  let checking: Promise<void> | null = null;
  let refusal: { error: GatewayError; untilMs: number } | null = null;
  const logged = new Set<string>();

  function refuse(policy: string | null, fields: object): void {
    const said =
      policy === null
        ? 'the eviction policy of the Redis is not known: it refuses INFO. It must be noeviction, or budgets and keys are deleted when memory is short'
        : 'the Redis deletes budgets and keys when its memory is short: set its maxmemory-policy to noeviction';
    if (!logged.has(said)) writeLog(logger, 'warn', fields, said);
    logged.add(said);
    if (onEviction === 'warn') return;
    const error = new GatewayError(
      'unavailable',
      'The store of this gateway may lose data, and is not used; see the log',
      {
        retryAfterMs: againMs,
      },
    );
    refusal = { error, untilMs: clock.monotonic() + againMs };
  }

  async function ask(key: string): Promise<void> {
    try {
      const info = String(await redis.run(infoScript, [key], []));
      const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1] ?? null;
      if (policy !== safe) refuse(policy, { policy });
    } catch (error) {
      if (error instanceof NotSentError || isOutage(error)) throw error;
      refuse(null, { error: nameOfError(error) });
    }
  }

  async function check(): Promise<void> {
    refusal = null;
    const asked = new Set<string>();
    let [isAnswered, failure]: [boolean, unknown] = [false, null];
    async function askOthers(): Promise<void> {
      for (const key of redis.keyOfEachServer()) {
        if (asked.has(key)) continue;
        asked.add(key);
        try {
          await ask(key);
          isAnswered = true;
        } catch (error) {
          // A server of the cluster that is away serves nobody.
          failure = error;
        }
      }
    }
    await askOthers();
    // The client of a cluster knows its servers once it is connected.
    await askOthers();
    if (!isAnswered) throw failure;
    isDone = refusal === null || onEviction === 'warn';
  }

  return {
    ...redis,
    async run(script, keys, args) {
      if (isDone) return redis.run(script, keys, args);
      if (!refusal || clock.monotonic() >= refusal.untilMs) {
        checking ??= check().finally(() => {
          checking = null;
        });
        await checking;
      }
      if (refusal) throw refusal.error;
      return redis.run(script, keys, args);
    },
  };
}
