import { randomUUID } from 'node:crypto';
import { type AddressInfo, connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { KeyvPostgres } from '@keyv/postgres';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { isGatewayError } from '../../../src/base/errors.ts';
import { wasNotSent } from '../../../src/stores/storage/circuit.ts';
import { guardStorage } from '../../../src/stores/storage/guard.ts';
import { postgresStorage } from '../../../src/stores/storage/postgres/postgres.ts';
import type { Storage } from '../../../src/stores/storage/storage.ts';
import { type OwnPostgres, ownPostgres } from '../../support/own-postgres.ts';
import { askPostgres, connectTo } from '../../support/postgres-client.ts';
import { startLine } from '../../support/race/line.ts';
import { postgresFolder } from '../../support/services.ts';
import { limited, newWorkspace } from './ledger.ts';

const timeoutMs = 250;
/** A machine that does other things as well runs timers late. */
const lateMs = 500;
const maxConnections = 30;
const poolSize = 8;

if (postgresFolder === null) {
  if (process.env.REQUIRE_SERVICES === '1') throw new Error('REQUIRE_SERVICES=1, but no PostgreSQL is installed here');
  console.warn('\n!!! SKIPPED: faults of PostgreSQL, which is not installed here !!!\n');
}

// An exception that nobody catches, or a rejection that nobody handles, fails the run.
describe.skipIf(postgresFolder === null)('a PostgreSQL that fails', { timeout: 60_000 }, () => {
  let server: OwnPostgres;
  let hasSmallDisk = false;
  const opened: { storage: Storage; adapter: KeyvPostgres }[] = [];
  const ask = (text: string) => askPostgres(server.url, text);

  beforeAll(async () => {
    server = await ownPostgres(postgresFolder as string, [`max_connections=${maxConnections}`]);
    hasSmallDisk = await server.addSmallDisk(4_000_000);
    if (hasSmallDisk) await ask(`CREATE TABLESPACE small LOCATION '${server.folder}/disk'`);
  }, 60_000);
  afterEach(async () => {
    for (const { storage, adapter } of opened.splice(0)) {
      await storage.close();
      await adapter.disconnect();
    }
  });
  afterAll(() => server?.stop());

  function open(uri = server.url, max = poolSize): Storage {
    const adapter = new KeyvPostgres({ uri, schema: `s${randomUUID().slice(0, 8)}`, max });
    adapter.on('error', () => {});
    const storage = postgresStorage(adapter, { onLostHold: 'charge' });
    opened.push({ storage, adapter });
    return guardStorage(storage, { clock: systemClock, timeoutMs });
  }

  /** A storage with a record in it, and requests on it all the time until they are stopped. */
  async function underLoad() {
    const storage = open();
    await recovered(storage, 10_000);
    const load = startLoad(storage);
    await load.succeeds();
    return { storage, load };
  }

  it.each<[string, number, () => Promise<(() => Promise<unknown>) | undefined>]>([
    [
      'killed and started again',
      1_500,
      async () => {
        await server.kill();
        return () => server.start();
      },
    ],
    [
      'paused for longer than any of its connections is waited for',
      6_000,
      async () => {
        await server.pause();
        return () => server.resume();
      },
    ],
    [
      'paused and killed in that state',
      1_000,
      async () => {
        await server.pause();
        await server.kill();
        return () => server.start();
      },
    ],
    [
      'slow by five seconds, since somebody else has locked all tables',
      5_000,
      async () => {
        const session = await connectTo(server.url);
        const tables = await session.query(
          `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname LIKE 's%'`,
        );
        await lockAll(
          session,
          tables.rows.map(({ name }) => String(name)),
        );
        return async () => {
          // Those that were given up do not go on waiting there, one for each try.
          expect(await sessions()).toBeLessThanOrEqual(poolSize + 2);
          await session.query('COMMIT');
          await session.end();
        };
      },
    ],
  ])('%s: every call ends in time with a 503, and afterwards all is well', async (_, forMs, breakIt) => {
    const { storage, load } = await underLoad();
    const mend = await breakIt();
    // What was in flight may still be answered.
    await sleep(timeoutMs);
    const before = load.seen.answered;
    await sleep(forMs);
    expect(load.seen.answered).toBe(before);
    expect(load.seen.failed).toBeGreaterThan(0);
    await mend?.();
    await load.succeeds();
    await load.stop();
    expect(load.seen.wrong).toEqual([]);
    expect(load.seen.slowestMs).toBeLessThan(timeoutMs + lateMs);
    await load.settlesUp();
    await expectFewConnections();
    expect(await storage.get({ partition: 'p', kind: 'thing', id: 'here' })).toBe('value');
  });

  it('of which an answer is lost, and every connection after it: a hold is not said to be unsent', async () => {
    const { port } = new URL(server.url);
    const line = await startLine(Number(port));
    try {
      // One connection: there is no other that the step might be sent on again.
      const storage = open(server.url.replace(port, String(line.port)), 1);
      const workspaceId = newWorkspace();
      const windows = [limited('daily', 1_000)];
      const held = (id: string) =>
        storage.ledger.hold({ id, workspaceId, amountNanoUsd: 7, windows, leaseMs: 60_000 }).catch((error) => error);
      await recovered(storage, 10_000);
      expect(await held(randomUUID())).toEqual({ isHeld: true });
      line.losesAnswers = true;
      const failure = await held(randomUUID());
      expect(isGatewayError(failure)).toBe(true);
      // Somebody has to release it: it was made.
      expect(wasNotSent(failure)).toBe(false);
      line.losesAnswers = false;
      await recovered(storage, 10_000);
      expect(await storage.ledger.read(workspaceId, windows)).toEqual([{ spentNanoUsd: 0, heldNanoUsd: 14 }]);
    } finally {
      line.stop();
    }
  });

  it('to which the network goes silent: its connections are given up, and others made', async () => {
    const sockets: { isSilent: boolean; end(): void }[] = [];
    const port = Number(new URL(server.url).port);
    const network = createServer((client) => {
      const upstream = connect(port, '127.0.0.1');
      const pair = { isSilent: false, end: () => [client, upstream].map((socket) => socket.destroy()) };
      sockets.push(pair);
      for (const [from, to] of [
        [client, upstream],
        [upstream, client],
      ] as const) {
        from.on('data', (data) => pair.isSilent || to.write(data));
        from.on('error', () => {});
        from.on('close', () => pair.isSilent || to.destroy());
      }
    });
    await new Promise<void>((resolve) => network.listen(0, '127.0.0.1', resolve));
    const uri = server.url.replace(String(port), String((network.address() as AddressInfo).port));
    try {
      const storage = open(uri);
      await recovered(storage, 10_000);
      const load = startLoad(storage);
      await load.succeeds();
      // As behind a router that has lost its table: nothing arrives, and nobody is told.
      for (const pair of sockets) pair.isSilent = true;
      await expect.poll(() => load.seen.failed, { timeout: 10 * timeoutMs }).toBeGreaterThan(0);
      await load.succeeds();
      await load.stop();
      expect(load.seen.wrong).toEqual([]);
      await load.settlesUp();
    } finally {
      for (const pair of sockets) pair.end();
      network.close();
    }
  });

  it('that ends connections again and again: reads and money go on, and nothing wrong is said', async () => {
    const { load } = await underLoad();
    const session = await connectTo(server.url);
    for (let turn = 0; turn < 30; turn++) {
      await session.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()');
      await sleep(30);
    }
    await session.end();
    await load.succeeds();
    await load.stop();
    expect(load.seen.wrong).toEqual([]);
    expect(load.seen.slowestMs).toBeLessThan(timeoutMs + lateMs);
    await load.settlesUp();
  });

  it('that takes no writes: reads go on, writes fail with a 503', async () => {
    const { storage, load } = await underLoad();
    try {
      await ask('ALTER SYSTEM SET default_transaction_read_only = on');
      await ask('SELECT pg_reload_conf()');
      const at = { partition: 'p', kind: 'thing', id: 'here' };
      const window = limited('daily', 1e9);
      const workspaceId = newWorkspace();
      // Until the server has heard of it: what it takes before is what is there already.
      await expect.poll(() => refusal(storage.commit([{ at, value: 'value' }]))).toBe('unavailable');
      for (let turn = 0; turn < 20; turn++) {
        expect(await storage.get(at)).toBe('value');
        expect((await storage.list('p', 'thing', { offset: 0, limit: 1 })).total).toBe(1);
        expect(await storage.ledger.read(workspaceId, [window])).toEqual([{ spentNanoUsd: 0, heldNanoUsd: 0 }]);
        expect(await refusal(storage.commit([{ at, value: 'x' }]))).toBe('unavailable');
        expect(await refusal(storage.ledger.add(workspaceId, randomUUID(), [{ window, nanoUsd: 1 }]))).toBe(
          'unavailable',
        );
      }
    } finally {
      const session = await connectTo(server.url);
      await session.query('SET default_transaction_read_only = off');
      await session.query('ALTER SYSTEM RESET default_transaction_read_only');
      await session.query('SELECT pg_reload_conf()');
      await session.end();
    }
    await load.succeeds();
    await load.stop();
    expect(load.seen.wrong).toEqual([]);
    await load.settlesUp();
  });

  it('that is full: reads go on, writes fail with a 503, until there is room again', async ({ skip }) => {
    if (!hasSmallDisk) skip('this machine does not let us mount a small disk');
    const database = `full_${randomUUID().slice(0, 8)}`;
    await ask(`CREATE DATABASE ${database}`);
    await ask(`ALTER DATABASE ${database} SET default_tablespace = small`);
    const uri = server.url.replace(/postgres$/, database);
    const storage = open(uri);
    await recovered(storage, 10_000);
    const at = (id: string) => ({ partition: 'p', kind: 'thing', id });
    await storage.commit([{ at: at('here'), value: 'value', rank: 1 }]);
    const session = await connectTo(uri);
    await session.query('CREATE TABLE filler (text text)');
    await expect(async () => {
      for (;;) await session.query(`INSERT INTO filler SELECT repeat('x', 2000) FROM generate_series(1, 10)`);
    }).rejects.toThrow(/could not extend file/);

    const workspaceId = newWorkspace();
    const window = limited('daily', 1e9);
    const held: string[] = [];
    const hold = () => {
      const id = randomUUID();
      held.push(id);
      const request = { id, workspaceId, amountNanoUsd: 1, windows: [window], leaseMs: 60_000 };
      return storage.ledger.hold(request);
    };
    let written = 0;
    const write = () =>
      storage.commit([{ at: at(`more-${written++}`), expect: null, value: randomUUID().repeat(100) }]);
    // What is left in the files that are there is used up first.
    await expect(async () => {
      for (;;) expect(await write()).toBe(true);
    }).rejects.toThrow(/is full and takes no writes/);
    await expect(async () => {
      for (;;) expect((await hold()).isHeld).toBe(true);
    }).rejects.toThrow(/is full and takes no writes/);
    for (let turn = 0; turn < 10; turn++) {
      expect(await storage.get(at('here'))).toBe('value');
      expect(await refusal(write())).toBe('unavailable');
      expect(await refusal(hold())).toBe('unavailable');
    }
    await session.query('DROP TABLE filler');
    // Or a later crash would have it filled once more on the way back.
    await session.query('CHECKPOINT');
    await session.end();
    await recovered(storage, 5_000);
    expect(await write()).toBe(true);
    expect(await hold()).toEqual({ isHeld: true });
    for (const id of held) await storage.ledger.release(workspaceId, id);
    expect(await storage.ledger.read(workspaceId, [window])).toEqual([{ spentNanoUsd: 0, heldNanoUsd: 0 }]);
  });

  it('whose connections are all taken by others: 503 until one is free', async () => {
    const others: Awaited<ReturnType<typeof connectTo>>[] = [];
    await expect(async () => {
      for (;;) others.push(await connectTo(server.url));
    }).rejects.toThrow(/too many clients|reserved/);
    const storage = open();
    const get = () => storage.get({ partition: 'p', kind: 'thing', id: 'here' });
    expect(await refusal(get())).toBe('unavailable');
    expect(await refusal(get())).toBe('unavailable');
    for (const session of others) await session.end();
    await recovered(storage, 10_000);
    expect(await get()).toBeNull();
  });

  it('that is down when we start: 503, and then all is well', async () => {
    await server.kill();
    const storage = open();
    const workspaceId = newWorkspace();
    for (let turn = 0; turn < 20; turn++) {
      expect(await refusal(storage.get({ partition: 'p', kind: 'thing', id: 'here' }))).toBe('unavailable');
      expect(await refusal(storage.ledger.expire(workspaceId))).toBe('unavailable');
      await sleep(50);
    }
    await server.start();
    const load = startLoad(storage);
    await recovered(storage, 10_000);
    await load.succeeds();
    await load.stop();
    expect(load.seen.wrong).toEqual([]);
    await load.settlesUp();
  });

  it('that goes down right after the adapter has connected does not end the process', async () => {
    const adapter = new KeyvPostgres({ uri: server.url, schema: 'public', table: `t${randomUUID().slice(0, 8)}` });
    adapter.on('error', () => {});
    const storage = postgresStorage(adapter, { onLostHold: 'charge' });
    opened.push({ storage, adapter });
    await expect.poll(() => storage.get({ partition: 'p', kind: 'thing', id: 'here' }).catch(() => 'x')).toBeNull();
    await server.kill();
    // Its end has reached us when a new connection is refused.
    await expect(storage.get({ partition: 'p', kind: 'thing', id: 'here' })).rejects.toThrow();
    await sleep(100);
    await server.start();
    await expect.poll(() => storage.get({ partition: 'p', kind: 'thing', id: 'here' }).catch(() => 'x')).toBeNull();
  });

  it('that is paused does not hold up a close, with a question in flight', async () => {
    const storage = open();
    await recovered(storage, 10_000);
    await server.pause();
    try {
      const get = refusal(storage.get({ partition: 'p', kind: 'thing', id: 'here' }));
      await sleep(50);
      const startMs = performance.now();
      await opened.at(-1)?.storage.close();
      expect(performance.now() - startMs).toBeLessThan(2_000);
      expect(await get).toBe('unavailable');
    } finally {
      await server.resume();
    }
  });

  /** How many there are on the server but the one that asks. */
  async function sessions(): Promise<number> {
    const [row] = await ask(
      `SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`,
    );
    return Number(row?.count);
  }

  /** After a fault no session of ours is left on the server but those of the pool. */
  async function expectFewConnections(): Promise<void> {
    // What waited in a server that was paused or locked finds out after a moment that nobody waits for it any more.
    await expect.poll(sessions, { timeout: 10_000, interval: 100 }).toBeLessThanOrEqual(poolSize);
  }
});

/** Until the storage answers. */
async function recovered(storage: Storage, withinMs: number): Promise<void> {
  const at = { partition: 'p', kind: 'thing', id: 'any' };
  await expect
    .poll(() => refusal(storage.commit([{ at, value: null }])), { timeout: withinMs, interval: 50 })
    .toBeNull();
}

/** null: it was not refused. */
async function refusal(work: Promise<unknown>): Promise<string | null> {
  try {
    await work;
    return null;
  } catch (error) {
    return isGatewayError(error) ? error.kind : String(error);
  }
}

/** Twenty that ask all the time, each a step after the other, and note every answer that cannot be. */
function startLoad(storage: Storage) {
  const seen = { answered: 0, failed: 0, slowestMs: 0, wrong: [] as string[] };
  const at = (id: string) => ({ partition: 'p', kind: 'thing', id });
  const window = limited('daily', 1e12);
  const workspaces = Array.from({ length: 4 }, newWorkspace);
  /** What must be said again until it is answered. */
  const unsaid: (() => Promise<unknown>)[] = [];
  const settled = new Map(workspaces.map((id) => [id, 0]));
  let isStopped = false;

  async function check<T>(what: string, work: () => Promise<T>, isRight: (answer: T) => boolean): Promise<boolean> {
    const startMs = performance.now();
    let isAnswered = false;
    try {
      const answer = await work();
      isAnswered = true;
      seen.answered++;
      if (!isRight(answer)) seen.wrong.push(`${what}: ${JSON.stringify(answer)}`);
    } catch (error) {
      seen.failed++;
      if (!isGatewayError(error) || error.kind !== 'unavailable') seen.wrong.push(`${what}: ${error}`);
    }
    seen.slowestMs = Math.max(seen.slowestMs, performance.now() - startMs);
    return isAnswered;
  }

  async function work(who: number): Promise<void> {
    for (let turn = 0; !isStopped; turn++) {
      await sleep(5);
      const workspaceId = workspaces[turn % workspaces.length]!;
      await check(
        'get',
        () => storage.get(at('here')),
        (value) => value === 'value',
      );
      await check(
        'many',
        () => storage.getMany([at('here'), at('gone')]),
        ([here, gone]) => here === 'value' && gone === null,
      );
      await check(
        'list',
        () => storage.list('p', 'thing', { offset: 0, limit: 5 }),
        ({ total }) => total === 1,
      );
      await check(
        'commit',
        () => storage.commit([{ at: at(`own-${who}`), value: `${turn}` }]),
        (isDone) => isDone,
      );
      const id = randomUUID();
      const request = {
        id,
        workspaceId,
        amountNanoUsd: 100,
        windows: [window],
        leaseMs: 60_000,
      };
      const isHeld = await check(
        'hold',
        () => storage.ledger.hold(request),
        (outcome) => outcome.isHeld,
      );
      if (!isHeld) {
        unsaid.push(() => storage.ledger.release(workspaceId, id));
        continue;
      }
      settled.set(workspaceId, settled.get(workspaceId)! + 70);
      const settle = () => storage.ledger.settle(workspaceId, id, 70);
      // It was booked, and the connection was lost before we heard of it.
      if (!(await check('settle', settle, (outcome) => outcome !== 'late'))) unsaid.push(settle);
    }
  }
  const here = async () => {
    while (!isStopped) {
      if ((await refusal(storage.commit([{ at: at('here'), value: 'value', rank: 1 }]))) === null) return;
      await sleep(20);
    }
  };
  const done = here().then(() => Promise.all(Array.from({ length: 20 }, (_, who) => work(who))));

  return {
    seen,
    /** Until nothing has failed for a while. */
    async succeeds(): Promise<void> {
      for (let targets = 0; targets < 200; targets++) {
        const { answered, failed } = seen;
        await sleep(100);
        if (seen.failed === failed && seen.answered > answered + 20) return;
      }
      throw new Error(`it does not recover: ${JSON.stringify(seen)}`);
    },
    async stop(): Promise<void> {
      isStopped = true;
      await done;
    },
    /** Says what nobody has heard, and sees that all that was spent is booked and nothing is held. */
    async settlesUp(): Promise<void> {
      while (unsaid.length > 0) {
        const some = unsaid.splice(0, 100);
        const refusals = await Promise.all(some.map((say) => refusal(say())));
        // Too slow for the guard, on a busy machine.
        unsaid.push(...some.filter((_, index) => refusals[index] !== null));
      }
      for (const workspaceId of workspaces) {
        const spentNanoUsd = settled.get(workspaceId);
        const read = () => storage.ledger.read(workspaceId, [window]).catch(() => null);
        await expect.poll(read).toEqual([{ spentNanoUsd, heldNanoUsd: 0 }]);
      }
    },
  };
}

/** The tables are locked one after another: what is under way may hold one of them, and the server then ends one of both. */
async function lockAll(session: Awaited<ReturnType<typeof connectTo>>, tables: readonly string[]): Promise<void> {
  for (;;) {
    try {
      await session.query(`BEGIN; LOCK TABLE ${tables.join(', ')}`);
      return;
    } catch (error) {
      if ((error as { code?: string }).code !== deadlockDetected) throw error;
      await session.query('ROLLBACK');
    }
  }
}

const deadlockDetected = '40P01';
