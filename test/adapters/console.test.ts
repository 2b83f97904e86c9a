import { EncryptJWT, UnsecuredJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { loadPage } from '../../adapters/console/assets.ts';
import { type ConsoleOptions, consoleHandler } from '../../adapters/console/console.ts';
import { createSealer } from '../../adapters/console/session.ts';
import type { HostCaller } from '../../src/http/host-caller.ts';
import type { GatewayOptions } from '../../src/options.ts';
import { testGateway } from '../support/gateway.ts';

const key = 'sk-console-0123456789';
const secret = 'a secret of the tests, 32 characters long';
const origin = 'http://console.test';
const base = `${origin}/console`;

function open(options: ConsoleOptions = {}, of: Partial<GatewayOptions> = {}) {
  const tested = testGateway({
    records: { enabled: true },
    apiKeys: [
      { key, permissions: ['management', 'inference'] },
      { key: 'sk-asks-0123456789', permissions: ['inference'] },
    ],
    ...of,
  });
  const handler = consoleHandler(tested.gateway, { secret, now: () => tested.clock.now(), ...options });
  const ask = (path: string, init: RequestInit = {}) => handler(new Request(base + path, init));
  const post = (body: unknown, headers: Record<string, string> = {}, seenAt = '') =>
    ask(seenAt === '' ? '/session' : `/session?path=${encodeURIComponent(seenAt)}`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', ...headers },
    });
  const signIn = async (given = key) => {
    const response = await post({ key: given });
    return (response.headers.get('set-cookie') ?? '').split(';')[0] as string;
  };
  return { ...tested, handler, ask, post, signIn };
}

const hostileSites = ['cross-site', 'same-site'];

describe('the page of the console', () => {
  it('is behind a path with a slash, wherever it is mounted', async () => {
    const { ask, handler } = open();
    const response = await ask('');
    expect([response.status, response.headers.get('location')]).toEqual([308, './console/']);
    const elsewhere = await handler.handle(new Request(`${origin}/admin/gw?x=1`), { basePath: '/admin/gw' });
    expect(elsewhere.headers.get('location')).toBe('./gw/?x=1');
    expect((await handler.handle(new Request(`${origin}/admin/gw/`), { basePath: '/admin/gw' })).status).toBe(200);
    expect((await handler.handle(new Request(`${origin}/other/`), { basePath: '/admin/gw' })).status).toBe(404);
  });
  it('names its own place below a proxy that changes paths', async () => {
    const headers = { 'x-forwarded-prefix': '/admin/gw' };
    const { ask } = open();
    expect((await ask('', { headers })).headers.get('location')).toBe('/admin/gw/console/');
    expect(await (await ask('/', { headers })).text()).toContain('<base href="/admin/gw/console/">');
    expect(await (await ask('/')).text()).toContain('<base href="./">');
    const told = open({ publicPath: '/admin/gw' });
    expect((await told.ask('')).headers.get('location')).toBe('/admin/gw/');
    expect(await (await told.ask('/')).text()).toContain('<base href="/admin/gw/">');
  });
  it.each(['//evil.example', 'https://evil.example', '/a"><script>', '/a\\b', '/a;b'])(
    'takes no place from a header that is no path: %s',
    async (prefix) => {
      const { ask } = open();
      expect((await ask('', { headers: { 'x-forwarded-prefix': prefix } })).headers.get('location')).toBe('./console/');
    },
  );
  it('is served without the slash where the host removes it', async () => {
    const { ask } = open({ trailingSlash: false });
    const response = await ask('');
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('<base href="./console/">');
  });
  it('has a policy under which nothing runs but its own script, and nobody shows it in a frame', async () => {
    const { ask } = open();
    const { headers } = await ask('/');
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
        "base-uri 'self'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; " +
        "trusted-types 'none'",
    );
    expect(headers.get('cache-control')).toBe('no-store');
    const html = await (await ask('/')).text();
    expect(html).not.toMatch(/<script(?![^>]* src=)|style=|\son\w+=/);
  });
  it('escapes its title', async () => {
    const { ask } = open({ title: '</title><script>alert(1)</script>' });
    expect(await (await ask('/')).text()).toContain('<title>&lt;/title&gt;&lt;script&gt;');
  });
  it('serves its assets under the hash of their content, for ever, and compressed', async () => {
    const { ask } = open();
    const page = await loadPage();
    for (const name of [page.script, page.styles]) {
      const plain = await ask(`/assets/${name}`);
      expect(plain.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      const packed = await ask(`/assets/${name}`, { headers: { 'accept-encoding': 'br, gzip' } });
      expect(packed.headers.get('content-encoding')).toBe('gzip');
      const inflated = packed.body?.pipeThrough(new DecompressionStream('gzip'));
      expect(await new Response(inflated).text()).toBe(await plain.text());
    }
    const unpacked = await ask(`/assets/${page.styles}`, { headers: { 'accept-encoding': 'br, gzip;q=0' } });
    expect(unpacked.headers.get('content-encoding')).toBeNull();
    expect((await ask('/assets/other.js')).status).toBe(404);
    expect((await ask('/assets/__proto__')).status).toBe(404);
  });
  it('is at most 60 KB, compressed, in all', async () => {
    const { ask } = open();
    const page = await loadPage();
    const sizes = await Promise.all(
      [page.script, page.styles].map(async (name) => {
        const packed = await ask(`/assets/${name}`, { headers: { 'accept-encoding': 'gzip' } });
        return (await packed.arrayBuffer()).byteLength;
      }),
    );
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(60_000);
  });
});

