/** The subprotocol by which a browser sends a key: it can set no header of a handshake. */
const keyProtocol = 'openai-insecure-api-key.';
/** Headers of the connection, which are none of the requests on it. */
const ofConnection = /^(?:connection|upgrade|sec-websocket-|content-|transfer-encoding|expect|keep-alive|te$|trailer)/;

/** Headers of every request of a connection, and the subprotocol that its handshake is answered with. */
export interface Handshake {
  headers: Headers;
  /** null: the client has offered none, or its key alone. */
  protocol: string | null;
}

/** Reads a handshake: a key in the subprotocols counts as the header `Authorization`, where there is none. */
export function readHandshake(given: Headers): Handshake {
  const headers = new Headers([...given].filter(([name]) => !ofConnection.test(name)));
  headers.set('content-type', 'application/json');
  const offered = (given.get('sec-websocket-protocol') ?? '').split(',').map((name) => name.trim());
  const key = offered.find((name) => name.startsWith(keyProtocol))?.slice(keyProtocol.length);
  if (key !== undefined && !headers.has('authorization')) headers.set('authorization', `Bearer ${key}`);
  return { headers, protocol: offered.find((name) => name !== '' && !name.startsWith(keyProtocol)) ?? null };
}

/** Makes the requests of a connection by HTTP. @param url  of its handshake, which ends in `/responses` */
export function requestsOf(url: string, { headers }: Handshake): (path: string) => Request {
  const { origin, pathname } = new URL(url);
  const base = origin + pathname.replace(/\/responses\/?$/, '');
  return (path) => new Request(base + path, { method: 'POST', headers });
}
