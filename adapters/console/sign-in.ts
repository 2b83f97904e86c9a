/** A longer text is no key, and would make no cookie. */
const longestKey = 512;

/**
 * Reads the API key in the body of a sign-in.
 * @param given  the body, where the host app has read it already
 * @param limit  bytes
 * @returns null: it holds no key
 */
export async function readKey(request: Request, given: unknown, limit: number): Promise<string | null> {
  // A form of another site could send any other type without asking first.
  if (!/^application\/json\b/i.test(request.headers.get('content-type') ?? '')) return null;
  const body = given === undefined ? await readUpTo(request, limit) : given;
  const value = parsed(body);
  if (typeof value !== 'object' || value === null) return null;
  const { key } = value as { key?: unknown };
  return typeof key === 'string' && /^[\x21-\x7e]+$/.test(key) && key.length <= longestKey ? key : null;
}

function parsed(body: unknown): unknown {
  const text = body instanceof Uint8Array ? new TextDecoder().decode(body) : body;
  if (typeof text !== 'string') return text;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** @returns an empty text where there is more */
async function readUpTo(request: Request, limit: number): Promise<string> {
  if (request.body === null) return '';
  const decoder = new TextDecoder();
  let [text, size] = ['', 0];
  const reader = request.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    size += value.byteLength;
    if (size > limit) {
      await reader.cancel();
      return '';
    }
    text += decoder.decode(value, { stream: true });
  }
}
