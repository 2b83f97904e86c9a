// A store and a provider of one's own: records in a database that the project does not know, and an upstream that signs
// its requests in its own way.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Keyv } from 'keyv';
import { createGateway, defineProvider } from 'model-gateway';
import { openaiChat } from 'model-gateway/dialects';

const folder = mkdtempSync(join(tmpdir(), 'journey-store-'));
const file = join(folder, 'rows.json');

/** "Our database": a JSON file. */
function openRows() {
  let rows = new Map();
  try {
    rows = new Map(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    // The first start.
  }
  const save = () => writeFileSync(file, JSON.stringify([...rows]));
  return new Keyv({
    store: {
      opts: {},
      namespace: undefined,
      get: async (key) => rows.get(key),
      set: async (key, value) => {
        rows.set(key, value);
        save();
        return true;
      },
      delete: async (key) => {
        const was = rows.delete(key);
        save();
        return was;
      },
      clear: async () => rows.clear(),
    },
  });
}

const signed = [];
const upstream = createServer(async (req, res) => {
  let body = '';
  for await (const part of req) body += part;
  const signature = createHmac('sha256', 'our secret').update(body).digest('hex');
  signed.push(req.headers['x-signature'] === signature && req.headers.authorization === undefined);
  const { model, stream } = JSON.parse(body);
  const head = { id: 'x', created: 1, model };
  if (!stream) {
    const choices = [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }];
    res.setHeader('content-type', 'application/json');
    return res.end(JSON.stringify({ ...head, choices }));
  }
  res.setHeader('content-type', 'text/event-stream');
  for (const content of ['Hel', 'lo'])
    res.write(`data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta: { content } }] })}\n\n`);
  res.write(`data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}\n\n`);
  res.end('data: [DONE]\n\n');
}).listen(0, '127.0.0.1');
await once(upstream, 'listening');

const ours = defineProvider({
  slug: 'ours',
  name: 'Our cluster',
  baseUrl: `http://127.0.0.1:${upstream.address().port}/v1`,
  dialect: openaiChat,
  auth: (request) => ({
    ...request,
    headers: {
      ...request.headers,
      'x-signature': createHmac('sha256', 'our secret').update(request.body).digest('hex'),
    },
  }),
  quirks: { dropParams: ['logit_bias'] },
});

const warnings = [];
const logger = {
  info() {},
  warn: (_, message) => warnings.push(message),
  error: (_, message) => warnings.push(message),
};
const start = () =>
  createGateway({
    providers: { ours },
    models: [
      {
        slug: 'ours/chat',
        endpoints: [{ provider: 'ours', model: 'chat-7b', pricing: { prompt: '0.000001', completion: '0.000001' } }],
      },
    ],
    apiKeys: [{ key: 'sk-of-the-operator', permissions: ['inference', 'management'] }],
    store: openRows(),
    logger,
  });
let gateway = start();
const send = async (method, path, body, key = 'sk-of-the-operator') => {
  const response = await gateway.fetch(`http://in-process/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, text, body: text.startsWith('{') ? JSON.parse(text) : null };
};
const question = { model: 'ours/chat', max_tokens: 50, messages: [{ role: 'user', content: 'Hi' }] };

assert.equal((await send('PUT', '/workspaces/default/budgets/daily', { limit_usd: 0.01 })).status, 200);
const { body: made } = await send('POST', '/keys', { name: 'one' });
const first = await send('POST', '/chat/completions', question, made.key);
assert.equal(first.status, 200, first.text);
assert.equal(first.body.choices[0].message.content, 'Hello');
assert.equal(first.body.provider, 'Our cluster');
// The provider reports no usage: the gateway counts.
assert.equal(first.body.usage.estimated, true);
const streamed = await send('POST', '/chat/completions', { ...question, stream: true }, made.key);
assert.match(streamed.text, /"content":"Hel"[\s\S]*"content":"lo"[\s\S]*\[DONE\]/);
assert.deepEqual(signed, [true, true]);
assert.ok(
  warnings.some((message) => /per process|in this process|process/i.test(message)),
  warnings.join('\n'),
);
await gateway.close();

// After a restart everything is still there, and the key is nowhere in clear.
assert.ok(!readFileSync(file, 'utf8').includes(made.key));
gateway = start();
assert.equal((await send('POST', '/chat/completions', question, made.key)).status, 200);
const { body: budget } = await send('GET', '/workspaces/default/budgets');
assert.ok(budget.data[0].spent_usd > 0, JSON.stringify(budget));
await gateway.close();
upstream.close();
rmSync(folder, { recursive: true });
