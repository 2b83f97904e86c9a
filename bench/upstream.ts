import { createServer, type Socket } from 'node:net';
import { chatEvents, chatResponse } from './bodies.ts';
import { listen } from './listen.ts';
import { messageReader } from './read-message.ts';

/**
 * The model provider. It ignores the contents of requests: the runner sets the kind of all responses. It uses raw
 * sockets, because node:http takes as long to write an event as the floor takes to forward it, and would distort the
 * results.
 */
type Mode = 'json' | 'stream' | 'idle';

let mode: Mode = 'json';
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
  socket.on('data', (chunk) => {
    if (reader.push(chunk as Buffer)) respond(socket);
  });
  socket.on('close', () => open.delete(socket));
  // The measured server may close its connections at any time.
  socket.on('error', () => socket.destroy());
});

function respond(socket: Socket): void {
  if (mode === 'json') {
    socket.write(json);
    return;
  }
  socket.write(streamStart);
  // An idle stream gets its first token and nothing more.
  if (mode === 'idle') socket.write(streamRest[0] as Buffer);
  else {
    if (open.size === 0) setImmediate(writeTurn);
    open.set(socket, 0);
  }
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
  },
};
