import { connect, type Socket } from 'node:net';
import { type MessageReader, messageReader } from './read-message.ts';

/** The load generator: raw sockets, one request at a time on each, so that it costs little beside what it measures. */

export interface Target {
  port: number;
  apiKey: string;
  body: string;
  /** Texts that a whole, right answer holds: looked for in the first answer of every connection. */
  expect: readonly string[];
}

export interface RateQuestion extends Target {
  connections: number;
  durationMs: number;
}

export interface Rate {
  requests: number;
  elapsedMs: number;
  /** Reads it took: how many pieces the server sent, at most. */
  pieces: number;
}

interface Connection {
  /** Sends the request and waits for the whole answer. @throws Error for anything but a 200 of the usual size */
  exchange(): Promise<void>;
  reader: MessageReader;
  socket: Socket;
}

/** Kept from one round to the next, so that rounds can be short. */
const pools = new Map<string, Connection[]>();

/** Opens the connections of `rate` and sees to it that the answers are right. @returns how many requests that took */
async function open({ connections, durationMs: _, ...target }: RateQuestion): Promise<number> {
  const pool = await Promise.all(Array.from({ length: connections }, () => openConnection(target)));
  await Promise.all(pool.map((connection) => verify(connection, target.expect)));
  pools.set(poolKey(target), pool);
  return connections;
}

async function rate({ durationMs, ...target }: RateQuestion): Promise<Rate> {
  const pool = pools.get(poolKey(target));
  if (!pool) throw new Error('the connections are not open');
  const before = totals(pool);
  const start = performance.now();
  const endMs = start + durationMs;
  const work = async ({ exchange }: Connection) => {
    while (performance.now() < endMs) await exchange();
  };
  await Promise.all(pool.map(work));
  const elapsedMs = performance.now() - start;
  const after = totals(pool);
  return { requests: after.requests - before.requests, pieces: after.pieces - before.pieces, elapsedMs };
}

function poolKey({ port, body }: Target): string {
  return `${port} ${body}`;
}

function close(): void {
  for (const { socket } of [...pools.values()].flat()) socket.destroy();
  pools.clear();
}

let held: Connection[] = [];

/** One request after another on one connection. @returns how long each took, in milliseconds */
async function latencies({ count, ...target }: Target & { count: number }): Promise<number[]> {
  const connection = await openConnection(target);
  await verify(connection, target.expect);
  const taken: number[] = [];
  for (let sent = 0; sent < count; sent += 1) {
    const start = performance.now();
    await connection.exchange();
    taken.push(performance.now() - start);
  }
  connection.socket.destroy();
  return taken;
}

/** Opens streams and leaves them open once the first piece of each body has come. */
async function hold({ connections, ...target }: Target & { connections: number }): Promise<void> {
  held = await Promise.all(Array.from({ length: connections }, () => openConnection(target)));
  for (const { exchange } of held) exchange().catch(ignore);
  while (held.some(({ reader }) => reader.bytes === 0)) await new Promise((resolve) => setTimeout(resolve, 10));
}

function release(): void {
  for (const { socket } of held) socket.destroy();
  held = [];
}

async function openConnection({ port, apiKey, body }: Target): Promise<Connection> {
  const request = Buffer.from(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\n` +
      `authorization: Bearer ${apiKey}\r\nx-service-metadata: enabled\r\nuser-agent: bench\r\naccept: */*\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  const reader = messageReader('HTTP/1.1 200');
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  let settle: { resolve(): void; reject(error: Error): void } | null = null;
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  const fail = (error: Error) => {
    settle?.reject(error);
    settle = null;
  };
  socket.on('error', fail);
  socket.on('close', () => fail(new Error('the server closed the connection')));
  socket.on('data', (piece) => {
    try {
      if (!reader.push(piece as Buffer)) return;
      const done = settle;
      settle = null;
      done?.resolve();
    } catch (error) {
      fail(error as Error);
    }
  });
  let usualBytes = 0;
  const exchange = async () => {
    await new Promise<void>((resolve, reject) => {
      settle = { resolve, reject };
      socket.write(request);
    });
    // The first answer is looked at; the others are like it, but for the framing of their chunks.
    usualBytes ||= reader.latestBytes;
    if (Math.abs(reader.latestBytes - usualBytes) > usualBytes / 10) {
      throw new Error(`an answer of ${reader.latestBytes} bytes after one of ${usualBytes}`);
    }
  };
  return { exchange, reader, socket };
}

async function verify({ exchange, reader }: Connection, expect: readonly string[]): Promise<void> {
  const kept = reader.keep();
  await exchange();
  const text = kept().toString();
  const missing = expect.filter((part) => !text.includes(part));
  if (missing.length > 0) throw new Error(`an answer lacks ${missing.join(', ')}:\n${text.slice(0, 2000)}`);
}

function totals(connections: readonly Connection[]): Pick<Rate, 'requests' | 'pieces'> {
  const sum = (key: 'messages' | 'pieces') => connections.reduce((all, { reader }) => all + reader[key], 0);
  return { requests: sum('messages'), pieces: sum('pieces') };
}

function ignore(): void {}

/** Commands of the process it runs in. */
export const loadCommands = { open, rate, close, latencies, hold, release };
