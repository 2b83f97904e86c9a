import { afterAll, beforeAll, it } from 'vitest';
import { raceRatesOn } from '../support/race/rate-story.ts';
import { type RedisCluster, startRedisCluster } from '../support/redis-cluster.ts';
import { describeWithOwnRedis } from '../support/services.ts';

describeWithOwnRedis('rate limits of four processes on a cluster of three masters', () => {
  let cluster: RedisCluster;
  beforeAll(async () => {
    cluster = (await startRedisCluster()) as RedisCluster;
  }, 60_000);
  afterAll(() => cluster?.stop());

  it('never admit more than a bucket has, and leave no place taken but those of one that died', {
    timeout: 120_000,
  }, async () => {
    await raceRatesOn({ kind: 'redis-cluster', rootNodes: cluster.rootNodes, namespace: 'race' });
  });
});
