import type { Clock } from '../../base/clock.ts';
import { within } from '../../base/within.ts';
import type { Sealer } from '../vault.ts';

/** A sealer that answers within a time or rejects. For those that ask a service; a key ring needs no limit. */
export function limitSealer(sealer: Sealer, clock: Clock, timeoutMs: number): Sealer {
  const late = () => new Error(`The sealer took longer than ${timeoutMs} ms`);
  return {
    // Read anew each time: a service may change its key.
    get keyId() {
      return sealer.keyId;
    },
    seal: (dataKey, context) => within(clock, timeoutMs, () => sealer.seal(dataKey, context), late),
    open: (sealed, context) => within(clock, timeoutMs, () => sealer.open(sealed, context), late),
  };
}
