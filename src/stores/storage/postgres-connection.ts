import {
  codeOf,
  isLost,
  openPool,
  type PostgresAdapter,
  type PostgresPool,
  type Row,
  type Statement,
} from './postgres-pool.ts';
import { wrongIsolationCode } from './postgres-sql.ts';

/** The functions a store has on its server: each is one round trip, and one transaction. */
export interface PostgresConnection {
  /** Of the adapter. Part of every key. */
  readonly namespace: string;
  /**
   * @param functionName  quoted, with its schema
   * @param isRepeatable  a second call does nothing that the first has done: it is called again when the connection was
   *   lost before it answered
   * @returns what each row holds, as text
   */
  call(functionName: string, values: readonly unknown[], isRepeatable: boolean): Promise<(string | null)[]>;
  close(): Promise<void>;
}

/** Many more than can go wrong by chance: afterwards something is amiss that trying again does not mend. */
const maxAttempts = 5;

/** No such table, function, schema: they have not been made yet, or were removed. */
const missingCodes = ['42P01', '42883', '3F000'];
/** Failed serialization, deadlock. Nothing was done. */
const conflictCodes = ['40001', '40P01'];
/** Somebody else made the same at the same time: unique violation, duplicate schema, table, object, function. */
const duplicateCodes = ['23505', '42P06', '42P07', '42710', '42723', ...conflictCodes];

/**
 * @param setup  a statement that makes all tables and functions that are missing; run when one is
 */
export function connectPostgres(adapter: PostgresAdapter, setup: string): PostgresConnection {
  // Taken once: another Keyv on the same adapter would change it, and budgets would begin anew.
  const namespace = adapter.namespace ?? '';
  const pool = openPool(adapter);
  let settingUp: Promise<void> | undefined;
  let needsTransaction = false;

  async function call(functionName: string, values: readonly unknown[], isRepeatable: boolean) {
    const parameters = values.map((_, index) => `$${index + 1}`).join(', ');
    const statement = { text: `SELECT answer::text AS answer FROM ${functionName}(${parameters}) AS answer`, values };
    for (let attempt = 1; ; attempt++) {
      const isTransaction = needsTransaction;
      try {
        const rows = await (isTransaction ? pool.transact(statement) : pool.query(statement));
        return rows.map(readAnswer);
      } catch (error) {
        if (attempt === maxAttempts) throw error;
        const code = codeOf(error);
        if (missingCodes.includes(code)) {
          settingUp ??= setUp(pool, { text: setup }).finally(() => {
            settingUp = undefined;
          });
          await settingUp;
        } else if (code === wrongIsolationCode && !isTransaction) needsTransaction = true;
        // Once: when the server is down, the next attempt is told so.
        else if (isRepeatable && isLost(error) && attempt === 1) continue;
        else if (!conflictCodes.includes(code)) throw error;
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

/** Whatever else it is, it is not the answer that there is nothing. */
function readAnswer({ answer }: Row): string | null {
  if (typeof answer === 'string' || answer === null) return answer;
  throw new TypeError('PostgreSQL has answered something else than text');
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
