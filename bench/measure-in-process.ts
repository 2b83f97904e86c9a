import process from 'node:process';
import type { ByteSource } from '../src/index.ts';
import { apiKey, chatAnswer, chatEvents, chatRequest } from './bodies.ts';
import { loadBuilt } from './built.ts';
import { answerParent, measuring } from './control.ts';
import { gatewayOptions } from './gateway-options.ts';

/** The gateway alone, without a socket: `gateway.fetch` over a transport that answers from memory. */

export interface InProcess {
  /** CPU in microseconds: of a request and its JSON answer, all included. */
  jsonUs: number;
  /** Of that, what `Request`, `Response` and reading them take by themselves. */
  webObjectsUs: number;
  /** Of one more event in a stream, each event a piece of its own; likewise without the gateway. */
  eventUs: number;
  webEventUs: number;
}

const { createGateway } = await loadBuilt();
const url = 'http://127.0.0.1/v1/chat/completions';
const json = Buffer.from(chatAnswer);
const events = chatEvents.map((event) => Buffer.from(event));
/** Its middle event, again and again: the difference between two lengths is the cost of an event. */
const longer = [
  ...events.slice(0, 50),
  ...Array.from({ length: 900 }, () => events[50] as Buffer),
  ...events.slice(50),
];

let pieces: readonly Uint8Array[] = [];
let contentType = '';

const gateway = createGateway({
  ...gatewayOptions('http://127.0.0.1:9/v1', () => undefined),
  transport: {
    async send() {
      return { status: 200, headers: { 'content-type': contentType }, body: sourceOf(pieces) };
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

/** The same web objects, with nothing between them. */
async function throughNothing(stream: boolean): Promise<void> {
  const asked = request(stream);
  await asked.text();
  if (!stream) {
    await new Response(chatAnswer, { status: 200, headers: { 'content-type': 'application/json' } }).text();
    return;
  }
  const source = sourceOf(pieces);
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const piece = await source.read();
        if (piece === null) controller.close();
        else controller.enqueue(piece);
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

/** The best of a few turns: what else runs on the machine only ever adds. */
async function best(call: () => Promise<void>, calls: number): Promise<number> {
  await cpuPerCall(call, calls);
  const turns: number[] = [];
  for (let turn = 0; turn < 5; turn += 1) turns.push(await cpuPerCall(call, calls));
  return Math.min(...turns);
}

async function perEvent(call: (stream: boolean) => Promise<void>): Promise<number> {
  pieces = events;
  const short = await best(() => call(true), 200);
  pieces = longer;
  const long = await best(() => call(true), 50);
  return (long - short) / (longer.length - events.length);
}

async function measure(): Promise<InProcess> {
  contentType = 'application/json';
  pieces = [json];
  // V8 still compiles after tens of thousands of requests.
  await cpuPerCall(() => throughGateway(false), 40_000);
  const jsonUs = await best(() => throughGateway(false), 1000);
  const webObjectsUs = await best(() => throughNothing(false), 1000);
  contentType = 'text/event-stream';
  return { jsonUs, webObjectsUs, eventUs: await perEvent(throughGateway), webEventUs: await perEvent(throughNothing) };
}

answerParent({ ...measuring, port: () => 0, measure });
