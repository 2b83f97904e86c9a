import { defaultTransport, takesProxies } from '#transport';
import { lazily } from '../base/lazily.ts';
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

function checkedProxies(proxy: ProxyOption | undefined, environment: Environment) {
  try {
    return proxiesOf(proxy, environment);
  } catch (error) {
    if (error instanceof ProxyError)
      throw new SettingsError('proxy', `expected the address of an http or https proxy, or false: ${error.message}`);
    throw error;
  }
}
