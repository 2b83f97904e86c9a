import { Keyv } from 'keyv';
import { describe, expect, it } from 'vitest';
import { randomIds } from '../../src/base/ids.ts';
import { defaultWorkspaceId } from '../../src/call/workspace.ts';
import type { HostCaller } from '../../src/http/host-caller.ts';
import type { GatewayOptions } from '../../src/options.ts';
import { errorBodySchema } from '../../src/schema/chat/envelope.ts';
import { type CallAnswer, hello, testGateway, testKey } from '../support/gateway.ts';
import { sharedAvailable, validateAgainstReference } from '../support/reference.ts';
import { completion } from '../support/upstream.ts';

const secrets = { current: 'a master secret of the tests, which is long enough' };
const key = 'sk-provider-key-0123456789abcdef';
const other = 'sk-another-key-fedcba9876543210';
const nowhere = '99999999-9999-4999-8999-999999999999';

const replies: Record<string, string> = {
  'POST /byok': 'CreateBYOKKeyResponse',
  'GET /byok': 'ListBYOKKeysResponse',
  'GET /byok/:id': 'GetBYOKKeyResponse',
  'PATCH /byok/:id': 'UpdateBYOKKeyResponse',
  'DELETE /byok/:id': 'DeleteBYOKKeyResponse',
};

/** A gateway of which every answer is held against the contract: its form, and that it holds no key. */
function byok(options: Partial<GatewayOptions> = {}) {
  const logged: unknown[] = [];
  const log = (...line: unknown[]) => void logged.push(line);
  const gateway = testGateway({ secrets, logger: { info: log, warn: log, error: log }, ...options });
  const call: typeof gateway.call = async (method, path, body, headers) => {
    const answer = await gateway.call(method, path, body, headers);
    const { status, json, text } = answer;
    const told = [text, JSON.stringify([...answer.headers]), JSON.stringify(logged)].join('\n');
    for (const secret of [key, other]) expect(told).not.toContain(secret.slice(5, -4));
    const schema = replies[`${method} ${path.replace(/\?.*/, '').replace(/^\/byok\/.+/, '/byok/:id')}`];
    if (status >= 400) {
      expect(errorBodySchema().safeParse(json).success).toBe(true);
      expect(json.error.code).toBe(status);
    } else if (schema && sharedAvailable) {
      expect(validateAgainstReference(schema, json)).toEqual([]);
    }
    return answer;
  };
  const create = async (body: object = {}, headers?: Record<string, string>): Promise<CallAnswer> =>
    call('POST', '/byok', { provider: 'openai', key, ...body }, headers);
  /** Creates a workspace and a management key that is bound to it. */
  const tenant = async (slug: string) => {
    const { id } = (await call('POST', '/workspaces', { name: slug, slug })).json.data as { id: string };
    const made = await call('POST', '/keys', {
      name: slug,
      permissions: ['management', 'inference'],
      workspace_id: id,
    });
    expect(made.status).toBe(201);
    return { id, auth: { authorization: `Bearer ${made.json.key}` } };
  };
  return { ...gateway, call, create, tenant, logged };
}

