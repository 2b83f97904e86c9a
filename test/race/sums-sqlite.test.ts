import { afterEach, describe, it } from 'vitest';
import { newSqliteFile, type Place } from '../support/race/stores.ts';
import { sumsOn } from '../support/race/sums-story.ts';

describe('a process on a SQLite file is killed right after its responses', { timeout: 240_000 }, () => {
  let place: Place;
  afterEach(() => place?.clear());

  it.each([false, true])(
    'the sums of records, activity, keys and workspace are one, as another instance recovers them (escrow: %s)',
    async (escrow) => {
      place = await newSqliteFile();
      await sumsOn(place.at, { escrow });
    },
  );
});
