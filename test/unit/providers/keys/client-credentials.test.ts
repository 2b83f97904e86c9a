import { describe, expect, it } from 'vitest';
import type { NoKeyError } from '../../../../src/providers/keys/api-key.ts';
import { type ClientCredentialsOptions, clientCredentials } from '../../../../src/providers/keys/client-credentials.ts';
import { manualClock } from '../../../support/manual-clock.ts';
import { type TokenAnswer, tokenEndpoint, tokenNumber } from '../../../support/token-endpoint.ts';

const secret = 's3cr3t/with:odd *chars';
const given = {
  tokenUrl: 'https://auth.test/oauth/token?tenant=t-private',
  clientId: 'my client',
  clientSecret: secret,
};

function keeper(options: Partial<ClientCredentialsOptions> = {}) {
  const clock = manualClock();
  const endpoint = tokenEndpoint(clock);
  const key = clientCredentials({ ...given, fetch: endpoint.fetch, clock, ...options });
  const ask = async (asked: Parameters<typeof key>[0] = {}) => clock.until(Promise.resolve(key(asked)));
  const failure = async (asked: Parameters<typeof key>[0] = {}) =>
    clock.until(
      Promise.resolve(key(asked)).then(
        () => null,
        (error: NoKeyError) => error,
      ),
    );
  return { clock, endpoint, key, ask, failure };
}

describe('the request to the token endpoint', () => {
  it('is a form, with id and secret percent-encoded in a Basic header, and follows no redirect', async () => {
    const { ask, endpoint } = keeper({
      scope: 'a b',
      audience: 'https://api.test/',
      resource: 'urn:r',
      headers: { 'x-tenant': 'one' },
    });
    expect(await ask()).toBe(tokenNumber(1));
    const [call] = endpoint.calls;
    expect(call?.url).toBe(given.tokenUrl);
    expect(call?.headers.get('authorization')).toBe(`Basic ${btoa('my%20client:s3cr3t%2Fwith%3Aodd%20%2achars')}`);
    expect(call?.headers.get('content-type')).toBe('application/x-www-form-urlencoded');
    expect([call?.headers.get('x-tenant'), call?.redirect]).toEqual(['one', 'manual']);
    expect([...(call?.form ?? [])]).toEqual([
      ['grant_type', 'client_credentials'],
      ['scope', 'a b'],
      ['audience', 'https://api.test/'],
      ['resource', 'urn:r'],
    ]);
  });
  it('has id and secret in the form with auth: body', async () => {
    const { ask, endpoint } = keeper({ auth: 'body' });
    await ask();
    const [call] = endpoint.calls;
    expect(call?.headers.has('authorization')).toBe(false);
    expect([call?.form.get('client_id'), call?.form.get('client_secret')]).toEqual(['my client', secret]);
  });
  it.each([
    [{ scop: 'x' }, /clientCredentials\.scop: unknown name.*scope/],
    [{ tokenUrl: 'ftp://auth.test' }, /tokenUrl: expected an http or https URL/],
    [{ tokenUrl: 'https://user:pass@auth.test' }, /without user and password/],
    [{ clientSecret: undefined }, /clientSecret/],
    [{ auth: 'post' }, /auth/],
    [{ timeoutMs: 0 }, /timeoutMs/],
  ])('is refused at the start with the options %j', (wrong, message) => {
    expect(() => clientCredentials({ ...given, ...wrong } as ClientCredentialsOptions)).toThrow(message);
    try {
      clientCredentials({ ...given, ...wrong } as ClientCredentialsOptions);
    } catch (error) {
      expect(String(error)).not.toContain('s3cr3t');
    }
  });
});

