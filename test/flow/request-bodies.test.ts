import { randomBytes } from 'node:crypto';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import type { HandleContext } from '../../src/http/context.ts';
import { defineOperation } from '../../src/operations/operation.ts';
import { checkError, hello, managementKey, testGateway, testKey } from '../support/gateway.ts';
import { completion } from '../support/upstream.ts';

const chat = { model: 'acme/fast', messages: hello };
const chatText = JSON.stringify(chat);
const form = 'application/x-www-form-urlencoded';

/** Sends a body exactly as it is given: a type of null sends none. */
async function post(
  path: string,
  type: string | null,
  { body = chatText as BodyInit, key = testKey, headers = {}, context = {} as HandleContext } = {},
) {
  const { gateway, upstream } = testGateway();
  upstream.always({ body: completion() });
  const request = new Request(`http://gateway.test/v1${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, ...headers },
    body,
  });
  if (type === null) request.headers.delete('content-type');
  else request.headers.set('content-type', type);
  const response = await gateway.handle(request, context);
  const json = await response.json();
  if (!response.ok) checkError(response.status, json);
  return { status: response.status, headers: response.headers, json, sent: upstream.sent };
}

const types: [string | null, 'both' | 'chat' | 'none'][] = [
  ['application/json', 'both'],
  ['application/json; charset=utf-8', 'both'],
  ['Application/JSON ;charset="UTF-8"', 'both'],
  ['application/json;charset=us-ascii;x=y', 'both'],
  [null, 'chat'],
  ['', 'chat'],
  [form, 'chat'],
  [`${form}; charset=UTF-8`, 'chat'],
  ['text/plain', 'none'],
  ['text/plain;charset=UTF-8', 'none'],
  ['multipart/form-data; boundary=x', 'none'],
  ['application/json; charset=utf-16', 'none'],
  ['application/jsonp', 'none'],
  ['text/plain; application/json', 'none'],
  ['text/plain, application/json', 'none'],
];

describe('the content type of a body', () => {
  it.each(types)('%j may ask a model as curl does, or not: %s', async (type, taken) => {
    const { status, sent, headers } = await post('/chat/completions', type);
    expect([status, sent.length]).toEqual(taken === 'none' ? [415, 0] : [200, 1]);
    if (status === 415) expect(headers.get('accept-post')).toBe('application/json');
  });
  it.each(types)('%j may manage, or not: %s', async (type, taken) => {
    const body = '{"name":"Acme","slug":"acme"}';
    const { status, json } = await post('/workspaces', type, { body, key: managementKey });
    expect(status).toBe(taken === 'both' ? 201 : 415);
    if (status === 415)
      expect(json.error.message).toBe('Send the body as JSON, with the header "Content-Type: application/json"');
  });
  it('manages nothing for a form of another web site, whoever has parsed it', async () => {
    const parsed = { name: 'Acme', slug: 'acme' };
    for (const type of [form, 'text/plain', 'multipart/form-data; boundary=x', null]) {
      const { status } = await post('/workspaces', type, { key: managementKey, context: { body: parsed } });
      expect([type, status]).toEqual([type, 415]);
    }
  });
  it.each([null, form, 'text/plain'])('%j asks no model for another web site', async (type) => {
    for (const origin of ['https://evil.example', 'null']) {
      const { status, sent } = await post('/chat/completions', type, { headers: { origin } });
      expect([status, sent]).toEqual([415, []]);
    }
    expect(
      (await post('/chat/completions', 'application/json', { headers: { origin: 'https://a.example' } })).status,
    ).toBe(200);
  });
  it('says so where the host took JSON for a form', async () => {
    const context = { body: { [chatText]: '' } };
    expect((await post('/chat/completions', form, { context })).status).toBe(415);
    expect((await post('/chat/completions', null, { context: { body: chat } })).status).toBe(200);
  });
  it('is looked at after the key and its permission', async () => {
    expect((await post('/workspaces', form, { key: 'sk-wrong-key' })).status).toBe(401);
    expect((await post('/workspaces', form)).status).toBe(403);
  });
});

const codings: [string, (data: string | Uint8Array) => Uint8Array<ArrayBuffer>][] = [
  ['gzip', gzipSync],
  ['x-gzip', gzipSync],
  ['GZIP', gzipSync],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
  ['identity, gzip', gzipSync],
  ['gzip, zstd', (data) => zstdCompressSync(gzipSync(data))],
  ['deflate,br , gzip', (data) => gzipSync(brotliCompressSync(deflateSync(data)))],
];
const json = 'application/json';

describe('a compressed body', () => {
  const as = (encoding: string, options: Parameters<typeof post>[2]) =>
    post('/chat/completions', json, { ...options, headers: { 'content-encoding': encoding, ...options?.headers } });

  it.each(codings)('is inflated, whatever its length is declared as: %s', async (encoding, compress) => {
    const body = compress(chatText);
    for (const headers of [{}, { 'content-length': String(body.length) }]) {
      const { status, sent } = await as(encoding, { body, headers });
      expect([status, sent[0]?.body.messages]).toEqual([200, hello]);
    }
    const read: HandleContext = { readText: (_, done) => done(body) };
    expect((await as(encoding, { context: read })).sent[0]?.body.messages).toEqual(hello);
  });
  it('is inflated for every operation that takes one, and as a form of curl', async () => {
    const body = gzipSync('{"name":"Acme","slug":"acme"}');
    const headers = { 'content-encoding': 'gzip' };
    const { status, json: created } = await post('/workspaces', json, { body, headers, key: managementKey });
    expect([status, created.data.name]).toEqual([201, 'Acme']);
    expect((await post('/chat/completions', form, { body: gzipSync(chatText), headers })).status).toBe(200);
    expect((await post('/chat/completions/explain', json, { body: gzipSync(chatText), headers })).status).toBe(200);
  });
  it('is inflated for the host app itself as well, with a key and as a caller', async () => {
    const { gateway, upstream } = testGateway();
    upstream.always({ body: completion() });
    const init = { method: 'POST', headers: { 'content-type': json, 'content-encoding': 'zstd' } };
    const body = zstdCompressSync(chatText);
    const asKey = { ...init, headers: { ...init.headers, authorization: `Bearer ${testKey}` }, body };
    expect((await gateway.fetch('http://gateway.test/v1/chat/completions', asKey)).status).toBe(200);
    const caller = gateway.as({ workspaceId: 'team', permissions: ['inference'] });
    expect((await caller.fetch('http://gateway.test/v1/chat/completions', { ...init, body })).status).toBe(200);
    expect(upstream.sent.map((one) => one.body.messages)).toEqual([hello, hello]);
  });
  it.each(['compress', 'gzip, x-unknown', 'zstd;q=1', 'dcz', 'gzip,'.repeat(4)])(
    'is a 415 that says which are taken: %s',
    async (encoding) => {
      const refused = await as(encoding, { body: gzipSync(chatText) });
      expect([refused.status, refused.json.error.message]).toEqual([
        415,
        expect.stringMatching(/^The body is compressed .*zstd, br, gzip, deflate, or without Content-Encoding$/),
      ]);
      expect(refused.headers.get('accept-encoding')).toBe('zstd, br, gzip, deflate');
      expect(refused.sent).toEqual([]);
    },
  );
  it('is none where it says identity, or where the host has decompressed it', async () => {
    for (const encoding of ['Identity', 'identity', '', ' , ']) expect((await as(encoding, {})).status).toBe(200);
    for (const body of [chat, chatText, Buffer.from(chatText)])
      expect((await as('gzip', { context: { body } })).status).toBe(200);
    expect((await as('x-unknown', { context: { body: chat } })).status).toBe(200);
  });
  it('is a 400 that says so where it is not what it says, or cut', async () => {
    const cases: [string, Uint8Array<ArrayBuffer> | string][] = [
      ['gzip', chatText],
      ['gzip', gzipSync(chatText).subarray(0, -3)],
      ['zstd', zstdCompressSync(chatText).subarray(0, 40)],
      ['br', Buffer.concat([brotliCompressSync(chatText), Buffer.from('}')])],
      ['br, gzip', brotliCompressSync(chatText)],
      ['gzip, br', brotliCompressSync(chatText)],
    ];
    for (const [encoding, body] of cases) {
      const { status, json: refused, sent } = await as(encoding, { body });
      const coding = encoding === 'br, gzip' || encoding === 'gzip, br' ? 'gzip' : encoding;
      const message = `The body is not valid ${coding} data: it is damaged, cut off, or goes on after its end`;
      expect([status, refused.error.message, sent]).toEqual([400, message, []]);
      expect(refused.error.metadata.issues).toEqual([{ path: '', message }]);
    }
  });
  it('is checked like any other', async () => {
    const messageOf = async (text: string | Uint8Array<ArrayBuffer>) =>
      (await as('gzip', { body: gzipSync(text) })).json.error.message;
    expect(await messageOf('{"model":')).toBe('The body is not valid JSON');
    expect(await messageOf('{"model":"x"}')).toMatch(/^messages: /);
    expect(await messageOf('')).toMatch(/empty/);
    expect(await messageOf(Buffer.from([0x7b, 0xff]))).toBe('The body is not valid UTF-8');
    expect((await as('gzip', { body: '' })).json.error.message).toMatch(/empty/);
    expect((await as('gzip', { body: gzipSync(`\ufeff${chatText}`) })).status).toBe(200);
  });
  it.each(codings)('has the limit of any other, inflated and in each step: %s', async (encoding, compress) => {
    const { gateway, upstream } = testGateway({ limits: { bodyBytes: 4000 } });
    upstream.always({ body: completion() });
    const ask = async (content: string, context: HandleContext = {}) => {
      const body = compress(JSON.stringify({ ...chat, messages: [{ role: 'user', content }] }));
      const headers = { authorization: `Bearer ${testKey}`, 'content-type': json, 'content-encoding': encoding };
      const request = new Request('http://gateway.test/v1/chat/completions', { method: 'POST', headers, body });
      const response = await gateway.handle(request, context);
      const { error } = await response.json();
      return [response.status, error?.metadata.limit_bytes];
    };
    expect(await ask('x'.repeat(3900))).toEqual([200, undefined]);
    expect(await ask('x'.repeat(4000))).toEqual([413, 4000]);
    expect(await ask('x'.repeat(1e6))).toEqual([413, 4000]);
    const large: HandleContext = { readText: (_, done) => done(randomBytes(4001)) };
    expect(await ask('', large)).toEqual([413, 4000]);
  });
  it('is not inflated for a step between that is larger than the limit, though the result is small', async () => {
    const { gateway } = testGateway({ limits: { bodyBytes: 4000 } });
    // Empty members of gzip: nothing but headers, a thousand times.
    const body = zstdCompressSync(Buffer.concat(Array.from({ length: 1000 }, () => gzipSync(''))));
    const headers = { authorization: `Bearer ${testKey}`, 'content-type': json, 'content-encoding': 'gzip, zstd' };
    const request = new Request('http://gateway.test/v1/chat/completions', { method: 'POST', headers, body });
    expect([body.length < 4000, (await gateway.handle(request)).status]).toEqual([true, 413]);
  });
  it('is not read where it is refused without', async () => {
    const read = vi.fn();
    const context: HandleContext = { beforeBody: read, readText: read };
    expect((await as('x-unknown', { context })).status).toBe(415);
    expect((await as('gzip', { context, headers: { 'content-length': '99999999' } })).status).toBe(413);
    expect(read).not.toHaveBeenCalled();
  });
  it('may be left in the middle', async () => {
    const { gateway } = testGateway();
    const client = new AbortController();
    const half = gzipSync(chatText).subarray(0, 20);
    const body = new ReadableStream({ start: (sink) => sink.enqueue(half) });
    const headers = { authorization: `Bearer ${testKey}`, 'content-type': json, 'content-encoding': 'gzip' };
    const init = { method: 'POST', headers, body, signal: client.signal, duplex: 'half' } as RequestInit;
    const answer = gateway.handle(new Request('http://gateway.test/v1/chat/completions', init));
    client.abort();
    expect((await answer).status).toBe(408);
  });
});

describe('a body that is not UTF-8', () => {
  const [before, after] = chatText.split('Hello');
  const latin1 = Buffer.concat([
    Buffer.from(`${before}`),
    Buffer.from([0x63, 0x61, 0x66, 0xe9]),
    Buffer.from(`${after}`),
  ]);
  const given = new Uint8Array(latin1);
  const half = new Uint8Array(Buffer.from(`${chatText}\u00e9`).subarray(0, -1));
  it.each<[string, Parameters<typeof post>[2]]>([
    ['of no declared length', { body: given }],
    ['of no declared length, cut within a character', { body: half }],
    ['of a declared length', { body: given, headers: { 'content-length': String(given.length) } }],
    [
      'of a declared length, cut within a character',
      { body: half, headers: { 'content-length': String(half.length) } },
    ],
    ['that the host has read', { context: { body: given } }],
    [
      'that the host reads as bytes',
      { headers: { 'content-length': '9' }, context: { readText: (_, done) => done(given) } },
    ],
  ])('is a 400, wherever it is read: %s', async (_, options) => {
    const { status, json, sent } = await post('/chat/completions', 'application/json', options);
    expect([status, json.error.message, sent]).toEqual([400, 'The body is not valid UTF-8', []]);
    expect(json.error.metadata.issues).toEqual([{ path: '', message: 'The body is not valid UTF-8' }]);
  });
  it.each<[string, Parameters<typeof post>[2]]>([
    ['as bytes', { body: `\ufeff${chatText}` }],
    ['as a text of the host', { context: { body: `\ufeff${chatText}` } }],
    [
      'with a declared length',
      { body: `\ufeff${chatText}`, headers: { 'content-length': String(chatText.length + 3) } },
    ],
  ])('is not one that begins with a byte order mark: %s', async (_, options) => {
    expect((await post('/chat/completions', 'application/json', options)).status).toBe(200);
  });
});

describe('a body that the host has read', () => {
  const given = (body: unknown, type: string | null = 'application/json') =>
    post('/chat/completions', type, { context: { body } });

  it.each<[string, unknown]>([
    ['parsed', chat],
    ['a text', chatText],
    ['a Buffer', Buffer.from(chatText)],
    ['a Uint8Array', new TextEncoder().encode(chatText)],
    ['an ArrayBuffer', new TextEncoder().encode(chatText).buffer],
  ])('is taken as %s', async (_, body) => {
    const { status, sent } = await given(body);
    expect([status, sent[0]?.body.messages]).toEqual([200, hello]);
  });
  it('is checked like any other', async () => {
    for (const body of ['{"model":', Buffer.from('{"model":')])
      expect((await given(body)).json.error.message).toBe('The body is not valid JSON');
    for (const body of [{ model: 1 }, '{"model":1}']) {
      const { status, json } = await given(body);
      expect([status, json.error.message]).toEqual([400, expect.stringMatching(/^messages: /)]);
    }
    expect((await given('')).json.error.message).toMatch(/empty/);
    expect((await given(chatText, 'text/plain')).status).toBe(415);
    expect((await given(new TextEncoder().encode(chatText).buffer, form)).status).toBe(200);
  });
  it.each<[string, (content: string) => unknown]>([
    ['parsed', (content) => ({ ...chat, messages: [{ role: 'user', content }] })],
    ['a text', (content) => JSON.stringify({ ...chat, messages: [{ role: 'user', content }] })],
    ['bytes', (content) => Buffer.from(JSON.stringify({ ...chat, messages: [{ role: 'user', content }] }))],
  ])('has the same limit of size: %s', async (_, bodyWith) => {
    const { gateway, upstream } = testGateway({ limits: { bodyBytes: 1000 } });
    upstream.always({ body: completion() });
    const statusOf = async (content: string) => {
      const request = new Request('http://gateway.test/v1/chat/completions', {
        method: 'POST',
        headers: { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' },
      });
      return (await gateway.handle(request, { body: bodyWith(content) })).status;
    };
    expect([await statusOf('x'.repeat(800)), await statusOf('x'.repeat(1100))]).toEqual([200, 413]);
    if (typeof bodyWith('') === 'string') expect(await statusOf('漢'.repeat(400))).toBe(413);
  });
  it('and not handed over is an error that says what to do', async () => {
    const { gateway } = testGateway();
    const request = new Request('http://gateway.test/v1/chat/completions', {
      method: 'POST',
      headers: { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' },
      body: chatText,
    });
    await request.text();
    const response = await gateway.handle(request);
    const { error } = await response.json();
    expect([response.status, error.message]).toEqual([
      500,
      expect.stringContaining('gateway.handle(request, { body })'),
    ]);
  });
});

describe('every response', () => {
  const own = defineOperation({
    name: 'own',
    method: 'GET',
    path: '/own',
    permissions: ['inference'],
    body: null,
    result: () => null as never,
    run: async () => ({ kind: 'json', status: 200, body: {}, headers: { 'Cache-Control': 'public, max-age=60' } }),
  });
  it('is for its caller alone, and no cache keeps it, unless an operation of the host app says so', async () => {
    const { gateway, upstream } = testGateway({ operations: [own] });
    upstream.always({ body: completion() });
    const ask = async (method: string, path: string, key: string, body?: object) => {
      const response = await gateway.fetch(`http://gateway.test/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      await response.text();
      return `${response.status} ${response.headers.get('cache-control')}`;
    };
    expect(await ask('POST', '/chat/completions', testKey, chat)).toBe('200 no-store');
    expect(await ask('POST', '/chat/completions', testKey, { ...chat, stream: true })).toBe(
      '200 no-store, no-transform',
    );
    expect(await ask('POST', '/chat/completions', testKey, {})).toBe('400 no-store');
    expect(await ask('GET', '/models', testKey)).toBe('200 no-store');
    expect(await ask('HEAD', '/models', testKey)).toBe('200 no-store');
    expect(await ask('GET', '/workspaces', managementKey)).toBe('200 no-store');
    expect(await ask('GET', '/workspaces', 'sk-wrong-key')).toBe('401 no-store');
    expect(await ask('GET', '/nothing', 'sk-wrong-key')).toBe('404 no-store');
    expect(await ask('GET', '/own', testKey)).toBe('200 public, max-age=60');
  });
});
