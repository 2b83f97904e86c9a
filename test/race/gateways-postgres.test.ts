import { afterEach, it } from 'vitest';
import { raceGatewaysOn } from '../support/race/gateway-story.ts';
import { newSchema, type Place } from '../support/race/stores.ts';
import { describeWithPostgres } from '../support/services.ts';

describeWithPostgres('gateways in four processes on one PostgreSQL', (url) => {
  let place: Place;
  afterEach(() => place?.clear());

  // The other value has its turn on another store: a run takes minutes.
  it.each([true])(
    'overrun no budget, refuse nothing that fits, and keep books to the nano-dollar (escrow: %s)',
    {
      timeout: 240_000,
    },
    async (escrow) => {
      place = newSchema(await url());
      await raceGatewaysOn(place.at, { escrow });
    },
  );
});
