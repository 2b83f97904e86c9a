/**
 * Names in PostgreSQL for the store's tables and functions, quoted for SQL. The Keyv adapter's own table is not among
 * them.
 */
export interface PostgresNames {
  /** The name of a table or function: quoted, with its schema. */
  of(suffix: string): string;
  /** The name of an index. PostgreSQL puts it into the schema of its table. */
  index(suffix: string): string;
  /** The schema, quoted. */
  schema: string;
  /** Schema and table as an SQL string. The keys of advisory locks are made from it. */
  lockText: string;
}

/** PostgreSQL silently cuts longer names, and two of our names might become the same. */
const maxBytes = 63;

/** @throws Error for the name of a schema or table that PostgreSQL, or the text of a function, cannot hold */
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

/** Quotes the body of a function, and the statement that creates it. */
const bodyQuote = '$gateway$';
const setupQuote = '$gateway_setup$';

/** The longest wait of a function for a lock. The server itself ends the wait, so that no work is left there. */
export const lockTimeoutMs = 2_000;

/** The error of a function that must see everything that was committed before it got its lock. */
export const wrongIsolationCode = 'MG001';

/**
 * Each function reads a few rows by their keys. Reading a complete table or starting parallel workers is never right.
 */
const settings = `SET lock_timeout = ${lockTimeoutMs} SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET max_parallel_workers_per_gather = 0 SET jit = off`;

/** A table, index or function of the store on its server. */
export interface Definition {
  kind: 'table' | 'function';
  /** Quoted, with its schema. */
  name: string;
  /** Statements that create it. */
  text: string[];
}

export interface FunctionText {
  /** Quoted, with its schema. */
  name: string;
  /** Such as `p_at jsonb`. */
  parameters: string;
  returns: string;
  /** PL/pgSQL, from `DECLARE` or `BEGIN` to the last `END`. */
  body: string;
  /** true: only another function calls it, and that one's settings also apply here. */
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
 * Statements for the beginning of a function that changes data. They lock `key`, an SQL expression, until the
 * transaction ends. Each later statement must see the changes of the previous owner of the lock. With PostgreSQL's
 * default isolation it does. With another one, the function refuses to run.
 */
export function lockFor(names: PostgresNames, key: string): string {
  return `IF current_setting('transaction_isolation') NOT IN ('read committed', 'read uncommitted') THEN
    RAISE EXCEPTION 'needs READ COMMITTED' USING ERRCODE = '${wrongIsolationCode}';
  END IF;
  PERFORM pg_advisory_xact_lock(hashtextextended(concat_ws(chr(31), ${names.lockText}, ${key}), 0));`;
}

/**
 * One statement that creates what is missing and does not touch what exists: checking an index of a table in use would
 * wait for the table's writers, and they would wait for us. Processes that start at the same time take turns.
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
