import { afterEach, describe, expect, it } from 'vitest';
import { UpstreamError } from '../../../src/base/http/upstream-error.ts';
import { toUpstreamError } from '../../../src/transport/network-error.ts';
import type { Transport } from '../../../src/transport/transport.ts';
import { undiciTransport } from '../../../src/transport/undici.ts';
import { answer, type RawServer, rawServer, type Script } from '../../contract/transport/raw-server.ts';

// Whether a provider may have got a request decides whether it is paid for.

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

async function served(script: Script): Promise<RawServer> {
  const server = await rawServer(script);
  open.push(server);
  return server;
}

function transportOf(): Transport {
  const transport = undiciTransport();
  open.push({ close: async () => transport.close?.() });
  return transport;
}

function post(transport: Transport, url: string, mayRepeat?: boolean) {
  const controller = new AbortController();
  let isSent = false;
  const response = transport.send({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json' },
    body: '{}',
    signal: controller.signal,
    limits: { headerBytes: 32_768 },
    sending() {
      isSent = true;
    },
    ...(mayRepeat === undefined ? {} : { mayRepeat }),
  });
  return { response, controller, isSent: () => isSent };
}

const read = async (response: Promise<{ body: { read(): Promise<Uint8Array | null> } }>) => {
  const { body } = await response;
  while ((await body.read()) !== null);
};

describe('a request over undici', () => {
  it('says before its first byte that it leaves', async () => {
    let wasSent = false;
    const transport = transportOf();
    const server = await served(({ socket }) => {
      wasSent = sent.isSent();
      socket.write(answer('{}'));
    });
    const sent = post(transport, server.url);
    expect(sent.isSent()).toBe(false);
    await read(sent.response);
    expect([wasSent, sent.isSent()]).toEqual([true, true]);
  });
  it('says nothing where there is no connection', async () => {
    const server = await rawServer(() => undefined);
    await server.close();
    const sent = post(transportOf(), server.url);
    await expect(sent.response).rejects.toMatchObject({ isUnsent: true });
    expect(sent.isSent()).toBe(false);
  });
  it('says nothing where it is stopped while it waits for a connection', async () => {
    const server = await served(({ socket }) => socket.write(answer('{}')));
    const transport = transportOf();
    // Loads undici.
    await read(post(transport, server.url).response);
    const other = await served(() => undefined);
    const sent = post(transport, other.url);
    sent.controller.abort(new Error('left'));
    await expect(sent.response).rejects.toThrow('left');
    expect(sent.isSent()).toBe(false);
  });
  /** How many requests came over each connection, where one that was used before dies with the second. */
  async function dying(mayRepeat: boolean | undefined) {
    const server = await served((connection) => {
      if (connection.requests === 2) connection.socket.destroy();
      else connection.socket.write(answer('{}'));
    });
    const transport = transportOf();
    await read(post(transport, server.url, mayRepeat).response);
    // The connection goes back to its pool.
    await new Promise((resolve) => setImmediate(resolve));
    const failed = await read(post(transport, server.url, mayRepeat).response).catch((error: unknown) => error);
    return { failed, requests: server.connections.map(({ requests }) => requests) };
  }

  it('is sent again where its connection dies as if it had been idle', async () => {
    expect(await dying(undefined)).toEqual({ failed: undefined, requests: [2, 1] });
  });
  it('is not sent again where it must not be paid for twice', async () => {
    const { failed, requests } = await dying(false);
    expect([failed, requests]).toEqual([expect.any(UpstreamError), [2]]);
  });
});

describe('the error of a connection', () => {
  it.each<[boolean, object]>([
    [true, { code: 'ECONNREFUSED' }],
    [true, { code: 'ENOTFOUND' }],
    [true, { code: 'UND_ERR_CONNECT_TIMEOUT' }],
    [true, { code: 'CERT_HAS_EXPIRED' }],
    [true, { code: 'ETIMEDOUT', syscall: 'connect' }],
    [true, { cause: { errors: [{ code: 'EHOSTUNREACH', syscall: 'connect' }] } }],
    [false, { code: 'ETIMEDOUT', syscall: 'read' }],
    [false, { code: 'EHOSTUNREACH' }],
    [false, { code: 'ECONNRESET' }],
    [false, { code: 'UND_ERR_SOCKET' }],
    [false, {}],
  ])('says %s of whether nothing was sent: %o', (isUnsent, fields) => {
    expect(toUpstreamError(Object.assign(new Error('x'), fields)).isUnsent).toBe(isUnsent);
  });
});
