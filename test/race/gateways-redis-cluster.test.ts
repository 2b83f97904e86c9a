import { afterAll, beforeAll, it } from 'vitest';
import { raceGatewaysOn } from '../support/race/gateway-story.ts';
import { type RedisCluster, startRedisCluster } from '../support/redis-cluster.ts';
import { describeWithOwnRedis } from '../support/services.ts';

describeWithOwnRedis('gateways in four processes on a cluster of three masters', () => {
  let cluster: RedisCluster;
  beforeAll(async () => {
    cluster = (await startRedisCluster()) as RedisCluster;
  }, 60_000);
  afterAll(() => cluster?.stop());

  it('overrun no budget, refuse nothing that fits, and keep books to the nano-dollar', {
    timeout: 240_000,
  }, async () => {
    await raceGatewaysOn({ kind: 'redis-cluster', rootNodes: cluster.rootNodes, namespace: 'race' });
  });
});
