import { afterEach, it } from 'vitest';
import { newSchema, type Place } from '../support/race/stores.ts';
import { sumsOn } from '../support/race/sums-story.ts';
import { describeWithPostgres } from '../support/services.ts';

describeWithPostgres('a process on PostgreSQL is killed right after its responses', (url) => {
  let place: Place;
  afterEach(() => place?.clear());

  it('the sums of records, activity, keys and workspace are one, as another instance recovers them', {
    timeout: 240_000,
  }, async () => {
    place = newSchema(await url());
    await sumsOn(place.at);
  });
});
