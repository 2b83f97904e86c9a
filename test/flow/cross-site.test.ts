import { describe, expect, it } from 'vitest';
import { chatRequest, hello, testGateway, testKey } from '../support/gateway.ts';
import { completion } from '../support/upstream.ts';

const body = { model: 'acme/fast', messages: hello };
const user = { permissions: ['inference' as const, 'management' as const], userId: 'ada' };
const ownOrigin = 'http://gateway.test';
const evil = 'https://evil.example';
const app = 'https://app.example';

/** A gateway whose host app knows everybody by a cookie. */
function withCookies(options: object = {}) {
  const tested = testGateway({ apiKeys: [{ key: testKey }], authenticate: () => user, ...options });
  tested.upstream.always({ body: completion() });
  const ask = async (headers: Record<string, string>, send = tested.gateway.fetch) => {
    const request = chatRequest(body);
    request.headers.delete('authorization');
    for (const [name, value] of Object.entries({ cookie: 'session=1', ...headers })) request.headers.set(name, value);
    const response = await send(request);
    const { error } = await response.json();
    return {
      status: response.status,
      message: error?.message as string | undefined,
      sent: tested.upstream.sent.length,
    };
  };
  return { ...tested, ask };
}

describe('a request in the name of a user, known by a cookie', () => {
  it.each<[string, Record<string, string>]>([
    ['a page of another site', { 'sec-fetch-site': 'cross-site', origin: evil }],
    ['a form of another site, in a browser that names no origin', { 'sec-fetch-site': 'cross-site' }],
    [
      'another subdomain, which may be somebody else',
      { 'sec-fetch-site': 'same-site', origin: 'http://b.gateway.test' },
    ],
    ['another origin, in a browser without Sec-Fetch-Site', { origin: evil }],
    ['a page without an origin', { origin: 'null' }],
    ['a site that says that it is no other', { 'sec-fetch-site': 'cross-site', origin: ownOrigin }],
    ['a site with the credentials of Basic', { 'sec-fetch-site': 'cross-site', authorization: 'Basic YTpi' }],
  ])('spends nothing for %s', async (_, headers) => {
    const { status, message, sent } = await withCookies().ask(headers);
    expect([status, message, sent]).toEqual([403, expect.stringContaining('trustedOrigins'), 0]);
  });
  it.each<[string, Record<string, string>]>([
    ['a page of the app', { 'sec-fetch-site': 'same-origin', origin: ownOrigin }],
    ['a page of the app, in a browser without Sec-Fetch-Site', { origin: ownOrigin }],
    ['a page of the app, behind a proxy that ends TLS', { origin: 'https://gateway.test' }],
    ['a page of the app, by the Host header', { origin: 'https://shop.example', host: 'shop.example' }],
    ['the user, who has typed the address', { 'sec-fetch-site': 'none' }],
    ['a program', {}],
    [
      'a page that holds a bearer token',
      { 'sec-fetch-site': 'cross-site', origin: evil, authorization: 'Bearer a.jwt' },
    ],
    [
      'a page that holds an API key',
      { 'sec-fetch-site': 'cross-site', origin: evil, authorization: `Bearer ${testKey}` },
    ],
  ])('is served for %s', async (_, headers) => {
    expect(await withCookies().ask(headers)).toMatchObject({ status: 200, sent: 1 });
  });
  it('may read from anywhere, because reading changes nothing', async () => {
    const { gateway } = withCookies();
    const headers = { cookie: 'session=1', 'sec-fetch-site': 'cross-site', origin: evil };
    expect((await gateway.fetch(`${ownOrigin}/v1/models`, { headers })).status).toBe(200);
    for (const [path, method] of [
      ['/workspaces', 'POST'],
      ['/workspaces/default', 'DELETE'],
    ])
      expect((await gateway.fetch(`${ownOrigin}/v1${path}`, { method: method as string, headers })).status).toBe(403);
  });
  it('is refused too where the app has named the user itself', async () => {
    const tested = withCookies({ authenticate: 'host' });
    const handle = (caller: Parameters<typeof tested.gateway.handle>[1]) => (request: Request | string | URL) =>
      tested.gateway.handle(request as Request, caller);
    const headers = { 'sec-fetch-site': 'cross-site', origin: evil };
    for (const caller of [user, () => user])
      expect((await tested.ask(headers, handle({ caller }) as typeof tested.gateway.fetch)).status).toBe(403);
    expect((await tested.ask({}, tested.gateway.as(user).fetch)).status).toBe(200);
  });
});

describe('a site that the operator trusts', () => {
  const headers = { 'sec-fetch-site': 'cross-site', origin: app };
  it.each<[string, object, number]>([
    ['trustedOrigins names it', { trustedOrigins: [app] }, 200],
    ['trustedOrigins names another', { trustedOrigins: ['https://other.example'] }, 403],
    ['a function says so', { trustedOrigins: (origin: string) => origin === app }, 200],
    ['a function says something else', { trustedOrigins: async () => true }, 403],
    [
      'a function throws',
      {
        trustedOrigins: () => {
          throw new Error('no');
        },
      },
      403,
    ],
    ['the app guards itself', { trustedOrigins: '*' }, 200],
    ['cors names it', { cors: { origins: [app], credentials: true } }, 200],
    ['cors lets all sites in, without cookies', { cors: { origins: '*' } }, 403],
  ])('may act for its users where %s', async (_, options, status) => {
    expect((await withCookies(options).ask(headers)).status).toBe(status);
  });
  it('has an origin', () => {
    for (const wrong of ['app.example', ['app.example'], 'https://app.example'])
      expect(() => withCookies({ trustedOrigins: wrong })).toThrow(/trustedOrigins.*expected/);
  });
});
