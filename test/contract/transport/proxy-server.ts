import { connect, createServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';

/** A proxy on a free port of this machine. It knows where the hosts of the tests are. */
export interface TestProxy {
  url: string;
  port: number;
  /** The first lines of what it was asked for, such as `CONNECT provider.test:443 HTTP/1.1`. */
  asked: string[];
  /** Every byte that came to it, as it came: of tunnels too. */
  seen(): string;
  /** Values of `Proxy-Authorization`, '' for none. */
  authorizations: string[];
  close(): Promise<void>;
}

interface Behaviour {
  /** Ports of this machine by host. */
  hosts: Readonly<Record<string, number>>;
  /** The head with which every request is refused, instead. */
  refusal?: string;
  /** Nothing is ever said. */
  isSilent?: boolean;
  tls?: { key: string; cert: string };
}

export async function testProxy({ hosts, refusal, isSilent, tls }: Behaviour): Promise<TestProxy> {
  const asked: string[] = [];
  const authorizations: string[] = [];
  const bytes: Buffer[] = [];
  const sockets = new Set<Socket>();

  const serve = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    let head = '';
    const onData = (data: Buffer) => {
      bytes.push(data);
      head += data.toString('latin1');
      const end = head.indexOf('\r\n\r\n');
      if (end === -1) return;
      socket.off('data', onData);
      socket.pause();
      const [line = '', ...fields] = head.slice(0, end).split('\r\n');
      asked.push(line);
      const authorization = fields.find((field) => /^proxy-authorization:/i.test(field)) ?? '';
      authorizations.push(authorization.replace(/^[^:]*: */, ''));
      if (isSilent) return;
      if (refusal !== undefined) {
        socket.end(refusal);
        return;
      }
      lead(socket, line, head, end);
    };
    socket.on('data', onData);
  };

  const lead = (socket: Socket, line: string, head: string, end: number) => {
    const [method, target = ''] = line.split(' ');
    const host = method === 'CONNECT' ? target.replace(/:\d+$/, '') : new URL(target).hostname;
    const port = hosts[host];
    if (port === undefined) {
      socket.end('HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n');
      return;
    }
    const onward = connect(port, '127.0.0.1', () => {
      if (method === 'CONNECT') socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      // What a proxy may not pass on.
      else onward.write(head.slice(0, end).replace(/\r\nproxy-authorization:[^\r]*/i, '') + head.slice(end), 'latin1');
      socket.on('data', (data: Buffer) => bytes.push(data));
      socket.pipe(onward);
      onward.pipe(socket);
    });
    sockets.add(onward);
    onward.on('error', () => socket.destroy()).on('close', () => socket.destroy());
    socket.on('close', () => onward.destroy());
  };

  const server = tls === undefined ? createServer(serve) : createTlsServer(tls, serve);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    port,
    asked,
    authorizations,
    seen: () => Buffer.concat(bytes).toString('latin1'),
    close() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** For `provider.test` and this machine, valid until 2126, worth nothing. Made by `openssl req -x509 -newkey ec`. */
export const ofProvider = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQghO3GJJ1BmgCWap05
QJ+t7LUncdBwhO7Yxp8Kyr7tkGOhRANCAATer8rWmOmmXns9o/i4zSokWsrNNXfB
GsM/8pGIXQ3+Xfo5zCBXJXDRJopXK7bRnUdbfyh3XkBx57iE0PQeOMys
-----END PRIVATE KEY-----`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBvDCCAWOgAwIBAgIUHZ7SZcJM0HLMujSyWO2SwNsEAwswCgYIKoZIzj0EAwIw
HTEbMBkGA1UEAwwSbW9kZWwtZ2F0ZXdheS10ZXN0MCAXDTI2MTEyNzA2MjA0NVoY
DzIxMjYxMTAzMDYyMDQ1WjAdMRswGQYDVQQDDBJtb2RlbC1nYXRld2F5LXRlc3Qw
WTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATer8rWmOmmXns9o/i4zSokWsrNNXfB
GsM/8pGIXQ3+Xfo5zCBXJXDRJopXK7bRnUdbfyh3XkBx57iE0PQeOMyso38wfTAd
BgNVHQ4EFgQU9ytBaMc3kU4AAvysBSK3V0fvW/EwHwYDVR0jBBgwFoAU9ytBaMc3
kU4AAvysBSK3V0fvW/EwDwYDVR0TAQH/BAUwAwEB/zAqBgNVHREEIzAhgg1wcm92
aWRlci50ZXN0ggpwcm94eS50ZXN0hwR/AAABMAoGCCqGSM49BAMCA0cAMEQCICLX
q2BHp8GFMglHj1SL/gV6tB5MOhe70lhm+bpb0Ps+AiBpZHC3pZ2Ulmw10co5fx+H
yB8uS+zr3bg7KHkkMvfygA==
-----END CERTIFICATE-----`,
};
