/*
 * Response headers of an upstream. None of them is forwarded to the caller, so there is no list of allowed headers.
 * Cookies, request ids and organisation names belong to the operator's account at the provider. The X-RateLimit family
 * describes the operator's limits; towards the caller, these names are reserved for the gateway's own limits (interface
 * document, "Errors"). The gateway sets content type, length and encoding anew.
 */

/** Response headers as the `Transport` contract asks: lower-case names, repeated ones joined by ", ". */
export function joinHeaders(
  entries: Iterable<readonly [string, string | string[] | undefined]>,
): Record<string, string> {
  const joined: Record<string, string> = {};
  for (const [name, value] of entries) {
    // Assigning to `__proto__` would change the prototype instead of adding a header.
    if (value === undefined || name === '__proto__') continue;
    const text = typeof value === 'string' ? value : value.join(', ');
    joined[name] = Object.hasOwn(joined, name) ? `${joined[name]}, ${text}` : text;
  }
  return joined;
}

/** Like `joinHeaders`, for an object. Usually all its values are texts already; then returns the object itself. */
export function plainHeaders(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  for (const name in headers)
    if (typeof headers[name] !== 'string' || name === '__proto__') return joinHeaders(Object.entries(headers));
  return headers as Record<string, string>;
}

/** Removes the length and encoding of the compressed body: they do not describe the decompressed bytes. */
export function withoutEncoding(headers: Record<string, string>): Record<string, string> {
  const { 'content-encoding': _encoding, 'content-length': _length, ...rest } = headers;
  return rest;
}
