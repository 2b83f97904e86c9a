import { afterEach, it } from 'vitest';
import { newSchema, type Place } from '../support/race/stores.ts';
import { sumsOn } from '../support/race/sums-story.ts';
import { describeWithPostgres } from '../support/services.ts';

describeWithPostgres('a process on PostgreSQL is killed right after its responses', (url) => {
  let place: Place;
  afterEach(() => place?.clear());

  // The other value has its turn on another store: a run takes minutes.
  it.each([true])(
    'the sums of records, activity, keys and workspace are one, as another instance recovers them (escrow: %s)',
    {
      timeout: 240_000,
    },
    async (escrow) => {
      place = newSchema(await url());
      await sumsOn(place.at, { escrow });
    },
  );
});
