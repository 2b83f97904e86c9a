import { Keyv } from 'keyv';
import { describe, expect, it } from 'vitest';
import { defaultWorkspaceId } from '../../src/call/workspace.ts';
import { hello } from '../support/gateway.ts';
import { tenantGateway } from '../support/tenant-gateway.ts';
import { completion } from '../support/upstream.ts';

/** Two tenants, each with a workspace, a key that manages it, a budget that it set, and a key that infers. */
async function twoTenants() {
  const tested = tenantGateway({ secrets: { current: 'a master secret of the tests, which is long enough' } });
  tested.upstream.always({ body: completion() });
  const tenant = async (slug: string) => {
    const id = await tested.workspace(slug);
    const manager = await tested.key({ name: slug, workspace_id: id, permissions: ['management'] });
    const inference = await tested.key({ name: slug, workspace_id: id });
    await tested.manage('PUT', `/workspaces/${id}/budgets/daily`, { limit_usd: 1 }, manager.key);
    const { json } = await tested.call('POST', '/byok', {
      provider: 'groq',
      key: `gsk-${slug}-0123456789`,
      workspace_id: id,
    });
    const made = await tested.call('POST', '/guardrails', { name: slug }, { authorization: `Bearer ${manager.key}` });
    return { slug, id, manager, inference, credential: json.data.id as string, guardrail: made.json.data.id as string };
  };
  return { ...tested, acme: await tenant('acme'), rival: await tenant('rival') };
}
type Tenants = Awaited<ReturnType<typeof twoTenants>>;
type Tenant = Tenants['acme'];

/** Every operation that names something of a tenant, in every way it can be named. */
const named: [string, (tenant: Tenant) => string, object?][] = [
  ...(['id', 'slug'] as const).flatMap((by): [string, (tenant: Tenant) => string, object?][] => [
    ['GET', (tenant) => `/workspaces/${tenant[by]}`],
    ['PATCH', (tenant) => `/workspaces/${tenant[by]}`, { name: 'taken over' }],
    ['PATCH', (tenant) => `/workspaces/${tenant[by]}`, {}],
    ['DELETE', (tenant) => `/workspaces/${tenant[by]}`],
    ['GET', (tenant) => `/workspaces/${tenant[by]}/budgets`],
    ['GET', (tenant) => `/workspaces/${tenant[by]}/budgets/daily`],
    ['GET', (tenant) => `/workspaces/${tenant[by]}/budgets/weekly`],
    ['PUT', (tenant) => `/workspaces/${tenant[by]}/budgets/daily`, { limit_usd: 5 }],
    ['DELETE', (tenant) => `/workspaces/${tenant[by]}/budgets/daily`],
  ]),
  ['GET', ({ id }) => `/keys?workspace_id=${id}`],
  ['GET', ({ inference }) => `/keys/${inference.hash}`],
  ['PATCH', ({ inference }) => `/keys/${inference.hash}`, { disabled: true }],
  ['PATCH', ({ inference }) => `/keys/${inference.hash}`, {}],
  ['DELETE', ({ inference }) => `/keys/${inference.hash}`],
  ['GET', ({ id }) => `/byok?workspace_id=${id}`],
  ['GET', ({ credential }) => `/byok/${credential}`],
  ['PATCH', ({ credential }) => `/byok/${credential}`, { disabled: true }],
  ['DELETE', ({ credential }) => `/byok/${credential}`],
  ['GET', ({ id }) => `/guardrails?workspace_id=${id}`],
  ['GET', ({ guardrail }) => `/guardrails/${guardrail}`],
  ['PATCH', ({ guardrail }) => `/guardrails/${guardrail}`, { name: 'taken over' }],
  ['GET', ({ guardrail }) => `/guardrails/${guardrail}/assignments/keys`],
  ['POST', ({ guardrail }) => `/guardrails/${guardrail}/assignments/keys/remove`, { key_hashes: ['e'.repeat(64)] }],
  ['DELETE', ({ guardrail }) => `/guardrails/${guardrail}`],
];
const nobody: Tenant = {
  slug: 'nobody',
  id: crypto.randomUUID(),
  manager: { key: 'sk-none', hash: 'e'.repeat(64) },
  inference: { key: 'sk-none', hash: 'f'.repeat(64) },
  credential: crypto.randomUUID(),
  guardrail: crypto.randomUUID(),
};

