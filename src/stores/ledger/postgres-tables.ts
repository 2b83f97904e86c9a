import type { Definition, PostgresNames } from '../storage/postgres/sql.ts';

/** The names of the ledger's tables and functions, quoted for SQL. */
export interface LedgerNames {
  windows: string;
  holds: string;
  additions: string;
  settled: string;
  /** Functions. A changed text needs a new number in the name: old and new processes may run at the same time. */
  book: string;
  expire: string;
  states: string;
  take: string;
}

export function ledgerNames(names: PostgresNames): LedgerNames {
  return {
    windows: names.of('windows'),
    holds: names.of('holds'),
    additions: names.of('additions'),
    settled: names.of('settled'),
    book: names.of('book_1'),
    expire: names.of('expire_1'),
    states: names.of('states_1'),
    take: names.of('take_6'),
  };
}

/**
 * The tables of the ledger. A hold is `held`; later its row is removed, or becomes `expired` or `released`. `charged`
 * is the amount that its expiry has charged. Additions and settled holds leave only their ids; settled ids are numbered
 * in order.
 */
export function defineLedgerTables(names: PostgresNames): Definition[] {
  const { windows, holds, additions, settled } = ledgerNames(names);
  const keys = (...columns: string[]) => columns.map((column) => `${column} text COLLATE "C" NOT NULL`).join(', ');
  const table = (name: string, ...text: string[]): Definition => ({ kind: 'table', name, text });
  return [
    // Windows are written all the time. With free space in its page, an updated row stays there, and no index changes.
    table(
      windows,
      `CREATE TABLE ${windows} (
        ${keys('namespace', 'workspace', 'account', '"interval"')},
        start_ms bigint NOT NULL,
        end_ms bigint,
        spent bigint NOT NULL,
        held bigint NOT NULL,
        PRIMARY KEY (namespace, workspace, account, "interval", start_ms)
      ) WITH (fillfactor = 50)`,
      `CREATE INDEX ${names.index('windows_end')} ON ${windows} (namespace, workspace, end_ms)`,
    ),
    table(
      holds,
      `CREATE TABLE ${holds} (
        ${keys('namespace', 'workspace', 'id')},
        state text NOT NULL,
        amount bigint NOT NULL,
        windows jsonb NOT NULL,
        lease_until_ms bigint NOT NULL,
        charged bigint NOT NULL,
        ended_ms bigint,
        PRIMARY KEY (namespace, workspace, id)
      )`,
      `CREATE INDEX ${names.index('holds_lease')}
        ON ${holds} (namespace, workspace, lease_until_ms) WHERE ended_ms IS NULL`,
      `CREATE INDEX ${names.index('holds_ended')}
        ON ${holds} (namespace, workspace, ended_ms) WHERE ended_ms IS NOT NULL`,
    ),
    table(
      additions,
      `CREATE TABLE ${additions} (
        ${keys('namespace', 'workspace', 'id')},
        at_ms bigint NOT NULL,
        PRIMARY KEY (namespace, workspace, id)
      )`,
      `CREATE INDEX ${names.index('additions_at')} ON ${additions} (namespace, workspace, at_ms)`,
    ),
    table(
      settled,
      `CREATE TABLE ${settled} (
        ${keys('namespace', 'workspace', 'id')},
        number bigint NOT NULL,
        at_ms bigint NOT NULL,
        PRIMARY KEY (namespace, workspace, id)
      )`,
      // One joined expression: with two columns, the server might look for an id among all ids of the workspace.
      `CREATE INDEX ${names.index('settled_number')} ON ${settled} ((namespace || ' ' || workspace), number)`,
    ),
  ];
}
