import { createGunzip } from 'node:zlib';
import compression from 'compression';
import express, { type RequestHandler } from 'express';
import { describe, expect, it } from 'vitest';
import { gatewayMiddleware } from '../../adapters/hosts/express.ts';
import { nextPiece, receive, send } from '../contract/adapters/client.ts';
import { fakeGateway } from '../contract/adapters/fake-gateway.ts';
import { adapterContract } from '../contract/adapters/suite.ts';
import { hostListener } from './hosts.ts';

adapterContract('Express', {
  start: (gateway) => hostListener(express().use('/v1', gatewayMiddleware(gateway)), '/v1'),
});

adapterContract('Express after express.json()', {
  parsesBody: true,
  start: (gateway) =>
    hostListener(
      express()
        .use(express.json({ limit: '2mb' }))
        .use('/v1', gatewayMiddleware(gateway)),
      '/v1',
    ),
});

adapterContract('Express after express.raw()', {
  parsesBody: true,
  start: (gateway) =>
    hostListener(
      express()
        .use(express.raw({ type: '*/*', limit: '2mb' }))
        .use('/v1', gatewayMiddleware(gateway)),
      '/v1',
    ),
});

adapterContract('Express behind compression, below a router with a parameter', {
  start(gateway) {
    const router = express.Router().use('/:tenant/v1', gatewayMiddleware(gateway));
    return hostListener(
      express()
        .use(compression({ threshold: 0 }))
        .use('/api', router),
      '/api/acme/v1',
    );
  },
});

adapterContract('Express at the root', {
  start: (gateway) => hostListener(express().use(gatewayMiddleware(gateway)), '/v1'),
});

describe('gatewayMiddleware of Express', () => {
  it('is a RequestHandler', () => {
    const handler: RequestHandler = gatewayMiddleware(fakeGateway('streams'));
    expect(handler.length).toBe(3);
  });

  it('sends each piece as it comes through compression, and waits for it while the client does not read', async () => {
    const gateway = fakeGateway('streams');
    const app = express()
      .use(compression({ threshold: 0 }))
      .use('/v1', gatewayMiddleware(gateway));
    const { baseUrl, close } = await hostListener(app, '/v1');
    const headers = { 'accept-encoding': 'gzip' };

    const { response } = send(`${baseUrl}/stream`, { body: '{}', headers });
    const stream = await gateway.nextStream();
    const received = await response;
    expect(received.headers['content-encoding']).toBe('gzip');
    const unzipped = received.pipe(createGunzip());
    for (const text of ['data: 1\n\n', 'data: 2\n\n']) {
      stream.write(text);
      expect(await nextPiece(unzipped)).toBe(text);
    }
    stream.end();
    expect(await nextPiece(unzipped)).toBe(null);

    const leaving = send(`${baseUrl}/stream`, { body: '{}', headers });
    const left = await gateway.nextStream();
    left.write('data: 1\n\n');
    await leaving.response;
    leaving.sent.destroy();
    await left.cancelled;
    expect(left.signal.aborted).toBe(true);
    await close();
  });

  it('sets headers one by one where middleware replaced writeHead and may not know every form of its arguments', async () => {
    const app = express().use((_req, res, next) => {
      const writeHead = res.writeHead.bind(res);
      res.writeHead = (status: number, ...rest: unknown[]) => {
        res.setHeader('x-seen', `${status} ${rest.length} ${res.getHeader('content-type')}`);
        return writeHead(status);
      };
      next();
    });
    const { baseUrl, close } = await hostListener(app.use('/v1', gatewayMiddleware(fakeGateway('streams'))), '/v1');
    const { headers } = await receive(`${baseUrl}/echo`, { body: '{}' });
    expect(headers).toMatchObject({ 'x-seen': '200 0 application/json', 'set-cookie': ['a=1', 'b=2'] });
    await close();
  });

  it('leaves requests outside its prefix to the next middleware', async () => {
    const app = express().use(gatewayMiddleware(fakeGateway('streams')));
    app.use('/api', gatewayMiddleware(fakeGateway('streams'), { prefix: '/llm/' }));
    const { baseUrl, close } = await hostListener(
      app.use((req, res) => void res.send(`app: ${req.path}`)),
      '',
    );
    for (const path of ['/', '/v10/echo', '/api/echo', '/api/llmx/echo']) {
      expect(await receive(baseUrl + path, { method: 'GET' })).toMatchObject({ status: 200, text: `app: ${path}` });
    }
    for (const basePath of ['/v1', '/api/llm']) {
      const { text } = await receive(`${baseUrl}${basePath}/echo`, { body: '{}' });
      expect(JSON.parse(text)).toMatchObject({ basePath });
    }
    await close();
  });

  it('reads a body that the parser before it left alone', async () => {
    const app = express()
      .use(express.urlencoded())
      .use('/v1', gatewayMiddleware(fakeGateway('streams')));
    const { baseUrl, close } = await hostListener(app, '/v1');
    const { text } = await receive(`${baseUrl}/echo`, { body: '{"a":1}' });
    expect(JSON.parse(text)).toMatchObject({ handedOver: false, body: { a: 1 } });
    await close();
  });

  it('keeps the headers that earlier middleware set, and follows a URL that it rewrote', async () => {
    const app = express().use((req, res, next) => {
      res.set('access-control-allow-origin', '*');
      req.url = req.url.replace('/openai/deployments/x', '/v1');
      next();
    });
    const { baseUrl, close } = await hostListener(app.use('/v1', gatewayMiddleware(fakeGateway('streams'))), '');
    const { text, headers } = await receive(`${baseUrl}/openai/deployments/x/echo?a=1`, { body: '{}' });
    expect(JSON.parse(text)).toMatchObject({ basePath: '/v1', path: '/v1/echo', search: '?a=1' });
    expect(headers['access-control-allow-origin']).toBe('*');
    await close();
  });
});
