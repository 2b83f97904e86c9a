import type { Clock } from '../../base/clock.ts';
import type { Endpoint } from '../../call/model.ts';
import type { EncodedRequest } from '../../dialects/dialect.ts';
import type { UpstreamSocketSettings } from '../../schema/settings/web-sockets.ts';
import { toUpstreamError } from '../../transport/network-error.ts';
import type { Transport, TransportRequest } from '../../transport/transport.ts';
import { byHttp, ofHandshake, SocketLink } from './link.ts';

/** The WebSockets to providers that are kept for the clients that speak over one themselves. */
export interface KeptSockets {
  /**
   * Returns a transport that sends the requests of a client's connection over one to the provider, and by HTTP where
   * there can be none.
   * @param connection  the number of the client's connection
   */
  transportFor(connection: number, endpoint: Endpoint, encoded: EncodedRequest, plain: Transport): Transport;
  /** Closes the connections that were kept for a client. */
  end(connection: number): void;
}

export interface KeptSocketsDeps {
  clock: Clock;
  settings: UpstreamSocketSettings;
  /** The most bytes of one frame of a provider. */
  frameBytes: number;
  /** Learns, once for each provider, that it opens no WebSocket. @param reason  in words of the gateway */
  reportRefused(providerSlug: string, reason: string): void;
}

export function createKeptSockets({ reportRefused, ...deps }: KeptSocketsDeps): KeptSockets {
  const byConnection = new Map<number, Map<string, SocketLink>>();
  const reported = new Set<string>();

  function linkFor(connection: number, { providerSlug, upstreamModel }: Endpoint, request: TransportRequest) {
    const links = byConnection.get(connection) ?? new Map<string, SocketLink>();
    byConnection.set(connection, links);
    // The credential is in the headers: another one has another connection.
    const key = JSON.stringify([providerSlug, upstreamModel, request.url, ofHandshake(request.headers)]);
    const known = links.get(key);
    if (known !== undefined) {
      // Behind the others: the one that was not used for the longest time gives way.
      links.delete(key);
      links.set(key, known);
      return known;
    }
    if (links.size >= deps.settings.perConnection) {
      const unused = [...links].find(([, { isFree }]) => isFree);
      if (unused === undefined) return null;
      links.delete(unused[0]);
      unused[1].end();
    }
    const link = new SocketLink({
      ...deps,
      failed(error) {
        if (reported.has(providerSlug)) return;
        reported.add(providerSlug);
        reportRefused(providerSlug, toUpstreamError(error).message);
      },
    });
    links.set(key, link);
    return link;
  }

  return {
    transportFor(connection, endpoint, { path, payload, body }, plain) {
      // A summary of a conversation is asked for at another path.
      if (plain.connect === undefined || payload.stream !== true || path !== '/responses') return plain;
      return {
        takesStopSignal: plain.takesStopSignal === true,
        reportsSending: true,
        send(request) {
          // A signature, or a change, of the body is for the request by HTTP alone.
          const link = request.body === body ? linkFor(connection, endpoint, request) : null;
          return link === null ? byHttp(request, plain) : link.send(request, payload, plain);
        },
      };
    },
    end(connection) {
      const links = byConnection.get(connection);
      byConnection.delete(connection);
      for (const link of links?.values() ?? []) link.end();
    },
  };
}
