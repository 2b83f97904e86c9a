import { createServer } from 'node:http';
import { afterEach, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { defaultFetchUrl } from '../../src/fetching/fetch-url.ts';
import { testProxy } from '../contract/transport/proxy-server.ts';

afterEach(() => vi.unstubAllEnvs());

it('goes over no proxy', async () => {
  const server = createServer((_request, response) => response.setHeader('content-type', 'text/plain').end('direct'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const proxy = await testProxy({ hosts: { 'page.test': port } });
  for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY']) vi.stubEnv(name, proxy.url);
  vi.stubEnv('NODE_USE_ENV_PROXY', '1');
  try {
    const settings = { allowedAddresses: ['127.0.0.1'], ports: [port], maxRedirects: 3, timeoutMs: 5_000 };
    const fetchUrl = defaultFetchUrl(settings, systemClock);
    const options = { maxBytes: 1_000, signal: new AbortController().signal };
    const { bytes } = await fetchUrl(`http://127.0.0.1:${port}/`, options);
    expect(Buffer.from(bytes).toString()).toBe('direct');
    // A name that the proxy alone knows stays unknown.
    await expect(fetchUrl(`http://page.test:${port}/`, options)).rejects.toThrow();
    expect(proxy.asked).toEqual([]);
  } finally {
    await proxy.close();
    server.close();
  }
});
