import { Keyv } from 'keyv';
import { describe, expect, it } from 'vitest';
import type { HostCaller } from '../../src/http/host-caller.ts';
import { chatRequest, hello, managementKey, readStream, testGateway, testKey } from '../support/gateway.ts';
import { completion, errorBody } from '../support/upstream.ts';

const body = { model: 'acme/fast', messages: hello };

describe('an api key', () => {
  it.each<[string, string | undefined, RegExp]>([
    ['missing', undefined, /Authorization header is missing/],
    ['empty', '', /Authorization header is missing/],
    ['without its scheme', testKey, /not of the form/],
    ['of another scheme', `Basic ${btoa(`user:${testKey}`)}`, /not of the form/],
    ['without a key', 'Bearer ', /not of the form/],
    ['of two words', `Bearer ${testKey} ${testKey}`, /not of the form/],
    ['unknown', 'Bearer sk-test-unknown', /not valid/],
    ['a part of one', `Bearer ${testKey.slice(0, -1)}`, /not valid/],
    ['one with something behind it', `Bearer ${testKey}x`, /not valid/],
    ['one in other letters', `Bearer ${testKey.toUpperCase()}`, /not valid/],
    ['its own hash', `Bearer ${'0'.repeat(64)}`, /not valid/],
  ])('that is %s is refused with 401', async (_, authorization, message) => {
    const { gateway, upstream, records } = testGateway();
    const request = chatRequest(body);
    request.headers.delete('authorization');
    if (authorization !== undefined) request.headers.set('authorization', authorization);
    const { status, json, headers, text } = await readStream(await gateway.fetch(request));
    expect([status, json.error.code, json.error.message]).toEqual([401, 401, expect.stringMatching(message)]);
    expect(json.error.metadata).toEqual({ error_type: 'authentication' });
    expect(headers.get('www-authenticate')).toBe('Bearer');
    expect(text).not.toContain('sk-test');
    expect([upstream.sent, records]).toEqual([[], []]);
  });
  it.each(['bearer', 'BEARER', 'Bearer  '])('may be sent as "%s"', async (scheme) => {
    const { post, upstream } = testGateway();
    upstream.answer({ body: completion() });
    expect((await post(body, { authorization: `${scheme.trimEnd()} ${testKey}` })).status).toBe(200);
  });
  it('is checked before the body is looked at', async () => {
    const { post } = testGateway();
    expect((await post('{"not": json', { authorization: 'Bearer sk-test-unknown' })).status).toBe(401);
  });
  it('for management alone gets 403', async () => {
    const { post, upstream } = testGateway();
    const { status, json } = await post(body, { authorization: `Bearer ${managementKey}` });
    expect([status, json.error.metadata?.error_type]).toEqual([403, 'permission_denied']);
    expect(json.error.message).toContain('inference');
    expect(upstream.sent).toEqual([]);
  });
  it('is recorded as its hash only', async () => {
    const { post, upstream, records } = testGateway();
    upstream.answer({ body: completion() });
    await post(body);
    expect(records[0]?.apiKeyHash).toMatch(/^[0-9a-f]{64}$/);
    expect(JSON.stringify(records)).not.toContain('sk-');
  });
});

describe("the host app's own users", () => {
  type Authenticate = (request: Request) => HostCaller | null | Promise<HostCaller | null>;
  const as = (authenticate: Authenticate, options: object = {}) => testGateway({ authenticate, ...options });
  const inference = { permissions: ['inference'] as const };

  it('are who `authenticate` says, from anything in the request', async () => {
    const seen: (string | null)[] = [];
    const { post, upstream, records } = as(async (request) => {
      seen.push(request.headers.get('x-user'), request.url);
      return { ...inference, workspaceId: 'team-1', userId: 'user-7' };
    });
    upstream.answer({ body: completion() });
    expect((await post(body, { 'x-user': 'seven', authorization: '' })).status).toBe(200);
    expect(seen).toEqual(['seven', 'http://gateway.test/v1/chat/completions']);
    expect(records).toMatchObject([{ workspaceId: 'team-1', apiKeyHash: null }]);
  });
  it('are nobody where it says null: 401', async () => {
    const { post, upstream } = as(() => null);
    const { status, json } = await post(body);
    expect([status, json.error.metadata, json.user_id]).toEqual([401, { error_type: 'authentication' }, undefined]);
    expect(upstream.sent).toEqual([]);
  });
  it.each<[string, Authenticate]>([
    [
      'throws',
      () => {
        throw new Error('database sk-secret is down');
      },
    ],
    ['rejects', () => Promise.reject(new Error('database sk-secret is down'))],
    ['says nonsense', () => ({}) as HostCaller],
    ['says undefined permissions', () => ({ permissions: undefined }) as unknown as HostCaller],
  ])('are kept out where it %s: 500 without details, logged', async (_, authenticate) => {
    const logged: object[] = [];
    const logger = {
      info: () => undefined,
      warn: () => undefined,
      error: (fields: object) => void logged.push(fields),
    };
    const { post, upstream } = as(authenticate, { logger });
    const { status, json, text } = await post(body, { 'x-service-metadata': 'enabled' });
    expect([status, json]).toEqual([500, { error: { code: 500, message: 'Something went wrong inside the gateway' } }]);
    expect(text).not.toContain('secret');
    expect(logged).toHaveLength(1);
    expect(upstream.sent).toEqual([]);
  });
  it('without the permission get 403, and their id', async () => {
    const { post } = as(() => ({ permissions: ['management'], userId: 'user-7' }));
    const { status, json } = await post(body);
    expect([status, json.user_id]).toEqual([403, 'user-7']);
  });
  it('find their id in every error they get', async () => {
    const { post, upstream } = as(() => ({ ...inference, userId: 'user-7' }), { retry: { maxAttempts: 1 } });
    upstream.answer({ status: 500, body: errorBody('Oops') });
    for (const [asked, status] of [
      ['{', 400],
      [{ ...body, model: 'no/model' }, 400],
      [body, 502],
    ] as const) {
      const answer = await post(asked);
      expect([answer.status, answer.json.user_id]).toEqual([status, 'user-7']);
    }
  });
});

it('what is wrong inside the gateway is logged with its cause, and shown as a bare 500', async () => {
  const lines: { error?: unknown }[] = [];
  const logger = { info: () => undefined, warn: () => undefined, error: (fields: object) => void lines.push(fields) };
  const bytes = new Map<string, unknown>();
  const { gateway } = testGateway({ apiKeys: undefined, store: new Keyv({ store: bytes }), logger });
  const { key } = await gateway.apiKeys.create();
  for (const [name, value] of bytes)
    bytes.set(name, JSON.parse(JSON.stringify(value).replaceAll('inference', 'damaged')));
  const other = testGateway({ apiKeys: undefined, store: new Keyv({ store: bytes }), logger });
  const answer = await other.post({ model: 'acme/fast', messages: hello }, { authorization: `Bearer ${key}` });
  expect([answer.status, answer.json.error]).toEqual([500, { code: 500, message: expect.any(String) }]);
  expect(lines).toMatchObject([{ error: { message: expect.stringMatching(/malformed|damaged/) } }]);
  expect(JSON.stringify(lines)).not.toContain(key);
});
