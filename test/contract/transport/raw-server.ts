import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';

/** One connection as the server sees it. */
export interface Connection {
  socket: Socket;
  /** Requests that have come over it whole. */
  requests: number;
  /** Resolves when the connection is gone, with `performance.now()`. */
  closed: Promise<number>;
}

export interface RawRequest {
  /** Request line and headers. */
  head: string;
  body: string;
}

export interface RawServer {
  url: string;
  port: number;
  connections: Connection[];
  close(): Promise<void>;
}

export type Script = (connection: Connection, request: RawRequest) => void;

/** A server on a free port that says, byte by byte, what `script` writes once a request has come whole. */
export async function rawServer(script: Script, tls?: { key: string; cert: string }): Promise<RawServer> {
  const connections: Connection[] = [];
  const accept = (socket: Socket) => {
    const { promise: closed, resolve } = Promise.withResolvers<number>();
    const connection: Connection = { socket, requests: 0, closed };
    connections.push(connection);
    // What the client does to the connection shows in `closed`.
    socket.on('error', () => {});
    socket.on('close', () => resolve(performance.now()));
    let received = '';
    socket.on('data', (data) => {
      received += data.toString('latin1');
      for (;;) {
        const end = received.indexOf('\r\n\r\n');
        if (end === -1) return;
        const head = received.slice(0, end);
        const length = Number(/^content-length: *(\d+)$/im.exec(head)?.[1] ?? 0);
        if (received.length < end + 4 + length) return;
        const body = Buffer.from(received.slice(end + 4, end + 4 + length), 'latin1').toString();
        received = received.slice(end + 4 + length);
        connection.requests++;
        script(connection, { head, body });
      }
    });
  };
  const server: Server = tls === undefined ? createServer(accept) : createTlsServer(tls, accept);
  // A handshake that fails is what some tests are about.
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}/v1/chat/completions`,
    port,
    connections,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const { socket } of connections) socket.destroy();
      await closed;
    },
  };
}

/** A whole answer with a declared length. */
export function answer(body: string | Uint8Array, headers: Record<string, string> = {}, status = '200 OK'): Buffer {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const lines = Object.entries({ 'content-type': 'application/json', ...headers, 'content-length': `${bytes.length}` });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status}\r\n${head}\r\n`, 'latin1'), bytes]);
}

/** The head of an answer whose length is not known beforehand. */
export function chunkedHead(headers: Record<string, string> = {}): string {
  const lines = Object.entries({ 'content-type': 'text/event-stream', ...headers, 'transfer-encoding': 'chunked' });
  return `HTTP/1.1 200 OK\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
}

export function chunk(data: string | Uint8Array): Buffer {
  const bytes = typeof data === 'string' ? Buffer.from(data) : data;
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}

export const lastChunk = '0\r\n\r\n';

/** Writes the pieces one after another, each in its own packet as far as the kernel lets us. */
export async function writePieces(socket: Socket, pieces: Iterable<string | Uint8Array>): Promise<void> {
  socket.setNoDelay(true);
  for (const piece of pieces) {
    if (socket.destroyed) return;
    await new Promise((resolve) => socket.write(piece, resolve));
    await new Promise(setImmediate);
  }
}

/** For 127.0.0.1, valid until 2126, worth nothing. Made by `openssl req -x509 -newkey ec -nodes -days 36500`. */
export const selfSigned = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgB/Lrq250FC/9KHNO
k/UMU+LRcReFxlNjLsaZ1F5numShRANCAATuUHYMSdMijun/qPtGb6Jac2KGmMNw
jk5cnkJShXjOdRV4E5g9xwA1jHUmAt7lygXKu6UC9YUdDx8afmUAICvM
-----END PRIVATE KEY-----`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBrTCCAVOgAwIBAgIUNR9xKRFM794rKM4JYxSATATulzgwCgYIKoZIzj0EAwIw
HTEbMBkGA1UEAwwSbW9kZWwtZ2F0ZXdheS10ZXN0MCAXDTI2MTEyMTE3MjM0MVoY
DzIxMjYxMDI4MTcyMzQxWjAdMRswGQYDVQQDDBJtb2RlbC1nYXRld2F5LXRlc3Qw
WTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATuUHYMSdMijun/qPtGb6Jac2KGmMNw
jk5cnkJShXjOdRV4E5g9xwA1jHUmAt7lygXKu6UC9YUdDx8afmUAICvMo28wbTAd
BgNVHQ4EFgQUX79H5QxrfKcDJC2qzMuWy/AgMJQwHwYDVR0jBBgwFoAUX79H5Qxr
fKcDJC2qzMuWy/AgMJQwDwYDVR0TAQH/BAUwAwEB/zAaBgNVHREEEzARhwR/AAAB
gglsb2NhbGhvc3QwCgYIKoZIzj0EAwIDSAAwRQIhAOsRBoyUbMwHi3s4/T3MPZzR
giTNZuMxlGRJ2OSZCuYIAiAzTPYlcY4FKH+thEzEIXozn/zL7Qm6Ro4rLPYtidzn
Tw==
-----END CERTIFICATE-----`,
};
