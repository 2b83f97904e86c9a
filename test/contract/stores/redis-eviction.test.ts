import KeyvRedis, { createClient } from '@keyv/redis';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { createGateway } from '../../../src/gateway.ts';
import type { GatewayOptions } from '../../../src/options.ts';
import { type RedisCluster, startRedisCluster } from '../../support/redis-cluster.ts';
import { describeWithOwnRedis } from '../../support/services.ts';
import { type StartedService, startRedis } from '../../support/start-service.ts';

const key = 'sk-management-0123456789';
const mayDelete = 'the Redis deletes budgets and keys when its memory is short: set its maxmemory-policy to noeviction';
const isUnknown =
  'the eviction policy of the Redis is not known: it refuses INFO. It must be noeviction, or budgets and keys are deleted when memory is short';

/** A gateway on a Redis, its warnings, and the status of a request that needs the store. */
function open(store: KeyvRedis<string>, options: Partial<GatewayOptions> = {}) {
  const warnings: string[] = [];
  const logger = { info() {}, error() {}, warn: (_: object, message: string) => void warnings.push(message) };
  const gateway = createGateway({
    store: store as never,
    apiKeys: [{ key, permissions: ['management'] }],
    logger,
    storeTimeoutMs: 5_000,
    storeCacheMs: 0,
    ...options,
  });
  const status = async () => {
    const headers = { authorization: `Bearer ${key}` };
    const response = await gateway.fetch('http://gateway.test/v1/workspaces', { headers });
    await response.text();
    return response.status;
  };
  return { gateway, warnings, status };
}

describeWithOwnRedis('at the start on a Redis', (program) => {
  let server: StartedService;
  let admin: ReturnType<typeof createClient>;
  const opened: ReturnType<typeof open>[] = [];
  const openHere = (options?: Partial<GatewayOptions>, url = server.url) => {
    const one = open(new KeyvRedis(url), options);
    opened.push(one);
    return one;
  };
  const setPolicy = (policy: string) => admin.configSet('maxmemory-policy', policy);
  beforeAll(async () => {
    server = await startRedis(program);
    admin = createClient({ url: server.url });
    await admin.connect();
    await admin.sendCommand(['ACL', 'SETUSER', 'managed', 'on', '>secret', '~*', '+@all', '-info', '-config']);
  });
  beforeEach(() => setPolicy('noeviction'));
  afterEach(async () => {
    for (const { gateway } of opened.splice(0)) await gateway.close();
  });
  afterAll(async () => {
    admin?.destroy();
    await server?.stop();
  });

  it('that deletes nothing, all is well', async () => {
    for (const onEviction of ['warn', 'refuse'] as const) {
      const { status, warnings } = openHere({ redis: { onEviction } });
      expect([await status(), warnings]).toEqual([200, []]);
    }
  });
  it.each(['allkeys-lru', 'volatile-ttl'])(
    'a server that may delete data is named in the log, once, and used: %s',
    async (policy) => {
      await setPolicy(policy);
      const { status, warnings } = openHere();
      expect(await Promise.all([status(), status(), status()])).toEqual([200, 200, 200]);
      expect(await status()).toBe(200);
      expect(warnings).toEqual([mayDelete]);
    },
  );
  it('and is not used where the options say so, until its policy is changed', async () => {
    await setPolicy('allkeys-lru');
    let nowMs = Date.now();
    const { status, warnings } = openHere({
      redis: { onEviction: 'refuse' },
      clock: { now: () => nowMs, after: () => () => {} },
    });
    expect([await status(), await status()]).toEqual([503, 503]);
    await setPolicy('noeviction');
    nowMs += 1_000;
    expect(await status()).toBe(200);
    expect(warnings.filter((warning) => warning === mayDelete)).toHaveLength(1);
  });
  it('a server that does not tell is named in the log, once, and is used only where that is allowed', async () => {
    const url = server.url.replace('redis://', 'redis://managed:secret@');
    const [warned, refused] = [openHere({}, url), openHere({ redis: { onEviction: 'refuse' } }, url)];
    expect([await warned.status(), await warned.status(), warned.warnings]).toEqual([200, 200, [isUnknown]]);
    expect(await refused.status()).toBe(503);
    expect(refused.warnings).toContain(isUnknown);
  });
});

describeWithOwnRedis('at the start on a cluster', () => {
  let cluster: RedisCluster;
  beforeAll(async () => {
    cluster = (await startRedisCluster()) as RedisCluster;
  }, 60_000);
  afterAll(() => cluster?.stop());

  it('each master is asked', async () => {
    for (const node of cluster.nodes) {
      const admin = createClient({ url: node.url });
      await admin.connect();
      await admin.configSet('maxmemory-policy', 'allkeys-lru');
      const rootNodes = cluster.nodes.map(({ url }) => ({ url }));
      const { gateway, status, warnings } = open(new KeyvRedis({ rootNodes }));
      expect([await status(), warnings]).toEqual([200, [mayDelete]]);
      await gateway.close();
      await admin.configSet('maxmemory-policy', 'noeviction');
      admin.destroy();
    }
  });
});
