import { Keyv } from 'keyv';
import { describe, expect, it } from 'vitest';
import { sha256Hex } from '../../src/base/secrets.ts';
import { defaultWorkspaceId } from '../../src/call/workspace.ts';
import { openaiChat } from '../../src/dialects/openai-chat/index.ts';
import type { GatewayOptions } from '../../src/options.ts';
import { defineProvider } from '../../src/providers/provider.ts';
import { hello, testGateway, testKey, upstreamKeys } from '../support/gateway.ts';
import { completion, sse, textStream } from '../support/upstream.ts';

const secrets = { current: 'a master secret of the tests, which is long enough' };
const ask = { model: 'groq/llama', messages: hello, max_tokens: 50 };
const own = (n: number) => `gsk-own-credential-number-${n}-0123456789`;

/** A gateway whose default workspace brought credentials for groq, which the operator has set up as well, or not. */
async function withByok(
  credentials: readonly object[],
  options: Partial<GatewayOptions> & { operator?: boolean } = {},
) {
  const { operator = true, ...rest } = options;
  const tested = testGateway({
    secrets,
    providers: operator
      ? { groq: { apiKey: upstreamKeys.up, baseUrl: 'https://groq.test/v1', byok: true } }
      : { up: { baseUrl: 'https://up.test/v1' } },
    models: [],
    retry: { attemptsPerEndpoint: 2, maxAttempts: 10 },
    ...rest,
  });
  tested.upstream.always({ body: completion() });
  const ids: string[] = [];
  for (const [at, fields] of credentials.entries()) {
    const made = await tested.call('POST', '/byok', { provider: 'groq', key: own(at), ...fields });
    expect([made.status, made.text]).toEqual([201, made.text]);
    ids.push(made.json.data.id);
  }
  /** Whose key each request upstream had: the number of the credential, or the operator. */
  const keys = () =>
    tested.upstream.sent.map(({ headers }) => {
      const key = headers.authorization?.replace('Bearer ', '') ?? '';
      return key === upstreamKeys.up ? 'operator' : Number(/number-(\d)-/.exec(key)?.[1] ?? -1);
    });
  return { ...tested, ids, keys };
}

