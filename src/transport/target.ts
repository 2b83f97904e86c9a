import { UpstreamError } from '../base/http/upstream-error.ts';
import type { TransportRequest } from './transport.ts';

/** Every character that HTTP forbids in a field value (RFC 9110, section 5.5): line breaks, NUL, more than one byte. */
const unsendableValue = /[^\t\x20-\x7e\x80-\xff]/;
const headerName = /^[!#$%&'*+\-.^_`|~0-9a-zA-Z]+$/;

/** A checked URL, and the parts of it that a request needs. */
export interface Target {
  href: string;
  origin: string;
  /** The path with the query string. Of a request over a proxy without a tunnel, the complete address. */
  path: string;
  /** Names and values in turn, for a proxy that gets the request as a whole; absent: there is none. */
  proxyHeaders?: readonly string[];
}

const targets = new Map<string, Target>();
const maxTargets = 500;

/**
 * Finds mistakes of the configuration or of a credential before anything is sent. An HTTP client's own error for such a
 * mistake would hold the URL or the header value, key included.
 * @throws  UpstreamError fault `operator`: another credential or endpoint may work, a retry of this one will not
 */
export function checkTarget({ url, headers }: Pick<TransportRequest, 'url' | 'headers'>): Target {
  checkHeaders(headers);
  return targetOf(url);
}

/** Checks the headers only. undici checks headers itself, so its transport need not call this for each request. */
export function checkHeaders(headers: TransportRequest['headers']): void {
  for (const name in headers) {
    if (!headerName.test(name)) throw unsendable('a request header has an invalid name');
    if (unsendableValue.test(headers[name] as string)) {
      throw unsendable(`the request header ${name} holds a character that cannot be sent`);
    }
  }
}

/** Checks the URL only. */
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
  // URLs are few and repeat. None should hold a secret. If there are many after all, the map starts again from empty.
  if (targets.size >= maxTargets) targets.clear();
  const target = { href: url.href, origin: url.origin, path: url.pathname + url.search };
  targets.set(href, target);
  return target;
}

function unsendable(message: string): UpstreamError {
  return new UpstreamError(message, { reason: 'network', status: 502, fault: 'operator' });
}
