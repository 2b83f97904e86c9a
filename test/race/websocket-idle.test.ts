import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, expect, it } from 'vitest';
import WebSocket from 'ws';
import { childFlags } from '../support/child-flags.ts';
import { testKey } from '../support/gateway.ts';

const many = 2_000;
const script = join(import.meta.dirname, 'websocket-idle-child.ts');
const child = spawn(process.execPath, ['--expose-gc', ...childFlags, script], {
  stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
});
const sockets: WebSocket[] = [];
let url = '';
beforeAll(async () => {
  const [message] = (await once(child, 'message')) as [{ url: string }];
  url = message.url.replace('http', 'ws');
}, 30_000);
afterAll(() => {
  for (const socket of sockets) socket.terminate();
  child.kill('SIGKILL');
});

async function memory(): Promise<number> {
  const answer = once(child, 'message') as Promise<[{ rss: number }]>;
  child.send('memory');
  return (await answer)[0].rss;
}

/** The milliseconds until a response is complete. */
async function turn(socket: WebSocket, input: string, previous: string | null): Promise<string> {
  const done = new Promise<string>((resolve, reject) => {
    socket.on('message', function listen(data) {
      const { type, response } = JSON.parse(String(data));
      if (type === 'error') reject(new Error(String(data)));
      if (type !== 'response.completed') return;
      socket.off('message', listen);
      resolve(response.id);
    });
  });
  const on = previous === null ? {} : { previous_response_id: previous };
  socket.send(JSON.stringify({ type: 'response.create', model: 'sandbox/echo', input, ...on }));
  return done;
}

async function open(): Promise<WebSocket> {
  const socket = new WebSocket(`${url}/responses`, { headers: { authorization: `Bearer ${testKey}` } });
  await once(socket, 'open');
  sockets.push(socket);
  return socket;
}

it('2,000 idle WebSockets take less than 200 MB, each with a conversation', async () => {
  const first = await open();
  await turn(first, 'Hello', null);
  const before = await memory();
  const ids = new Map<WebSocket, string>();
  for (let at = 0; at < many; at += 50) {
    await Promise.all(
      Array.from({ length: Math.min(50, many - at) }, async () => {
        const socket = await open();
        ids.set(socket, await turn(socket, 'Hello', null));
      }),
    );
  }
  const grown = (await memory()) - before;
  expect(grown).toBeLessThan(200 * 1024 * 1024);
  // And they are still served.
  const [socket, id] = [...ids][many - 1] as [WebSocket, string];
  await turn(socket, 'Again', id);
}, 120_000);

it('a client that does not read stalls nobody, and holds little', async () => {
  const slow = await open();
  const before = await memory();
  // The kernel's buffers fill up; then the server waits.
  slow.pause();
  for (let at = 0; at < 16; at++) {
    const input = 'x'.repeat(200_000);
    slow.send(JSON.stringify({ type: 'response.create', model: 'sandbox/echo', input, stream_id: `s${at}` }));
  }
  const quick = await open();
  let previous: string | null = null;
  for (let at = 0; at < 20; at++) previous = await turn(quick, `${at}`, previous);
  expect((await memory()) - before).toBeLessThan(100 * 1024 * 1024);
  slow.resume();
}, 60_000);
