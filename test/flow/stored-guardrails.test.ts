// Loaded beforehand: a guardrail loads it when it is first needed, which takes time that a manual clock knows nothing of.
import 're2js';
import { describe, expect, it } from 'vitest';
import { defaultWorkspaceId } from '../../src/call/workspace.ts';
import type { GatewayOptions } from '../../src/options.ts';
import { askResponses, streamResponses } from '../support/ask-responses.ts';
import { checkError, hello, type TestGateway, testGateway } from '../support/gateway.ts';
import { completion, textStream } from '../support/upstream.ts';

const metadata = { 'x-service-metadata': 'enabled' };
const address = 'bob@example.com';
const ask = { model: 'acme/fast', messages: [{ role: 'user', content: `Write to ${address}` }] };
const redactEmail = { content_filter_builtins: [{ slug: 'email', action: 'redact' }] };
const blockEmail = { content_filter_builtins: [{ slug: 'email', action: 'block' }] };
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

function gatewayOn(options: Partial<GatewayOptions> = {}): TestGateway {
  const test = testGateway(options);
  test.upstream.always({ body: completion() });
  return test;
}

async function made(test: TestGateway, fields: object, headers = {}): Promise<string> {
  const { status, json } = await test.call('POST', '/guardrails', { name: 'PII', ...fields }, headers);
  expect(status).toBe(201);
  return json.data.id;
}

/** Imposes a guardrail on the default workspace. */
async function imposed(test: TestGateway, fields: object): Promise<string> {
  const id = await made(test, fields);
  await assign(test, id);
  return id;
}

function assign(test: TestGateway, id: string, workspaceId: string = defaultWorkspaceId, way = '') {
  return test.call('POST', `/guardrails/${id}/assignments/workspaces${way}`, { workspace_ids: [workspaceId] });
}

async function newKey(test: TestGateway, fields: object = {}, headers = {}): Promise<{ key: string; hash: string }> {
  const { json } = await test.call('POST', '/keys', { name: 'Test', ...fields }, headers);
  return { key: json.key, hash: json.data.hash };
}

const sentText = ({ upstream }: TestGateway) => upstream.sent.at(-1)?.text ?? '';

describe('the operations on guardrails', () => {
  it('make, list, show, change and delete one', async () => {
    const test = gatewayOn();
    const id = await made(test, { description: 'For all', ...redactEmail, enforce_zdr: true });
    const { json: listed } = await test.call('GET', '/guardrails');
    expect(listed).toMatchObject({
      total_count: 1,
      data: [
        {
          id,
          name: 'PII',
          description: 'For all',
          workspace_id: defaultWorkspaceId,
          content_filters: null,
          content_filter_builtins: [{ slug: 'email', action: 'redact', applies_to: 'both' }],
          allowed_models: null,
          enforce_zdr: true,
          limit_usd: null,
          is_assigned_to_workspace: false,
          updated_at: null,
        },
      ],
    });
    const changed = await test.call('PATCH', `/guardrails/${id}`, { name: 'New', enforce_zdr: null });
    expect(changed.json.data).toMatchObject({ name: 'New', enforce_zdr: null, content_filter_builtins: [{}] });
    expect((await test.call('GET', `/guardrails/${id.toUpperCase()}`)).json).toEqual(changed.json);
    expect((await test.call('DELETE', `/guardrails/${id}`)).json).toEqual({ deleted: true });
    for (const method of ['GET', 'DELETE']) {
      const { status, json } = await test.call(method, `/guardrails/${id}`);
      checkError(404, json);
      expect(status).toBe(404);
    }
  });
  it.each<[string, object, string]>([
    [
      'an expression that RE2 does not have',
      { content_filters: [{ pattern: 'a(?=b)', action: 'block' }] },
      'content_filters[0].pattern',
    ],
    [
      'one that is broken',
      {
        content_filters: [
          { pattern: 'a', action: 'flag' },
          { pattern: '[', action: 'block' },
        ],
      },
      'content_filters[1].pattern',
    ],
    [
      'one that matches nothing at all',
      { content_filters: [{ pattern: 'a*', action: 'block' }] },
      'content_filters[0].pattern',
    ],
    [
      'an unknown set',
      { content_filter_builtins: [{ slug: 'names', action: 'block' }] },
      'content_filter_builtins[0].slug',
    ],
    ['an unknown field', { blocked: true }, 'blocked'],
  ])('refuse %s: 400 naming it', async (_, fields, path) => {
    const { call } = gatewayOn();
    const { status, json } = await call('POST', '/guardrails', { name: 'x', ...fields });
    expect([status, JSON.stringify(json.error.metadata.issues)]).toEqual([400, expect.stringContaining(path)]);
  });
  it('make as many as the option says, and no more: 400', async () => {
    const { call } = gatewayOn({ limits: { guardrails: 2 } });
    const create = async () => (await call('POST', '/guardrails', { name: 'x' })).status;
    expect([await create(), await create(), await create()]).toEqual([201, 201, 400]);
  });
  it('take a management key, and no other', async () => {
    const test = gatewayOn();
    const { key } = await newKey(test);
    expect((await test.call('GET', '/guardrails', undefined, bearer(key))).status).toBe(403);
  });
});

