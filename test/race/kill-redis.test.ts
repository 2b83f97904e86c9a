import { afterEach, it } from 'vitest';
import { killOn } from '../support/race/kill-story.ts';
import { newNamespace, type Place } from '../support/race/stores.ts';
import { describeWithRedis } from '../support/services.ts';

describeWithRedis('of four processes on one Redis', (url) => {
  let place: Place;
  afterEach(() => place?.clear());

  it.each([false, true])(
    'one is killed again and again: what it held is charged after the lease, and nothing is lost (escrow: %s)',
    { timeout: 240_000 },
    async (escrow) => {
      place = newNamespace(await url());
      await killOn(place.at, { escrow });
    },
  );
});
