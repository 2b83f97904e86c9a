import { afterEach, describe, it } from 'vitest';
import { killOn } from '../support/race/kill-story.ts';
import { newSqliteFile, type Place } from '../support/race/stores.ts';

describe('of four processes on one SQLite file', { timeout: 240_000 }, () => {
  let place: Place;
  afterEach(() => place?.clear());

  it('one is killed again and again: what it held is charged after the lease, and nothing is lost', async () => {
    place = await newSqliteFile();
    await killOn(place.at);
  });
});