describe('a guardrail of a workspace', () => {
  it('acts once it is assigned, on chat and Responses, in JSON and in streams, and no more once it is not', async () => {
    const test = gatewayOn();
    const id = await made(test, redactEmail);
    await test.post(ask);
    expect(sentText(test)).toContain(address);
    expect((await assign(test, id)).json).toEqual({ assigned_count: 1 });
    expect((await assign(test, id)).json).toEqual({ assigned_count: 0 });
    const { json } = await test.post(ask, metadata);
    expect(sentText(test)).toContain('[REDACTED:email]');
    expect(json.service_metadata?.pipeline).toMatchObject([
      { name: 'PII', guardrail_id: id, guardrail_scope: 'workspace', data: { action: 'redact', direction: 'input' } },
    ]);
    test.upstream.always({ body: textStream('Write to bob@', 'example.com') });
    expect((await test.post({ ...ask, stream: true })).text).not.toContain('example');
    expect((await streamResponses(test, { input: address })).text).not.toContain('example');
    expect(sentText(test)).not.toContain('example');
    test.upstream.always({ body: completion({}, { content: address }) });
    expect((await askResponses(test, { input: 'Hi' })).text).not.toContain('example');
    expect((await assign(test, id, defaultWorkspaceId, '/remove')).json).toEqual({ unassigned_count: 1 });
    await test.post(ask);
    expect(sentText(test)).toContain(address);
  });
  it('that blocks is a 403 with its patterns', async () => {
    const test = gatewayOn();
    const id = await imposed(test, {
      content_filters: [{ pattern: 'bob@', type: 'literal', label: 'Bob', action: 'block' }],
    });
    const { status, json } = await test.post(ask, metadata);
    checkError(403, json);
    expect([status, json.error.metadata]).toMatchObject([403, { patterns: ['Bob'] }]);
    expect(json.service_metadata?.pipeline).toMatchObject([{ guardrail_id: id, data: { patterns: ['Bob'] } }]);
    expect(test.upstream.sent).toEqual([]);
  });
  it('is not for another workspace', async () => {
    const test = gatewayOn();
    const { json } = await test.call('POST', '/workspaces', { name: 'Other', slug: 'other' });
    const id = await made(test, { ...blockEmail, workspace_id: json.data.id });
    expect((await assign(test, id)).status).toBe(400);
    expect((await assign(test, id, json.data.id)).status).toBe(200);
    expect((await test.post(ask)).status).toBe(200);
    const { key } = await newKey(test, { workspace_id: json.data.id });
    expect((await test.post(ask, bearer(key))).status).toBe(403);
  });
  it('limits models and providers, whatever the request prefers', async () => {
    const test = gatewayOn();
    const id = await imposed(test, {
      allowed_models: ['acme/p*', 'acme/f*'],
      ignored_models: ['acme/free'],
      allowed_providers: ['up'],
    });
    expect((await test.post({ model: 'acme/pair', messages: hello, provider: { order: ['alt'] } })).status).toBe(200);
    expect(test.upstream.sent.at(-1)?.url).toContain('up.test');
    const only = await test.post({ model: 'acme/pair', messages: hello, provider: { only: ['alt'] } });
    expect(only.status).toBe(404);
    for (const model of ['acme/other', 'acme/free'])
      expect([model, (await test.post({ model, messages: hello })).status]).not.toEqual([model, 200]);
    await test.call('PATCH', `/guardrails/${id}`, {
      allowed_models: null,
      allowed_providers: null,
      ignored_providers: ['up'],
    });
    const { status, json } = await test.post({ model: 'acme/fast', messages: hello });
    expect([status, JSON.stringify(json.error.metadata)]).toEqual([
      404,
      expect.stringContaining('"filter":"guardrail"'),
    ]);
    expect((await test.post({ model: 'acme/other', messages: hello })).status).toBe(200);
  });
  it('leaves what it excludes out of the listings, for those that it acts on', async () => {
    const test = gatewayOn();
    const listed = async (path: string, headers = {}) =>
      (await test.call('GET', path, undefined, headers)).json.data.map(({ id }: { id: string }) => id);
    const all = await listed('/models/user');
    const id = await made(test, { allowed_models: ['acme/p*', 'acme/o*'], ignored_providers: ['up'] });
    const [one, other] = [await newKey(test), await newKey(test)];
    await test.call('POST', `/guardrails/${id}/assignments/keys`, { key_hashes: [one.hash] });
    for (const path of ['/models/user', '/models']) {
      expect(await listed(path, bearer(one.key))).toEqual(['acme/pair', 'acme/other']);
      expect(await listed(path, bearer(other.key))).toEqual(all);
    }
    const slugs = async (key: string) =>
      (await test.call('GET', '/providers', undefined, bearer(key))).json.data.map(
        ({ slug }: { slug: string }) => slug,
      );
    expect([await slugs(one.key), (await slugs(other.key)).includes('up')]).toEqual([['alt'], true]);
    const { json } = await test.call('GET', '/models/acme/pair/endpoints', undefined, bearer(one.key));
    expect(json.data.endpoints.map(({ tag }: { tag: string }) => tag)).toEqual(['alt']);
    expect((await test.call('GET', '/models/acme/fast/endpoints', undefined, bearer(one.key))).status).toBe(404);
    expect((await test.call('GET', '/models/count', undefined, bearer(one.key))).json.data.count).toBe(2);
  });
  it('lets only endpoints without data retention serve', async () => {
    const test = gatewayOn({
      providers: {
        up: { baseUrl: 'https://up.test/v1', apiKey: 'sk-up', dataPolicy: { zeroRetention: false } },
        alt: { baseUrl: 'https://alt.test/v1', apiKey: 'sk-alt', dataPolicy: { zeroRetention: true } },
      },
    });
    await imposed(test, { enforce_zdr: true });
    expect((await test.post({ model: 'acme/pair', messages: hello, provider: { zdr: false } })).status).toBe(200);
    expect(test.upstream.sent.at(-1)?.url).toContain('alt.test');
    expect((await test.post({ model: 'acme/fast', messages: hello })).status).toBe(404);
  });
  it('shows in an explanation what it would do, and nothing is called', async () => {
    const test = gatewayOn();
    const id = await imposed(test, redactEmail);
    for (const [path, body] of [
      ['/chat/completions/explain', ask],
      ['/responses/explain', { model: 'acme/fast', input: `Write to ${address}` }],
    ] as const) {
      const { json, text } = await test.call('POST', path, body);
      expect(json.data).toMatchObject({
        error: null,
        candidates: [{ model: 'acme/fast' }],
        pipeline: [{ type: 'guardrail', guardrail_id: id, data: { patterns: ['email'], action: 'redact', count: 1 } }],
      });
      expect(text).not.toContain(address);
    }
    await test.call('PATCH', `/guardrails/${id}`, blockEmail);
    expect((await test.call('POST', '/chat/completions/explain', ask)).json.data).toMatchObject({
      candidates: [],
      error: { code: 403, metadata: { patterns: ['email'] } },
      pipeline: [{ guardrail_id: id, data: { action: 'block' } }],
    });
    await test.call('PATCH', `/guardrails/${id}`, { content_filter_builtins: null, allowed_providers: ['alt'] });
    expect((await test.call('POST', '/chat/completions/explain', ask)).json.data).toMatchObject({
      excluded: [{ provider: 'up', filter: 'guardrail' }],
      error: { code: 404 },
    });
    expect(test.upstream.sent).toEqual([]);
  });
});

