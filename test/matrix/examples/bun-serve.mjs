// Run by Bun, with the path of the packed adapter: what Bun.serve makes of streams, and how its `serve` ends.
import assert from 'node:assert/strict';
import { connect } from 'node:net';

const { serve } = await import(process.argv[2]);
/** Longer than the 10 s after which Bun, left alone, closes a silent connection. */
const silentMs = 11_000;
const pieces = 2_000;
const encoder = new TextEncoder();
let pulls = 0;
let cancelled = Promise.withResolvers();

/** Bodies by path: `/wait/<ms>` is silent for so long between two pieces. */
const sources = {
  async wait(step, ms) {
    if (step === 1) await Bun.sleep(Number(ms));
    return step < 2 ? encoder.encode(['one', 'two'][step]) : null;
  },
  async break(step) {
    if (step === 0) return encoder.encode('one');
    await Bun.sleep(20);
    throw new Error('This error is part of the test.');
  },
  async flood(step) {
    pulls++;
    return step < pieces ? new Uint8Array(65_536) : null;
  },
};
const gateway = {
  basePath: '/llm',
  async handle(request) {
    const [, , name, argument] = new URL(request.url).pathname.split('/');
    let step = 0;
    const body = new ReadableStream(
      {
        async pull(controller) {
          const piece = await sources[name](step++, argument);
          if (piece === null) controller.close();
          else controller.enqueue(piece);
        },
        cancel: () => cancelled.resolve(request.signal.aborted),
      },
      { highWaterMark: 0 },
    );
    return new Response(body);
  },
  /** A session that says back what it hears, or much more than a client reads at once. */
  async upgrade(request) {
    if (request.headers.get('authorization') !== 'Bearer key') return { response: new Response('no', { status: 401 }) };
    const open = (peer) => ({
      async message(frame) {
        if (frame !== 'flood') return peer.send(`heard ${frame}`);
        for (let at = 0; at < 200; at++) {
          sent = at + 1;
          await peer.send('x'.repeat(200_000));
        }
      },
      pong() {},
      drain: () => peer.close(1001, 'The server stops'),
      stop: () => peer.close(1001, 'The server stops'),
      closed: () => left.resolve(),
    });
    return { response: null, protocol: null, maxFrameBytes: 1_000_000, open };
  },
};
let sent = 0;
let left = Promise.withResolvers();
const socketAt = async (url, authorization = 'Bearer key') => {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/responses`, { headers: { authorization } });
  const opened = Promise.withResolvers();
  socket.onopen = () => opened.resolve();
  socket.onerror = () => opened.reject(new Error('refused'));
  await opened.promise;
  return socket;
};

const server = serve(gateway, { port: 0 });
assert.equal(server.url, `http://127.0.0.1:${server.port}/llm`);
const text = async (path) => (await fetch(server.url + path)).text();

const checks = {
  'keeps a connection on which nothing is sent for long': async () => {
    assert.equal(await text(`/wait/${silentMs}`), 'onetwo');
  },
  'cuts the connection when the body breaks': async () => {
    await assert.rejects(text('/break'));
  },
  'stops pulling while the client does not read, and cancels when it leaves': async () => {
    const socket = connect(server.port, '127.0.0.1').pause();
    socket.write('GET /llm/flood HTTP/1.1\r\nHost: x\r\n\r\n');
    let before = -1;
    while (before !== pulls || pulls === 0) {
      before = pulls;
      for (let i = 0; i < 20; i++) await text('/wait/0');
    }
    assert.ok(pulls < pieces / 2, `${pulls} pulls`);
    socket.destroy();
    await cancelled.promise;
  },
};
checks['opens WebSockets to whom the gateway lets in'] = async () => {
  await assert.rejects(socketAt(server.url, 'Bearer wrong'));
  const socket = await socketAt(server.url);
  const heard = new Promise((resolve) => {
    socket.onmessage = ({ data }) => resolve(data);
  });
  socket.send('hello');
  assert.equal(await heard, 'heard hello');
  let received = 0;
  const all = new Promise((resolve) => {
    socket.onmessage = () => {
      received++;
      if (received === 200) resolve();
    };
  });
  socket.send('flood');
  await all;
  assert.equal(sent, 200);
  left = Promise.withResolvers();
  socket.close();
  await left.promise;
};
let failed = 0;
const run = async ([name, check]) => {
  try {
    await check();
    console.log(`ok   ${name}`);
  } catch (error) {
    failed++;
    console.log(`FAIL ${name}: ${error.message}`);
  }
};
await Promise.all(Object.entries(checks).map(run));
await run([
  'accepts nothing more once it is closed, and lets open streams finish',
  async () => {
    const socket = await socketAt(server.url);
    const code = new Promise((resolve) => {
      socket.onclose = (event) => resolve(event.code);
    });
    const open = await fetch(`${server.url}/wait/300`);
    const closed = server.close();
    assert.equal(await code, 1001);
    await assert.rejects(text('/wait/0'));
    assert.equal(await open.text(), 'onetwo');
    await closed;
  },
]);
await run([
  'cuts what is open when the time is up',
  async () => {
    cancelled = Promise.withResolvers();
    const brief = serve(gateway, { port: 0, drainMs: 50 });
    const open = await fetch(`${brief.url}/wait/60000`);
    await brief.close();
    await assert.rejects(open.text());
    await cancelled.promise;
  },
]);
process.exit(failed > 0 ? 1 : 0);
