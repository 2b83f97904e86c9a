import { afterEach, describe, expect, it } from 'vitest';
import { sqliteStore } from '../../adapters/sqlite/sqlite.ts';
import type { GatewayOptions } from '../../src/options.ts';
import { hello } from '../support/gateway.ts';
import { newSqliteFile } from '../support/race/stores.ts';
import { type TenantGateway, tenantGateway } from '../support/tenant-gateway.ts';
import { apiKeyInput, instanceOn, tenantStores, workspaceInput } from '../support/tenants.ts';
import { completion } from '../support/upstream.ts';

const ask = { model: 'acme/fast', messages: hello, max_tokens: 10 };
const cacheMs = 5_000;

const endings: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const end of endings.splice(0)) await end();
});

/** Two gateways on one store, whose host app serves the users of one workspace, with a budget for a few requests. */
async function twoGateways() {
  const place = await newSqliteFile();
  const stores = [place, place].map(({ at }) => sqliteStore({ path: at.path }));
  let workspaceId: string | undefined;
  const authenticate: GatewayOptions['authenticate'] = () =>
    workspaceId === undefined ? { permissions: ['management'] } : { permissions: ['inference'], workspaceId };
  const [one, two] = stores.map((store) => tenantGateway({ store, authenticate })) as [TenantGateway, TenantGateway];
  endings.push(async () => {
    for (const { run, gateway } of [one, two]) await run(gateway.close());
    for (const store of stores) await store.disconnect();
    await place.clear();
  });
  for (const { upstream } of [one, two]) upstream.always({ body: completion() });
  const id = await one.workspace('acme');
  await one.manage('PUT', '/workspaces/acme/budgets/lifetime', { limit_usd: 0.0057 });
  const asUser = async <T>(work: () => Promise<T>): Promise<T> => {
    workspaceId = id;
    try {
      return await work();
    } finally {
      workspaceId = undefined;
    }
  };
  const post = (at: TenantGateway) => asUser(() => at.post(ask));
  return { one, two, id, post, asUser };
}

describe('a deleted workspace', () => {
  it('is refused by every instance, and by no instance has it no budget', async () => {
    const { one, two, post } = await twoGateways();
    expect((await one.manage('DELETE', '/workspaces/acme')).status).toBe(200);
    for (const at of [two, one]) {
      for (let n = 0; n < 3; n++) {
        const refused = await post(at);
        expect([refused.status, refused.json.error.message]).toEqual([
          404,
          'This workspace was deleted, or is being deleted',
        ]);
        await at.clock.advance(cacheMs);
      }
      expect(at.upstream.sent).toHaveLength(0);
    }
  });
  it('has what it has spent, where an instance still holds its budget in the cache', async () => {
    const { one, two, post } = await twoGateways();
    const spent: number[] = [];
    while ((await post(two)).status === 200) spent.push(1);
    expect(spent.length).toBeGreaterThan(0);
    expect((await one.manage('DELETE', '/workspaces/acme')).status).toBe(200);
    expect((await post(two)).status).toBe(402);
    await two.clock.advance(cacheMs + 1);
    expect((await post(two)).status).toBe(404);
    expect(two.upstream.sent).toHaveLength(spent.length);
  });
  it('is explained and listed as little', async () => {
    const { one, two, asUser } = await twoGateways();
    await one.manage('DELETE', '/workspaces/acme');
    const explained = await asUser(() => two.call('POST', '/chat/completions/explain', ask));
    expect(explained.status).toBe(404);
  });
});

describe('a workspace whose deletion is refused', () => {
  it('is not marked as deleted meanwhile', async () => {
    const { storage, clock, open } = tenantStores();
    const { workspaces, apiKeys, budgets } = open();
    const { id } = await workspaces.create(workspaceInput('acme'), 'me');
    await apiKeys.create(id, apiKeyInput());
    const commits: string[] = [];
    const watched = instanceOn(
      {
        ...storage,
        commit: async (changes) => {
          commits.push(...changes.map(({ at }) => at.kind));
          return storage.commit(changes);
        },
      },
      { clock },
    );
    await expect(watched.workspaces.delete(id)).rejects.toMatchObject({ status: 400 });
    expect(commits).not.toContain('deletion');
    expect(await budgets(id).limits()).toEqual([]);
  });
});