describe('a guardrail of a key', () => {
  it('acts on the requests of the key alone, and is gone with the key', async () => {
    const test = gatewayOn();
    const id = await made(test, blockEmail);
    const [one, other] = [await newKey(test), await newKey(test)];
    const keys = { key_hashes: [one.hash, one.hash.toUpperCase()] };
    expect((await test.call('POST', `/guardrails/${id}/assignments/keys`, keys)).json).toEqual({ assigned_count: 1 });
    const { status, json } = await test.post(ask, { ...bearer(one.key), ...metadata });
    expect(status).toBe(403);
    expect(json.service_metadata?.pipeline).toMatchObject([{ guardrail_scope: 'api_key' }]);
    expect((await test.post(ask, bearer(other.key))).status).toBe(200);
    const listed = () => test.call('GET', `/guardrails/${id}/assignments/keys`);
    expect((await listed()).json).toEqual({
      data: [
        {
          id: `${id}:${one.hash}`,
          key_hash: one.hash,
          key_name: 'Test',
          key_label: expect.stringMatching(/^sk-gw/),
          guardrail_id: id,
          assigned_by: null,
          created_at: expect.any(String),
        },
      ],
      total_count: 1,
    });
    await test.call('DELETE', `/keys/${one.hash}`);
    expect((await listed()).json.total_count).toBe(0);
    await test.call('POST', `/guardrails/${id}/assignments/keys`, { key_hashes: [other.hash] });
    expect(
      (await test.call('POST', `/guardrails/${id}/assignments/keys/remove`, { key_hashes: [other.hash] })).json,
    ).toEqual({ unassigned_count: 1 });
    expect((await test.post(ask, bearer(other.key))).status).toBe(200);
  });
  it('is not assigned to a key of another workspace, or to none', async () => {
    const test = gatewayOn();
    const { json } = await test.call('POST', '/workspaces', { name: 'Other', slug: 'other' });
    const id = await made(test, blockEmail);
    const { hash } = await newKey(test, { workspace_id: json.data.id });
    for (const key of [hash, 'e'.repeat(64)])
      expect((await test.call('POST', `/guardrails/${id}/assignments/keys`, { key_hashes: [key] })).status).toBe(400);
  });
  it('is also for the keys that the key makes', async () => {
    const test = gatewayOn();
    const maker = await newKey(test, { permissions: ['management', 'inference'] });
    const id = await made(test, blockEmail);
    await test.call('POST', `/guardrails/${id}/assignments/keys`, { key_hashes: [maker.hash] });
    const { key } = await newKey(test, {}, bearer(maker.key));
    expect((await test.post(ask, bearer(key))).status).toBe(403);
  });
});

