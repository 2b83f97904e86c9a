import { parseJson } from './json.ts';

export interface PostJson {
  url: string;
  /** Sent as a bearer token, to this address alone: redirects are not followed. */
  apiKey: string;
  body: unknown;
  /** The most bytes of the response. */
  maxBytes: number;
  signal: AbortSignal;
  /** Default: the global `fetch`. */
  fetch?: typeof fetch | undefined;
}

const maxDepth = 100;

/**
 * Asks a service of the operator's that takes JSON and answers with JSON.
 * @throws Error that shows nothing of the request for a status that is no success, and for a response that is too long
 *         or no JSON; the reason of the signal; what `fetch` throws
 */
export async function postJson({ url, apiKey, body, maxBytes, signal, fetch: own }: PostJson): Promise<unknown> {
  const response = await (own ?? fetch)(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    redirect: 'error',
    signal,
  });
  if (!response.ok) {
    await response.body?.cancel();
    throw new Error(`The service answered with status ${response.status}`);
  }
  return parseJson(await textOf(response, maxBytes), maxDepth);
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
