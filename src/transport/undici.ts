import type { buildConnector, Pool } from 'undici';
import { decompress, type Inflaters } from './decompress.ts';
import { type Decode, type Dispatchers, exchange } from './exchange.ts';
import { withoutEncoding } from './headers.ts';
import type { ProxySettings } from './proxy-settings.ts';
import type { Proxying } from './proxy-tunnel.ts';
import { socketWatch } from './socket-watch.ts';
import { type Target, targetOf } from './target.ts';
import type {
  SocketListener,
  SocketRequest,
  Transport,
  TransportRequest,
  TransportResponse,
  UpstreamSocket,
} from './transport.ts';
import { loadUndici, type UndiciParts } from './undici-parts.ts';
import { openSocket } from './web-socket.ts';

/**
 * The time an idle connection is kept if the provider names none, in milliseconds. Model APIs are called in bursts with
 * pauses of seconds, and each new connection costs a TLS handshake. undici's own default is 4 seconds.
 */
const keepAliveMs = 30_000;

/** The number of remembered origins. The agent finds the pools of further origins. */
const maxPools = 500;

interface Loaded extends UndiciParts {
  decode: Decode;
  /** null: every provider is reached directly. */
  proxying: Proxying | null;
}

/** Tells whether the transport of this runtime goes over the proxies that it is given. */
export const takesProxies = true;
/** Tells whether the transport of this runtime opens WebSockets to providers. */
export const opensSockets = true;

/** The transport on Node: undici. @param proxies  null: every provider is reached directly */
export function defaultTransport(proxies: ProxySettings | null = null): Transport {
  return undiciTransport(proxies);
}

/**
 * A transport over undici. Connections are kept, and there are as many as requests in flight. The first request loads
 * undici. The caller sets time-outs with the signal. Only connecting has undici's own limit of 10 seconds. Proxies are
 * gone through by a connector, not by undici's `EnvHttpProxyAgent`: its pools hide from the watch what became of a
 * connection, and its `NO_PROXY` knows no ranges of addresses.
 */
export function undiciTransport(proxies: ProxySettings | null = null): Transport {
  let loaded: Loaded | null = null;
  const watch = socketWatch();
  // undici sets the header limit per agent. In practice there is one limit, and therefore one entry.
  const byHeaderBytes = new Map<number, Dispatchers & { close(): Promise<unknown> }>();

  const dispatchersFor = (headerBytes: number, { Agent, Pool, buildConnector, proxying }: Loaded): Dispatchers => {
    let dispatchers = byHeaderBytes.get(headerBytes);
    if (dispatchers === undefined) {
      const direct = buildConnector({ allowH2: false });
      const connect = proxying === null ? direct : proxying.connector(direct);
      const options = {
        allowH2: false,
        headersTimeout: 0,
        bodyTimeout: 0,
        keepAliveTimeout: keepAliveMs,
        maxHeaderSize: headerBytes,
        connect: ((target, callback) =>
          connect(target, (...result) => {
            // Contrary to its type, the socket is absent, not null, when the connection failed.
            if (result[1]) watch.add(result[1]);
            callback(...result);
          })) satisfies buildConnector.connector,
      };
      const pools = new Map<string, Pool>();
      const factory = (origin: string | URL, poolOptions: object) => {
        const pool = new Pool(origin, poolOptions);
        if (pools.size >= maxPools) pools.clear();
        pools.set(String(origin), pool);
        return pool;
      };
      const agent = new Agent({ ...options, factory });
      const fresh = new Agent({ ...options, pipelining: 0 });
      dispatchers = {
        // The agent makes pools and closes unused ones. It takes longer to find a pool than to use it.
        pooled(origin) {
          const pool = pools.get(origin);
          return pool === undefined || pool.closed || pool.destroyed ? agent : pool;
        },
        fresh,
        watch,
        close: () => Promise.all([agent.close(), fresh.close()]),
      };
      byHeaderBytes.set(headerBytes, dispatchers);
    }
    return dispatchers;
  };

  const sendLoaded = (request: TransportRequest, modules: Loaded): Promise<TransportResponse> => {
    const { signal } = request;
    if (signal.aborted) return Promise.reject(signal.reason);
    let target: Target;
    try {
      target = targetOf(request.url);
      if (modules.proxying !== null) target = modules.proxying.targetOf(target);
    } catch (error) {
      return Promise.reject(error);
    }
    return exchange(dispatchersFor(request.limits.headerBytes, modules), request, target, modules.decode);
  };

  const withLoaded = <Result>(use: (modules: Loaded) => Promise<Result>): Promise<Result> => {
    if (loaded !== null) return use(loaded);
    return load(proxies).then((modules) => {
      loaded = modules;
      return use(modules);
    });
  };

  // The same connector as of requests: the same rules for TLS, and the same proxies.
  const connect = (request: SocketRequest, listener: SocketListener): Promise<UpstreamSocket> =>
    withLoaded(({ buildConnector, proxying }) => {
      const direct = buildConnector({ allowH2: false });
      return openSocket(request, listener, proxying === null ? direct : proxying.connector(direct, true));
    });

  return {
    takesStopSignal: true,
    reportsSending: true,
    send(request) {
      if (loaded !== null) return sendLoaded(request, loaded);
      return withLoaded((modules) => sendLoaded(request, modules));
    },
    connect,
    // Idle connections close at once. The promise also waits for the exchanges in flight.
    async close() {
      const open = [...byHeaderBytes.values()];
      byHeaderBytes.clear();
      await Promise.all(open.map((dispatchers) => dispatchers.close()));
    },
  };
}

function decoded(response: TransportResponse, inflaters: Inflaters): TransportResponse {
  const encoding = response.headers['content-encoding'];
  if (encoding === undefined) return response;
  try {
    return {
      status: response.status,
      headers: withoutEncoding(response.headers),
      body: decompress(response.body, encoding, inflaters),
    };
  } catch (error) {
    response.body.cancel();
    throw error;
  }
}

async function load(proxies: ProxySettings | null): Promise<Loaded> {
  const [parts, zlib] = await Promise.all([loadUndici(), import('node:zlib')]);
  const inflaters: Inflaters = {
    gzip: () => zlib.createGunzip(),
    deflate: (firstByte) => ((firstByte & 0x0f) === 8 ? zlib.createInflate() : zlib.createInflateRaw()),
    br: () => zlib.createBrotliDecompress(),
  };
  return {
    ...parts,
    decode: (response) => decoded(response, inflaters),
    proxying: proxies === null ? null : await proxyingOver(proxies),
  };
}

async function proxyingOver(proxies: ProxySettings): Promise<Proxying> {
  const [{ Client }, { directHosts }, { proxying }] = await Promise.all([
    import('undici'),
    import('./direct-hosts.ts'),
    import('./proxy-tunnel.ts'),
  ]);
  return proxying(proxies, directHosts(proxies.noProxy), Client);
}
