import { GatewayError } from '../base/errors.ts';
import type { Caller } from '../call/call.ts';

/** Refuses a request that a page of another site sends in the name of a user. @throws GatewayError permission_denied */
export type CheckSite = (request: Request, caller: Caller, isHandshake?: boolean) => void;

/** Methods that change nothing and spend nothing. */
const safe = new Set(['GET', 'HEAD']);

/**
 * Makes the check of where a request comes from. A browser adds the cookies of the host app to a request from a page of
 * any site, and asks nobody if the request is as simple as a form's. So, where the host app has named the caller, a
 * request that changes or spends something must not come from another origin. A bearer token, or a key in a header
 * of its own, is proof enough: no browser adds one by itself, and none sends such a header to another site unasked.
 *
 * Browsers tell in `Sec-Fetch-Site` where a request comes from, and otherwise in `Origin`. Other clients send neither
 * header, and have no cookies that a page could use.
 *
 * The handshake of a WebSocket is a GET, and carries requests that spend: it is checked like one of them.
 * @param isTrusted  tells whether pages of an origin may act for the users
 */
export function siteCheck(isTrusted: (origin: string) => boolean): CheckSite {
  return ({ method, headers, url }, { apiKeyHash }, isHandshake = false) => {
    if (
      apiKeyHash !== null ||
      (safe.has(method) && !isHandshake) ||
      /^bearer /i.test(headers.get('authorization') ?? '') ||
      headers.has('x-api-key') ||
      headers.has('x-goog-api-key')
    )
      return;
    const site = headers.get('sec-fetch-site');
    const origin = headers.get('origin');
    if (site === 'same-origin' || site === 'none' || (site === null && origin === null)) return;
    if (site === null && hostOf(origin) === (headers.get('host') ?? hostOf(url))) return;
    if (origin !== null && origin !== 'null' && isTrusted(origin)) return;
    throw new GatewayError(
      'permission_denied',
      'A page of another site must not act for a user of this app. ' +
        'If the page is yours, list its origin in the option trustedOrigins or cors.origins, or send an API key',
    );
  };
}

/** Host and port, without the scheme, which a proxy may have changed. null: the text is no URL */
function hostOf(url: string | null): string | null {
  return url === null ? null : (/^[a-z][a-z\d+.-]*:\/\/([^/?#]+)/i.exec(url)?.[1]?.toLowerCase() ?? null);
}
