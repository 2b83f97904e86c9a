import { afterEach, it } from 'vitest';
import { pauseOn } from '../support/race/pause-story.ts';
import { newSchema, type Place } from '../support/race/stores.ts';
import { describeWithPostgres } from '../support/services.ts';

describeWithPostgres('of three processes on one PostgreSQL', (url) => {
  let place: Place;
  afterEach(() => place?.clear());

  it('one is stopped for longer than its leases, with a wrong clock: all is booked once, and no limit is exceeded', {
    timeout: 240_000,
  }, async () => {
    place = newSchema(await url());
    await pauseOn(place.at);
  });
});
