import { describe, expect, it } from 'vitest';
import { sha256Hex } from '../../src/base/secrets.ts';
import { defaultWorkspaceId } from '../../src/call/workspace.ts';
import { managementKey, testKey } from '../support/gateway.ts';
import { tenantGateway } from '../support/tenant-gateway.ts';

const now = '2026-01-01T00:00:00.000Z';
const uuid = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
const defaults = {
  description: null,
  default_image_model: null,
  default_text_model: null,
  default_provider_sort: null,
  io_logging_api_key_ids: null,
  io_logging_sampling_rate: 1,
  is_byok_only: false,
  is_data_discount_logging_enabled: true,
  is_observability_broadcast_enabled: false,
  is_observability_io_logging_enabled: false,
};
const everything = {
  name: 'Acme & Söhne 😀',
  slug: 'acme-1',
  description: 'What they do',
  default_image_model: 'acme/pictures',
  default_text_model: 'acme/fast',
  default_provider_sort: 'throughput',
  io_logging_api_key_ids: [1, 2],
  io_logging_sampling_rate: 0.0001,
  is_byok_only: true,
  is_data_discount_logging_enabled: false,
  is_observability_broadcast_enabled: true,
  is_observability_io_logging_enabled: true,
};

describe('POST /workspaces', () => {
  it('makes a workspace, with defaults for what is left out', async () => {
    const { manage } = tenantGateway();
    const made = await manage('POST', '/workspaces', { name: 'Acme', slug: 'acme' });
    expect(made.status).toBe(201);
    expect(made.json).toEqual({
      data: {
        id: uuid,
        name: 'Acme',
        slug: 'acme',
        ...defaults,
        created_at: now,
        created_by: `key:${sha256Hex(managementKey).slice(0, 8)}`,
        updated_at: null,
      },
    });
    expect(made.json.data.id).not.toBe(defaultWorkspaceId);
  });
  it('makes a workspace of all that is given', async () => {
    const { manage } = tenantGateway();
    const made = await manage('POST', '/workspaces', everything);
    expect(made.json.data).toMatchObject(everything);
    for (const name of [made.json.data.id, 'acme-1']) {
      expect((await manage('GET', `/workspaces/${name}`)).json).toEqual(made.json);
    }
  });
  it.each<[string, string | null, string]>([
    ['the user', 'user-7', 'user-7'],
    ['the operator, where the host app names none', null, 'operator'],
  ])('says that it was made by %s', async (_, userId, createdBy) => {
    const { manage } = tenantGateway({ authenticate: () => ({ permissions: ['management'], userId }) });
    expect((await manage('POST', '/workspaces', { name: 'x', slug: 'x' })).json.data.created_by).toBe(createdBy);
  });
  it.each<[string, unknown, string, string]>([
    ['without a name', { slug: 'x' }, 'name', 'name: expected string'],
    ['with an empty name', { name: '', slug: 'x' }, 'name', 'name: expected at least 1 character'],
    [
      'with a blank name',
      { name: ' \t\u00a0\u200b\ufeff', slug: 'x' },
      'name',
      'name: expected a name with a visible character',
    ],
    ['with a name too long', { name: 'x'.repeat(101), slug: 'x' }, 'name', 'name: expected at most 100 characters'],
    ['without a slug', { name: 'x' }, 'slug', 'slug: expected string'],
    ['with a slug too long', { name: 'x', slug: 'x'.repeat(51) }, 'slug', 'slug: expected at most 50 characters'],
    [
      'with a slug of another form',
      { name: 'x', slug: 'A b' },
      'slug',
      'slug: expected lower-case letters and digits, in parts joined by single hyphens',
    ],
    [
      'with a slug that looks like an id',
      { name: 'x', slug: defaultWorkspaceId },
      'slug',
      'slug: expected a slug that does not look like a UUID',
    ],
    [
      'with a slug that is taken',
      { name: 'x', slug: 'default' },
      'slug',
      'slug: "default" is the slug of another workspace',
    ],
    ['with a field that is none', { name: 'x', slug: 'x', nmae: 1 }, 'nmae', 'nmae: unknown key "nmae"'],
    ['with a wrong type', { name: 'x', slug: 'x', description: 1 }, 'description', 'description: expected string'],
    ['of no object', [], '', 'expected object'],
    ['of no JSON', '{"name":', '', expect.stringContaining('The body is') as never],
  ])('refuses a body %s, and says so', async (_, body, path, message) => {
    const { manage } = tenantGateway();
    const refused = await manage('POST', '/workspaces', body);
    expect([refused.status, refused.json.error.message]).toEqual([400, message]);
    expect(refused.json.error.metadata.issues[0].path).toBe(path);
    expect((await manage('GET', '/workspaces')).json.total_count).toBe(1);
  });
  it('gives a slug to exactly one of many at once', async () => {
    const { manage } = tenantGateway();
    const made = await Promise.all(
      Array.from({ length: 25 }, (_, at) => manage('POST', '/workspaces', { name: `${at}`, slug: 'acme' })),
    );
    expect(made.map(({ status }) => status).sort()).toEqual([201, ...Array.from({ length: 24 }, () => 400)]);
    const winner = made.find(({ status }) => status === 201);
    expect((await manage('GET', '/workspaces/acme')).json).toEqual(winner?.json);
    expect((await manage('GET', '/workspaces')).json.total_count).toBe(2);
  });
});

