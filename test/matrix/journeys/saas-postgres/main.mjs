// A SaaS with several tenants on PostgreSQL: workspaces, keys, budgets, a tenant's own provider key, two instances.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { KeyvPostgres } from '@keyv/postgres';
import express from 'express';
import { createGateway } from 'model-gateway';
import { gatewayMiddleware } from 'model-gateway/express';

const uri = process.env.DATABASE_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres';
/** What the provider was sent. */
const keys = [];
const provider = createServer(async (req, res) => {
  for await (const _ of req);
  keys.push(req.headers.authorization);
  const choices = [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }];
  res.setHeader('content-type', 'application/json');
  res.end(JSON.stringify({ choices, usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 } }));
}).listen(0, '127.0.0.1');
await once(provider, 'listening');

const secrets = { current: randomBytes(32).toString('base64') };
const schema = `journey_${randomBytes(6).toString('hex')}`;
/** Who is signed in, as the session of the app says. */
const sessions = new Map();

async function startInstance() {
  const store = new KeyvPostgres({ uri, schema, max: 4 });
  store.on('error', () => undefined);
  const gateway = createGateway({
    providers: {
      sandbox: {},
      // Only providers of the interface take a tenant's own key; this one is at an address of ours.
      groq: { baseUrl: `http://127.0.0.1:${provider.address().port}/v1`, apiKey: 'key-of-the-saas', byok: true },
    },
    models: [
      {
        slug: 'acme/big',
        endpoints: [{ provider: 'groq', model: 'big', pricing: { prompt: '0.00001', completion: '0.00002' } }],
      },
    ],
    authenticate: 'host',
    store,
    secrets,
    storeCacheMs: 0,
    storeTimeoutMs: 5_000,
  });
  const app = express();
  app.use('/v1', gatewayMiddleware(gateway, { caller: (req) => sessions.get(req.headers['x-session']) ?? null }));
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { gateway, store, server, url: `http://127.0.0.1:${server.address().port}/v1` };
}
const one = await startInstance();
const two = await startInstance();

async function send(base, method, path, headers, body) {
  const response = await fetch(base + path, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}
const as = (session) => ({ 'x-session': session });
const chat = (base, headers, more = {}) =>
  send(base, 'POST', '/chat/completions', headers, {
    model: 'acme/big',
    max_tokens: 100,
    messages: [{ role: 'user', content: 'Hi' }],
    ...more,
  });

try {
  sessions.set('operator', { userId: 'operator', permissions: ['management'] });
  const tenants = {};
  for (const slug of ['red', 'blue']) {
    const { status, body } = await send(one.url, 'POST', '/workspaces', as('operator'), { name: slug, slug });
    assert.equal(status, 201, JSON.stringify(body));
    tenants[slug] = body.data.id;
    const caller = { userId: slug, workspaceId: body.data.id, permissions: ['inference', 'management'] };
    sessions.set(slug, caller);
    const put = await send(one.url, 'PUT', `/workspaces/${slug}/budgets/monthly`, as('operator'), { limit_usd: 0.04 });
    assert.equal(put.status, 200, JSON.stringify(put.body));
  }

  // A tenant makes a key for its own server, which works at the other instance too.
  const made = await send(one.url, 'POST', '/keys', as('red'), { name: 'server of red', limit: 0.03 });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const bearer = { authorization: `Bearer ${made.body.key}` };
  const served = await chat(two.url, bearer);
  assert.equal(served.status, 200, JSON.stringify(served.body));
  assert.equal(served.body.usage.cost, 0.00014);
  assert.equal(keys.at(-1), 'Bearer key-of-the-saas');

  // The budget counts at both instances, and what does not fit is refused before a provider is asked.
  const sent = keys.length;
  const tooMuch = await chat(one.url, as('red'), { max_tokens: 4_000 });
  assert.equal(tooMuch.status, 402, JSON.stringify(tooMuch.body));
  assert.equal(keys.length, sent);
  const { body: budgets } = await send(one.url, 'GET', '/workspaces/red/budgets', as('red'));
  assert.equal(budgets.data[0].spent_usd, 0.00014);

  // Blue brings a key of its own: then its budget is not spent.
  const brought = await send(one.url, 'POST', '/byok', as('blue'), {
    provider: 'groq',
    key: 'key-of-blue-0123456789',
  });
  assert.equal(brought.status, 201, JSON.stringify(brought.body));
  assert.ok(!JSON.stringify(brought.body).includes('key-of-blue-0123456789'));
  const byok = await chat(two.url, as('blue'));
  assert.equal(byok.status, 200, JSON.stringify(byok.body));
  assert.equal(keys.at(-1), 'Bearer key-of-blue-0123456789');
  assert.equal(byok.body.usage.is_byok, true);
  const ofBlue = await send(two.url, 'GET', '/workspaces/blue/budgets', as('blue'));
  assert.equal(ofBlue.body.data[0].spent_usd, 0);

  // Tenants do not see each other.
  assert.equal((await send(one.url, 'GET', '/workspaces/red/budgets', as('blue'))).status, 404);
  assert.equal((await send(one.url, 'GET', `/workspaces/${tenants.red}`, as('blue'))).status, 404);
  assert.equal((await send(one.url, 'GET', '/keys', as('blue'))).body.data.length, 0);
  assert.equal((await send(one.url, 'POST', '/workspaces', as('blue'), { name: 'x', slug: 'x' })).status, 403);
  const raised = await send(one.url, 'PUT', '/workspaces/red/budgets/monthly', as('red'), { limit_usd: 100 });
  assert.equal(raised.status, 403, JSON.stringify(raised.body));

  // A tenant takes its key back.
  const removed = await send(one.url, 'DELETE', `/keys/${made.body.data.hash}`, as('red'));
  assert.equal(removed.status, 200);
  assert.equal((await chat(two.url, bearer)).status, 401);
} finally {
  for (const { server, gateway } of [one, two]) {
    server.closeAllConnections();
    server.close();
    await gateway.close();
  }
  await one.store.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
  // Adapters of one process with the same options share a pool.
  await one.store.disconnect();
  provider.close();
}
