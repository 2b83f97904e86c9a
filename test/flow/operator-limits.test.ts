import { Keyv } from 'keyv';
import { beforeEach, describe, expect, it } from 'vitest';
import { hello } from '../support/gateway.ts';
import { type TenantGateway, tenantGateway } from '../support/tenant-gateway.ts';
import { completion } from '../support/upstream.ts';

const ask = { model: 'acme/fast', messages: hello, max_tokens: 10 };
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const both = ['inference', 'management'];

let tested: TenantGateway;
/** The id of a tenant's workspace, and a key with which the tenant manages it. */
let acme: string;
let tenant: string;

beforeEach(async () => {
  tested = tenantGateway({ secrets: { current: 'a master secret of the tests, which is long enough' } });
  tested.upstream.always({ body: completion() });
  acme = await tested.workspace('acme');
  tenant = (await tested.key({ workspace_id: acme, permissions: both })).key;
});

/** A management request of the tenant. */
const asTenant = (method: string, path: string, body?: unknown, key = tenant) => tested.manage(method, path, body, key);
const limitOf = async (interval = 'daily') =>
  (await tested.manage('GET', `/workspaces/acme/budgets/${interval}`)).json.data?.limit_usd ?? null;
const statusOf = async (key = tenant) => (await tested.post(ask, bearer(key))).status;

describe('a budget that an operator set', () => {
  const path = '/workspaces/acme/budgets/daily';
  it('is neither removed nor raised by the workspace', async () => {
    await tested.manage('PUT', path, { limit_usd: 0.000001 });
    const refused = await asTenant('PUT', path, { limit_usd: 5 });
    expect([refused.status, refused.json.error]).toEqual([
      403,
      {
        code: 403,
        message: 'limit_usd: expected at most 0.000001: an operator has limited this budget to that',
        metadata: {
          error_type: 'permission_denied',
          issues: [
            { path: 'limit_usd', message: 'expected at most 0.000001: an operator has limited this budget to that' },
          ],
        },
      },
    ]);
    const kept = await asTenant('DELETE', path);
    expect([kept.status, kept.json.error.message]).toEqual([
      403,
      'An operator has set this budget, and only an operator can remove it',
    ]);
    expect([await limitOf(), await statusOf()]).toEqual([0.000001, 402]);
  });
  it('is lowered by the workspace, which may take that back', async () => {
    const { json: made } = await tested.manage('PUT', path, { limit_usd: 1 });
    await tested.clock.advance(1000);
    const lowered = await asTenant('PUT', path, { limit_usd: 0.000001 });
    expect(lowered.json.data).toEqual({
      ...made.data,
      limit_usd: 0.000001,
      remaining_usd: 0.000001,
      updated_at: '2026-01-01T00:00:01.000Z',
    });
    expect(await statusOf()).toBe(402);
    expect((await asTenant('PUT', path, { limit_usd: 0.5 })).json.data.limit_usd).toBe(0.5);
    expect((await asTenant('PUT', path, { limit_usd: 1.1 })).status).toBe(403);
    expect((await asTenant('DELETE', path)).json).toEqual({ deleted: true });
    expect([await limitOf(), await statusOf()]).toEqual([1, 200]);
    // Nothing of its own is left.
    expect((await asTenant('DELETE', path)).status).toBe(403);
    // As high as the operator's is no limit of its own.
    expect((await asTenant('PUT', path, { limit_usd: 1 })).status).toBe(200);
    expect((await asTenant('DELETE', path)).status).toBe(403);
  });
  it('is the operator’s to change and to remove, whatever the workspace has set', async () => {
    for (const limit of [1, 5, 0.5]) {
      await asTenant('PUT', path, { limit_usd: 0.25 });
      expect((await tested.manage('PUT', path, { limit_usd: limit })).json.data.limit_usd).toBe(limit);
      expect((await asTenant('PUT', path, { limit_usd: limit + 0.1 })).status).toBe(403);
    }
    await asTenant('PUT', path, { limit_usd: 0.25 });
    expect((await tested.manage('DELETE', path)).json).toEqual({ deleted: true });
    expect(await limitOf()).toBeNull();
    expect((await asTenant('PUT', path, { limit_usd: 9 })).status).toBe(200);
  });
  it('of one interval leaves the others to the workspace, which then are its own', async () => {
    await tested.manage('PUT', path, { limit_usd: 1 });
    const weekly = '/workspaces/acme/budgets/weekly';
    for (const limit_usd of [100, 3, 7]) expect((await asTenant('PUT', weekly, { limit_usd })).status).toBe(200);
    expect((await asTenant('DELETE', weekly)).status).toBe(200);
    expect([await limitOf(), await limitOf('weekly')]).toEqual([1, null]);
    expect((await asTenant('DELETE', weekly)).status).toBe(200);
  });
  it('binds the users of a host app that are bound to the workspace', async () => {
    let workspaceId: string | undefined;
    let managesAll: boolean | undefined;
    const host = tenantGateway({ authenticate: () => ({ permissions: ['management'], workspaceId, managesAll }) });
    workspaceId = await host.workspace('acme');
    managesAll = true;
    expect((await host.manage('PUT', path, { limit_usd: 1 })).status).toBe(200);
    managesAll = undefined;
    expect((await host.manage('PUT', path, { limit_usd: 2 })).status).toBe(403);
    expect((await host.manage('DELETE', path)).status).toBe(403);
  });
});

