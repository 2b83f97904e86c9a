import { UpstreamError } from '../base/upstream-error.ts';
import type { TransportRequest } from './transport.ts';

/** What HTTP allows in a field value (RFC 9110, section 5.5): no line break, no NUL, nothing beyond one byte. */
const unsendableValue = /[^\t\x20-\x7e\x80-\xff]/;
const headerName = /^[!#$%&'*+\-.^_`|~0-9a-zA-Z]+$/;

/** A URL that was checked, and the parts of it that a request is made of. */
export interface Target {
  href: string;
  origin: string;
  /** With the query. */
  path: string;
}

const targets = new Map<string, Target>();
const maxTargets = 500;

/**
 * Checks what only a mistaken configuration or credential can get wrong, before anything is sent. A client's own error
 * for these holds the URL or the header value, key included.
 * @throws  UpstreamError fault `operator`: another credential or endpoint may do, the same again will not
 */
export function checkTarget({ url, headers }: TransportRequest): Target {
  checkHeaders(headers);
  return targetOf(url);
}

/** The half of `checkTarget` that a client may do by itself. */
export function checkHeaders(headers: TransportRequest['headers']): void {
  for (const name in headers) {
    if (!headerName.test(name)) throw unsendable('a request header has an invalid name');
    if (unsendableValue.test(headers[name] as string)) {
      throw unsendable(`the request header ${name} holds a character that cannot be sent`);
    }
  }
}

/** The other half. */
export function targetOf(href: string): Target {
  const known = targets.get(href);
  if (known) return known;
  const url = URL.parse(href);
  if (url === null) throw unsendable('the URL of the provider is not valid');
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw unsendable('the URL of the provider is neither http nor https');
  }
  if (url.username !== '' || url.password !== '') {
    throw unsendable('the URL of the provider holds a user name or password: use a header');
  }
  // Few, and the same again and again. None should hold a secret; if there are many after all, start anew.
  if (targets.size >= maxTargets) targets.clear();
  const target = { href: url.href, origin: url.origin, path: url.pathname + url.search };
  targets.set(href, target);
  return target;
}

function unsendable(message: string): UpstreamError {
  return new UpstreamError(message, { reason: 'network', status: 502, fault: 'operator' });
}
