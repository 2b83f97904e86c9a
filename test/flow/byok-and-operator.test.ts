import { describe, expect, it } from 'vitest';
import { StopSwitch } from '../../src/base/async/stop.ts';
import { openaiChat } from '../../src/dialects/openai-chat/index.ts';
import type { GatewayOptions } from '../../src/options.ts';
import { bearer, defineProvider } from '../../src/providers/provider.ts';
import { credentialOpener } from '../../src/setup/credentials.ts';
import { hello, testGateway, testPricing, upstreamKeys } from '../support/gateway.ts';
import { completion } from '../support/upstream.ts';

const secrets = { current: 'a master secret of the tests, which is long enough' };
const junk = 'gsk-junk-0123456789-0123456789';
const ask = { model: 'groq/llama', messages: hello, max_tokens: 10 };
const models = [{ slug: 'groq/llama', endpoints: [{ provider: 'groq', model: 'llama', pricing: testPricing }] }];
const metadata = { 'x-service-metadata': 'enabled' };
const operatorsHeaders = { 'X-Proxy-Key': 'sk-proxy-0123456789', 'OpenAI-Organization': 'org-operator' };

type Providers = NonNullable<GatewayOptions['providers']>;

/** A workspace with a key for groq that is worth nothing, and the operator's settings of groq. */
async function withJunk(groq: Providers[string]) {
  const tested = testGateway({ secrets, providers: { groq }, models });
  tested.upstream.always({ body: completion() });
  await tested.call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 1 });
  const made = await tested.call('POST', '/byok', { provider: 'groq', key: junk });
  expect(made.status).toBe(201);
  const keys = () => tested.upstream.sent.map(({ headers }) => headers.authorization);
  return { ...tested, keys };
}

/** An address of the operator's choice, in each way that it can be given. */
const addressesOfTheOperator: [string, Providers[string]][] = [
  ['baseUrl', { baseUrl: 'https://proxy.test/v1', headers: operatorsHeaders }],
  ['baseUrl and apiKey', { baseUrl: 'https://proxy.test/v1', apiKey: upstreamKeys.up, headers: operatorsHeaders }],
  ['a provider of its own', defineProvider({ slug: 'groq', baseUrl: 'https://proxy.test/v1', dialect: openaiChat })],
];

describe('a key of a workspace that is worth nothing', () => {
  it('is not sent the operator’s headers', async () => {
    const { post, upstream } = await withJunk({ apiKey: upstreamKeys.up, headers: operatorsHeaders });
    upstream.answer({ status: 401, body: '{"error":{"message":"no"}}' });
    expect((await post(ask)).status).not.toBe(401);
    const [byok, operators] = upstream.sent.map(({ headers }) => headers);
    expect(byok?.authorization).toBe(`Bearer ${junk}`);
    expect(JSON.stringify(byok)).not.toMatch(/proxy|organization|operator/i);
    expect(operators).toMatchObject({
      authorization: `Bearer ${upstreamKeys.up}`,
      'x-proxy-key': operatorsHeaders['X-Proxy-Key'],
      'openai-organization': 'org-operator',
    });
  });
  it.each(addressesOfTheOperator)('is not sent to an address that the operator chose: %s', async (_, groq) => {
    const { post, keys } = await withJunk(groq);
    const answer = await post(ask, metadata);
    expect(keys()).not.toContain(`Bearer ${junk}`);
    expect(answer.json.usage?.is_byok ?? false).toBe(false);
    expect(answer.text).not.toContain('"is_byok":true');
  });
  it('is sent there where the operator says so, without the operator’s headers', async () => {
    const { post, upstream, keys } = await withJunk({
      baseUrl: 'https://proxy.test/v1',
      apiKey: upstreamKeys.up,
      headers: operatorsHeaders,
      byok: true,
    });
    expect((await post(ask)).json.usage).toMatchObject({ is_byok: true });
    expect(keys()).toEqual([`Bearer ${junk}`]);
    expect(upstream.sent[0]?.headers).not.toHaveProperty('x-proxy-key');
    const own = defineProvider({
      slug: 'groq',
      baseUrl: 'https://x.test',
      dialect: openaiChat,
      auth: bearer,
      byok: true,
    });
    const other = await withJunk(own);
    expect((await other.post(ask)).json.usage).toMatchObject({ is_byok: true });
  });
  it('is not sent to the built-in address either where the operator says so', async () => {
    const { post, keys } = await withJunk({ apiKey: upstreamKeys.up, byok: false });
    await post(ask);
    expect(keys()).toEqual([`Bearer ${upstreamKeys.up}`]);
  });
  it('is sent to the built-in address, however that is written', async () => {
    const { post, keys } = await withJunk({ apiKey: upstreamKeys.up, baseUrl: 'https://api.groq.com/openai/v1/' });
    await post(ask);
    expect(keys()).toEqual([`Bearer ${junk}`]);
  });
  it('is told of in the metadata and in what is explained, where the operator’s key serves', async () => {
    const { post, call } = await withJunk({ baseUrl: 'https://proxy.test/v1', apiKey: upstreamKeys.up });
    const { json } = await post(ask, metadata);
    expect(json.service_metadata).toMatchObject({ is_byok: false, params: { byok_not_sent_to: ['groq'] } });
    const { data } = (await call('POST', '/chat/completions/explain', ask)).json;
    expect([data.candidates.length, data.candidates[0].is_byok, data.params]).toEqual([
      1,
      false,
      { byok_not_sent_to: ['groq'] },
    ]);
  });
  it('is told of where nothing else would serve', async () => {
    const tested = testGateway({
      secrets,
      providers: { groq: { byok: false }, up: { baseUrl: 'https://up.test/v1' } },
      models: [
        {
          slug: 'acme/two',
          endpoints: [
            { provider: 'groq', model: 'm' },
            { provider: 'up', model: 'm' },
          ],
        },
      ],
    });
    tested.upstream.always({ body: completion() });
    await tested.call('POST', '/byok', { provider: 'groq', key: junk });
    const body = { model: 'acme/two', messages: hello };
    const { data } = (await tested.call('POST', '/chat/completions/explain', body)).json;
    expect(data.excluded).toEqual([{ model: 'acme/two', provider: 'groq', filter: 'byok' }]);
    const refused = await tested.post({ ...body, provider: { only: ['groq'] } });
    expect([refused.status, refused.json.error.metadata?.excluded]).toEqual([
      404,
      expect.arrayContaining([{ model: 'acme/two', provider: 'groq', filter: 'byok' }]),
    ]);
    const { json } = await tested.call('GET', '/providers');
    expect(json.data.map(({ slug }: { slug: string }) => slug)).toEqual(['up']);
    const listed = (await tested.call('GET', '/models/acme/two/endpoints')).json.data.endpoints;
    expect(listed.map(({ tag }: { tag: string }) => tag)).toEqual(['up']);
  });
  it('passes no other door', () => {
    const open = credentialOpener(
      () => ({ secret: 'operator' }),
      () => ({ open: () => ({ secret: junk }) }),
      () => false,
    );
    const ref = { kind: 'byok', provider: 'groq', workspaceId: 'acme' as never, id: 'x' } as const;
    expect(() => open(ref, new StopSwitch())).toThrow('The credential cannot be used.');
  });
});
