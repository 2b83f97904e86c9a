/** Headers whose values say who or what asks, and which responses may well hold. The others may hold a secret. */
const publicHeaders: ReadonlySet<string> = new Set([
  'accept',
  'accept-language',
  'anthropic-beta',
  'anthropic-version',
  'content-type',
  'http-referer',
  'openai-beta',
  'origin',
  'referer',
  'user-agent',
  'x-title',
]);

/**
 * What must not be shown of headers that an operator sends with every request: their values, and what these are made
 * of, such as the token after `Bearer`, the user and password of `Basic`, and the values of cookies.
 */
export function secretsInHeaders(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers)
    .filter(([name]) => !publicHeaders.has(name.toLowerCase()))
    .flatMap(([name, value]) => partsOf(name.toLowerCase(), value.trim()));
}

function partsOf(name: string, value: string): string[] {
  if (name === 'cookie') return [value, ...value.split(/; */).map((pair) => pair.slice(pair.indexOf('=') + 1))];
  const [scheme = '', ...rest] = value.split(' ');
  const token = rest.join(' ').trim();
  if (token === '') return [value];
  return [value, token, ...(scheme.toLowerCase() === 'basic' ? userAndPassword(token) : [])];
}

function userAndPassword(base64: string): string[] {
  try {
    const pair = atob(base64);
    return [pair, pair.slice(pair.indexOf(':') + 1)];
  } catch {
    // It is no base64, and so holds nothing else.
    return [];
  }
}
