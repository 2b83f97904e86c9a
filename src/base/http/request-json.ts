import { parseJson } from '../json.ts';
import { createRedactor, type Redactor } from '../secrets.ts';

export interface JsonRequest {
  url: string;
  /** Lower-case names. A key among them goes to this address alone: redirects are not followed. */
  headers: Readonly<Record<string, string>>;
  /** Sent by POST as JSON. Absent: the request is a GET. */
  body?: unknown;
  /** The most bytes of the response. */
  maxBytes: number;
  signal: AbortSignal;
  /** Default: the global `fetch`. */
  fetch?: typeof fetch | undefined;
}

const maxDepth = 100;

/** The number of characters of a response that are searched for the key at a time. */
const pieceCharacters = 65_536;
/** The length of a character of a key that is escaped as `\\u00..`. */
const escapedCharacters = 6;

/**
 * Sends a request to a service of the operator that returns JSON. If the service sends back a key of the headers, the
 * key is redacted.
 * @throws Error that shows nothing of the request for a status that is no success, and for a response that is too long
 *         or no JSON; the reason of the signal; the error of `fetch`
 */
export async function requestJson({ url, headers, body, maxBytes, signal, fetch: own }: JsonRequest): Promise<unknown> {
  const sent =
    body === undefined
      ? { method: 'GET', headers: { accept: 'application/json', ...headers } }
      : { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) };
  const redactor = createRedactor(Object.values(headers).map((value) => value.replace(/^Bearer /, '')));
  const response = await (own ?? fetch)(url, { ...sent, redirect: 'error', signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw withoutKey(error, redactor);
  });
  if (!response.ok) {
    await response.body?.cancel();
    throw new Error(`The service answered with status ${response.status}`);
  }
  return parseJson(await textOf(response, maxBytes, redactor), maxDepth);
}

/** The header of a bearer token. */
export function bearerHeader(apiKey: string): Record<string, string> {
  return { authorization: `Bearer ${apiKey}` };
}

/** Replaces an error that contains the key: some errors quote a wrong header with its value, and errors are logged. */
function withoutKey(error: unknown, redactor: Redactor): unknown {
  const said = [error, (error as { cause?: unknown } | null)?.cause].map((one) =>
    one instanceof Error ? `${one.message} ${one.stack}` : String(one),
  );
  return said.every((text) => redactor.redact(text) === text) ? error : new Error('The service could not be asked');
}

async function textOf({ body }: Response, maxBytes: number, redactor: Redactor): Promise<string> {
  const decoder = new TextDecoder();
  /** The last characters are kept, because they may be the beginning of a key. */
  const held = redactor.longest * escapedCharacters;
  let text = '';
  let piece = '';
  let left = maxBytes;
  for await (const bytes of body ?? []) {
    left -= bytes.length;
    if (left < 0) throw new Error('The service answered too much');
    piece += decoder.decode(bytes, { stream: true });
    if (piece.length < held + pieceCharacters) continue;
    piece = redactor.redact(piece);
    const end = Math.max(0, piece.length - held);
    text += piece.slice(0, end);
    piece = piece.slice(end);
  }
  return text + redactor.redact(piece + decoder.decode());
}
