import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { FetchRefused } from '../../../src/call/fetch-url.ts';
import { isPublicAddress } from '../../../src/fetching/addresses.ts';
import { guardedConnection } from '../../../src/fetching/connection.ts';
import { type GuardedConnection, type GuardedResponse, guardedFetch } from '../../../src/fetching/guarded.ts';
import type { FetchingSettings } from '../../../src/schema/settings/settings.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { hostileNames, hostileUrls } from './hostile-urls.ts';

const settings: FetchingSettings = { maxRedirects: 3, timeoutMs: 1000, ports: [80, 443], allowedAddresses: [] };
const limits = { maxBytes: 1000, signal: new AbortController().signal };

/** Name servers as in `hostileNames`; servers as told. */
function network(respond: (url: URL) => Partial<GuardedResponse> & { text?: string }) {
  const connected: string[] = [];
  const connection: GuardedConnection = {
    async lookup(host) {
      const addresses = hostileNames[host];
      if (addresses === undefined) throw new Error('ENOTFOUND');
      return addresses;
    },
    async get(url, addresses) {
      connected.push(`${url.href} at ${addresses.join(' ')}`);
      const { text = '', ...rest } = respond(url);
      return { status: 200, headers: {}, body: bytesOf(text), cancel: () => undefined, ...rest };
    },
  };
  return { connection, connected };
}

async function* bytesOf(text: string) {
  yield new TextEncoder().encode(text);
}

const faultOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'fetched',
    (error) => (error instanceof FetchRefused ? error.fault : `${error}`),
  );

describe('a hostile URL', () => {
  it('is one of at least a hundred', () => {
    expect(new Set(hostileUrls).size).toBeGreaterThanOrEqual(100);
  });
  it.each(hostileUrls.map((url) => [url.slice(0, 80), url]))(
    'is refused before anybody connects: %s',
    async (_, url) => {
      const { connection, connected } = network(() => ({}));
      const fetchUrl = guardedFetch(connection, settings, systemClock);
      expect(await faultOf(fetchUrl(url, limits))).toMatch(/^(url|host)$/);
      expect(connected).toEqual([]);
    },
  );
  it.each(hostileUrls.filter((url) => /^\s*[a-z+\n]+:/i.test(url)).map((url) => [url.slice(0, 80), url]))(
    'is refused as the target of a redirect too: %s',
    async (_, location) => {
      const { connection, connected } = network(() => ({ status: 302, headers: { location } }));
      const fetchUrl = guardedFetch(connection, { ...settings, maxRedirects: 1 }, systemClock);
      const fault = await faultOf(fetchUrl('https://example.com/', limits));
      // `http:…` and `http:/…` mean a path of the same host in a redirect from http; from https, another URL.
      expect(fault).toMatch(/^(url|host)$/);
      expect(connected).toHaveLength(1);
    },
  );
  it('is told from one that does not exist by nobody', async () => {
    const { connection } = network(() => ({}));
    const fetchUrl = guardedFetch(connection, settings, systemClock);
    const messageOf = (url: string) => fetchUrl(url, limits).catch((error: Error) => error.message);
    const messages = await Promise.all(
      ['http://private.example/', 'http://nowhere.example/', 'http://10.0.0.1/'].map(messageOf),
    );
    expect(new Set(messages).size).toBe(1);
  });
});

describe('addresses', () => {
  it.each(['8.8.8.8', '93.184.216.34', '2606:2800:220:1:248:1893:25c8:1946', '2a00:1450:4001:81b::200e'])(
    'of the internet are public: %s',
    (address) => {
      expect(isPublicAddress(address)).toBe(true);
    },
  );
  it('that the operator allows can be reached, and no others', async () => {
    const { connection, connected } = network(() => ({ text: 'inside' }));
    const fetchUrl = guardedFetch(
      connection,
      { ...settings, allowedAddresses: ['192.168.7.0/24', '::1'] },
      systemClock,
    );
    expect(await faultOf(fetchUrl('http://private.example/', limits))).toBe('fetched');
    expect(await faultOf(fetchUrl('http://[::1]/', limits))).toBe('fetched');
    expect(await faultOf(fetchUrl('http://192.168.8.1/', limits))).toBe('host');
    expect(connected).toEqual(['http://private.example/ at 192.168.7.7', 'http://[::1]/ at ::1']);
  });
});