describe('a sign-in with a key', () => {
  it('becomes a cookie that no script reads, bound to the path, which holds the key in sealed form only', async () => {
    const { post } = open();
    const response = await post({ key });
    expect(response.status).toBe(200);
    const cookie = response.headers.get('set-cookie') ?? '';
    expect(cookie).toMatch(
      /^model_gateway_console=[\w.-]{100,}; Path=\/console; Max-Age=3600; HttpOnly; SameSite=Strict$/,
    );
    expect(`${cookie}${await response.text()}`).not.toContain(key);
    for (const part of (cookie.match(/=([\w.-]+)/)?.[1] ?? '').split('.'))
      expect(atob(part.replaceAll('-', '+').replaceAll('_', '/'))).not.toContain(key);
  });
  it('is bound to the path that the browser sees, and to HTTPS where that is used', async () => {
    const { post } = open();
    const response = await post({ key }, { 'x-forwarded-proto': 'https' }, '/admin/gw/');
    expect(response.headers.get('set-cookie')).toMatch(/; Path=\/admin\/gw; .*; Secure$/);
    const forged = await post({ key }, {}, '/; Domain=evil.example');
    expect(forged.headers.get('set-cookie')).toMatch(/; Path=\/console; /);
  });
  it('shows what the key may see, and nothing without the cookie', async () => {
    const { ask, signIn } = open();
    const cookie = await signIn();
    const seen = await ask('/api/workspaces', { headers: { cookie } });
    expect(seen.status).toBe(200);
    expect((await seen.json()).data).toHaveLength(1);
    expect((await ask('/api/workspaces')).status).toBe(401);
    expect((await ask('/api/workspaces', { headers: { authorization: `Bearer ${key}` } })).status).toBe(401);
    expect(await (await ask('/session')).json()).toEqual({
      data: { signed_in: false, by: 'key', title: 'Model gateway' },
    });
    expect((await (await ask('/session', { headers: { cookie } })).json()).data).toMatchObject({
      signed_in: true,
      by: 'key',
      manages_all: true,
      permissions: ['management', 'inference'],
    });
  });
  it('gets no operation answered that a page of another site could use, or a browser take for something else', async () => {
    const { ask, signIn } = open();
    const headers = { cookie: await signIn() };
    for (const path of ['/api/generations', '/api/generation?id=none', '/api/nothing', '/api/requests/stream']) {
      const response = await ask(path, { headers });
      expect(response.headers.get('x-content-type-options')).toBe('nosniff');
      expect(response.headers.get('cross-origin-resource-policy')).toBe('same-origin');
      expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'none'; /);
      expect(response.headers.get('cache-control')).toMatch(/^no-store/);
      await response.body?.cancel();
    }
  });
  it('needs a key that is known and may manage', async () => {
    const { post } = open();
    expect((await post({ key: 'sk-unknown-0123456789' })).status).toBe(401);
    const asks = await post({ key: 'sk-asks-0123456789' });
    expect([asks.status, (await asks.json()).error.message]).toEqual([
      403,
      'This key does not have the permission management',
    ]);
    for (const body of [
      {},
      { key: 7 },
      { key: '' },
      { key: 'a b' },
      { key: 'x'.repeat(600) },
      null,
      { key, pad: 'x'.repeat(5000) },
    ]) {
      const refused = await post(body);
      expect([refused.status, refused.headers.get('set-cookie')]).toEqual([400, null]);
    }
    expect((await post({ key }, { 'content-type': 'text/plain' })).status).toBe(400);
  });
  it('ends after an hour without use, and after twelve in any case', async () => {
    const { ask, signIn, clock } = open();
    let cookie = await signIn();
    const statusOf = async () => (await ask('/api/workspaces', { headers: { cookie } })).status;
    await clock.advance(3_599_000);
    expect(await statusOf()).toBe(200);
    const renewed = await ask('/session', { headers: { cookie } });
    cookie = (renewed.headers.get('set-cookie') ?? '').split(';')[0] as string;
    await clock.advance(3_599_000);
    expect(await statusOf()).toBe(200);
    await clock.advance(1_001);
    expect(await statusOf()).toBe(401);
    cookie = await signIn();
    for (let hours = 0; hours < 12; hours++) {
      const used = await ask('/session', { headers: { cookie } });
      cookie = (used.headers.get('set-cookie') ?? '').split(';')[0] as string;
      await clock.advance(3_599_000);
    }
    await clock.advance(20_000);
    expect(await statusOf()).toBe(401);
  });
  it('ends with its key', async () => {
    const { ask, signIn, call } = open();
    const { json } = await call(
      'POST',
      '/keys',
      { name: 'console', permissions: ['management'] },
      { authorization: `Bearer ${key}` },
    );
    const cookie = await signIn(json.key);
    expect((await ask('/api/workspaces', { headers: { cookie } })).status).toBe(200);
    await call('DELETE', `/keys/${json.data.hash}`, undefined, { authorization: `Bearer ${key}` });
    expect((await ask('/api/workspaces', { headers: { cookie } })).status).toBe(401);
    expect((await (await ask('/session', { headers: { cookie } })).json()).data.signed_in).toBe(false);
  });
  it('is read by every instance that has the same secret, and by no other', async () => {
    const [one, two] = [open(), open()];
    const stranger = open({ secret: 'another secret, which is long enough too' });
    const cookie = await one.signIn();
    const statusAt = async ({ ask }: typeof one) => (await ask('/api/workspaces', { headers: { cookie } })).status;
    expect([await statusAt(two), await statusAt(stranger)]).toEqual([200, 401]);
    // Without the option, each instance has a secret of its own.
    const [alone, other] = [open({ secret: undefined }), open({ secret: undefined })];
    const own = { headers: { cookie: await alone.signIn() } };
    expect([
      (await alone.ask('/api/workspaces', own)).status,
      (await other.ask('/api/workspaces', own)).status,
    ]).toEqual([200, 401]);
  });
  it('is not taken up by a copy of its cookie once its owner has signed out, however often it was renewed', async () => {
    const { ask, signIn, clock } = open();
    const first = await signIn();
    const other = await signIn();
    const renewed = await ask('/session', { headers: { cookie: first } });
    const latest = (renewed.headers.get('set-cookie') ?? '').split(';')[0] as string;
    await ask('/session', { method: 'DELETE', headers: { cookie: latest } });
    const statusOf = async (cookie: string) => (await ask('/api/workspaces', { headers: { cookie } })).status;
    expect([await statusOf(first), await statusOf(latest), await statusOf(other)]).toEqual([401, 401, 200]);
    expect((await (await ask('/session', { headers: { cookie: first } })).json()).data.signed_in).toBe(false);
    await clock.advance(43_200_000);
    expect(await statusOf(first)).toBe(401);
  });
  it('ends at once where its owner signs out', async () => {
    const { ask } = open();
    const response = await ask('/session', { method: 'DELETE' });
    expect(response.headers.get('set-cookie')).toMatch(/^model_gateway_console=; Path=\/console; Max-Age=0; HttpOnly/);
    const seenElsewhere = await ask('/session?path=/admin/gw/', { method: 'DELETE' });
    expect(seenElsewhere.headers.get('set-cookie')).toContain('=; Path=/admin/gw; Max-Age=0;');
  });
  it('opens with the secret that sealed it alone, and unchanged alone', async () => {
    const sealer = createSealer(secret);
    const session = { id: 'one', key, startedAtMs: 0, expiresAtMs: 1000 };
    const sealed = await sealer.seal(session);
    expect(await sealer.open(sealed, 999)).toEqual(session);
    expect(await sealer.open(sealed, 1000)).toBeNull();
    expect(await createSealer(`${secret}.`).open(sealed, 0)).toBeNull();
    // The last character of a part may hold bits that are none of its bytes.
    const bytesOf = (token: string) => token.split('.').map((part) => Buffer.from(part, 'base64url').toString('hex'));
    for (let at = 0; at < sealed.length; at++) {
      const changed = `${sealed.slice(0, at)}${sealed[at] === 'A' ? 'B' : 'A'}${sealed.slice(at + 1)}`;
      if (bytesOf(changed).join('.') === bytesOf(sealed).join('.')) continue;
      expect(await sealer.open(changed, 0)).toBeNull();
    }
    for (const text of ['', 'A', '!', '....', 'A'.repeat(5000)]) expect(await sealer.open(text, 0)).toBeNull();
  });
  it('takes nothing else that the same secret has sealed, nor what is not sealed at all', async () => {
    const { ask } = open();
    const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(secret));
    const claims = { key, startedAtMs: Date.now(), jti: 'one' };
    const header = { alg: 'dir', enc: 'A256GCM' };
    const ofAnotherUse = await new EncryptJWT(claims)
      .setProtectedHeader({ ...header, typ: 'other+jwt' })
      .setExpirationTime('1h')
      .encrypt(new Uint8Array(digest));
    const endless = await new EncryptJWT(claims)
      .setProtectedHeader({ ...header, typ: 'model-gateway-console-session+jwt' })
      .encrypt(new Uint8Array(digest));
    const unsealed = new UnsecuredJWT(claims).setExpirationTime('1h').encode();
    for (const token of [ofAnotherUse, endless, unsealed])
      expect((await ask('/api/workspaces', { headers: { cookie: `model_gateway_console=${token}` } })).status).toBe(
        401,
      );
  });
});

