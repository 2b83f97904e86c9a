import { randomUUID } from 'node:crypto';
import { createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import KeyvRedis, { createClient, createSentinel } from '@keyv/redis';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import type { WorkspaceId } from '../../../src/call/workspace.ts';
import { guardStorage } from '../../../src/stores/storage/guard.ts';
import { redisStorage } from '../../../src/stores/storage/redis/redis.ts';
import type { Storage } from '../../../src/stores/storage/storage.ts';
import { command } from '../../support/redis-cluster.ts';
import { describeWithOwnRedis } from '../../support/services.ts';
import { type StartedService, startRedis } from '../../support/start-service.ts';
import { type SwitchedLine, switchedLine } from '../../support/switched-line.ts';
import { limited, newWorkspace } from './ledger.ts';

const timeoutMs = 250;
const windows = [limited('daily', 1e12)];

/** Two servers behind one address. What was connected to the first stays connected to it, whatever becomes of it. */
describeWithOwnRedis('a Redis that fails over behind one address', (program) => {
  let first: StartedService;
  let second: StartedService;
  let line: SwitchedLine;
  const atEnd: (() => unknown)[] = [];

  beforeEach(async () => {
    const settings = ['--repl-diskless-sync-delay', '0'];
    [first, second] = await Promise.all([startRedis(program, { settings }), startRedis(program, { settings })]);
    await replicate(second, first);
    line = await switchedLine(first.port);
  });
  afterEach(async () => {
    for (const end of atEnd.splice(0).toReversed()) await end();
    line.stop();
    await Promise.all([first.stop(), second.stop()]);
  });

  function open(adapter = new KeyvRedis(`redis://127.0.0.1:${line.port}`)): Storage {
    adapter.on('error', () => {});
    const storage = guardStorage(redisStorage(adapter, { onLostHold: 'charge', timeoutMs }), {
      clock: systemClock,
      timeoutMs,
    });
    atEnd.push(() => storage.close());
    return storage;
  }
  const demoted = (server: StartedService) => command(server, ['REPLICAOF', '127.0.0.1', `${second.port}`]);

  it.each<[string, () => Promise<unknown>]>([
    ['is a replica now', () => demoted(first)],
    [
      'is a replica that answers nothing while it has no data',
      async () => {
        await command(first, ['CONFIG', 'SET', 'replica-serve-stale-data', 'no']);
        await command(first, ['REPLICAOF', '127.0.0.1', '1']);
      },
    ],
    ['has lost its replicas', () => command(first, ['CONFIG', 'SET', 'min-replicas-to-write', '3'])],
    ['is paused', () => command(first, ['CLIENT', 'PAUSE', '60000', 'ALL'])],
    ['is paused for writes', () => command(first, ['CLIENT', 'PAUSE', '60000', 'WRITE'])],
    [
      'stands still',
      async () => {
        process.kill(first.pid, 'SIGSTOP');
        atEnd.push(() => process.kill(first.pid, 'SIGCONT'));
      },
    ],
    ['is cut off without a word', async () => line.silence()],
    ['is dead', async () => process.kill(first.pid, 'SIGKILL')],
  ])('the old one %s: all is well again without a restart', { timeout: 40_000 }, async (_, harm) => {
    const storage = open();
    const workspaceId = newWorkspace();
    await served(storage, workspaceId);
    await replicated(first, second);
    await command(second, ['REPLICAOF', 'NO', 'ONE']);
    line.to = second.port;
    await harm();
    await served(storage, workspaceId, 6_000);
    expect(await storage.ledger.read(workspaceId, windows)).toEqual([{ spentNanoUsd: 14, heldNanoUsd: 0 }]);
  });

  it('under load, planned: every hold is booked once, and no more than a moment is lost', {
    timeout: 40_000,
  }, async () => {
    const storage = open();
    const workspaceId = newWorkspace();
    await served(storage, workspaceId);
    let [isOver, settled, refused] = [false, 1, 0];
    async function insist<T>(call: () => Promise<T>): Promise<T> {
      for (;;) {
        try {
          return await call();
        } catch {
          refused++;
          await sleep(10);
        }
      }
    }
    const working = Array.from({ length: 8 }, async () => {
      while (!isOver) {
        const id = randomUUID();
        await insist(() => storage.ledger.hold({ id, workspaceId, amountNanoUsd: 10, windows, leaseMs: 60_000 }));
        await insist(() => storage.ledger.settle(workspaceId, id, 7));
        settled++;
      }
    });
    let [from, to] = [first, second];
    for (let turn = 0; turn < 3; turn++) {
      await replicated(from, to);
      line.to = to.port;
      // Coordinated: writes wait until the other one has all of them.
      await command(from, ['FAILOVER', 'TO', '127.0.0.1', `${to.port}`]);
      await expect.poll(() => command(to, ['ROLE']), { timeout: 10_000 }).toMatch(/^master/);
      const before = settled;
      await expect.poll(() => settled, { timeout: 6_000 }).toBeGreaterThan(before + 20);
      [from, to] = [to, from];
      await sleep(1_100);
    }
    isOver = true;
    await Promise.all(working);
    expect(await insist(() => storage.ledger.read(workspaceId, windows))).toEqual([
      { spentNanoUsd: settled * 7, heldNanoUsd: 0 },
    ]);
    // Each turn has a time in which writes wait for longer than a call may take.
    expect(refused).toBeLessThan(settled);
  });

  it('a client of the host app goes on, with its subscriptions', { timeout: 40_000 }, async () => {
    const client = createClient({ url: `redis://127.0.0.1:${line.port}` });
    client.on('error', () => {});
    await client.connect();
    atEnd.push(() => client.destroy());
    const heard: string[] = [];
    await client.subscribe('news', (message) => heard.push(message));
    const storage = open(new KeyvRedis(client as never));
    const workspaceId = newWorkspace();
    await served(storage, workspaceId);
    await replicated(first, second);
    await command(second, ['REPLICAOF', 'NO', 'ONE']);
    line.to = second.port;
    await demoted(first);
    await served(storage, workspaceId, 6_000);
    await client.set('own', 'value');
    expect(await client.get('own')).toBe('value');
    await command(second, ['PUBLISH', 'news', 'hello']);
    await expect.poll(() => heard).toEqual(['hello']);
    // What the host app has opened stays open.
    await storage.close();
    expect(await client.get('own')).toBe('value');
  });

  it('stays read-only: reads go on, and a connection a second is made', { timeout: 40_000 }, async () => {
    const storage = open();
    const workspaceId = newWorkspace();
    await served(storage, workspaceId);
    const at = { partition: workspaceId, kind: 'thing', id: 'a' };
    await storage.commit([{ at, value: 'x' }]);
    // A master that is not there: the replica keeps its data.
    await command(first, ['REPLICAOF', '127.0.0.1', '1']);
    const before = line.made;
    let read = 0;
    for (const endMs = performance.now() + 3_500; performance.now() < endMs; ) {
      await expect(storage.commit([{ at, value: 'y' }])).rejects.toMatchObject({ status: 503 });
      if ((await storage.get(at)) === 'x') read++;
    }
    expect(line.made - before).toBeLessThanOrEqual(5);
    expect(read).toBeGreaterThan(100);
  });

  it('the first new connection meets one that never greets: another is made', { timeout: 40_000 }, async () => {
    const sockets: Socket[] = [];
    const mute = createServer((socket) => void sockets.push(socket.on('error', () => {})));
    await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
    atEnd.push(() => {
      for (const socket of sockets) socket.destroy();
      mute.close();
    });
    const storage = open();
    const workspaceId = newWorkspace();
    await served(storage, workspaceId);
    await replicated(first, second);
    await command(second, ['REPLICAOF', 'NO', 'ONE']);
    line.to = (mute.address() as { port: number }).port;
    process.kill(first.pid, 'SIGKILL');
    await expect
      .poll(() => storage.get(anyRecord(workspaceId)).catch(() => sockets.length), { timeout: 5_000 })
      .toBe(1);
    line.to = second.port;
    await served(storage, workspaceId, 8_000);
    expect(sockets.length).toBeLessThan(5);
  });

  it('sentinels: the new master is found', { timeout: 60_000 }, async () => {
    const config = [
      `sentinel monitor mymaster 127.0.0.1 ${first.port} 1`,
      'sentinel down-after-milliseconds mymaster 1000',
      'sentinel failover-timeout mymaster 3000',
      '',
    ].join('\n');
    const sentinel = await startRedis(program, { config, settings: ['--sentinel'] });
    const { port } = sentinel;
    atEnd.push(() => sentinel.stop());
    const client = createSentinel({ name: 'mymaster', sentinelRootNodes: [{ host: '127.0.0.1', port }] });
    client.on('error', () => {});
    const storage = open(new KeyvRedis(client as never));
    const workspaceId = newWorkspace();
    await served(storage, workspaceId, 10_000);
    await expect.poll(() => command(sentinel, ['SENTINEL', 'REPLICAS', 'mymaster']), { timeout: 15_000 }).not.toBe('');
    await replicated(first, second);
    await command(sentinel, ['SENTINEL', 'FAILOVER', 'mymaster']);
    await expect.poll(() => command(second, ['ROLE']), { timeout: 15_000 }).toMatch(/^master/);
    await served(storage, workspaceId, 20_000);
    expect(await storage.ledger.read(workspaceId, windows)).toEqual([{ spentNanoUsd: 14, heldNanoUsd: 0 }]);
  });
});

const anyRecord = (partition: string) => ({ partition, kind: 'thing', id: 'any' });

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

async function replicate(replica: StartedService, of: StartedService): Promise<void> {
  await command(replica, ['REPLICAOF', '127.0.0.1', `${of.port}`]);
  await expect.poll(() => command(replica, ['INFO', 'replication']), { timeout: 15_000 }).toContain('link_status:up');
}

/** Until the other one has all that there is. */
async function replicated(from: StartedService, to: StartedService): Promise<void> {
  const offsetOf = async (server: StartedService) =>
    /master_repl_offset:(\d+)/.exec(await command(server, ['INFO', 'replication']))?.[1];
  await expect
    .poll(
      async () => {
        const info = await command(to, ['INFO', 'replication']);
        const behind = Number(await offsetOf(from)) - Number(await offsetOf(to));
        return info.includes('link_status:up') && behind <= 0;
      },
      { timeout: 15_000 },
    )
    .toBe(true);
}
