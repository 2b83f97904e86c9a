import { describe, expect, it } from 'vitest';
import { maskSecret, sha256Hex } from '../../src/base/secrets.ts';
import { defaultWorkspaceId } from '../../src/call/workspace.ts';
import { hello, managementKey, testKey } from '../support/gateway.ts';
import { type TenantGateway, tenantGateway } from '../support/tenant-gateway.ts';
import { completion } from '../support/upstream.ts';

const now = '2026-01-01T00:00:00.000Z';
const ask = { model: 'acme/fast', messages: hello, max_tokens: 10 };
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const unused = {
  usage: 0,
  usage_daily: 0,
  usage_weekly: 0,
  usage_monthly: 0,
  byok_usage: 0,
  byok_usage_daily: 0,
  byok_usage_weekly: 0,
  byok_usage_monthly: 0,
};
const unlimited = { limit: null, limit_remaining: null, limit_reset: null, include_byok_in_limit: false };
const noKey = 'There is no API key with this hash';

function open(options: Parameters<typeof tenantGateway>[0] = {}): TenantGateway {
  const tested = tenantGateway(options);
  tested.upstream.always({ body: completion() });
  return tested;
}

describe('POST /keys', () => {
  it('makes a key that infers, with defaults for what is left out, and shows it this once', async () => {
    const { manage, post } = open();
    const made = await manage('POST', '/keys', { name: 'App' });
    const { key, data } = made.json;
    expect(made.status).toBe(201);
    expect(key).toMatch(/^sk-gw-[0-9A-Za-z]{32}$/);
    expect(data).toEqual({
      hash: sha256Hex(key),
      name: 'App',
      label: maskSecret(key),
      permissions: ['inference'],
      workspace_id: defaultWorkspaceId,
      disabled: false,
      ...unlimited,
      requests_per_minute: null,
      tokens_per_minute: null,
      requests_in_flight: null,
      allowed_models: null,
      tags: [],
      ...unused,
      creator_user_id: null,
      created_at: now,
      updated_at: null,
      expires_at: null,
    });
    expect((await post(ask, bearer(key))).status).toBe(200);
    for (const path of ['/keys', `/keys/${data.hash}`]) {
      const { text } = await manage('GET', path);
      expect(text).toContain(data.hash);
      expect(text).not.toContain(key.slice(6));
    }
    expect((await manage('GET', '/key', undefined, key)).text).not.toContain(key.slice(6));
  });
  it('makes a key of all that is given', async () => {
    const { manage, workspace } = open();
    const workspace_id = await workspace('acme');
    const fields = {
      name: 'App',
      permissions: ['inference', 'management'],
      limit: 2.5,
      limit_reset: 'weekly',
      include_byok_in_limit: true,
      creator_user_id: 'user-7',
      workspace_id,
      expires_at: '2026-01-01T01:00:00+01:00',
    };
    const refused = await manage('POST', '/keys', fields);
    expect(refused.json.error.message).toBe('expires_at: expected a time in the future');
    const made = await manage('POST', '/keys', { ...fields, expires_at: '2026-01-01T01:00:00.001+01:00' });
    expect(made.json.data).toMatchObject({ ...fields, limit_remaining: 2.5, expires_at: '2026-01-01T00:00:00.001Z' });
    expect((await manage('GET', `/keys/${made.json.data.hash}`)).json.data).toEqual(made.json.data);
  });
  it.each<[object, string | null]>([
    [{}, 'user-7'],
    [{ creator_user_id: 'user-8' }, 'user-8'],
    [{ creator_user_id: null }, null],
  ])('by a user, with %j, is of %s', async (fields, expected) => {
    const { manage } = open({ authenticate: () => ({ permissions: ['management'], userId: 'user-7' }) });
    const made = await manage('POST', '/keys', { name: 'App', ...fields });
    expect(made.json.data.creator_user_id).toBe(expected);
  });
  it.each<[string, unknown, number, string]>([
    ['without a name', {}, 400, 'name: expected string'],
    ['with an empty name', { name: '' }, 400, 'name: expected at least 1 character'],
    ['with a blank name', { name: ' \n\u3000' }, 400, 'name: expected a name with a visible character'],
    [
      'with a negative limit',
      { name: 'x', limit: -1 },
      400,
      'limit: expected 0, or at least 0.000000001, which is a nano-dollar',
    ],
    ['with a limit too high', { name: 'x', limit: 9_000_001 }, 400, 'limit: expected at most 9000000'],
    [
      'with another interval',
      { name: 'x', limit_reset: 'lifetime' },
      400,
      'limit_reset: expected one of "daily", "weekly", "monthly"',
    ],
    ['without permissions', { name: 'x', permissions: [] }, 400, 'permissions: expected at least 1 item'],
    [
      'with a time that is none',
      { name: 'x', expires_at: 'soon' },
      400,
      'expires_at: expected a time such as "2030-01-31T12:00:00Z"',
    ],
    ['with a time that has come', { name: 'x', expires_at: now }, 400, 'expires_at: expected a time in the future'],
    ['with a slug for an id', { name: 'x', workspace_id: 'default' }, 400, 'workspace_id: expected a UUID'],
    [
      'with an unknown workspace',
      { name: 'x', workspace_id: crypto.randomUUID() },
      404,
      'There is no workspace with this id or slug',
    ],
    ['with a misspelt limit', { name: 'x', limit_usd: 1 }, 400, 'limit_usd: unknown key "limit_usd"'],
    ['that wants to be a key itself', { name: 'x', key: 'sk-mine' }, 400, 'key: unknown key "key"'],
  ])('refuses a body %s, and makes none', async (_, body, status, message) => {
    const { manage } = open();
    const refused = await manage('POST', '/keys', body);
    expect([refused.status, refused.json.error.message]).toEqual([status, message]);
    expect((await manage('GET', '/keys?include_disabled=true')).json.data).toEqual([]);
  });
});