describe('POST /byok', () => {
  it('answers 201 with the credential and a label, not with the key', async () => {
    const { create } = byok();
    const { status, json } = await create();
    expect(status).toBe(201);
    expect(json).toEqual({
      data: {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        workspace_id: defaultWorkspaceId,
        provider: 'openai',
        name: null,
        label: 'sk-pr...cdef',
        disabled: false,
        is_fallback: false,
        sort_order: 0,
        allowed_models: null,
        allowed_user_ids: null,
        allowed_api_key_hashes: null,
        created_at: expect.stringMatching(/^2026-01-01T00:00:\d\d\.\d{3}Z$/),
      },
    });
  });

  it('keeps all it is given', async () => {
    const { create, call } = byok();
    const given = {
      provider: 'mistral',
      name: 'Team key',
      disabled: true,
      is_fallback: true,
      allowed_models: ['google/*'],
      allowed_user_ids: ['ann', 'bob'],
      allowed_api_key_hashes: ['a'.repeat(64)],
    };
    const made = await create(given);
    expect(made.json.data).toMatchObject(given);
    expect((await call('GET', `/byok/${made.json.data.id}`)).json).toEqual(made.json);
  });

  it.each(['', ' ', 'x'.repeat(255)])('takes the name %j, and so does a change', async (name) => {
    const { call, create } = byok();
    const made = await create({ name });
    expect([made.status, made.json.data?.name]).toEqual([201, name]);
    const other = await create({ name: 'a' });
    const changed = await call('PATCH', `/byok/${other.json.data.id}`, { name });
    expect([changed.status, changed.json.data?.name]).toEqual([200, name]);
  });

  it.each<[string, unknown, string, string]>([
    ['no key', { provider: 'openai' }, 'key', 'expected string'],
    ['no provider', { key }, 'provider', 'expected string'],
    ['a provider that is none', { provider: 'sandbox', key }, 'provider', 'expected the slug of a provider'],
    ['an empty key', { provider: 'openai', key: '' }, 'key', 'expected at least 1 character'],
    [
      'a key with a line break',
      { provider: 'openai', key: `${key}\n${key}` },
      'key',
      'expected a key of visible ASCII',
    ],
    ['a name of 256 characters', { provider: 'openai', key, name: 'x'.repeat(256) }, 'name', 'expected at most 255'],
    [
      '101 models',
      { provider: 'openai', key, allowed_models: Array(101).fill('a') },
      'allowed_models',
      'expected at most 100 items',
    ],
    [
      '101 users',
      { provider: 'openai', key, allowed_user_ids: Array(101).fill('a') },
      'allowed_user_ids',
      'expected at most 100 items',
    ],
    ['a misspelt restriction', { provider: 'openai', key, allowed_model: ['a'] }, 'allowed_model', 'unknown key'],
    [
      'a workspace that is no UUID',
      { provider: 'openai', key, workspace_id: 'default' },
      'workspace_id',
      'expected a UUID',
    ],
  ])('refuses %s with 400 and says where', async (_, body, path, message) => {
    const { call } = byok();
    const { status, json } = await call('POST', '/byok', body);
    expect(status).toBe(400);
    expect(json.error.message).toContain(message);
    expect(json.error.metadata.issues[0].path).toBe(path);
    expect((await call('GET', '/byok')).json.total_count).toBe(0);
  });

  it.each(['', 'no json', '[]', '"text"'])('refuses the body %j with 400', async (body) => {
    expect((await byok().call('POST', '/byok', body)).status).toBe(400);
  });

  it('answers 503 and says what to set where the gateway has no secret to seal with', async () => {
    const { create } = byok({ secrets: undefined });
    const { status, json, headers } = await create();
    // Waiting does not help.
    expect([status, headers.get('retry-after')]).toEqual([503, null]);
    expect(json.error.message).toContain('`secrets`');
  });

  it('goes to the workspace that is named, where the caller may', async () => {
    const { create, tenant } = byok();
    const [acme, rival] = [await tenant('acme'), await tenant('rival')];
    expect((await create({ workspace_id: acme.id })).json.data.workspace_id).toBe(acme.id);
    expect((await create({ workspace_id: acme.id }, acme.auth)).json.data).toMatchObject({
      workspace_id: acme.id,
      sort_order: 1,
    });
    expect((await create({}, acme.auth)).json.data).toMatchObject({ workspace_id: acme.id, sort_order: 2 });
    const [foreign, unknown] = [
      await create({ workspace_id: rival.id }, acme.auth),
      await create({ workspace_id: nowhere }),
    ];
    expect([foreign.status, unknown.status]).toEqual([404, 404]);
    expect(foreign.json).toEqual(unknown.json);
  });

  it('answers 400 when the workspace is full', async () => {
    const { create } = byok({ limits: { credentials: 2 } });
    await create();
    await create();
    const { status, json } = await create();
    expect([status, json.error.message]).toEqual([
      400,
      'This workspace has 2 provider credentials, which is as many as it may',
    ]);
  });
});

