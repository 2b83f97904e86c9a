import { once } from 'node:events';
import { type ClientRequest, createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { memoryUsage } from 'node:process';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { gatewayListener } from '../../adapters/hosts/node.ts';
import { createGateway } from '../../src/gateway.ts';
import type { Transport } from '../../src/transport/transport.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const event = 'data: {"id":"1","choices":[{"index":0,"delta":{"role":"assistant","content":"Hi"}}]}\n\n';

/** A provider that sends one event, and keeps its stream open until it is cancelled. */
const onceTalking: Transport = {
  async send() {
    let isFirst = true;
    let end: ((rest: null) => void) | undefined;
    const read = (): Promise<Uint8Array | null> => {
      if (!isFirst)
        return new Promise((resolve) => {
          end = resolve;
        });
      isFirst = false;
      return Promise.resolve(new TextEncoder().encode(event));
    };
    return { status: 200, headers: { 'content-type': 'text/event-stream' }, body: { read, cancel: () => end?.(null) } };
  },
};

/** A second collection takes what the first has only marked, once pending work is done. */
async function usedBytes(): Promise<number> {
  for (let pass = 0; pass < 3; pass++) {
    collect();
    await setImmediate();
  }
  const { heapUsed, external } = memoryUsage();
  return heapUsed + external;
}

describe('a stream that is open', () => {
  it('keeps the texts of its request once: not as bytes, and not as they were sent', async () => {
    const key = 'key-of-a-test';
    const providers = { up: { baseUrl: 'http://up.invalid/v1' } };
    const gateway = createGateway({ providers, apiKeys: [{ key }], transport: onceTalking });
    const server = createServer(gatewayListener(gateway)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const textBytes = 2_000_000;
    const messages = [{ role: 'user', content: 'x'.repeat(textBytes) }];
    const body = JSON.stringify({ model: 'up/x', stream: true, messages });
    const open = async (): Promise<ClientRequest> => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      const asked = request({ port, host: '127.0.0.1', path: '/v1/chat/completions', method: 'POST', headers });
      asked.on('error', () => undefined);
      asked.end(body);
      const [response] = (await once(asked, 'response')) as [IncomingMessage];
      expect(response.statusCode).toBe(200);
      response.on('error', () => undefined);
      await once(response, 'data');
      return asked;
    };
    const first = await open();
    const before = await usedBytes();
    const others: ClientRequest[] = [];
    for (let at = 0; at < 8; at++) others.push(await open());
    const perStream = ((await usedBytes()) - before) / others.length;
    for (const one of [first, ...others]) one.destroy();
    server.closeAllConnections();
    server.close();
    await gateway.close();
    // What a stream without usage has cost is estimated from the request, so its texts stay.
    expect(perStream / textBytes).toBeGreaterThan(0.9);
    expect(perStream / textBytes).toBeLessThan(1.5);
  });

  it('keeps them once in the process of the caller too, where the request came with its text', async () => {
    const key = 'key-of-a-test';
    const providers = { up: { baseUrl: 'http://up.invalid/v1' } };
    const gateway = createGateway({ providers, apiKeys: [{ key }], transport: onceTalking });
    const textBytes = 2_000_000;
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const open = async (content: string): Promise<ReadableStreamDefaultReader<Uint8Array>> => {
      const body = JSON.stringify({ model: 'up/x', stream: true, messages: [{ role: 'user', content }] });
      const response = await gateway.fetch('http://host/v1/chat/completions', { method: 'POST', headers, body });
      expect(response.status).toBe(200);
      const reader = (response.body as ReadableStream<Uint8Array>).getReader();
      await reader.read();
      return reader;
    };
    const first = await open('x'.repeat(textBytes));
    const before = await usedBytes();
    const others: ReadableStreamDefaultReader<Uint8Array>[] = [];
    for (let at = 0; at < 8; at++) others.push(await open(String(at).repeat(textBytes)));
    const perStream = ((await usedBytes()) - before) / others.length;
    for (const one of [first, ...others]) await one.cancel();
    await gateway.close();
    expect(perStream / textBytes).toBeGreaterThan(0.9);
    expect(perStream / textBytes).toBeLessThan(1.5);
  });
});
