/** The rules that a browser keeps to on the page: no script, style or picture but those of the page itself. */
export const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  // The page names its own place, below any proxy.
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** Headers of every response of the console. */
const common = {
  'content-security-policy': contentSecurityPolicy,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
};

/** Gives a response of the gateway the headers of the console. */
export function withCommonHeaders(response: Response): Response {
  for (const [name, value] of Object.entries(common)) response.headers.set(name, value);
  return response;
}

/** Headers of what nobody may keep. */
const uncached = { ...common, 'cache-control': 'no-store' };

export function jsonResponse(body: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { ...uncached, 'content-type': 'application/json', ...headers },
  });
}

/** An error in the form of the gateway's own. */
export function errorResponse(
  status: number,
  errorType: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return jsonResponse({ error: { code: status, message, metadata: { error_type: errorType } } }, status, headers);
}

/** @param to  a path */
export function redirectResponse(to: string): Response {
  return new Response(null, { status: 308, headers: { ...uncached, location: to } });
}

/** @param isHead  true: without the text */
export function pageResponse(html: string, isHead: boolean): Response {
  return new Response(isHead ? null : html, {
    headers: { ...uncached, 'content-type': 'text/html; charset=utf-8' },
  });
}

/** An asset, whose name changes with its content. */
export function assetResponse(
  body: BodyInit | null,
  contentType: string,
  headers: Readonly<Record<string, string>>,
): Response {
  return new Response(body, {
    headers: {
      ...common,
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': contentType,
      vary: 'accept-encoding',
      ...headers,
    },
  });
}
