import { afterEach, beforeEach, describe } from 'vitest';
import type { ByteSource } from '../../../src/base/bytes.ts';
import type { Transport, TransportRequest, TransportResponse } from '../../../src/transport/transport.ts';
import { answerPromises } from './answers.ts';
import { connectionPromises } from './connections.ts';
import { failurePromises } from './failures.ts';
import { type RawServer, rawServer, type Script } from './raw-server.ts';

/** What one transport cannot do on Node, for reasons outside of it. Everything else holds for each. */
export interface Oddities {
  /** `100 Continue` that was not asked for is read over. */
  skips100: boolean;
  /** A request that meets a connection which died in the pool is sent again. */
  repeatsOnDeadConnection: boolean;
  /** A reset in a body without declared length is told from its end. */
  noticesResetWithoutLength: boolean;
  /** Compressed data that stops early in a body that is whole is told from its end. */
  noticesCutCompression: boolean;
}

/** What a test has at hand: a scripted server and the transport under test. */
export interface Bench {
  transport(): Transport;
  /** Starts a server that is closed after the test. */
  serve(script: Script, tls?: { key: string; cert: string }): Promise<RawServer>;
  /** Sends a POST with a small JSON body. */
  send(url: string, overrides?: Partial<TransportRequest>): Promise<TransportResponse>;
}

/** The promises of a Transport; each implementation's test calls this and adds its own oddities. */
export function transportContract(name: string, create: () => Transport, oddities: Oddities): void {
  describe(name, () => {
    let transport: Transport;
    let servers: RawServer[] = [];
    const bench: Bench = {
      transport: () => transport,
      async serve(script, tls) {
        const server = await rawServer(script, tls);
        servers.push(server);
        return server;
      },
      send: (url, overrides) => transport.send({ ...request(url), ...overrides }),
    };
    beforeEach(() => {
      transport = create();
      servers = [];
    });
    afterEach(async () => {
      await Promise.all(servers.map((server) => server.close()));
      await transport.close?.();
    });
    answerPromises(bench, oddities);
    failurePromises(bench, oddities);
    connectionPromises(bench, oddities);
  });
}

export function request(url: string): TransportRequest {
  return {
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json', authorization: 'Bearer sk-test-0123456789' },
    body: '{"model":"acme/fast"}',
    signal: new AbortController().signal,
    limits: { headerBytes: 32 * 1024 },
  };
}

export async function readAll(source: ByteSource): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for (let piece = await source.read(); piece !== null; piece = await source.read()) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** What a promise rejects with; fails when it does not. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    (value) => {
      throw new Error(`resolved with ${JSON.stringify(value)}`);
    },
    (error: unknown) => error,
  );
}
