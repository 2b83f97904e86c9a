import process from 'node:process';
import type { ByteSource } from '../src/entries/testing.ts';
import { apiKey, chatEvents, chatRequest, chatResponse } from './bodies.ts';
import { loadBuilt } from './built.ts';
import { measuring, serveParent } from './control.ts';
import { gatewayOptions } from './gateway-options.ts';

/** Measures the gateway without sockets: `gateway.fetch` with a transport that responds from memory. */

export interface InProcess {
  /** CPU of a request and its JSON response in total, in microseconds. */
  jsonUs: number;
  /** The part of it for `Request`, `Response` and reading them. */
  webObjectsUs: number;
  /** CPU of one more event in a stream, each event in its own chunk. */
  eventUs: number;
  /** The same without the gateway. */
  webEventUs: number;
}

const { createGateway } = await loadBuilt();
const url = 'http://127.0.0.1/v1/chat/completions';
const json = Buffer.from(chatResponse);
const events = chatEvents.map((event) => Buffer.from(event));
/** A longer stream that repeats one event. The difference between the two streams gives the cost of an event. */
const longer = [
  ...events.slice(0, 50),
  ...Array.from({ length: 900 }, () => events[50] as Buffer),
  ...events.slice(50),
];

let chunks: readonly Uint8Array[] = [];
let contentType = '';

const gateway = createGateway({
  ...gatewayOptions('http://127.0.0.1:9/v1', () => undefined),
  transport: {
    async send() {
      return { status: 200, headers: { 'content-type': contentType }, body: sourceOf(chunks) };
    },
  },
});

function sourceOf(given: readonly Uint8Array[]): ByteSource {
  let at = 0;
  return { read: async () => given[at++] ?? null, cancel: () => undefined };
}

function request(stream: boolean): Request {
  return new Request(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${apiKey}`,
      'x-service-metadata': 'enabled',
    },
    body: chatRequest({ stream }),
  });
}

async function throughGateway(stream: boolean): Promise<void> {
  const response = await gateway.fetch(request(stream));
  if (response.status !== 200) throw new Error(await response.text());
  if (!stream) await response.text();
  else for await (const _ of response.body as ReadableStream<Uint8Array>);
}

/** Makes and reads the same web objects without the gateway. */
async function throughNothing(stream: boolean): Promise<void> {
  await request(stream).text();
  if (!stream) {
    await new Response(chatResponse, { status: 200, headers: { 'content-type': 'application/json' } }).text();
    return;
  }
  const source = sourceOf(chunks);
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const chunk = await source.read();
        if (chunk === null) controller.close();
        else controller.enqueue(chunk);
      },
    },
    { highWaterMark: 0 },
  );
  for await (const _ of new Response(body).body as ReadableStream<Uint8Array>);
}

async function cpuPerCall(call: () => Promise<void>, calls: number): Promise<number> {
  const start = process.cpuUsage();
  for (let done = 0; done < calls; done += 1) await call();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / calls;
}

/** Returns the best of a few turns, because other processes can only make a turn slower. */
async function best(call: () => Promise<void>, calls: number): Promise<number> {
  await cpuPerCall(call, calls);
  const turns: number[] = [];
  for (let turn = 0; turn < 5; turn += 1) turns.push(await cpuPerCall(call, calls));
  return Math.min(...turns);
}

async function perEvent(call: (stream: boolean) => Promise<void>): Promise<number> {
  chunks = events;
  const short = await best(() => call(true), 200);
  chunks = longer;
  const long = await best(() => call(true), 50);
  return (long - short) / (longer.length - events.length);
}

async function measure(): Promise<InProcess> {
  contentType = 'application/json';
  chunks = [json];
  // Warm-up: V8 still compiles after tens of thousands of requests.
  await cpuPerCall(() => throughGateway(false), 40_000);
  const jsonUs = await best(() => throughGateway(false), 1000);
  const webObjectsUs = await best(() => throughNothing(false), 1000);
  contentType = 'text/event-stream';
  return { jsonUs, webObjectsUs, eventUs: await perEvent(throughGateway), webEventUs: await perEvent(throughNothing) };
}

serveParent({ ...measuring, port: () => 0, measure });
