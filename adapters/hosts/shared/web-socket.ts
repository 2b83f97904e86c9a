import type { SocketPeer, SocketSession, SocketUpgrade } from '../../../src/index.ts';

/** The part of a standard `WebSocket` that we use, on the side of a server. */
export interface ServerSocket {
  /** Sends a frame. */
  send(text: string): void;
  /** Closes the connection. */
  close(code: number, reason: string): void;
  /** The bytes that the client has not read. Absent: the runtime does not say. */
  readonly bufferedAmount?: number;
  /** Listens to an event. */
  addEventListener(type: 'open' | 'message' | 'close' | 'error', listener: (event: { data?: unknown }) => void): void;
}

/** So many bytes that a client has not read make its responses wait. */
const mostBuffered = 1024 * 1024;
/** The time after which is looked again whether a client has read. A standard `WebSocket` has no event for it. */
const lookMs = 50;

type Opening = Extract<SocketUpgrade, { response: null }>;

/**
 * Serves a client that has a standard `WebSocket`, once it is open. The runtime pings on its own, or not at all.
 * @param closed  called once, when the connection is closed
 */
export function serveSocket(socket: ServerSocket, { open }: Opening, closed: () => void = () => undefined): void {
  let isClosed = false;
  // One for all that wait: sixteen responses may be made at once.
  let room: Promise<void> | undefined;
  const hasRoom = () => isClosed || (socket.bufferedAmount ?? 0) <= mostBuffered;
  const peer: SocketPeer = {
    send(text) {
      if (isClosed) return;
      socket.send(text);
      if (hasRoom()) return;
      room ??= whenTrue(hasRoom).finally(() => {
        room = undefined;
      });
      return room;
    },
    close(code, reason) {
      if (!isClosed) socket.close(code, reason);
    },
  };
  const session: SocketSession = open(peer);
  socket.addEventListener('message', ({ data }) => session.message(data));
  const end = () => {
    if (isClosed) return;
    isClosed = true;
    session.closed();
    closed();
  };
  socket.addEventListener('close', end);
  socket.addEventListener('error', end);
}

function whenTrue(isTrue: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const look = () => void (isTrue() ? resolve() : setTimeout(look, lookMs));
    look();
  });
}
