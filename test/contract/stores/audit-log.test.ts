import { describe, expect, it } from 'vitest';
import { createGateway, type GatewayOptions } from '../../../src/index.ts';
import { newNamespace, newSchema, newSqliteFile, openStore, type Place } from '../../support/race/stores.ts';
import { describeWithPostgres, describeWithRedis } from '../../support/services.ts';

const secrets = { current: 'a master secret of the tests, long enough' };

/** Two gateways on one store. */
async function onStore<Result>(
  place: Place,
  options: Partial<GatewayOptions>,
  use: (one: ReturnType<typeof createGateway>, other: ReturnType<typeof createGateway>) => Promise<Result>,
): Promise<Result> {
  const stores = [openStore(place.at), openStore(place.at)];
  const gateways = stores.map(({ store }) =>
    createGateway({
      store,
      secrets,
      authenticate: 'host',
      audit: { enabled: true },
      // How fast a server of the tests is, is not looked at here.
      storeTimeoutMs: 20_000,
      ...options,
    }),
  );
  try {
    const [one, other] = gateways as [ReturnType<typeof createGateway>, ReturnType<typeof createGateway>];
    return await use(one, other);
  } finally {
    for (const gateway of gateways) await gateway.close();
    for (const { close } of stores) await close();
    await place.clear();
  }
}

function keepsTheLog(newPlace: () => Promise<Place>): void {
  it('has every kind of change, newest first, for each instance', async () => {
    await onStore(await newPlace(), {}, async (one, other) => {
      const { data: workspace } = await one.workspaces.create({ name: 'Acme', slug: 'acme' });
      await one.budgets.put({ id: 'acme', interval: 'daily', limit_usd: 1 });
      const { data: key } = await one.apiKeys.create({ name: 'k', workspace_id: workspace.id });
      await one.apiKeys.update({ hash: key.hash, disabled: true });
      const { data: byok } = await one.credentials.create({
        provider: 'groq',
        key: 'gsk-secret-0123456789',
        workspace_id: workspace.id,
      });
      await one.credentials.delete({ id: byok.id });
      await one.guardrails.create({ name: 'g', workspace_id: workspace.id });
      const { data, total_count: total } = await other.audit.list({ workspace_id: workspace.id });
      expect(data.map(({ operation, outcome }) => [operation, outcome])).toEqual(
        [
          'createGuardrail',
          'deleteBYOKKey',
          'createBYOKKey',
          'updateKeys',
          'createKeys',
          'upsertWorkspaceBudget',
          'createWorkspace',
        ].map((operation) => [operation, 'done']),
      );
      expect(total).toBe(7);
      expect(data[3]).toMatchObject({ before: { disabled: false }, after: { disabled: true } });
      expect(JSON.stringify(data)).not.toContain('gsk-secret');
    });
  });
  it('has the changes that instances make at the same time, each once', async () => {
    await onStore(await newPlace(), {}, async (one, other) => {
      const names = Array.from({ length: 20 }, (_, at) => `name-${at}`);
      await Promise.all(names.map((name, at) => (at % 2 === 0 ? one : other).apiKeys.create({ name })));
      const { data } = await one.audit.list({ operation: 'createKeys', limit: 100 });
      expect(data.map(({ after }) => after?.name).sort()).toEqual(names.toSorted());
      expect(new Set(data.map(({ id }) => id)).size).toBe(20);
    });
  });
  it('keeps no more than it may', async () => {
    await onStore(await newPlace(), { audit: { enabled: true, maxEntries: 5 } }, async (one, other) => {
      for (let at = 0; at < 12; at++) await (at % 2 === 0 ? one : other).apiKeys.create({ name: `name-${at}` });
      const { data } = await one.audit.list({ limit: 100 });
      expect(data.length).toBeLessThanOrEqual(6);
      expect(data[0]?.after).toMatchObject({ name: 'name-11' });
    });
  });
}

describe('the audit log', () => {
  describe('on SQLite', () => keepsTheLog(newSqliteFile));
  describeWithRedis('on Redis', (url) => keepsTheLog(async () => newNamespace(await url())));
  describeWithPostgres('on PostgreSQL', (url) => keepsTheLog(async () => newSchema(await url())));
});
