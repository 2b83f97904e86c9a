import { randomUUID } from 'node:crypto';
import { createClient } from '@keyv/redis';
import { afterAll } from 'vitest';
import { testLedgerRace } from '../support/race/ledger-story.ts';
import { describeWithRedis } from '../support/services.ts';

describeWithRedis('on Redis', (url) => {
  const namespace = `model-gateway-test-${randomUUID()}`;
  // The server may be shared.
  afterAll(async () => {
    const client = await createClient({ url: await url() }).connect();
    for await (const keys of client.scanIterator({ MATCH: `${namespace}*`, COUNT: 1_000 })) {
      if (keys.length > 0) await client.unlink(keys);
    }
    client.destroy();
  });
  testLedgerRace(async () => ({ kind: 'redis', url: await url(), namespace }));
});
