import type { PostgresNames } from '../storage/postgres-sql.ts';

/** Names, as they stand in SQL, of what the ledger has on its server. */
export interface LedgerNames {
  windows: string;
  holds: string;
  additions: string;
  /** Functions. With another text goes another number: old and new processes may run side by side. */
  book: string;
  lapse: string;
  states: string;
  take: string;
}

export function ledgerNames(names: PostgresNames): LedgerNames {
  return {
    windows: names.of('windows'),
    holds: names.of('holds'),
    additions: names.of('additions'),
    book: names.of('book_1'),
    lapse: names.of('lapse_1'),
    states: names.of('states_1'),
    take: names.of('take_1'),
  };
}

/**
 * Statements that make the tables. A hold is `held`, then gone, `lapsed` or `released`; `charged` is what its lapsing has
 * cost. Of additions only the ids are kept.
 */
export function ledgerTables(names: PostgresNames): string[] {
  const { windows, holds, additions } = ledgerNames(names);
  const key = (name: string) => `${name} text COLLATE "C" NOT NULL`;
  return [
    // Windows are written all the time. With room beside it a row stays in its page, and indexes stay as they are.
    `CREATE TABLE IF NOT EXISTS ${windows} (
      ${['namespace', 'workspace', 'account', '"interval"'].map(key).join(', ')},
      start_ms bigint NOT NULL,
      end_ms bigint,
      spent bigint NOT NULL,
      held bigint NOT NULL,
      PRIMARY KEY (namespace, workspace, account, "interval", start_ms)
    ) WITH (fillfactor = 50)`,
    `CREATE INDEX IF NOT EXISTS ${names.index('windows_end')} ON ${windows} (namespace, workspace, end_ms)`,
    `CREATE TABLE IF NOT EXISTS ${holds} (
      ${['namespace', 'workspace', 'id'].map(key).join(', ')},
      state text NOT NULL,
      amount bigint NOT NULL,
      windows jsonb NOT NULL,
      lease_until_ms bigint NOT NULL,
      charged bigint NOT NULL,
      ended_ms bigint,
      PRIMARY KEY (namespace, workspace, id)
    )`,
    `CREATE INDEX IF NOT EXISTS ${names.index('holds_lease')}
      ON ${holds} (namespace, workspace, lease_until_ms) WHERE ended_ms IS NULL`,
    `CREATE INDEX IF NOT EXISTS ${names.index('holds_ended')}
      ON ${holds} (namespace, workspace, ended_ms) WHERE ended_ms IS NOT NULL`,
    `CREATE TABLE IF NOT EXISTS ${additions} (
      ${['namespace', 'workspace', 'id'].map(key).join(', ')},
      at_ms bigint NOT NULL,
      PRIMARY KEY (namespace, workspace, id)
    )`,
    `CREATE INDEX IF NOT EXISTS ${names.index('additions_at')} ON ${additions} (namespace, workspace, at_ms)`,
  ];
}
