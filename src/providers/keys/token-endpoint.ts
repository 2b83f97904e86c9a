import type { StopSignal } from '../../base/async/stop.ts';
import { withSignal } from '../../base/async/within.ts';
import type { Clock } from '../../base/clock.ts';
import { parseRetryAfter } from '../../base/http/retry-after.ts';
import { parseJson } from '../../base/json.ts';
import { isOnOneLine } from '../../base/text/pasted-key.ts';
import { isObject } from '../../base/values.ts';
import { NoKeyError } from './api-key.ts';

/** A call of a token endpoint; the fields are as in `ClientCredentialsOptions`. */
export interface TokenRequest {
  tokenUrl: string;
  clientId: string;
  clientSecret: string;
  scope?: string | undefined;
  audience?: string | undefined;
  resource?: string | undefined;
  auth?: 'basic' | 'body' | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
  timeoutMs: number;
  fetch?: typeof fetch | undefined;
}

/** A token, with its lifetime from the start of the call on; null: the server did not say. */
export interface FetchedToken {
  token: string;
  expiresInMs: number | null;
}

/** The most bytes of a response: the largest tokens have some kilobytes. */
const mostBytes = 65_536;
const mostDepth = 10;
/** The longest lifetime that is believed. */
const longestMs = 365 * 24 * 60 * 60 * 1000;

/**
 * Calls a token endpoint, with the grant `client_credentials`. Follows no redirect: the secret would go along.
 * @param stop  ends the call
 * @throws NoKeyError that names the host and the reason, and shows nothing of the request, nor a text of the response;
 *         the reason of `stop`
 */
export function fetchToken(request: TokenRequest, clock: Clock, stop: StopSignal): Promise<FetchedToken> {
  const { tokenUrl, timeoutMs, fetch: own = fetch } = request;
  const host = URL.parse(tokenUrl)?.host ?? '';
  const late = (ms: number) => failure(`The token endpoint ${host} took longer than ${ms} ms`);
  return withSignal(clock, { signals: [stop], timeoutMs, late, isIdle: true }, async (signal) => {
    let response: Response;
    let text: string;
    try {
      response = await own(tokenUrl, { ...sentFor(request), redirect: 'manual', signal });
      text = await textOf(response);
    } catch {
      // The error of the network may quote a header.
      throw failure(`The token endpoint ${host} could not be reached`);
    }
    if (!response.ok) throw refused(response, text, host, clock.now());
    const found = tokenIn(text);
    if (typeof found === 'string') throw failure(`The token endpoint ${host} answered ${found}`);
    return found;
  });
}

function sentFor(request: TokenRequest): Pick<RequestInit, 'method' | 'body'> & { headers: Record<string, string> } {
  const { clientId, clientSecret, scope, audience, resource, auth = 'basic' } = request;
  const form = new URLSearchParams({ grant_type: 'client_credentials' });
  for (const [name, value] of Object.entries({ scope, audience, resource }))
    if (value !== undefined) form.set(name, value);
  const headers: Record<string, string> = {
    accept: 'application/json',
    'content-type': 'application/x-www-form-urlencoded',
    ...request.headers,
  };
  if (auth === 'basic') headers.authorization = `Basic ${btoa(`${encoded(clientId)}:${encoded(clientSecret)}`)}`;
  else {
    form.set('client_id', clientId);
    form.set('client_secret', clientSecret);
  }
  return { method: 'POST', headers, body: form.toString() };
}

/** Percent-encodes everything but letters, digits and `-._~`, as RFC 6749, section 2.3.1, wants of a Basic header. */
function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`);
}

/** @throws where the response breaks off, or is too long */
async function textOf({ body }: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let left = mostBytes;
  for await (const bytes of body ?? []) {
    left -= bytes.length;
    if (left < 0) throw new Error('The response is too long');
    text += decoder.decode(bytes, { stream: true });
  }
  return text + decoder.decode();
}

/** The error of a response with an error status, with the `error` of RFC 6749, section 5.2, where it has that form. */
function refused({ status, headers }: Response, text: string, host: string, nowMs: number): NoKeyError {
  const { error } = objectIn(text);
  const code = typeof error === 'string' && /^[a-z_]{1,40}$/.test(error) ? ` (${error})` : '';
  const pauseMs = parseRetryAfter(headers.get('retry-after') ?? undefined, nowMs);
  return failure(`The token endpoint ${host} answered with status ${status}${code}`, pauseMs);
}

/** @returns a text that says what is wrong with the response */
function tokenIn(text: string): FetchedToken | string {
  const { access_token: token, token_type: type, expires_in: seconds } = objectIn(text);
  if (typeof token !== 'string' || !isOnOneLine(token)) return 'without an access_token';
  if (typeof type === 'string' && type.toLowerCase() !== 'bearer') return 'with a token that is no bearer token';
  // Some servers send the number as a text.
  const lifetime = typeof seconds === 'string' && seconds.trim() !== '' ? Number(seconds) : seconds;
  if (typeof lifetime !== 'number' || !(lifetime >= 0)) return { token, expiresInMs: null };
  return { token, expiresInMs: Math.min(lifetime * 1000, longestMs) };
}

function objectIn(text: string): Record<string, unknown> {
  try {
    const body = parseJson(text, mostDepth);
    return isObject(body) ? body : {};
  } catch {
    // A page of HTML, or half a body: it says nothing.
    return {};
  }
}

function failure(message: string, pauseMs = 0): NoKeyError {
  return new NoKeyError(message, pauseMs);
}
