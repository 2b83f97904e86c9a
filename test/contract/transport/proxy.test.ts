import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createGateway, OptionsError } from '../../../src/index.ts';
import type { GatewayOptions } from '../../../src/options.ts';
import { directHosts } from '../../../src/transport/direct-hosts.ts';
import { environmentProxies, proxiesOf } from '../../../src/transport/proxy-settings.ts';
import type { Transport } from '../../../src/transport/transport.ts';
import { undiciTransport } from '../../../src/transport/undici.ts';
import { completion } from '../../support/upstream.ts';
import { ofProvider, type TestProxy, testProxy } from './proxy-server.ts';
import { answer, type RawServer, rawServer } from './raw-server.ts';
import { readAll, rejection, request } from './suite.ts';

const secret = 'sk-never-in-clear-0123456789';
const trusted = getCACertificates('default');
const closing: { close?(): Promise<void> }[] = [];
const opened = <T extends { close?(): Promise<void> }>(one: T): T => {
  closing.push(one);
  return one;
};

beforeAll(() => setDefaultCACertificates([...trusted, ofProvider.cert]));
afterAll(() => setDefaultCACertificates(trusted));
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const one of closing.splice(0).reverse()) await one.close?.();
});

type Behaviour = Partial<Parameters<typeof testProxy>[0]>;

/** A provider that only the proxy finds: no name server knows its name. */
async function behindProxy(behaviour: Behaviour = {}, script?: Parameters<typeof rawServer>[0]) {
  const say: Parameters<typeof rawServer>[0] =
    script ?? (({ socket }) => socket.write(answer(JSON.stringify(completion()))));
  const https: RawServer = opened(await rawServer(say, ofProvider));
  const http: RawServer = opened(await rawServer(say));
  const proxy: TestProxy = opened(
    await testProxy({ hosts: { 'provider.test': https.port, 'plain.test': http.port }, ...behaviour }),
  );
  return { https, http, proxy };
}

const over = (url: string, noProxy: readonly string[] = []): Transport =>
  opened(undiciTransport(proxiesOf({ url, noProxy }, {})));
const asked = (url = 'https://provider.test/v1/chat/completions') => ({
  ...request(url),
  headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
  body: '{"a":"the prompt"}',
});

