import { afterEach, it } from 'vitest';
import { killOn } from '../support/race/kill-story.ts';
import { newSchema, type Place } from '../support/race/stores.ts';
import { describeWithPostgres } from '../support/services.ts';

describeWithPostgres('of four processes on one PostgreSQL', (url) => {
  let place: Place;
  afterEach(() => place?.clear());

  it('one is killed six times over: what it held is charged after the lease, and nothing is lost', {
    timeout: 240_000,
  }, async () => {
    place = newSchema(await url());
    await killOn(place.at);
  });
});
