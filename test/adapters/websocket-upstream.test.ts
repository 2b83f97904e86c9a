import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import WebSocket, { WebSocketServer } from 'ws';
import { serve } from '../../adapters/hosts/node.ts';
import { createGateway } from '../../src/index.ts';
import type { RequestRecord } from '../../src/telemetry/record.ts';
import { testKey, testPricing } from '../support/gateway.ts';

const closing: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

type Json = Record<string, unknown>;

/** A provider over real sockets that says `n` words, and then ends or says no more. */
async function provider(words: number, ends: boolean) {
  const asked: Json[] = [];
  const closed: number[] = [];
  const server = createServer((_, response) => response.writeHead(500).end());
  const sockets = new WebSocketServer({ server, path: '/v1/responses' });
  sockets.on('connection', (socket) => {
    socket.on('close', () => closed.push(performance.now()));
    socket.on('message', (data) => {
      asked.push(JSON.parse(String(data)));
      const say = (event: Json) => socket.send(JSON.stringify(event));
      const head = { id: `resp_${asked.length}`, object: 'response', created_at: 1, model: 'm' };
      say({ type: 'response.created', response: { ...head, status: 'in_progress', output: [] } });
      const text = 'word '.repeat(words);
      const part = { type: 'output_text', text, annotations: [] };
      const item = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [part] };
      const place = { output_index: 0, content_index: 0, item_id: 'msg_1' };
      say({ type: 'response.output_item.added', output_index: 0, item: { ...item, content: [] } });
      for (let word = 0; word < words; word++) say({ type: 'response.output_text.delta', ...place, delta: 'word ' });
      if (!ends) return;
      say({ type: 'response.output_item.done', output_index: 0, item });
      const usage = { input_tokens: 10, output_tokens: words, total_tokens: 10 + words };
      say({ type: 'response.completed', response: { ...head, status: 'completed', output: [item], usage } });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    for (const socket of sockets.clients) socket.terminate();
    server.closeAllConnections();
    server.close();
  });
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, asked, closed };
}

async function client(baseUrl: string) {
  const records: RequestRecord[] = [];
  const recorded: (() => void)[] = [];
  const gateway = createGateway({
    providers: { up: { baseUrl, dialect: 'openai-responses', webSocket: true, apiKey: 'sk-up-0123456789' } },
    models: [{ slug: 'acme/fast', endpoints: [{ provider: 'up', model: 'm', pricing: testPricing }] }],
    apiKeys: [{ key: testKey }],
    onRecord(record) {
      records.push(record);
      for (const tell of recorded) tell();
    },
  });
  const server = await serve(gateway, { port: 0 });
  closing.push(
    () => gateway.close(),
    () => server.close(0),
  );
  const headers = { authorization: `Bearer ${testKey}` };
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/responses`, { headers });
  await once(socket, 'open');
  const send = (fields: object) =>
    socket.send(JSON.stringify({ type: 'response.create', model: 'acme/fast', ...fields }));
  const until = (isLast: RegExp) =>
    new Promise<Json[]>((resolve) => {
      const events: Json[] = [];
      socket.on('message', (data) => {
        events.push(JSON.parse(String(data)));
        if (isLast.test(String(events.at(-1)?.type))) resolve(events);
      });
    });
  const record = () => new Promise<void>((resolve) => recorded.push(resolve));
  return { socket, send, until, records, record };
}

it('goes from the client to the provider over two real connections, with the new items alone', async () => {
  const { baseUrl, asked } = await provider(3, true);
  const { send, until, records } = await client(baseUrl);
  const first = until(/completed/);
  send({ input: 'a' });
  const id = ((await first).at(-1)?.response as Json | undefined)?.id;
  const second = until(/completed/);
  send({ input: 'b', previous_response_id: id });
  await second;
  expect(asked.map(({ previous_response_id: previous }) => previous)).toEqual([undefined, 'resp_1']);
  expect(asked[1]?.input).toHaveLength(1);
  expect(records.map(({ costNanoUsd }) => Number(costNanoUsd))).toEqual([44_000, 44_000]);
});

it('is left at the provider within 50 ms after the client has left, and what came is paid', async () => {
  const { baseUrl, closed } = await provider(3, false);
  const { socket, send, until, records, record } = await client(baseUrl);
  const begun = until(/delta/);
  send({ input: 'a' });
  await begun;
  const recorded = record();
  const leftAtMs = performance.now();
  socket.terminate();
  await recorded;
  while (closed.length === 0) await new Promise(setImmediate);
  expect((closed[0] as number) - leftAtMs).toBeLessThan(50);
  expect(Number(records[0]?.costNanoUsd)).toBeGreaterThan(0);
});
