import { afterAll, beforeAll, it } from 'vitest';
import { killOn } from '../support/race/kill-story.ts';
import { type RedisCluster, startRedisCluster } from '../support/redis-cluster.ts';
import { describeWithOwnRedis } from '../support/services.ts';

describeWithOwnRedis('of four processes on a cluster of three masters', () => {
  let cluster: RedisCluster;
  beforeAll(async () => {
    cluster = (await startRedisCluster()) as RedisCluster;
  }, 60_000);
  afterAll(() => cluster?.stop());

  it('one is killed again and again: what it held is charged after the lease, and nothing is lost', {
    timeout: 240_000,
  }, async () => {
    await killOn({ kind: 'redis-cluster', rootNodes: cluster.rootNodes, namespace: 'kill' });
  });
});
