import { withSignal } from '../base/async/within.ts';
import { joinBytes } from '../base/bytes.ts';
import type { Clock } from '../base/clock.ts';
import { type FetchedFile, FetchRefused, type FetchUrl, type FetchUrlOptions } from '../call/fetch-url.ts';
import type { FetchingSettings } from '../schema/settings/settings.ts';
import { addressTest, isPublicAddress } from './addresses.ts';

/** The rules for URLs and addresses. */
interface UrlRules {
  ports: readonly number[];
  /** Tells whether an address may be reached. */
  mayReach: (address: string) => boolean;
}

/** Names that belong to this machine or its network, whatever a name server says. */
const localNames =
  /(?:^|\.)(?:localhost|local|localdomain|internal|intranet|lan|home|corp|private|home\.arpa|onion|test|invalid)$/;
const mostChars = 8192;

/** One response, whose redirect is not followed. */
export interface GuardedResponse {
  status: number;
  /** Lower-case names. */
  headers: Readonly<Record<string, string | undefined>>;
  /** The decompressed body. */
  body: AsyncIterable<Uint8Array>;
  /** Closes the connection. Does nothing if the body was read to its end. */
  cancel(): void;
}

export interface GuardedConnection {
  /** The addresses of a host. @throws any error: there are none */
  lookup(host: string): Promise<readonly string[]>;
  /**
   * Gets a URL over a connection to one of the addresses: no name is looked up again.
   * @throws any error: the server could not be reached
   */
  get(url: URL, addresses: readonly string[], signal: AbortSignal): Promise<GuardedResponse>;
}

/**
 * A fetcher that takes URLs which callers and models choose. Names are looked up once, every address is checked, and
 * the connection goes to a checked address; the same on each redirect.
 */
export function guardedFetch(connection: GuardedConnection, settings: FetchingSettings, clock: Clock): FetchUrl {
  const isAllowedAddress = addressTest(settings.allowedAddresses);
  const rules: UrlRules = {
    ports: settings.ports,
    mayReach: (address) => isPublicAddress(address) || isAllowedAddress(address),
  };
  return (url, options) => {
    const { timeoutMs } = settings;
    const limits = { timeoutMs, signals: [options.signal], late: () => new FetchRefused('too_slow') };
    return withSignal(clock, limits, (signal) => fetchFrom(url, { ...options, signal }));
  };

  async function fetchFrom(asked: string, options: FetchUrlOptions): Promise<FetchedFile> {
    let next = asked;
    let base: string | undefined;
    for (let redirects = 0; redirects <= settings.maxRedirects; redirects++) {
      const { url, address } = checkUrl(next, base, rules);
      if (options.isAllowed?.(url) === false) throw new FetchRefused('not_allowed');
      const addresses = address === null ? await addressesOf(url.hostname) : [address];
      const response = await connected(connection.get(url, addresses, options.signal), options.signal);
      const location = redirectOf(response);
      if (location === null) return await fileOf(url, response, options);
      response.cancel();
      next = location;
      base = url.href;
    }
    throw new FetchRefused('redirects');
  }

  /** The addresses of a host. All of them have to be public: a host with one private address has another purpose. */
  async function addressesOf(host: string): Promise<readonly string[]> {
    const addresses = await connection.lookup(host).catch(() => []);
    if (addresses.length === 0 || !addresses.every(rules.mayReach)) throw new FetchRefused('host');
    return addresses;
  }
}

async function connected<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await work;
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof FetchRefused ? error : new FetchRefused('connection', { cause: error });
  }
}

function redirectOf({ status, headers: { location } }: GuardedResponse): string | null {
  return [301, 302, 303, 307, 308].includes(status) && location !== undefined ? location : null;
}

async function fileOf(url: URL, response: GuardedResponse, options: FetchUrlOptions): Promise<FetchedFile> {
  const { maxBytes, mediaTypes, signal } = options;
  try {
    const { status, headers } = response;
    if (status !== 200 && status !== 203) throw new FetchRefused('status');
    const mediaType = (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
    if (mediaTypes !== undefined && !mediaTypes.some((wanted) => isOfType(mediaType, wanted)))
      throw new FetchRefused('media_type');
    if (Number(headers['content-length'] ?? 0) > maxBytes) throw new FetchRefused('too_large');
    const bytes = await connected(bytesOf(response.body, maxBytes), signal);
    const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(headers['content-type'] ?? '')?.[1] ?? null;
    return { url: url.href, mediaType, charset, bytes };
  } finally {
    response.cancel();
  }
}

function isOfType(mediaType: string, wanted: string): boolean {
  return wanted.endsWith('/*') ? mediaType.startsWith(wanted.slice(0, -1)) : mediaType === wanted;
}

async function bytesOf(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of body) {
    length += piece.length;
    if (length > maxBytes) throw new FetchRefused('too_large');
    pieces.push(piece);
  }
  return joinBytes(pieces);
}

/**
 * Reads a URL, and refuses it where no name server is needed for that.
 * @returns the URL, and its address where the host is one; null: the host is a name
 * @throws FetchRefused
 */
function checkUrl(text: string, base: string | undefined, { ports, mayReach }: UrlRules) {
  if (text.length > mostChars || !URL.canParse(text, base)) throw new FetchRefused('url');
  const url = new URL(text, base);
  const { protocol, username, password, port } = url;
  if ((protocol !== 'http:' && protocol !== 'https:') || username !== '' || password !== '')
    throw new FetchRefused('url');
  if (!ports.includes(port === '' ? usualPort(protocol) : Number(port))) throw new FetchRefused('url');
  const address = literalIn(url.hostname);
  if (address !== null) {
    if (!mayReach(address)) throw new FetchRefused('host');
  } else if (isLocalName(url.hostname)) throw new FetchRefused('host');
  return { url, address };
}

function usualPort(protocol: string): number {
  return protocol === 'http:' ? 80 : 443;
}

/**
 * The address in the host of a URL; null: the host is a name. A URL writes every IPv4 address in one form: `0x7f.1` is
 * `127.0.0.1`.
 */
function literalIn(host: string): string | null {
  if (host.startsWith('[')) return host.slice(1, -1);
  return /^\d+(?:\.\d+){3}\.?$/.test(host) ? host.replace(/\.$/, '') : null;
}

function isLocalName(host: string): boolean {
  const name = host.replace(/\.$/, '');
  return !name.includes('.') || localNames.test(name);
}
