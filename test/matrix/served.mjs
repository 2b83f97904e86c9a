// A gateway that a runtime serves by HTTP, seen by a client of another process: what only a server of that runtime shows.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import process from 'node:process';
import { checkConsole } from './essentials-console.mjs';
import { check, equal, withinSeconds } from './essentials-support.mjs';

const { MODEL_GATEWAY_APP: app } = process.env;
// Node 20 has no WebSocket of its own.
const WebSocket = createRequire(join(app, 'package.json'))('ws');
const key = 'sk-console-0123456789';
const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
const pieces = 20;

/** The options of the gateway that is served, as text. @param upstreamUrl  base URL of `startSlowUpstream` */
export const optionsText = (upstreamUrl) => `{
  providers: { up: { baseUrl: '${upstreamUrl}/v1', apiKey: 'sk-up-0123456789' } },
  models: [{ slug: 'acme/fast', endpoints: [{ provider: 'up', model: 'm', pricing: { prompt: '0.000001', completion: '0.000002' } }] }],
  apiKeys: [{ key: '${key}', permissions: ['inference', 'management'] }],
  records: { enabled: true },
}`;

/** A provider that takes its time: its streams come in pieces, and it counts those that were left. */
async function startSlowUpstream() {
  let left = 0;
  const chunk = (fields) =>
    `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', model: 'm', choices: [], ...fields })}\n\n`;
  const says = (delta, finish_reason = null) => chunk({ choices: [{ index: 0, delta, finish_reason }] });
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request.setEncoding('utf8')) body += part;
    response.on('close', () => {
      if (!response.writableFinished) left++;
    });
    const usage = { prompt_tokens: 10, completion_tokens: pieces, total_tokens: 10 + pieces };
    if (!JSON.parse(body).stream) {
      const choices = [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }];
      response.writeHead(200, { 'content-type': 'application/json' });
      return void response.end(JSON.stringify({ id: 'x', object: 'chat.completion', model: 'm', choices, usage }));
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(says({ role: 'assistant', content: '' }));
    for (let at = 0; at < pieces && !response.destroyed; at++) {
      response.write(says({ content: 'word ' }));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    response.end(`${says({}, 'stop')}${chunk({ usage })}data: [DONE]\n\n`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    left: () => left,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** @returns a port of the loopback interface on which nothing listens */
async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/** Waits until a server answers. */
async function listening(base) {
  for (;;) {
    try {
      return await (await fetch(`${base}/openapi.json`)).text();
    } catch {
      await new Promise((go) => setTimeout(go, 50));
    }
  }
}

/**
 * Serves the gateway of `optionsText` by a command, checks it, and stops the command.
 * @param command     from the URL of the provider and the port: the executable and its arguments
 * @param hasConsole  true: it serves a console at `/console`
 */
export async function serveAndCheck(command, { hasConsole = false } = {}) {
  const upstream = await startSlowUpstream();
  const port = await freePort();
  const [executable, ...args] = await command(upstream.url, port);
  const child = spawn(executable, args, {
    cwd: app,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  try {
    return await checkServed(`http://127.0.0.1:${port}/v1`, upstream, hasConsole);
  } finally {
    child.kill('SIGKILL');
    upstream.close();
  }
}

/**
 * Checks a served gateway.
 * @param base      such as `http://127.0.0.1:8787/v1`
 * @param upstream  of `startSlowUpstream`, which the gateway calls
 * @param hasConsole  true: a console is at `/console`
 * @returns how many checks passed and failed
 */
async function checkServed(base, upstream, hasConsole) {
  const get = async (path) => (await fetch(base + path, { headers })).json();
  const ask = (stream, signal) =>
    fetch(`${base}/chat/completions`, {
      method: 'POST',
      headers,
      signal,
      body: JSON.stringify({ model: 'acme/fast', stream, max_tokens: 50, messages: [{ role: 'user', content: 'Hi' }] }),
    });
  const books = async () => {
    const { data: budgets } = await get('/workspaces/default/budgets');
    const { data: records } = await get('/generations?limit=100');
    const booked = records.reduce((sum, { cost_nano_usd }) => sum + cost_nano_usd, 0);
    return { spent: Math.round(budgets[0].spent_usd * 1e9), held: budgets[0].held_usd, booked, records };
  };
  const checks = {
    async 'holds a budget that is made while it runs'() {
      const body = JSON.stringify({ limit_usd: 1 });
      const made = await fetch(`${base}/workspaces/default/budgets/daily`, { method: 'PUT', headers, body });
      equal(made.status, 200, 'status');
    },
    async 'answers thirty at once, JSON and streams, each whole'() {
      const answers = await Promise.all(
        Array.from({ length: 30 }, async (_, at) => {
          const response = await ask(at % 2 === 0);
          const text = await response.text();
          return response.status === 200 && text.includes(at % 2 === 0 ? '[DONE]' : 'Hello');
        }),
      );
      equal(answers.filter(Boolean).length, 30, 'whole answers');
      const { spent, held, booked, records } = await books();
      equal(records.length, 30, 'records');
      equal(held, 0, 'held');
      equal(spent, booked, 'spent');
    },
    async 'stops the provider when its client leaves, and books what came'() {
      for (let at = 0; at < 5; at++) {
        const leaving = new AbortController();
        const reader = (await ask(true, leaving.signal)).body.getReader();
        await reader.read();
        leaving.abort();
      }
      for (let look = 0; upstream.left() < 5 && look < 100; look++) await new Promise((go) => setTimeout(go, 20));
      equal(upstream.left(), 5, 'streams that the provider was told to stop');
      for (let look = 0; look < 100; look++) {
        const { records } = await books();
        if (records.length === 35) break;
        await new Promise((go) => setTimeout(go, 20));
      }
      const { spent, held, booked, records } = await books();
      equal(records.filter(({ outcome }) => outcome === 'cancelled').length, 5, 'cancelled');
      equal(held, 0, 'held');
      equal(spent, booked, 'spent');
    },
    async 'serves Responses over a WebSocket, with the key of a browser'() {
      const socket = new WebSocket(`${base.replace('http', 'ws')}/responses`, [
        `openai-insecure-api-key.${key}`,
        'openai-beta.responses.v1',
      ]);
      await once(socket, 'open');
      const types = [];
      const done = new Promise((resolve, reject) => {
        socket.addEventListener('message', ({ data }) => {
          const { type } = JSON.parse(data);
          types.push(type);
          if (type === 'response.completed') resolve();
          if (type === 'error') reject(new Error(data));
        });
      });
      socket.send(JSON.stringify({ type: 'response.create', model: 'acme/fast', input: 'Hi', max_output_tokens: 50 }));
      await done;
      check(types.filter((type) => type === 'response.output_text.delta').length === pieces, 'every delta came');
      socket.close();
      const { spent, booked, records } = await books();
      equal(records.length, 36, 'records');
      equal(spent, booked, 'spent');
    },
    async 'refuses a WebSocket without a key'() {
      const socket = new WebSocket(`${base.replace('http', 'ws')}/responses`);
      const opened = await once(socket, 'open').then(
        () => 'opened',
        (error) => error.message,
      );
      equal(opened, 'Unexpected server response: 401', 'answer');
    },
  };
  if (hasConsole)
    checks['shows the console beside the gateway'] = () => checkConsole(base.replace(/\/v1$/, '/console'), fetch);
  await withinSeconds(20, listening(base));
  const counts = { passed: 0, failed: 0 };
  for (const [name, run] of Object.entries(checks)) {
    try {
      await withinSeconds(20, run());
      counts.passed++;
      process.stdout.write(`ok   served: ${name}\n`);
    } catch (error) {
      counts.failed++;
      process.stdout.write(`FAIL served: ${name}: ${error?.stack ?? error}\n`);
    }
  }
  return counts;
}
