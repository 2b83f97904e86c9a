import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { beforeAll, beforeEach, expect } from 'vitest';
import { createGateway, type Gateway } from '../../src/gateway.ts';
import './late-parts.ts';
import type { GatewayOptions } from '../../src/options.ts';
import type { RequestRecord } from '../../src/telemetry/record.ts';
import { answer, type RawServer, rawServer, type Script } from '../contract/transport/raw-server.ts';
import { resultOf } from './hostile.ts';

/** The network of a gateway under attack: undici, and the global fetch as other runtimes have it. */
export const networks = [
  ['undici', {}],
  ['fetch', { fetch: globalThis.fetch }],
] as const satisfies readonly (readonly [string, Partial<GatewayOptions>])[];

export interface Attack {
  server: RawServer;
  gateway: Gateway;
  records: RequestRecord[];
  post(fields?: object): Promise<{ status: number; headers: Headers; text: string }>;
  /** As `post`, without reading the body. */
  open(fields?: object): Promise<Response>;
  close(): Promise<void>;
}

const key = 'hostile-test-key';
export const upstreamKey = 'sk-hostile-upstream-0123456789';

/** A gateway whose upstream is a server that answers, byte by byte, what the script writes. */
export async function attack(script: Script, options: Partial<GatewayOptions> = {}): Promise<Attack> {
  const server = await rawServer(script);
  const records: RequestRecord[] = [];
  const gateway = createGateway({
    providers: { up: { baseUrl: server.url.replace('/chat/completions', ''), apiKey: upstreamKey } },
    apiKeys: [{ key }],
    retry: { maxAttempts: 1 },
    onRecord: (record) => records.push(record),
    ...options,
  });
  const open: Attack['open'] = (fields) =>
    gateway.fetch('http://gateway.test/v1/chat/completions', {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'up/model', messages: [{ role: 'user', content: 'Hello' }], ...fields }),
    });
  return {
    server,
    gateway,
    records,
    open,
    async post(fields) {
      const response = await open(fields);
      return { status: response.status, headers: response.headers, text: await response.text() };
    },
    async close() {
      await gateway.close();
      await server.close();
    },
  };
}

/** Waits until it is so; turns of the event loop and not a clock, so that it takes no longer than it has to. */
export async function until(claim: () => boolean, what: string, maxMs = 3000): Promise<void> {
  const endMs = performance.now() + maxMs;
  while (!claim()) {
    if (performance.now() > endMs) throw new Error(`Not within ${maxMs} ms: ${what}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Timers that keep the process busy. */
export function timersNow(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
}

/** No timer and no socket is kept of an attack. @param idle  connections that may wait for the next request */
export async function expectQuiet(timersBefore: number, server: RawServer, idle = 0): Promise<void> {
  await until(
    () => server.connections.filter(({ socket }) => !socket.destroyed).length <= idle,
    `only ${idle} connections are left`,
  );
  await until(() => timersNow() <= timersBefore, 'no timer is left');
}

/** Bytes in use, inside the heap and outside, once all garbage is collected; takes some 50 ms. */
export function memoryNow(): number {
  collectGarbage();
  return usedBytes();
}

function usedBytes(): number {
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  return heapUsed + Math.max(external, arrayBuffers);
}

/** Nothing of what was used since is kept, but for what the runtime learned. */
export async function expectFreed(bytesBefore: number, bytes = 8e6): Promise<void> {
  let kept = memoryNow() - bytesBefore;
  // What a socket held is freed a few turns after it was closed.
  for (let turn = 0; turn < 20 && kept > bytes; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
    kept = memoryNow() - bytesBefore;
  }
  expect(kept).toBeLessThan(bytes);
}

/** The most memory, beyond what was used before, while a promise is pending. */
export async function peakOf<T>(promise: Promise<T>): Promise<{ value: T; peakBytes: number }> {
  const before = usedBytes();
  let peakBytes = 0;
  let pending = true;
  const watch = async () => {
    while (pending) {
      peakBytes = Math.max(peakBytes, usedBytes() - before);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  const watching = watch();
  try {
    return { value: await promise, peakBytes };
  } finally {
    pending = false;
    await watching;
  }
}

/**
 * What a flood of any length may cost while it is read: an event or a body at its limit, in bytes and as text, and its
 * copies.
 */
export const mostBytes = 200 * 1024 * 1024;

/**
 * For a file of attacks that cost memory: warms up what the first request loads for good, and notes before each test
 * what is in use.
 * @returns fails when a timer, a socket or memory is kept of an attack
 */
export function cooldownWatch(): (server: RawServer, idle?: number) => Promise<void> {
  let timers = 0;
  let bytes = 0;
  beforeAll(async () => {
    for (const [, options] of networks) {
      const warm = await attack(({ socket }) => void socket.write(answer(JSON.stringify(resultOf()))), options);
      await warm.post();
      await warm.close();
    }
  });
  beforeEach(() => {
    timers = timersNow();
    bytes = memoryNow();
  });
  return async (server, idle = 0) => {
    await expectQuiet(timers, server, idle);
    await expectFreed(bytes, 12e6);
  };
}
