// Amounts are integers of 64 bits. Times are REAL, which holds the values of any clock. `windows` is JSON.
export const sqliteLedgerTables = [
  `CREATE TABLE IF NOT EXISTS gateway_windows
    (workspace TEXT NOT NULL, account TEXT NOT NULL, interval TEXT NOT NULL, start_ms INTEGER NOT NULL, end_ms INTEGER,
    spent INTEGER NOT NULL, held INTEGER NOT NULL, PRIMARY KEY (workspace, account, interval, start_ms)) STRICT`,
  `CREATE INDEX IF NOT EXISTS gateway_windows_end
    ON gateway_windows (workspace, end_ms) WHERE end_ms IS NOT NULL`,
  `CREATE TABLE IF NOT EXISTS gateway_holds
    (workspace TEXT NOT NULL, id TEXT NOT NULL, amount INTEGER NOT NULL, lease_until_ms REAL NOT NULL,
    windows TEXT NOT NULL, PRIMARY KEY (workspace, id)) STRICT, WITHOUT ROWID`,
  'CREATE INDEX IF NOT EXISTS gateway_holds_lease ON gateway_holds (workspace, lease_until_ms)',
  // With windows: an expired hold, which may still be settled. Without windows: an id that must not be used again.
  `CREATE TABLE IF NOT EXISTS gateway_ended
    (workspace TEXT NOT NULL, id TEXT NOT NULL, forget_at_ms REAL NOT NULL, charged INTEGER NOT NULL, windows TEXT,
    PRIMARY KEY (workspace, id)) STRICT`,
  'CREATE INDEX IF NOT EXISTS gateway_ended_forget ON gateway_ended (workspace, forget_at_ms)',
  // The ids of settled holds, numbered per workspace in the order of their settlements.
  `CREATE TABLE IF NOT EXISTS gateway_settled
    (workspace TEXT NOT NULL, id TEXT NOT NULL, number INTEGER NOT NULL, forget_at_ms REAL NOT NULL,
    PRIMARY KEY (workspace, id)) STRICT, WITHOUT ROWID`,
  'CREATE INDEX IF NOT EXISTS gateway_settled_number ON gateway_settled (workspace, number, forget_at_ms)',
];

/** All tables with data of a workspace. */
export const sqliteLedgerTableNames = ['gateway_windows', 'gateway_holds', 'gateway_ended', 'gateway_settled'];
