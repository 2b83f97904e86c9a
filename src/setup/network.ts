import { defaultTransport, opensSockets, takesProxies } from '#transport';
import { lazily } from '../base/lazily.ts';
import type { Provider } from '../providers/provider.ts';
import { fetchTransport } from '../transport/fetch.ts';
import { ProxyError, type ProxyOption, proxiesOf } from '../transport/proxy-settings.ts';
import type { Transport } from '../transport/transport.ts';
import { type Environment, SettingsError } from './providers.ts';

/** The options of the network. */
interface NetworkSettings {
  transport?: Transport | undefined;
  fetch?: typeof fetch | undefined;
  proxy?: ProxyOption | undefined;
}

/**
 * The network of a gateway, made at its first use.
 * @throws SettingsError for a proxy that cannot be used
 */
export function networkOf({ transport, fetch, proxy }: NetworkSettings, environment: Environment) {
  if (transport) return lazily(() => transport);
  if (fetch) return lazily(() => fetchTransport(fetch));
  if (takesProxies) {
    const proxies = checkedProxies(proxy, environment);
    return lazily(() => defaultTransport(proxies));
  }
  if (proxy !== undefined && proxy !== 'environment')
    throw new SettingsError('proxy', 'expected none: in this runtime, fetch alone knows of proxies');
  return lazily(() => defaultTransport());
}

/**
 * Checks the option `webSocket` of providers.
 * @throws SettingsError where no connection can be opened
 */
export function checkSockets(providers: Iterable<Provider>, { transport, fetch }: NetworkSettings): void {
  for (const { slug, webSocket, dialect, createTransport } of providers) {
    if (webSocket !== true) continue;
    const refuse = (why: string) => new SettingsError(`providers.${slug}.webSocket`, `expected false: ${why}`);
    if (dialect.format !== 'responses')
      throw refuse(`its dialect is ${dialect.name}, and WebSockets carry openai-responses; set dialect`);
    if (createTransport !== undefined) throw refuse('this provider is inside the process');
    if (transport ? transport.connect === undefined : fetch !== undefined)
      throw refuse(`the option ${transport ? 'transport' : 'fetch'} opens no WebSockets: ${own}`);
    if (!transport && !opensSockets) throw refuse('in this runtime, the gateway opens no WebSockets with headers');
  }
}

const own = 'leave it out, or give a transport with connect';

function checkedProxies(proxy: ProxyOption | undefined, environment: Environment) {
  try {
    return proxiesOf(proxy, environment);
  } catch (error) {
    if (error instanceof ProxyError)
      throw new SettingsError('proxy', `expected the address of an http or https proxy, or false: ${error.message}`);
    throw error;
  }
}
