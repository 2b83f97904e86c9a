import { within } from '../../base/async/within.ts';
import type { Clock } from '../../base/clock.ts';
import type { Sealer } from './index.ts';

/** A sealer that responds within a time, or rejects. For sealers that ask a service; a key ring needs no limit. */
export function limitSealer(sealer: Sealer, clock: Clock, timeoutMs: number): Sealer {
  const late = () => new Error(`The sealer took longer than ${timeoutMs} ms`);
  return {
    // A getter, because a service may change its key.
    get keyId() {
      return sealer.keyId;
    },
    seal: (dataKey, context) => within(clock, timeoutMs, () => sealer.seal(dataKey, context), late),
    open: (sealed, context) => within(clock, timeoutMs, () => sealer.open(sealed, context), late),
  };
}
