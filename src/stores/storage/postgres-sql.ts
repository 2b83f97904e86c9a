/** Names of what a store makes in PostgreSQL, beside the table of its Keyv adapter, as they stand in SQL. */
export interface PostgresNames {
  /** A table or function: quoted, with its schema. */
  of(suffix: string): string;
  /** An index, which lies in the schema of its table. */
  index(suffix: string): string;
  /** The schema, quoted. */
  schema: string;
  /** Schema and table as a string of SQL, of which the keys of advisory locks are made. */
  lockText: string;
}

/** PostgreSQL would cut a longer name without a word, and two of ours might then be one. */
const maxBytes = 63;

/** @throws Error for a schema or table that PostgreSQL, or the text of a function, cannot name */
export function postgresNames(schema: string, table: string): PostgresNames {
  const index = (suffix: string) => quoteName(`${table}_${suffix}`);
  return {
    of: (suffix) => `${quoteName(schema)}.${index(suffix)}`,
    index,
    schema: quoteName(schema),
    lockText: quoteText(`${schema}.${table}`),
  };
}

export function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

function quoteName(name: string): string {
  if (name.includes(bodyQuote) || name.includes('\0') || new TextEncoder().encode(name).length > maxBytes) {
    throw new Error(`PostgreSQL cannot have the name ${name}: choose another table or schema for the Keyv adapter`);
  }
  return `"${name.replaceAll('"', '""')}"`;
}

/** Begins and ends the text of a function. */
const bodyQuote = '$gateway$';

/** Longest wait of a function for a lock: the server itself ends it, so that nothing of it is left there. */
export const lockTimeoutMs = 2_000;

/** What a function throws that must see all that was committed before its lock was granted. */
export const wrongIsolationCode = 'MG001';

export interface FunctionText {
  /** With its parameters, such as `names.of('f') + '(p_at jsonb)'`. */
  signature: string;
  returns: string;
  /** PL/pgSQL, of a `DECLARE` or `BEGIN` to its `END`. */
  body: string;
}

/**
 * Makes or replaces a function. Its plans are made once per connection, perhaps while tables are empty: they search
 * indexes alone, so that they stay right when tables are large.
 */
export function functionText({ signature, returns, body }: FunctionText): string {
  return `CREATE OR REPLACE FUNCTION ${signature} RETURNS ${returns} LANGUAGE plpgsql
SET lock_timeout = ${lockTimeoutMs} SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET jit = off
AS ${bodyQuote}
#variable_conflict use_column
${body}
${bodyQuote}`;
}

/**
 * Statements at the beginning of a function that changes things: one at a time for each `key`, an expression of SQL, until
 * the transaction ends. Each statement behind sees what the one before it in the lock has done: by default it does, and
 * elsewhere the function refuses to run.
 */
export function lockFor(names: PostgresNames, key: string): string {
  return `IF current_setting('transaction_isolation') NOT IN ('read committed', 'read uncommitted') THEN
    RAISE EXCEPTION 'needs READ COMMITTED' USING ERRCODE = '${wrongIsolationCode}';
  END IF;
  PERFORM pg_advisory_xact_lock(hashtextextended(concat_ws(chr(31), ${names.lockText}, ${key}), 0));`;
}

/** Statements that go before all others that make things, together with them one transaction: processes take turns. */
export function setupStart(names: PostgresNames): string[] {
  return [
    `SELECT set_config('lock_timeout', '${lockTimeoutMs}', true)`,
    `SELECT pg_advisory_xact_lock(hashtextextended(concat_ws(chr(31), ${names.lockText}, 'setup'), 0))`,
    // IF NOT EXISTS asks for the right to make schemas even where there is nothing to make.
    `DO ${bodyQuote} BEGIN
      IF to_regnamespace(${quoteText(names.schema)}) IS NULL THEN CREATE SCHEMA ${names.schema}; END IF;
    END ${bodyQuote}`,
  ];
}