/** All that a tenant has, as whoever manages all sees it. */
async function snapshot({ call }: Tenants, { id }: Tenant): Promise<string> {
  const paths = [
    `/workspaces/${id}`,
    `/workspaces/${id}/budgets`,
    `/keys?include_disabled=true&workspace_id=${id}`,
    `/byok?workspace_id=${id}`,
    `/guardrails?workspace_id=${id}`,
  ];
  const texts = [];
  for (const path of paths) texts.push((await call('GET', path)).text);
  return texts.join('\n');
}

describe('a management key of one workspace', () => {
  it.each(named)('is told of another’s what it is told of nobody’s: %s %s', async (method, path, body) => {
    const tenants = await twoTenants();
    const { acme, rival, call } = tenants;
    const before = await snapshot(tenants, acme);
    const headers = { authorization: `Bearer ${rival.manager.key}` };
    const foreign = await call(method, path(acme), body, headers);
    const unknown = await call(method, path(nobody), body, headers);
    expect([foreign.status, foreign.text]).toEqual([404, unknown.text]);
    expect(await snapshot(tenants, acme)).toBe(before);
  });
  it.each(named)('does so with its own: %s %s', async (method, path, body) => {
    const { rival, call } = await twoTenants();
    const { status } = await call(method, path(rival), body, { authorization: `Bearer ${rival.manager.key}` });
    const expected = path(rival).endsWith('/weekly')
      ? 404
      : /^DELETE.*\/workspaces\/[^/]+$/.test(`${method} ${path(rival)}`)
        ? 400
        : 200;
    expect(status).toBe(expected);
  });
  it.each(named)('finds nothing of the default workspace either: %s %s', async (method, path, body) => {
    const { rival, call } = await twoTenants();
    const made = (await call('POST', '/keys', { name: 'x' })).json;
    const credential = (await call('POST', '/byok', { provider: 'groq', key: 'gsk-default-0123456789' })).json.data.id;
    const guardrail = (await call('POST', '/guardrails', { name: 'x' })).json.data.id;
    const tenant = {
      slug: 'default',
      id: defaultWorkspaceId,
      inference: { key: '', hash: made.data.hash },
      credential,
      guardrail,
    };
    const headers = { authorization: `Bearer ${rival.manager.key}` };
    expect((await call(method, path({ ...nobody, ...tenant }), body, headers)).status).toBe(404);
  });
  it('makes no workspace', async () => {
    const { manage, rival } = await twoTenants();
    const refused = await manage('POST', '/workspaces', { name: 'x', slug: 'x' }, rival.manager.key);
    expect([refused.status, refused.json.error.message]).toEqual([
      403,
      'An API key of one workspace cannot make another',
    ]);
    expect((await manage('GET', '/workspaces')).json.total_count).toBe(3);
  });
  it('lists its own workspace, keys and credentials alone', async () => {
    const { manage, call, rival, acme } = await twoTenants();
    const own = (path: string) => manage('GET', path, undefined, rival.manager.key);
    expect((await own('/workspaces')).json).toMatchObject({ data: [{ id: rival.id }], total_count: 1 });
    expect((await own('/workspaces?limit=1&offset=1')).json).toEqual({ data: [], total_count: 1 });
    expect((await own('/keys')).json.data.map(({ hash }: { hash: string }) => hash).sort()).toEqual(
      [rival.manager.hash, rival.inference.hash].sort(),
    );
    const { text } = await call('GET', '/byok', undefined, { authorization: `Bearer ${rival.manager.key}` });
    expect([text.includes(rival.credential), text.includes(acme.credential)]).toEqual([true, false]);
  });
  it('makes keys in its own workspace and in no other, whatever their permissions', async () => {
    const { manage, rival, acme } = await twoTenants();
    const make = (fields: object) => manage('POST', '/keys', { name: 'x', ...fields }, rival.manager.key);
    const permissions = ['inference', 'management'];
    for (const fields of [{ permissions }, { permissions, workspace_id: rival.id }]) {
      expect((await make(fields)).json.data).toMatchObject({ workspace_id: rival.id, permissions });
    }
    for (const workspace_id of [acme.id, defaultWorkspaceId, crypto.randomUUID()]) {
      const refused = await make({ workspace_id });
      expect([refused.status, refused.json.error.message]).toEqual([404, 'There is no workspace with this id or slug']);
    }
    // Nor does a key that it made reach further.
    const { key } = (await make({ permissions })).json;
    expect((await manage('GET', `/workspaces/${acme.id}`, undefined, key)).status).toBe(404);
    expect((await manage('GET', '/workspaces/default', undefined, key)).status).toBe(404);
    expect((await manage('POST', '/workspaces', { name: 'x', slug: 'x' }, key)).status).toBe(403);
  });
  it('does not learn from a slug that it asks for whether another has it', async () => {
    const { manage, rival } = await twoTenants();
    const change = (body: object) => manage('PATCH', `/workspaces/${rival.id}`, body, rival.manager.key);
    const [taken, free] = [await change({ slug: 'acme', name: 'x' }), await change({ slug: 'nobody', name: 'x' })];
    expect([taken.status, taken.text]).toEqual([403, free.text]);
    expect(taken.json.error.message).toBe(
      'slug: expected no other slug: only a caller that manages all workspaces can change it',
    );
    expect((await change({ slug: 'rival', name: 'Same' })).json.data).toMatchObject({ slug: 'rival', name: 'Same' });
    expect((await manage('PATCH', '/workspaces/rival', { slug: 'acme' })).status).toBe(400);
    expect((await manage('PATCH', '/workspaces/rival', { slug: 'nobody' })).json.data.slug).toBe('nobody');
  });
  it.each(['id', 'slug'] as const)('makes the store read the same for another’s %s and for nobody’s', async (by) => {
    const store = new Keyv();
    const tested = tenantGateway({ store });
    const [acme, rival] = [await tested.workspace('acme'), await tested.workspace('rival')];
    const { key } = await tested.key({ workspace_id: rival, permissions: ['management'] });
    const known = { id: acme, slug: 'acme' };
    const unknown = { id: crypto.randomUUID(), slug: 'nobody' };
    let reads: string[] = [];
    const get = store.store.get.bind(store.store);
    store.store.get = (name: string) => {
      reads.push(name.replaceAll(rival, 'own'));
      return get(name);
    };
    const readsFor = async (name: string) => {
      reads = [];
      expect((await tested.manage('GET', `/workspaces/${name}/budgets`, undefined, key)).status).toBe(404);
      return reads;
    };
    // The first request also reads the key.
    await readsFor(unknown[by]);
    expect(await readsFor(known[by])).toEqual(await readsFor(unknown[by]));
    expect(reads.length).toBeGreaterThan(0);
  });
});