describe('GET /keys', () => {
  async function six() {
    const tested = open();
    const acme = await tested.workspace('acme');
    const hashes: string[] = [];
    for (let at = 0; at < 5; at++) {
      await tested.clock.advance(1);
      hashes.push((await tested.key({ name: `${at}` })).hash);
    }
    await tested.key({ name: 'a', workspace_id: acme });
    for (const at of [0, 3]) await tested.manage('PATCH', `/keys/${hashes[at]}`, { disabled: true });
    const names = async (query: string) =>
      (await tested.manage('GET', `/keys${query}`)).json.data.map(({ name }: { name: string }) => name).join('');
    return { acme, names };
  }
  it('keeps the order of creation within a millisecond', async () => {
    const { manage, key } = open();
    const made: string[] = [];
    for (let at = 0; at < 10; at++) made.push((await key({ name: `${at}` })).hash);
    const { data } = (await manage('GET', '/keys')).json;
    expect(data.map(({ hash }: { hash: string }) => hash)).toEqual(made);
  });
  it('lists those of one workspace that are not disabled, unless asked for all, page by page', async () => {
    const { acme, names } = await six();
    const asked = {
      '': '124',
      '?include_disabled=false': '124',
      '?include_disabled=true': '01234',
      '?include_disabled=true&offset=1&limit=2': '12',
      '?offset=1': '24',
      '?limit=1': '1',
      '?offset=3': '',
      [`?workspace_id=${defaultWorkspaceId}`]: '124',
      [`?workspace_id=${acme.toUpperCase()}`]: 'a',
      [`?workspace_id=${acme}&offset=1`]: '',
    };
    for (const [query, expected] of Object.entries(asked))
      expect(`${query} ${await names(query)}`).toBe(`${query} ${expected}`);
  });
  it.each([
    ['limit=0', 400, 'limit: expected an integer from 1 to 100'],
    ['limit=101', 400, 'limit: expected an integer from 1 to 100'],
    ['offset=-1', 400, 'offset: expected an integer of at least 0'],
    ['includeDisabled=true', 400, 'includeDisabled: unknown key "includeDisabled"'],
    ['include_disabled=maybe', 400, 'include_disabled: expected one of "0", "1", "true", "false"'],
    ['workspace_id=default', 400, 'workspace_id: expected a UUID'],
    [`workspace_id=${crypto.randomUUID()}`, 404, 'There is no workspace with this id or slug'],
  ])('refuses ?%s with %i', async (query, status, message) => {
    const refused = await open().manage('GET', `/keys?${query}`);
    expect([refused.status, refused.json.error.message]).toEqual([status, message]);
  });
});

