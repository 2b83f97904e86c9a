import { describe, expect, it } from 'vitest';
import { checkError, hello, testGateway, testKey } from '../support/gateway.ts';
import { completion } from '../support/upstream.ts';

const jsonHeaders = { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' };

/** What a request of this method and path is answered with. */
async function answerTo(
  method: string,
  path: string,
  options: Parameters<typeof testGateway>[0] = {},
  origin = 'http://gateway.test',
) {
  const { gateway, upstream } = testGateway(options);
  upstream.always({ body: completion() });
  const init = method === 'POST' ? { body: JSON.stringify({ model: 'acme/fast', messages: hello }) } : {};
  const response = await gateway.fetch(new Request(origin + path, { method, headers: jsonHeaders, ...init }));
  const text = await response.text();
  if (response.status >= 400 && text !== '') checkError(response.status, JSON.parse(text));
  return {
    status: response.status,
    allow: response.headers.get('allow'),
    text,
    type: response.headers.get('content-type'),
  };
}

describe('the path of chat completions', () => {
  it.each([
    '/v1/chat/completions',
    '/v1/chat/completions/',
    '/v1/chat/completions?api-version=1',
    '/v1/chat/completions?path=/other',
    '/v1/chat/completions#fragment',
    '/v1/./chat/completions',
    '/other/../v1/chat/completions',
  ])('is found at %s', async (path) => {
    expect((await answerTo('POST', path)).status).toBe(200);
  });
  it.each([
    '/',
    '',
    '/v1',
    '/v1/',
    '/v2/chat/completions',
    '/chat/completions',
    '/v1chat/completions',
    '/v1/chat',
    '/v1/chat/completions/more',
    '/V1/chat/completions',
    '//v1/chat/completions',
    '/v1//chat/completions',
    '/v1/chat%2Fcompletions',
    '/v1/chat/completions%00',
    '/v1/chat/completions;x',
    '/v1/%',
    '/v1/%ff',
    '/v1/nothing?to=/v1/chat/completions',
  ])('is not found at "%s": 404 in the envelope', async (path) => {
    const { status, text } = await answerTo('POST', path);
    expect([status, JSON.parse(text).error.metadata.error_type]).toEqual([404, 'not_found']);
  });
  it.each(['GET', 'PUT', 'PATCH', 'DELETE', 'PROPFIND'])('knows no %s: 405 and what it knows', async (method) => {
    const { status, allow, text } = await answerTo(method, '/v1/chat/completions');
    expect([status, allow]).toEqual([405, 'POST, OPTIONS']);
    expect(JSON.parse(text).error.message).toContain(method);
  });
  it('answers HEAD as GET, without a body', async () => {
    expect(await answerTo('HEAD', '/v1/chat/completions')).toMatchObject({
      status: 405,
      allow: 'POST, OPTIONS',
      text: '',
    });
    expect(await answerTo('HEAD', '/v1/nothing')).toMatchObject({ status: 404, text: '' });
  });
  it('answers OPTIONS with what it knows, without a key', async () => {
    const { gateway } = testGateway();
    const response = await gateway.fetch(new Request('http://gateway.test/v1/chat/completions', { method: 'OPTIONS' }));
    expect([response.status, response.headers.get('allow'), await response.text()]).toEqual([204, 'POST, OPTIONS', '']);
    expect((await answerTo('OPTIONS', '/v1/nothing')).status).toBe(404);
  });
  it('says 404 and 405 before it asks for a key', async () => {
    const { gateway } = testGateway();
    expect((await gateway.fetch('http://gateway.test/v1/nothing')).status).toBe(404);
    expect((await gateway.fetch('http://gateway.test/v1/chat/completions')).status).toBe(405);
  });
});

describe('the base path', () => {
  it.each(['', '/api/llm', '/api/v1'])('may be "%s"', async (basePath) => {
    expect((await answerTo('POST', `${basePath}/chat/completions`, { basePath })).status).toBe(200);
    expect((await answerTo('POST', '/v1/chat/completions', { basePath: '/api/llm' })).status).toBe(404);
  });
  it('may be said by an adapter, request by request', async () => {
    const { gateway, upstream } = testGateway();
    upstream.always({ body: completion() });
    const ask = (path: string, basePath: string) =>
      gateway.handle(
        new Request(`http://gateway.test${path}`, {
          method: 'POST',
          headers: jsonHeaders,
          body: JSON.stringify({ model: 'acme/fast', messages: hello }),
        }),
        { basePath },
      );
    expect((await ask('/deep/mount/chat/completions', '/deep/mount')).status).toBe(200);
    expect((await ask('/chat/completions', '')).status).toBe(200);
    expect((await ask('/chat/completions', '/')).status).toBe(200);
    expect((await ask('/v1/chat/completions', '/deep')).status).toBe(404);
  });
});

it('takes what fetch takes: a URL, a text, an init', async () => {
  const { gateway, upstream } = testGateway();
  upstream.always({ body: completion() });
  const init = {
    method: 'POST',
    headers: jsonHeaders,
    body: JSON.stringify({ model: 'acme/fast', messages: hello }),
  };
  const { fetch } = gateway;
  expect((await fetch('http://in-process/v1/chat/completions', init)).status).toBe(200);
  expect((await fetch(new URL('https://in-process:8443/v1/chat/completions'), init)).status).toBe(200);
  expect((await fetch(new Request('http://in-process/v1/chat/completions', init))).status).toBe(200);
});

it('takes a body that the host has read: an object, a text or bytes', async () => {
  const { gateway, upstream } = testGateway();
  upstream.always({ body: completion() });
  const body = { model: 'acme/fast', messages: hello };
  for (const given of [body, JSON.stringify(body), new TextEncoder().encode(JSON.stringify(body))]) {
    const request = new Request('http://gateway.test/v1/chat/completions', {
      method: 'POST',
      headers: jsonHeaders,
      body: 'read already',
    });
    expect((await gateway.handle(request, { body: given })).status).toBe(200);
  }
  expect(upstream.sent.map(({ body: sent }) => sent.messages)).toEqual([hello, hello, hello]);
});