describe('a token', () => {
  it('is asked for once by 100 requests at once', async () => {
    const { key, clock, endpoint } = keeper();
    endpoint.answer({ afterMs: 500 });
    const keys = Promise.all(Array.from({ length: 100 }, () => key({})));
    expect(new Set(await clock.until(keys))).toEqual(new Set([tokenNumber(1)]));
    expect(endpoint.calls).toHaveLength(1);
  });
  it('is at hand without a promise until shortly before its end', async () => {
    const { ask, key, clock, endpoint } = keeper();
    await ask();
    await clock.advance(3_539_000);
    expect(key({})).toBe(tokenNumber(1));
    expect(endpoint.calls).toHaveLength(1);
  });
  it('is renewed before its end while requests go on with it', async () => {
    const { ask, key, clock, endpoint } = keeper();
    await ask();
    await clock.advance(3_541_000);
    endpoint.answer({ afterMs: 2_000 });
    expect([key({}), key({})]).toEqual([tokenNumber(1), tokenNumber(1)]);
    await clock.advance(2_000);
    expect([key({}), endpoint.calls.length]).toEqual([tokenNumber(2), 2]);
  });
  it('that ended is waited for, by all in one call', async () => {
    const { ask, key, clock, endpoint } = keeper();
    await ask();
    await clock.advance(3_600_000);
    expect(await clock.until(Promise.all([key({}), key({})]))).toEqual([tokenNumber(2), tokenNumber(2)]);
    expect(endpoint.calls).toHaveLength(2);
  });
  it('that ended while the next one was on its way is waited for in the same call', async () => {
    const { ask, key, clock, endpoint } = keeper();
    await ask();
    await clock.advance(3_599_000);
    endpoint.answer({ afterMs: 5_000 });
    expect(key({})).toBe(tokenNumber(1));
    await clock.advance(1_000);
    expect(await clock.until(Promise.resolve(key({})))).toBe(tokenNumber(2));
    expect(endpoint.calls).toHaveLength(2);
  });
  it.each([
    [null, 300_000],
    ['600', 600_000],
    ['soon', 300_000],
    [-1, 300_000],
  ])('with expires_in %j lives for %i ms', async (expiresIn, livesMs) => {
    const { ask, key, clock, endpoint } = keeper();
    endpoint.answer({ expiresIn });
    await ask();
    await clock.advance(livesMs - 61_000);
    expect([key({}), endpoint.calls.length]).toEqual([tokenNumber(1), 1]);
    await clock.advance(61_000);
    expect([await ask(), endpoint.calls.length]).toEqual([tokenNumber(2), 2]);
  });
  it('of a short life is not renewed with every request', async () => {
    const { ask, key, clock, endpoint } = keeper();
    endpoint.answer({ expiresIn: 40 });
    await ask();
    await clock.advance(19_000);
    expect([key({}), endpoint.calls.length]).toEqual([tokenNumber(1), 1]);
  });
  it('that the provider refused is renewed once for all that had it', async () => {
    const { ask, key, clock, endpoint } = keeper();
    const refused = await ask();
    const renewed = Promise.all(Array.from({ length: 20 }, () => key({ refused })));
    expect(new Set(await clock.until(renewed))).toEqual(new Set([tokenNumber(2)]));
    // A late one: the token was renewed meanwhile.
    expect([await ask({ refused }), endpoint.calls.length]).toEqual([tokenNumber(2), 2]);
  });
});

const faults: [string, TokenAnswer, string][] = [
  [
    'an error of OAuth',
    { status: 401, body: { error: 'invalid_client', error_description: `no ${secret}` } },
    'The token endpoint auth.test answered with status 401 (invalid_client)',
  ],
  [
    'an error in other words',
    { status: 500, body: `<html>${secret}</html>` },
    'The token endpoint auth.test answered with status 500',
  ],
  [
    'a redirect',
    { status: 302, headers: { location: 'https://evil.test' }, body: '' },
    'The token endpoint auth.test answered with status 302',
  ],
  ['no token', { body: { token: 'x' } }, 'The token endpoint auth.test answered without an access_token'],
  ['half a body', { body: '{"access_token":"x' }, 'The token endpoint auth.test answered without an access_token'],
  [
    'a token over two lines',
    { body: { access_token: 'a\r\nb' } },
    'The token endpoint auth.test answered without an access_token',
  ],
  [
    'another kind of token',
    { body: { access_token: 'x', token_type: 'mac' } },
    'The token endpoint auth.test answered with a token that is no bearer token',
  ],
  ['far too much', { body: 'x'.repeat(70_000) }, 'The token endpoint auth.test could not be reached'],
  ['no connection', { instead: 'refuse' }, 'The token endpoint auth.test could not be reached'],
  ['nothing', { instead: 'hang' }, 'The token endpoint auth.test took longer than 10000 ms'],
];