describe('PATCH /keys/{hash}', () => {
  it.each<[object, object]>([
    [{ name: 'New' }, { name: 'New' }],
    [{ permissions: ['management'] }, { permissions: ['management'] }],
    [{ limit: 1 }, { limit: 1, limit_remaining: 1 }],
    [{ limit: 0 }, { limit: 0, limit_remaining: 0 }],
    [{ limit: null }, { limit: null, limit_remaining: null }],
    [{ limit_reset: 'monthly' }, { limit_reset: 'monthly' }],
    [{ limit_reset: null }, { limit_reset: null }],
    [{ include_byok_in_limit: true }, { include_byok_in_limit: true }],
    [{ disabled: true }, { disabled: true }],
  ])('%j changes that alone', async (given, changed) => {
    const { manage, key, clock } = open();
    const { hash } = await key({ limit: 5, limit_reset: 'daily' });
    const { json: before } = await manage('GET', `/keys/${hash}`);
    await clock.advance(1000);
    const expected = { ...before.data, ...changed, updated_at: '2026-01-01T00:00:01.000Z' };
    const answer = await manage('PATCH', `/keys/${hash.toUpperCase()}`, given);
    expect([answer.status, answer.json.data]).toEqual([200, expected]);
    expect((await manage('GET', `/keys/${hash}`)).json.data).toEqual(expected);
  });
  it.each([{}, { name: null, disabled: null }])(
    'changes nothing but updated_at where nothing is given: %j',
    async (given) => {
      const { manage, key, clock } = open();
      const { hash } = await key();
      const before = await manage('GET', `/keys/${hash}`);
      await clock.advance(1000);
      const after = await manage('PATCH', `/keys/${hash}`, given);
      expect(after.json.data).toEqual({ ...before.json.data, updated_at: '2026-01-01T00:00:01.000Z' });
      expect((await manage('GET', `/keys/${hash}`)).json).toEqual(after.json);
    },
  );
  it.each<[object, string]>([
    [{ name: '' }, 'name: expected at least 1 character'],
    [{ disabled: 0 }, 'disabled: expected boolean'],
    [{ limit: -1 }, 'limit: expected 0, or at least 0.000000001, which is a nano-dollar'],
    [{ expires_at: null }, 'expires_at: unknown key "expires_at"'],
    [{ workspace_id: defaultWorkspaceId }, 'workspace_id: unknown key "workspace_id"'],
  ])('refuses %j', async (given, message) => {
    const { manage, key } = open();
    const { hash } = await key();
    const refused = await manage('PATCH', `/keys/${hash}`, given);
    expect([refused.status, refused.json.error.message]).toEqual([400, message]);
  });
  it('is felt by the very next request: off, on, other permissions', async () => {
    const { manage, key, post } = open();
    const made = await key();
    const asked = async () => {
      const { status, json } = await post(ask, bearer(made.key));
      return status === 200 ? 'answered' : `${status} ${json.error.message}`;
    };
    expect(await asked()).toBe('answered');
    await manage('PATCH', `/keys/${made.hash}`, { disabled: true });
    expect(await asked()).toBe('401 The API key is disabled');
    await manage('PATCH', `/keys/${made.hash}`, { disabled: false });
    expect(await asked()).toBe('answered');
    await manage('PATCH', `/keys/${made.hash}`, { permissions: ['management'] });
    expect(await asked()).toMatch(/^403 /);
    expect((await manage('GET', '/keys', undefined, made.key)).status).toBe(200);
  });
});

describe('DELETE /keys/{hash}', () => {
  it('deletes a key, which lets nobody in from then on', async () => {
    const { manage, key, post } = open();
    const made = await key();
    expect((await post(ask, bearer(made.key))).status).toBe(200);
    const deleted = await manage('DELETE', `/keys/${made.hash}`);
    expect([deleted.status, deleted.json]).toEqual([200, { deleted: true }]);
    expect((await post(ask, bearer(made.key))).json.error.message).toBe('The API key is not valid');
    for (const [method, body] of [['GET'], ['PATCH', { name: 'x' }], ['DELETE']] as const) {
      const refused = await manage(method, `/keys/${made.hash}`, body);
      expect([refused.status, refused.json.error.message]).toEqual([404, noKey]);
    }
  });
});

