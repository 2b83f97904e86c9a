import { afterEach, it } from 'vitest';
import { shareHealthOn } from '../support/race/health-story.ts';
import { newSchema, type Place } from '../support/race/stores.ts';
import { describeWithPostgres } from '../support/services.ts';

describeWithPostgres('processes on one PostgreSQL', (url) => {
  let place: Place;
  afterEach(() => place?.clear());

  it('know how endpoints do with the others, within seconds, also with one that was killed', {
    timeout: 120_000,
  }, async () => {
    place = newSchema(await url());
    await shareHealthOn(place.at);
  });
});
