import { afterEach, describe, it } from 'vitest';
import { raceGatewaysOn } from '../support/race/gateway-story.ts';
import { newSqliteFile, type Place } from '../support/race/stores.ts';

describe('gateways in four processes on one SQLite file', { timeout: 240_000 }, () => {
  let place: Place;
  afterEach(() => place?.clear());

  it.each([false, true])(
    'overrun no budget, refuse nothing that fits, and keep books to the nano-dollar (escrow: %s)',
    async (escrow) => {
      place = await newSqliteFile();
      await raceGatewaysOn(place.at, { escrow });
    },
  );
});
