import type { Clock } from '../../base/clock.ts';
import type { Storage } from './storage.ts';

/** The time for which a success counts: probes need no key, and each write costs the store a disk access. */
const trustedMs = 5_000;
/** Larger than what is left over in a page: a store with a full disk may still take a few bytes. */
const value = 'x'.repeat(8_192);

/** Finds out whether a store takes writes. */
export interface WriteCheck {
  /** Writes a record of no meaning, unless that has just worked. @throws GatewayError unavailable (503) */
  check(): Promise<void>;
}

export function writeCheck(storage: Storage, clock: Clock): WriteCheck {
  const at = { partition: 'readiness', kind: 'write-probe', id: 'probe' };
  let workedMs = Number.NEGATIVE_INFINITY;
  return {
    async check() {
      // What is in memory can always be written.
      if (storage.kind === 'memory' || clock.monotonic() - workedMs < trustedMs) return;
      await storage.commit([{ at, value }]);
      workedMs = clock.monotonic();
    },
  };
}
