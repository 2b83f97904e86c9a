import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KeyvPostgres } from '@keyv/postgres';
import KeyvRedis, { createClient } from '@keyv/redis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sqliteStore } from '../../../adapters/sqlite/sqlite.ts';
import type { WorkspaceId } from '../../../src/call/workspace.ts';
import { storedCredentialSchema } from '../../../src/schema/tenants/credential.ts';
import { perWorkspace } from '../../../src/stores/collection.ts';
import { rotateCredentials } from '../../../src/stores/credentials/rotate.ts';
import { postgresStorage } from '../../../src/stores/storage/postgres/postgres.ts';
import { redisStorage } from '../../../src/stores/storage/redis/redis.ts';
import { sqliteStorage } from '../../../src/stores/storage/sqlite.ts';
import type { Storage } from '../../../src/stores/storage/storage.ts';
import { instance, masterSecrets } from '../../support/credentials.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { askPostgres } from '../../support/postgres-client.ts';
import { describeWithPostgres, describeWithRedis } from '../../support/services.ts';

const { first, second } = masterSecrets;
const onlyOld = { secrets: { current: first } };
const both = { secrets: { current: second, previous: [first] } };
const onlyNew = { secrets: { current: second } };
const key = (at: number) => `sk-key-number-${at}-0123456789`;
const times = <T>(count: number, make: (at: number) => T) => Array.from({ length: count }, (_, at) => make(at));

/** What credentials need of a store when several instances work on it at once. `open` connects one. */
function testCredentials(open: () => Promise<{ storage: Storage; close(): Promise<unknown> }>): void {
  const clock = manualClock();
  const connections: Awaited<ReturnType<typeof open>>[] = [];
  let workspaceId: WorkspaceId;
  beforeAll(async () => {
    connections.push(await open(), await open());
  });
  afterAll(async () => {
    // One after the other: adapters on the same server may share a pool.
    for (const { close } of connections) await close();
  });

  /** Two instances, each on a connection of its own, and a workspace that nobody has used. */
  function two(options: Parameters<typeof instance>[2] = onlyOld) {
    workspaceId = randomUUID() as WorkspaceId;
    const instances = connections.map(({ storage }) => instance(storage, clock, options).credentials(workspaceId));
    return instances as [(typeof instances)[0], (typeof instances)[0]];
  }

  it('numbers what two instances make at once, each once and in the order of the list', async () => {
    const instances = two();
    await Promise.all(times(24, (at) => instances[at % 2]?.create({ provider: 'openai', key: key(at) })));
    const { records, total } = await instances[0].list({ offset: 0, limit: 100 });
    expect(total).toBe(24);
    expect(records.map(({ sort_order }) => sort_order)).toEqual(times(24, (at) => at));
  });

  it('never lets two instances make more than a workspace may have', async () => {
    const instances = two({ ...onlyOld, maxPerWorkspace: 7 });
    const outcomes = await Promise.allSettled(
      times(20, (at) => instances[at % 2]?.create({ provider: 'openai', key: key(at) })),
    );
    const refusals = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason.status] : []));
    expect(refusals).toEqual(times(13, () => 400));
    expect((await instances[1].list({ offset: 0, limit: 1 })).total).toBe(7);
  });

  it('keeps every one of the changes that two instances make of a credential at once', async () => {
    const [one, other] = two();
    const { id } = await one.create({ provider: 'openai', key: key(0) });
    await Promise.all([
      one.update(id, { name: 'Mine' }),
      other.update(id, { key: key(1) }),
      one.update(id, { is_fallback: true }),
      other.update(id, { allowed_models: ['openai/*'] }),
    ]);
    expect(await one.get(id)).toMatchObject({ name: 'Mine', is_fallback: true, allowed_models: ['openai/*'] });
    expect(await other.open(id)).toEqual({ secret: key(1) });
  });

  it('rotates secrets in two instances at once, beside use and changes, and loses nothing', async () => {
    const [old] = two();
    const ids = await Promise.all(times(30, async (at) => (await old.create({ provider: 'groq', key: key(at) })).id));
    const rotating = connections.map(({ storage }) => ({ storage, ...instance(storage, clock, both) }));
    const rotate = ({ storage, vault }: (typeof rotating)[0]) =>
      rotateCredentials({
        storage,
        vault,
        credentials: perWorkspace({ storage, kind: 'credential', schema: storedCredentialSchema }),
        async *workspaces() {
          yield workspaceId;
        },
      });
    const [used] = rotating.map(({ credentials }) => credentials(workspaceId));
    const done = await Promise.all([
      ...rotating.map(rotate),
      ...ids.map(async (id, at) => {
        expect(await used?.open(id)).toEqual({ secret: key(at) });
        await used?.update(id, { name: `named ${at}` });
        return null;
      }),
    ]);
    expect(done.flatMap((one) => one?.failed ?? [])).toEqual([]);
    const last = rotating[0] as (typeof rotating)[0];
    expect(await rotate(last)).toMatchObject({ checked: 30, failed: [] });
    const fresh = instance(last.storage, clock, onlyNew).credentials(workspaceId);
    for (const [at, id] of ids.entries()) {
      expect(await fresh.open(id)).toEqual({ secret: key(at) });
      expect(await fresh.get(id)).toMatchObject({ name: `named ${at}` });
    }
  });

  it('wipes all of a workspace', async () => {
    const [one, other] = two({ ...onlyOld, maxPerWorkspace: 1000 });
    const made = await Promise.all(times(110, (at) => one.create({ provider: 'openai', key: key(at) })));
    await Promise.all([one.deleteAll(), other.deleteAll()]);
    expect(await other.list({ offset: 0, limit: 100 })).toEqual({ records: [], total: 0 });
    expect(await one.get(made[50]?.id as string)).toBeNull();
  });
}

describe('credentials on SQLite', () => {
  const folder = mkdtempSync(join(tmpdir(), 'model-gateway-credentials-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  testCredentials(async () => {
    const store = sqliteStore({ path: join(folder, 'credentials.db'), busyTimeoutMs: 5_000 });
    return { storage: sqliteStorage(store, { onLostHold: 'charge' }), close: () => store.disconnect() };
  });
});

describeWithRedis('credentials on Redis', (url) => {
  const namespace = `model-gateway-test-${randomUUID()}`;
  afterAll(async () => {
    const client = await createClient({ url: await url() }).connect();
    for await (const keys of client.scanIterator({ MATCH: `${namespace}*`, COUNT: 1000 })) {
      if (keys.length > 0) await client.unlink(keys);
    }
    client.destroy();
  });
  testCredentials(async () => {
    const storage = redisStorage(new KeyvRedis(await url(), { namespace }), { onLostHold: 'charge' });
    return { storage, close: () => storage.close() };
  });
});

describeWithPostgres('credentials on PostgreSQL', (url) => {
  const schema = `gateway_test_${randomUUID().slice(0, 8)}`;
  afterAll(async () => void (await askPostgres(await url(), `DROP SCHEMA IF EXISTS "${schema}" CASCADE`)));
  testCredentials(async () => {
    const adapter = new KeyvPostgres({ uri: await url(), schema, max: 4 });
    adapter.on('error', () => undefined);
    const storage = postgresStorage(adapter, { onLostHold: 'charge' });
    return {
      storage,
      close: async () => {
        await storage.close();
        await adapter.disconnect();
      },
    };
  });
});
