import { systemClock } from '../../base/clock.ts';
import { NotSentError } from './circuit.ts';

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
 * the one for locks: if we gave up a connection while the server still works on it, the connection would stay open
 * there, and enough of them would use up all that the server has.
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

/** The longest wait for the server to close its connections. */
const closeTimeoutMs = 1_000;

/**
 * Our own pool, with the address and the options of the adapter. The adapter's pool has no time limits, and no listener
 * for errors: when the server closes an idle connection, the process would end.
 */
export function openPool(adapter: PostgresAdapter): PostgresPool {
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
  dropIdle(adapter);

  async function open(): Promise<DriverPool> {
    if (isClosed) throw new NotSentError('The store is closed');
    opening ??= loadDriver().then(({ Pool }) => {
      const pool = new Pool(config);
      // Errors of idle connections and of those in use. One listener for both, because an error may come before the
      // result.
      pool.on('error', ignore);
      pool.on('connect', (client) => client.on('error', ignore));
      return pool;
    });
    return opening;
  }

  /** Runs work on a connection. Keeps the connection, unless it may be unfit for further use. */
  async function use<T>(work: (client: DriverClient) => Promise<T>, isFit: (error: unknown) => boolean): Promise<T> {
    const pool = await open();
    const client = await pool.connect().catch((error: unknown) => {
      throw new NotSentError('PostgreSQL is not connected', error);
    });
    try {
      const result = await work(client);
      client.release();
      return result;
    } catch (error) {
      client.release(isFit(error) ? undefined : error);
      throw error;
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

/** Whether the connection was lost during a statement, which may have been executed or not, or before it. */
export function isLost(error: unknown): boolean {
  if (error instanceof NotSentError) return isLost(error.cause);
  return lostCodes.includes(codeOf(error)) || (error instanceof Error && lostMessages.includes(error.message));
}

/** A SQLSTATE, or Node's code for a network failure; empty if there is none. */
export function codeOf(error: unknown): string {
  if (error instanceof NotSentError) return codeOf(error.cause);
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** The user of the connection gets the error. If there is none, the pool has already dropped the connection. */
function ignore(): void {}

/**
 * Whether the server refused the statement but accepts others. The pool itself would connect again each time, which
 * would overload a server that is only full or read-only.
 */
function isRefusal(error: unknown): boolean {
  return error instanceof Error && 'severity' in error && !lostCodes.includes(codeOf(error));
}

/**
 * The adapter connected when it was made, and keeps that connection idle for a while. If the server went down
 * meanwhile, the process would end (see `openPool`). The adapter's pool closes the connection of a failed statement, so
 * we make it run one that fails before it is sent.
 */
function dropIdle(adapter: PostgresAdapter): void {
  void Promise.resolve((adapter as AdapterInternals).query?.('', 'not a list')).catch(ignore);
}

/** Not a literal in the import: a host app that bundles us for another kind of store need not install `pg`. */
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
