import { Keyv } from 'keyv';
import { expect, it } from 'vitest';
import { chooseStorage } from '../../src/stores/storage/choose.ts';
import { newTenant, observe } from '../support/race-books.ts';
import { movableClock, raceGateway } from '../support/race-gateway.ts';
import { raceRecords, runRace } from '../support/race-run.ts';
import {
  beforeRaceMs,
  expectFairRace,
  limits,
  racers,
  raceStartsMs,
  requestsEach,
  seedOf,
  width,
  windowsOfRace,
} from '../support/race-story.ts';

it('four gateways in one process, on one memory, overrun no budget and refuse nothing that fits', {
  timeout: 240_000,
}, async () => {
  const store = new Keyv({ store: new Map() });
  const clock = movableClock(beforeRaceMs);
  const own = raceRecords(0);
  const gateway = raceGateway(store, { clock, onRecord: own.onRecord });
  const tenant = await newTenant(gateway, limits);
  const keys = tenant.keys.map(({ key }) => key);
  // The same memory, seen by somebody else.
  const { ledger } = chooseStorage(store, { clock, timeoutMs: 30_000, onLostHold: 'charge' });
  clock.set(raceStartsMs);
  const watching = observe(ledger, tenant, windowsOfRace(tenant), clock.now);
  const results = await Promise.all(
    Array.from({ length: racers }, async (_, racer) => {
      const records = raceRecords(seedOf(racer));
      const one = raceGateway(store, { clock, onRecord: records.onRecord });
      await runRace(one, { keys, requests: requestsEach, width, seed: seedOf(racer) }, records);
      await one.close();
      return records.result;
    }),
  );
  const observed = await watching.stop();
  expect(observed.reads).toBeGreaterThan(100);
  await expectFairRace({ tenant, results, observed, ledger, gateway, own, now: clock.now });
});
