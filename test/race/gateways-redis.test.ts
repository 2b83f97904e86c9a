import { afterEach, it } from 'vitest';
import { raceGatewaysOn } from '../support/race/gateway-story.ts';
import { newNamespace, type Place } from '../support/race/stores.ts';
import { describeWithRedis } from '../support/services.ts';

describeWithRedis('gateways in four processes on one Redis', (url) => {
  let place: Place;
  afterEach(() => place?.clear());

  it.each([false, true])(
    'overrun no budget, refuse nothing that fits, and keep books to the nano-dollar (escrow: %s)',
    {
      timeout: 240_000,
    },
    async (escrow) => {
      place = newNamespace(await url());
      await raceGatewaysOn(place.at, { escrow });
    },
  );
});
