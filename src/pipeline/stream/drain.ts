import type { ByteSource } from '../../base/bytes.ts';
import type { Clock } from '../../base/clock.ts';

/** The most bytes of an upstream that are read after its end, so that its connection can be used again. */
const drainBytes = 16 * 1024;
/** The most time that this may take. */
const drainMs = 1000;

/**
 * Reads the few bytes that an upstream sends after its end: a connection that was read to its end can be used again.
 * @param close  lets go of the upstream; safe to call more than once
 */
export function drain(source: ByteSource, clock: Clock, close: () => void): void {
  const stop = clock.after(drainMs, close);
  const readOn = async () => {
    for (let left = drainBytes; left > 0; ) {
      const buffer = await source.read();
      if (buffer === null) break;
      left -= buffer.length;
    }
  };
  void readOn()
    // The response is complete. The end of its connection concerns nobody.
    .catch(() => undefined)
    .finally(() => {
      stop();
      close();
    });
}