describe('an https provider over a proxy', () => {
  it('gets the request through a tunnel, of which the proxy sees the host alone', async () => {
    const { proxy, https } = await behindProxy();
    const response = await over(proxy.url).send(asked());
    expect(JSON.parse((await readAll(response.body)).toString())).toMatchObject({ object: 'chat.completion' });
    expect(https.connections).toHaveLength(1);
    expect(proxy.asked).toEqual(['CONNECT provider.test:443 HTTP/1.1']);
    expect(proxy.seen()).not.toMatch(/sk-never|Bearer|prompt|chat\/completions/i);
  });
  it('keeps its connection for the next request', async () => {
    const { proxy } = await behindProxy();
    const transport = over(proxy.url);
    for (let times = 0; times < 3; times++) {
      await readAll((await transport.send(asked())).body);
      await new Promise(setImmediate);
    }
    expect(proxy.asked).toHaveLength(1);
  });
  it('is asked once more where a kept connection dies with the next request', async () => {
    const { proxy } = await behindProxy({}, ({ socket, requests }) => {
      if (requests === 2) socket.destroy();
      else socket.write(answer('{}'));
    });
    const transport = over(proxy.url);
    for (let times = 0; times < 2; times++) {
      expect((await readAll((await transport.send(asked())).body)).toString()).toBe('{}');
      await new Promise(setImmediate);
    }
    expect(proxy.asked).toHaveLength(2);
  });
  it('learns of an abort at once', async () => {
    const { proxy, https } = await behindProxy({}, ({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: 1\n\n');
    });
    const controller = new AbortController();
    const { body } = await over(proxy.url).send({ ...asked(), signal: controller.signal });
    expect(Buffer.from((await body.read()) as Uint8Array).toString()).toBe('data: 1\n\n');
    controller.abort(new Error('left'));
    await https.connections[0]?.closed;
    await expect(body.read()).rejects.toThrow('left');
  });
  it('is not reached after an abort while the proxy is silent', async () => {
    const { proxy, https } = await behindProxy({ isSilent: true });
    const controller = new AbortController();
    const sent = over(proxy.url).send({ ...asked(), signal: controller.signal });
    await vi.waitFor(() => expect(proxy.asked).toHaveLength(1));
    controller.abort(new Error('left'));
    await expect(sent).rejects.toThrow('left');
    expect(https.connections).toHaveLength(0);
  });
  it('may stand behind a proxy with TLS and a password', async () => {
    const { proxy } = await behindProxy({ tls: ofProvider });
    const url = proxy.url.replace('https://', 'https://user%40acme:p%C3%A4ss@');
    const response = await over(url).send(asked());
    expect((await readAll(response.body)).length).toBeGreaterThan(0);
    expect(proxy.authorizations).toEqual([`Basic ${Buffer.from('user@acme:päss').toString('base64')}`]);
  });
});

describe('an http provider over a proxy', () => {
  it('gets the request through it without a tunnel: many proxies open none to other ports', async () => {
    const { proxy, http } = await behindProxy();
    const url = proxy.url.replace('http://', 'http://user:pass@');
    const response = await over(url).send(asked('http://plain.test:8000/v1/chat/completions?a=1'));
    expect((await readAll(response.body)).length).toBeGreaterThan(0);
    expect(proxy.asked).toEqual(['POST http://plain.test:8000/v1/chat/completions?a=1 HTTP/1.1']);
    expect(proxy.authorizations).toEqual([`Basic ${Buffer.from('user:pass').toString('base64')}`]);
    expect(proxy.seen()).toMatch(/\r\nhost: plain\.test:8000\r\n/i);
    expect(http.connections).toHaveLength(1);
  });
  it('on this machine is always reached directly', async () => {
    const { proxy, http } = await behindProxy();
    await readAll((await over(proxy.url).send(asked(http.url))).body);
    expect(proxy.asked).toEqual([]);
  });
});

describe('a proxy that fails', () => {
  it.each([
    [
      'HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n',
      'operator',
      /asks for other credentials/,
    ],
    ['HTTP/1.1 403 Forbidden\r\ncontent-length: 6\r\n\r\nsecret', 'transient', /proxy refused the connection/],
    ['HTTP/1.1 502 Bad Gateway\r\n\r\n', 'transient', /proxy refused the connection/],
    ['what is that?\r\n\r\n', 'transient', /proxy .* could not be reached/],
    ['', 'transient', /proxy .* could not be reached/],
  ])('by %j is said to have failed, and nothing was sent', async (refusal, fault, message) => {
    const { proxy, https } = await behindProxy({ refusal });
    const error = await rejection(over(proxy.url).send(asked()));
    expect(error).toMatchObject({ name: 'UpstreamError', status: 502, fault, isUnsent: true });
    expect((error as Error).message).toMatch(message);
    expect((error as Error).message).not.toContain('secret');
    expect(https.connections).toHaveLength(0);
  });
  it('by 407 for an http provider is said to have failed, too', async () => {
    const { proxy } = await behindProxy({ refusal: 'HTTP/1.1 407 No\r\ncontent-length: 0\r\n\r\n' });
    const error = await rejection(over(proxy.url).send(asked('http://plain.test/v1')));
    expect(error).toMatchObject({ fault: 'operator', isUnsent: true });
  });
  it('by being away is said to have failed', async () => {
    const { proxy } = await behindProxy();
    const { url } = proxy;
    await proxy.close();
    for (const address of ['https://provider.test/v1', 'http://plain.test/v1'])
      expect(await rejection(over(url).send(asked(address)))).toMatchObject({
        status: 502,
        fault: 'transient',
        isUnsent: true,
        message: expect.stringMatching(/proxy .* could not be reached/),
      });
  });
});

describe('the gateway', () => {
  const models: GatewayOptions['models'] = [
    {
      slug: 'acme/fast',
      endpoints: [
        { provider: 'far', model: 'm' },
        { provider: 'near', model: 'm' },
      ],
    },
  ];
  const ask = async (options: Partial<GatewayOptions>, near: RawServer) => {
    const gateway = opened(
      createGateway({
        providers: {
          far: { baseUrl: 'https://provider.test/v1', apiKey: secret },
          near: { baseUrl: near.url.replace('/chat/completions', '') },
        },
        models,
        apiKeys: [{ key: 'sk-test-inference' }],
        ...options,
      }),
    );
    const response = await gateway.fetch('http://gateway.test/v1/chat/completions', {
      method: 'POST',
      headers: { authorization: 'Bearer sk-test-inference', 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'acme/fast', messages: [{ role: 'user', content: 'Hello' }] }),
    });
    return { status: response.status, json: (await response.json()) as { provider?: string } };
  };

  it('goes over the proxy that the environment names', async () => {
    const { proxy, http } = await behindProxy();
    vi.stubEnv('HTTPS_PROXY', proxy.url);
    expect(await ask({}, http)).toMatchObject({ status: 200, json: { provider: 'far' } });
    expect(proxy.asked).toEqual(['CONNECT provider.test:443 HTTP/1.1']);
  });
  it('goes over the proxy of the option, whatever the environment says', async () => {
    const { proxy, http } = await behindProxy();
    vi.stubEnv('HTTPS_PROXY', 'http://127.0.0.1:1');
    expect(await ask({ proxy: proxy.url }, http)).toMatchObject({ status: 200, json: { provider: 'far' } });
    expect(proxy.asked).toHaveLength(1);
  });
  it('goes over none where the option says so', async () => {
    const { proxy, http } = await behindProxy();
    vi.stubEnv('HTTPS_PROXY', proxy.url);
    expect(await ask({ proxy: false }, http)).toMatchObject({ status: 200, json: { provider: 'near' } });
    expect(proxy.asked).toEqual([]);
  });
  it('tries the next endpoint where the proxy refuses', async () => {
    const { proxy, http } = await behindProxy({ refusal: 'HTTP/1.1 407 No\r\ncontent-length: 0\r\n\r\n' });
    expect(await ask({ proxy: proxy.url }, http)).toMatchObject({ status: 200, json: { provider: 'near' } });
    expect(proxy.asked).toHaveLength(1);
  });

  const base = { providers: {}, apiKeys: [{ key: 'sk-test-inference' }] };
  it.each<[string, Partial<GatewayOptions>, Record<string, string>]>([
    ['a kind of proxy that is not known, in the environment', {}, { HTTPS_PROXY: `socks5://me:${secret}@127.0.0.1:1` }],
    ['no address, in the environment', {}, { HTTP_PROXY: `http://me:${secret}@` }],
    ['a kind of proxy that is not known', { proxy: `socks5://me:${secret}@127.0.0.1:1` }, {}],
    ['a proxy beside fetch', { proxy: `http://me:${secret}@127.0.0.1:1`, fetch: globalThis.fetch }, {}],
  ])('refuses %s at its start, by name', (_, options, environment) => {
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
    try {
      createGateway({ ...base, ...options });
      throw new Error('it started');
    } catch (error) {
      expect(error).toBeInstanceOf(OptionsError);
      expect((error as OptionsError).issues).toMatchObject([{ path: 'proxy' }]);
      expect(JSON.stringify((error as OptionsError).issues)).not.toContain(secret);
    }
  });
});

