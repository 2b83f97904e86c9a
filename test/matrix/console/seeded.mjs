// A gateway with the traffic of a day, its console in Express under helmet, and a proxy before it that changes the path.
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import express from 'express';
import helmet from 'helmet';

const { MODEL_GATEWAY_APP: app } = process.env;
const load = (name) => import(pathToFileURL(join(app, 'node_modules', 'model-gateway', 'dist', `${name}.js`)));
const { createGateway } = await load('index');
const { consoleHandler } = await load('console');
const { gatewayMiddleware } = await load('express');
const { sqliteStore } = await load('sqlite');

export const key = 'sk-console-0123456789';
export const workspace = '00000000-0000-4000-8000-000000000001';
/** The public path, which the proxy changes. */
const publicPath = '/admin/gw';
const hourMs = 3_600_000;
const hours = 24;
const models = [
  'acme/large',
  'acme/small',
  'birch/thinker',
  'acme/large',
  'cedar/writer',
  'acme/small',
  'birch/thinker',
];
const failing = ['sandbox/error-500', 'sandbox/rate-limited', 'sandbox/cut-stream'];
/** A model that the sandbox plays, with a price of its own: USD per token. */
const played = (slug, model, prompt, completion) => ({
  slug,
  endpoints: [{ provider: 'sandbox', model, pricing: { prompt, completion } }],
});

const longModel = `dune/${'m'.repeat(150)}`;

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function listen(server) {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server.address().port;
}

/** Passes `/admin/gw` on as `/console`, and the rest as it is. */
function rewritingProxy(port) {
  return createServer((req, res) => {
    const path = req.url.startsWith(publicPath) ? `/console${req.url.slice(publicPath.length)}` : req.url;
    const onward = request({ port, host: '127.0.0.1', path, method: req.method, headers: req.headers }, (answer) => {
      res.writeHead(answer.statusCode, answer.headers);
      answer.pipe(res);
    });
    onward.on('error', () => res.destroy());
    res.on('close', () => onward.destroy());
    req.pipe(onward);
  });
}

/** A store that is out of reach while `state.isAway`. */
function unsteadyStore() {
  const [entries, state] = [new Map(), { isAway: false }];
  const orFail = async (work) => {
    if (state.isAway) throw new Error('the store is away');
    return work();
  };
  const adapter = {
    opts: {},
    get: (id) => orFail(() => entries.get(id)),
    set: (id, value) => orFail(() => entries.set(id, value)),
    delete: (id) => orFail(() => entries.delete(id)),
    clear: () => orFail(() => entries.clear()),
    on: () => undefined,
  };
  return { state, adapter };
}

