import { withoutBlanks } from '../base/text/pasted-key.ts';

/** The proxies of a gateway, as its option and the environment say. */
export interface ProxySettings {
  /** For `http` addresses; null: none. */
  http: ProxyServer | null;
  /** For `https` addresses; null: none. */
  https: ProxyServer | null;
  /** The hosts that are reached directly, in the form of `NO_PROXY`. */
  noProxy: string;
}

/** The option `proxy`, as it is checked. */
export type ProxyOption = 'environment' | false | string | { url: string; noProxy: readonly string[] };

/** One proxy. */
export interface ProxyServer {
  /** Scheme, host and port. */
  origin: string;
  /** The value of `Proxy-Authorization`; null: the proxy asks for none. */
  authorization: string | null;
}

/** Environment variables by name. */
type Environment = Readonly<Record<string, string | undefined>>;

/** A proxy that cannot be used; the message names the variable, if it is one, and not the value. */
export class ProxyError extends Error {}

/**
 * The proxies that the environment names, as most programs read it: `https_proxy` for https, `http_proxy` for http, and
 * `all_proxy` for both; in lower case first. `NO_PROXY` names hosts that are reached directly.
 * @returns null: none is named
 * @throws ProxyError
 */
export function environmentProxies(environment: Environment): ProxySettings | null {
  const named = (...names: readonly string[]): ProxyServer | null => {
    for (const name of names) {
      const value = withoutBlanks(variableIn(environment, name));
      if (value !== '') return proxyOf(value, `the variable ${name}`);
    }
    return null;
  };
  const all = ['all_proxy', 'ALL_PROXY'];
  // In CGI, a client sets HTTP_PROXY by a header `Proxy` ("httpoxy").
  const isCgi = variableIn(environment, 'REQUEST_METHOD') !== '';
  const http = named('http_proxy', ...(isCgi ? [] : ['HTTP_PROXY']), ...all);
  const https = named('https_proxy', 'HTTPS_PROXY', ...all);
  if (http === null && https === null) return null;
  return { http, https, noProxy: variableIn(environment, 'no_proxy') || variableIn(environment, 'NO_PROXY') };
}

/**
 * The proxies of the option. @returns null: none
 * @throws ProxyError
 */
export function proxiesOf(option: ProxyOption | undefined, environment: Environment): ProxySettings | null {
  if (option === false) return null;
  if (option === undefined || option === 'environment') return environmentProxies(environment);
  const { url, noProxy } = typeof option === 'string' ? { url: option, noProxy: [] } : option;
  const proxy = proxyOf(url, 'this');
  return { http: proxy, https: proxy, noProxy: noProxy.join(',') };
}

function variableIn(environment: Environment, name: string): string {
  try {
    return environment[name] ?? '';
  } catch {
    // Deno lets a program read only the variables for which it has permission.
    return '';
  }
}

/** @param where  begins the message, which must not hold the value: it may have a password */
function proxyOf(value: string, where: string): ProxyServer {
  // Programs take `proxy:3128` for an http proxy.
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`);
  if (url === null || url.hostname === '') throw new ProxyError(`${where} is no address of a proxy`);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new ProxyError(`${where} names a proxy that is neither http nor https`);
  const { username, password } = url;
  if (username === '' && password === '') return { origin: url.origin, authorization: null };
  const pair = new TextEncoder().encode(`${decoded(username)}:${decoded(password)}`);
  return { origin: url.origin, authorization: `Basic ${btoa(String.fromCharCode(...pair))}` };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
