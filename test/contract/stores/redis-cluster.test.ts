import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import KeyvRedis from '@keyv/redis';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { LedgerOptions } from '../../../src/stores/ledger/ledger.ts';
import { slotOf } from '../../../src/stores/storage/redis/client.ts';
import { redisStorage } from '../../../src/stores/storage/redis/redis.ts';
import { command, type RedisCluster, startRedisCluster } from '../../support/redis-cluster.ts';
import { describeWithOwnRedis } from '../../support/services.ts';
import { limited, newWorkspace, testLedger } from './ledger.ts';
import { testRates } from './rates.ts';
import { testStorage } from './storage.ts';

const options: LedgerOptions = { onLostHold: 'charge' };
const namespace = 'gateway';

function openOn(cluster: RedisCluster, ledgerOptions: Partial<LedgerOptions> = {}) {
  const adapter = new KeyvRedis({ rootNodes: cluster.rootNodes }, { namespace });
  adapter.on('error', () => {});
  const storage = redisStorage(adapter, { ...options, ...ledgerOptions });
  return { storage, ledger: storage.ledger, rates: storage.rates, close: () => storage.close() };
}

describeWithOwnRedis('on a cluster of three masters', () => {
  let cluster: RedisCluster;
  const opened: { close(): Promise<void> }[] = [];
  beforeAll(async () => {
    cluster = (await startRedisCluster(['--cluster-require-full-coverage', 'no'])) as RedisCluster;
  }, 60_000);
  afterEach(async () => {
    for (const { close } of opened.splice(0)) await close();
  });
  afterAll(() => cluster?.stop());
  const open = async (ledgerOptions?: Partial<LedgerOptions>) => openOn(cluster, ledgerOptions);
  const openHere = () => {
    const here = openOn(cluster);
    opened.push(here);
    return here;
  };

  testStorage('redis cluster', open);
  testLedger('redis cluster', open);
  testRates('rates: redis cluster', open);

  it('agrees with the server on the slots of keys', async () => {
    const keys = ['a', 'ä漢🦊', '{a}:b', 'x{}y', 'x{}{y}', '{}', 'x{y', 'x}y{z}', 'gateway::{w}:key:1', '{{a}}', ''];
    for (const key of keys) {
      expect([key, slotOf(key)]).toEqual([key, Number(await command(cluster.nodes[0]!, ['CLUSTER', 'KEYSLOT', key]))]);
    }
  });

  it('keeps a workspace on one node, and spreads workspaces over all', async () => {
    const { storage, ledger } = openHere();
    const workspaces = Array.from({ length: 30 }, newWorkspace);
    for (const workspaceId of workspaces) {
      const windows = [limited('daily', 100), limited('lifetime', 100)];
      await storage.commit([{ at: { partition: workspaceId, kind: 'thing', id: 'a' }, value: 'x', rank: 1 }]);
      const hold = { workspaceId, amountNanoUsd: 1, windows };
      const ids = [randomUUID(), randomUUID(), randomUUID()] as const;
      for (const id of ids) await ledger.hold({ ...hold, id, leaseMs: 60_000 });
      await ledger.settle(workspaceId, ids[0], 1);
      await ledger.release(workspaceId, ids[1]);
    }
    const keys = await Promise.all(cluster.nodes.map(async (node) => (await command(node, ['KEYS', '*'])).split(',')));
    const used = new Set<number>();
    for (const workspaceId of workspaces) {
      const counts = keys.map((ofNode) => ofNode.filter((key) => key.startsWith(`gateway::{${workspaceId}}:`)).length);
      // Records, their ranks, and those of the ledger, without expired holds.
      expect(counts.toSorted()).toEqual([0, 0, 8]);
      used.add(counts.indexOf(8));
    }
    expect(used.size).toBe(3);
  });

  it('loses nothing when the slot of a workspace moves to another node while it is used', async () => {
    const { storage, ledger } = openHere();
    const workspace = newWorkspace();
    const slot = slotOf(`{${workspace}}`);
    const from = cluster.nodes.find(({ slots: [first, last] }) => first <= slot && slot <= last)!;
    const to = cluster.nodes.find((node) => node !== from)!;
    const windows = [limited('daily', 1e9), limited('lifetime', 1e9)];
    const at = { partition: workspace, kind: 'thing', id: 'count' };
    await storage.commit([{ at, value: '0', rank: 0 }]);
    let [isMoving, settled, counted] = [true, 0, 0];
    const refusals = new Set<string>();
    // What is asked for while its keys lie on both nodes is refused; nothing is done by halves.
    const unlessMoving = (error: Error) => void refusals.add(error.message.split(' ')[0] as string);
    const spend = async () => {
      while (isMoving) {
        const id = randomUUID();
        const hold = { id, workspaceId: workspace, amountNanoUsd: 10, windows };
        const held = await ledger.hold({ ...hold, leaseMs: 60_000 }).catch(unlessMoving);
        for (let isHeld = held?.isHeld; isHeld; ) {
          if ((await ledger.settle(workspace, id, 7).catch(unlessMoving)) === 'ended') {
            settled++;
            isHeld = false;
          }
        }
        const seen = await storage.get(at).catch(unlessMoving);
        if (seen === undefined) continue;
        const next = { at, expect: seen, value: `${Number(seen) + 1}` };
        if (await storage.commit([next]).catch(unlessMoving)) counted++;
      }
    };
    const spending = Promise.all([spend(), spend(), spend()]);
    await sleep(100);
    await moveSlot(cluster, slot, from, to);
    await sleep(100);
    isMoving = false;
    await spending;
    expect(settled).toBeGreaterThan(0);
    expect([...refusals].filter((refusal) => refusal !== 'TRYAGAIN')).toEqual([]);
    expect(await storage.get(at)).toBe(String(counted));
    expect(await ledger.read(workspace, windows)).toEqual([
      { spentNanoUsd: settled * 7, heldNanoUsd: 0 },
      { spentNanoUsd: settled * 7, heldNanoUsd: 0 },
    ]);
    expect(await command(to, ['KEYS', `*${workspace}*`])).not.toBe('');
  }, 30_000);
});

