// From the config file of a proxy to a gateway that serves the same names, with nothing of its secrets shown.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import OpenAI from 'openai';

/** A model server; it fails while `isDown`. */
async function modelServer(name) {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    seen.push({ name, key: request.headers.authorization, body: JSON.parse(body) });
    response.writeHead(down.has(name) ? 500 : 200, { 'content-type': 'application/json' });
    const message = { role: 'assistant', content: `I am ${name}` };
    const usage = { prompt_tokens: 5, completion_tokens: 4, total_tokens: 9 };
    response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }], usage }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, url: `http://127.0.0.1:${server.address().port}/v1` };
}
const seen = [];
const down = new Set();
const [big, small] = [await modelServer('big'), await modelServer('small')];
const literalKey = 'sk-literal-0123456789abcdef';
writeFileSync(
  'litellm.yaml',
  `model_list:
  - model_name: big
    litellm_params:
      model: openai/big-1
      api_base: ${big.url}
      api_key: ${literalKey}
      temperature: 0.2
  - model_name: small
    litellm_params:
      model: openai/small-1
      api_base: ${small.url}
      api_key: os.environ/SMALL_KEY
router_settings:
  num_retries: 1
  fallbacks: [{ "big": ["small"] }]
  model_group_alias: { "gpt-4": "big" }
litellm_settings:
  success_callback: ["my_callbacks.handler"]
  max_budget: 10
general_settings:
  master_key: os.environ/PROXY_KEY
`,
);
const bin = './node_modules/.bin/model-gateway';
const imported = spawnSync(bin, ['import', 'litellm.yaml'], { encoding: 'utf8' });
const output = imported.stdout + imported.stderr;
// One thing needs work, and is listed with what to do.
assert.equal(imported.status, 1, output);
assert.match(output, /^2 of 2 models\. 1 problem, 1 warning\.$/m);
assert.match(output, /^problem +litellm_settings\.max_budget/m);
assert.match(output, /Set: .*SMALL_KEY/);
const config = readFileSync('gateway.config.mjs', 'utf8');
assert.ok(!output.includes(literalKey) && !config.includes(literalKey));
assert.ok(readFileSync('.env', 'utf8').includes(literalKey));
assert.equal(statSync('.env').mode & 0o777, 0o600);

const key = 'sk-the-master-key-of-the-proxy';
const gateway = spawn(bin, ['serve', '--config', 'gateway.config.mjs', '--port', '0'], {
  env: { ...process.env, PROXY_KEY: key, SMALL_KEY: 'key-of-small' },
  stdio: ['ignore', 'pipe', 'inherit'],
});
let text = '';
let url;
for await (const part of gateway.stdout.setEncoding('utf8')) {
  text += part;
  url = /http:\/\/127\.0\.0\.1:\d+\/v1/.exec(text)?.[0];
  if (url !== undefined) break;
}
assert.ok(url, text);
const client = new OpenAI({ baseURL: url, apiKey: key, maxRetries: 0 });
const ask = async (model) => {
  const { choices } = await client.chat.completions.create({ model, messages: [{ role: 'user', content: 'Who?' }] });
  return choices[0].message.content;
};
assert.equal(await ask('big'), 'I am big');
assert.deepEqual([seen[0].key, seen[0].body.model, seen[0].body.temperature], [`Bearer ${literalKey}`, 'big-1', 0.2]);
assert.equal(await ask('gpt-4'), 'I am big');
assert.equal(await ask('small'), 'I am small');
assert.equal(seen.at(-1).key, 'Bearer key-of-small');
down.add('big');
assert.equal(await ask('big'), 'I am small');
await assert.rejects(ask('nothing-of-the-kind'), { status: 400 });
gateway.kill('SIGTERM');
const [code] = await once(gateway, 'exit');
assert.equal(code, 0);
for (const { server } of [big, small]) {
  server.closeAllConnections();
  server.close();
}
