import { nextTurn } from '../../base/async/next-turn.ts';
import type { Clock } from '../../base/clock.ts';
import { EventFramer } from '../../base/http/sse.ts';
import type { Ids } from '../../base/ids.ts';
import { isObject, type Loose } from '../../base/values.ts';
import type { WebSocketSettings } from '../../schema/settings/web-sockets.ts';
import type { BodyLimits } from '../body.ts';
import type { HandleContext } from '../context.ts';
import { ofConversation, readFrame } from './client-frames.ts';
import {
  errorFrame,
  errorOf,
  eventOf,
  type FrameError,
  invalid,
  notFound,
  Refused,
  typeOf,
  unforeseen,
  withStreamId,
} from './frames.ts';
import type { Flight, Lane, Steer, Turn, WaitingFrame } from './lane.ts';
import { type Conversation, itemsOf, itemsText, joined, nothingSaid, type ResponseMemory } from './memory.ts';
import {
  answeredCall,
  inputItems,
  requiredInput,
  steerEvent,
  steerFailed,
  steerFault,
  steerRefusal,
} from './steering.ts';

/** The connection, as its host sees it. Nothing of it may throw. */
export interface SocketPeer {
  /** Sends a text frame. Returns a promise where the client reads too slowly: it settles when there is room again. */
  send(text: string): void | Promise<void>;
  /** Closes the connection. @param code  of RFC 6455, such as 1000 */
  close(code: number, reason: string): void;
  /** Sends a ping, which every client answers by itself. Absent: the host pings on its own, or cannot. */
  ping?(): void;
}

/** A connection of a client that speaks Responses over a WebSocket. The host passes on what it receives. */
export interface SocketSession {
  /** Takes a frame. Bytes are refused: the protocol has texts alone. */
  message(data: unknown): void;
  /** Learns that the client has answered a ping. */
  pong(): void;
  /** Takes no further turns, and closes the connection once nothing is being made on it: the host stops. */
  drain(): void;
  /** Ends what is being made, which is told that it is cut, and closes the connection. */
  stop(): void;
  /** Learns that the connection is closed: what is being made is stopped, as where a client leaves by HTTP. */
  closed(): void;
}

export interface SessionDeps {
  /** Serves one request of the connection, with all checks of a request by HTTP. */
  handle(
    path: '/responses' | '/responses/input_tokens',
    body: Loose,
    onLeave: HandleContext['onLeave'],
  ): Promise<Response>;
  /** Writes the events of a response that no model was asked for. */
  prepared(body: Loose): string;
  memory: ResponseMemory;
  /** true: a response that the connection does not know may be in the store. */
  keepsResponses: boolean;
  settings: WebSocketSettings;
  limits: BodyLimits;
  clock: Clock;
  ids: Ids;
  /** Called once, when the session has ended. */
  ended(): void;
}

const responseEvents = new Set(['response.created', 'response.in_progress', 'response.queued']);
/** Frames that a client may provoke without reading. */
const mostUnread = 1_000;
/** Requests that wait on one connection: each takes some memory and some work, however short it is. */
const mostWaiting = 10_000;
const ends = new Set(['response.completed', 'response.incomplete', 'response.failed', 'error']);

/** A connection is as old as it may get. */
const tooOld = {
  code: 1000,
  error: {
    status: 400,
    code: 'websocket_connection_limit_reached',
    message: 'The connection is as old as connections may get; open a new one and send the whole input',
    param: null,
  },
};
/** The host stops. @see RFC 6455, 7.4.1: 1001, going away */
const stopping: typeof tooOld = {
  code: 1001,
  error: {
    status: 503,
    code: 'provider_overloaded',
    message: 'The server stops; open a new connection and send the whole input',
    param: null,
  },
};

/** One connection. Each turn is a request of its own: it is authenticated, limited, held and settled as by HTTP. */
export class ResponsesSession implements SocketSession {
  readonly #deps: SessionDeps;
  readonly #peer: SocketPeer;
  readonly #lanes = new Map<string | null, Lane>();
  /** Input that waits for the results of the client's tools, by the response that asked for them. */
  readonly #queuedSteers = new Map<string, Steer[]>();
  #inFlight = 0;
  #waitingSize = 0;
  #unanswered = 0;
  /** Frames of the session itself that were sent while the client reads too slowly, and their characters. */
  #unread = 0;
  #unreadSize = 0;
  #isClosed = false;
  /** The reason why no further turns are taken; null: they are. */
  #last: typeof tooOld | null = null;
  #stopLife: () => void;
  #stopPing: () => void = () => undefined;