describe('a page of another site', () => {
  it.each(hostileSites)(
    'neither signs in, nor reads, nor writes in the name of who is signed in (%s)',
    async (site) => {
      const { ask, post, signIn } = open();
      const cookie = await signIn();
      const headers = { cookie, 'sec-fetch-site': site, 'content-type': 'application/json' };
      expect((await post({ key }, headers)).status).toBe(403);
      expect((await ask('/api/workspaces', { headers })).status).toBe(403);
      const body = JSON.stringify({ name: 'Theirs', slug: 'theirs' });
      expect((await ask('/api/workspaces', { method: 'POST', headers, body })).status).toBe(403);
      expect((await ask('/session', { method: 'DELETE', headers })).status).toBe(403);
    },
  );
  it('is known by its origin where a browser tells no more', async () => {
    const { ask, signIn } = open();
    const cookie = await signIn();
    const status = async (from: string) => (await ask('/api/workspaces', { headers: { cookie, origin: from } })).status;
    expect([await status(origin), await status('https://evil.example'), await status('null')]).toEqual([200, 403, 403]);
  });
  it('is not the console’s own', async () => {
    const { ask, signIn } = open();
    const headers = { cookie: await signIn(), 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' };
    const body = JSON.stringify({ name: 'Ours', slug: 'ours' });
    expect((await ask('/api/workspaces', { method: 'POST', headers, body })).status).toBe(201);
  });
});

describe('a user of the host app', () => {
  const team = '11111111-1111-4111-8111-111111111111';
  const users: Record<string, HostCaller> = {
    boss: { permissions: ['management', 'inference'], userId: 'boss' },
    lead: { permissions: ['management'], workspaceId: team, userId: 'lead' },
    dev: { permissions: ['inference'], workspaceId: team, userId: 'dev' },
  };
  const authorize = ({ headers }: Request) => users[/user=(\w+)/.exec(headers.get('cookie') ?? '')?.[1] ?? ''] ?? null;
  const as = (user: string) => ({ headers: { cookie: `user=${user}` } });

  it('is told who it is, and where to sign in where nobody knows it', async () => {
    const { ask, post } = open({ authorize, signInUrl: '/login' });
    expect((await (await ask('/session', as('lead'))).json()).data).toMatchObject({
      signed_in: true,
      by: 'host',
      workspace_id: team,
      manages_all: false,
    });
    expect(await (await ask('/session')).json()).toEqual({
      data: { signed_in: false, by: 'host', sign_in_url: '/login', title: 'Model gateway' },
    });
    expect((await ask('/api/models')).status).toBe(401);
    expect((await post({ key })).status).toBe(405);
  });
  it('sees its workspace alone, and what it may do alone', async () => {
    const { ask } = open({ authorize });
    const status = async (path: string, user: string) => (await ask(`/api${path}`, as(user))).status;
    expect(await status('/workspaces/default/budgets', 'boss')).toBe(200);
    expect(await status('/workspaces/default/budgets', 'lead')).toBe(404);
    expect(await status('/activity', 'dev')).toBe(200);
    expect(await status('/activity?user=boss', 'dev')).toBe(403);
    expect(await status('/generations', 'dev')).toBe(200);
    expect(await status('/generations?user=boss', 'dev')).toBe(403);
    expect(await status('/models', 'dev')).toBe(200);
  });
  it('is not replaced by a key beside it, nor by whom the gateway itself would find', async () => {
    const { ask } = open({ authorize }, { authenticate: () => ({ permissions: ['management'] }) });
    const headers = { cookie: 'user=dev', authorization: `Bearer ${key}` };
    expect((await ask('/api/workspaces', { headers })).status).toBe(403);
    expect((await ask('/api/activity')).status).toBe(401);
  });
  it('gets no answer where the host app cannot tell who it is', async () => {
    const { ask } = open({
      authorize: () => {
        throw new Error('the session store is away: secret detail');
      },
    });
    const response = await ask('/api/models');
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain('secret detail');
  });
});

describe('consoleHandler', () => {
  it.each([
    [{ secret: 'short' }, 'secret: expected at least 32 characters'],
    [{ basePath: 'console' }, 'basePath: expected a path such as /console'],
    [{ publicPath: '//evil.example' }, 'publicPath: expected a path such as /admin/gw'],
    [{ sessionMs: 0 }, 'sessionMs: expected at least 1000 milliseconds'],
    [{ authorize: true as never }, 'authorize: expected a function'],
  ])('names an option that cannot be: %o', (options, message) => {
    expect(() => open(options)).toThrow(message);
  });
  it('takes the body that a parser of the host app has read', async () => {
    const { handler } = open();
    const request = () =>
      new Request(`${base}/session`, { method: 'POST', headers: { 'content-type': 'application/json' } });
    for (const body of [{ key }, JSON.stringify({ key }), new TextEncoder().encode(JSON.stringify({ key }))])
      expect((await handler.handle(request(), { body })).status).toBe(200);
  });
  it('says what a path takes', async () => {
    const { ask } = open();
    expect((await ask('/', { method: 'POST' })).headers.get('allow')).toBe('GET');
    expect((await ask('/session', { method: 'PUT' })).headers.get('allow')).toBe('GET, POST, DELETE');
    expect((await ask('/nothing')).status).toBe(404);
  });
});
