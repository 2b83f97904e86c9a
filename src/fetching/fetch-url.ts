import { guardedConnection } from '#connection';
import type { Clock } from '../base/clock.ts';
import { lazily } from '../base/lazily.ts';
import { FetchRefused, type FetchUrl } from '../call/fetch-url.ts';
import type { FetchingSettings } from '../schema/settings/settings.ts';

/** The fetcher of this runtime. It is loaded with the first URL: most processes never fetch one. */
export function defaultFetchUrl(settings: FetchingSettings, clock: Clock): FetchUrl {
  const loaded = lazily(async () => {
    if (guardedConnection === null) throw new FetchRefused('unavailable');
    const { guardedFetch } = await import('./guarded.ts');
    return guardedFetch(guardedConnection, settings, clock);
  });
  return async (url, options) => (await loaded())(url, options);
}