describe('what an operator set of a key', () => {
  const limited = { limit: 1, limit_reset: 'monthly', include_byok_in_limit: true };
  it.each<[string, object, string]>([
    ['removes its limit', { limit: null }, 'limit: expected at most that: an operator has limited this key to $1'],
    ['raises its limit', { limit: 1.01 }, 'limit: expected at most that: an operator has limited this key to $1'],
    [
      'makes it reset more often',
      { limit_reset: 'daily' },
      'limit_reset: expected "monthly": an operator has limited this key to $1',
    ],
    [
      'makes it last longer',
      { limit_reset: null },
      'limit_reset: expected "monthly": an operator has limited this key to $1',
    ],
    [
      'leaves BYOK out of it',
      { include_byok_in_limit: false },
      'include_byok_in_limit: expected true: an operator has limited this key to $1, BYOK credentials included',
    ],
    ['raises it beside another change', { name: 'x', limit: 2, disabled: false }, 'limit: expected at most that'],
  ])('holds against a tenant that %s, of its own key and of a sibling', async (_, change, message) => {
    const own = await tested.key({ workspace_id: acme, permissions: both, ...limited });
    const sibling = await tested.key({ workspace_id: acme, ...limited });
    for (const { hash } of [own, sibling]) {
      const before = (await tested.manage('GET', `/keys/${hash}`)).json;
      const refused = await asTenant('PATCH', `/keys/${hash}`, change, own.key);
      expect([refused.status, refused.json.error.message]).toEqual([403, expect.stringContaining(message)]);
      expect((await tested.manage('GET', `/keys/${hash}`)).json).toEqual(before);
    }
  });
  it('is lowered by the workspace, which may take that back', async () => {
    const { hash } = await tested.key({ workspace_id: acme, ...limited });
    const change = (body: object) => asTenant('PATCH', `/keys/${hash}`, body);
    expect((await change({ limit: 0.25, limit_reset: 'monthly' })).json.data).toMatchObject({
      ...limited,
      limit: 0.25,
    });
    expect((await change({ limit: 1.5 })).status).toBe(403);
    expect((await change({ limit: null })).status).toBe(403);
    expect((await change({ limit: 1, include_byok_in_limit: true })).json.data).toMatchObject(limited);
    expect((await change({ limit: 0, name: 'Stopped' })).json.data).toMatchObject({ limit: 0, name: 'Stopped' });
  });
  it('may be to count BYOK less, which the workspace makes stricter and takes back', async () => {
    const { hash } = await tested.key({ workspace_id: acme, limit: 1 });
    for (const include_byok_in_limit of [true, false, true, false]) {
      const { json } = await asTenant('PATCH', `/keys/${hash}`, { include_byok_in_limit });
      expect(json.data.include_byok_in_limit).toBe(include_byok_in_limit);
    }
  });
  it('is to disable it: the workspace does not enable it, but what it has disabled itself', async () => {
    const { key, hash } = await tested.key({ workspace_id: acme });
    const enable = (by: string) => asTenant('PATCH', `/keys/${hash}`, { disabled: false }, by);
    await asTenant('PATCH', `/keys/${hash}`, { disabled: true });
    expect((await enable(tenant)).json.data.disabled).toBe(false);
    await tested.manage('PATCH', `/keys/${hash}`, { disabled: true });
    // Also where the workspace says the same afterwards.
    await asTenant('PATCH', `/keys/${hash}`, { disabled: true });
    const refused = await enable(tenant);
    expect([refused.status, refused.json.error.message]).toEqual([
      403,
      'disabled: An operator has disabled this key, and only an operator can enable it',
    ]);
    expect(await statusOf(key)).toBe(401);
    await tested.manage('PATCH', `/keys/${hash}`, { disabled: false });
    expect(await statusOf(key)).toBe(200);
  });
  it('is the operator’s to change, whatever the workspace has set', async () => {
    const { hash } = await tested.key({ workspace_id: acme, limit: 1 });
    const change = (body: object) => tested.manage('PATCH', `/keys/${hash}`, body);
    await asTenant('PATCH', `/keys/${hash}`, { limit: 0.5, disabled: true });
    expect((await change({ limit: 3, disabled: false })).json.data).toMatchObject({ limit: 3, disabled: false });
    expect((await asTenant('PATCH', `/keys/${hash}`, { limit: 2.5 })).status).toBe(200);
    // Changes nothing of the limit that holds, and nothing of the operator's.
    expect((await change({ name: 'New', limit_reset: 'weekly' })).json.data).toMatchObject({ limit: 2.5 });
    expect((await asTenant('PATCH', `/keys/${hash}`, { limit: 3, limit_reset: 'weekly' })).status).toBe(200);
    expect((await asTenant('PATCH', `/keys/${hash}`, { limit: 3.01 })).status).toBe(403);
    expect((await change({ limit: null })).json.data.limit).toBeNull();
    expect((await asTenant('PATCH', `/keys/${hash}`, { limit: 100 })).status).toBe(200);
    expect((await asTenant('PATCH', `/keys/${hash}`, { limit: null })).status).toBe(200);
  });
});

