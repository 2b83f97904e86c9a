import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { KeyvPostgres } from '@keyv/postgres';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import {
  expireBatch,
  keepEndedMs,
  keepWindowsMs,
  type LedgerOptions,
  maxSettled,
} from '../../../src/stores/ledger/ledger.ts';
import { postgresStorage } from '../../../src/stores/storage/postgres/postgres.ts';
import type { Storage } from '../../../src/stores/storage/storage.ts';
import { childFlags } from '../../support/child-flags.ts';
import { askPostgres, connectTo } from '../../support/postgres-client.ts';
import { isLongRun } from '../../support/runs.ts';
import { describeWithPostgres } from '../../support/services.ts';
import { storeClock, type TimedLedger } from '../../support/timed-ledger.ts';
import { testConversations } from './conversations.ts';
import { limited, newWorkspace, noonMs, testLedger } from './ledger.ts';
import { at, budget, names, type Task } from './postgres-child.ts';
import { testRates } from './rates.ts';
import { testStorage } from './storage.ts';
import { testStoredResponses } from './stored-responses.ts';
import { testSweep } from './sweep.ts';

type Options = ConstructorParameters<typeof KeyvPostgres>[0] & object;

describeWithPostgres('PostgreSQL', (url) => {
  const schema = `gateway_test_${randomUUID().slice(0, 8)}`;
  const schemas = new Set([schema]);
  // The server may be shared, and has few connections: a test closes its own before the next begins.
  const opened = new Set<{ storage: Storage; adapter: KeyvPostgres }>();

  const clock = storeClock(noonMs);
  type Opened = Omit<Storage, 'ledger'> & { ledger: TimedLedger };

  async function open(options: Options = {}): Promise<Opened> {
    const storage = await openAt(options, { onLostHold: 'charge', now: clock.now });
    return { ...storage, ledger: clock.timed(storage.ledger) };
  }
  async function openAt(options: Options, ledgerOptions: LedgerOptions) {
    const adapter = new KeyvPostgres({ uri: await url(), schema, max: 4, ...options });
    adapter.on('error', () => {});
    if (options.schema) schemas.add(options.schema);
    return keep(adapter, postgresStorage(adapter, ledgerOptions));
  }
  function keep(adapter: KeyvPostgres, storage: Storage): Storage {
    opened.add({ storage, adapter });
    return storage;
  }
  async function closeAll() {
    for (const { storage, adapter } of opened) {
      await storage.close();
      await adapter.disconnect();
    }
    opened.clear();
  }
  const newSchema = () => `gateway_test_${randomUUID().slice(0, 8)}`;
  const ask = async (text: string, values?: unknown[]) => askPostgres(await url(), text, values);

  afterAll(async () => {
    await closeAll();
    for (const name of schemas) await ask(`DROP SCHEMA IF EXISTS "${name.replaceAll('"', '""')}" CASCADE`);
  });

  testStorage('postgres', async () => {
    const storage = await openAt({}, { onLostHold: 'charge' });
    return { storage, close: () => storage.close() };
  });
  testStoredResponses('postgres', async () => {
    const storage = await openAt({}, { onLostHold: 'charge' });
    return { storage, close: () => storage.close() };
  });
  testConversations('postgres', async () => {
    const storage = await openAt({}, { onLostHold: 'charge' });
    return { storage, close: () => storage.close() };
  });
  testSweep('postgres', async () => {
    const storage = await openAt({}, { onLostHold: 'charge' });
    return { storage, close: () => storage.close() };
  });
  testLedger('ledger: postgres', async ({ onLostHold = 'charge', now } = {}) => {
    const storage = await openAt({}, { onLostHold, now });
    return { ledger: storage.ledger, close: () => storage.close() };
  });
  testRates('rates: postgres', async () => {
    const storage = await open();
    return { rates: storage.rates, close: () => storage.close() };
  });

  describe('postgres', () => ownTests());

  function ownTests() {
    afterEach(closeAll);

    describe('what is kept apart', () => {
      const put = (storage: Opened, value: string) => storage.commit([{ at: at('same'), value, rank: 1 }]);
      const window = limited('daily', 100);
      const workspaceId = newWorkspace();

      it.each<[string, Options, Options]>([
        ['schemas', { schema: newSchema() }, { schema: newSchema() }],
        ['tables', { table: 'one' }, { table: 'two' }],
      ])('%s', async (_, first, second) => {
        const [one, two] = [await open(first), await open(second)];
        await put(one, 'one');
        expect(await two.get(at('same'))).toBeNull();
        await put(two, 'two');
        expect(await one.get(at('same'))).toBe('one');
        expect((await two.list('shared', 'thing', { offset: 0, limit: 9 })).records).toEqual([
          { id: 'same', value: 'two' },
        ]);
        await one.ledger.add(workspaceId, randomUUID(), [{ window, nanoUsd: 5 }], noonMs);
        expect(await two.ledger.read(workspaceId, [window], noonMs)).toEqual([{ spentNanoUsd: 0, heldNanoUsd: 0 }]);
      });
      it('namespaces of adapters, as they were when the storage was made', async () => {
        const adapter = (namespace?: string) =>
          Object.assign(new KeyvPostgres({ uri: adapterUri, schema, table: 'spaces' }), { namespace });
        const adapterUri = await url();
        const [plain, one, two] = [adapter(), adapter('one'), adapter('two')];
        const stores = [plain, one, two].map((each) => {
          const storage = keep(each, postgresStorage(each, { onLostHold: 'charge', now: clock.now }));
          return { ...storage, ledger: clock.timed(storage.ledger) };
        });
        // Another Keyv takes the adapter over.
        one.namespace = 'two';
        for (const [index, storage] of stores.entries()) {
          expect(await storage.get(at('same'))).toBeNull();
          await put(storage, `${index}`);
          await storage.ledger.add(workspaceId, randomUUID(), [{ window, nanoUsd: index + 1 }], noonMs);
        }
        for (const [index, storage] of stores.entries()) {
          expect(await storage.get(at('same'))).toBe(`${index}`);
          expect((await storage.list('shared', 'thing', { offset: 0, limit: 9 })).total).toBe(1);
          const [state] = await storage.ledger.read(workspaceId, [window], noonMs);
          expect(state?.spentNanoUsd).toBe(index + 1);
        }
      });
    });

    describe('names', () => {
      it.each([
        ['quotes, spaces and capitals', `it's "My" Keys`, `a 'schema' "${randomUUID().slice(0, 8)}"`],
        ['a statement', `x"; DROP TABLE keyv; --`, undefined],
        ['percent and dollar signs', '%I $$ $1', undefined],
      ])('of tables and schemas may hold %s', async (_, table, inSchema) => {
        const storage = await open({ table, ...(inSchema ? { schema: inSchema } : {}) });
        expect(await storage.commit([{ at: at('a'), expect: null, value: 'x', rank: 1 }])).toBe(true);
        expect((await storage.list('shared', 'thing', { offset: 0, limit: 9 })).total).toBe(1);
        expect(await storage.ledger.read(newWorkspace(), [limited('daily', 1)], noonMs)).toHaveLength(1);
      });
      it.each([
        ['that would be cut', 'x'.repeat(60)],
        ['that would end the text of a function', 'x$gateway$'],
      ])('%s are refused', async (_, table) => {
        await expect(open({ table })).rejects.toThrow(/choose another table/);
      });
    });

    describe('tables and functions', () => {
      it.runIf(isLongRun)('are made by four processes at the same instant, each of which can go on', async () => {
        const fresh = newSchema();
        schemas.add(fresh);
        expect(await together('begin', fresh)).toEqual([true, true, true, true]);
        const storage = await open({ schema: fresh });
        expect((await storage.list('shared', 'thing', { offset: 0, limit: 9 })).total).toBe(4);
        // By the clock of the server, as the processes have it.
        const server = await openAt({ schema: fresh }, { onLostHold: 'charge' });
        const [state] = await server.ledger.read(budget.workspaceId, budget.windows(1));
        expect(state).toEqual({ spentNanoUsd: 0, heldNanoUsd: 4 });
      });
      it('are made again when somebody has removed them', async () => {
        const fresh = newSchema();
        const storage = await open({ schema: fresh });
        await storage.commit([{ at: at('a'), value: 'x' }]);
        await ask(`DROP SCHEMA ${fresh} CASCADE`);
        const answers = await Promise.all(Array.from({ length: 20 }, () => storage.get(at('a'))));
        expect(new Set(answers)).toEqual(new Set([null]));
        expect(await storage.commit([{ at: at('a'), expect: null, value: 'x' }])).toBe(true);
      });
      it('take no right to make anything once they are there, and say which is lacking before', async () => {
        const [fresh, role] = [newSchema(), newSchema()];
        const uri = new URL(await url());
        await ask(`CREATE ROLE ${role} LOGIN`);
        try {
          uri.username = role;
          await ask(`CREATE SCHEMA ${fresh}; GRANT USAGE ON SCHEMA ${fresh} TO ${role}`);
          const storage = await open({ schema: fresh, uri: uri.href });
          await expect(storage.get(at('a'))).rejects.toThrow(/did not make .* permission denied for schema/);
          await expect(storage.ledger.expire(newWorkspace(), noonMs)).rejects.toThrow(/permission denied for schema/);
          await (await open({ schema: fresh })).get(at('a'));
          await ask(`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${fresh} TO ${role}`);
          expect(await storage.commit([{ at: at('a'), expect: null, value: 'x' }])).toBe(true);
          expect(await storage.get(at('a'))).toBe('x');
          expect(await storage.ledger.expire(newWorkspace(), noonMs)).toBe(0);
        } finally {
          await ask(`DROP SCHEMA ${fresh} CASCADE; DROP ROLE ${role}`);
        }
      });
    });

    describe('connections', () => {
      it('keep nothing from one statement to the next, as behind a pooler', async () => {
        const storage = await open({ maxUses: 1, max: 2 });
        const window = limited('daily', 1_000);
        const workspaceId = newWorkspace();
        for (let round = 0; round < 5; round++) {
          const id = randomUUID();
          const request = { id, workspaceId, amountNanoUsd: 10, windows: [window], nowMs: noonMs };
          expect(await storage.ledger.hold({ ...request, leaseUntilMs: noonMs + 1 })).toEqual({ isHeld: true });
          expect(await storage.ledger.settle(workspaceId, id, 10, noonMs)).toBe('ended');
          await storage.commit([{ at: at(`pooled-${round}`), value: 'x' }]);
          expect(await storage.get(at(`pooled-${round}`))).toBe('x');
        }
        expect(await storage.ledger.read(workspaceId, [window], noonMs)).toEqual([
          { spentNanoUsd: 50, heldNanoUsd: 0 },
        ]);
      });
      it.each(['repeatable read', 'serializable'])('may be %s by default', async (isolation) => {
        const table = `default-${isolation.replace(' ', '-')}`;
        const options = `-c default_transaction_isolation=${isolation.replace(' ', '\\ ')}`;
        const stores = [await open({ table, options }), await open({ table, options }), await open({ table })];
        const workspaceId = newWorkspace();
        const windows = [limited('daily', 100), limited('lifetime', 100)];
        const hold = (storage: Opened) =>
          storage.ledger.hold({
            id: randomUUID(),
            workspaceId,
            amountNanoUsd: 1,
            windows,
            nowMs: noonMs,
            leaseUntilMs: noonMs + 1,
          });
        const outcomes = await Promise.all(
          Array.from({ length: 150 }, (_, index) => hold(stores[index % 3] as Opened)),
        );
        expect(outcomes.filter(({ isHeld }) => isHeld)).toHaveLength(100);
        const won = await Promise.all(
          Array.from({ length: 30 }, (_, n) =>
            (stores[n % 3] as Opened).commit([{ at: at('a'), expect: null, value: `${n}` }]),
          ),
        );
        expect(won.filter(Boolean)).toHaveLength(1);

        // Several at once are told on the same occasion that they need another way.
        const fresh = await open({ table, options });
        await Promise.all(
          Array.from({ length: 8 }, (_, n) => fresh.commit([{ at: at(`b${n}`), expect: null, value: 'x' }])),
        );

        // A transaction of that kind would not see what is changed while it waits.
        const session = await connectTo(await url());
        await session.query(`BEGIN; LOCK TABLE ${schema}."${table}_windows"`);
        const waiting = hold(stores[0] as Opened);
        await expect
          .poll(async () => (await session.query(`SELECT FROM pg_locks WHERE NOT granted`)).rows.length)
          .toBeGreaterThan(0);
        await session.query(`UPDATE ${schema}."${table}_windows" SET held = 99; COMMIT`);
        await session.end();
        expect(await waiting).toEqual({ isHeld: true });
      });
      it('are kept when the server refuses a statement', async () => {
        const storage = await open({ max: 1, application_name: `${schema}_kept` });
        const sessions = () => ask('SELECT pid FROM pg_stat_activity WHERE application_name = $1', [`${schema}_kept`]);
        await storage.get(at('a'));
        // The adapter has let go of its own by now.
        await expect.poll(async () => (await sessions()).length).toBe(1);
        const before = await sessions();
        const bad = { window: limited('daily', 1), nanoUsd: Number.NaN };
        await expect(storage.ledger.add(newWorkspace(), randomUUID(), [bad], noonMs)).rejects.toThrow();
        await storage.get(at('a'));
        expect(await sessions()).toEqual(before);
      });
      it('that are ended under a statement make it run again, if that does nothing twice', async () => {
        const storage = await open({ table: 'ended', application_name: `${schema}_ended` });
        const workspaceId = newWorkspace();
        const window = limited('daily', 100);
        const add = () => storage.ledger.add(workspaceId, randomUUID(), [{ window, nanoUsd: 1 }], noonMs);
        await add();
        await storage.commit([{ at: at('a'), value: 'before' }]);
        const session = await connectTo(await url());
        /** Ends the connection of what waits behind a lock. */
        const endUnder = async <T>(table: string, work: () => Promise<T>) => {
          await session.query(`BEGIN; LOCK TABLE ${schema}.ended_${table}`);
          const outcome = work().then(
            (value) => ({ value }),
            (error: Error) => ({ error: error.message }),
          );
          const end = async () => {
            const { rows } = await session.query(
              `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'`,
              [`${schema}_ended`],
            );
            return rows.length;
          };
          await expect.poll(end).toBe(1);
          await session.query('COMMIT');
          return outcome;
        };
        expect(await endUnder('windows', add)).toHaveProperty('value');
        expect(await endUnder('records', () => storage.get(at('a')))).toEqual({ value: 'before' });
        // Not a write with expectations: it might find what it has itself written.
        const commit = () => storage.commit([{ at: at('a'), expect: 'before', value: 'after' }]);
        expect(await endUnder('records', commit)).toMatchObject({ error: expect.stringMatching(/terminat/) });
        await session.end();
        expect(await storage.ledger.read(workspaceId, [window], noonMs)).toEqual([{ spentNanoUsd: 2, heldNanoUsd: 0 }]);
        expect(await storage.get(at('a'))).toBe('before');
      });
      it('on which the host app has text read as something else give no answer rather than a wrong one', async () => {
        const types = { getTypeParser: () => (text: string) => ({ text }) };
        await (await open()).commit([{ at: at('a'), value: 'x' }]);
        const storage = await open({ types: types as never });
        await expect(storage.get(at('a'))).rejects.toThrow(/something other than text/);
        await expect(storage.commit([{ at: at('a'), value: 'x' }])).rejects.toThrow(/something other than text/);
        await expect(storage.ledger.expire(newWorkspace(), noonMs)).rejects.toThrow(/something other than text/);
        const numbers = { getTypeParser: () => (text: string) => text };
        const other = await open({ types: numbers as never });
        await other.ledger.add(newWorkspace(), randomUUID(), [{ window: limited('daily', 1), nanoUsd: 7 }], noonMs);
        expect((await other.list('shared', 'no-such-kind', { offset: 0, limit: 9 })).total).toBe(0);
      });
      it('are closed by close, and none is opened afterwards', async () => {
        const storage = await open({ application_name: schema });
        await Promise.all(Array.from({ length: 5 }, () => storage.get(at('a'))));
        await storage.close();
        await expect(storage.get(at('a'))).rejects.toThrow(/closed/);
        await expect(storage.ledger.expire(newWorkspace(), noonMs)).rejects.toThrow(/closed/);
        const count = async () =>
          (await ask('SELECT count(*) FROM pg_stat_activity WHERE application_name = $1', [schema]))[0]?.count;
        // The server takes a moment to see that they are gone.
        await expect.poll(count).toBe('0');
      });
    });

    describe('one step', () => {
      it('that the server cannot work with fails alone', async () => {
        const storage = await open();
        const workspaceId = newWorkspace();
        const window = limited('daily', 100);
        const add = (nanoUsd: number) => storage.ledger.add(workspaceId, randomUUID(), [{ window, nanoUsd }], noonMs);
        const done = await Promise.allSettled([add(1), add(1), add(0.5), add(Number.NaN), add(1), add(1e300), add(1)]);
        expect(done.map(({ status }) => status === 'fulfilled')).toEqual([true, true, false, false, true, false, true]);
        expect(await storage.ledger.read(workspaceId, [window], noonMs)).toEqual([{ spentNanoUsd: 4, heldNanoUsd: 0 }]);
      });
      it('that the server cannot work with fails alone among holds and settlements', async () => {
        const storage = await open();
        const workspaceId = newWorkspace();
        const windows = [limited('daily', 100), limited('lifetime', 100)];
        const hold = (amountNanoUsd: number, id = randomUUID()) =>
          storage.ledger.hold({ id, workspaceId, amountNanoUsd, windows, nowMs: noonMs, leaseUntilMs: noonMs + 1 });
        const [first, second] = [randomUUID(), randomUUID()];
        await Promise.all([hold(10, first), hold(10, second)]);
        const settle = (id: string, nanoUsd: number) => storage.ledger.settle(workspaceId, id, nanoUsd, noonMs);
        const done = await Promise.allSettled([
          hold(1),
          settle(first, 3),
          hold(0.5),
          settle(second, 0.5),
          hold(97),
          hold(86),
        ]);
        const seen = done.map((one) => (one.status === 'fulfilled' ? one.value : null));
        expect(seen).toEqual([
          { isHeld: true },
          'ended',
          null,
          null,
          { isHeld: false, states: windows.map(() => ({ spentNanoUsd: 3, heldNanoUsd: 11 })) },
          { isHeld: true },
        ]);
        expect(await storage.ledger.read(workspaceId, windows, noonMs)).toEqual(
          windows.map(() => ({ spentNanoUsd: 3, heldNanoUsd: 97 })),
        );
      });
      it('does not wait for another workspace that is locked', async () => {
        const storage = await open({ table: 'locked' });
        const [stuck, free] = [newWorkspace(), newWorkspace()];
        const window = limited('daily', 100);
        await storage.ledger.add(stuck, randomUUID(), [{ window, nanoUsd: 1 }], noonMs);
        const session = await connectTo(await url());
        await session.query('BEGIN');
        await session.query(`SELECT * FROM ${schema}.locked_windows WHERE workspace = $1 FOR UPDATE`, [stuck]);
        let isDone = false;
        const waiting = storage.ledger.add(stuck, randomUUID(), [{ window, nanoUsd: 1 }], noonMs).then(() => {
          isDone = true;
        });
        await storage.ledger.add(free, randomUUID(), [{ window, nanoUsd: 1 }], noonMs);
        expect(isDone).toBe(false);
        await session.query('COMMIT');
        await session.end();
        await waiting;
        expect(await storage.ledger.read(stuck, [window], noonMs)).toEqual([{ spentNanoUsd: 2, heldNanoUsd: 0 }]);
      });
    });

    describe('what is old', () => {
      const count = async (table: string, workspaceId: string) =>
        Number(
          (await ask(`SELECT count(*) FROM ${schema}.keyv_${table} WHERE workspace = $1`, [workspaceId]))[0]?.count,
        );
      const hold = (storage: Opened, workspaceId: ReturnType<typeof newWorkspace>, nowMs: number, leaseMs = 60_000) => {
        const id = randomUUID();
        const windows = [limited('daily', 1e6, { atMs: nowMs })];
        const request = { id, workspaceId, amountNanoUsd: 1, windows, nowMs, leaseUntilMs: nowMs + leaseMs };
        return storage.ledger.hold(request).then(() => id);
      };

      it('is dropped while new windows begin, 40 days after a window has ended, unless something is held in it', async () => {
        const storage = await open();
        const workspaceId = newWorkspace();
        await storage.ledger.settle(workspaceId, await hold(storage, workspaceId, noonMs), 1, noonMs);
        const heldAtMs = noonMs + 86_400_000;
        await hold(storage, workspaceId, heldAtMs, 400 * 86_400_000);
        const endMs = limited('daily', 1).endMs as number;
        await hold(storage, workspaceId, endMs + keepWindowsMs - 1);
        expect(await count('windows', workspaceId)).toBe(3);
        await hold(storage, workspaceId, endMs + keepWindowsMs + 86_400_000);
        expect(await count('windows', workspaceId)).toBe(3);
        const state = await storage.ledger.read(workspaceId, [limited('daily', 1, { atMs: heldAtMs })], noonMs);
        expect(state).toEqual([{ spentNanoUsd: 0, heldNanoUsd: 1 }]);
      });
      it('is dropped after a day: ids of holds that have expired or were released, and of additions', async () => {
        const storage = await open();
        const workspaceId = newWorkspace();
        for (let n = 0; n < 3; n++) await hold(storage, workspaceId, noonMs, 1);
        await storage.ledger.release(workspaceId, randomUUID(), noonMs);
        await storage.ledger.release(workspaceId, await hold(storage, workspaceId, noonMs), noonMs);
        await storage.ledger.expire(workspaceId, noonMs + 1);
        await storage.ledger.add(workspaceId, randomUUID(), [{ window: limited('daily', 1), nanoUsd: 1 }], noonMs);
        expect([await count('holds', workspaceId), await count('additions', workspaceId)]).toEqual([5, 1]);
        await storage.ledger.release(workspaceId, randomUUID(), noonMs + keepEndedMs - 1);
        expect(await count('holds', workspaceId)).toBe(6);
        const laterMs = noonMs + 1 + keepEndedMs;
        await storage.ledger.release(workspaceId, randomUUID(), laterMs);
        await storage.ledger.add(workspaceId, randomUUID(), [{ window: limited('daily', 1), nanoUsd: 1 }], laterMs);
        expect([await count('holds', workspaceId), await count('additions', workspaceId)]).toEqual([2, 1]);
      });
      it('is dropped after a day: ids of settled holds, and earlier where there are 100,000', async () => {
        const storage = await open();
        const workspaceId = newWorkspace();
        const settle = async (nowMs: number) => {
          const id = await hold(storage, workspaceId, nowMs);
          expect(await storage.ledger.settle(workspaceId, id, 1, nowMs)).toBe('ended');
        };
        for (let n = 0; n < 3; n++) await settle(noonMs);
        expect(await count('settled', workspaceId)).toBe(3);
        const laterMs = noonMs + keepEndedMs;
        await settle(laterMs);
        expect(await count('settled', workspaceId)).toBe(1);
        await ask(
          `INSERT INTO ${schema}.keyv_settled (namespace, workspace, id, number, at_ms)
            SELECT '', $1, 'other-' || n, n, $2 FROM generate_series(10, $3::int) AS n`,
          [workspaceId, laterMs, maxSettled + 14],
        );
        for (let n = 0; n < 5; n++) await settle(laterMs);
        expect(await count('settled', workspaceId)).toBe(maxSettled);
      });
      it('is dropped after a day also where holds only ever expire', async () => {
        const storage = await open();
        const workspaceId = newWorkspace();
        await hold(storage, workspaceId, noonMs, 1);
        await storage.ledger.expire(workspaceId, noonMs + 1);
        await hold(storage, workspaceId, noonMs, 2);
        await storage.ledger.expire(workspaceId, noonMs + 1 + keepEndedMs);
        expect(await count('holds', workspaceId)).toBe(1);
      });
      it('goes faster than it comes, and in steps that are bounded', async () => {
        const storage = await open();
        const workspaceId = newWorkspace();
        const many = Array.from({ length: 300 }, () => storage.ledger.release(workspaceId, randomUUID(), noonMs));
        await Promise.all(many);
        await storage.ledger.release(workspaceId, randomUUID(), noonMs + keepEndedMs);
        const left = await count('holds', workspaceId);
        expect(left).toBeLessThan(301);
        expect(left).toBeGreaterThan(1);
        for (let n = 0; n < 9; n++) await storage.ledger.release(workspaceId, randomUUID(), noonMs + keepEndedMs);
        expect(await count('holds', workspaceId)).toBe(10);
      });
      it('is gone with the workspace', async () => {
        const storage = await open();
        const workspaceId = newWorkspace();
        await hold(storage, workspaceId, noonMs, 1);
        await storage.ledger.expire(workspaceId, noonMs + 1);
        await hold(storage, workspaceId, noonMs);
        await storage.ledger.settle(workspaceId, await hold(storage, workspaceId, noonMs), 1, noonMs);
        await storage.ledger.add(workspaceId, randomUUID(), [{ window: limited('daily', 1), nanoUsd: 1 }], noonMs);
        await storage.ledger.forget(workspaceId);
        for (const table of ['holds', 'windows', 'additions', 'settled'])
          expect(await count(table, workspaceId)).toBe(0);
      });
    });

    it.runIf(isLongRun)(
      'lists a page of 1,000 records among 200,000 foreign ones in milliseconds',
      { timeout: 60_000 },
      async () => {
        const storage = await open({ table: 'many', max: 1 });
        await storage.get(at('a'));
        // Of a partition the server then expects half of all: it would read the whole table rather than an index.
        await ask(`INSERT INTO ${schema}.many_records (namespace, partition, kind, id, value, rank)
        SELECT '', CASE WHEN n <= 1000 THEN 'mine' ELSE 'theirs' END, 'thing', 'id-' || n, repeat('x', 200), n
        FROM generate_series(1, 201000) AS n`);
        await ask(`ANALYZE ${schema}.many_records`);
        const times: number[] = [];
        for (let turn = 0; turn < 20; turn++) {
          const startMs = performance.now();
          const { total, records } = await storage.list('mine', 'thing', { offset: turn * 50, limit: 50 });
          times.push(performance.now() - startMs);
          expect([total, records.length]).toEqual([1_000, 50]);
        }
        // Reading all of the table takes ten times as long; other tests are using the machine.
        expect(times.sort((a, b) => a - b)[10]).toBeLessThan(15);
      },
    );

    describe.runIf(isLongRun)('four processes', () => {
      it('that want the same names share them out, and leave nothing of what they did not get', async () => {
        const fresh = newSchema();
        schemas.add(fresh);
        const won = (await together('claim', fresh)) as string[][];
        expect(won.flat().sort()).toEqual([...names].sort());
        const storage = await open({ schema: fresh });
        expect((await storage.list('shared', 'thing', { offset: 0, limit: 1 })).total).toBe(names.length);
      });
      it('spend from one budget to its end, and never more', { timeout: 60_000 }, async () => {
        const fresh = newSchema();
        schemas.add(fresh);
        const seen = (await together('spend', fresh)) as { spent: number; refused: number; highest: number }[];
        const storage = await open({ schema: fresh });
        const states = await storage.ledger.read(budget.workspaceId, budget.windows(1), noonMs);
        const spent = seen.reduce((sum, one) => sum + one.spent, 0);
        expect(states).toEqual(states.map(() => ({ spentNanoUsd: spent, heldNanoUsd: 0 })));
        for (const { highest, refused } of seen) {
          expect(highest).toBeLessThanOrEqual(budget.limitNanoUsd);
          expect(refused).toBeGreaterThan(0);
        }
        expect(spent).toBeGreaterThan(budget.limitNanoUsd * 0.98);
      });
    });

    it('never brings a lease forward, though renewals come in another order than they were sent', async () => {
      const storage = await open();
      const workspaceId = newWorkspace();
      const id = randomUUID();
      const request = { id, workspaceId, amountNanoUsd: 3, windows: [limited('daily', 10)], nowMs: noonMs };
      await storage.ledger.hold({ ...request, leaseUntilMs: noonMs + 10 });
      await storage.ledger.renew(workspaceId, [id], noonMs + 30);
      await storage.ledger.renew(workspaceId, [id], noonMs + 20);
      expect(await storage.ledger.expire(workspaceId, noonMs + 29)).toBe(0);
      expect(await storage.ledger.expire(workspaceId, noonMs + 30)).toBe(1);
    });
    it('ends holds that are lost a batch at a time, however many there are', async () => {
      const storage = await open();
      const workspaceId = newWorkspace();
      const windows = [limited('daily', 1e6), limited('lifetime', 1e6, { account: 'key:abc' })];
      const hold = () =>
        storage.ledger.hold({
          id: randomUUID(),
          workspaceId,
          amountNanoUsd: 3,
          windows,
          nowMs: noonMs,
          leaseUntilMs: noonMs + 1,
        });
      await Promise.all(Array.from({ length: expireBatch + 1 }, hold));
      expect(await storage.ledger.expire(workspaceId, noonMs + 1)).toBe(expireBatch);
      expect(await storage.ledger.expire(workspaceId, noonMs + 1)).toBe(1);
      const charged = (expireBatch + 1) * 3;
      expect(await storage.ledger.read(workspaceId, windows, noonMs)).toEqual(
        windows.map(() => ({ spentNanoUsd: charged, heldNanoUsd: 0 })),
      );
    });
  }

  /** Four processes that start at the same instant. @returns what each answers */
  async function together(task: Task, inSchema: string): Promise<unknown[]> {
    const uri = await url();
    const children = Array.from({ length: 4 }, () =>
      fork(join(import.meta.dirname, 'postgres-child.ts'), [task, uri, inSchema], {
        execArgv: [...childFlags],
      }),
    );
    try {
      await Promise.all(children.map((child) => once(child, 'message')));
      const answers = children.map((child) => once(child, 'message'));
      const startAtMs = Date.now() + 200;
      for (const child of children) child.send(startAtMs);
      const told = (await Promise.all(answers)).map(([answer]) => answer);
      expect(told.filter((answer) => answer.error !== undefined)).toEqual([]);
      return told;
    } finally {
      for (const child of children) child.kill();
    }
  }
});
