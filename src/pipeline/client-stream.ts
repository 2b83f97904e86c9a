import { type ByteSource, streamSource } from '../base/bytes.ts';
import { CallAborted } from '../call/abort.ts';
import type { Call } from '../call/call.ts';
import type { PipelineDeps } from './deps.ts';
import type { Relay } from './relay.ts';

const encoder = new TextEncoder();

/** The host's ends of a call. */
export interface CallControl {
  /** Stops the call: the client has cancelled the body. */
  abort: () => void;
  /** The body has ended, however. */
  ended: () => void;
}

/**
 * The body of a streamed answer: pulled, one hop, nothing buffered ahead. While the upstream is silent, comments keep
 * the connection alive. The stream names its source, which an adapter may read instead.
 * @param opening  the relay, or what becomes one; when that fails, the text of the failure
 */
export function clientStream(
  deps: PipelineDeps,
  call: Call,
  opening: Relay | Promise<Relay>,
  failed: (error: unknown) => string | null,
  control: CallControl,
): ReadableStream<Uint8Array> {
  const source = clientSource(deps, call, opening, failed, control);
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const piece = await source.read();
        if (piece === null) controller.close();
        else controller.enqueue(piece);
      },
      cancel: () => source.cancel(),
    },
    { highWaterMark: 0 },
  );
  return Object.assign(stream, { [streamSource]: source });
}

/** One read at a time, as a stream does it. */
interface Waiting {
  resolve: (piece: Uint8Array | null) => void;
  reject: (error: unknown) => void;
}

function clientSource(
  deps: PipelineDeps,
  call: Call,
  opening: Relay | Promise<Relay>,
  failed: (error: unknown) => string | null,
  control: CallControl,
): ByteSource {
  const { clock, keepAlive } = deps;
  let relay: Relay | null = opening instanceof Promise ? null : opening;
  /** Who waits for the next piece. */
  let waiting: Waiting | null = null;
  /** A piece is on its way; a comment may have served the one who asked for it. */
  let isFetching = false;
  /** A piece that came when nobody was waiting any more. */
  let ready: { piece: Uint8Array | null } | null = null;
  let broken: { error: unknown } | null = null;
  let ended = false;
  let lastSentMs = clock.now();
  let stopTicking = clock.after(keepAlive.everyMs, tick);

  call.signal.addEventListener('abort', onAbort);
  if (opening instanceof Promise) {
    ready = { piece: encoder.encode(call.wire.keepAlive) };
    opening.then(opened, () => {
      // A failure to open is told by the read that waits for it.
    });
  }

  /** The client may leave before it reads on: then there must be something to stop. */
  function opened(late: Relay): void {
    relay ??= late;
    if (ended) late.stop();
  }

  function tick(): void {
    if (ended) return;
    if (clock.now() - lastSentMs >= keepAlive.everyMs) {
      // Only a client that waits is sent something: one that is slow has enough to read.
      if (waiting) deliver(encoder.encode(call.wire.keepAlive));
      lastSentMs = clock.now();
    }
    stopTicking = clock.after(Math.max(keepAlive.everyMs - (clock.now() - lastSentMs), 1), tick);
  }

  function end(): void {
    if (ended) return;
    ended = true;
    stopTicking();
    control.ended();
    call.signal.removeEventListener('abort', onAbort);
  }

  function onAbort(): void {
    // A client that left reads no more, so nobody would notice: settle here. One that waits is told by its next read.
    const { reason } = call.signal;
    if (!(reason instanceof CallAborted) || reason.why !== 'client_left') return;
    // A client in this process may read on. An orderly end would make what it has look whole.
    breakOff(reason.cause ?? reason);
    relay?.stop();
  }

  function breakOff(error: unknown): void {
    end();
    broken = { error };
    waiting?.reject(error);
    waiting = null;
  }

  function deliver(piece: Uint8Array | null): void {
    if (waiting) {
      const { resolve } = waiting;
      waiting = null;
      resolve(piece);
    } else ready = { piece };
  }

  async function fetchNext(): Promise<void> {
    isFetching = true;
    try {
      relay ??= await opening;
      let piece: Uint8Array | null;
      do piece = await relay.next();
      while (piece !== null && piece.length === 0);
      isFetching = false;
      if (ended) return;
      if (piece === null) end();
      lastSentMs = clock.now();
      deliver(piece);
    } catch (error) {
      isFetching = false;
      if (ended) return;
      const text = failed(error);
      if (text === null) return breakOff(error);
      end();
      deliver(encoder.encode(text));
    }
  }

  return {
    read() {
      if (broken) return Promise.reject(broken.error);
      if (ready) {
        const { piece } = ready;
        ready = null;
        return Promise.resolve(piece);
      }
      if (ended) return Promise.resolve(null);
      const piece = new Promise<Uint8Array | null>((resolve, reject) => {
        waiting = { resolve, reject };
      });
      if (!isFetching) void fetchNext();
      return piece;
    },
    cancel() {
      if (ended) return;
      end();
      control.abort();
      relay?.stop();
      waiting?.resolve(null);
      waiting = null;
    },
  };
}
