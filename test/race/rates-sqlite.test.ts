import { afterEach, describe, it } from 'vitest';
import { raceRatesOn } from '../support/race/rate-story.ts';
import { newSqliteFile, type Place } from '../support/race/stores.ts';

describe('rate limits of four processes on one SQLite file', { timeout: 120_000 }, () => {
  let place: Place;
  afterEach(() => place?.clear());

  it('never admit more than a bucket has, and leave no place taken but those of one that died', async () => {
    place = await newSqliteFile();
    await raceRatesOn(place.at);
  });
});
