import type { Keyv } from 'keyv';
import type { Clock } from '../../base/clock.ts';
import { keyvLedger } from '../ledger/keyv.ts';
import type { Ledger, LedgerOptions } from '../ledger/ledger.ts';
import { memoryLedger } from '../ledger/memory.ts';
import { memoryRates } from '../rates/memory.ts';
import type { Rates } from '../rates/rates.ts';
import { adaptersOf, innermostAdapter, isKeyv } from './adapter.ts';
import { keyvStorage } from './keyv.ts';
import { type StoreLogger, writeLog } from './logger.ts';
import { memoryStorage } from './memory.ts';
import { nameOfError } from './outage.ts';
import type { PostgresAdapter } from './postgres/pool.ts';
import { postgresStorage } from './postgres/postgres.ts';
import type { RedisAdapter } from './redis/client.ts';
import type { RedisConnectionOptions } from './redis/connection.ts';
import type { EvictionOptions } from './redis/eviction.ts';
import { redisStorage } from './redis/redis.ts';
import { type SqliteAdapter, sqliteStorage } from './sqlite.ts';
import type { Storage } from './storage.ts';

export interface ChooseStorageOptions extends Pick<LedgerOptions, 'onLostHold'> {
  /** The clock of a ledger in memory as well. Stores that processes share have their own. */
  clock: Clock;
  /** The time limit of one call, for a store that is only reached through Keyv. */
  timeoutMs: number;
  onEviction?: EvictionOptions['onEviction'];
  logger?: StoreLogger | null;
  /** The reaction to a store on which budgets hold per process only: a warning, or an error. Default `warn`. */
  onUnsharedStore?: 'warn' | 'refuse';
  /** Replaces the ledger of the store. Counts as shared by all processes: otherwise the host app would not pass one. */
  ledger?: Ledger;
}

/**
 * The storage for the host app's option `store`: a Keyv, an adapter of one, or a Map; absent: in memory. The shape of
 * the value tells the server behind it, since adapters come from other packages, or from two copies of one. Connects at
 * the first use.
 * @throws TypeError for a value that is no store, for a Keyv whose encryption would not be applied, and where
 *         `onUnsharedStore` is `refuse`, for a store on which budgets hold per process only
 */
export function chooseStorage(store: object | undefined, options: ChooseStorageOptions): Storage {
  if (store) listen(store, options);
  const storage = store ? storageOf(store, options) : memoryStorage(ledgerInMemory(options));
  return options.ledger ? withLedger(storage, options.ledger) : storage;
}

function storageOf(store: object, options: ChooseStorageOptions): Storage {
  const { clock, timeoutMs, logger, onLostHold, onEviction } = options;
  for (const adapter of adaptersOf(store)) {
    const server = serverOf(adapter, { onLostHold }, { onEviction, logger, clock, timeoutMs });
    if (!server) continue;
    if (isKeyv(store) && store.encryption) {
      throw new TypeError(
        'The Keyv of the option store encrypts, but on this server records are written without Keyv, so in the clear: pass a Keyv without encryption. Credentials are sealed in any case.',
      );
    }
    return server;
  }
  const kv = isKeyv(store) ? () => store : keyvOver(store);
  if (isMap(innermostAdapter(store))) {
    // A host app that passes memory knows that the data is in memory: no warning.
    if (options.onUnsharedStore === 'refuse' && !options.ledger) notShared(store, options);
    const { ledger, rates } = countedIn(store, () => ledgerInMemory(options));
    return keyvStorage(kv, { kind: 'memory', ledger, rates, isShared: false, clock, timeoutMs });
  }
  if (!options.ledger) notShared(store, options);
  const { ledger, rates } = countedIn(store, () => keyvLedger(kv, { onLostHold, clock, logger: logger ?? null }));
  return keyvStorage(kv, { kind: 'keyv', ledger, rates, isShared: false, clock, timeoutMs });
}

/** @throws TypeError where `onUnsharedStore` is `refuse` */
function notShared(store: object, { onUnsharedStore, logger }: ChooseStorageOptions): void {
  const what =
    'budgets hold within this process only: this store has no way to hold money for several; use Redis, PostgreSQL or SQLite, or pass the option ledger';
  if (onUnsharedStore === 'refuse') throw new TypeError(what);
  const fields = { store: innermostAdapter(store).constructor?.name };
  writeLog(
    logger,
    'warn',
    fields,
    `${what}; never let two processes use it at once: each overwrites what the other has spent`,
  );
}

