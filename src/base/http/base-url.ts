/** Names of query parameters whose value is a secret, such as a key, and not a version or a name. */
const secretName = /key|token|secret|signature|password|passwd|auth|credential|^(?:sig|code|pwd)$/i;

/**
 * The address of a dialect's path below a base address. The path goes before the query of the base address, which is
 * kept: `https://x.example/v1?api-version=2` and `/chat/completions` make
 * `https://x.example/v1/chat/completions?api-version=2`.
 * @param path  begins with a slash; may have a query of its own
 */
export function joinUrl(baseUrl: string, path: string): string {
  // The part after a # is never sent.
  const address = baseUrl.split('#', 1)[0] as string;
  const at = address.indexOf('?');
  if (at < 0) return withoutSlashes(address) + path;
  const query = address.slice(at + 1);
  const joined = withoutSlashes(address.slice(0, at)) + path;
  if (query === '') return joined;
  return `${joined}${path.includes('?') ? '&' : '?'}${query}`;
}

/** The base address without slashes at the end of its path. */
export function tidyUrl(baseUrl: string): string {
  return joinUrl(baseUrl, '');
}

/** The values of query parameters whose names say that they are secret, as written and decoded. */
export function secretsInUrl(baseUrl: string): string[] {
  const at = baseUrl.indexOf('?');
  if (at < 0) return [];
  const query = baseUrl.slice(at + 1).split('#', 1)[0] as string;
  const secrets = new Set<string>();
  for (const pair of query.split('&')) {
    const equals = pair.indexOf('=');
    if (equals < 0 || !secretName.test(pair.slice(0, equals))) continue;
    secrets.add(pair.slice(equals + 1));
    for (const value of new URLSearchParams(pair).values()) secrets.add(value);
  }
  secrets.delete('');
  return [...secrets];
}

function withoutSlashes(path: string): string {
  return path.replace(/(?<!\/)\/+$/, '');
}