describe("a workspace's own provider credential", () => {
  it('is used before the operator’s, and said so', async () => {
    const { post, keys, records } = await withByok([{}]);
    const answer = await post(ask, { 'x-service-metadata': 'enabled' });
    expect([answer.status, keys()]).toEqual([200, [0]]);
    expect(answer.json.usage).toMatchObject({ is_byok: true });
    expect(answer.json.service_metadata).toMatchObject({ is_byok: true, attempt: 1 });
    expect(records[0]?.attempts[0]).toMatchObject({ isByok: true });
  });
  it('says so in a stream', async () => {
    const { post, upstream } = await withByok([{}]);
    upstream.answer({ body: textStream('Hello') });
    const answer = await post({ ...ask, stream: true }, { 'x-service-metadata': 'enabled' });
    expect(answer.chunks.at(-1)).toMatchObject({ usage: { is_byok: true }, service_metadata: { is_byok: true } });
  });
  it('reaches a provider that the operator did not set up', async () => {
    const { post, upstream } = await withByok([{}], { operator: false });
    expect((await post(ask)).status).toBe(200);
    expect(upstream.sent[0]?.url).toBe('https://api.groq.com/openai/v1/chat/completions');
  });
  it.each([401, 402, 403, 429])('that the provider refuses with %i falls to the next at once', async (status) => {
    const { post, upstream, keys, clock } = await withByok([{}, {}, { is_fallback: true }]);
    const refusal = { status, body: '{"error":{"message":"no"}}', headers: { 'retry-after': '3' } };
    upstream.answer(refusal, refusal, refusal);
    const startMs = clock.now();
    const answer = await post(ask, { 'x-service-metadata': 'enabled' });
    if (status === 429) {
      // The operator's own is given its second chance, as without credentials of the workspace.
      expect(keys()).toEqual([0, 1, 'operator', 'operator']);
    } else {
      expect([answer.status, keys(), clock.now() - startMs]).toEqual([200, [0, 1, 'operator', 2], 0]);
      expect(answer.json.usage).toMatchObject({ is_byok: true });
    }
  });
  it('that was refused rests, without putting the endpoint to rest for others', async () => {
    const { post, upstream, keys } = await withByok([{}]);
    upstream.answer({ status: 401, body: '{}' });
    expect((await post(ask)).status).toBe(200);
    expect((await post(ask)).status).toBe(200);
    expect(keys()).toEqual([0, 'operator', 'operator']);
  });
  it('that fails last is named as such, and the key is not shown', async () => {
    const { post, upstream } = await withByok([{}], { operator: false });
    upstream.answer({ status: 401, body: `{"error":{"message":"bad key ${own(0)}"}}` });
    const { status, text, json } = await post(ask);
    expect(status).toBe(502);
    expect(json.error.message).toMatch(/workspace's own credential/);
    expect(text).not.toContain('gsk-own');
  });
  it('is a fallback only after the operator’s own', async () => {
    const { post, upstream, keys } = await withByok([{ is_fallback: true }], { retry: { attemptsPerEndpoint: 1 } });
    expect((await post(ask)).json.usage).toMatchObject({ is_byok: false });
    upstream.answer({ status: 500, body: '{}' });
    expect((await post(ask)).json.usage).toMatchObject({ is_byok: true });
    expect(keys()).toEqual(['operator', 'operator', 0]);
  });
  it.each<[string, object, object, boolean]>([
    ['disabled', { disabled: true }, {}, false],
    ['for this model', { allowed_models: ['groq/*'] }, {}, true],
    ['for another model', { allowed_models: ['groq/gemma'] }, {}, false],
    ['for this user', { allowed_user_ids: ['u1'] }, { user: 'u1' }, true],
    ['for another user', { allowed_user_ids: ['u1'] }, { user: 'u2' }, false],
    ['for some users, and none is named', { allowed_user_ids: ['u1'] }, {}, false],
    ['for this api key', { allowed_api_key_hashes: [sha256Hex(testKey)] }, {}, true],
    ['for another api key', { allowed_api_key_hashes: ['0'.repeat(64)] }, {}, false],
  ])('is used where it is allowed: %s', async (_, settings, fields, isUsed) => {
    const { post, keys } = await withByok([settings]);
    await post({ ...ask, ...fields });
    expect(keys()).toEqual([isUsed ? 0 : 'operator']);
  });
  it('is used no more once it is switched off or deleted, and is what it was changed to', async () => {
    const { post, call, ids, keys, upstream } = await withByok([{}]);
    await post(ask);
    await call('PATCH', `/byok/${ids[0]}`, { key: own(7) });
    await post(ask);
    await call('PATCH', `/byok/${ids[0]}`, { disabled: true });
    await post(ask);
    await call('PATCH', `/byok/${ids[0]}`, { disabled: false });
    await post(ask);
    await call('DELETE', `/byok/${ids[0]}`);
    await post(ask);
    expect(keys()).toEqual([0, 7, 'operator', 7, 'operator']);
    expect(upstream.sent).toHaveLength(5);
  });
  it('of one workspace is not used for another', async () => {
    const { post, call, keys } = await withByok([{}]);
    const other = await call('POST', '/workspaces', { name: 'Other', slug: 'other' });
    const key = await call('POST', '/keys', { name: 'k', workspace_id: other.json.data.id });
    expect((await post(ask, { authorization: `Bearer ${key.json.key}` })).status).toBe(200);
    expect(keys()).toEqual(['operator']);
  });
  it('that no header takes counts as refused', async () => {
    const groq = defineProvider({
      slug: 'groq',
      baseUrl: 'https://groq.test/v1',
      dialect: openaiChat,
      apiKey: upstreamKeys.up,
      byok: true,
      credentialShape: { parts: { apiKey: { expected: 'any text', pattern: /^[\s\S]+$/ } } },
    });
    const { post, upstream } = await withByok([{ key: '{"apiKey":"one line\\nand another"}' }], {
      providers: { groq },
    });
    expect((await post(ask)).status).toBe(200);
    expect(upstream.sent.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${upstreamKeys.up}`]);
  });
  it('is not echoed, though the provider does', async () => {
    const { post, upstream } = await withByok([{}]);
    upstream.answer({ body: completion({}, { content: `your key is ${own(0)}` }) });
    expect((await post(ask)).text).not.toContain(own(0));
    upstream.answer({
      body: [sse({ choices: [{ index: 0, delta: { content: own(0) }, finish_reason: null }] }), ...textStream('x')],
    });
    expect((await post({ ...ask, stream: true })).text).not.toContain(own(0));
  });
});

describe('a change of the master secret', () => {
  const next = { current: 'the next master secret of the tests, also long enough', previous: [secrets.current] };

  it('keeps credentials open, and after a rotation nothing needs the earlier one', async () => {
    const store = new Keyv();
    await withByok([{}, {}], { store });
    const { gateway, post, keys } = await withByok([], { store, secrets: next });
    expect((await post(ask)).status).toBe(200);
    expect(await gateway.credentials.rotate()).toMatchObject({ checked: 2, failed: [] });
    expect(await gateway.credentials.rotate()).toEqual({ checked: 2, resealed: 0, failed: [] });
    expect(keys()).toEqual([0]);
    const after = await withByok([], { store, secrets: { current: next.current } });
    expect((await after.post(ask)).status).toBe(200);
    expect(after.keys()).toEqual([0]);
  });
  it('that forgets the earlier one leaves credentials out, and says so in the log', async () => {
    const store = new Keyv();
    await withByok([{}], { store });
    const lines: unknown[] = [];
    const logger = { info: () => undefined, warn: (...line: unknown[]) => lines.push(line), error: () => undefined };
    const { gateway, post, keys, ids } = await withByok([], { store, logger, secrets: { current: next.current } });
    expect((await post(ask)).status).toBe(200);
    expect([keys(), ids]).toEqual([['operator'], []]);
    expect(JSON.stringify(lines)).toMatch(/cannot be opened/);
    expect(await gateway.credentials.rotate()).toMatchObject({ checked: 1, resealed: 0, failed: [expect.any(String)] });
  });
  it('reaches workspaces that only the host app knows of, when it names them', async () => {
    const store = new Keyv();
    const mine = { permissions: ['inference', 'management'] as const, workspaceId: 'team-1' };
    const before = await withByok([{}], { store, authenticate: () => mine });
    expect((await before.post(ask)).status).toBe(200);
    const { gateway } = await withByok([], { store, secrets: next, authenticate: () => mine });
    expect(await gateway.credentials.rotate()).toMatchObject({ checked: 0 });
    expect(await gateway.credentials.rotate(['team-1'])).toMatchObject({ checked: 1, resealed: 1 });
    await expect(gateway.credentials.rotate(['team-1', 'no id'])).rejects.toMatchObject({
      status: 400,
      metadata: { issues: [{ path: 'workspaces[1]', message: 'expected the id of a workspace' }] },
    });
  });
});

describe('budgets and own credentials', () => {
  const pricing = { prompt: '0.000001', completion: '0.00001' };
  const models = [{ slug: 'acme/own', endpoints: [{ provider: 'groq', model: 'llama', pricing }] }];
  const priced = { model: 'acme/own', messages: hello, max_tokens: 50 };

  it('what goes through them does not count, and is recorded', async () => {
    const { post, call, records, keys } = await withByok([{}], { models });
    await call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 0.000001 });
    const answer = await post(priced);
    expect([answer.status, keys()]).toEqual([200, [0]]);
    expect(records[0]?.costNanoUsd).toBe(10 * 1000 + 2 * 10_000);
    expect(answer.json.usage?.cost_details).toMatchObject({ upstream_inference_cost: 0.00003 });
    const shown = await call('GET', '/key', undefined, { authorization: `Bearer ${testKey}` });
    expect(shown.json.data).toMatchObject({ usage: 0, byok_usage: 0.00003, byok_usage_daily: 0.00003 });
  });
  it('leaves the operator’s own out where that does not fit', async () => {
    const { post, call, upstream, keys } = await withByok([{}], { models });
    await call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 0.000001 });
    upstream.answer({ status: 401, body: '{}' });
    expect((await post(priced)).status).toBe(502);
    expect(keys()).toEqual([0]);
  });
  it('counts with includeByok', async () => {
    const { post, call } = await withByok([{}], { models, budgets: { includeByok: true } });
    await call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 0.000001 });
    expect((await post(priced)).status).toBe(402);
    await call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 1 });
    expect((await post(priced)).status).toBe(200);
    await call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 0.000001 });
    expect((await post(priced)).json.error.metadata).toMatchObject({ spent_usd: 0.00003 });
  });
  it('count against a key that includes them, though not against the workspace', async () => {
    const { post, call } = await withByok([{}], { models });
    await call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 10 });
    const made = await call('POST', '/keys', { name: 'k', limit: 0.01, include_byok_in_limit: true });
    const limited = { authorization: `Bearer ${made.json.key}` };
    expect((await post(priced, limited)).status).toBe(200);
    const shown = await call('GET', '/key', undefined, limited);
    expect(shown.json.data).toMatchObject({ byok_usage: 0.00003, limit_remaining: 0.01 - 0.00003 });
    const hash = made.json.data.hash;
    await call('PATCH', `/keys/${hash}`, { limit: 0.00001 });
    const refused = await post(priced, limited);
    expect([refused.status, refused.json.error.message]).toEqual([402, expect.stringMatching(/key/)]);
    await call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 0.0000001 });
    // What the key spent through the workspace's own credential is none of the budget's business.
    const other = await post(priced);
    expect(other.status).toBe(200);
  });
  it('count against the budget of a guardrail where they count against the limit of the key', async () => {
    const { post, call } = await withByok([{}], { models });
    await call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 0.0000001 });
    const budget = { limit_usd: 0.00001, reset_interval: 'daily' };
    const { json } = await call('POST', '/guardrails', { name: 'Spending', ...budget });
    const toAll = { workspace_ids: [defaultWorkspaceId] };
    expect((await call('POST', `/guardrails/${json.data.id}/assignments/workspaces`, toAll)).status).toBe(200);
    for (const [fields, status] of [
      [{}, 200],
      [{ limit: 1 }, 200],
      [{ limit: 1, include_byok_in_limit: true }, 402],
    ] as const) {
      const { json: made } = await call('POST', '/keys', { name: 'k', ...fields });
      expect([fields, (await post(priced, { authorization: `Bearer ${made.key}` })).status]).toEqual([fields, status]);
    }
  });
});
