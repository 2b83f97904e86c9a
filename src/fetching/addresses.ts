import ipaddr from 'ipaddr.js';

type Address = ReturnType<typeof ipaddr.parse>;
type Range = readonly [Address, number];

/** Unicast addresses of services of the machine's own cloud: the wire server of Azure. */
const cloudServices: ReadonlySet<string> = new Set(['168.63.129.16']);

/** The range of all internet addresses in IPv6; the rest is reserved or local. */
const globalUnicast = ipaddr.parseCIDR('2000::/3') as Range;
/** The parts of `::5efe:a.b.c.d`, an interface that stands for an IPv4 address, behind any prefix (ISATAP). */
const isatapParts: ReadonlySet<string> = new Set(['0:5efe', '200:5efe']);

/**
 * Tells whether an address is one of the public internet. An address that contains an IPv4 address (mapped, 6to4,
 * NAT64, Teredo) never counts as public.
 */
export function isPublicAddress(text: string): boolean {
  const address = parsed(text);
  if (address === null || address.range() !== 'unicast') return false;
  if (address.kind() === 'ipv4') return !cloudServices.has(address.toString());
  const { parts } = address as InstanceType<typeof ipaddr.IPv6>;
  const carrier = `${(parts[4] as number).toString(16)}:${(parts[5] as number).toString(16)}`;
  return address.match(globalUnicast as never) && !isatapParts.has(carrier);
}

/**
 * Makes a test of addresses against ranges such as `10.1.0.0/16`, or single addresses. @throws Error for a text that is
 * no range
 */
export function addressTest(ranges: readonly string[]): (address: string) => boolean {
  const known = ranges.map((range) => (range.includes('/') ? ipaddr.parseCIDR(range) : wholeOf(range)) as Range);
  return (text) => {
    const address = parsed(text);
    return address !== null && known.some((range) => sameKind(address, range) && address.match(range as never));
  };
}

function wholeOf(text: string): Range {
  const address = ipaddr.parse(text);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

function sameKind(address: Address, [start]: Range): boolean {
  return address.kind() === start.kind();
}

/** Reads an address; null: the text is none. A zone, as in `fe80::1%eth0`, names an interface of this machine. */
function parsed(text: string): Address | null {
  return !text.includes('%') && ipaddr.isValid(text) ? ipaddr.parse(text) : null;
}
