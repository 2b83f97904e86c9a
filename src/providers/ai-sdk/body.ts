import type { ByteSource } from '../../base/bytes.ts';
import { isObject } from '../../base/values.ts';
import { partText } from './wire.ts';

const encoder = new TextEncoder();

/** A complete body. */
export function textBody(text: string): ByteSource {
  let left: Uint8Array | null = encoder.encode(text);
  const take = () => {
    const bytes = left;
    left = null;
    return bytes;
  };
  return { read: async () => take(), cancel: take };
}

/**
 * Makes server-sent events of a model's stream of parts. A part is read only when the reader wants it.
 * @param signal  its abort rejects a waiting read, also where the model does not listen to it
 * @param stop    tells the model that the rest is not wanted, with the reason
 */
export function partsBody(
  stream: ReadableStream<unknown>,
  signal: AbortSignal,
  stop: (reason: unknown) => void,
): ByteSource {
  const reader = stream.getReader();
  let interrupt: ((reason: unknown) => void) | null = null;
  let isOver = false;
  /** true: the model has sent its last part, and only the end of its stream is left. */
  let hasFinished = false;
  const onAbort = () => {
    interrupt?.(signal.reason);
    close(signal.reason);
  };
  signal.addEventListener('abort', onAbort, { once: true });

  function close(reason: unknown): void {
    if (isOver) return;
    end();
    if (!hasFinished) stop(reason);
    // The model may have failed already.
    reader.cancel().catch(() => undefined);
  }

  function end(): void {
    isOver = true;
    signal.removeEventListener('abort', onAbort);
  }

  const next = () =>
    new Promise<ReadableStreamReadResult<unknown>>((resolve, reject) => {
      interrupt = reject;
      reader.read().then(resolve, reject);
    });

  return {
    async read() {
      for (;;) {
        if (signal.aborted) throw signal.reason;
        if (isOver) return null;
        let text: string | null;
        try {
          const { done, value } = await next();
          if (done) {
            end();
            return null;
          }
          text = partText(value);
          hasFinished = isObject(value) && value.type === 'finish';
        } catch (error) {
          close(error);
          throw error;
        }
        if (text !== null) return encoder.encode(`data: ${text}\n\n`);
      }
    },
    cancel: () => close(new DOMException('Nobody reads the response any more.', 'AbortError')),
  };
}
