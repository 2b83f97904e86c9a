import type { Duplex } from 'node:stream';
import type { buildConnector, Client } from 'undici';
import type { IsDirect } from './direct-hosts.ts';
import type { ProxyServer, ProxySettings } from './proxy-settings.ts';
import type { Target } from './target.ts';

/** The time a proxy has to open a tunnel, in ms: as long as undici gives a connection. */
const tunnelMs = 10_000;

/** A proxy did not open a tunnel. The code tells which failure it is; see `toUpstreamError`. */
export class ProxyFailure extends Error {
  readonly code: 'PROXY_AUTHENTICATION' | 'PROXY_REFUSED' | 'PROXY_UNREACHABLE';

  constructor(code: ProxyFailure['code'], cause?: unknown) {
    super('the proxy opened no tunnel', { cause });
    this.code = code;
  }
}

/** Leads requests over proxies. */
export interface Proxying {
  /**
   * Makes a connector for addresses beyond a proxy. For https, the proxy opens a tunnel, in which TLS begins: it sees the
   * host and the port, and no byte of a request.
   * @param tunnelsAll  true: it opens one for http too, as for a WebSocket, which no proxy passes on as a request
   */
  connector(direct: buildConnector.connector, tunnelsAll?: boolean): buildConnector.connector;
  /**
   * The target as it is asked for. A request for `http` goes to the proxy as a whole: many proxies open tunnels to the
   * port of https alone.
   */
  targetOf(target: Target): Target;
}

/** The number of targets that are remembered with their way. */
const maxTargets = 500;

/** @param Client  undici's */
export function proxying(settings: ProxySettings, isDirect: IsDirect, ClientOf: typeof Client): Proxying {
  const proxies = new Set([settings.http?.origin, settings.https?.origin]);
  const targets = new Map<Target, Target>();

  const overProxy = (target: Target): Target => {
    const { hostname, port, protocol, host } = new URL(target.origin);
    const { http } = settings;
    if (protocol !== 'http:' || http === null || isDirect(hostname, Number(port) || 80)) return target;
    const proxyHeaders = ['host', host];
    if (http.authorization !== null) proxyHeaders.push('proxy-authorization', http.authorization);
    return { href: target.href, origin: http.origin, path: target.href, proxyHeaders };
  };

  return {
    targetOf(target) {
      let way = targets.get(target);
      if (way === undefined) {
        way = overProxy(target);
        if (targets.size >= maxTargets) targets.clear();
        targets.set(target, way);
      }
      return way;
    },
    connector(direct, tunnelsAll = false) {
      return (options, callback) => {
        const { protocol, hostname } = options;
        const port = Number(options.port) || (protocol === 'https:' ? 443 : 80);
        const proxy = protocol === 'https:' ? settings.https : tunnelsAll ? settings.http : null;
        const isOfProxy = proxies.has(new URL(`${protocol}//${options.host ?? hostname}`).origin);
        if (proxy === null || isOfProxy || isDirect(hostname, port))
          return isOfProxy ? direct(options, asUnreachable(callback)) : direct(options, callback);
        const authority = `${hostname.includes(':') && !hostname.startsWith('[') ? `[${hostname}]` : hostname}:${port}`;
        openTunnel(proxy, authority, direct, ClientOf).then(
          (socket) =>
            protocol === 'https:'
              ? direct({ ...options, httpSocket: socket as never }, callback)
              : callback(null, socket as never),
          (error: Error) => callback(error, null),
        );
      };
    },
  };
}

function asUnreachable(callback: buildConnector.Callback): buildConnector.Callback {
  return (...[error, socket]) => {
    if (error === null) callback(null, socket as never);
    else callback(new ProxyFailure('PROXY_UNREACHABLE', error), null);
  };
}

/** @param authority  host and port of the provider @throws ProxyFailure */
async function openTunnel(
  proxy: ProxyServer,
  authority: string,
  connect: buildConnector.connector,
  ClientOf: typeof Client,
): Promise<Duplex> {
  const client = new ClientOf(proxy.origin, { connect, allowH2: false, headersTimeout: tunnelMs });
  try {
    const headers: Record<string, string> = { host: authority };
    if (proxy.authorization !== null) headers['proxy-authorization'] = proxy.authorization;
    const { statusCode, socket } = await client.connect({ path: authority, headers });
    if (statusCode >= 200 && statusCode < 300) return socket;
    // What the proxy says about its refusal is not read.
    socket.on('error', () => undefined).destroy();
    throw new ProxyFailure(statusCode === 407 ? 'PROXY_AUTHENTICATION' : 'PROXY_REFUSED');
  } catch (error) {
    throw error instanceof ProxyFailure ? error : new ProxyFailure('PROXY_UNREACHABLE', error);
  } finally {
    void client.close().catch(() => undefined);
  }
}