  constructor(deps: SessionDeps, peer: SocketPeer) {
    this.#deps = deps;
    this.#peer = peer;
    this.#stopLife = deps.clock.after(
      deps.settings.lifeMs,
      () => {
        this.#last = tooOld;
        this.#closeWhenIdle();
      },
      { isIdle: true },
    );
    if (peer.ping) this.#pingLater();
  }

  message(data: unknown): void {
    if (this.#isClosed) return;
    try {
      const frame = readFrame(data, this.#deps.limits);
      if (frame.type === 'response.steer') this.#steer(frame.fields, frame.size);
      else if (frame.type === 'response.create') this.#create(frame.turn, frame.streamId, data as string);
    } catch (error) {
      if (error instanceof Refused) this.#refuse(error.error, error.streamId);
      else this.#refuse(unforeseen(error), null);
    }
  }

  pong(): void {
    this.#unanswered = 0;
  }

  closed(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stopLife();
    this.#stopPing();
    for (const { flight, latest } of this.#lanes.values()) {
      flight?.leave();
      if (latest !== null) this.#deps.memory.delete(latest);
    }
    this.#lanes.clear();
    this.#queuedSteers.clear();
    this.#deps.ended();
  }

  drain(): void {
    this.#last = stopping;
    this.#closeWhenIdle();
  }

  stop(): void {
    this.drain();
    for (const { flight } of this.#lanes.values()) flight?.cut();
  }

  #create(turn: Turn, streamId: string | null, text: string): void {
    const { queueBytes } = this.#deps.settings;
    if (this.#last !== null) throw new Refused(this.#last.error, streamId);
    const limit =
      this.#waitingSize + turn.size > queueBytes
        ? `${queueBytes} bytes`
        : this.#waitingTurns() >= mostWaiting
          ? `${mostWaiting} requests`
          : null;
    if (limit !== null) {
      const message = `More than ${limit} wait on this connection; wait for a response`;
      throw new Refused({ status: 429, code: 'websocket_queue_limit_reached', message, param: null }, streamId);
    }
    const { waiting } = this.#laneOf(streamId);
    waiting.push(turn);
    this.#waitingSize += turn.size;
    this.#startNext();
    if (waiting.at(-1) === turn) waiting[waiting.length - 1] = { text, size: turn.size, steers: [] };
  }

  #waitingTurns(): number {
    let count = 0;
    for (const { waiting } of this.#lanes.values()) count += waiting.length;
    return count;
  }

  #laneOf(streamId: string | null): Lane {
    const known = this.#lanes.get(streamId);
    if (known !== undefined) return known;
    const { streams } = this.#deps.settings;
    if (streamId !== null && this.#lanes.size - (this.#lanes.has(null) ? 1 : 0) >= streams) {
      const message = `A connection has at most ${streams} named streams; open another connection`;
      const error = { status: 400, code: 'websocket_stream_limit_reached', message, param: 'stream_id' };
      throw new Refused(error, streamId);
    }
    const lane: Lane = { streamId, waiting: [], flight: null, latest: null };
    this.#lanes.set(streamId, lane);
    return lane;
  }

  /** Starts the first turn of each lane in which nothing is being made, the lanes in turn. */
  #startNext(): void {
    for (const [name, lane] of this.#lanes) {
      if (this.#inFlight >= this.#deps.settings.inFlight) return;
      if (lane.flight !== null) continue;
      const next = lane.waiting.shift();
      if (next === undefined) continue;
      const turn = 'text' in next ? this.#turnOf(next) : next;
      // Its next turn comes behind those of the others.
      this.#lanes.delete(name);
      this.#lanes.set(name, lane);
      this.#waitingSize -= turn.size;
      const nothing = () => undefined;
      const flight: Flight = {
        turn,
        responseId: null,
        steers: [],
        shift: 0,
        lastEvent: '',
        leave: nothing,
        cut: nothing,
        hasEnded: false,
      };
      lane.flight = flight;
      this.#inFlight++;
      void this.#run(lane, flight)
        .catch((error: unknown) => this.#fail(lane, flight, unforeseen(error)))
        .finally(() => {
          lane.flight = null;
          this.#inFlight--;
          if (this.#isClosed) return;
          this.#closeWhenIdle();
          // A turn that is refused waits for nothing: without a break, thousands of them would hold everybody else up.
          if (this.#waitingTurns() > 0) void nextTurn().then(() => this.#startNext());
        });
    }
  }

  /** Reads a frame once more that was checked when it came. */
  #turnOf({ text }: WaitingFrame): Turn {
    const frame = readFrame(text, this.#deps.limits);
    if (frame.type !== 'response.create') throw new Error(`A frame of the type ${frame.type} has waited for its turn`);
    return frame.turn;
  }

  async #run(lane: Lane, flight: Flight): Promise<void> {
    const { turn } = flight;
    const { previousId } = turn;
    const steers = [...(previousId === null ? [] : (this.#queuedSteers.get(previousId) ?? [])), ...turn.steers];
    if (previousId !== null) this.#queuedSteers.delete(previousId);
    for (const { size } of steers) this.#waitingSize -= size;
    const refuse = (error: FrameError) => this.#fail(lane, flight, error, steers);
    const earlier = previousId === null ? nothingSaid : this.#earlier(previousId);
    if (earlier === null) return refuse(notFound(previousId as string));
    const conversation = joined(
      earlier,
      itemsText(steers.flatMap(({ input }) => inputItems(input))),
      itemsText(inputItems(turn.body.input)),
    );
    const isAlone = previousId === null && steers.length === 0;
    const input = isAlone ? turn.body.input : itemsOf(conversation);
    // Of a stored response, the operation knows the calls.
    if (previousId !== null && earlier.base === null) {
      const unknown = unknownCall(input as unknown[]);
      if (unknown !== null) {
        const message = `No tool call found for the output with call_id "${unknown.slice(0, 100)}"`;
        return refuse(invalid(message, 'input'));
      }
    }
    const path = turn.generates ? '/responses' : '/responses/input_tokens';
    const { base } = earlier;
    const after = base === null ? {} : { previous_response_id: base };
    const body = { ...turn.body, input, ...after, ...(turn.generates ? { stream: true } : {}) };
    const response = await this.#deps.handle(path, body, (leave, cut) => {
      flight.leave = leave;
      flight.cut = cut;
      if (this.#isClosed) leave();
      return () => undefined;
    });
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
    if (response.status !== 200 || (turn.generates && !isStream)) {
      refuse(errorOf(response.status, response.headers, await response.text()));
    } else if (turn.generates) {
      await this.#forward(lane, flight, response.body as ReadableStream<Uint8Array>, conversation);
    } else {
      await response.body?.cancel();
      const prepared = new Response(this.#deps.prepared(body));
      await this.#forward(lane, flight, prepared.body as ReadableStream<Uint8Array>, conversation);
    }
  }

  /** The conversation up to a response; null: there is none. */
  #earlier(id: string): Conversation | null {
    const known = this.#deps.memory.get(id);
    return known ?? (this.#deps.keepsResponses ? { base: id, items: '' } : null);
  }

  /** Sends the events of a response as frames, no faster than the client reads. */
  async #forward(
    lane: Lane,
    flight: Flight,
    stream: ReadableStream<Uint8Array>,
    conversation: Conversation,
  ): Promise<void> {
    const reader = stream.getReader();
    let isWaiting = false;
    // The gateway gives up on a client that does not read: nothing can be said to it any more.
    reader.closed.catch(() => {
      if (isWaiting) this.#shut(1008, 'The client does not read');
    });
    const framer = new EventFramer(Number.POSITIVE_INFINITY);
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      framer.push(value);
      while (framer.next()) {
        const event = framer.read();
        if (event === null || event.data === '[DONE]') continue;
        const room = this.#pass(lane, flight, event.data, event.name || typeOf(event.data), conversation);
        isWaiting = room !== undefined;
        await room;
        isWaiting = false;
        if (this.#isClosed) return reader.cancel();
      }
      framer.release();
    }
    const message = 'The response was cut off before its end';
    this.#fail(lane, flight, { status: 502, code: 'provider_unavailable', message, param: null });
  }

  /** Sends an event as a frame, and learns from it. @returns  as `send` of the peer */
  #pass(lane: Lane, flight: Flight, json: string, type: string, conversation: Conversation): void | Promise<void> {
    const isEnd = ends.has(type);
    if (!isEnd && !responseEvents.has(type) && flight.shift === 0) {
      flight.lastEvent = json;
      return this.#send(withStreamId(json, lane.streamId));
    }
    const event = eventOf(json);
    if (typeof event.sequence_number === 'number') event.sequence_number += flight.shift;
    const { previousId } = flight.turn;
    const response = isObject(event.response) ? event.response : null;
    if (typeof response?.id === 'string') flight.responseId = response.id;
    if (response !== null && previousId !== null) response.previous_response_id = previousId;
    const text = previousId === null && flight.shift === 0 ? json : JSON.stringify(event);
    flight.lastEvent = text;
    const room = this.#send(withStreamId(text, lane.streamId));
    if (!isEnd || flight.hasEnded) return room;
    flight.hasEnded = true;
    if (response !== null && type !== 'response.failed') this.#keep(lane, flight, response, conversation);
    else this.#forget(lane, flight, 'response_not_active', 'The response failed');
    return room;
  }

  /** Keeps a response that the next turn may go on from, and takes up what the client has sent meanwhile. */
  #keep(lane: Lane, flight: Flight, { id, output, store }: Loose, conversation: Conversation): void {
    if (this.#isClosed || typeof id !== 'string') return;
    const { memory } = this.#deps;
    const items = Array.isArray(output) ? output : [];
    if (lane.latest !== null) {
      memory.delete(lane.latest);
      this.#giveBack(lane, flight, lane.latest);
    }
    lane.latest = id;
    // What is stored is read there, so that it counts no more once it was deleted. Of a conversation, the connection
    // knows the latest turn alone.
    if (store === true) memory.set(id, { base: id, items: '' });
    else if (!ofConversation(flight.turn.body)) memory.set(id, joined(conversation, itemsText(items)));
    const steers = flight.steers.splice(0);
    if (steers.length === 0) return;
    const required = requiredInput(items);
    if (required.length === 0) {
      const body = { ...flight.turn.body, input: [] };
      lane.waiting.unshift({ body, previousId: id, generates: true, size: 0, steers });
      return;
    }
    this.#queuedSteers.set(id, steers);
    const more = { reason: 'waiting_for_required_input', required_input: required };
    for (const steer of steers) this.#tell(lane, flight, steerEvent('pending', steer, more));
  }

  /** A turn that failed can be gone on from no more, and neither can the response before it. */
  #forget(lane: Lane, flight: Flight, code: string, message: string): void {
    const { previousId, steers } = flight.turn;
    if (previousId !== null) this.#deps.memory.delete(previousId);
    if (previousId !== null && lane.latest === previousId) lane.latest = null;
    this.#fails(lane, flight, flight.steers.splice(0), code, message);
    for (const steer of flight.responseId === null ? steers : [])
      this.#tell(lane, flight, steerFailed('successor_creation_failed', message, steer));
  }

  /** Gives input back that waits for results which can be sent no more. */
  #giveBack(lane: Lane, flight: Flight, responseId: string): void {
    const steers = this.#queuedSteers.get(responseId) ?? [];
    this.#queuedSteers.delete(responseId);
    this.#fails(lane, flight, steers, 'response_not_active', 'Another response has followed');
  }

  /** Gives input back that nobody has taken up. */
  #fails(lane: Lane, flight: Flight | null, steers: readonly Steer[], code: string, message: string): void {
    for (const steer of steers) {
      this.#waitingSize -= steer.size;
      this.#tell(lane, flight, steerFailed(code, message, steer));
    }
  }

  /** @param steers  input that the turn should have taken up */
  #fail(lane: Lane, flight: Flight, error: FrameError, steers: readonly Steer[] = flight.turn.steers): void {
    if (this.#isClosed || flight.hasEnded) return;
    flight.hasEnded = true;
    // A turn that the client did not send has failed as what it did send: its input comes back.
    if (flight.turn.steers.length === 0) this.#refuse(error, lane.streamId);
    const ofClient = steers.filter((steer) => !flight.turn.steers.includes(steer));
    for (const steer of ofClient)
      this.#tell(lane, flight, steerFailed('successor_creation_failed', error.message, steer));
    this.#forget(lane, flight, 'response_not_active', error.message);
  }

  #steer(fields: Loose, size: number): void {
    const { previous_response_id: responseId, input } = fields;
    const lane = [...this.#lanes.values()].find(({ flight }) => flight !== null && flight.responseId === responseId);
    const flight = lane?.flight ?? null;
    const isKept = typeof responseId === 'string' && this.#deps.memory.get(responseId) !== undefined;
    const hasRoom = this.#waitingSize + size <= this.#deps.settings.queueBytes;
    const refusal = steerFault(fields) ?? steerRefusal(flight, isKept, hasRoom);
    if (flight === null || refusal !== null) {
      const [code, message] = refusal ?? ['response_not_found', ''];
      this.#tell(lane ?? null, flight, steerFailed(code, message, { responseId, input }));
      return;
    }
    const id = `steer_${this.#deps.ids.uuid().replaceAll('-', '')}`;
    const steer: Steer = { id, responseId: responseId as string, input, size };
    flight.steers.push(steer);
    this.#waitingSize += size;
    this.#tell(lane ?? null, flight, steerEvent('accepted', steer));
  }

  /** Sends an event of the session itself, with a number between those of the response. */
  #tell(lane: Lane | null, flight: Flight | null, event: Loose): void {
    if (this.#isClosed) return;
    const before = flight === null ? undefined : eventOf(flight.lastEvent).sequence_number;
    const number = typeof before === 'number' ? before + 1 : 0;
    const streamId = lane?.streamId ?? null;
    const named = streamId === null ? {} : { stream_id: streamId };
    const text = JSON.stringify({ ...event, sequence_number: number, ...named });
    if (flight !== null) {
      flight.lastEvent = text;
      flight.shift++;
    }
    this.#say(text);
  }

  /** Sends a frame, unless nobody is there any more. */
  #send(text: string): void | Promise<void> {
    return this.#isClosed ? undefined : this.#peer.send(text);
  }

  /** Sends a frame that nothing waits for: a client that provokes many, and reads none, has to go. */
  #say(text: string): void {
    const room = this.#send(text);
    if (room === undefined) return;
    this.#unread++;
    this.#unreadSize += text.length;
    const isTooMuch = this.#unread > mostUnread || this.#unreadSize > this.#deps.settings.queueBytes;
    if (isTooMuch) this.#shut(1008, 'The client does not read');
    void room.then(() => {
      this.#unread = 0;
      this.#unreadSize = 0;
    });
  }

  #refuse(error: FrameError, streamId: string | null): void {
    this.#say(errorFrame(error, streamId));
  }

  /** Refuses the turns that wait, and closes when nothing is being made any more. */
  #closeWhenIdle(): void {
    if (this.#last === null || this.#isClosed) return;
    const { error, code } = this.#last;
    for (const lane of this.#lanes.values()) {
      for (const { steers } of lane.waiting.splice(0)) {
        if (steers.length === 0) this.#refuse(error, lane.streamId);
        else this.#fails(lane, null, steers, 'successor_creation_failed', error.message);
      }
    }
    if (this.#inFlight > 0) return;
    // Of a server that stops, the code tells enough: nothing was asked for.
    if (this.#last === tooOld) this.#refuse(error, null);
    this.#shut(code, error.message);
  }

  #pingLater(): void {
    this.#stopPing = this.#deps.clock.after(
      this.#deps.settings.pingMs,
      () => {
        if (this.#isClosed) return;
        // Two pings without an answer: nobody is there any more.
        if (this.#unanswered >= 2) {
          this.#shut(1011, 'The client does not answer');
          return;
        }
        this.#unanswered++;
        this.#peer.ping?.();
        this.#pingLater();
      },
      { isIdle: true },
    );
  }

  #shut(code: number, reason: string): void {
    if (this.#isClosed) return;
    this.#peer.close(code, reason);
    this.closed();
  }
}

/** Returns the call of an output that belongs to no call of the conversation; null: there is none. */
function unknownCall(items: readonly unknown[]): string | null {
  const calls = new Set<unknown>();
  for (const item of items) {
    const answered = answeredCall(item);
    if (answered !== null && !calls.has(answered)) return answered;
    if (answered === null) calls.add((item as Loose | null)?.call_id);
  }
  return null;
}