describe('the environment', () => {
  const origins = (environment: Record<string, string>) => {
    const proxies = environmentProxies(environment);
    return [proxies?.http?.origin ?? null, proxies?.https?.origin ?? null];
  };
  it.each<[Record<string, string>, (string | null)[]]>([
    [{}, [null, null]],
    [{ HTTPS_PROXY: '' }, [null, null]],
    [{ HTTP_PROXY: 'http://a:1' }, ['http://a:1', null]],
    [{ http_proxy: 'http://a:1', HTTP_PROXY: 'http://b:1' }, ['http://a:1', null]],
    [{ https_proxy: 'http://a:1', HTTP_PROXY: 'http://b:1' }, ['http://b:1', 'http://a:1']],
    [{ HTTPS_PROXY: ' a.test:3128 ' }, [null, 'http://a.test:3128']],
    [{ ALL_PROXY: 'http://a:1', https_proxy: 'http://b:1' }, ['http://a:1', 'http://b:1']],
    [{ REQUEST_METHOD: 'GET', HTTP_PROXY: 'http://evil:1' }, [null, null]],
  ])('%j names %j, for http and https', (environment, expected) => {
    expect(origins(environment)).toEqual(expected);
  });
});

describe('NO_PROXY', () => {
  it.each<[string, string, number, boolean]>([
    ['', 'api.test', 443, false],
    ['', 'localhost', 443, true],
    ['', 'api.localhost', 80, true],
    ['', '127.9.9.9', 80, true],
    ['', '[::1]', 80, true],
    ['*', 'api.test', 443, true],
    ['api.test', 'api.test', 443, true],
    ['api.test', 'API.test.', 443, true],
    ['api.test', 'eu.api.test', 443, true],
    ['api.test', 'myapi.test', 443, false],
    ['.api.test', 'api.test', 443, true],
    ['.api.test', 'eu.api.test', 443, true],
    ['*.api.test', 'eu.api.test', 443, true],
    ['*.api.test', 'api.test', 443, false],
    ['other.test, api.test', 'api.test', 443, true],
    ['other.test api.test', 'api.test', 443, true],
    ['api.test:8443', 'api.test', 443, false],
    ['api.test:8443', 'api.test', 8443, true],
    ['10.0.0.0/8', '10.1.2.3', 443, true],
    ['10.0.0.0/8', '11.1.2.3', 443, false],
    ['10.0.0.0/8', '10.test', 443, false],
    ['10.1.2.3', '10.1.2.3', 443, true],
    ['10.1.2.3:80', '10.1.2.3', 443, false],
    ['fd00::/8', '[fd00::1]', 443, true],
    ['fd00::1', '[fd00:0::1]', 443, true],
    ['[fd00::1]:8443', '[fd00::1]', 443, false],
    ['[fd00::1]:8443', '[fd00::1]', 8443, true],
    ['10.0.0.0/99', '10.1.2.3', 443, false],
    [',,', 'api.test', 443, false],
  ])('%j: is %s, port %d, reached directly? %s', (list, host, port, expected) => {
    expect(directHosts(list)(host, port)).toBe(expected);
  });
});