describe('a key that a tenant makes', () => {
  const expires_at = '2026-01-02T00:00:00.000Z';
  const make = (fields: object, key: string) => asTenant('POST', '/keys', { name: 'x', ...fields }, key);
  it('is its own to limit as it likes, within the budgets of the workspace', async () => {
    await tested.manage('PUT', '/workspaces/acme/budgets/daily', { limit_usd: 0.000001 });
    const { data, key } = (await make({ limit: 5, limit_reset: 'daily' }, tenant)).json;
    for (const change of [{ limit: 9 }, { limit: null }, { limit: 1, limit_reset: null }])
      expect((await asTenant('PATCH', `/keys/${data.hash}`, change)).json.data).toMatchObject(change);
    expect(await statusOf(key)).toBe(402);
  });
  it.each<[string, object, string]>([
    ['without a limit', {}, 'limit: expected at most that'],
    ['with a higher limit', { limit: 1.01, limit_reset: 'monthly' }, 'limit: expected at most that'],
    ['with a limit that lasts longer', { limit: 1 }, 'limit_reset: expected "monthly"'],
    ['with a limit that resets more often', { limit: 1, limit_reset: 'daily' }, 'limit_reset: expected "monthly"'],
  ])('with a limited key has no more than that one: not %s', async (_, fields, message) => {
    const maker = await tested.key({ workspace_id: acme, permissions: both, limit: 1, limit_reset: 'monthly' });
    const refused = await make(fields, maker.key);
    expect([refused.status, refused.json.error.message]).toEqual([403, expect.stringContaining(message)]);
    const made = await make({ limit: 0.5, limit_reset: 'monthly' }, maker.key);
    expect(made.status).toBe(201);
    // Nor does it get more afterwards, from itself or from another.
    for (const by of [maker.key, tenant]) {
      expect((await asTenant('PATCH', `/keys/${made.json.data.hash}`, { limit: null }, by)).status).toBe(403);
      expect((await asTenant('PATCH', `/keys/${made.json.data.hash}`, { limit: 1 }, by)).status).toBe(200);
    }
  });
  it('with a key that expires does not outlive it', async () => {
    const maker = await tested.key({ workspace_id: acme, permissions: both, expires_at });
    for (const later of [{}, { expires_at: null }, { expires_at: '2026-01-02T00:00:00.001Z' }])
      expect((await make(later, maker.key)).json.error.message).toMatch(/^expires_at: A key that expires cannot make/);
    expect((await make({ expires_at }, maker.key)).status).toBe(201);
  });
  it('is not made by a key that was revoked, though an instance still lets that one in', async () => {
    const store = new Keyv();
    const [one, two] = [tenantGateway({ store }), tenantGateway({ store })];
    const maker = await one.key({ permissions: both });
    expect((await two.manage('GET', '/key', undefined, maker.key)).status).toBe(200);
    await one.manage('PATCH', `/keys/${maker.hash}`, { disabled: true });
    expect((await two.manage('GET', '/keys', undefined, maker.key)).status).toBe(200);
    expect((await two.manage('POST', '/keys', { name: 'x' }, maker.key)).status).toBe(401);
  });
  it('with a key of the options has no limit but the budgets', async () => {
    const key = 'sk-of-the-options';
    const bound = tenantGateway({
      apiKeys: [{ key, permissions: ['management'], workspaceId: '11111111-1111-4111-8111-111111111111' }],
    });
    expect((await bound.manage('POST', '/keys', { name: 'x' }, key)).status).toBe(201);
  });
});
