import ipaddr from 'ipaddr.js';

/** Tells whether a host is reached without a proxy. @param hostname  as a URL writes it */
export type IsDirect = (hostname: string, port: number) => boolean;

/** One entry of `NO_PROXY`, as a test. */
type Rule = (host: string, address: ReturnType<typeof addressOf>, port: number) => boolean;

/**
 * Reads a list of hosts: names, which stand for their subdomains too, `*.example.com` and `.example.com` for those
 * alone and for both, addresses, ranges of addresses, each with a port or without, and `*` for everything. This machine
 * is always reached directly: its proxy could not find it under that name.
 */
export function directHosts(list: string): IsDirect {
  const rules = list
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .map(ruleOf);
  return (hostname, port) => {
    const host = bare(hostname);
    const address = addressOf(host);
    if (host === 'localhost' || host.endsWith('.localhost') || address?.range() === 'loopback') return true;
    return rules.some((matches) => matches(host, address, port));
  };
}

function ruleOf(entry: string): Rule {
  const range = rangeOf(entry);
  if (range !== null) return (_host, address) => address !== null && isWithin(address, range);
  const [, named = '', ownPort] = /^(\[.+\]|[^:]*|.*:.*:.*?)(?::(\d+))?$/.exec(entry) ?? [];
  // Of an address with many colons, the last group is not a port, unless brackets say so.
  const isBareV6 = !entry.startsWith('[') && entry.split(':').length > 2;
  const whole = isBareV6 ? entry : named;
  const port = isBareV6 || ownPort === undefined ? null : Number(ownPort);
  const fits = (asked: number) => port === null || port === asked;
  if (whole === '*') return (_host, _address, asked) => fits(asked);
  const own = addressOf(bare(whole));
  if (own !== null)
    return (_host, address, asked) => fits(asked) && address?.toNormalizedString() === own.toNormalizedString();
  const isBelowAlone = whole.startsWith('*.');
  const name = bare(whole.replace(/^\*?\./, ''));
  return (host, _address, asked) =>
    fits(asked) && ((!isBelowAlone && host === name) || (name !== '' && host.endsWith(`.${name}`)));
}

/** A host in lower case, without brackets and without the dot of a complete name. */
function bare(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/(.)\.$/, '$1');
}

/** null: the host is a name. IPv4 within IPv6 is IPv4. */
function addressOf(host: string) {
  return ipaddr.isValid(host) && (host.includes(':') || host.split('.').length === 4) ? ipaddr.process(host) : null;
}

function rangeOf(entry: string) {
  try {
    return entry.includes('/') ? ipaddr.parseCIDR(entry) : null;
  } catch {
    return null;
  }
}

function isWithin(address: NonNullable<ReturnType<typeof addressOf>>, range: ReturnType<typeof ipaddr.parseCIDR>) {
  return address.kind() === range[0].kind() && address.match(range);
}
