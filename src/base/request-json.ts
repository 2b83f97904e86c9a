import { parseJson } from './json.ts';

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

/**
 * Asks a service of the operator's that answers with JSON.
 * @throws Error that shows nothing of the request for a status that is no success, and for a response that is too long
 *         or no JSON; the reason of the signal; what `fetch` throws
 */
export async function requestJson({ url, headers, body, maxBytes, signal, fetch: own }: JsonRequest): Promise<unknown> {
  const sent =
    body === undefined
      ? { method: 'GET', headers: { accept: 'application/json', ...headers } }
      : { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) };
  const response = await (own ?? fetch)(url, { ...sent, redirect: 'error', signal });
  if (!response.ok) {
    await response.body?.cancel();
    throw new Error(`The service answered with status ${response.status}`);
  }
  return parseJson(await textOf(response, maxBytes), maxDepth);
}

/** The header of a bearer token. */
export function bearerHeader(apiKey: string): Record<string, string> {
  return { authorization: `Bearer ${apiKey}` };
}

async function textOf({ body }: Response, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let left = maxBytes;
  for await (const bytes of body ?? []) {
    left -= bytes.length;
    if (left < 0) throw new Error('The service answered too much');
    text += decoder.decode(bytes, { stream: true });
  }
  return text + decoder.decode();
}