describe('a management key that is bound to a workspace', () => {
  it('changes its own guardrails, sees what an operator has imposed, and cannot lift that', async () => {
    const test = gatewayOn();
    const bound = bearer((await newKey(test, { permissions: ['management'] })).key);
    const own = await made(test, redactEmail, bound);
    const operators = await imposed(test, blockEmail);
    expect((await test.call('GET', '/guardrails', undefined, bound)).json.total_count).toBe(2);
    const workspace = { workspace_ids: [defaultWorkspaceId] };
    for (const [method, path, body] of [
      ['PATCH', '', { content_filter_builtins: null }],
      ['DELETE', '', undefined],
      ['POST', '/assignments/workspaces/remove', workspace],
      ['POST', '/assignments/keys/remove', { key_hashes: ['e'.repeat(64)] }],
    ] as const) {
      const { status, json } = await test.call(method, `/guardrails/${operators}${path}`, body, bound);
      checkError(403, json);
      expect([path, status]).toEqual([path, 403]);
    }
    expect((await test.post(ask)).status).toBe(403);
    expect((await test.call('POST', `/guardrails/${own}/assignments/workspaces`, workspace, bound)).status).toBe(200);
    expect((await test.call('DELETE', `/guardrails/${own}`, undefined, bound)).status).toBe(200);
  });
  it('finds nothing of another workspace', async () => {
    const test = gatewayOn();
    const { json } = await test.call('POST', '/workspaces', { name: 'Other', slug: 'other' });
    const id = await made(test, { workspace_id: json.data.id, ...blockEmail });
    const bound = bearer((await newKey(test, { permissions: ['management'] })).key);
    for (const [method, path, body] of [
      ['GET', `/guardrails/${id}`, undefined],
      ['PATCH', `/guardrails/${id}`, {}],
      ['DELETE', `/guardrails/${id}`, undefined],
      ['GET', `/guardrails/${id}/assignments/keys`, undefined],
      ['POST', `/guardrails/${id}/assignments/keys`, { key_hashes: ['e'.repeat(64)] }],
      ['POST', `/guardrails/${id}/assignments/workspaces`, { workspace_ids: [json.data.id] }],
      ['GET', `/guardrails?workspace_id=${json.data.id}`, undefined],
      ['POST', '/guardrails', { name: 'x', workspace_id: json.data.id }],
    ] as const)
      expect([method, path, (await test.call(method, path, body, bound)).status]).toEqual([method, path, 404]);
  });
});