describe('a URL that may be fetched', () => {
  it('is asked for at the addresses that were checked', async () => {
    const { connection, connected } = network(() => ({
      text: 'a page',
      headers: { 'content-type': 'Text/HTML; charset="UTF-8"' },
    }));
    const file = await guardedFetch(connection, settings, systemClock)('https://example.com/a', limits);
    expect([new TextDecoder().decode(file.bytes), file.mediaType, file.charset, file.url]).toEqual([
      'a page',
      'text/html',
      'UTF-8',
      'https://example.com/a',
    ]);
    expect(connected).toEqual([`https://example.com/a at ${hostileNames['example.com']?.join(' ')}`]);
  });
  it('may redirect, to a path as well, but not for ever', async () => {
    const { connection } = network(({ pathname }) =>
      pathname === '/end'
        ? { text: 'end' }
        : { status: 301, headers: { location: pathname === '/' ? '/end' : '/loop' } },
    );
    const fetchUrl = guardedFetch(connection, settings, systemClock);
    expect((await fetchUrl('http://example.com/', limits)).url).toBe('http://example.com/end');
    expect(await faultOf(fetchUrl('http://example.com/loop', limits))).toBe('redirects');
  });
  it('is refused where the receiver does not want it, on redirects too', async () => {
    const { connection, connected } = network(() => ({ status: 302, headers: { location: '/other' } }));
    const fetchUrl = guardedFetch(connection, settings, systemClock);
    const isAllowed = (url: URL) => url.pathname === '/';
    expect(await faultOf(fetchUrl('http://example.com/', { ...limits, isAllowed }))).toBe('not_allowed');
    expect(connected).toHaveLength(1);
  });
  it.each<[string, Partial<GuardedResponse> & { text?: string }, string]>([
    ['a status that is no success', { status: 404 }, 'status'],
    ['another type', { headers: { 'content-type': 'image/png' } }, 'media_type'],
    ['no type', { headers: {} }, 'media_type'],
    [
      'a length that says too much',
      { headers: { 'content-type': 'text/html', 'content-length': '1001' } },
      'too_large',
    ],
    [
      'more than its length says',
      { headers: { 'content-type': 'text/html', 'content-length': '1' }, text: 'a'.repeat(1001) },
      'too_large',
    ],
  ])('is refused for %s', async (_, response, fault) => {
    let isCancelled = false;
    const cancel = () => {
      isCancelled = true;
    };
    const { connection } = network(() => ({ ...response, cancel }));
    const fetchUrl = guardedFetch(connection, settings, systemClock);
    expect(await faultOf(fetchUrl('http://example.com/', { ...limits, mediaTypes: ['text/*'] }))).toBe(fault);
    expect(isCancelled).toBe(true);
  });
  it('ends when it takes too long, and when the client leaves', async () => {
    const clock = manualClock();
    const { connection } = network(() => ({
      body: { [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => undefined) }) },
    }));
    const fetchUrl = guardedFetch(connection, settings, clock);
    const slow = faultOf(fetchUrl('http://example.com/', limits));
    await clock.advance(1000);
    expect(await slow).toBe('too_slow');
    const leaving = new AbortController();
    const left = faultOf(fetchUrl('http://example.com/', { ...limits, signal: leaving.signal }));
    leaving.abort(new Error('left'));
    expect(await left).toBe('Error: left');
  });
});

describe('over the network', () => {
  const servers: { close(): void; closeAllConnections(): void }[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });

  async function serve(handler: Parameters<typeof createServer>[1]) {
    const server = createServer(handler);
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  }
  const real = guardedConnection as GuardedConnection;
  const local = (port: number, connection: GuardedConnection = real) =>
    guardedFetch(
      connection,
      { ...settings, timeoutMs: 10_000, ports: [port], allowedAddresses: ['127.0.0.1'] },
      systemClock,
    );

  it('goes where the first look-up said, and looks up no second time', async () => {
    const port = await serve((request, response) => response.end(`for ${request.headers.host}`));
    let lookups = 0;
    // A name server that says another thing each time.
    const rebinding: GuardedConnection = {
      ...real,
      lookup: async () => (lookups++ === 0 ? ['127.0.0.1'] : ['127.0.0.2']),
    };
    const { bytes } = await local(port, rebinding)(`http://rebinding.example:${port}/`, limits);
    expect([new TextDecoder().decode(bytes), lookups]).toEqual([`for rebinding.example:${port}`, 1]);
  });
  it('inflates a body, as far as its limit goes', async () => {
    const port = await serve((request, response) => {
      const text = 'a'.repeat(request.url === '/bomb' ? 50_000_000 : 900);
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(text));
    });
    const fetchUrl = local(port);
    expect((await fetchUrl(`http://127.0.0.1:${port}/`, limits)).bytes).toHaveLength(900);
    expect(await faultOf(fetchUrl(`http://127.0.0.1:${port}/bomb`, limits))).toBe('too_large');
  });
  it('closes the connection when the client leaves', async () => {
    const leaving = new AbortController();
    const closed = Promise.withResolvers<void>();
    const port = await serve((request, response) => {
      response.writeHead(200).write('first');
      request.socket.once('close', () => closed.resolve());
      leaving.abort(new Error('left'));
    });
    expect(await faultOf(local(port)(`http://127.0.0.1:${port}/`, { ...limits, signal: leaving.signal }))).toBe(
      'Error: left',
    );
    await closed.promise;
  });
  it('says of a server that is not there only that', async () => {
    const port = await serve(() => undefined);
    for (const server of servers.splice(0)) server.close();
    expect(await faultOf(local(port)(`http://127.0.0.1:${port}/`, limits))).toBe('connection');
  });
});
