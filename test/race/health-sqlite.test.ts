import { afterEach, describe, it } from 'vitest';
import { shareHealthOn } from '../support/race/health-story.ts';
import { newSqliteFile, type Place } from '../support/race/stores.ts';

describe('processes on one SQLite file', () => {
  let place: Place;
  afterEach(() => place?.clear());

  it('know how endpoints do with the others, within seconds, also with one that was killed', {
    timeout: 120_000,
  }, async () => {
    place = await newSqliteFile();
    await shareHealthOn(place.at);
  });
});
