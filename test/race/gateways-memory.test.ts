import { Keyv } from 'keyv';
import { describe, expect, it } from 'vitest';
import type { GatewayOptions } from '../../src/options.ts';
import { chooseStorage } from '../../src/stores/storage/choose.ts';
import { newTenant } from '../support/race/books.ts';
import { movableClock, raceGateway } from '../support/race/gateway.ts';
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
} from '../support/race/gateway-story.ts';
import { observe } from '../support/race/observe.ts';
import { raceRecords, runRace } from '../support/race/run.ts';
import { raceTransport } from '../support/race/upstream.ts';

describe('four gateways in one process, on one memory', { timeout: 240_000 }, () => {
  it.each<[string, GatewayOptions['budgets']]>([
    ['overrun no budget, and refuse nothing that fits', {}],
    ['do so as well where requests are cut down to what fits', { shrinkToFit: true }],
  ])('%s', async (_, budgets) => {
    const store = new Keyv({ store: new Map() });
    const clock = movableClock(beforeRaceMs);
    const own = raceRecords(0);
    const gateway = raceGateway(store, { clock, onRecord: own.onRecord });
    const tenant = await newTenant(gateway, limits);
    const keys = tenant.keys.map(({ key }) => key);
    const includesByok = tenant.keys.map((key) => key.includesByok);
    // The same memory, seen by somebody else.
    const { ledger } = chooseStorage(store, { clock, timeoutMs: 30_000, onLostHold: 'charge' });
    clock.set(raceStartsMs);
    const watching = observe(ledger, tenant.workspaceId, windowsOfRace(tenant));
    const results = await Promise.all(
      Array.from({ length: racers }, async (_, racer) => {
        const transport = raceTransport();
        const records = raceRecords(seedOf(racer), includesByok, transport.billOf);
        const { onRecord } = records;
        const one = raceGateway(store, { clock, transport, onRecord, budgets: budgets as object });
        await runRace(one, { keys, includesByok, requests: requestsEach, width, seed: seedOf(racer) }, records);
        await one.close();
        return records.result;
      }),
    );
    const observed = await watching.stop();
    // One read each 2 ms at best: a fast machine ends the race early, a slow one reads seldom.
    expect(observed.reads).toBeGreaterThan(20);
    await expectFairRace({ tenant, results, observed, ledger, gateway, own });
  });
});
