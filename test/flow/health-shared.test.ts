import { afterEach, expect, it } from 'vitest';
import { sqliteStore } from '../../adapters/sqlite/sqlite.ts';
import type { GatewayOptions } from '../../src/options.ts';
import { hello, type TestGateway, testGateway } from '../support/gateway.ts';
import { newSqliteFile } from '../support/race/stores.ts';
import { completion, errorBody } from '../support/upstream.ts';

const endings: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

/** Gateways with an upstream each, on one store. */
async function gateways(count: number, options: Partial<GatewayOptions> = {}): Promise<TestGateway[]> {
  const place = await newSqliteFile();
  endings.push(place.clear);
  return Array.from({ length: count }, () => {
    const store = sqliteStore({ path: place.at.path });
    const made = testGateway({ store, retry: { maxAttempts: 1 }, health: { failuresToCooldown: 3 }, ...options });
    endings.push(async () => {
      await made.run(made.gateway.close());
      await store.disconnect();
    });
    return made;
  });
}

it('leaves alone what failed for another gateway on the same store, and asks it again when it is back there', async () => {
  const [one, two] = (await gateways(2)) as [TestGateway, TestGateway];
  one.upstream.always({ status: 500, body: errorBody('Broken') });
  two.upstream.always({ body: completion() });
  const askTwo = async () => {
    // What it hears, it hears beside its requests.
    await two.post({ model: 'acme/other', messages: hello });
    await two.clock.advance(2_000);
    const { status } = await two.post({ model: 'acme/fast', messages: hello });
    return status;
  };
  for (let i = 0; i < 3; i++) await one.post({ model: 'acme/fast', messages: hello });
  await one.clock.advance(2_000);
  expect(await askTwo()).toBe(503);
  expect(two.upstream.sent.map(({ body }) => body.model)).toEqual(['alt-other']);

  one.upstream.always({ body: completion() });
  await one.clock.advance(4_000);
  expect((await one.post({ model: 'acme/fast', messages: hello })).status).toBe(200);
  await one.clock.advance(2_000);
  expect(await askTwo()).toBe(200);
});

it('leaves alone a key that was refused at another gateway, and not the other keys of its provider', async () => {
  const keys = ['sk-first-0123456789', 'sk-second-0123456789'];
  const up = { baseUrl: 'https://up.test/v1', apiKeys: keys, keyStrategy: 'order' } as const;
  const models = [{ slug: 'acme/fast', endpoints: [{ provider: 'up', model: 'up-fast' }] }];
  const [one, two] = (await gateways(2, { providers: { up }, models, retry: {} })) as [TestGateway, TestGateway];
  one.upstream.answer({ status: 401, body: errorBody('Wrong key') }, { body: completion() });
  two.upstream.always({ body: completion() });
  const ask = { model: 'acme/fast', messages: hello };
  expect((await one.post(ask)).status).toBe(200);
  await one.clock.advance(2_000);
  await two.post(ask);
  await two.clock.advance(2_000);
  await two.post(ask);
  expect(two.upstream.sent.map(({ headers }) => headers.authorization)).toEqual(keys.map((key) => `Bearer ${key}`));
  expect(two.gateway.state().inCooldown).toMatchObject([{ endpoint: 'up', model: 'up-fast', key: 'key-1' }]);
});