describe('a key', () => {
  it('expires', async () => {
    const { key, post, clock } = open();
    const made = await key({ expires_at: '2026-01-01T00:01:00Z' });
    await clock.advance(59_999);
    expect((await post(ask, bearer(made.key))).status).toBe(200);
    await clock.advance(1);
    expect((await post(ask, bearer(made.key))).json.error.message).toBe('The API key has expired');
  });
  it('shows what was spent with it, in windows of UTC, and what is left of its limit', async () => {
    const { manage, key, post, clock } = open();
    const made = await key({ limit: 1, limit_reset: 'daily' });
    await clock.advance(1);
    const { hash: other } = await key();
    const cost = Number((await post(ask, bearer(made.key))).json.usage?.cost);
    expect(cost).toBeGreaterThan(0);
    const shown = async () => (await manage('GET', `/keys/${made.hash}`)).json.data;
    const spent = {
      usage: cost,
      usage_daily: cost,
      usage_weekly: cost,
      usage_monthly: cost,
      limit_remaining: 1 - cost,
    };
    expect(await shown()).toMatchObject({ ...unused, ...spent });
    const listed = (await manage('GET', '/keys')).json.data;
    expect(listed).toMatchObject([spent, { hash: other, ...unused }]);
    // Thursday, the first of a month; the next Monday; the first of the next month.
    await clock.advance(86_400_000);
    expect(await shown()).toMatchObject({ ...spent, usage_daily: 0, limit_remaining: 1 });
    await clock.advance(3 * 86_400_000);
    expect(await shown()).toMatchObject({ ...spent, usage_daily: 0, usage_weekly: 0, limit_remaining: 1 });
    await clock.advance(27 * 86_400_000);
    expect(await shown()).toMatchObject({ ...unused, usage: cost, limit_remaining: 1 });
    await manage('PATCH', `/keys/${made.hash}`, { limit_reset: null });
    expect(await shown()).toMatchObject({ limit_remaining: 1 - cost });
    await manage('PATCH', `/keys/${made.hash}`, { limit: cost / 2 });
    expect(await shown()).toMatchObject({ limit_remaining: 0 });
  });
  it('with a limit of 0 spends nothing', async () => {
    const { key, post, upstream } = open();
    const made = await key({ limit: 0 });
    expect((await post(ask, bearer(made.key))).status).toBe(402);
    expect(upstream.sent).toEqual([]);
  });
});

