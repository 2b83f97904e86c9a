import { createGunzip, gzipSync } from 'node:zlib';
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import { describe, expect, it } from 'vitest';
import { gatewayPlugin } from '../../adapters/hosts/fastify.ts';
import { createGateway } from '../../src/gateway.ts';
import { receive } from '../contract/adapters/client.ts';
import { fakeGateway } from '../contract/adapters/fake-gateway.ts';
import { adapterContract, type Host } from '../contract/adapters/suite.ts';

async function hostApp(app: FastifyInstance, basePath: string): Promise<Host> {
  const origin = await app.listen({ port: 0, host: '127.0.0.1' });
  return {
    baseUrl: origin + basePath,
    close: async () => {
      app.server.closeAllConnections();
      await app.close();
    },
  };
}

adapterContract('Fastify', {
  start: (gateway) => hostApp(fastify().register(gatewayPlugin(gateway), { prefix: '/v1' }), '/v1'),
});

adapterContract('Fastify without a prefix, beside a parser of the app', {
  start(gateway) {
    const app = fastify();
    app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, text, done) => done(null, text));
    return hostApp(app.register(gatewayPlugin(gateway)), '/v1');
  },
});

adapterContract('Fastify below a prefix with a parameter', {
  start: (gateway) =>
    hostApp(
      fastify().register(async (scope) => scope.register(gatewayPlugin(gateway), { prefix: '/:tenant/v1' }), {
        prefix: '/api',
      }),
      '/api/acme/v1',
    ),
});

adapterContract('Fastify behind a hook that replaces the body', {
  parsesBody: true,
  limitBytes: 1_000_000,
  start: (gateway) =>
    hostApp(
      fastify({ bodyLimit: 1_000_000 })
        .addHook('preParsing', async (_request, _reply, payload) => {
          const { PassThrough } = await import('node:stream');
          return payload.pipe(new PassThrough());
        })
        .register(gatewayPlugin(gateway), { prefix: '/v1' }),
      '/v1',
    ),
});

describe('gatewayPlugin', () => {
  const key = 'sk-test-inference';
  const chat = JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hi' }] });

  it('leaves all other paths to the app, with its own parsers, and keeps the headers of its hooks', async () => {
    const seen: string[] = [];
    const app = fastify()
      .addHook('onRequest', async (_request, reply) => void reply.header('x-app', 'yes').header('vary', 'Cookie'))
      .addHook('onResponse', async (request, reply) => void seen.push(`${request.url} ${reply.statusCode}`))
      .register(gatewayPlugin(fakeGateway('streams')), { prefix: '/llm' });
    app.post('/own', async (request) => ({ own: request.body }));
    app.setNotFoundHandler(async (request) => `app: ${request.url}`);
    const { baseUrl, close } = await hostApp(app, '');
    expect(JSON.parse((await receive(`${baseUrl}/own`, { body: '{"a":1}' })).text)).toEqual({ own: { a: 1 } });
    for (const path of ['/', '/v1/echo', '/llmx/echo'])
      expect((await receive(baseUrl + path, { method: 'GET' })).text).toBe(`app: ${path}`);
    const { text, headers } = await receive(`${baseUrl}/llm/echo`, { body: '{}' });
    expect(JSON.parse(text)).toMatchObject({ basePath: '/llm', path: '/llm/echo' });
    expect(headers).toMatchObject({ 'x-app': 'yes', 'set-cookie': ['a=1', 'b=2'] });
    expect((await receive(`${baseUrl}/llm`, { method: 'GET' })).text).toContain('nothing at');
    expect(seen).toContain('/llm/echo 200');
    await close();
  });

  it('knows the users of the app by the request of Fastify', async () => {
    const users: (string | null)[] = [];
    const gateway = createGateway({
      providers: { sandbox: {} },
      authenticate: 'host',
      onRecord: ({ userId }) => void users.push(userId),
    });
    type SessionRequest = FastifyRequest & { user?: string };
    const app = fastify()
      .decorateRequest('user', undefined)
      .addHook('onRequest', async (request: SessionRequest) => {
        if (request.headers.cookie === 'ada') request.user = 'ada';
      })
      .register(
        gatewayPlugin(gateway, {
          caller: ({ user }: SessionRequest) => (user ? { userId: user, permissions: ['inference'] } : null),
        }),
        { prefix: '/v1' },
      );
    const { baseUrl, close } = await hostApp(app, '/v1');
    const ask = (cookie: string) => receive(`${baseUrl}/chat/completions`, { headers: { cookie }, body: chat });
    expect([(await ask('ada')).status, (await ask('eve')).status, users]).toEqual([200, 401, ['ada']]);
    await close();
    await gateway.close();
  });

  it('answers a body that Fastify cannot take with the error of the gateway', async () => {
    const gateway = createGateway({ providers: { sandbox: {} }, apiKeys: [{ key }], limits: { bodyBytes: 100_000 } });
    const app = fastify({ bodyLimit: 1000 })
      .addHook('preParsing', async (request, _reply, payload) =>
        request.headers['content-encoding'] === 'gzip' ? payload.pipe(createGunzip()) : payload,
      )
      .register(gatewayPlugin(gateway), { prefix: '/v1' });
    const { baseUrl, close } = await hostApp(app, '/v1');
    const ask = async (headers: Record<string, string>, body: string | Uint8Array) => {
      const answer = await receive(`${baseUrl}/chat/completions`, {
        headers: { authorization: `Bearer ${key}`, ...headers },
        body,
      });
      return [answer.status, answer.status === 200 ? '' : JSON.parse(answer.text).error.message];
    };
    const large = JSON.stringify({ text: 'x'.repeat(2000) });
    expect(await ask({ 'content-encoding': 'gzip' }, gzipSync(chat))).toEqual([200, '']);
    expect(await ask({ 'content-encoding': 'gzip' }, gzipSync(large))).toEqual([413, expect.stringMatching(/larger/)]);
    expect(await ask({ 'content-type': 'odd' }, chat)).toEqual([415, expect.any(String)]);
    expect(await ask({ 'content-type': 'odd', authorization: '' }, chat)).toEqual([401, expect.any(String)]);
    // Fastify's limit is for its own parsers: the gateway reads with its own.
    expect(await ask({}, ' '.repeat(2000) + chat)).toEqual([200, '']);
    expect(await ask({}, ' '.repeat(200_000))).toEqual([413, 'The body is larger than 100000 bytes']);
    await close();
    await gateway.close();
  });
});
