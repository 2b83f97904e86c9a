import { afterEach, it } from 'vitest';
import { shareHealthOn } from '../support/race/health-story.ts';
import { newNamespace, type Place } from '../support/race/stores.ts';
import { describeWithRedis } from '../support/services.ts';

describeWithRedis('processes on one Redis', (url) => {
  let place: Place;
  afterEach(() => place?.clear());

  it('know how endpoints do with the others, within seconds, also with one that was killed', {
    timeout: 120_000,
  }, async () => {
    place = newNamespace(await url());
    await shareHealthOn(place.at);
  });
});
