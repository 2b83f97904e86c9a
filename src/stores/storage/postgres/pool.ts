import { type Clock, systemClock } from '../../../base/clock.ts';
import { NotSentError } from '../circuit.ts';
import { isDemoted } from '../outage.ts';

/** The part of a Keyv adapter for PostgreSQL that we use, such as KeyvPostgres of `@keyv/postgres`. */
export interface PostgresAdapter {
  readonly uri: string;
  readonly schema: string;
  readonly table: string;
  readonly ssl?: unknown;
  readonly namespace?: string;
}

export interface Statement {
  text: string;
  values?: readonly unknown[];
}

export interface PostgresPool {
  query(statement: Statement): Promise<Row[]>;
  /** Like `query`, in a transaction of its own that is READ COMMITTED, whatever the server's default is. */
  transact(statement: Statement): Promise<Row[]>;
  close(): Promise<void>;
}

export type Row = Record<string, unknown>;

/** The part of the package `pg` that we use. */
interface Driver {
  Pool: new (options: Record<string, unknown>) => DriverPool;
  Client: new (options: Record<string, unknown>) => SingleClient;
}

/** A connection of its own, outside of the pool. */
interface SingleClient extends Pick<DriverClient, 'query' | 'on'> {
  connect(): Promise<void>;
  end(): Promise<void>;
}

interface DriverPool {
  connect(): Promise<DriverClient>;
  end(): Promise<void>;
  on(event: 'error', listener: () => void): unknown;
  on(event: 'connect', listener: (client: DriverClient) => void): unknown;
}

interface DriverClient {
  query(statement: Statement): Promise<{ rows: Row[] }>;
  release(error?: unknown): void;
  on(event: 'error', listener: () => void): unknown;
}

/** Members of the adapter that its types do not show. */
interface AdapterInternals {
  /** The adapter's options for the pool, such as `password` or `max`. */
  _poolConfig?: Record<string, unknown>;
  query?(text: unknown, values: unknown): Promise<unknown>;
}

/**
 * Time limits, because a paused server or a dead network line never responds. The limit for a statement is longer than
 * the one for locks: a connection that we give up while the server still works on it stays open there, and enough of
 * them would use up all that the server has.
 */
const patience = { connectionTimeoutMillis: 2_000, query_timeout: 3_000, keepAlive: true };

/** Codes that mean that the server, or the network, closed the connection of a statement. */
const lostCodes = ['57P01', '57P02', '57P04', '57P05', '08000', '08003', '08006', 'ECONNRESET', 'EPIPE'];
const lostMessages = [
  'Connection terminated',
  'Connection terminated unexpectedly',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
];

/** The shortest time between two renewals of the pool: a server may stay read-only for long. */
const renewEveryMs = 1_000;
/** The longest wait for the server to close its connections. */
const closeTimeoutMs = 1_000;

/**
 * Our own pool, with the address and the options of the adapter. The adapter's pool has no time limits, and no listener
 * for errors: when the server closes an idle connection, the process would end.
 *
 * When a server says that it takes no writes, a further connection asks, at most once a second, whether another server
 * behind the same address does. If so, all connections of the pool are closed before their next use. If the server is
 * still the same, they stay, and reads go on. Connections to a server that answers nothing are closed at once. A
 * statement that was refused has changed nothing, and is run once more.
 */
