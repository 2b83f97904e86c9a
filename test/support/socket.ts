import type { HandleContext, SocketSession } from '../../src/index.ts';
import type { Loose } from './check-responses.ts';
import { type TestGateway, testKey } from './gateway.ts';

/** A client's side of a connection, without a network. */
export interface TestSocket {
  session: SocketSession;
  /** Every frame so far, parsed. */
  frames: Frame[];
  /** Null while it is open. */
  closed: { code: number; reason: string } | null;
  pings: number;
  send(frame: object | string | Uint8Array): void;
  /** Sends a `response.create`, and gives the frames up to the end of its response. */
  turn(fields: object): Promise<Frame[]>;
  /** Moves the clock until there is such a frame behind those that were read, and gives all up to it. */
  until(isLast: (frame: Frame) => boolean): Promise<Frame[]>;
}

export interface Frame extends Loose {
  stream_id?: string;
  headers?: Record<string, string>;
  steer: { id?: string; previous_response_id: string; input?: unknown };
  required_input: object[];
}

export interface SocketOptions {
  headers?: Record<string, string>;
  path?: string;
  context?: HandleContext;
  /** The result of each `send`: a promise where the client does not read. */
  room?: () => Promise<void> | undefined;
}

export const withKey = { authorization: `Bearer ${testKey}` };

export function handshake(tested: TestGateway, options: SocketOptions = {}) {
  const { headers = withKey, path = '/v1/responses', context } = options;
  const upgrade = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' };
  const request = new Request(`http://gateway.test${path}`, { headers: { ...upgrade, ...headers } });
  return tested.run(tested.gateway.upgrade(request, context));
}

export async function openSocket(tested: TestGateway, options: SocketOptions = {}): Promise<TestSocket> {
  const upgrade = await handshake(tested, options);
  if (upgrade.response !== null) throw new Error(`refused with ${upgrade.response.status}`);
  let read = 0;
  let arrived: () => void = nothing;
  const socket: Omit<TestSocket, 'session'> & { session?: SocketSession } = {
    frames: [],
    closed: null,
    pings: 0,
    send(frame) {
      const isRaw = typeof frame === 'string' || frame instanceof Uint8Array;
      socket.session?.message(isRaw ? frame : JSON.stringify(frame));
    },
    turn(fields) {
      socket.send({ type: 'response.create', model: 'acme/fast', ...fields });
      return socket.until(isEnd);
    },
    until: (isLast) =>
      tested.run(
        new Promise((resolve) => {
          const look = () => {
            const found = socket.frames.slice(read).findIndex(isLast);
            if (found < 0) return;
            arrived = nothing;
            const part = socket.frames.slice(read, read + found + 1);
            read += found + 1;
            resolve(part);
          };
          arrived = look;
          look();
        }),
      ),
  };
  socket.session = upgrade.open({
    send(text) {
      socket.frames.push(JSON.parse(text));
      arrived();
      return options.room?.();
    },
    close(code, reason) {
      socket.closed = { code, reason };
    },
    ping: () => void socket.pings++,
  });
  return socket as TestSocket;
}

function nothing(): void {}

/** The last frame of a turn. */
export const isEnd = ({ type }: { type: string }): boolean =>
  /^(?:response\.(?:completed|incomplete|failed)|error)$/.test(type);
