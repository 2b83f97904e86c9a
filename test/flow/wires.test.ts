import { describe, expect, it } from 'vitest';
import { hello, managementKey, testGateway, testKey } from '../support/gateway.ts';
import { completion } from '../support/upstream.ts';

const body = { model: 'acme/fast', messages: hello };
const json = { 'content-type': 'application/json' };

/** Sends a request with these headers alone. */
async function send(
  path: string,
  headers: Record<string, string>,
  {
    method = 'POST',
    options = {},
    given = body as unknown,
  }: { method?: string; options?: object; given?: unknown } = {},
) {
  const made = testGateway(options);
  made.upstream.always({ body: completion() });
  const init = method === 'POST' ? { body: JSON.stringify(given) } : {};
  const response = await made.gateway.fetch(
    new Request(`http://gateway.test${path}`, { method, headers: { ...json, ...headers }, ...init }),
  );
  const text = await response.text();
  return {
    ...made,
    status: response.status,
    headers: response.headers,
    text,
    json: text === '' ? null : JSON.parse(text),
  };
}

describe('a key', () => {
  const chat = '/v1/chat/completions';
  it.each<[string, string, Record<string, string>]>([
    ['as a bearer token', chat, { authorization: `Bearer ${testKey}` }],
    ['in x-api-key', chat, { 'x-api-key': testKey }],
    ['in x-goog-api-key', chat, { 'x-goog-api-key': testKey }],
    ['in the query', `${chat}?key=${encodeURIComponent(testKey)}`, {}],
    ['in the query, after others', `${chat}?alt=sse&key=${testKey}`, {}],
    [
      'in x-api-key, beside a bearer token of something else',
      chat,
      { authorization: 'Bearer other', 'x-api-key': testKey },
    ],
    [
      'as a bearer token, beside an x-api-key of something else',
      chat,
      { authorization: `Bearer ${testKey}`, 'x-api-key': 'x' },
    ],
    [
      'in x-goog-api-key, beside two others',
      chat,
      { authorization: 'Basic x', 'x-api-key': 'x', 'x-goog-api-key': testKey },
    ],
  ])('is accepted %s', async (_, path, headers) => {
    expect((await send(path, headers)).status).toBe(200);
  });
  it.each<[string, string, Record<string, string>]>([
    ['in x-api-key', chat, { 'x-api-key': 'sk-test-unknown' }],
    ['in x-goog-api-key', chat, { 'x-goog-api-key': 'sk-test-unknown' }],
    ['in the query', `${chat}?key=sk-test-unknown`, {}],
    ['that cannot be decoded', `${chat}?key=%ff`, {}],
    ['that is empty', `${chat}?key=`, { 'x-api-key': '' }],
    ['in x-api-key, with a scheme', chat, { 'x-api-key': `Bearer ${testKey}` }],
  ])('that is unknown, %s, is refused, and shown nowhere', async (_, path, headers) => {
    const { status, text, records, upstream } = await send(path, headers);
    expect(status).toBe(401);
    expect(text).not.toContain('sk-test');
    expect(JSON.stringify(records)).not.toContain('sk-test');
    expect(upstream.sent).toEqual([]);
  });
  it('in the query reaches no provider, no record, and no listing', async () => {
    const asked = await send(`${chat}?key=${testKey}`, {});
    expect(JSON.stringify([asked.records, asked.upstream.sent])).not.toContain(testKey);
    const listed = await send(`/v1/models?key=${testKey}`, {}, { method: 'GET' });
    expect([listed.status, listed.text.includes(testKey)]).toEqual([200, false]);
  });
  it('lets its caller do no more than it may', async () => {
    expect((await send(chat, { 'x-api-key': managementKey })).status).toBe(403);
  });
  it('of the first header with a known key counts', async () => {
    const { status } = await send(chat, { authorization: `Bearer ${managementKey}`, 'x-api-key': testKey });
    expect(status).toBe(403);
  });
});

describe('an error', () => {
  const anthropic = { 'anthropic-version': '2023-06-01' };
  it.each<[string, string, string, Record<string, string>, number, unknown]>([
    [
      'below a path of Messages',
      'POST',
      '/v1/messages/none',
      {},
      404,
      { type: 'error', error: { type: 'not_found_error' } },
    ],
    [
      'without a path, of a Messages client',
      'GET',
      '/v1/nothing',
      anthropic,
      404,
      { type: 'error', error: { type: 'not_found_error' } },
    ],
    [
      'outside of the mount',
      'GET',
      '/else',
      { 'x-api-key': 'x' },
      404,
      { type: 'error', error: { type: 'not_found_error' } },
    ],
    [
      'of the list of models',
      'GET',
      '/v1/models',
      { 'x-api-key': 'x' },
      401,
      { type: 'error', error: { type: 'authentication_error' } },
    ],
    [
      'of a Gemini client',
      'GET',
      '/v1/models',
      { 'x-goog-api-key': 'x' },
      401,
      { error: { code: 401, status: 'UNAUTHENTICATED' } },
    ],
    [
      'of a Gemini client with a query',
      'GET',
      '/v1/models?key=x',
      {},
      401,
      { error: { code: 401, status: 'UNAUTHENTICATED' } },
    ],
    [
      'of a Gemini path',
      'GET',
      '/v1beta/models',
      { authorization: 'Bearer x' },
      401,
      { error: { code: 401, status: 'UNAUTHENTICATED' } },
    ],
    [
      'of an OpenAI client',
      'GET',
      '/v1/models',
      { authorization: 'Bearer x' },
      401,
      { error: { code: 401, metadata: { error_type: 'authentication' } } },
    ],
    [
      'of chat, whatever the headers',
      'POST',
      '/v1/chat/completions',
      anthropic,
      401,
      { error: { code: 401, metadata: { error_type: 'authentication' } } },
    ],
    [
      'of management, whatever the headers',
      'GET',
      '/v1/workspaces',
      { 'x-api-key': 'x' },
      401,
      { error: { code: 401, metadata: { error_type: 'authentication' } } },
    ],
  ])('%s has the envelope of its wire', async (_, method, path, headers, status, expected) => {
    const answer = await send(path, headers, { method });
    expect([answer.status, answer.json]).toEqual([status, expect.objectContaining({})]);
    expect(answer.json).toMatchObject(expected as object);
  });
});

describe('the paths of clients that are given the root', () => {
  const headers = { 'x-api-key': testKey };
  it.each([
    ['/ai', '/ai/chat/completions'],
    ['/ai', '/ai/v1/chat/completions'],
    ['/ai', '/ai/v1/v1/chat/completions'],
    ['/v1', '/v1/v1/chat/completions'],
    ['', '/v1/chat/completions'],
  ])('at %s: %s', async (basePath, path) => {
    expect((await send(path, headers, { options: { basePath } })).status).toBe(200);
  });
  it.each([
    ['/v1', 'HEAD', '/', ''],
    ['/v1', 'HEAD', '/api/hello', ''],
    ['/v1', 'GET', '/api/hello', '{"message":"hello"}'],
    ['/v1', 'GET', '/v1/api/hello?beta=true', '{"message":"hello"}'],
    ['/ai', 'HEAD', '/ai', ''],
    ['/ai', 'HEAD', '/ai/api/hello', ''],
  ])('at %s: %s %s answers without a key', async (basePath, method, path, text) => {
    const answer = await send(path, {}, { method, options: { basePath } });
    expect([answer.status, answer.text, answer.records]).toEqual([200, text, []]);
  });
});