export function openPool(adapter: PostgresAdapter, clock: Pick<Clock, 'monotonic'> = systemClock): PostgresPool {
  const { _poolConfig: options } = adapter as AdapterInternals;
  const config = {
    ...patience,
    // Idle connections of a store that nobody closed do not keep the process alive.
    allowExitOnIdle: true,
    ...options,
    connectionString: adapter.uri,
    ssl: adapter.ssl,
  };
  let opening: Promise<DriverPool> | undefined;
  let isClosed = false;
  /** The number of renewals; `madeAfter` has its value when each connection was made. */
  let renewals = 0;
  let renewedAtMs = Number.NEGATIVE_INFINITY;
  /** The answer to whether another server was found, as of `renewedAtMs`. */
  let found: Promise<boolean> = Promise.resolve(false);
  const madeAfter = new WeakMap<DriverClient, number>();
  dropIdle(adapter);

  async function open(): Promise<DriverPool> {
    if (isClosed) throw new NotSentError('The store is closed');
    opening ??= loadDriver().then(({ Pool }) => {
      const pool = new Pool(config);
      // Errors of idle connections and of those in use. One listener for both, because an error may come before the
      // result.
      pool.on('error', ignore);
      pool.on('connect', (client) => {
        madeAfter.set(client, renewals);
        client.on('error', ignore);
      });
      return pool;
    });
    return opening;
  }

  const isGivenUp = (client: DriverClient) => (madeAfter.get(client) ?? renewals) < renewals;

  async function connect(): Promise<DriverClient> {
    const pool = await open();
    for (;;) {
      const client = await pool.connect().catch((error: unknown) => {
        throw new NotSentError('PostgreSQL is not connected', error);
      });
      if (!isGivenUp(client)) return client;
      client.release(new Error('made before the server was replaced'));
    }
  }

  /** @returns true: the connection is given up, and with it all that were made before now */
  function renew(client: DriverClient): boolean {
    if (isGivenUp(client)) return true;
    const nowMs = clock.monotonic();
    if (nowMs - renewedAtMs < renewEveryMs) return false;
    renewedAtMs = nowMs;
    renewals++;
    return true;
  }

  /** @returns true: a server that takes writes is behind the address, and the connections are given up for it */
  function renewForWrites(client: DriverClient): Promise<boolean> | boolean {
    if (isGivenUp(client)) return true;
    const nowMs = clock.monotonic();
    if (nowMs - renewedAtMs >= renewEveryMs) {
      renewedAtMs = nowMs;
      found = takesWrites().then((takes) => {
        if (takes) renewals++;
        return takes;
      });
    }
    return found;
  }

  async function takesWrites(): Promise<boolean> {
    const { Client } = await loadDriver();
    const client = new Client(config);
    client.on('error', ignore);
    try {
      await client.connect();
      const { rows } = await client.query({ text: 'SHOW transaction_read_only' });
      return rows[0]?.transaction_read_only === 'off';
    } catch {
      // No server responds: the next refused statement asks again.
      return false;
    } finally {
      void client.end().catch(ignore);
    }
  }

  /** Runs work on a connection. Keeps the connection, unless it may be unfit for further use. */
  async function use<T>(work: (client: DriverClient) => Promise<T>, isFit: (error: unknown) => boolean): Promise<T> {
    for (let isAgain = false; ; isAgain = true) {
      const client = await connect();
      try {
        const result = await work(client);
        client.release();
        return result;
      } catch (error) {
        const isReplaced = isSilent(error) ? renew(client) : isDemoted(error) && (await renewForWrites(client));
        client.release(isReplaced || !isFit(error) ? error : undefined);
        // Without an answer, nobody knows whether the statement was executed.
        if (!isReplaced || isAgain || isSilent(error)) throw error;
      }
    }
  }

  return {
    query: (statement) => use(async (client) => (await client.query(statement)).rows, isRefusal),
    transact: (statement) =>
      use(
        async (client) => {
          await client.query({ text: 'BEGIN ISOLATION LEVEL READ COMMITTED' });
          const { rows } = await client.query(statement);
          await client.query({ text: 'COMMIT' });
          return rows;
        },
        // Closing the connection also ends the transaction.
        () => false,
      ),
    async close() {
      isClosed = true;
      const pool = await opening?.catch(() => null);
      // `end` waits for all connections, and one to a paused server does not end.
      if (pool) await atMost(closeTimeoutMs, pool.end());
    },
  };
}

/** Tells whether the connection was lost before or during a statement. The statement may have been executed. */
export function isLost(error: unknown): boolean {
  if (error instanceof NotSentError) return isLost(error.cause);
  return lostCodes.includes(codeOf(error)) || (error instanceof Error && lostMessages.includes(error.message));
}

/** Tells whether the driver has waited for an answer in vain. */
function isSilent(error: unknown): boolean {
  return error instanceof Error && error.message === 'Query read timeout';
}

/** A SQLSTATE, or Node's code for a network failure; empty if there is none. */
export function codeOf(error: unknown): string {
  if (error instanceof NotSentError) return codeOf(error.cause);
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/**
 * Ignores an error: the user of the connection gets it as well. If there is no user, the pool has already dropped the
 * connection.
 */
function ignore(): void {}

/**
 * Tells whether the server refused the statement but accepts others. The pool itself would connect again each time,
 * which would overload a server that is only full or read-only.
 */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof Error && 'severity' in error) || lostCodes.includes(codeOf(error))) return false;
  return error.severity !== 'FATAL' && error.severity !== 'PANIC';
}

/**
 * Closes the idle connection of the adapter. The adapter connected when it was made, and keeps that connection for a
 * while. If the server went down meanwhile, the process would end (see `openPool`). The adapter's pool closes the
 * connection of a failed statement, so we run one that fails before it is sent.
 */
function dropIdle(adapter: PostgresAdapter): void {
  void Promise.resolve((adapter as AdapterInternals).query?.('', 'not a list')).catch(ignore);
}

/**
 * The name is not a literal in the import: a host app that bundles us for another kind of store need not install `pg`.
 */
const driver: string = 'pg';

async function loadDriver(): Promise<Driver> {
  try {
    const loaded: { default: Driver } = await import(/* webpackIgnore: true */ /* @vite-ignore */ driver);
    return loaded.default;
  } catch (cause) {
    throw new Error('A store on PostgreSQL needs the package pg, the one that @keyv/postgres uses: npm install pg', {
      cause,
    });
  }
}

function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const cancel = systemClock.after(ms, resolve);
    work.catch(ignore).then(() => {
      cancel();
      resolve();
    });
  });
}
