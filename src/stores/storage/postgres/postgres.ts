import type { LedgerOptions } from '../../ledger/ledger.ts';
import { postgresLedger } from '../../ledger/postgres.ts';
import { defineLedgerFunctions } from '../../ledger/postgres-functions.ts';
import { defineLedgerTables } from '../../ledger/postgres-tables.ts';
import { postgresRates } from '../../rates/postgres.ts';
import { defineRates } from '../../rates/postgres-functions.ts';
import type { Address, Listed, RankedRecord, Storage } from '../storage.ts';
import { connectPostgres } from './connection.ts';
import type { PostgresAdapter } from './pool.ts';
import { defineRecords, recordFunctions } from './records.ts';
import { postgresNames, setupText } from './sql.ts';

/**
 * A storage in its own tables and functions. They are in the schema of a Keyv adapter for PostgreSQL, and named after
 * its table. A call that finds one missing creates them. That needs the right to create in the schema; later calls do
 * not.
 */
export function postgresStorage(adapter: PostgresAdapter, options: LedgerOptions): Storage {
  const names = postgresNames(adapter.schema, adapter.table);
  const connection = connectPostgres(
    adapter,
    setupText(names, [
      ...defineRecords(names),
      ...defineLedgerTables(names),
      ...defineLedgerFunctions(names),
      ...defineRates(names),
    ]),
  );
  const { namespace } = connection;

  async function getMany(at: readonly Address[]): Promise<(string | null)[]> {
    if (at.length === 0) return [];
    const asked = at.map(({ kind, id }) => ({ kind, id }));
    const values = [namespace, at[0]?.partition, JSON.stringify(asked)];
    const results = await connection.call(names.of(recordFunctions.read), values, true);
    if (results.length !== at.length) throw new Error('PostgreSQL has not returned a result for every record');
    return results;
  }

  // Connects ahead of the first request, which has no time to wait. Without a server, the first request tries again.
  getMany([{ partition: '', kind: '', id: '' }]).catch(() => {});

  return {
    kind: 'postgres',
    isShared: true,
    ledger: postgresLedger(connection, names, options),
    rates: postgresRates(connection, names),
    async get(at) {
      const [value] = await getMany([at]);
      return value ?? null;
    },
    getMany,
    async commit(changes) {
      if (changes.length === 0) return true;
      const flat = changes.map(({ at: { kind, id }, expect, value, rank }) => ({ kind, id, expect, value, rank }));
      // Not repeatable: after a successful commit, its own expectations no longer hold.
      const [isDone] = await connection.call(
        names.of(recordFunctions.commit),
        [namespace, changes[0]?.at.partition, JSON.stringify(flat)],
        false,
      );
      if (isDone !== 'true' && isDone !== 'false')
        throw new Error('PostgreSQL has not reported whether it has written');
      return isDone === 'true';
    },
    async list(partition, kind, { offset, limit }) {
      const [listed] = await connection.call(
        names.of(recordFunctions.list),
        [namespace, partition, kind, offset, limit],
        true,
      );
      return JSON.parse(listed ?? '') as Listed;
    },
    async seek(partition, kind, { from, limit, isFromEnd, countUpTo }) {
      const [listed] = await connection.call(
        names.of(recordFunctions.seek),
        [namespace, partition, kind, from ?? Number.MIN_SAFE_INTEGER, limit, isFromEnd, countUpTo],
        true,
      );
      return JSON.parse(listed ?? '') as Listed;
    },
    async seekAll(asked) {
      const found = asked.map((): RankedRecord[] => []);
      if (asked.length === 0) return found;
      const lists = asked.map(({ partition, kind, from, before, limit, having = [] }) => [
        partition,
        kind,
        from,
        before,
        limit,
        having,
      ]);
      for (const line of await connection.call(
        names.of(recordFunctions.seekAll),
        [namespace, JSON.stringify(lists)],
        true,
      )) {
        const { list, ...record } = partsOf(line);
        const records = found[list];
        if (!records) throw new Error('PostgreSQL has returned a record of no list');
        records.push(record);
      }
      return found;
    },
    close: () => connection.close(),
  };
}

/** A record of `seekAll`: the number of its list, its rank, its id and its value, with a space between them. */
function partsOf(line: string | null): RankedRecord & { list: number } {
  const text = line ?? '';
  const toRank = text.indexOf(' ') + 1;
  const toId = text.indexOf(' ', toRank) + 1;
  const toValue = text.indexOf(' ', toId) + 1;
  const [list, rank] = [Number.parseInt(text, 10), Number(text.slice(toRank, toId))];
  if (toRank === 0 || toId === 0 || toValue === 0 || !Number.isSafeInteger(rank))
    throw new Error('PostgreSQL has returned something other than a record');
  return { list, rank, id: text.slice(toId, toValue - 1), value: text.slice(toValue) };
}
