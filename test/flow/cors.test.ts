import { describe, expect, it } from 'vitest';
import type { GatewayOptions } from '../../src/options.ts';
import { OptionsError } from '../../src/options.ts';
import { hello, testGateway, testKey } from '../support/gateway.ts';
import { completion } from '../support/upstream.ts';

const app = 'https://app.example';
const chat = '/chat/completions';

function open(cors: GatewayOptions['cors'], options: Partial<GatewayOptions> = {}) {
  const { gateway, upstream } = testGateway({ cors, ...options });
  upstream.always({ body: completion(), headers: {} });
  const ask = (method: string, path: string, headers: Record<string, string> = {}) =>
    gateway.fetch(`http://gateway.test/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${testKey}`, 'content-type': 'application/json', ...headers },
      ...(method === 'POST' ? { body: JSON.stringify({ model: 'acme/fast', messages: hello }) } : {}),
    });
  const preflight = (origin: string, asked: Record<string, string> = {}, path = chat) =>
    gateway.fetch(`http://gateway.test/v1${path}`, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST', ...asked },
    });
  return { ask, preflight };
}

const corsOf = ({ headers }: Response) =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-') || name === 'vary'));

describe('the option cors', () => {
  it('is off: the host app says who may ask', async () => {
    const { ask, preflight } = open(undefined);
    expect(corsOf(await ask('POST', chat, { origin: app }))).toEqual({});
    expect(corsOf(await preflight(app))).toEqual({});
  });
  it('names an origin of its list, and no other', async () => {
    const { ask, preflight } = open({ origins: [app, 'http://localhost:5173', 'capacitor://localhost'] });
    for (const origin of [app, 'http://localhost:5173', 'capacitor://localhost']) {
      expect(corsOf(await ask('POST', chat, { origin }))).toMatchObject({
        'access-control-allow-origin': origin,
        vary: 'Origin',
      });
    }
    for (const origin of ['https://app.example.evil', 'http://app.example', `${app}:8443`, 'null', '*', '']) {
      expect(corsOf(await ask('POST', chat, { origin }))).toEqual({ vary: 'Origin' });
      expect(corsOf(await preflight(origin))).toEqual({ vary: 'Origin' });
    }
    expect(corsOf(await ask('POST', chat))).toEqual({ vary: 'Origin' });
  });
  it('asks a function, which says yes with true alone', async () => {
    const answers: Record<string, unknown> = {
      [app]: true,
      'https://a.example': 1,
      'https://b.example': Promise.resolve(true),
    };
    const { ask } = open({
      origins: (origin) => {
        if (origin === 'https://throws.example') throw new Error('no');
        return answers[origin] as boolean;
      },
    });
    const allowed = async (origin: string) =>
      (await ask('GET', '/models', { origin })).headers.get('access-control-allow-origin');
    expect(await allowed(app)).toBe(app);
    for (const origin of ['https://a.example', 'https://b.example', 'https://throws.example', 'https://c.example'])
      expect(await allowed(origin)).toBeNull();
  });
  it('lets every page ask with *, and then never with cookies', async () => {
    const { ask } = open({ origins: '*' });
    expect(corsOf(await ask('POST', chat, { origin: app }))).toEqual({
      'access-control-allow-origin': '*',
      'access-control-expose-headers': expect.stringContaining('x-generation-id'),
    });
    expect(() => open({ origins: '*', credentials: true })).toThrow(OptionsError);
    const { ask: withCookies } = open({ origins: [app], credentials: true });
    expect(corsOf(await withCookies('POST', chat, { origin: app }))['access-control-allow-credentials']).toBe('true');
    expect(corsOf(await withCookies('POST', chat, { origin: 'https://x.example' }))).toEqual({ vary: 'Origin' });
  });
  it('answers a preflight with the methods and headers of the interface', async () => {
    const { preflight } = open({ origins: [app], headers: ['X-Tenant'], maxAgeMs: 60_000 }, { brand: 'acme' });
    const asked = 'authorization, x-service-custom,X-Stainless-Lang, x-acme-new, x-evil, cookie, \u00e9';
    const response = await preflight(app, { 'access-control-request-headers': asked });
    expect([response.status, await response.text()]).toEqual([204, '']);
    const { 'access-control-allow-headers': headers, ...rest } = corsOf(response);
    expect(rest).toEqual({
      'access-control-allow-origin': app,
      'access-control-allow-methods': 'POST, OPTIONS',
      'access-control-max-age': '60',
      vary: 'Origin, Access-Control-Request-Headers',
    });
    const names = headers?.split(', ') ?? [];
    expect(names).toEqual(
      expect.arrayContaining([
        'authorization',
        'content-type',
        'traceparent',
        'x-session-id',
        'x-service-metadata',
        'x-service-timeout-ms',
        'x-acme-metadata',
        'x-acme-timeout-ms',
        'x-tenant',
        'x-service-custom',
        'x-stainless-lang',
        'x-acme-new',
      ]),
    );
    for (const name of ['x-evil', 'cookie', '\u00e9']) expect(names).not.toContain(name);
    expect(new Set(names).size).toBe(names.length);
  });
  it('lets a page read the headers of the interface, and those of limits', async () => {
    const { ask } = open(
      { origins: [app], exposedHeaders: ['X-Own'] },
      {
        operations: [
          {
            name: 'own',
            method: 'GET',
            path: '/own',
            permissions: ['inference'],
            body: null,
            result: () => null as never,
            run: async () => ({
              kind: 'json',
              status: 200,
              body: {},
              headers: { 'X-RateLimit-Remaining-Tokens': '5' },
            }),
          },
        ],
      },
    );
    const exposed = async (path: string) =>
      (await ask('GET', path, { origin: app })).headers.get('access-control-expose-headers')?.split(', ');
    expect(await exposed('/own')).toEqual(
      expect.arrayContaining(['x-generation-id', 'retry-after', 'x-own', 'x-ratelimit-remaining-tokens']),
    );
    // Errors too: a page has to see why.
    for (const path of ['/nothing', '/workspaces']) expect(await exposed(path)).toContain('retry-after');
  });
  it.each<[object, string]>([
    [{}, 'cors.origins'],
    [{ origins: [] }, 'cors.origins'],
    [{ origins: ['*'] }, 'cors.origins'],
    [{ origins: ['null'] }, 'cors.origins'],
    [{ origins: ['app.example'] }, 'cors.origins'],
    [{ origins: [`${app}/`] }, 'cors.origins'],
    [{ origins: ['https://App.example'] }, 'cors.origins'],
    [{ origins: ['https://*.example'] }, 'cors.origins'],
    [{ origins: '*', credentials: true }, 'cors.credentials'],
    [{ origins: '*', headers: ['a b'] }, 'cors.headers[0]'],
    [{ origins: '*', maxAgeMs: -1 }, 'cors.maxAgeMs'],
  ])('is refused as %j, which names %s', (cors, path) => {
    try {
      open(cors as GatewayOptions['cors']);
      expect.unreachable();
    } catch (error) {
      expect((error as OptionsError).issues.map((issue) => issue.path)).toEqual([path]);
    }
  });
});
