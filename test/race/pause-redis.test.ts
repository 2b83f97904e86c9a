import { afterEach, it } from 'vitest';
import { pauseOn } from '../support/race/pause-story.ts';
import { newNamespace, type Place } from '../support/race/stores.ts';
import { describeWithRedis } from '../support/services.ts';

describeWithRedis('of three processes on one Redis', (url) => {
  let place: Place;
  afterEach(() => place?.clear());

  it('one is stopped for longer than its leases, with a wrong clock: all is booked once, and no limit is exceeded', {
    timeout: 240_000,
  }, async () => {
    place = newNamespace(await url());
    await pauseOn(place.at);
  });
});