export async function start() {
  const folder = mkdtempSync(join(tmpdir(), 'console-'));
  const store = sqliteStore(join(folder, 'gateway.db'));
  let offsetMs = -(hours - 1) * hourMs;
  const clock = {
    now: () => Date.now() + offsetMs,
    monotonic: () => Math.floor(performance.now()),
    after(ms, callback) {
      const timer = setTimeout(callback, Math.min(Math.max(ms, 0), 2 ** 31 - 1));
      timer.unref();
      return () => clearTimeout(timer);
    },
  };
  const apiKeys = [
    { key, permissions: ['inference', 'management'], tags: ['ops'] },
    { key: 'sk-of-the-app-0123456789', tags: ['app'] },
  ];
  const gateway = createGateway({
    clock,
    store,
    apiKeys,
    providers: { sandbox: {} },
    records: { enabled: true },
    audit: { enabled: true },
    guardrails: [{ id: 'no-card-numbers', before: (request) => wait(6).then(() => request) }],
    plugins: [{ id: 'glossary', before: (request) => wait(9).then(() => request) }],
    models: [
      played('acme/large', 'sandbox/lorem', '0.00002', '0.00008'),
      played('acme/small', 'sandbox/echo', '0.00001', '0.00004'),
      played('birch/thinker', 'sandbox/reasoning', '0.00001', '0.00005'),
      played('cedar/writer', 'sandbox/json', '0.000015', '0.00006'),
      played(longModel, 'sandbox/echo', '0.00001', '0.00004'),
    ],
    secrets: { current: 'a secret of the tests, which is long enough' },
  });
  const { state, adapter } = unsteadyStore();
  const unsteady = createGateway({
    apiKeys,
    providers: { sandbox: {} },
    records: { enabled: true, flushMs: 50 },
    store: adapter,
    storeCacheMs: 0,
  });
  const silent = createGateway({ apiKeys, providers: { sandbox: {} } });
  const host = express();
  host.use(helmet());
  host.use(express.json());
  host.use('/console', gatewayMiddleware(consoleHandler(gateway)));
  host.use('/short', gatewayMiddleware(consoleHandler(gateway, { sessionMs: 2_000 })));
  host.use('/unsteady', gatewayMiddleware(consoleHandler(unsteady)));
  host.use('/silent', gatewayMiddleware(consoleHandler(silent)));
  host.use('/v1', gatewayMiddleware(gateway));
  const user = (name) => ({ permissions: ['inference'], workspaceId: workspace, userId: name });
  const authorize = ({ headers }) => (/user=(\w+)/.exec(headers.get('cookie') ?? '') ? user('ann') : null);
  host.use('/of-users', gatewayMiddleware(consoleHandler(gateway, { authorize, signInUrl: '/login' })));
  const server = createServer(host);
  const proxy = rewritingProxy(await listen(server));
  const origin = `http://127.0.0.1:${await listen(proxy)}`;
  const ask = (path, body, of = key, method = 'POST') =>
    fetch(`${origin}/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${of}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const chat = async (model, of = key, more = {}) => {
    const messages = [{ role: 'user', content: 'Tell me about waterfalls' }];
    const response = await ask('/chat/completions', { model, max_tokens: 40, messages, ...more }, of);
    await response.text().catch(() => '');
    return response.headers.get('x-generation-id');
  };
  for (let hour = hours - 1; hour >= 0; hour--) {
    offsetMs = -hour * hourMs;
    const amount = 3 + Math.round(4 * Math.abs(Math.sin(hour / 4)));
    const several = Array.from({ length: amount }, (_, at) => {
      const model = hour % 5 === 0 && at < 2 ? failing[(hour + at) % 3] : models[(at * 3 + hour) % models.length];
      const more = { stream: at % 3 === 0, user: ['ann', 'bob', 'eve'][at % 3] };
      return chat(model, at % 2 ? key : 'sk-of-the-app-0123456789', more);
    });
    await Promise.all(several);
  }
  // At any time of the day, its requests so far leave something of the daily limit for those of the tests.
  for (const [interval, limit_usd] of Object.entries({ daily: 0.5, monthly: 1 }))
    await ask(`/workspaces/${workspace}/budgets/${interval}`, { limit_usd }, key, 'PUT');
  await ask(`/workspaces/${workspace}`, { is_observability_io_logging_enabled: true }, key, 'PATCH');
  await gateway.workspaces.create({ name: 'Team A', slug: 'team-a' });
  await gateway.apiKeys.create({ name: 'Web app', limit: 5, limit_reset: 'monthly', tags: ['web'] });
  await gateway.guardrails.create({ name: 'Cheap models', limit_usd: 10, reset_interval: 'monthly' });
  await gateway.credentials.create({ provider: 'openai', key: 'sk-of-a-workspace-0123456789' });
  return {
    origin,
    base: origin + publicPath,
    chat,
    longModel,
    /** Makes a workspace, a key and a guardrail of one name. */
    async makeNames(name) {
      await gateway.workspaces.create({ name, slug: `long-${'s'.repeat(40)}` });
      await gateway.apiKeys.create({ name, tags: ['t'.repeat(60)] });
      await gateway.guardrails.create({ name, description: 'd'.repeat(150) });
    },
    /** Makes workspaces and keys, in turn. */
    async makeMany(number) {
      for (let at = 0; at < number; at++) {
        await gateway.workspaces.create({ name: `Many ${at}`, slug: `many-${at}` });
        await gateway.apiKeys.create({ name: `Many ${at}` });
      }
    },
    unsteady: { state, ask: () => unsteady.handle(chatRequest()) },
    async close() {
      server.closeAllConnections();
      proxy.closeAllConnections();
      server.close();
      proxy.close();
      await Promise.all([gateway.close(), unsteady.close(), silent.close()]);
      await store.disconnect();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function chatRequest() {
  return new Request('http://gateway/v1/chat/completions', {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hi' }] }),
  });
}
