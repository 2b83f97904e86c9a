import { type Clock, systemClock } from '../../../src/base/clock.ts';
import { createGateway, type Gateway } from '../../../src/gateway.ts';
import type { GatewayOptions } from '../../../src/options.ts';
import type { StoreOption } from '../../../src/setup/stores.ts';
import { raceModels, raceProviders, raceTransport } from './upstream.ts';
import { twice } from './wrapped.ts';

export const raceManagementKey = 'sk-race-management-0123456789';

export interface MovableClock extends Clock {
  /** Goes on from there. */
  set(nowMs: number): void;
}

/** As fast as that of the system, and at another time: a race may then begin before any midnight. */
export function movableClock(nowMs: number): MovableClock {
  let offsetMs = nowMs - Date.now();
  return {
    now: () => Date.now() + offsetMs,
    monotonic: systemClock.monotonic,
    after: systemClock.after,
    set(to) {
      offsetMs = to - Date.now();
    },
  };
}

/** A gateway as a process of the race has it. Its upstreams are quick to fail and quick to be tried again. */
export function raceGateway(store: StoreOption, options: Partial<GatewayOptions> = {}): Gateway {
  return createGateway({
    store,
    providers: raceProviders,
    models: raceModels,
    plugins: [twice],
    apiKeys: [{ key: raceManagementKey, permissions: ['management'] }],
    secrets: { current: 'a master secret of the tests, which is long enough' },
    transport: raceTransport(),
    timeouts: { headersMs: 150, jsonHeadersMs: 150, firstEventMs: 150, idleMs: 150 },
    retry: { maxAttempts: 4, baseDelayMs: 1, maxDelayMs: 3, maxRetryAfterMs: 100, cooldownMs: 0 },
    // They fail all the time, and are to be asked all the same.
    health: { failuresToCooldown: 1_000_000 },
    ...options,
  });
}

/** A management request that has to succeed. */
export async function manage(gateway: Gateway, method: string, path: string, body?: object) {
  const response = await gateway.fetch(`http://gateway.test/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${raceManagementKey}`,
      ...(body ? { 'content-type': 'application/json' } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return JSON.parse(text);
}