describe('GET /byok', () => {
  it('lists in order of creation, 50 unless told otherwise, with the number of all', async () => {
    const { create, call } = byok();
    for (let at = 0; at < 52; at++) await create({ name: `${at}`, provider: at % 2 ? 'groq' : 'openai' });
    const names = async (query: string) => {
      const { status, json } = await call('GET', `/byok${query}`);
      expect(status).toBe(200);
      return [json.total_count, ...json.data.map(({ name }: { name: string }) => Number(name))];
    };
    expect(await names('')).toEqual([52, ...Array.from({ length: 50 }, (_, at) => at)]);
    expect(await names('?offset=50')).toEqual([52, 50, 51]);
    expect(await names('?offset=1&limit=2')).toEqual([52, 1, 2]);
    expect(await names('?limit=100')).toHaveLength(53);
    expect(await names('?offset=52')).toEqual([52]);
    expect(await names('?provider=groq&limit=2')).toEqual([26, 1, 3]);
    expect(await names('?provider=azure')).toEqual([0]);
  });

  it.each([
    'limit=0',
    'limit=101',
    'limit=x',
    'offset=-1',
    'offset=1.5',
    'provider=nobody',
    'workspace_id=default',
    'name=x',
  ])('refuses ?%s with 400', async (query) => {
    const { status, json } = await byok().call('GET', `/byok?${query}`);
    expect([status, json.error.metadata.issues[0].path]).toEqual([400, query.split('=')[0]]);
  });

  it('shows a caller its own workspace, and another only to who may', async () => {
    const { create, call, tenant } = byok();
    const [acme, rival] = [await tenant('acme'), await tenant('rival')];
    await create({ name: 'default' });
    await create({ name: 'acme' }, acme.auth);
    await create({ name: 'rival' }, rival.auth);
    const names = async (query: string, auth?: Record<string, string>) => {
      const { status, json } = await call('GET', `/byok${query}`, undefined, auth);
      return status === 200 ? json.data.map(({ name }: { name: string }) => name) : status;
    };
    expect(await names('')).toEqual(['default']);
    expect(await names('', acme.auth)).toEqual(['acme']);
    expect(await names(`?workspace_id=${acme.id}`, acme.auth)).toEqual(['acme']);
    expect(await names(`?workspace_id=${rival.id.toUpperCase()}`)).toEqual(['rival']);
    expect(await names(`?workspace_id=${rival.id}`, acme.auth)).toBe(404);
    expect(await names(`?workspace_id=${defaultWorkspaceId}`, acme.auth)).toBe(404);
    expect(await names(`?workspace_id=${nowhere}`)).toBe(404);
  });
});

describe('PATCH /byok/{id}', () => {
  it('keeps what is left out, clears what is null, replaces lists', async () => {
    const { create, call } = byok();
    const made = await create({
      name: 'Mine',
      allowed_models: ['a', 'b'],
      allowed_user_ids: ['ann'],
      is_fallback: true,
    });
    const path = `/byok/${made.json.data.id}`;
    const { status, json } = await call('PATCH', path, { name: null, allowed_models: ['c'], disabled: true });
    expect(status).toBe(200);
    expect(json.data).toEqual({ ...made.json.data, name: null, allowed_models: ['c'], disabled: true });
    expect((await call('PATCH', path, {})).json).toEqual(json);
    expect((await call('GET', path)).json).toEqual(json);
  });

  it('of the key replaces the label', async () => {
    const { create, call } = byok();
    const { id } = (await create()).json.data;
    expect((await call('PATCH', `/byok/${id}`, { key: other })).json.data.label).toBe('sk-an...3210');
  });

  it.each([{ key: '' }, { provider: 'groq' }, { workspace_id: nowhere }, { allowed_models: 'a' }, []])(
    'refuses %j with 400 and changes nothing',
    async (body) => {
      const { create, call } = byok();
      const made = await create();
      expect((await call('PATCH', `/byok/${made.json.data.id}`, body)).status).toBe(400);
      expect((await call('GET', `/byok/${made.json.data.id}`)).json).toEqual(made.json);
    },
  );

  it('goes on without a secret to seal with, but for the key', async () => {
    const store = new Keyv();
    const { id } = (await byok({ store }).create()).json.data;
    const { call } = byok({ store, secrets: undefined });
    expect((await call('PATCH', `/byok/${id}`, { disabled: true })).json.data.disabled).toBe(true);
    const { status, json } = await call('PATCH', `/byok/${id}`, { key: other });
    expect([status, json.error.message]).toEqual([503, expect.stringContaining('`secrets`')]);
    expect((await call('DELETE', `/byok/${id}`)).status).toBe(200);
  });
});

describe('a rotation of secrets', () => {
  it('over all workspaces, after which the old secret is not needed', async () => {
    const store = new Keyv();
    const before = byok({ store, ids: randomIds });
    const { id: acme } = await before.tenant('acme');
    for (const workspace_id of [acme, defaultWorkspaceId]) {
      expect((await before.create({ workspace_id, provider: 'groq' })).status).toBe(201);
    }
    const next = { current: 'another master secret of the tests, also long enough' };
    const during = byok({ store, secrets: { ...next, previous: [secrets.current] } });
    expect(await during.run(during.gateway.credentials.rotate())).toEqual({ checked: 2, resealed: 2, failed: [] });
    const after = byok({ store, secrets: next, providers: {}, models: [] });
    expect(await after.run(after.gateway.credentials.rotate())).toEqual({ checked: 2, resealed: 0, failed: [] });
    after.upstream.always({ body: completion() });
    expect((await after.post({ model: 'groq/llama', messages: hello })).status).toBe(200);
    expect(after.upstream.sent[0]?.headers.authorization).toBe(`Bearer ${key}`);
  });
});