describe('GET /key', () => {
  const rate_limit = { requests: -1, interval: '10s', note: expect.any(String) };
  const roles = (isManagement: boolean) => ({
    is_free_tier: false,
    is_management_key: isManagement,
    is_provisioning_key: isManagement,
  });
  it.each<[string[]]>([[['inference']], [['management']], [['inference', 'management']]])(
    'shows a key with the permissions %j to itself',
    async (permissions) => {
      const { manage, key } = open();
      const made = await key({ permissions, limit: 5, limit_reset: 'weekly', creator_user_id: 'user-7' });
      const shown = await manage('GET', '/key', undefined, made.key);
      expect(shown.status).toBe(200);
      expect(shown.json.data).toEqual({
        label: maskSecret(made.key),
        workspace_id: defaultWorkspaceId,
        permissions,
        limit: 5,
        limit_remaining: 5,
        limit_reset: 'weekly',
        include_byok_in_limit: false,
        ...unused,
        creator_user_id: 'user-7',
        expires_at: null,
        ...roles(permissions.includes('management')),
        manages_all: false,
        allowed_models: null,
        tags: [],
        rate_limits: [],
        rate_limit,
      });
    },
  );
  it.each([
    [testKey, 'inference'],
    [managementKey, 'management'],
  ])('shows a key of the options (%s)', async (key, permission) => {
    const { manage, post } = open();
    const cost = key === testKey ? Number((await post(ask)).json.usage?.cost) : 0;
    const shown = await manage('GET', '/key', undefined, key);
    expect(shown.json.data).toEqual({
      label: `key:${sha256Hex(key).slice(0, 8)}`,
      workspace_id: defaultWorkspaceId,
      permissions: [permission],
      ...unlimited,
      ...unused,
      usage: cost,
      usage_daily: cost,
      usage_weekly: cost,
      usage_monthly: cost,
      creator_user_id: null,
      expires_at: null,
      ...roles(permission === 'management'),
      manages_all: permission === 'management',
      allowed_models: null,
      tags: [],
      rate_limits: [],
      rate_limit,
    });
  });
  it('shows its workspace to a user whom the host app let in without one: its tightest budget, what all have spent', async () => {
    const { manage, post, gateway, clock } = open({
      apiKeys: [{ key: testKey }],
      authenticate: () => ({ permissions: ['inference'], userId: 'user-7' }),
    });
    const own = async () => (await manage('GET', '/key', undefined, null)).json.data;
    expect(await own()).toEqual({
      label: 'user:user-7',
      workspace_id: defaultWorkspaceId,
      permissions: ['inference'],
      ...unlimited,
      ...unused,
      allowed_models: null,
      tags: [],
      creator_user_id: 'user-7',
      expires_at: null,
      ...roles(false),
      manages_all: false,
      rate_limits: [],
      rate_limit,
    });
    const id = defaultWorkspaceId;
    await gateway.budgets.put({ id, interval: 'lifetime', limit_usd: 9 });
    await gateway.budgets.put({ id, interval: 'monthly', limit_usd: 3 });
    await gateway.budgets.put({ id, interval: 'weekly', limit_usd: 3 });
    await clock.advance(6_000);
    // With another caller of the workspace, and by the user: both count.
    const cost = Number((await post(ask, bearer(testKey))).json.usage?.cost);
    await post(ask, { authorization: '' });
    const spent = Math.round(2 * cost * 1e9) / 1e9;
    expect(await own()).toMatchObject({ usage: spent, usage_daily: spent, byok_usage: 0 });
    // As much is left of the week: the longer interval is shown.
    expect(await own()).toMatchObject({ limit: 3, limit_reset: 'monthly', limit_remaining: 3 - spent });
    await gateway.budgets.put({ id, interval: 'weekly', limit_usd: cost });
    await clock.advance(6_000);
    expect(await own()).toMatchObject({ limit: cost, limit_reset: 'weekly', limit_remaining: 0 });
    await gateway.budgets.put({ id, interval: 'lifetime', limit_usd: 0.5 * cost });
    await clock.advance(6_000);
    expect(await own()).toMatchObject({ limit: 0.5 * cost, limit_reset: null, limit_remaining: 0 });
  });
  it('shows a user the workspace of its own alone', async () => {
    const { manage, post, gateway, workspace } = open({
      apiKeys: [{ key: testKey }, { key: managementKey, permissions: ['management'] }],
      authenticate: (request) => ({ permissions: ['inference'], workspaceId: request.headers.get('x-at') ?? 'team-1' }),
    });
    const other = await workspace('other');
    await gateway.budgets.put({ id: other, interval: 'daily', limit_usd: 7 });
    await post(ask, bearer(testKey));
    expect((await manage('GET', '/key', undefined, null)).json.data).toMatchObject({
      label: 'workspace:team-1',
      workspace_id: 'team-1',
      ...unlimited,
      ...unused,
    });
    const shown = await gateway.as({ permissions: ['inference'], workspaceId: other }).apiKeys.current();
    expect(shown.data).toMatchObject({ workspace_id: other, limit: 7, limit_reset: 'daily', ...unused });
  });
  it('is answered to nobody without a key', async () => {
    const { manage } = open();
    expect((await manage('GET', '/key', undefined, null)).status).toBe(401);
    expect((await manage('GET', '/key', undefined, 'sk-unknown-key')).status).toBe(401);
  });
});

describe('keys', () => {
  const hash = 'a'.repeat(64);
  const all: [string, string, object?][] = [
    ['POST', '/keys', { name: 'x' }],
    ['GET', '/keys'],
    ['GET', `/keys/${hash}`],
    ['PATCH', `/keys/${hash}`, { name: 'x' }],
    ['DELETE', `/keys/${hash}`],
  ];
  it.each(all)('need the permission to manage: %s %s', async (method, path, body) => {
    const { manage, key } = open();
    const { key: inference } = await key();
    const statuses = [];
    for (const one of [testKey, inference, 'sk-unknown-key', null]) {
      statuses.push((await manage(method, path, body, one)).status);
    }
    expect(statuses).toEqual([403, 403, 401, 401]);
    expect((await manage('GET', '/keys')).json.data).toHaveLength(1);
  });
  it.each(['a', 'x'.repeat(64), 'a'.repeat(63), 'a'.repeat(65), hash, '..%2F..', '%00', '*'])(
    'are not there under %s',
    async (name) => {
      const { manage } = open();
      for (const [method, body] of [['GET'], ['PATCH', {}], ['DELETE']] as const) {
        const refused = await manage(method, `/keys/${name}`, body);
        expect([refused.status, refused.json.error.message]).toEqual([404, noKey]);
      }
    },
  );
  it('of the options are not among them', async () => {
    const { manage } = open();
    expect((await manage('GET', '/keys?include_disabled=true')).json.data).toEqual([]);
    expect((await manage('GET', `/keys/${sha256Hex(managementKey)}`)).status).toBe(404);
  });
});
