import { describe, expect, it } from 'vitest';
import type { GatewayOptions } from '../../src/options.ts';
import { hello, type TestGateway, testGateway, testPricing } from '../support/gateway.ts';
import { completion } from '../support/upstream.ts';

const secrets = { current: 'a master secret of the tests, which is long enough' };
const operators = 'gsk-operator-0123456789';
const own = 'gsk-own-0123456789-0123456789';
const metadata = { 'x-service-metadata': 'enabled' };
const models = [
  {
    slug: 'acme/two',
    endpoints: [
      { provider: 'openai', model: 'm', pricing: testPricing },
      { provider: 'groq', model: 'm', pricing: testPricing },
    ],
  },
  { slug: 'acme/local', endpoints: [{ provider: 'local', model: 'm' }] },
];

/** A workspace that uses its own credentials alone, and a request of it. */
async function byokOnly(fields: object = { is_byok_only: true }, options: Partial<GatewayOptions> = {}) {
  const tested = testGateway({
    secrets,
    models,
    providers: {
      openai: { apiKey: 'sk-operator-0123456789' },
      groq: { apiKey: operators },
      local: { baseUrl: 'http://127.0.0.1:1/v1' },
      sandbox: {},
    },
    retry: { attemptsPerEndpoint: 1 },
    ...options,
  });
  tested.upstream.always({ body: completion() });
  const made = await tested.call('POST', '/workspaces', { name: 'Acme', slug: 'acme', ...fields });
  const workspace = made.json.data.id as string;
  const permissions = ['inference', 'management'];
  const { key } = (await tested.call('POST', '/keys', { name: 'k', workspace_id: workspace, permissions })).json;
  const headers = { authorization: `Bearer ${key}` };
  const bring = () => tested.call('POST', '/byok', { provider: 'groq', key: own, workspace_id: workspace });
  const ask = (model = 'acme/two', more: object = {}) =>
    tested.post({ model, messages: hello, max_tokens: 5, ...more }, { ...headers, ...metadata });
  return { ...tested, workspace, headers, bring, ask };
}

const sentKeys = ({ upstream }: TestGateway) => upstream.sent.map(({ headers }) => headers.authorization);

describe('a workspace that uses its own credentials alone', () => {
  it('is not served by the gateway’s own keys, nor by what needs none', async () => {
    const tested = await byokOnly();
    for (const model of ['acme/two', 'acme/local', 'sandbox/echo', 'openai/gpt-x', 'service/auto']) {
      const { status } = await tested.ask(model);
      expect([model, status]).toEqual([model, 404]);
    }
    expect(sentKeys(tested)).toEqual([]);
    const { json } = await tested.ask();
    expect(json.error.metadata).toMatchObject({
      excluded: [
        { model: 'acme/two', provider: 'openai', filter: 'byok_only' },
        { model: 'acme/two', provider: 'groq', filter: 'byok_only' },
      ],
    });
  });
  it('is served by its own alone, also when that is refused', async () => {
    const tested = await byokOnly();
    await tested.bring();
    const { status, json } = await tested.ask();
    expect([status, json.usage?.is_byok]).toEqual([200, true]);
    expect(json.service_metadata).toMatchObject({ is_byok: true, params: { byok_only: true } });
    expect(json.service_metadata?.endpoints).toMatchObject({ total: 2, available: [{ provider: 'Groq' }] });
    tested.upstream.always({ status: 401, body: '{"error":{"message":"no"}}' });
    expect((await tested.ask()).status).toBe(502);
    expect(new Set(sentKeys(tested))).toEqual(new Set([`Bearer ${own}`]));
  });
  it.each([true, false])('is rated for `service/auto` by the gateway itself: %j', async (isByokOnly) => {
    let asked = 0;
    const difficulty = () => ++asked && 1;
    const tested = await byokOnly({ is_byok_only: isByokOnly }, { difficulty });
    await tested.bring();
    const { status, json } = await tested.ask('service/auto');
    expect(status).toBe(200);
    expect(asked).toBe(isByokOnly ? 0 : 1);
    expect(json.service_metadata?.pipeline).toContainEqual(expect.objectContaining({ name: 'auto-router' }));
  });
  it('is explained as it is served', async () => {
    const tested = await byokOnly();
    await tested.bring();
    const body = { model: 'acme/two', messages: hello };
    const { data } = (await tested.call('POST', '/chat/completions/explain', body, tested.headers)).json;
    const expected = {
      candidates: [{ provider: 'groq', is_byok: true }],
      excluded: [{ model: 'acme/two', provider: 'openai', filter: 'byok_only' }],
      params: { byok_only: true },
    };
    expect(data).toMatchObject(expected);
    expect(await tested.gateway.explain(body, { workspaceId: tested.workspace })).toMatchObject(expected);
  });
  it('is listed what its own credentials reach', async () => {
    const tested = await byokOnly();
    const names = async (path: string, name: 'slug' | 'id') =>
      ((await tested.call('GET', path, undefined, tested.headers)).json.data as Record<string, string>[]).map(
        (one) => one[name],
      );
    expect([await names('/providers', 'slug'), await names('/models', 'id')]).toEqual([[], []]);
    expect((await tested.call('GET', '/models/acme/two/endpoints', undefined, tested.headers)).status).toBe(404);
    await tested.bring();
    expect(await names('/providers', 'slug')).toEqual(['groq']);
    expect(await names('/models', 'id')).toContain('acme/two');
    expect(await names('/models', 'id')).not.toContain('acme/local');
  });
  it('is set by operators alone', async () => {
    const tested = await byokOnly();
    const change = (body: object, headers = {}) => tested.call('PATCH', '/workspaces/acme', body, headers);
    const refused = await change({ is_byok_only: false }, tested.headers);
    expect([refused.status, refused.json.error.metadata.issues]).toEqual([
      403,
      [
        {
          path: 'is_byok_only',
          message: 'expected true: only a caller that manages all workspaces can change it',
        },
      ],
    ]);
    expect((await change({ is_byok_only: true, name: 'Same' }, tested.headers)).status).toBe(200);
    expect((await tested.ask()).status).toBe(404);
    expect((await change({ is_byok_only: false })).json.data.is_byok_only).toBe(false);
    expect((await tested.ask()).status).toBe(200);
    expect((await change({ is_byok_only: true }, tested.headers)).status).toBe(403);
  });
  it('is no other workspace', async () => {
    const tested = await byokOnly();
    expect((await tested.post({ model: 'acme/two', messages: hello })).status).toBe(200);
    const plain = await byokOnly({});
    expect((await plain.ask()).json.service_metadata?.params).toBeUndefined();
  });
});

describe('a caller of the host app with byokOnly', () => {
  it('uses no credential of the operator’s', async () => {
    let isOwn = true;
    const { post, upstream } = testGateway({
      secrets,
      models,
      providers: { openai: { apiKey: operators }, groq: { apiKey: operators }, local: { baseUrl: 'http://l.test' } },
      authenticate: () => ({ permissions: ['inference'], workspaceId: 'team-a', byokOnly: isOwn }),
    });
    upstream.always({ body: completion() });
    expect((await post({ model: 'acme/two', messages: hello })).json.error.metadata).toMatchObject({
      excluded: [{ filter: 'byok_only' }, { filter: 'byok_only' }],
    });
    expect(upstream.sent).toEqual([]);
    isOwn = false;
    expect((await post({ model: 'acme/two', messages: hello })).status).toBe(200);
  });
});
