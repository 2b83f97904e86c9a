import type { Clock } from '../../base/clock.ts';
import type { Storage } from './storage.ts';

/** The time for which a success counts: probes need no key, and each write costs the store a disk access. */
const trustedMs = 5_000;
/** Larger than what is left over in a page. */
const usual = 'x'.repeat(8_192);
/** A store with a full disk still writes over what it has: a refusal counts until so much more can be written. */
const large = 'x'.repeat(262_144);

/** Finds out whether a store takes writes. */
export interface WriteCheck {
  /** Writes a record of no meaning, unless that has just worked. @throws GatewayError unavailable (503) */
  check(storage: Storage): Promise<void>;
  /** Learns that the store has refused a write of somebody else. */
  refused(): void;
}

export function writeCheck(clock: Clock): WriteCheck {
  const at = { partition: 'readiness', kind: 'write-probe', id: 'probe' };
  let workedMs = Number.NEGATIVE_INFINITY;
  let refusals = 0;
  let wasRefused = false;
  return {
    async check(storage) {
      // What is in memory can always be written.
      if (storage.kind === 'memory') return;
      if (!wasRefused && clock.monotonic() - workedMs < trustedMs) return;
      const before = refusals;
      if (wasRefused) await storage.commit([{ at, value: large }]);
      await storage.commit([{ at, value: usual }]);
      // Further refusals may have come meanwhile.
      if (refusals === before) wasRefused = false;
      workedMs = clock.monotonic();
    },
    refused() {
      refusals++;
      wasRefused = true;
    },
  };
}
