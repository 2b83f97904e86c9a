import { inNamespace, type SqliteDatabase } from '../sqlite-database.ts';
import { type Bucket, emptyAtMs, fits, leaked, taken, withTokens } from './bucket.ts';
import { inProcess } from './memory.ts';
import { countsCalls, expireBatch, type LimitedAccount, placeOf, type Rates } from './rates.ts';

// Parts are whole numbers below 2^53.
const schema = [
  `CREATE TABLE IF NOT EXISTS gateway_rates
    (workspace TEXT NOT NULL, account TEXT NOT NULL, requests INTEGER NOT NULL, tokens INTEGER NOT NULL,
    in_flight INTEGER NOT NULL, at_ms INTEGER NOT NULL, empty_at_ms INTEGER NOT NULL,
    PRIMARY KEY (workspace, account)) STRICT`,
  `CREATE INDEX IF NOT EXISTS gateway_rates_empty
    ON gateway_rates (workspace, empty_at_ms) WHERE in_flight = 0`,
  `CREATE TABLE IF NOT EXISTS gateway_calls
    (workspace TEXT NOT NULL, place TEXT NOT NULL, account TEXT NOT NULL, lease_until_ms INTEGER NOT NULL,
    PRIMARY KEY (workspace, place)) STRICT`,
  'CREATE INDEX IF NOT EXISTS gateway_calls_lease ON gateway_calls (workspace, lease_until_ms)',
];

/** The number of old rows that are removed for each new one, so that the table does not grow for ever. */
const sweepBatch = 20;

/** Rate limits in SQLite. Every step is one transaction. SQLite runs one transaction at a time over all processes. */
export function sqliteRates(database: SqliteDatabase, { namespace }: { namespace?: string | undefined }): Rates {
  const inStore = inNamespace(namespace);
  database.define(schema);
  const run = (sql: string, ...values: (string | number)[]) => Number(database.prepare(sql).run(...values).changes);

  function bucketOf(workspace: string, limited: LimitedAccount, nowMs: number): Bucket {
    const row = database
      .prepare('SELECT requests, tokens, in_flight, at_ms FROM gateway_rates WHERE workspace = ? AND account = ?')
      .get(workspace, limited.account) as Record<'requests' | 'tokens' | 'in_flight' | 'at_ms', number> | undefined;
    const bucket: Bucket = row
      ? { requests: row.requests, tokens: row.tokens, inFlight: row.in_flight, atMs: row.at_ms }
      : { requests: 0, tokens: 0, inFlight: 0, atMs: nowMs };
    return leaked(bucket, limited, nowMs);
  }

  function write(workspace: string, limited: LimitedAccount, bucket: Bucket): void {
    const { requests, tokens, inFlight, atMs } = bucket;
    const values = [requests, tokens, inFlight, atMs, emptyAtMs(bucket, limited)];
    const changed = run(
      `UPDATE gateway_rates SET requests = ?, tokens = ?, in_flight = ?, at_ms = ?, empty_at_ms = ?
        WHERE workspace = ? AND account = ?`,
      ...[...values, workspace, limited.account],
    );
    if (changed > 0) return;
    run(
      `INSERT INTO gateway_rates (requests, tokens, in_flight, at_ms, empty_at_ms, workspace, account)
        VALUES (?, ?, ?, ?, ?, ?, ?)`,
      ...[...values, workspace, limited.account],
    );
    run(
      `DELETE FROM gateway_rates WHERE rowid IN (SELECT rowid FROM gateway_rates
        WHERE workspace = ? AND in_flight = 0 AND empty_at_ms <= ? AND account <> ? LIMIT ${sweepBatch})`,
      ...[workspace, atMs, limited.account],
    );
  }

  function expire(workspace: string, nowMs: number): void {
    const lost = database
      .prepare(
        `SELECT place, account FROM gateway_calls WHERE workspace = ? AND lease_until_ms <= ?
          ORDER BY lease_until_ms LIMIT ${expireBatch}`,
      )
      .all(workspace, nowMs) as { place: string; account: string }[];
    for (const { place, account } of lost) {
      run('DELETE FROM gateway_calls WHERE workspace = ? AND place = ?', workspace, place);
      run('UPDATE gateway_rates SET in_flight = in_flight - 1 WHERE workspace = ? AND account = ?', workspace, account);
    }
  }

  return {
    hasClock: false,
    admit: async ({ id, workspaceId, accounts, nowMs, leaseMs, ...taking }) => {
      const now = inProcess(nowMs);
      const workspace = inStore(workspaceId);
      return database.transact(() => {
        expire(workspace, now);
        const buckets = accounts.map((limited) => bucketOf(workspace, limited, now));
        if (!buckets.every((bucket, at) => fits(bucket, accounts[at] as LimitedAccount, taking)))
          return { isAdmitted: false, states: buckets };
        const states = buckets.map((before, at) => {
          const limited = accounts[at] as LimitedAccount;
          const bucket = taken(before, limited, taking);
          if (!taking.isFurther && countsCalls(limited)) {
            bucket.inFlight++;
            run(
              'INSERT INTO gateway_calls (workspace, place, account, lease_until_ms) VALUES (?, ?, ?, ?)',
              ...[workspace, placeOf(limited, id), limited.account, now + leaseMs],
            );
          }
          write(workspace, limited, bucket);
          return bucket;
        });
        return { isAdmitted: true, states };
      });
    },
    end: async ({ id, workspaceId, accounts, moreTokens, nowMs }) => {
      const now = inProcess(nowMs);
      const workspace = inStore(workspaceId);
      await database.transact(() => {
        expire(workspace, now);
        for (const limited of accounts) {
          if (run('DELETE FROM gateway_calls WHERE workspace = ? AND place = ?', workspace, placeOf(limited, id)) === 0)
            continue;
          const bucket = bucketOf(workspace, limited, now);
          bucket.inFlight--;
          if (limited.tokensPerMinute !== null) bucket.tokens = withTokens(bucket.tokens, moreTokens);
          write(workspace, limited, bucket);
        }
      });
    },
    renew: async (workspaceId, places, nowMs, leaseMs) => {
      const now = inProcess(nowMs);
      const workspace = inStore(workspaceId);
      await database.transact(() => {
        for (const place of places)
          run(
            `UPDATE gateway_calls SET lease_until_ms = max(lease_until_ms, ?)
              WHERE workspace = ? AND place = ? AND lease_until_ms > ?`,
            ...[now + leaseMs, workspace, place, now],
          );
      });
    },
    read: async (workspaceId, accounts, nowMs) => {
      const now = inProcess(nowMs);
      const workspace = inStore(workspaceId);
      // Reads without the lock of writers: a lost call is only counted here, and the next step that writes ends it.
      return database.read(() =>
        accounts.map((limited) => {
          const { lost } = database
            .prepare(
              'SELECT count(*) AS lost FROM gateway_calls WHERE workspace = ? AND account = ? AND lease_until_ms <= ?',
            )
            .get(workspace, limited.account, now) as { lost: number };
          const bucket = bucketOf(workspace, limited, now);
          return { ...bucket, inFlight: bucket.inFlight - lost };
        }),
      );
    },
    forget: (workspaceId) =>
      database.transact(() => {
        for (const table of ['gateway_rates', 'gateway_calls'])
          run(`DELETE FROM ${table} WHERE workspace = ?`, inStore(workspaceId));
      }),
  };
}