async function moveSlot(
  cluster: RedisCluster,
  slot: number,
  from: RedisCluster['nodes'][number],
  to: RedisCluster['nodes'][number],
): Promise<void> {
  const set = (node: typeof from, ...state: string[]) => command(node, ['CLUSTER', 'SETSLOT', `${slot}`, ...state]);
  await set(to, 'IMPORTING', from.id);
  await set(from, 'MIGRATING', to.id);
  for (;;) {
    // One by one, so that for some time the keys of a workspace are on both.
    const [key] = (await command(from, ['CLUSTER', 'GETKEYSINSLOT', `${slot}`, '1'])).split(',');
    if (!key) break;
    await command(from, ['MIGRATE', '127.0.0.1', `${to.port}`, key, '0', '5000']);
    await sleep(20);
  }
  for (const node of [to, from, ...cluster.nodes]) await set(node, 'NODE', to.id);
}

describeWithOwnRedis('on a cluster that loses a master for good', () => {
  let cluster: RedisCluster;
  beforeAll(async () => {
    cluster = (await startRedisCluster(['--cluster-require-full-coverage', 'no'])) as RedisCluster;
  }, 60_000);
  afterAll(() => cluster?.stop());

  it('refuses its workspaces only, and serves them when another has taken over, without a restart', async () => {
    const before = openOn(cluster);
    const after = openOn(cluster);
    const between = openOn(cluster);
    try {
      const [first, second, lost] = cluster.nodes as [Node, Node, Node];
      const onNode = ({ slots: [from, to] }: Node) => {
        for (;;) {
          const workspace = newWorkspace();
          const slot = slotOf(`{${workspace}}`);
          if (from <= slot && slot <= to) return { partition: workspace, kind: 'thing', id: 'a' };
        }
      };
      const [here, gone] = [onNode(first), onNode(lost)];
      for (const at of [here, gone]) expect(await before.storage.commit([{ at, value: 'x' }])).toBe(true);

      process.kill(lost.pid, 'SIGKILL');
      await expect(until(() => before.storage.get(gone), 'rejects')).resolves.toBe(undefined);
      // At once, not when a queue has been given up.
      const startedMs = performance.now();
      for (let n = 0; n < 20; n++) await expect(before.storage.get(gone)).rejects.toThrow('not connected');
      expect(performance.now() - startedMs).toBeLessThan(1_000);
      expect(await before.storage.get(here)).toBe('x');
      // One that is opened now: the cluster still names the lost node.
      await expect(after.storage.get(gone)).rejects.toThrow('not connected');
      await expect(after.storage.get(gone)).rejects.toThrow();

      for (const node of [first, second]) await command(node, ['CLUSTER', 'FORGET', lost.id]);
      // One that asks for the servers now finds none for these slots.
      expect(await between.storage.get(here)).toBe('x');
      await expect(between.storage.get(gone)).rejects.toThrow('not connected');
      await command(first, ['CLUSTER', 'ADDSLOTSRANGE', ...lost.slots.map(String)]);
      for (const { storage } of [before, after, between]) {
        await until(() => storage.commit([{ at: gone, value: 'y' }]), 'resolves');
        expect(await storage.get(gone)).toBe('y');
        expect(await storage.get(here)).toBe('x');
      }
    } finally {
      await before.close();
      await after.close();
      await between.close();
    }
  }, 60_000);
});

type Node = RedisCluster['nodes'][number];

/** Tries again, for 20 seconds at most. */
async function until(attempt: () => Promise<unknown>, wanted: 'resolves' | 'rejects'): Promise<void> {
  const endMs = performance.now() + 20_000;
  for (;;) {
    const [outcome] = await Promise.allSettled([attempt()]);
    if ((outcome.status === 'fulfilled') === (wanted === 'resolves')) return;
    if (performance.now() > endMs) throw new Error(`It never ${wanted}`, { cause: outcome });
    await sleep(50);
  }
}