describe('GET /workspaces/{id}', () => {
  it('shows the default workspace from the start, by its slug and by its id', async () => {
    const { manage } = tenantGateway();
    const expected = {
      id: defaultWorkspaceId,
      name: 'Default',
      slug: 'default',
      ...defaults,
      created_at: now,
      created_by: 'operator',
      updated_at: null,
    };
    expect((await manage('GET', `/workspaces/${defaultWorkspaceId}`)).json).toEqual({ data: expected });
    expect((await manage('GET', '/workspaces/default')).json).toEqual({ data: expected });
  });
  it.each(['acme', 'ACME', crypto.randomUUID(), 'a%2Fb', '%F0%9F%98%80', 'x'.repeat(300), '%00', 'workspaces'])(
    'answers 404 for %s',
    async (name) => {
      const { manage } = tenantGateway();
      const refused = await manage('GET', `/workspaces/${name}`);
      expect([refused.status, refused.json.error.message]).toEqual([404, 'There is no workspace with this id or slug']);
    },
  );
});

describe('GET /workspaces', () => {
  it('lists all in the order of creation, page by page', async () => {
    const { manage, workspace, clock } = tenantGateway();
    await manage('GET', '/workspaces');
    for (const slug of ['c', 'a', 'b']) {
      await clock.advance(1);
      await workspace(slug);
    }
    const page = async (query: string) => {
      const { json } = await manage('GET', `/workspaces${query}`);
      return [json.data.map(({ slug }: { slug: string }) => slug).join(' '), json.total_count];
    };
    expect(await page('')).toEqual(['default c a b', 4]);
    expect(await page('?offset=1&limit=2')).toEqual(['c a', 4]);
    expect(await page('?offset=3')).toEqual(['b', 4]);
    expect(await page('?offset=4')).toEqual(['', 4]);
    expect(await page('?limit=1')).toEqual(['default', 4]);
    expect(await page('?limit=100&offset=0')).toEqual(['default c a b', 4]);
  });
  it('keeps the order of creation within a millisecond, and when the clock is set back', async () => {
    let nowMs = Date.parse('2026-01-01T00:00:00Z');
    const { manage, workspace } = tenantGateway({
      clock: { now: () => nowMs, after: () => () => undefined },
      ids: backwardIds(),
    });
    const slugs = ['e', 'b', 'd', 'a', 'c'];
    for (const slug of slugs) await workspace(slug);
    nowMs -= 1000;
    await workspace('last');
    const { data } = (await manage('GET', '/workspaces')).json;
    expect(data.map(({ slug }: { slug: string }) => slug)).toEqual(['default', ...slugs, 'last']);
  });
  it('lists 50 unless asked for more', async () => {
    const { manage, workspace } = tenantGateway();
    for (let at = 0; at < 55; at++) await workspace(`w-${at}`);
    expect((await manage('GET', '/workspaces')).json.data).toHaveLength(50);
    expect((await manage('GET', '/workspaces?limit=100')).json.data).toHaveLength(56);
  });
  it.each([
    ['limit=0', 'limit: expected an integer from 1 to 100'],
    ['limit=101', 'limit: expected an integer from 1 to 100'],
    ['limit=x', 'limit: expected an integer from 1 to 100'],
    ['offset=-1', 'offset: expected an integer of at least 0'],
    ['offset=1.5', 'offset: expected an integer of at least 0'],
    ['limt=1', 'limt: unknown key "limt"'],
    ['limit=1&__proto__=1', '__proto__: unknown key "__proto__"'],
    ['limit=1e1', 'limit: expected an integer from 1 to 100'],
    ['limit=%2B1', 'limit: expected an integer from 1 to 100'],
    ['offset=9999999999999999', 'offset: expected an integer of at least 0'],
  ])('refuses ?%s', async (query, message) => {
    const refused = await tenantGateway().manage('GET', `/workspaces?${query}`);
    expect([refused.status, refused.json.error.message]).toEqual([400, message]);
  });
});

