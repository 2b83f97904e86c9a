/*
 * Response headers of an upstream. None of them is forwarded to the caller, so there is no list of those that may:
 * cookies, request ids and organisation names belong to the operator's account at the provider, the X-RateLimit family
 * describes the operator's limits and is, towards the caller, reserved for the gateway's own (interface document,
 * "Errors"), and content type, length and encoding are set anew by the gateway.
 */

/** Response headers as the contract has them: lower-case names, repeated ones joined by ", ". */
export function joinHeaders(
  entries: Iterable<readonly [string, string | string[] | undefined]>,
): Record<string, string> {
  const joined: Record<string, string> = {};
  for (const [name, value] of entries) {
    // Assigning to this one would change the prototype instead of adding a header.
    if (value === undefined || name === '__proto__') continue;
    const text = typeof value === 'string' ? value : value.join(', ');
    joined[name] = Object.hasOwn(joined, name) ? `${joined[name]}, ${text}` : text;
  }
  return joined;
}

/** The same of headers that are all texts already, as they usually are: then those themselves. */
export function plainHeaders(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  for (const name in headers)
    if (typeof headers[name] !== 'string' || name === '__proto__') return joinHeaders(Object.entries(headers));
  return headers as Record<string, string>;
}

/** The wire's length and encoding do not describe the decompressed bytes that are read. */
export function withoutEncoding(headers: Record<string, string>): Record<string, string> {
  const { 'content-encoding': _encoding, 'content-length': _length, ...rest } = headers;
  return rest;
}
