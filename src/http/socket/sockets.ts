import { type Clock, SteadyClock } from '../../base/clock.ts';
import { GatewayError } from '../../base/errors.ts';
import { generationId, type Ids } from '../../base/ids.ts';
import type { Loose } from '../../base/values.ts';
import type { Caller } from '../../call/call.ts';
import { responsesEncoder } from '../../formats/responses/encoder/index.ts';
import type { WebSocketSettings } from '../../schema/settings/web-sockets.ts';
import type { BodyLimits } from '../body.ts';
import type { HandleContext } from '../context.ts';
import type { Admit } from '../edge.ts';
import { readHandshake, requestsOf } from './handshake.ts';
import { createResponseMemory } from './memory.ts';
import { ResponsesSession, type SocketPeer, type SocketSession } from './session.ts';

/** The answer to a client that wants a WebSocket. */
export type SocketUpgrade =
  | {
      /** Sent instead of the upgrade: 401, 404, 426 and so on. */
      response: Response;
    }
  | {
      /** null: the client may connect. */
      response: null;
      /** The subprotocol to answer with; null: none. */
      protocol: string | null;
      /** Frames larger than that need not be taken, in bytes. */
      maxFrameBytes: number;
      /** Begins the session, once the connection is open. */
      open(peer: SocketPeer): SocketSession;
    };

export interface SocketsDeps {
  /** Authenticates a handshake; see `Edge`. */
  admit: Admit;
  handle: (connection: number, request: Request, context: HandleContext) => Promise<Response>;
  /** Learns that a connection has ended. */
  ended: (connection: number) => void;
  brand: string;
  /** false: what the specification demands, and is not known, is left out instead of null. */
  isWhole: boolean;
  /** true: responses are kept in the store where a workspace wants it. */
  keepsResponses: boolean;
  settings: WebSocketSettings;
  limits: BodyLimits;
  clock: Clock;
  ids: Ids;
}

export interface Sockets {
  /** Never rejects but for a wrong argument. */
  upgrade(request: Request, context?: HandleContext): Promise<SocketUpgrade>;
  /** The number of open connections. */
  count(): number;
  /** Ends all connections. */
  close(): void;
}

/** Opens the connections of clients that speak Responses over a WebSocket. */
export function createSockets(deps: SocketsDeps): Sockets {
  const { settings, limits, ids } = deps;
  const clock = new SteadyClock(deps.clock);
  const openMemory = createResponseMemory(settings.memoryBytes, clock);
  const sessions = new Map<number, ResponsesSession>();
  const byWorkspace = new Map<string, number>();
  let connections = 0;
  let isClosing = false;

  function checkRoom({ workspaceId }: Caller): void {
    if (sessions.size >= settings.connections)
      throw new GatewayError('unavailable', 'The gateway has as many WebSockets open as it may', {
        retryAfterMs: 1_000,
        metadata: { limit_connections: settings.connections },
      });
    if ((byWorkspace.get(workspaceId) ?? 0) >= settings.connectionsPerWorkspace)
      throw new GatewayError('rate_limited', 'The workspace has as many WebSockets open as it may; close one', {
        metadata: { limit_connections: settings.connectionsPerWorkspace },
      });
  }

  function prepared(body: Loose): string {
    const { brand, isWhole } = deps;
    const encoder = responsesEncoder({ brand, request: body, callForms: new Map(), clock, isWhole });
    const slugs = Array.isArray(body.models) ? body.models : [];
    const now = clock.now();
    const model = String(body.model ?? slugs[0] ?? '');
    const head = { id: generationId(ids, now), created: Math.floor(now / 1000), model, provider: '' };
    return encoder.finish(head, { usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 } });
  }

  return {
    async upgrade(request, context = {}) {
      const handshake = readHandshake(request.headers);
      const { headers, protocol } = handshake;
      const asked = new Request(request.url, { headers, signal: request.signal });
      const admitted = await deps.admit(asked, context, checkRoom);
      if (admitted instanceof Response) return { response: admitted };
      const { workspaceId } = admitted;
      const requestFor = requestsOf(request.url, handshake);
      const open = (peer: SocketPeer) => {
        const connection = ++connections;
        byWorkspace.set(workspaceId, (byWorkspace.get(workspaceId) ?? 0) + 1);
        const session = new ResponsesSession(
          {
            handle: (path, body, onLeave) =>
              deps.handle(connection, requestFor(path), {
                basePath: context.basePath,
                caller: context.caller,
                body,
                onLeave,
              }),
            prepared,
            memory: openMemory(workspaceId, connection),
            keepsResponses: deps.keepsResponses,
            settings,
            limits,
            clock,
            ids,
            ended() {
              deps.ended(connection);
              sessions.delete(connection);
              const left = (byWorkspace.get(workspaceId) ?? 1) - 1;
              if (left === 0) byWorkspace.delete(workspaceId);
              else byWorkspace.set(workspaceId, left);
            },
          },
          peer,
        );
        sessions.set(connection, session);
        // Others may have been opened since the handshake was looked at.
        const isFull =
          sessions.size > settings.connections ||
          (byWorkspace.get(workspaceId) ?? 0) > settings.connectionsPerWorkspace;
        if (isClosing || isFull) session.stop();
        return session;
      };
      return { response: null, protocol, maxFrameBytes: limits.bytes, open };
    },
    count: () => sessions.size,
    close() {
      isClosing = true;
      for (const session of [...sessions.values()]) session.stop();
    },
  };
}
