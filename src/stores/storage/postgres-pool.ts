import { systemClock } from '../../base/clock.ts';

/** What we use of a Keyv adapter for PostgreSQL, such as KeyvPostgres of `@keyv/postgres`. */
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
  /** As `query`, in a transaction of its own that is READ COMMITTED whatever the server's default is. */
  transact(statement: Statement): Promise<Row[]>;
  close(): Promise<void>;
}

export type Row = Record<string, unknown>;

/** The part of the package `pg` that is used here. */
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

/** What the adapter hides from its types. */
interface AdapterInternals {
  /** What it was given beyond its own options: the pool's, such as `password` or `max`. */
  _poolConfig?: Record<string, unknown>;
  query?(text: unknown, values: unknown): Promise<unknown>;
}

/**
 * A paused server or a dead network line answers nothing. A statement may take longer than a lock makes it wait: a
 * connection that is given up while the server still works on it lives on there, and enough of them take all it has.
 */
const patience = { connectionTimeoutMillis: 2_000, query_timeout: 3_000, keepAlive: true };

/** The server, or the network, has closed the connection that a statement was sent on. */
const lostCodes = ['57P01', '57P02', '57P04', '57P05', '08000', '08003', '08006', 'ECONNRESET', 'EPIPE'];
const lostMessages = [
  'Connection terminated',
  'Connection terminated unexpectedly',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
];

/** How long we wait for the server to say goodbye. */
const closeTimeoutMs = 1_000;

/**
 * A pool of our own, to where the adapter is connected and with its options. The adapter's has no time limits, and no
 * listener for errors: an idle connection that the server closes ends the process.
 */
export function openPool(adapter: PostgresAdapter): PostgresPool {
  const { _poolConfig: options } = adapter as AdapterInternals;
  const config = {
    ...patience,
    // Idle connections of a store that nobody closed do not hold up the end of the process.
    allowExitOnIdle: true,
    ...options,
    connectionString: adapter.uri,
    ssl: adapter.ssl,
  };
  let opening: Promise<DriverPool> | undefined;
  let isClosed = false;
  dropIdle(adapter);

  async function open(): Promise<DriverPool> {
    if (isClosed) throw new Error('The store is closed');
    opening ??= loadDriver().then(({ Pool }) => {
      const pool = new Pool(config);
      // Of an idle connection, and of one in use: here alone, for an error may come with the answer before it.
      pool.on('error', ignore);
      pool.on('connect', (client) => client.on('error', ignore));
      return pool;
    });
    return opening;
  }

  /** Runs work on a connection, which is kept unless it may be unfit for others. */
  async function use<T>(work: (client: DriverClient) => Promise<T>, isFit: (error: unknown) => boolean): Promise<T> {
    const client = await (await open()).connect();
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
        // With the connection goes the transaction.
        () => false,
      ),
    async close() {
      isClosed = true;
      const pool = await opening?.catch(() => null);
      // Ends when all connections have: one to a paused server does not.
      if (pool) await atMost(closeTimeoutMs, pool.end());
    },
  };
}

/** Whether the connection was lost under a statement, which may have been carried out or not. */
export function isLost(error: unknown): boolean {
  return lostCodes.includes(codeOf(error)) || (error instanceof Error && lostMessages.includes(error.message));
}

/** A SQLSTATE, or what Node calls a failure of the network; empty where there is none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** Whoever used the connection is told; where nobody did, the pool has already dropped it. */
function ignore(): void {}

/**
 * The server has refused the statement, and takes others. To connect anew each time, as the pool does by itself, would
 * bring down a server that is only full or read-only.
 */
function isRefusal(error: unknown): boolean {
  return error instanceof Error && 'severity' in error && !lostCodes.includes(codeOf(error));
}

/**
 * The adapter has connected itself when it was made, and keeps that connection idle for a while; see above for what
 * happens if the server goes down meanwhile. Its pool closes the connection of a statement that has failed, and this one
 * fails before it is sent.
 */
function dropIdle(adapter: PostgresAdapter): void {
  void Promise.resolve((adapter as AdapterInternals).query?.('', 'not a list')).catch(ignore);
}

/** Not named in the import: who bundles us for a store of another kind need not have it. */
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