describe('PATCH /workspaces/{id}', () => {
  it('keeps what is left out, clears what is null, replaces a list, and says when', async () => {
    const { manage, clock } = tenantGateway();
    const { json: made } = await manage('POST', '/workspaces', everything);
    await clock.advance(61_000);
    const changes = { name: 'New', description: null, default_text_model: null, io_logging_api_key_ids: [9] };
    const changed = await manage('PATCH', `/workspaces/${made.data.id}`, changes);
    expect(changed.status).toBe(200);
    expect(changed.json.data).toEqual({ ...made.data, ...changes, updated_at: '2026-01-01T00:01:01.000Z' });
    expect((await manage('GET', '/workspaces/acme-1')).json).toEqual(changed.json);
  });
  it.each(Object.entries(everything))('changes %s alone', async (field, value) => {
    const { manage, workspace } = tenantGateway();
    const id = await workspace('plain');
    const { json: before } = await manage('GET', `/workspaces/${id}`);
    const changed = await manage('PATCH', '/workspaces/plain', { [field]: value });
    expect(changed.json.data).toEqual({ ...before.data, [field]: value, updated_at: now });
  });
  it('changes nothing but updated_at where nothing is given', async () => {
    const { manage, workspace, clock } = tenantGateway();
    await workspace('acme');
    const before = await manage('GET', '/workspaces/acme');
    await clock.advance(1000);
    const changed = await manage('PATCH', '/workspaces/acme', {});
    expect(changed.json.data).toEqual({ ...before.json.data, updated_at: '2026-01-01T00:00:01.000Z' });
    expect((await manage('GET', '/workspaces/acme')).json).toEqual(changed.json);
  });
  it('moves a slug: what it was is free, and what is taken is refused', async () => {
    const { manage, workspace } = tenantGateway();
    const [acme] = [await workspace('acme'), await workspace('rival')];
    const refused = await manage('PATCH', '/workspaces/acme', { slug: 'rival', name: 'New' });
    expect([refused.status, refused.json.error.message]).toEqual([
      400,
      'slug: "rival" is the slug of another workspace',
    ]);
    expect((await manage('GET', '/workspaces/acme')).json.data).toMatchObject({ name: 'acme', updated_at: null });
    await manage('PATCH', '/workspaces/acme', { slug: 'moved' });
    expect((await manage('GET', '/workspaces/acme')).status).toBe(404);
    expect((await manage('GET', '/workspaces/moved')).json.data.id).toBe(acme);
    expect(await workspace('acme')).not.toBe(acme);
  });
  it('may change the default workspace', async () => {
    const { manage } = tenantGateway();
    const changed = await manage('PATCH', '/workspaces/default', { name: 'Main', slug: 'main' });
    expect(changed.json.data).toMatchObject({ id: defaultWorkspaceId, name: 'Main', slug: 'main' });
    expect((await manage('GET', '/workspaces/default')).status).toBe(404);
  });
  it.each<[object, string]>([
    [{ name: '' }, 'name: expected at least 1 character'],
    [{ name: 1 }, 'name: expected string'],
    [{ name: '  ' }, 'name: expected a name with a visible character'],
    [{ slug: 'A' }, 'slug: expected lower-case letters and digits, in parts joined by single hyphens'],
    [{ io_logging_sampling_rate: 0 }, 'io_logging_sampling_rate: expected at least 0.0001'],
    [{ io_logging_sampling_rate: 1.01 }, 'io_logging_sampling_rate: expected at most 1'],
    [{ created_by: 'me' }, 'created_by: unknown key "created_by"'],
    [{ id: defaultWorkspaceId }, 'id: unknown key "id"'],
  ])('refuses %j', async (changes, message) => {
    const { manage } = tenantGateway();
    const refused = await manage('PATCH', '/workspaces/default', changes);
    expect([refused.status, refused.json.error.message]).toEqual([400, message]);
  });
  it('answers 404 for one that is not there', async () => {
    expect((await tenantGateway().manage('PATCH', '/workspaces/acme', {})).status).toBe(404);
  });
});

