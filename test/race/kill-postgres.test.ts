import { afterEach, it } from 'vitest';
import { killOn } from '../support/race/kill-story.ts';
import { newSchema, type Place } from '../support/race/stores.ts';
import { describeWithPostgres } from '../support/services.ts';

describeWithPostgres('of four processes on one PostgreSQL', (url) => {
  let place: Place;
  afterEach(() => place?.clear());

  // The other value has its turn on another store: a run takes minutes.
  it.each([true])(
    'one is killed again and again: what it held is charged after the lease, and nothing is lost (escrow: %s)',
    { timeout: 240_000 },
    async (escrow) => {
      place = newSchema(await url());
      await killOn(place.at, { escrow });
    },
  );
});
