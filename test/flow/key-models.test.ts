import { describe, expect, it } from 'vitest';
import { hello, managementKey, testGateway, testKey } from '../support/gateway.ts';
import { completion } from '../support/upstream.ts';

const limited = 'sk-test-limited';
const headers = { authorization: `Bearer ${limited}` };
const catalog = { builtInModels: false };
const price = (prompt: string) => ({ prompt, completion: prompt });
const models = [
  { slug: 'acme/alpha-1', created: 1, endpoints: [{ provider: 'up', model: 'm1', pricing: price('0.000001') }] },
  { slug: 'acme/alpha-2', created: 2, endpoints: [{ provider: 'up', model: 'm2', pricing: price('0.00001') }] },
  { slug: 'acme/beta', endpoints: [{ provider: 'alt', model: 'm3', pricing: price('0') }] },
];
const gatewayOf = (patterns: string[], rest: object = {}) => {
  const made = testGateway({
    catalog,
    models,
    apiKeys: [
      { key: testKey },
      { key: managementKey, permissions: ['management'] },
      { key: limited, permissions: ['inference', 'management'], models: patterns },
    ],
    ...rest,
  });
  made.upstream.always({ body: completion() });
  return made;
};

describe('a key that may use some models', () => {
  it('gets 403 for another, named in whatever way', async () => {
    const { post, upstream } = gatewayOf(['acme/alpha-1'], {
      aliases: { quick: 'acme/beta', any: 'service/auto' },
      defaultModel: 'acme/beta',
    });
    for (const body of [
      { model: 'acme/beta' },
      { model: 'acme/beta:free' },
      { model: 'beta' },
      { model: 'quick' },
      { model: 'quick:nitro' },
      { model: 'up/m2' },
      { model: 'alt/m3' },
      { models: ['acme/alpha-1', 'acme/beta'] },
      { model: 'acme/alpha-1', models: ['beta'] },
      {},
    ]) {
      const { status, json } = await post({ ...body, messages: hello }, headers);
      expect([body, status, json.error?.metadata]).toEqual([
        body,
        403,
        { error_type: 'permission_denied', model: expect.any(String) },
      ]);
    }
    expect(upstream.sent).toEqual([]);
    expect((await post({ model: 'acme/alpha-1:nitro', messages: hello }, headers)).status).toBe(200);
    expect((await post({ model: 'acme/beta', messages: hello })).status).toBe(200);
  });
  it.each([
    ['service/auto', 'acme/alpha-1'],
    ['service/free', null],
    ['~acme/alpha-latest', 'acme/alpha-1'],
    ['~acme/beta-latest', null],
  ])('is served by %s with what it may use: %s', async (model, served) => {
    const { post, upstream } = gatewayOf(['acme/alpha-1']);
    const { status, json } = await post({ model, messages: hello }, headers);
    if (served !== null) expect([status, json.model]).toEqual([200, served]);
    else expect([upstream.sent, [403, 404].includes(status)]).toEqual([[], true]);
  });
  it('sees no other in the listings, nor in the explanation', async () => {
    const { call } = gatewayOf(['acme/alpha-*']);
    const ids = async (path: string) =>
      (await call('GET', path, undefined, headers)).json.data.map(({ id }: { id: string }) => id);
    expect(await ids('/models')).toEqual(['acme/alpha-1', 'acme/alpha-2']);
    expect(await ids('/models/user')).toEqual(['acme/alpha-1', 'acme/alpha-2']);
    expect((await call('GET', '/models/count', undefined, headers)).json.data.count).toBe(2);
    expect((await call('GET', '/model/acme/beta', undefined, headers)).status).toBe(404);
    expect((await call('GET', '/models/acme/beta/endpoints', undefined, headers)).status).toBe(404);
    const ask = { model: 'service/auto', messages: hello };
    const { json } = await call('POST', '/chat/completions/explain', ask, headers);
    expect(json.data.candidates.map(({ model }: { model: string }) => model)).not.toContain('acme/beta');
    const refused = await call('POST', '/chat/completions/explain', { ...ask, model: 'acme/beta' }, headers);
    expect(refused.status).toBe(403);
    expect((await call('GET', '/key', undefined, headers)).json.data.allowed_models).toEqual(['acme/alpha-*']);
  });
  it('gives no key more than it has itself', async () => {
    const { call } = gatewayOf(['acme/alpha-*']);
    const make = (allowed_models?: string[] | null) =>
      call('POST', '/keys', { name: 'k', permissions: ['inference', 'management'], allowed_models }, headers);
    for (const patterns of [undefined, null, ['*'], ['acme/*'], ['acme/alpha-1', 'acme/beta'], ['acme/alpha*']])
      expect([patterns, (await make(patterns)).status]).toEqual([patterns, 403]);
    const { status, json } = await make(['acme/alpha-1', 'acme/alpha-*2']);
    expect([status, json.data.allowed_models]).toEqual([201, ['acme/alpha-1', 'acme/alpha-*2']]);
    const change = (allowed_models: string[] | null, by = headers) =>
      call('PATCH', `/keys/${json.data.hash}`, { allowed_models }, by);
    expect((await change(['acme/beta'])).status).toBe(403);
    expect((await change(null, { authorization: `Bearer ${json.key}` })).status).toBe(403);
    expect((await change(['acme/beta'], { authorization: `Bearer ${managementKey}` })).status).toBe(200);
  });
});

