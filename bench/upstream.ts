import { createServer, type Socket } from 'node:net';
import { chatAnswer, chatEvents } from './bodies.ts';
import { listen } from './listen.ts';
import { messageReader } from './read-message.ts';

/**
 * The model provider. It does not look at requests: the runner says what every answer is to be. Raw sockets: node:http
 * takes as long to write an event as the floor takes to forward it, and would be what is measured.
 */
type Mode = 'json' | 'stream' | 'idle';

let mode: Mode = 'json';
const json = Buffer.from(
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(chatAnswer)}\r\n\r\n${chatAnswer}`,
);
const [firstEvent = '', ...laterEvents] = chatEvents;
const streamStart = Buffer.from(
  `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n` +
    chunked(firstEvent),
);
const streamRest = laterEvents.map((event, at) =>
  Buffer.from(chunked(event) + (at === laterEvents.length - 1 ? '0\r\n\r\n' : '')),
);

/** Streams in flight, and how many of their events have been written. */
const open = new Map<Socket, number>();

const server = createServer({ noDelay: true }, (socket) => {
  const reader = messageReader('POST ');
  socket.on('data', (piece) => {
    if (reader.push(piece as Buffer)) answer(socket);
  });
  socket.on('close', () => open.delete(socket));
  // Whoever is measured closes its connections as it likes.
  socket.on('error', () => socket.destroy());
});

function answer(socket: Socket): void {
  if (mode === 'json') {
    socket.write(json);
    return;
  }
  socket.write(streamStart);
  // Idle: the first token has come, the next is long in coming.
  if (mode === 'idle') socket.write(streamRest[0] as Buffer);
  else {
    if (open.size === 0) setImmediate(writeTurn);
    open.set(socket, 0);
  }
}

/** One write an event, one event of each stream in turn: so each crosses on its own, as fast as the sockets take them. */
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

/** Commands of the process it runs in. */
export const upstreamCommands = {
  port: () => listen(server),
  mode(next: Mode): void {
    mode = next;
  },
};
