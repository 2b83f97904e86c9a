import { describe, expect, it, onTestFinished } from 'vitest';
import { type HealthSource, healthOf } from '../../adapters/hosts/health.ts';
import { type ServeOptions, serve } from '../../adapters/hosts/node.ts';
import { createGateway } from '../../src/gateway.ts';
import type { GatewayOptions } from '../../src/options.ts';
import type { StoreOption } from '../../src/setup/stores.ts';

const key = 'sk-of-a-test-0123456789';
const slow = { model: 'sandbox/slow', stream: true, messages: [{ role: 'user', content: 'Hi' }] };

/** A store of the host app's own, whose reads the test answers. */
function storeThat(read: () => undefined): StoreOption {
  const store = {
    opts: {},
    on: () => store,
    get: async () => read(),
    set: async () => true,
    delete: async () => true,
    clear: async () => undefined,
  };
  return store as unknown as StoreOption;
}

async function serving(options: Partial<GatewayOptions> = {}, served: ServeOptions = {}) {
  const gateway = createGateway({ providers: { sandbox: {} }, apiKeys: [{ key }], ...options });
  const server = await serve(gateway, { port: 0, ...served });
  onTestFinished(async () => {
    await server.close(0);
    await gateway.close();
  });
  const origin = new URL(server.url).origin;
  const probe = async (path: string) => {
    const response = await fetch(`${origin}${path}`);
    expect(response.headers.get('cache-control')).toBe('no-store');
    return [response.status, await response.json()];
  };
  return { gateway, server, origin, probe };
}

describe('the probes of a server', () => {
  it('say that it lives and is ready, without a key and without a record', async () => {
    const records: object[] = [];
    const { probe } = await serving({ onOperation: (record) => records.push(record) });
    expect(await probe('/healthz')).toEqual([200, { status: 'ok' }]);
    expect(await probe('/readyz?from=a-balancer')).toEqual([200, { status: 'ready' }]);
    expect(records).toEqual([]);
  });

  it('say that the store does not answer, and nothing of where it is', async () => {
    let isDown = true;
    const store = storeThat(() => {
      if (isDown) throw new Error('connect ECONNREFUSED redis://user:secret@10.0.0.7');
    });
    const { probe } = await serving({ store });
    const [status, body] = await probe('/readyz');
    expect([status, body.status, body.reasons.length]).toEqual([503, 'not_ready', 1]);
    expect(body.reasons[0]).toMatch(/^The store does not answer/);
    expect(JSON.stringify(body)).not.toMatch(/secret|10\.0\.0\.7/);
    expect((await probe('/healthz'))[0]).toBe(200);
    isDown = false;
    expect((await probe('/readyz'))[0]).toBe(200);
  });

  it('say that the document of the catalogue is missing', async () => {
    let isThere = false;
    const source = async () => {
      if (!isThere) throw new Error('not yet');
      return { models: [] };
    };
    const { gateway, probe } = await serving({ catalog: { source } });
    expect(await probe('/readyz')).toEqual([
      503,
      { status: 'not_ready', reasons: ['The document of the catalogue has not been read yet'] },
    ]);
    isThere = true;
    await gateway.catalog.refresh();
    expect((await probe('/readyz'))[0]).toBe(200);
  });

  it('say that it stops, while it still serves; then it takes no more', async () => {
    const { server, origin, probe } = await serving({}, { graceMs: 1_500 });
    const response = await fetch(`${server.url}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(slow),
    });
    const closed = server.close(1);
    expect(await probe('/readyz')).toEqual([503, { status: 'not_ready', reasons: ['The server is stopping'] }]);
    expect((await probe('/healthz'))[0]).toBe(200);
    await response.body?.cancel();
    await closed;
    await expect(fetch(`${origin}/readyz`)).rejects.toThrow();
  });

  it('are paths like any other where nobody wants them', async () => {
    const { origin } = await serving({}, { health: false });
    expect((await fetch(`${origin}/readyz`)).status).toBe(404);
  });

  it('of many at once ask the store once', async () => {
    let asked = 0;
    const source: HealthSource = {
      ready: async () => {
        asked++;
        return { isReady: true, reasons: [] };
      },
    };
    expect(await healthOf(source, '/readyz', false)).toMatchObject({ status: 200 });
    expect(await healthOf({}, '/readyz', false)).toMatchObject({ status: 200 });
    expect(healthOf(source, '/v1/models', false)).toBeNull();
    expect(asked).toBe(1);
    let reads = 0;
    const store = storeThat(() => {
      reads++;
    });
    const gateway = createGateway({ providers: { sandbox: {} }, apiKeys: [{ key }], store });
    // The first look also reads what the gateway remembers.
    await gateway.ready();
    reads = 0;
    await gateway.ready();
    const once = reads;
    expect(once).toBeGreaterThan(0);
    reads = 0;
    await Promise.all(Array.from({ length: 50 }, () => gateway.ready()));
    expect(reads).toBe(once);
    await gateway.close();
    expect(await gateway.ready()).toEqual({ isReady: false, reasons: ['The gateway is closed'] });
  });
});
