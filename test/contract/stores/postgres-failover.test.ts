import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { KeyvPostgres } from '@keyv/postgres';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import type { WorkspaceId } from '../../../src/call/workspace.ts';
import { guardStorage } from '../../../src/stores/storage/guard.ts';
import { postgresStorage } from '../../../src/stores/storage/postgres/postgres.ts';
import type { Storage } from '../../../src/stores/storage/storage.ts';
import { askPostgres, connectTo } from '../../support/postgres-client.ts';
import { describeWithOwnPostgres } from '../../support/services.ts';
import { type StartedService, startPostgres } from '../../support/start-service.ts';
import { type SwitchedLine, switchedLine } from '../../support/switched-line.ts';
import { limited, newWorkspace } from './ledger.ts';

const timeoutMs = 250;
const poolSize = 4;
const windows = [limited('daily', 1e12)];

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** A primary and its hot standby behind one address. What was connected to one stays connected to it. */
describeWithOwnPostgres('a PostgreSQL that fails over behind one address', (programs) => {
  let first: StartedService;
  let second: StartedService;
  let line: SwitchedLine;
  let schema: string;
  const atEnd: (() => unknown)[] = [];

  beforeEach(async () => {
    first = await startPostgres(programs);
    second = await startPostgres(programs, { standbyOf: first });
    line = await switchedLine(first.port);
    schema = `s${randomUUID().slice(0, 8)}`;
  }, 60_000);
  afterEach(async () => {
    for (const end of atEnd.splice(0).toReversed()) await end();
    line?.stop();
    await Promise.all([first?.stop(), second?.stop()]);
  });

  function open(port = line.port): Storage {
    const uri = `postgres://postgres@127.0.0.1:${port}/postgres`;
    const adapter = new KeyvPostgres({ uri, schema, max: poolSize });
    adapter.on('error', () => {});
    const storage = postgresStorage(adapter, { onLostHold: 'charge' });
    atEnd.push(async () => {
      await storage.close();
      await adapter.disconnect().catch(() => {});
    });
    return guardStorage(storage, { clock: systemClock, timeoutMs });
  }
  async function setReadOnly(isOn: boolean): Promise<void> {
    const session = await connectTo(first.url);
    await session.query('SET default_transaction_read_only = off');
    await session.query(`ALTER SYSTEM SET default_transaction_read_only = ${isOn ? 'on' : 'off'}`);
    await session.query('SELECT pg_reload_conf()');
    await session.end();
    const shown = async () => (await askPostgres(first.url, 'SHOW default_transaction_read_only'))[0];
    await expect.poll(shown, { timeout: 5_000 }).toEqual({ default_transaction_read_only: isOn ? 'on' : 'off' });
  }
  /** Until the standby has all that there is. */
  async function replicated(): Promise<void> {
    const [now] = await askPostgres(first.url, 'SELECT pg_current_wal_lsn()::text AS at');
    const isThere = `SELECT (pg_last_wal_replay_lsn() >= '${now?.at}')::text AS "isThere"`;
    await expect.poll(() => askPostgres(second.url, isThere), { timeout: 10_000 }).toEqual([{ isThere: 'true' }]);
  }
  const promote = () => askPostgres(second.url, 'SELECT pg_promote()');

  it.each<[string, () => Promise<unknown>]>([
    ['takes no writes any more', () => setReadOnly(true)],
    ['is cut off without a word', async () => line.silence()],
    [
      'is dead',
      async () => {
        process.kill(first.pid, 'SIGQUIT');
        // What it still took before it died would be lost.
        await expect.poll(() => isAlive(first.pid), { timeout: 10_000, interval: 10 }).toBe(false);
      },
    ],
  ])('the old one %s: all is well again without a restart', { timeout: 60_000 }, async (_, harm) => {
    const storage = open();
    const workspaceId = newWorkspace();
    await served(storage, workspaceId);
    // Every connection of the pool is one to the old server.
    await Promise.all(Array.from({ length: 2 * poolSize }, () => served(storage, newWorkspace())));
    await replicated();
    await promote();
    line.to = second.port;
    await harm();
    await served(storage, workspaceId, 10_000);
    await Promise.all(Array.from({ length: 2 * poolSize }, () => served(storage, newWorkspace(), 10_000)));
    expect(await storage.ledger.read(workspaceId, windows)).toEqual([{ spentNanoUsd: 14, heldNanoUsd: 0 }]);
  });

  it('a pool that was opened to a standby: reads go on, and writes do as soon as there is a primary', {
    timeout: 60_000,
  }, async () => {
    const workspaceId = newWorkspace();
    const at = { partition: workspaceId, kind: 'thing', id: 'a' };
    const before = open(first.port);
    await served(before, workspaceId);
    await before.commit([{ at, value: 'x' }]);
    await replicated();
    line.to = second.port;
    const storage = open();
    await expect.poll(() => storage.get(at).catch(() => null), { timeout: 5_000 }).toBe('x');
    await expect(storage.commit([{ at, value: 'y' }])).rejects.toMatchObject({ status: 503 });
    line.to = first.port;
    await served(storage, workspaceId, 5_000);
    expect(await storage.ledger.read(workspaceId, windows)).toEqual([{ spentNanoUsd: 14, heldNanoUsd: 0 }]);
  });

  it('stays read-only: reads go on, and a pool of connections a second is made at most', {
    timeout: 60_000,
  }, async () => {
    const storage = open();
    const workspaceId = newWorkspace();
    const at = { partition: workspaceId, kind: 'thing', id: 'a' };
    await served(storage, workspaceId);
    await storage.commit([{ at, value: 'x' }]);
    await setReadOnly(true);
    const before = line.made;
    let [read, asked] = [0, 0];
    for (const endMs = performance.now() + 3_000; performance.now() < endMs; asked++) {
      await expect(storage.commit([{ at, value: 'y' }])).rejects.toMatchObject({ status: 503 });
      if ((await storage.get(at).catch(() => null)) === 'x') read++;
    }
    expect(asked).toBeGreaterThan(5 * poolSize);
    expect(line.made - before).toBeLessThanOrEqual(5 * poolSize);
    expect(read).toBeGreaterThan(asked / 2);
    await setReadOnly(false);
    await served(storage, workspaceId, 5_000);
  });
});

/** Holds and settles once, as soon as it can. Asked again, both do nothing twice. */
async function served(storage: Storage, workspaceId: WorkspaceId, withinMs = 5_000): Promise<void> {
  const hold = { id: randomUUID(), workspaceId, amountNanoUsd: 10, windows, leaseMs: 60_000 };
  for (const endMs = performance.now() + withinMs; ; ) {
    try {
      await storage.ledger.hold(hold);
      await storage.ledger.settle(workspaceId, hold.id, 7);
      return;
    } catch (error) {
      if (performance.now() > endMs) throw error;
      await sleep(20);
    }
  }
}
