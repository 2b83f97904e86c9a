// Operating it: log lines, health, rate limits, overload, SIGTERM in the middle of a stream.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

const child = spawn(process.execPath, ['server.mjs'], { stdio: ['ignore', 'pipe', 'inherit'] });
process.on('exit', () => child.kill('SIGKILL'));
const lines = [];
const waiting = new Set();
createInterface({ input: child.stdout }).on('line', (line) => {
  lines.push(JSON.parse(line));
  for (const look of waiting) look();
});
/** The first log line that fits, which may be yet to come. */
function logged(fits) {
  return new Promise((resolve) => {
    const look = () => {
      const found = lines.find(fits);
      if (!found) return;
      waiting.delete(look);
      resolve(found);
    };
    waiting.add(look);
    look();
  });
}
const { port } = await logged(({ msg }) => msg === 'listening');
const url = `http://127.0.0.1:${port}`;
const ask = (key, body, signal) =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content: 'a secret prompt' }], ...body }),
    signal,
  });

assert.equal((await fetch(`${url}/health`)).status, 200);
const response = await ask('sk-of-the-app');
const { id } = await response.json();
assert.equal(response.headers.get('x-ratelimit-remaining-requests'), '2');
const line = await logged((one) => one.id === id);
assert.equal(line.status, 200);
assert.equal(line.level, 30);
assert.ok(!JSON.stringify(lines).includes('a secret prompt'));
assert.ok(!JSON.stringify(lines).includes('sk-of-the-app'));

// Rate limit: the fourth of a minute.
for (let at = 0; at < 2; at += 1) await (await ask('sk-of-the-app')).text();
const limited = await ask('sk-of-the-app');
assert.equal(limited.status, 429);
assert.ok(Number(limited.headers.get('retry-after')) >= 1);
await limited.text();
await logged((one) => one.status === 429);

// Overload: of three that take long, one is refused at once.
const stop = new AbortController();
const slow = { model: 'sandbox/timeout', stream: true };
const open = [1, 2, 3].map(() => ask('sk-of-another', slow, stop.signal));
const refused = await Promise.race(open);
assert.equal(refused.status, 503);
assert.equal(refused.headers.get('retry-after'), '1');
await refused.text();
stop.abort();
await Promise.allSettled(open);
await logged((one) => one.status === 499);

// SIGTERM: an open stream comes to its end, then the process does. Nobody new is let in.
const stream = await ask('sk-of-a-third', { model: 'sandbox/lorem', stream: true, sandbox: { token_ms: 15 } });
const reader = stream.body.pipeThrough(new TextDecoderStream()).getReader();
let text = (await reader.read()).value;
const exited = once(child, 'exit');
child.kill('SIGTERM');
for (let part = await reader.read(); !part.done; part = await reader.read()) text += part.value;
assert.match(text, /\[DONE\]/);
assert.ok(!/"error"/.test(text), 'the stream was not cut');
const [code] = await exited;
assert.equal(code, 0);
await assert.rejects(fetch(`${url}/health`));
await logged(({ msg }) => msg === 'closed');
