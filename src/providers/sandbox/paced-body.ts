import type { ByteSource } from '../../base/bytes.ts';
import type { Clock } from '../../base/clock.ts';

/**
 * A part of a body and the time to send it, in milliseconds since the epoch; `Infinity`: never, the body stays open.
 */
export type BodyStep = { atMs: number; text: string } | { atMs: number; error: Error };

/** The most characters of steps that are due together and are sent together. */
const joinedCharacters = 16_384;

/**
 * A body that arrives in time. Steps that a slow reader has missed arrive together, as with a socket.
 * @param signal  its abort rejects the pending read and every later one with `signal.reason`
 */
export function pacedBody(clock: Clock, signal: AbortSignal, steps: Iterator<BodyStep, void>): ByteSource {
  const encoder = new TextEncoder();
  let next = steps.next();
  /** Ends the read that is waiting. */
  let wake: (() => void) | null = null;
  let cancelled = false;

  const onAbort = () => wake?.();
  const close = () => {
    cancelled = true;
    signal.removeEventListener('abort', onAbort);
    wake?.();
  };
  signal.addEventListener('abort', onAbort, { once: true });

  const waitUntil = (atMs: number) =>
    new Promise<void>((resolve) => {
      // Infinity has no timer: only an abort or a cancel ends it.
      const stop = atMs === Infinity ? () => {} : clock.after(atMs - clock.now(), () => wake?.());
      wake = () => {
        wake = null;
        stop();
        resolve();
      };
    });

  const takeDue = (): string => {
    let text = '';
    while (!next.done && 'text' in next.value && next.value.atMs <= clock.now() && text.length < joinedCharacters) {
      text += next.value.text;
      next = steps.next();
    }
    return text;
  };

  return {
    async read() {
      for (;;) {
        if (signal.aborted) throw signal.reason;
        if (cancelled) return null;
        if (next.done) {
          close();
          return null;
        }
        if (next.value.atMs > clock.now()) {
          await waitUntil(next.value.atMs);
          continue;
        }
        if ('error' in next.value) {
          const { error } = next.value;
          close();
          throw error;
        }
        const text = takeDue();
        if (text !== '') return encoder.encode(text);
      }
    },
    cancel: close,
  };
}
