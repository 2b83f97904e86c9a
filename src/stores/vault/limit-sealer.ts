import type { Clock } from '../../base/clock.ts';
import type { Sealer } from '../vault.ts';

/** A sealer that answers within a time or rejects. For those that ask a service; a key ring needs no limit. */
export function limitSealer(sealer: Sealer, clock: Clock, timeoutMs: number): Sealer {
  function within<T>(ask: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const cancel = clock.after(timeoutMs, () => reject(new Error(`The sealer took longer than ${timeoutMs} ms`)));
      // It may throw at once instead of rejecting.
      new Promise<T>((done) => done(ask())).then(resolve, reject).finally(cancel);
    });
  }
  return {
    // Read anew each time: a service may change its key.
    get keyId() {
      return sealer.keyId;
    },
    seal: (dataKey, context) => within(() => sealer.seal(dataKey, context)),
    open: (sealed, context) => within(() => sealer.open(sealed, context)),
  };
}
