import { afterAll, beforeAll } from 'vitest';
import { testLedgerRace } from '../support/race/ledger-story.ts';
import { type RedisCluster, startRedisCluster } from '../support/redis-cluster.ts';
import { describeWithOwnRedis } from '../support/services.ts';

describeWithOwnRedis('on a Redis cluster of three masters', () => {
  let cluster: RedisCluster;
  beforeAll(async () => {
    cluster = (await startRedisCluster()) as RedisCluster;
  }, 60_000);
  afterAll(() => cluster?.stop());
  testLedgerRace(async () => ({ kind: 'redis-cluster', rootNodes: cluster.rootNodes, namespace: 'gateway' }));
});
