import { connect, type Socket } from 'node:net';
import { markedUser, markOf, readerInStep } from './lock-step.ts';
import { type MessageReader, messageReader } from './read-message.ts';

/** The load generator: raw sockets with one request at a time, so that it needs little CPU compared to the servers. */

export interface Target {
  port: number;
  apiKey: string;
  body: string;
  /** Texts that a complete, correct response contains. The first response of every connection is checked for them. */
  expect: readonly string[];
}

export interface RateQuestion extends Target {
  connections: number;
  durationMs: number;
}

export interface Rate {
  requests: number;
  elapsedMs: number;
  /** Number of socket reads, an upper bound of the chunks that the server sent. */
  reads: number;
}

interface Connection {
  /** Sends the request and waits for the complete response. @throws Error unless it is a 200 of the usual size */
  exchange(): Promise<void>;
  reader: MessageReader;
  socket: Socket;
}

/** Connections stay open between rounds, so that rounds can be short. */
const pools = new Map<string, Connection[]>();

/** Opens the connections for `rate` and checks a response on each. @returns the number of requests sent */
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
  return { requests: after.requests - before.requests, reads: after.reads - before.reads, elapsedMs };
}

function poolKey({ port, body }: Target): string {
  return `${port} ${body}`;
}

function close(): void {
  for (const { socket } of [...pools.values()].flat()) socket.destroy();
  pools.clear();
}

let held: Connection[] = [];

/** Sends requests one after another on one connection. @returns the duration of each, in milliseconds */
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

/** Opens streams, waits for the first bytes of each body and leaves the streams open. */
async function hold({ connections, ...target }: Target & { connections: number }): Promise<void> {
  held = await Promise.all(Array.from({ length: connections }, () => openConnection(target)));
  for (const { exchange } of held) exchange().catch(ignore);
  while (held.some(({ reader }) => reader.bytes === 0)) await new Promise((resolve) => setTimeout(resolve, 10));
}

function release(): void {
  for (const { socket } of held) socket.destroy();
  held = [];
}

let opened = 0;

async function openConnection({ port, apiKey, body: common }: Target): Promise<Connection> {
  const mark = markOf(opened++ % 10_000);
  const body = common.replace(markedUser, mark);
  const request = Buffer.from(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\n` +
      `authorization: Bearer ${apiKey}\r\nx-service-metadata: enabled\r\nuser-agent: bench\r\naccept: */*\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  const reader = messageReader('HTTP/1.1 200');
  const inStep = readerInStep(mark);
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
  socket.on('data', (chunk) => {
    try {
      const isComplete = reader.push(chunk as Buffer);
      inStep(chunk as Buffer);
      if (!isComplete) return;
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
    // Only the first response is checked in full. The others may differ in the framing of chunks only.
    usualBytes ||= reader.latestBytes;
    if (Math.abs(reader.latestBytes - usualBytes) > usualBytes / 10) {
      throw new Error(`a response of ${reader.latestBytes} bytes after one of ${usualBytes}`);
    }
  };
  return { exchange, reader, socket };
}

async function verify({ exchange, reader }: Connection, expect: readonly string[]): Promise<void> {
  const kept = reader.keep();
  await exchange();
  const text = kept().toString();
  const missing = expect.filter((part) => !text.includes(part));
  if (missing.length > 0) throw new Error(`a response lacks ${missing.join(', ')}:\n${text.slice(0, 2000)}`);
}

function totals(connections: readonly Connection[]): Pick<Rate, 'requests' | 'reads'> {
  const sum = (key: 'messages' | 'reads') => connections.reduce((all, { reader }) => all + reader[key], 0);
  return { requests: sum('messages'), reads: sum('reads') };
}

function ignore(): void {}

/** The load generator's commands for `serveParent`. */
export const loadCommands = { open, rate, close, latencies, hold, release };
