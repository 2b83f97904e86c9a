import { joinUrl, tidyUrl } from '../../base/http/base-url.ts';
import type { Provider } from '../../providers/provider.ts';

/** An address of a provider as it is used, and what was corrected in it; or why it cannot be used. */
export type ReadAddress = { url: string; corrections: readonly string[] } | { refused: string };

/**
 * The paths of dialects, which the gateway adds itself. At Google Cloud, `…/publishers/anthropic/models` is no such path: the
 * name of the model comes behind it.
 */
const ownPath =
  /\/(?:chat\/completions|completions|responses|messages|embeddings|audio\/(?:speech|transcriptions|translations)|(?<!\/publishers\/[^/]+\/)models|models\/[^/:]+:(?:generateContent|streamGenerateContent)|model\/[^/]+\/converse(?:-stream)?)$/;

/**
 * Reads the address that an operator gives for a provider. What is certainly a slip is corrected: without that, each
 * request would be a 404 of the provider. An address within the path, as some proxies take it, keeps its two slashes.
 * @param baseUrl    an http or https URL
 * @param dialect    the name of the dialect that is spoken there
 * @param providers  the built-in ones, whose addresses are known
 */
export function readAddress(baseUrl: string, dialect: string, providers: Iterable<Provider>): ReadAddress {
  if (/[\s\0]/.test(baseUrl)) return { refused: 'expected a URL without blanks or line ends' };
  const parsed = URL.parse(baseUrl);
  if (parsed === null) return { refused: 'expected an http or https URL' };
  if (/^https?$/.test(parsed.hostname)) return { refused: 'expected a URL with one scheme: this one begins with two' };
  if (parsed.username !== '' || parsed.password !== '')
    return { refused: 'expected a URL without user name and password: apiKey and headers take them' };
  const corrections: string[] = [];
  let url = tidyUrl(baseUrl);
  const correct = (path: string, message: string) => {
    const { head, own, query } = parts(url);
    if (path === own) return;
    url = tidyUrl(`${head}${path}${query}`);
    corrections.push(message);
  };
  correct(parts(url).own.replace(/(?<!:)\/{2,}/g, '/'), 'a doubled slash in the path was made one');
  const [added = ''] = ownPath.exec(parts(url).own) ?? [];
  if (added !== '')
    correct(
      parts(url).own.slice(0, -added.length),
      'the path of an operation at its end was left out: the gateway adds it',
    );
  const known = knownAddress(parsed.host, dialect, providers);
  if (known !== null && parts(url).own === '') {
    const { own } = parts(known);
    correct(own, `the path ${own} was added, below which this provider serves`);
  }
  if (known?.startsWith('https:') && url.startsWith('http:')) {
    url = `https${url.slice('http'.length)}`;
    corrections.push('http was made https: this provider is not to get a key in clear');
  }
  if (parsed.hostname === 'localhost' && parsed.port === '')
    corrections.push(`localhost has no port here, so port ${parsed.protocol === 'http:' ? 80 : 443} is called`);
  return { url, corrections };
}

/** The scheme and host, the path, and the query of a URL. */
function parts(url: string): { head: string; own: string; query: string } {
  const [, head = '', own = '', query = ''] = /^([a-z]+:\/*[^/?]*)([^?]*)(.*)$/is.exec(url) ?? [];
  return { head, own, query };
}

/** The address of a built-in provider on a host, for a dialect. */
function knownAddress(host: string, dialect: string, providers: Iterable<Provider>): string | null {
  for (const { baseUrl, dialect: usual, also = {} } of providers) {
    const address =
      usual.name === dialect ? baseUrl : Object.hasOwn(also, dialect) ? also[dialect]?.baseUrl : undefined;
    if (typeof address === 'string' && URL.parse(address)?.host === host) return joinUrl(address, '');
  }
  return null;
}
