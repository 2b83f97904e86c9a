import { afterEach, it } from 'vitest';
import { raceRatesOn } from '../support/race/rate-story.ts';
import { newNamespace, type Place } from '../support/race/stores.ts';
import { describeWithRedis } from '../support/services.ts';

describeWithRedis('rate limits of four processes on one Redis', (url) => {
  let place: Place;
  afterEach(() => place?.clear());

  it('never admit more than a bucket has, and leave no place taken but those of one that died', {
    timeout: 120_000,
  }, async () => {
    place = newNamespace(await url());
    await raceRatesOn(place.at);
  });
});
