/** Returns the reason why a request failed: `fetch` itself says only that it did. */
export function reasonOf(error: unknown): string {
  const { cause } = error as { cause?: unknown };
  const said = cause instanceof Error ? cause.message || (cause as NodeJS.ErrnoException).code : null;
  return said || (error instanceof Error ? error.message : String(error));
}

/** Returns the words for an error of a gateway, with what to do about it. */
export async function errorOf(response: Response): Promise<string> {
  const text = await response.text();
  const said = `${response.status}: ${messageIn(text) ?? text.slice(0, 200)}`;
  return response.status === 403 ? `${said}. The key may need the permission "management".` : said;
}

function messageIn(text: string): string | null {
  try {
    const { message } = JSON.parse(text).error;
    return typeof message === 'string' ? message : null;
  } catch {
    return null;
  }
}