describe('allowed_models of a stored key', () => {
  it('is kept, shown, changed, and counts at once', async () => {
    const { call, post } = gatewayOf(['*']);
    const made = await call('POST', '/keys', { name: 'k', allowed_models: ['acme/beta'], tags: ['team-a'] });
    expect(made.json.data).toMatchObject({ allowed_models: ['acme/beta'], tags: ['team-a'] });
    const own = { authorization: `Bearer ${made.json.key}` };
    const statusOf = async (model: string) => (await post({ model, messages: hello }, own)).status;
    expect([await statusOf('acme/beta'), await statusOf('acme/alpha-1')]).toEqual([200, 403]);
    const path = `/keys/${made.json.data.hash}`;
    const changed = await call('PATCH', path, { allowed_models: null });
    expect(changed.json.data).toMatchObject({ allowed_models: null, tags: ['team-a'] });
    expect(await statusOf('acme/alpha-1')).toBe(200);
  });
  it('that an operator set is not widened by the workspace', async () => {
    const { call } = gatewayOf(['*']);
    const { json } = await call('POST', '/workspaces', { name: 'w', slug: 'w' });
    const workspace_id = json.data.id;
    const manager = await call('POST', '/keys', { name: 'm', permissions: ['management'], workspace_id });
    const by = { authorization: `Bearer ${manager.json.key}` };
    const { json: key } = await call('POST', '/keys', { name: 'k', allowed_models: ['acme/*'], workspace_id });
    const change = async (allowed_models: string[] | null) =>
      (await call('PATCH', `/keys/${key.data.hash}`, { allowed_models }, by)).status;
    expect([await change(null), await change(['*']), await change(['acme/beta'])]).toEqual([403, 403, 200]);
    // Back to what the operator set, and no further.
    expect([await change(['acme/*']), await change(['*/beta'])]).toEqual([200, 403]);
  });
  it.each([
    ['an empty list', []],
    ['a name that fits no model', ['beta']],
    ['101 patterns', Array.from({ length: 101 }, (_, at) => `a/${at}`)],
    ['a long pattern', [`a/${'x'.repeat(256)}`]],
  ])('refuses %s', async (_, allowed_models) => {
    const { call } = gatewayOf(['*']);
    expect((await call('POST', '/keys', { name: 'k', allowed_models })).status).toBe(400);
  });
});

describe('a caller of the host app', () => {
  const callers = (caller: object) =>
    gatewayOf(['*'], { apiKeys: undefined, authenticate: () => ({ permissions: ['inference'], ...caller }) });
  it('may be limited too, and carry tags', async () => {
    const { post, records } = callers({ allowedModels: ['acme/alpha-*'], tags: ['team-b'] });
    expect((await post({ model: 'acme/alpha-1', messages: hello })).status).toBe(200);
    expect((await post({ model: 'acme/beta', messages: hello })).status).toBe(403);
    expect(records.map(({ tags }) => tags)).toEqual([['team-b'], ['team-b']]);
  });
  it.each([[{ allowedModels: [] }], [{ allowedModels: 'acme/*' }], [{ allowedModels: [1] }], [{ tags: ['\n'] }]])(
    'is not let in with a mistake: %o',
    async (caller) => {
      const { post, upstream } = callers(caller);
      expect((await post({ model: 'acme/alpha-1', messages: hello })).status).toBe(500);
      expect(upstream.sent).toEqual([]);
    },
  );
});

describe('tags of a key', () => {
  it('are in every record of its requests, refused ones too', async () => {
    const operations: { tags: readonly string[] }[] = [];
    const { call, post, records } = gatewayOf(['*'], {
      apiKeys: [
        { key: testKey, tags: ['team-a', 'prod'] },
        { key: managementKey, permissions: ['management'] },
      ],
      onOperation: (record: { tags: readonly string[] }) => operations.push(record),
    });
    await post({ model: 'acme/beta', messages: hello });
    await post({ model: 'acme/gone', messages: hello });
    await post({ model: 3 });
    await call('GET', '/keys');
    expect(records.map(({ tags }) => tags)).toEqual([
      ['team-a', 'prod'],
      ['team-a', 'prod'],
    ]);
    expect(operations.map(({ tags }) => tags)).toEqual([['team-a', 'prod'], []]);
  });
  it.each([
    ['21 tags', Array.from({ length: 21 }, String)],
    ['a long tag', ['x'.repeat(65)]],
    ['a blank tag', [' ']],
    ['a line end', ['a\nb']],
  ])('refuse %s', async (_, tags) => {
    const { call } = gatewayOf(['*']);
    expect((await call('POST', '/keys', { name: 'k', tags })).status).toBe(400);
  });
});
