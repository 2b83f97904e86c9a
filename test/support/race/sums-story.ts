import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Gateway } from '../../../src/gateway.ts';
import { newTenant, type Tenant } from './books.ts';
import { manage, raceGateway } from './gateway.ts';
import { startProcess } from './processes.ts';
import { openStore, type StoreAt } from './stores.ts';
import type { SumsPlan } from './sums-child.ts';

const leaseMs = 1_000;
/** What a busy machine may add to the lease, and to the age of what another process has noted. */
const recoveredMs = 30_000;
const width = 6;

/** So many answers a process lives to give, for some kills. */
export const answersOfEach = [1, 2, 7, 20, 45, 80];

/**
 * A process is killed right after so many of its clients had their responses. What another instance then says of records,
 * activity, keys and workspace is one sum.
 */
export async function sumsOn(at: StoreAt, { escrow = false } = {}): Promise<void> {
  const tenant = await inGateway(at, escrow, (gateway) =>
    newTenant(gateway, {
      budgets: { daily: 1_000 },
      keys: [{ limit: 1_000, limit_reset: 'weekly' }],
    }),
  );
  // One more whose spending nothing limits.
  const free = await inGateway(at, escrow, (gateway) => newTenant(gateway, { budgets: {}, keys: [] }));
  let seed = 0;
  let found: Awaited<ReturnType<typeof sumsOf>>[] = [];
  let answered = 0;
  for (const answers of answersOfEach) {
    seed += 100_000;
    answered += answers;
    const keys = [...tenant.keys, ...free.keys].map(({ key }) => key);
    await killedAfter(answers, { at, keys, seed, width, budgets: { leaseMs, escrow } });
    found = await inGateway(at, escrow, (gateway) => agreeing(gateway, [tenant, free]));
  }
  // Not all was lost: of half of the requests each, some had no response yet, and some have failed or were refused.
  for (const { known } of found) expect(known).toBeGreaterThan(answered / 20);
  for (const { sums } of found) expect(sums[0]).toBeGreaterThan(0);
}

async function inGateway<T>(at: StoreAt, escrow: boolean, work: (gateway: Gateway) => Promise<T>): Promise<T> {
  const opened = openStore(at, { busyTimeoutMs: 30_000 });
  const gateway = raceGateway(opened.store, {
    storeTimeoutMs: 30_000,
    budgets: { leaseMs, escrow },
    records: { enabled: true },
  });
  try {
    return await work(gateway);
  } finally {
    await gateway.close();
    await opened.close();
  }
}

async function killedAfter(answers: number, plan: SumsPlan): Promise<void> {
  const { child, ready } = startProcess('sums-child.ts', plan);
  try {
    await ready;
    const exited = once(child, 'exit');
    let heard = 0;
    child.on('message', (message) => {
      if (message === 'answered' && ++heard === answers) child.kill('SIGKILL');
    });
    child.send('go');
    await exited;
  } finally {
    child.kill('SIGKILL');
  }
}

/** What the sums of each tenant say, once they agree and nothing is held. */
async function agreeing(gateway: Gateway, tenants: readonly Tenant[]) {
  const endMs = performance.now() + recoveredMs;
  for (;;) {
    const all = await Promise.all(tenants.map((tenant) => sumsOf(gateway, tenant)));
    const isOver = performance.now() > endMs;
    if (isOver || all.every(({ sums, held }) => held === 0 && new Set(sums).size === 1)) {
      for (const { sums, held, ...of } of all)
        expect({ of, sums, held }).toEqual({ of, sums: sums.map(() => sums[0]), held: 0 });
      return all;
    }
    await sleep(200);
  }
}

async function sumsOf(gateway: Gateway, { workspaceId, keys }: Tenant) {
  const nano = (usd: number) => Math.round(usd * 1e9);
  const add = (numbers: readonly number[]) => numbers.reduce((sum, one) => sum + one, 0);
  const get = (path: string) => manage(gateway, 'GET', path);
  const records: { cost_nano_usd: number | null; outcome: string }[] = [];
  for (let offset = 0; ; offset += 100) {
    const page = await get(`/generations?workspace_id=${workspaceId}&limit=100&offset=${offset}`);
    records.push(...page.data);
    if (page.data.length < 100) break;
  }
  const activity = (await get(`/activity?workspace_id=${workspaceId}&group_by=key`)).data;
  const ofKeys = await Promise.all(keys.map(async ({ hash }) => (await get(`/keys/${hash}`)).data));
  const budgets = (await get(`/workspaces/${workspaceId}/budgets`)).data;
  const byok = add(ofKeys.map(({ byok_usage }) => nano(byok_usage)));
  const keysIn = (field: string) => add(ofKeys.map((key) => nano(key[field]))) + byok;
  return {
    known: records.filter(({ outcome }) => outcome !== 'lost').length,
    lost: records.filter(({ outcome }) => outcome === 'lost').length,
    sums: [
      add(records.map(({ cost_nano_usd }) => cost_nano_usd ?? 0)),
      add(activity.map((row: { cost_nano_usd: number }) => row.cost_nano_usd)),
      ...['usage', 'usage_daily', 'usage_weekly', 'usage_monthly'].map(keysIn),
      // What the workspace has paid itself is on no budget.
      ...budgets.map(({ spent_usd }: { spent_usd: number }) => nano(spent_usd) + byok),
    ],
    held: add(budgets.map(({ held_usd }: { held_usd?: number }) => nano(held_usd ?? 0))),
  };
}
