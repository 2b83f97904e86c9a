import { FetchRefused } from '../call/fetch-url.ts';

/** What URLs may be, and which addresses may be reached. */
export interface UrlRules {
  ports: readonly number[];
  /** Of addresses: whether it may be reached. */
  mayReach: (address: string) => boolean;
}

/** Names that are looked up on this machine or in its network, whatever a name server says. */
const localNames =
  /(?:^|\.)(?:localhost|local|localdomain|internal|intranet|lan|home|corp|private|home\.arpa|onion|test|invalid)$/;
const mostChars = 8192;

/**
 * Reads a URL, and refuses what no name server needs to be asked for.
 * @returns the URL, and its address where the host is one; null: the host is a name
 * @throws FetchRefused
 */
export function checkUrl(text: string, base: string | undefined, { ports, mayReach }: UrlRules) {
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

/** A URL writes IPv4 addresses in one form, whatever form they had: `0x7f.1` is `127.0.0.1`. */
function literalIn(host: string): string | null {
  if (host.startsWith('[')) return host.slice(1, -1);
  return /^\d+(?:\.\d+){3}\.?$/.test(host) ? host.replace(/\.$/, '') : null;
}

function isLocalName(host: string): boolean {
  const name = host.replace(/\.$/, '');
  return !name.includes('.') || localNames.test(name);
}
