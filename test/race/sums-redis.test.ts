import { afterEach, it } from 'vitest';
import { newNamespace, type Place } from '../support/race/stores.ts';
import { sumsOn } from '../support/race/sums-story.ts';
import { describeWithRedis } from '../support/services.ts';

describeWithRedis('a process on Redis is killed right after its responses', (url) => {
  let place: Place;
  afterEach(() => place?.clear());

  // The other value has its turn on another store: a run takes minutes.
  it.each([false])(
    'the sums of records, activity, keys and workspace are one, as another instance recovers them (escrow: %s)',
    {
      timeout: 240_000,
    },
    async (escrow) => {
      place = newNamespace(await url());
      await sumsOn(place.at, { escrow });
    },
  );
});
