import Koa from 'koa';
import bodyParser from 'koa-bodyparser';
import mount from 'koa-mount';
import { describe, expect, it } from 'vitest';
import { gatewayMiddleware } from '../../adapters/hosts/koa.ts';
import { receive } from '../contract/adapters/client.ts';
import { fakeGateway } from '../contract/adapters/fake-gateway.ts';
import { adapterContract } from '../contract/adapters/suite.ts';
import { hostListener } from './hosts.ts';

const hostApp = (app: Pick<Koa, 'silent' | 'callback'>, basePath: string) => {
  // Koa prints connections that clients reset, as some tests do.
  app.silent = true;
  return hostListener(app.callback(), basePath);
};

adapterContract('Koa', {
  start: (gateway) => hostApp(new Koa().use(gatewayMiddleware(gateway, { prefix: '/llm/v1' })), '/llm/v1'),
});

adapterContract('Koa after a body parser', {
  parsesBody: true,
  start: (gateway) => hostApp(new Koa().use(bodyParser({ jsonLimit: '2mb' })).use(gatewayMiddleware(gateway)), '/v1'),
});

adapterContract('Koa below koa-mount', {
  start: (gateway) => hostApp(new Koa().use(mount('/api/v1', gatewayMiddleware(gateway))), '/api/v1'),
});

adapterContract('Koa below koa-mount and a prefix', {
  start: (gateway) => hostApp(new Koa().use(mount('/api', gatewayMiddleware(gateway, { prefix: '/llm' }))), '/api/llm'),
});

describe('gatewayMiddleware of Koa', () => {
  const host = (app: Koa) => hostApp(app, '');

  it('leaves requests outside the prefix to the next middleware', async () => {
    const app = new Koa().use(gatewayMiddleware(fakeGateway('streams'), { prefix: '/v1' }));
    app.use((context) => {
      context.body = `app: ${context.path}`;
    });
    const { baseUrl, close } = await host(app);
    for (const path of ['/', '/v10/echo', '/other/v1/echo', '/V1/echo']) {
      expect(await receive(baseUrl + path, { method: 'GET' })).toMatchObject({ status: 200, text: `app: ${path}` });
    }
    expect((await receive(`${baseUrl}/v1`, { method: 'GET' })).text).toContain('nothing at');
    await close();
  });

  it('reads a body that the parser before it left alone', async () => {
    const app = new Koa().use(bodyParser({ enableTypes: ['form'] })).use(gatewayMiddleware(fakeGateway('streams')));
    const { baseUrl, close } = await host(app);
    const { text } = await receive(`${baseUrl}/v1/echo`, { body: '{"a":1}' });
    expect(JSON.parse(text)).toMatchObject({ handedOver: false, body: { a: 1 } });
    await close();
  });

  it('keeps the headers that earlier middleware set, and lets it wait for the end of the response', async () => {
    const gateway = fakeGateway('streams');
    const statuses: number[] = [];
    const app = new Koa().use(async (context, next) => {
      context.set('access-control-allow-origin', '*');
      await next();
      statuses.push(context.status);
    });
    const { baseUrl, close } = await host(app.use(gatewayMiddleware(gateway)));
    const [received] = await Promise.all([
      receive(`${baseUrl}/v1/stream`, { body: '{}' }),
      gateway.nextStream().then((stream) => {
        expect(statuses).toEqual([]);
        stream.end();
      }),
    ]);
    expect(received.headers['access-control-allow-origin']).toBe('*');
    await receive(`${baseUrl}/v1/nowhere`, { body: '{}' });
    expect(statuses).toEqual([200, 404]);
    await close();
  });

  it('follows a URL that earlier middleware rewrote', async () => {
    const app = new Koa().use((context, next) => {
      context.url = context.url.replace('/openai/deployments/x', '/v1');
      return next();
    });
    const { baseUrl, close } = await host(app.use(gatewayMiddleware(fakeGateway('streams'), { prefix: '/v1' })));
    const { text } = await receive(`${baseUrl}/openai/deployments/x/echo?a=1`, { body: '{}' });
    expect(JSON.parse(text)).toMatchObject({ basePath: '/v1', path: '/v1/echo', search: '?a=1' });
    await close();
  });
});