describe('DELETE /workspaces/{id}', () => {
  it('deletes a workspace with its budgets and disabled keys; then it is not there', async () => {
    const { manage, workspace, key, gateway } = tenantGateway();
    const id = await workspace('acme');
    await manage('PUT', '/workspaces/acme/budgets/daily', { limit_usd: 1 });
    const { hash } = await key({ workspace_id: id });
    await manage('PATCH', `/keys/${hash}`, { disabled: true });
    const deleted = await manage('DELETE', '/workspaces/acme');
    expect([deleted.status, deleted.json]).toEqual([200, { deleted: true }]);
    for (const path of ['/workspaces/acme', `/workspaces/${id}`, `/workspaces/${id}/budgets`, `/keys/${hash}`]) {
      expect((await manage('GET', path)).status).toBe(404);
    }
    expect((await manage('DELETE', '/workspaces/acme')).status).toBe(404);
    expect(await gateway.apiKeys.find(hash)).toBeNull();
    expect(await workspace('acme')).not.toBe(id);
    expect((await manage('GET', '/workspaces/acme/budgets')).json.data).toEqual([]);
  });
  it('refuses while there are live keys, and says how many', async () => {
    const { manage, workspace, key } = tenantGateway();
    const id = await workspace('acme');
    const keys = [await key({ workspace_id: id }), await key({ workspace_id: id })];
    const message = async () => {
      const { status, json } = await manage('DELETE', '/workspaces/acme');
      return `${status} ${json.error?.message}`;
    };
    expect(await message()).toBe('400 The workspace has 2 live API keys; delete or disable them first');
    await manage('PATCH', `/keys/${keys[0]?.hash}`, { disabled: true });
    expect(await message()).toBe('400 The workspace has 1 live API key; delete or disable it first');
    await manage('DELETE', `/keys/${keys[1]?.hash}`);
    expect((await manage('DELETE', '/workspaces/acme')).status).toBe(200);
  });
  it('refuses the default workspace', async () => {
    const { manage } = tenantGateway();
    const refused = await manage('DELETE', '/workspaces/default');
    expect([refused.status, refused.json.error.message]).toEqual([400, 'The default workspace cannot be deleted']);
  });
});

/** Ids whose order is the opposite of the order in which they were made. */
function backwardIds() {
  let left = 1e12 - 1;
  return { uuid: () => `00000000-0000-4000-8000-${String(left--).padStart(12, '0')}` };
}

describe('workspaces', () => {
  const all: [string, string, object?][] = [
    ['POST', '/workspaces', { name: 'x', slug: 'x' }],
    ['GET', '/workspaces'],
    ['GET', '/workspaces/default'],
    ['PATCH', '/workspaces/default', { name: 'x' }],
    ['DELETE', '/workspaces/default'],
  ];
  it.each(all)('need the permission to manage: %s %s', async (method, path, body) => {
    const { manage } = tenantGateway();
    const statuses = [];
    for (const key of [testKey, 'sk-unknown-key', null]) statuses.push((await manage(method, path, body, key)).status);
    expect(statuses).toEqual([403, 401, 401]);
    expect((await manage('GET', '/workspaces')).json).toMatchObject({ total_count: 1, data: [{ name: 'Default' }] });
  });
  it.each([
    ['PUT', '/workspaces', 'GET, HEAD, POST, OPTIONS'],
    ['POST', '/workspaces/default', 'GET, HEAD, PATCH, PUT, DELETE, OPTIONS'],
  ])('know no %s %s, and say what they know', async (method, path, allowed) => {
    const refused = await tenantGateway().manage(method, path, {});
    expect(refused.status).toBe(405);
    expect(refused.headers.get('allow')?.split(', ').sort()).toEqual(allowed.split(', ').sort());
  });
});
