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
  if (name.includes('$gateway') || name.includes('\0') || new TextEncoder().encode(name).length > maxBytes) {
    throw new Error(`PostgreSQL cannot have the name ${name}: choose another table or schema for the Keyv adapter`);
  }
  return `"${name.replaceAll('"', '""')}"`;
}

/** Begins and ends the text of a function, and the one of the statement that makes it. */
const bodyQuote = '$gateway$';
const setupQuote = '$gateway_setup$';

/** Longest wait of a function for a lock: the server itself ends it, so that nothing of it is left there. */
export const lockTimeoutMs = 2_000;

/** What a function throws that must see all that was committed before its lock was granted. */
export const wrongIsolationCode = 'MG001';

/** Each looks for a few rows by their keys: reading a whole table, or starting further processes for it, is never right. */
const settings = `SET lock_timeout = ${lockTimeoutMs} SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET max_parallel_workers_per_gather = 0 SET jit = off`;

/** Something the store has on its server. */
export interface Definition {
  kind: 'table' | 'function';
  /** Quoted, with its schema. */
  name: string;
  /** Statements that make it where it is not. */
  text: string[];
}

export interface FunctionText {
  /** Quoted, with its schema. */
  name: string;
  /** Such as `p_at jsonb`. */
  parameters: string;
  returns: string;
  /** PL/pgSQL, of a `DECLARE` or `BEGIN` to its `END`. */
  body: string;
  /** Called by another function alone, whose settings hold for it as well. */
  isPart?: boolean;
}

export function defineFunction({ name, parameters, returns, body, isPart = false }: FunctionText): Definition {
  const text = `CREATE FUNCTION ${name}(${parameters}) RETURNS ${returns} LANGUAGE plpgsql
${isPart ? '' : settings}
AS ${bodyQuote}
#variable_conflict use_column
${body}
${bodyQuote}`;
  return { kind: 'function', name, text: [text] };
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

/**
 * One statement that makes what is missing, and touches nothing that is there: to look for an index of a table in use
 * would wait for its writers, and they for us. Processes that start at the same time take turns.
 */
export function setupText(names: PostgresNames, definitions: readonly Definition[]): string {
  const looks = { table: 'to_regclass', function: 'to_regproc' };
  const steps = definitions.map(
    ({ kind, name, text }) => `IF ${looks[kind]}(${quoteText(name)}) IS NULL THEN
${text.join(';\n')};
END IF;`,
  );
  return `DO ${setupQuote} BEGIN
PERFORM set_config('lock_timeout', '${lockTimeoutMs}', true);
PERFORM pg_advisory_xact_lock(hashtextextended(concat_ws(chr(31), ${names.lockText}, 'setup'), 0));
IF to_regnamespace(${quoteText(names.schema)}) IS NULL THEN
CREATE SCHEMA ${names.schema};
END IF;
${steps.join('\n')}
END ${setupQuote}`;
}
