import { describe, expect, it } from 'vitest';
import { sqliteStore } from '../../adapters/sqlite/sqlite.ts';
import { resolveOptions } from '../../src/options.ts';
import { newSqliteFile } from '../support/race/stores.ts';
import { tenantGateway } from '../support/tenant-gateway.ts';

const limits = { apiKeys: 3 };
const full = 'This workspace has 3 API keys, which is as many as it may; delete some that are not used';

describe('the keys of a workspace', () => {
  it('are as many as the option says, disabled ones too, and no more until one is deleted', async () => {
    const { manage, workspace, key, gateway } = tenantGateway({ limits });
    const acme = await workspace('acme');
    const manager = await key({ workspace_id: acme, permissions: ['management'] });
    const make = (by = manager.key) => manage('POST', '/keys', { name: 'x', workspace_id: acme }, by);
    const made = [await make(), await make()].map(({ json }) => json.data.hash);
    await manage('PATCH', `/keys/${made[0]}`, { disabled: true });
    for (const by of [manager.key, undefined]) {
      const refused = await make(by);
      expect([refused.status, refused.json.error.message]).toEqual([400, full]);
    }
    await expect(gateway.apiKeys.create({ workspaceId: 'acme' })).rejects.toMatchObject({ status: 400, message: full });
    // Of another workspace, nothing.
    expect((await manage('POST', '/keys', { name: 'x' })).status).toBe(201);
    await manage('DELETE', `/keys/${made[0]}`, undefined, manager.key);
    expect([(await make()).status, (await make()).status]).toEqual([201, 400]);
  });
  it('are no more of two instances at once, and none of those refused is left behind', async () => {
    const place = await newSqliteFile();
    const stores = [1, 2].map(() => sqliteStore({ path: place.at.path }));
    const gateways = stores.map((store) => tenantGateway({ store, limits }));
    const made = await Promise.all(
      [0, 1, 0, 1, 0, 1].map((at) => gateways[at]?.manage('POST', '/keys', { name: 'x' })),
    );
    expect(made.map((one) => one?.status).sort()).toEqual([201, 201, 201, 400, 400, 400]);
    const { json } = (await gateways[0]?.manage('GET', '/keys')) ?? { json: null };
    expect(json.data).toHaveLength(3);
    for (const { gateway, run } of gateways) await run(gateway.close());
    for (const store of stores) await store.disconnect();
    await place.clear();
  });
  it('are a thousand where the option says nothing', async () => {
    const { limits: resolved } = resolveOptions({ apiKeys: [{ key: 'sk-test-key' }] });
    expect(resolved.apiKeys).toBe(1_000);
  });
});
