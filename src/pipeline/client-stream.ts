import { CallAborted } from '../call/abort.ts';
import type { Call } from '../call/call.ts';
import type { PipelineDeps } from './deps.ts';
import type { Relay } from './relay.ts';

const encoder = new TextEncoder();

/** A failure to open is told by the pull that waits for it. */
const ignore = () => undefined;

/** The host's ends of a call. */
export interface CallControl {
  /** Stops the call: the client has cancelled the body. */
  abort: () => void;
  /** The body has ended, however. */
  ended: () => void;
}

/**
 * The body of a streamed answer: pulled, one hop, nothing buffered ahead. While the upstream is silent, comments keep
 * the connection alive.
 * @param opening  the relay, or what becomes one; when that fails, the text of the failure
 */
export function clientStream(
  deps: PipelineDeps,
  call: Call,
  opening: Relay | Promise<Relay>,
  failed: (error: unknown) => string | null,
  control: CallControl,
): ReadableStream<Uint8Array> {
  const { clock, keepAlive } = deps;
  let relay: Relay | null = opening instanceof Promise ? null : opening;
  let waiting = false;
  let lastSentMs = clock.now();
  let stopTicking: (() => void) | null = null;
  let ended = false;
  let body: ReadableStreamDefaultController<Uint8Array> | null = null;

  /** The client may leave before it reads on: then there must be something to stop. */
  function opened(late: Relay): void {
    relay ??= late;
    if (ended) late.stop();
  }

  function tick(controller: ReadableStreamDefaultController<Uint8Array>): void {
    if (ended) return;
    const silentMs = clock.now() - lastSentMs;
    if (silentMs >= keepAlive.everyMs) {
      // Only a client that waits is sent something: one that is slow has enough to read.
      if (waiting) controller.enqueue(encoder.encode(call.wire.keepAlive));
      lastSentMs = clock.now();
    }
    stopTicking = clock.after(Math.max(keepAlive.everyMs - (clock.now() - lastSentMs), 1), () => tick(controller));
  }

  function end(): void {
    if (ended) return;
    ended = true;
    stopTicking?.();
    control.ended();
    call.signal.removeEventListener('abort', onAbort);
  }

  function onAbort(): void {
    // A client that left reads no more, so nobody would notice: settle here. One that waits is told by its next read.
    const { reason } = call.signal;
    if (reason instanceof CallAborted && reason.why === 'client_left') {
      end();
      relay?.stop();
      // A client in this process may read on. An orderly end would make what it has look whole.
      body?.error(reason.cause ?? reason);
    }
  }

  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        body = controller;
        call.signal.addEventListener('abort', onAbort);
        stopTicking = clock.after(keepAlive.everyMs, () => tick(controller));
        if (relay === null) controller.enqueue(encoder.encode(call.wire.keepAlive));
        if (opening instanceof Promise) opening.then(opened, ignore);
      },
      async pull(controller) {
        waiting = true;
        try {
          for (;;) {
            relay ??= await opening;
            const bytes = await relay.next();
            if (ended) return;
            if (bytes === null) break;
            if (bytes.length === 0) continue;
            controller.enqueue(bytes);
            lastSentMs = clock.now();
            return;
          }
          end();
          controller.close();
        } catch (error) {
          if (ended) return;
          end();
          const text = failed(error);
          if (text === null) controller.error(error);
          else {
            controller.enqueue(encoder.encode(text));
            controller.close();
          }
        } finally {
          waiting = false;
        }
      },
      cancel() {
        end();
        control.abort();
        relay?.stop();
      },
    },
    { highWaterMark: 0 },
  );
}
