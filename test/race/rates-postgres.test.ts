import { afterEach, it } from 'vitest';
import { raceRatesOn } from '../support/race/rate-story.ts';
import { newSchema, type Place } from '../support/race/stores.ts';
import { describeWithPostgres } from '../support/services.ts';

describeWithPostgres('rate limits of four processes on one PostgreSQL', (url) => {
  let place: Place;
  afterEach(() => place?.clear());

  it('never admit more than a bucket has, and leave no place taken but those of one that died', {
    timeout: 120_000,
  }, async () => {
    place = newSchema(await url());
    await raceRatesOn(place.at);
  });
});
