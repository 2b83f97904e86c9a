import { once } from 'node:events';
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import express from 'express';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gatewayMiddleware as expressMiddleware, gatewayErrors } from '../../adapters/hosts/express.ts';
import { createGateway, type Gateway } from '../../src/index.ts';
import { keepAlive, readAll, receive, send } from '../contract/adapters/client.ts';
import type { Host } from '../contract/adapters/suite.ts';
import { checkError } from '../support/answer.ts';
import { type edgeHosts, otherHosts } from './edge-hosts.ts';
import { hostListener } from './hosts.ts';
import { readingHosts } from './reading-hosts.ts';

const key = 'sk-test-inference';
const bodyBytes = 100_000;
const chatWith = (content: string) => JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content }] });
const chat = chatWith('Grüße, 漢字 and 👩‍👩‍👧');

const compressors: Record<string, (data: string | Uint8Array) => Uint8Array> = {
  gzip: gzipSync,
  deflate: deflateSync,
  br: (data) => brotliCompressSync(data, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
  zstd: zstdCompressSync,
};
/** 40 MB of spaces, cut to what a request may have on its way. */
const bombs = Object.entries(compressors).map(
  ([coding, compress]) => [coding, compress(Buffer.alloc(40 * 1024 * 1024, 32)).subarray(0, bodyBytes)] as const,
);
/** What the parsers of hosts do not take. */
const more: Record<string, (data: string | Uint8Array) => Uint8Array> = {
  'x-gzip': gzipSync,
  'raw deflate': deflateRawSync,
  'gzip, zstd': (data) => zstdCompressSync(gzipSync(data)),
};
const headersOf = (coding: string, more: Record<string, string> = {}) => ({
  authorization: `Bearer ${key}`,
  'content-type': 'application/json',
  'content-encoding': coding === 'raw deflate' ? 'deflate' : coding,
  ...more,
});

function hosted(start: (gateway: Gateway) => Promise<Host>): () => string {
  let host: Host;
  let gateway: Gateway;
  beforeAll(async () => {
    gateway = createGateway({ providers: { sandbox: {} }, apiKeys: [{ key }], limits: { bodyBytes } });
    host = await start(gateway);
  });
  afterAll(async () => {
    await host.close();
    await gateway.close();
  });
  return () => `${host.baseUrl}/chat/completions`;
}

const contentOf = (text: string): string => JSON.parse(text).choices[0].message.content;
function errorOf(status: number, text: string): string {
  const json = JSON.parse(text);
  checkError(status, json);
  return json.error.message;
}

describe.each(Object.entries(readingHosts))('%s', (_, start) => {
  const url = hosted(start);

  it.each(Object.entries({ ...compressors, ...more }))('inflates a body: %s', async (coding, compress) => {
    const body = compress(chat);
    for (const headers of [{}, { 'transfer-encoding': 'chunked' }] as Record<string, string>[]) {
      const answer = await receive(url(), { headers: headersOf(coding, headers), body });
      expect([answer.status, contentOf(answer.text)]).toEqual([200, expect.stringContaining('漢字 and 👩‍👩‍👧')]);
    }
  });

  it('inflates a body that arrives byte by byte', async () => {
    for (const [coding, compress] of Object.entries(compressors)) {
      const { sent, response } = send(url(), { headers: headersOf(coding), bodyFollows: true });
      sent.flushHeaders();
      for (const byte of compress(chat)) if (!sent.write(Uint8Array.of(byte))) await once(sent, 'drain');
      sent.end();
      expect(contentOf((await readAll(await response)).text)).toContain('漢字');
    }
  });

  it('refuses what is too large, damaged, cut, empty or unknown, and keeps the connection', async () => {
    const agent = keepAlive();
    const ports = new Set<number | undefined>();
    for (const [coding, compress] of Object.entries(compressors)) {
      const large = compress(chatWith('x'.repeat(bodyBytes)));
      const whole = compress(chat);
      const refused: [Uint8Array, number, RegExp][] = [
        [large, 413, /larger than 100000 bytes/],
        [new Map(bombs).get(coding) as Uint8Array, 413, /larger than 100000 bytes/],
        [whole.subarray(0, -1), 400, /not valid .* data: it is damaged, cut off/],
        [Buffer.from(chat), 400, /not valid .* data/],
        [Buffer.concat([whole, Buffer.from('trailing')]), 400, /goes on after its end/],
        [new Uint8Array(), 400, /empty/],
      ];
      for (const [body, status, message] of refused) {
        const headers = headersOf(coding, { 'content-length': String(body.length) });
        const response = await send(url(), { headers, body, agent }).response;
        ports.add(response.socket.localPort);
        const answer = await readAll(response);
        expect([coding, answer.status, errorOf(status, answer.text)]).toEqual([
          coding,
          status,
          expect.stringMatching(message),
        ]);
      }
    }
    const unknown = await receive(url(), { headers: headersOf('compress'), body: chat, agent });
    expect([unknown.status, unknown.headers['accept-encoding']]).toEqual([415, 'zstd, br, gzip, deflate']);
    expect(ports.size).toBe(1);
    agent.destroy();
  });

  it('lives on when the client leaves in the middle of a body', async () => {
    const body = gzipSync(chat);
    for (const length of [20, body.length - 1]) {
      const { sent, response } = send(url(), {
        headers: headersOf('gzip', { 'content-length': String(body.length) }),
        bodyFollows: true,
      });
      response.catch(() => undefined);
      await new Promise((resolve) => sent.write(body.subarray(0, length), resolve));
      sent.destroy();
    }
    expect((await receive(url(), { headers: headersOf('gzip'), body })).status).toBe(200);
  });
});

describe('Express after express.json()', () => {
  const url = hosted(otherHosts['Express after express.json()'] as (typeof edgeHosts)[string]);

  it.each(Object.keys(compressors))('takes what the parser inflates: %s', async (coding) => {
    const body = compressors[coding]?.(chat);
    const answer = await receive(url(), { headers: headersOf(coding), body });
    expect([answer.status, contentOf(answer.text)]).toEqual([200, expect.stringContaining('漢字')]);
  });
  it('reads what the parser does not know, with gatewayErrors', async () => {
    for (const coding of ['gzip, zstd', 'x-gzip']) {
      const answer = await receive(url(), { headers: headersOf(coding), body: more[coding]?.(chat) });
      expect([answer.status, contentOf(answer.text)]).toEqual([200, expect.stringContaining('漢字')]);
    }
    const unknown = await receive(url(), { headers: headersOf('compress'), body: chat });
    expect([unknown.status, unknown.headers['accept-encoding']]).toEqual([415, 'zstd, br, gzip, deflate']);
  });
  it('has the error of the gateway for a body that the parser could not inflate', async () => {
    for (const [coding, compress] of Object.entries(compressors)) {
      for (const body of [compress(chat).subarray(0, -3), Buffer.from(chat)]) {
        const { status, text } = await receive(url(), { headers: headersOf(coding), body });
        expect([status, errorOf(400, text)]).toEqual([400, 'The compressed body is damaged or cut off']);
      }
    }
    for (const [coding, body] of bombs)
      expect((await receive(url(), { headers: headersOf(coding), body })).status).toBe(413);
  });
});

describe('a parser of a host without zstd', () => {
  it('leaves the body to the gateway', async () => {
    const gateway = createGateway({ providers: { sandbox: {} }, apiKeys: [{ key }] });
    // As those of Express 4, and of Express 5 on an older Node.
    const parse: express.RequestHandler = (_request, _response, next) =>
      next(
        Object.assign(new Error('unsupported content encoding "zstd"'), { type: 'encoding.unsupported', status: 415 }),
      );
    const app = express().use(parse).use('/v1', expressMiddleware(gateway), gatewayErrors(gateway));
    const host = await hostListener(app, '/v1/chat/completions');
    const answer = await receive(host.baseUrl, { headers: headersOf('zstd'), body: zstdCompressSync(chat) });
    expect([answer.status, contentOf(answer.text)]).toEqual([200, expect.stringContaining('漢字')]);
    await host.close();
    await gateway.close();
  });
});
