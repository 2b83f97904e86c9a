// One model at two providers, of which the first is down; and records that say what happened and what it cost.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createGateway } from 'model-gateway';

let isUp = false;
const asked = [];
/** An OpenAI-compatible server, as a provider is. */
const provider = createServer(async (req, res) => {
  let body = '';
  for await (const part of req) body += part;
  asked.push({ path: req.url, key: req.headers.authorization, body: JSON.parse(body) });
  res.setHeader('content-type', 'application/json');
  if (!isUp) {
    res.statusCode = 503;
    return res.end(JSON.stringify({ error: { message: 'overloaded' } }));
  }
  const choices = [{ index: 0, message: { role: 'assistant', content: 'From the first' }, finish_reason: 'stop' }];
  res.end(JSON.stringify({ choices, usage: { prompt_tokens: 10, completion_tokens: 3, total_tokens: 13 } }));
}).listen(0, '127.0.0.1');
await once(provider, 'listening');

const records = [];
const gateway = createGateway({
  providers: {
    first: { baseUrl: `http://127.0.0.1:${provider.address().port}/v1`, apiKey: 'key-of-the-first' },
    sandbox: {},
  },
  models: [
    {
      slug: 'app/chat',
      endpoints: [
        { provider: 'first', model: 'big', pricing: { prompt: '0.000001', completion: '0.000002' } },
        { provider: 'sandbox', model: 'echo' },
      ],
    },
  ],
  retry: { baseDelayMs: 1 },
  apiKeys: [{ key: 'sk-of-the-app' }],
  onRecord: (record) => records.push(record),
});
async function ask(more = {}) {
  const response = await gateway.fetch('http://in-process/v1/chat/completions', {
    method: 'POST',
    headers: { authorization: 'Bearer sk-of-the-app', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'app/chat', messages: [{ role: 'user', content: 'Hello' }], ...more }),
  });
  return { status: response.status, body: await response.json() };
}

const fallen = await ask();
assert.equal(fallen.status, 200);
assert.equal(fallen.body.provider, 'Sandbox');
assert.equal(fallen.body.model, 'app/chat');
const [record] = records;
assert.equal(record.outcome, 'ok');
assert.deepEqual(
  record.attempts.map(({ provider: name, status }) => [name, status]),
  [
    ['first', 503],
    ['first', 503],
    ['Sandbox', 200],
  ],
);
isUp = true;
const other = createGateway({
  providers: { first: { baseUrl: `http://127.0.0.1:${provider.address().port}/v1`, apiKey: 'key-of-the-first' } },
  models: [
    {
      slug: 'app/chat',
      endpoints: [{ provider: 'first', model: 'big', pricing: { prompt: '0.000001', completion: '0.000002' } }],
    },
  ],
  apiKeys: [{ key: 'sk-of-the-app' }],
  onRecord: (one) => records.push(one),
});
const response = await other.fetch('http://in-process/v1/chat/completions', {
  method: 'POST',
  headers: { authorization: 'Bearer sk-of-the-app', 'content-type': 'application/json' },
  body: JSON.stringify({ model: 'app/chat', messages: [{ role: 'user', content: 'Hello' }] }),
});
const { usage, choices } = await response.json();
assert.equal(choices[0].message.content, 'From the first');
assert.equal(usage.cost, 0.000016);
assert.equal(records.at(-1).costNanoUsd, 16_000);
assert.equal(asked.at(-1).key, 'Bearer key-of-the-first');
assert.equal(asked.at(-1).body.model, 'big');
assert.ok(!JSON.stringify(records).includes('Hello'), 'a record holds no prompt');
await gateway.close();
await other.close();
provider.close();