describe('a key', () => {
  it('spends on the budgets of its own workspace alone', async () => {
    const { manage, post, acme, rival } = await twoTenants();
    const ask = { model: 'acme/fast', messages: hello, max_tokens: 10 };
    await manage('PUT', '/workspaces/acme/budgets/daily', { limit_usd: 0.000001 });
    const statusOf = async ({ key }: { key: string }) => (await post(ask, { authorization: `Bearer ${key}` })).status;
    expect([await statusOf(acme.inference), await statusOf(rival.inference)]).toEqual([402, 200]);
  });
});

describe('a host app’s user of one workspace', () => {
  it('reaches that one, and no other', async () => {
    let workspaceId: string | undefined;
    const { manage } = tenantGateway({ authenticate: () => ({ permissions: ['management'], workspaceId }) });
    const { json: made } = await manage('POST', '/workspaces', { name: 'Acme', slug: 'acme' });
    const { json: other } = await manage('POST', '/workspaces', { name: 'Rival', slug: 'rival' });
    workspaceId = made.data.id;
    expect((await manage('GET', '/workspaces')).json.data).toMatchObject([{ slug: 'acme' }]);
    expect((await manage('GET', '/workspaces/acme')).status).toBe(200);
    for (const name of ['rival', other.data.id, 'default']) {
      expect((await manage('GET', `/workspaces/${name}`)).status).toBe(404);
    }
    // It is not the id of a workspace, though it is the slug of one.
    workspaceId = 'rival';
    expect((await manage('GET', '/workspaces')).json).toEqual({ data: [], total_count: 0 });
    expect((await manage('GET', '/workspaces/rival')).status).toBe(404);
  });
});