/** A store of several instances, which can fail. */
function sharedStore() {
  const values = new Map<string, unknown>();
  const state = { isDown: false, gets: 0 };
  const check = () => {
    if (state.isDown) throw new Error('The store is down');
  };
  const store = {
    async get(key: string) {
      check();
      state.gets++;
      return values.get(key);
    },
    async set(key: string, value: unknown) {
      check();
      values.set(key, value);
      return true;
    },
    async delete(key: string) {
      check();
      return values.delete(key);
    },
    async clear() {
      values.clear();
    },
  };
  return { store, state };
}

describe('guardrails in a store', () => {
  it('act on every instance within the time of the cache', async () => {
    const { store } = sharedStore();
    const options = { store: store as never, storeCacheMs: 5_000 };
    const [one, other] = [gatewayOn(options), gatewayOn(options)];
    expect((await other.post(ask)).status).toBe(200);
    await imposed(one, blockEmail);
    expect((await one.post(ask)).status).toBe(403);
    await other.clock.advance(5_001);
    expect((await other.post(ask)).status).toBe(403);
  });
  it('that cannot be read let nothing pass: 503', async () => {
    const { store, state } = sharedStore();
    const test = gatewayOn({ store: store as never, storeCacheMs: 0 });
    await imposed(test, { content_filter_builtins: [{ slug: 'iban', action: 'flag' }] });
    expect((await test.post(ask)).status).toBe(200);
    state.isDown = true;
    const { status } = await test.post(ask);
    expect([status, test.upstream.sent.length]).toEqual([503, 1]);
  });
  it('go with their workspace', async () => {
    const test = gatewayOn();
    const { json } = await test.call('POST', '/workspaces', { name: 'Other', slug: 'other' });
    const id = await made(test, { workspace_id: json.data.id, ...blockEmail });
    const { hash } = await newKey(test, { workspace_id: json.data.id });
    await test.call('POST', `/guardrails/${id}/assignments/keys`, { key_hashes: [hash] });
    await test.call('PATCH', `/keys/${hash}`, { disabled: true });
    expect((await test.call('DELETE', `/workspaces/${json.data.id}`)).status).toBe(200);
    expect((await test.call('GET', `/guardrails/${id}`)).status).toBe(404);
  });
});
