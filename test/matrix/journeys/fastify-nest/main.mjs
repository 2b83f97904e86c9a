// The gateway in Fastify and in Nest, with the users of the app.
import 'reflect-metadata';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { All, Controller, Module, Req, Res, UseGuards } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import fastify from 'fastify';
import { createGateway } from 'model-gateway';
import { gatewayPlugin } from 'model-gateway/fastify';
import { gatewayHandler } from 'model-gateway/nest';
import OpenAI from 'openai';

const records = [];
const arrived = [];
const gateway = createGateway({
  providers: { sandbox: {} },
  authenticate: 'host',
  onRecord: (record) => {
    records.push(record);
    arrived.shift()?.();
  },
});
const nextRecord = () => (records.length > 0 ? undefined : new Promise((resolve) => arrived.push(resolve)));
const sessions = new Map([['s-ada', 'ada']]);
const messages = [{ role: 'user', content: 'Hi' }];
const clientOf = (url, session) =>
  new OpenAI({ apiKey: 'unused', baseURL: `${url}/v1`, maxRetries: 0, defaultHeaders: { 'x-session': session } });

/** What both servers have to do. */
async function check(url) {
  const ada = clientOf(url, 's-ada');
  const completion = await ada.chat.completions.create({ model: 'sandbox/echo', messages });
  assert.match(completion.choices[0].message.content, /Hi/);
  await assert.rejects(clientOf(url, 's-nobody').chat.completions.create({ model: 'sandbox/echo', messages }), {
    status: 401,
  });
  let text = '';
  for await (const chunk of await ada.chat.completions.create({ model: 'sandbox/lorem', messages, stream: true }))
    text += chunk.choices[0]?.delta.content ?? '';
  assert.ok(text.length > 100, text);
  assert.deepEqual(
    records.map(({ userId, outcome }) => [userId, outcome]),
    [
      ['ada', 'ok'],
      ['ada', 'ok'],
    ],
  );
  records.length = 0;
  // The client leaves: the gateway stops, and says so.
  const stream = await ada.chat.completions.create({ model: 'sandbox/stall', messages, stream: true });
  for await (const _ of stream) break;
  await nextRecord();
  assert.deepEqual(
    records.map(({ outcome }) => outcome),
    ['cancelled'],
  );
  records.length = 0;
  const refused = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-session': 's-ada' },
    body: '{',
  });
  assert.equal(refused.status, 400);
}

const app = fastify();
app.get('/health', () => ({ ok: true }));
app.register(
  gatewayPlugin(gateway, {
    caller: ({ headers }) => {
      const userId = sessions.get(headers['x-session']);
      return userId === undefined ? null : { permissions: ['inference'], userId };
    },
  }),
  { prefix: '/v1' },
);
const url = await app.listen({ port: 0, host: '127.0.0.1' });
await check(url);
assert.deepEqual(await (await fetch(`${url}/health`)).json(), { ok: true });
await app.close();

// Nest: a guard finds the user, and a controller hands the request on. Without a compiler, decorators are called.
class SessionGuard {
  canActivate(context) {
    const request = context.switchToHttp().getRequest();
    const userId = sessions.get(request.headers['x-session']);
    request.user = userId === undefined ? null : { permissions: ['inference'], userId };
    return true;
  }
}
const handle = gatewayHandler(gateway, { basePath: '/v1', caller: ({ user }) => user });
class ModelsController {
  serve(request, response) {
    return handle(request, response);
  }
}
Req()(ModelsController.prototype, 'serve', 0);
Res()(ModelsController.prototype, 'serve', 1);
All(['v1', 'v1/*path'])(
  ModelsController.prototype,
  'serve',
  Object.getOwnPropertyDescriptor(ModelsController.prototype, 'serve'),
);
UseGuards(SessionGuard)(ModelsController);
Controller()(ModelsController);
class AppModule {}
Module({ controllers: [ModelsController] })(AppModule);
const nest = await NestFactory.create(AppModule, { logger: ['error', 'warn'] });
const server = await nest.listen(0, '127.0.0.1');
if (!server.listening) await once(server, 'listening');
await check(`http://127.0.0.1:${server.address().port}`);
await nest.close();
await gateway.close();