describe('a token endpoint that answers with', () => {
  it.each(faults)('%s fails with its host and the reason, and no secret', async (_, answer, message) => {
    const { failure, endpoint } = keeper();
    endpoint.answer(answer);
    const error = await failure();
    expect([error?.name, error?.message]).toEqual(['NoKeyError', message]);
    expect(`${error?.stack} ${JSON.stringify(error)} ${error?.cause}`).not.toMatch(/s3cr3t|Basic|t-private/);
  });
});

describe('a token endpoint that fails', () => {
  it('is asked again after 1 s, then after twice that, up to 30 s, and is back with its first success', async () => {
    const { failure, ask, clock, endpoint } = keeper();
    endpoint.answer(...Array.from({ length: 8 }, () => ({ status: 503, body: '' })));
    const pauses: (number | undefined)[] = [];
    for (let n = 1; n <= 7; n++) {
      pauses.push((await failure())?.retryAfterMs);
      await clock.advance((pauses.at(-1) ?? 0) - 1);
      expect([(await failure())?.retryAfterMs, endpoint.calls.length]).toEqual([1, n]);
      await clock.advance(1);
    }
    expect(pauses).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
    expect((await failure())?.retryAfterMs).toBe(30_000);
    await clock.advance(30_000);
    expect(await ask()).toBe(tokenNumber(1));
    endpoint.answer({ status: 503, body: '' });
    expect((await failure({ refused: tokenNumber(1) }))?.retryAfterMs).toBe(1000);
  });
  it('is left alone for as long as it asks, at most 5 minutes', async () => {
    const { failure, endpoint } = keeper();
    endpoint.answer({ status: 429, body: '', headers: { 'retry-after': '20' } });
    expect((await failure())?.retryAfterMs).toBe(20_000);
    const other = keeper();
    other.endpoint.answer({ status: 429, body: '', headers: { 'retry-after': '86400' } });
    expect((await other.failure())?.retryAfterMs).toBe(300_000);
  });
  it('does not matter while the token is good', async () => {
    const { ask, key, clock, endpoint } = keeper();
    await ask();
    await clock.advance(3_545_000);
    endpoint.answer({ status: 503, body: '' }, { status: 503, body: '' });
    for (let n = 0; n < 7; n++) {
      expect(key({})).toBe(tokenNumber(1));
      await clock.advance(500);
    }
    // After 0 s, 1 s and 3 s.
    expect([key({}), endpoint.calls.length]).toEqual([tokenNumber(2), 4]);
  });
});

describe('a request that leaves', () => {
  it('ends the call when nobody else waits, and that is no failure', async () => {
    const { key, ask, clock, endpoint } = keeper();
    endpoint.answer({ instead: 'hang' });
    const client = new AbortController();
    const waiting = Promise.resolve(key({ signal: client.signal }));
    await clock.advance(0);
    client.abort(new Error('left'));
    await expect(waiting).rejects.toThrow('left');
    expect(endpoint.calls[0]?.isAborted).toBe(true);
    expect([await ask(), endpoint.calls.length]).toEqual([tokenNumber(1), 2]);
  });
  it('leaves the call to the others', async () => {
    const { key, clock, endpoint } = keeper();
    endpoint.answer({ afterMs: 1_000 });
    const client = new AbortController();
    const leaving = Promise.resolve(key({ signal: client.signal }));
    const staying = Promise.resolve(key({ signal: new AbortController().signal }));
    client.abort(new Error('left'));
    await expect(leaving).rejects.toThrow('left');
    expect(await clock.until(staying)).toBe(tokenNumber(1));
    expect([endpoint.calls.length, endpoint.calls[0]?.isAborted]).toEqual([1, false]);
  });
});
