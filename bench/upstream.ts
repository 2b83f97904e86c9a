import { createServer, type Socket } from 'node:net';
import { chatEvents, chatResponse } from './bodies.ts';
import { listen } from './listen.ts';
import { markIn, onRead } from './lock-step.ts';
import { messageReader } from './read-message.ts';

/**
 * The model provider. It ignores the contents of requests: the runner sets the kind of all responses. It uses raw
 * sockets, because node:http takes as long to write an event as the floor takes to forward it, and would distort the
 * results.
 */
type Mode = 'json' | 'stream' | 'idle' | { eventsPerChunk: number };

let mode: Mode = 'json';
/** The chunks of a stream in lock-step. */
let steps: readonly Buffer[] = [];
const json = Buffer.from(
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(chatResponse)}\r\n\r\n${chatResponse}`,
);
const [firstEvent = '', ...laterEvents] = chatEvents;
const streamStart = Buffer.from(
  `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n` +
    chunked(firstEvent),
);
const streamRest = laterEvents.map((event, at) =>
  Buffer.from(chunked(event) + (at === laterEvents.length - 1 ? '0\r\n\r\n' : '')),
);

/** Streams in flight, with the number of events written to each. */
const open = new Map<Socket, number>();

const server = createServer({ noDelay: true }, (socket) => {
  const reader = messageReader('POST ');
  let mark = '';
  socket.on('data', (chunk) => {
    if (typeof mode === 'object') mark = markIn(chunk as Buffer) ?? mark;
    if (reader.push(chunk as Buffer)) respond(socket, mark);
  });
  socket.on('close', () => open.delete(socket));
  // The measured server may close its connections at any time.
  socket.on('error', () => socket.destroy());
});

function respond(socket: Socket, mark: string): void {
  if (mode === 'json') {
    socket.write(json);
    return;
  }
  socket.write(streamStart);
  if (typeof mode === 'object') {
    // The gateway holds the first event, which has no token yet, until one comes.
    socket.write(steps[0] as Buffer);
    writeStep(socket, mark, 1);
    return;
  }
  // An idle stream gets its first token and nothing more.
  if (mode === 'idle') socket.write(streamRest[0] as Buffer);
  else {
    if (open.size === 0) setImmediate(writeTurn);
    open.set(socket, 0);
  }
}

/** Writes a chunk once the client has read the one before. */
function writeStep(socket: Socket, mark: string, at: number): void {
  onRead(mark, () => {
    if (at < steps.length - 1) writeStep(socket, mark, at + 1);
    socket.write(steps[at] as Buffer);
  });
}

/** The chunks of a stream: one for each event that it has, with that many events. */
function stepsOf(eventsPerChunk: number): readonly Buffer[] {
  const tokens = laterEvents.slice(0, -3).map((event) => chunked(event.repeat(eventsPerChunk)));
  // The finish, the usage and the end come at once, as from a model that is done. The gateway shows them together.
  const end = laterEvents.slice(-3).map(chunked).join('');
  return [...tokens, `${end}0\r\n\r\n`].map((step) => Buffer.from(step));
}

/** Writes one event to each stream. Each event is a separate write, as fast as the sockets accept them. */
function writeTurn(): void {
  for (const [socket, at] of open) {
    if (socket.writableLength > 0) continue;
    socket.write(streamRest[at] as Buffer);
    if (at === streamRest.length - 1) open.delete(socket);
    else open.set(socket, at + 1);
  }
  if (open.size > 0) setImmediate(writeTurn);
}

function chunked(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

/** The upstream's commands for `serveParent`. */
export const upstreamCommands = {
  port: () => listen(server),
  mode(next: Mode): void {
    mode = next;
    if (typeof next === 'object') steps = stepsOf(next.eventsPerChunk);
  },
};
