import { wasNotSent } from '../circuit.ts';
import { codeOf, isLost, openPool, type PostgresAdapter, type PostgresPool, type Row, type Statement } from './pool.ts';
import { wrongIsolationCode } from './sql.ts';

/** Calls the functions of a store on its server. Each call is one round trip and one transaction. */
export interface PostgresConnection {
  /** The namespace of the adapter, which is part of every key. */
  readonly namespace: string;
  /**
   * @param functionName  quoted, with its schema
   * @param isRepeatable  a repeated call changes nothing. So the call is repeated once if the connection was lost
   *                      before the server responded
   * @returns the value of each row, as text
   */
  call(functionName: string, values: readonly unknown[], isRepeatable: boolean): Promise<(string | null)[]>;
  close(): Promise<void>;
}

/** The most attempts: many more than can fail by chance, so a further attempt would not help either. */
const maxAttempts = 5;

/** Codes for a missing table, function or schema: it was not created yet, or was removed. */
const missingCodes = ['42P01', '42883', '3F000'];
/** Codes for a failed serialization and for a deadlock. The transaction changed nothing. */
const conflictCodes = ['40001', '40P01'];
/**
 * Codes when another process created the same at the same time: unique violation, duplicate schema, table, object,
 * function.
 */
const duplicateCodes = ['23505', '42P06', '42P07', '42710', '42723', ...conflictCodes];

/**
 * @param setup  a statement that creates all missing tables and functions; run when a call finds that one is missing
 */
export function connectPostgres(adapter: PostgresAdapter, setup: string): PostgresConnection {
  // Read once: another Keyv on the same adapter would change the namespace, and budgets would start again from zero.
  const namespace = adapter.namespace ?? '';
  const pool = openPool(adapter);
  let settingUp: Promise<void> | undefined;
  let needsTransaction = false;

  async function call(functionName: string, values: readonly unknown[], isRepeatable: boolean) {
    const parameters = values.map((_, index) => `$${index + 1}`).join(', ');
    const statement = { text: `SELECT result::text AS result FROM ${functionName}(${parameters}) AS result`, values };
    /** The error of an attempt that may have been executed; null: there is none. */
    let unanswered: unknown = null;
    for (let attempt = 1; ; attempt++) {
      const isTransaction = needsTransaction;
      try {
        const rows = await (isTransaction ? pool.transact(statement) : pool.query(statement));
        return rows.map(readResult);
      } catch (error) {
        // Were the last attempt said not to be sent, nobody would take back what an earlier one has done.
        const failure = unanswered !== null && wasNotSent(error) ? unanswered : error;
        if (attempt === maxAttempts) throw failure;
        const code = codeOf(error);
        if (missingCodes.includes(code)) {
          settingUp ??= setUp(pool, { text: setup }).finally(() => {
            settingUp = undefined;
          });
          await settingUp;
        } else if (code === wrongIsolationCode && !isTransaction) needsTransaction = true;
        // Once: if the server is down, the next attempt fails as well.
        else if (isRepeatable && isLost(error) && attempt === 1) unanswered = wasNotSent(error) ? null : error;
        else if (!conflictCodes.includes(code)) throw failure;
      }
    }
  }

  return { namespace, call, close: () => pool.close() };
}

async function setUp(pool: PostgresPool, statement: Statement): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await pool.query(statement);
      return;
    } catch (error) {
      if (attempt < maxAttempts && duplicateCodes.includes(codeOf(error))) continue;
      throw new Error(`PostgreSQL did not make the tables and functions of the store: ${messageOf(error)}`, {
        cause: error,
      });
    }
  }
}

/** Checks the type of a result: an unexpected type must never be taken for "no record". */
function readResult({ result }: Row): string | null {
  if (typeof result === 'string' || result === null) return result;
  throw new TypeError('PostgreSQL has returned something other than text');
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