function serverOf(
  adapter: object,
  options: LedgerOptions,
  ofRedis: EvictionOptions & RedisConnectionOptions,
): Storage | null {
  if (isRedis(adapter)) return redisStorage(adapter, { ...options, ...ofRedis });
  if (isPostgres(adapter)) return postgresStorage(adapter, options);
  if (isSqlite(adapter)) return sqliteStorage(adapter, options);
  return null;
}

function isRedis(adapter: object): adapter is RedisAdapter {
  const { client, createKeyPrefix } = adapter as Partial<RedisAdapter>;
  return hasMethods(client, ['sendCommand', 'connect']) && typeof createKeyPrefix === 'function';
}

/** Checks several properties, since adapters of other databases have a `query` as well. */
function isPostgres(adapter: object): adapter is PostgresAdapter {
  const { uri, schema, table } = adapter as Partial<PostgresAdapter>;
  const isNamed = typeof schema === 'string' && typeof table === 'string' && typeof uri === 'string';
  return hasMethods(adapter, ['query']) && isNamed && !/^(?:mysql|mariadb|mssql|sqlserver|sqlite)/i.test(uri);
}

function isSqlite(adapter: object): adapter is SqliteAdapter {
  return hasMethods((adapter as Partial<SqliteAdapter>).database, ['prepare', 'define', 'read', 'transact']);
}

function hasMethods(value: unknown, names: readonly string[]): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  return names.every((name) => typeof (value as Record<string, unknown>)[name] === 'function');
}

function isMap(value: object): boolean {
  return Object.prototype.toString.call(value) === '[object Map]';
}

/**
 * Begins to load Keyv at once, because the first call cannot wait long. Not called for hosts that pass a Keyv of their
 * own.
 */
function keyvOver(adapter: object): () => Promise<Keyv> {
  if (!hasMethods(adapter, ['get', 'set', 'delete'])) {
    throw new TypeError('The option store is neither a Keyv nor an adapter of one: it needs get, set and delete');
  }
  const kv = import('keyv').then(({ Keyv }) => {
    const made = new Keyv({ store: adapter });
    // Keyv silently uses memory instead of an adapter that it cannot use.
    if (!adaptersOf(made).includes(adapter)) throw new TypeError('Keyv cannot use the adapter of the option store');
    return made;
  });
  // Each caller gets the error. This handler only prevents an unhandled rejection.
  kv.catch(() => undefined);
  return () => kv;
}

/** The ledger and the rates of a store that has none of its own. */
interface Counted {
  ledger: Ledger;
  rates: Rates;
}

/**
 * By store: two gateways in one process that share a store share its budgets, its rate limits, and the first one's
 * clock.
 */
const counted = new WeakMap<object, Map<string, Counted>>();

function countedIn(store: object, openLedger: () => Ledger): Counted {
  const adapter = innermostAdapter(store);
  const { namespace } = store as { namespace?: unknown };
  const name = typeof namespace === 'string' ? namespace : '';
  const byNamespace = counted.get(adapter) ?? new Map<string, Counted>();
  counted.set(adapter, byNamespace);
  const known = byNamespace.get(name) ?? { ledger: openLedger(), rates: memoryRates() };
  byNamespace.set(name, known);
  return known;
}

function ledgerInMemory({ onLostHold, clock }: ChooseStorageOptions): Ledger {
  return memoryLedger({ onLostHold, now: () => clock.now() });
}

function withLedger(storage: Storage, ledger: Ledger): Storage {
  return {
    kind: storage.kind,
    ledger,
    rates: storage.rates,
    isShared: true,
    get: (at) => storage.get(at),
    getMany: (at) => storage.getMany(at),
    commit: (changes) => storage.commit(changes),
    list: (partition, kind, page) => storage.list(partition, kind, page),
    ...(storage.seek && { seek: storage.seek.bind(storage) }),
    ...(storage.seekAll && { seekAll: storage.seekAll.bind(storage) }),
    close: () => storage.close(),
  };
}

/** The shortest time between two log lines: a client that reconnects reports every attempt. */
const logEveryMs = 1000;

/**
 * Listens for errors. Without a listener, a lost connection would be an uncaught exception; the failed calls report it
 * anyway. The listener stays when the gateway closes, since the connection belongs to the host app and may exist
 * longer.
 */
function listen(store: object, { clock, logger }: ChooseStorageOptions): void {
  const { on } = store as { on?: unknown };
  if (typeof on !== 'function') return;
  let loggedMs = Number.NEGATIVE_INFINITY;
  on.call(store, 'error', (error: unknown) => {
    const nowMs = clock.monotonic();
    if (Math.abs(nowMs - loggedMs) < logEveryMs) return;
    loggedMs = nowMs;
    writeLog(logger, 'warn', { error: nameOfError(error) }, 'store error');
  });
}
