/**
 * Tells whether a page is of one of the domains. `example.com` also means its subdomains, `*.example.com` means
 * subdomains alone, and `example.com/blog` means the pages below the path.
 */
export function isOfDomains(url: URL, domains: readonly string[]): boolean {
  return domains.some((domain) => isOf(url, domain.toLowerCase()));
}

function isOf({ hostname, pathname }: URL, domain: string): boolean {
  const plain = domain.replace(/^https?:\/\//, '');
  const slash = plain.indexOf('/');
  const host = slash < 0 ? plain : plain.slice(0, slash);
  const path = slash < 0 ? '' : withoutEndSlash(plain.slice(slash));
  const name = hostname.toLowerCase().replace(/\.$/, '');
  const isHost = host.startsWith('*.') ? name.endsWith(host.slice(1)) : name === host || name.endsWith(`.${host}`);
  const lower = pathname.toLowerCase();
  return isHost && (path === '' || lower === path || lower.startsWith(`${path}/`));
}

function withoutEndSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}