describe('DELETE /byok/{id}', () => {
  it('answers { deleted: true }, after which there is none', async () => {
    const { create, call } = byok();
    const { id } = (await create()).json.data;
    const { status, json } = await call('DELETE', `/byok/${id}`);
    expect([status, json]).toEqual([200, { deleted: true }]);
    for (const [method, body] of [['GET'], ['PATCH', {}], ['DELETE']] as const) {
      expect((await call(method, `/byok/${id}`, body)).status).toBe(404);
    }
    expect((await call('GET', '/byok')).json).toEqual({ data: [], total_count: 0 });
  });

  it('of a workspace takes its credentials along', async () => {
    const { create, call, tenant } = byok();
    const { id } = (await call('POST', '/workspaces', { name: 'Gone', slug: 'gone' })).json.data;
    await tenant('acme');
    const made = await create({ workspace_id: id });
    expect((await call('DELETE', `/workspaces/${id}`)).status).toBe(200);
    expect((await call('GET', `/byok/${made.json.data.id}`)).status).toBe(404);
    expect((await create({ workspace_id: id })).status).toBe(404);
  });
});

describe('a credential by its id', () => {
  const methods = [['GET'], ['PATCH', { name: 'x' }], ['DELETE']] as const;

  it.each(methods)(
    '%s: 404 with the same words for what is malformed, unknown and somebody else’s',
    async (method, body?) => {
      const { create, call, tenant } = byok();
      const [acme, rival] = [await tenant('acme'), await tenant('rival')];
      const { id } = (await create({}, rival.auth)).json.data;
      const answers = [];
      for (const name of [id, nowhere, 'malformed', '%00', '..%2F..%2Fworkspaces', `${id}x`, 'a'.repeat(300)]) {
        answers.push(await call(method, `/byok/${name}`, body, acme.auth));
      }
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([404]));
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
      expect((await call('GET', `/byok/${id}`, undefined, rival.auth)).json.data.name).toBeNull();
    },
  );

  it.each(methods)('%s: found in either case, and by who manages every workspace', async (method, body?) => {
    const { create, call, tenant } = byok({ ids: { uuid: () => crypto.randomUUID() } });
    const acme = await tenant('acme');
    const { id } = (await create({}, acme.auth)).json.data;
    expect((await call(method, `/byok/${id.toUpperCase()}`, body)).status).toBe(200);
  });
});

describe('the permission to manage', () => {
  it.each([
    ['POST', '/byok', { provider: 'openai', key }],
    ['GET', '/byok', undefined],
    ['GET', `/byok/${nowhere}`, undefined],
    ['PATCH', `/byok/${nowhere}`, {}],
    ['DELETE', `/byok/${nowhere}`, undefined],
  ] as const)('%s %s needs it', async (method, path, body) => {
    const { call } = byok();
    expect((await call(method, path, body, { authorization: `Bearer ${testKey}` })).status).toBe(403);
    expect((await call(method, path, body, { authorization: 'Bearer sk-unknown-key' })).status).toBe(401);
  });

  it('of a host app’s user reaches the workspace the host app says', async () => {
    let caller: HostCaller = { permissions: ['management'], workspaceId: 'team-a' };
    const { create, call } = byok({ authenticate: () => caller });
    const { id } = (await create({ name: 'a' })).json.data;
    caller = { permissions: ['management'], workspaceId: 'team-b' };
    expect((await call('GET', `/byok/${id}`)).status).toBe(404);
    expect((await call('GET', '/byok')).json).toEqual({ data: [], total_count: 0 });
    caller = { permissions: ['management'], workspaceId: 'team-a' };
    expect((await call('GET', `/byok/${id}`)).status).toBe(200);
    expect((await call('GET', '/byok')).json.data).toHaveLength(1);
  });
});

describe('a path with another method', () => {
  it.each([
    ['PUT', '/byok', 'POST'],
    ['POST', `/byok/${nowhere}`, 'PATCH'],
  ])('%s %s is 405 and says which there are', async (method, path, allowed) => {
    const { status, headers } = await byok().call(method, path, method === 'PUT' || method === 'POST' ? {} : undefined);
    expect(status).toBe(405);
    expect(headers.get('allow')).toContain(allowed);
  });
});
