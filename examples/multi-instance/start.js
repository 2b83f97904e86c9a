// Starts several gateways on one store and gives a workspace a small budget. Then it sends requests to all gateways at
// the same time, more than the budget covers.
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import process from 'node:process';
import { findStore } from './store.js';

const instances = Number(process.env.INSTANCES ?? 2);
const limitUsd = 0.02;
const requests = 120;
const atOnce = 20;

const storeUrl = await findStore();
if (!storeUrl) {
  const { REDIS_URL, DATABASE_URL } = process.env;
  const where = REDIS_URL || DATABASE_URL ? 'where the variable says' : 'on port 6379, and no PostgreSQL on port 5432';
  console.error(`There is no server ${where}. Start one, such as with`);
  console.error('  docker run --rm -p 6379:6379 redis');
  console.error('or set REDIS_URL or DATABASE_URL to one that is there.');
  process.exit(1);
}

const adminKey = `sk-${randomBytes(16).toString('hex')}`;
const children = [];
const urls = [];
for (let n = 0; n < instances; n++) {
  const child = fork('instance.js', { env: { ...process.env, STORE_URL: storeUrl, ADMIN_KEY: adminKey } });
  children.push(child);
  const [url] = await Promise.race([once(child, 'message'), once(child, 'exit').then(() => [])]);
  if (!url) process.exit(1);
  urls.push(url);
}
console.log(`${instances} instances on ${new URL(storeUrl).protocol.replace(':', '')}: ${urls.join(', ')}`);

let next = 0;
/** Sends each request to the next instance, like a load balancer. */
async function call(method, path, key, body) {
  const response = await fetch(urls[next++ % urls.length] + path, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: body && JSON.stringify(body),
  });
  return { status: response.status, json: await response.json() };
}

/** Like `call`, but must succeed. It retries a 503, because a store can be slow just after the connection. */
async function manage(method, path, body) {
  for (let attempts = 1; ; attempts++) {
    const { status, json } = await call(method, path, adminKey, body);
    if (status < 300) return json;
    if (status !== 503 || attempts === 10) throw new Error(`${method} ${path}: ${json.error.message}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

const slug = `example-${randomBytes(4).toString('hex')}`;
const { data: workspace } = await manage('POST', '/workspaces', { name: 'Example', slug });
await manage('PUT', `/workspaces/${slug}/budgets/daily`, { limit_usd: limitUsd });
const { key, data } = await manage('POST', '/keys', { name: 'Example', workspace_id: workspace.id });

const responses = { 200: 0, 402: 0, other: 0 };
let spentUsd = 0;
let mostUsd = 0;
let lastRefusal = '';
let sent = 0;
const worker = async () => {
  while (sent++ < requests) {
    const { status, json } = await call('POST', '/chat/completions', key, {
      model: 'example/priced',
      max_tokens: 100,
      messages: [{ role: 'user', content: 'Hello' }],
      sandbox: { first_token_ms: 20, token_ms: 2 },
    });
    if (status === 200) spentUsd += json.usage.cost;
    else lastRefusal = json.error.message;
    mostUsd = Math.max(mostUsd, spentUsd);
    responses[status in responses ? status : 'other']++;
  }
};
await Promise.all(Array.from({ length: atOnce }, worker));

console.log(`${requests} requests, ${atOnce} at once: ${responses[200]} succeeded, ${responses[402]} refused (402)`);
if (responses.other > 0) console.log(`${responses.other} failed otherwise`);
if (lastRefusal) console.log(`The last refusal: ${lastRefusal}`);
// Sums without a limit, such as the key's spending, reach the store within a second.
await new Promise((resolve) => setTimeout(resolve, 1_500));
let isCountedRight = true;
for (const url of urls) {
  const headers = { authorization: `Bearer ${key}` };
  const { usage } = (await (await fetch(`${url}/key`, { headers })).json()).data;
  isCountedRight &&= Math.abs(usage - spentUsd) < 1e-9;
  console.log(`${url} counts $${usage.toFixed(6)}`);
}
const isKept = mostUsd <= limitUsd;
console.log(`Spent $${spentUsd.toFixed(6)} of $${limitUsd}: ${isKept ? 'never more than' : 'MORE THAN'} the budget`);

await manage('DELETE', `/keys/${data.hash}`);
await manage('DELETE', `/workspaces/${slug}`);
for (const child of children) child.disconnect();
await Promise.all(children.map((child) => child.exitCode === null && once(child, 'exit')));
process.exitCode = isKept && isCountedRight && responses[200] > 0 && responses.other === 0 ? 0 : 1;
