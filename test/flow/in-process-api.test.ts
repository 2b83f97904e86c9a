import { Keyv } from 'keyv';
import { describe, expect, it } from 'vitest';
import { isGatewayError } from '../../src/base/errors.ts';
import { defaultWorkspaceId } from '../../src/call/workspace.ts';
import { operations } from '../../src/operations/index.ts';
import type { GatewayOptions } from '../../src/options.ts';
import type { OperationRecord } from '../../src/telemetry/record.ts';
import { chatRequest, hello, managementKey, testGateway } from '../support/gateway.ts';
import { tenantGateway } from '../support/tenant-gateway.ts';
import { completion } from '../support/upstream.ts';

const both = ['inference', 'management'] as const;
const all = operations({ brand: 'service' } as never);
const inGroups = all.filter(({ api }) => api?.includes('.'));

function open(options: Partial<GatewayOptions> = {}) {
  const records: OperationRecord[] = [];
  const tested = tenantGateway({
    secrets: { current: 'a master secret of the tests, which is long enough' },
    onOperation: (record) => records.push(record),
    ...options,
  });
  return { ...tested, records };
}

// biome-ignore lint/suspicious/noExplicitAny: any function, by its place, with any argument
type AnyFunction = (given?: any) => Promise<any>;

/** The function of an operation. */
function at(gateway: object, place = ''): AnyFunction {
  let found: unknown = gateway;
  for (const name of place.split('.')) found = (found as Record<string, unknown> | undefined)?.[name];
  if (!found) throw new Error(`There is no gateway.${place}`);
  return found as AnyFunction;
}

async function errorOf(work: () => unknown): Promise<{ status: number; message: string; paths: string[] }> {
  const error = await (async () => work())().catch((thrown: unknown) => thrown);
  if (!isGatewayError(error)) throw new Error('It threw no GatewayError', { cause: error });
  const issues = (error.metadata?.issues ?? []) as { path: string }[];
  return { status: error.status, message: error.message, paths: issues.map(({ path }) => path) };
}

describe('the operations of the interface, in process', () => {
  it('are all there but the stream of requests and the description of the interface, for the operator and for any caller', () => {
    const { gateway } = open();
    const alone = all.filter(({ api }) => api === undefined);
    expect(
      alone
        .map(({ path }) => path)
        .filter((path) => !/^\/(?:responses|messages|completions|audio)\b|\/explain$|\[:\]/.test(path)),
    ).toEqual(['/chat/completions', '/requests/stream', '/openapi.json', '/api/hello']);
    expect(new Set(all.map(({ api }) => api)).size).toBe(all.length - alone.length + 1);
    const seen = gateway.as({ permissions: ['inference'] });
    for (const one of [gateway, seen])
      for (const { create } of [one.chat.completions, one.completions, one.responses])
        expect(typeof create).toBe('function');
    for (const { api } of inGroups)
      expect([typeof at(gateway, api), typeof at(seen, api)]).toEqual(['function', 'function']);
    expect([typeof gateway.explain, typeof seen.explain]).toEqual(['function', 'function']);
  });
  it('manage workspaces, as a response would show them', async () => {
    const { gateway, manage } = open();
    const { data: acme } = await gateway.workspaces.create({ name: 'Acme', slug: 'acme' });
    expect(acme).toEqual((await manage('GET', '/workspaces/acme')).json.data);
    expect(acme.created_by).toBe('operator');
    const changed = await gateway.workspaces.update({ id: 'acme', description: 'New' });
    expect(changed.data).toMatchObject({ id: acme.id, name: 'Acme', description: 'New' });
    expect(await gateway.workspaces.get({ id: acme.id })).toEqual(changed);
    expect(await gateway.workspaces.list({ offset: 1, limit: 1 })).toEqual({ data: [changed.data], total_count: 2 });
    expect((await gateway.workspaces.list()).data.map(({ slug }) => slug)).toEqual(['default', 'acme']);
    expect(await gateway.workspaces.delete({ id: 'acme' })).toEqual({ deleted: true });
    expect((await manage('GET', '/workspaces/acme')).status).toBe(404);
  });
  it('manage budgets, which then hold', async () => {
    const { gateway, manage, post } = open();
    const id = defaultWorkspaceId;
    const { data } = await gateway.budgets.put({ id, interval: 'daily', limit_usd: 0.000001 });
    expect(data).toMatchObject({ limit_usd: 0.000001, spent_usd: 0, held_usd: 0, remaining_usd: 0.000001 });
    expect(data.resets_at).toBe('2026-01-02T00:00:00.000Z');
    expect(await gateway.budgets.get({ id: 'default', interval: 'daily' })).toEqual({ data });
    expect(await gateway.budgets.list({ id })).toEqual((await manage('GET', '/workspaces/default/budgets')).json);
    expect((await post({ model: 'acme/fast', messages: hello })).status).toBe(402);
    expect(await gateway.budgets.delete({ id, interval: 'daily' })).toEqual({ deleted: true });
    expect((await errorOf(() => gateway.budgets.get({ id, interval: 'daily' }))).status).toBe(404);
    expect((await errorOf(() => gateway.budgets.get({ id, interval: 'hourly' as never }))).status).toBe(404);
  });
  it('manage credentials, and never return a key', async () => {
    const { gateway, call } = open();
    const key = 'sk-of-a-tenant-0123456789';
    const { data } = await gateway.credentials.create({ provider: 'openai', key, name: 'mine' });
    expect(JSON.stringify(data)).not.toContain(key);
    expect(await gateway.credentials.get({ id: data.id })).toEqual({ data });
    const changed = await gateway.credentials.update({ id: data.id, name: null, disabled: true });
    expect(changed.data).toEqual({ ...data, name: null, disabled: true });
    const listed = await gateway.credentials.list({ provider: 'openai', limit: 10 });
    expect(listed).toEqual({ data: [changed.data], total_count: 1 });
    expect(listed).toEqual((await call('GET', '/byok')).json);
    expect(await gateway.credentials.rotate()).toMatchObject({ checked: 1 });
    expect(await gateway.credentials.delete({ id: data.id })).toEqual({ deleted: true });
    expect((await gateway.credentials.list()).total_count).toBe(0);
  });
  it('manage API keys, by the fields of the interface and by those of the host app', async () => {
    const { gateway, manage } = open({ store: new Keyv() });
    const { key, data } = await gateway.apiKeys.create({ name: 'App', limit: 5, limit_reset: 'weekly' });
    expect((await manage('GET', '/key', undefined, key)).json.data).toMatchObject({ limit: 5, limit_reset: 'weekly' });
    expect(await gateway.apiKeys.get({ hash: data.hash })).toEqual({ data });
    const made = await gateway.apiKeys.create({ name: 'Own', limitNanoUsd: 2_000_000_000 });
    expect(made.record).toMatchObject({ name: 'Own', limitNanoUsd: 2_000_000_000 });
    expect((await gateway.apiKeys.list()).data.map(({ name }) => name)).toEqual(['App', 'Own']);
    const disabled = await gateway.apiKeys.update({ hash: data.hash, disabled: true });
    expect(disabled.data).toMatchObject({ disabled: true, limit: 5 });
    expect((await gateway.apiKeys.list()).data).toHaveLength(1);
    expect((await gateway.apiKeys.list({ include_disabled: true })).data).toHaveLength(2);
    expect(await gateway.apiKeys.delete({ hash: data.hash })).toEqual({ deleted: true });
    expect(await gateway.apiKeys.delete(made.record.hash)).toBe(true);
    expect(await gateway.apiKeys.delete(made.record.hash)).toBe(false);
    expect((await errorOf(() => gateway.apiKeys.delete({ hash: data.hash }))).status).toBe(404);
    expect((await gateway.apiKeys.current()).data).toMatchObject({ workspace_id: defaultWorkspaceId, limit: null });
  });
  it('list models, endpoints and providers, and read what a query would say from values of any type', async () => {
    const { gateway, manage } = open();
    const same = async (own: Promise<unknown>, path: string) =>
      expect(await own).toEqual((await manage('GET', path)).json);
    await same(gateway.models.list(), '/models');
    await same(gateway.models.list({ q: 'PAIR', max_price: 2, distillable: undefined, zdr: false }), '/models?q=pair');
    await same(gateway.models.listUser(), '/models/user');
    await same(gateway.models.count({ output_modalities: 'all' }), '/models/count?output_modalities=all');
    await same(gateway.models.get({ author: 'acme', slug: 'pair' }), '/model/acme/pair');
    await same(gateway.models.listEndpoints({ author: 'acme', slug: 'pair' }), '/models/acme/pair/endpoints');
    await same(gateway.models.listZdrEndpoints(), '/endpoints/zdr');
    await same(gateway.providers.list(), '/providers');
    expect((await gateway.models.list({ zdr: true })).data).toEqual([]);
    expect((await errorOf(() => gateway.models.get({ author: 'acme', slug: 'none' }))).status).toBe(404);
  });
  it('leave a record, as a request does', async () => {
    const { gateway, records } = open();
    await gateway.workspaces.create({ name: 'Acme', slug: 'acme' });
    await errorOf(() => gateway.workspaces.create({ name: 'Acme', slug: 'acme' }));
    await errorOf(() => gateway.workspaces.create({ name: '', slug: 'acme' }));
    await errorOf(() => gateway.as({ permissions: ['inference'], userId: 'ada' }).workspaces.list());
    const path = '/workspaces';
    expect(records).toMatchObject([
      { kind: 'operation', operation: 'createWorkspace', method: 'POST', path, status: 201, error: null, userId: null },
      { kind: 'operation', operation: 'createWorkspace', status: 400, error: { type: 'invalid_request' } },
      { kind: 'refusal', operation: 'createWorkspace', status: 400, error: { type: 'invalid_request' } },
      {
        kind: 'refusal',
        operation: 'listWorkspaces',
        status: 403,
        userId: 'ada',
        error: { type: 'permission_denied' },
      },
    ]);
  });
  it('give copies: what the host app changes of them changes nothing here', async () => {
    const { gateway, post } = open({ store: new Keyv() });
    const { key, record } = await gateway.apiKeys.create();
    await gateway.apiKeys.find(record.hash);
    const shown = [
      (await gateway.apiKeys.get({ hash: record.hash })).data,
      (await gateway.apiKeys.list()).data[0],
      await gateway.apiKeys.find(record.hash),
      record,
    ];
    for (const one of shown) one?.permissions.push('management');
    expect((await gateway.as({ permissions: ['inference'] }).apiKeys.current()).data.permissions).toEqual([
      'inference',
    ]);
    const refused = await gateway.fetch('http://gateway.test/v1/keys', { headers: { authorization: `Bearer ${key}` } });
    expect(refused.status).toBe(403);
    const caller = { permissions: ['inference' as 'inference' | 'management'] };
    const seen = gateway.as(caller);
    caller.permissions.push('management');
    expect((await errorOf(() => seen.workspaces.list())).status).toBe(403);
    expect((await post({ messages: [] })).status).toBe(400);
  });
  it('take a field that is undefined for one that is absent', async () => {
    const { gateway } = open();
    await gateway.workspaces.create({ name: 'Acme', slug: 'acme', description: undefined });
    const { data } = await gateway.workspaces.update({ id: 'acme', name: undefined, description: 'New' });
    expect(data).toMatchObject({ name: 'Acme', description: 'New' });
  });
  it('are refused when the gateway is closed', async () => {
    const { gateway, records } = open();
    await gateway.close();
    expect(await errorOf(() => gateway.workspaces.list())).toMatchObject({ status: 503 });
    expect(records.at(-1)).toMatchObject({ kind: 'refusal', status: 503 });
  });
  it('throw a bare 500 with its cause where something of the host app fails', async () => {
    const cause = new RangeError('from the ids');
    const uuid = () => {
      throw cause;
    };
    const { gateway, records } = open({ ids: { uuid } });
    const error = await gateway.workspaces.create({ name: 'X', slug: 'x' }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ kind: 'internal', status: 500, message: expect.not.stringContaining('ids'), cause });
    expect(records).toMatchObject([{ kind: 'operation', status: 500 }]);
  });
});

describe('as a caller bound to one workspace', () => {
  const tenants = async () => {
    const tested = open({ store: new Keyv(), records: { enabled: true } });
    const { gateway } = tested;
    const [mine, theirs] = [await tested.workspace('mine'), await tested.workspace('theirs')];
    await gateway.budgets.put({ id: theirs, interval: 'daily', limit_usd: 1 });
    const { data: key } = await gateway.apiKeys.create({ name: 'Their key', workspace_id: theirs });
    const { data: credential } = await gateway.credentials.create({
      provider: 'openai',
      key: 'sk-of-them-0123456789',
      workspace_id: theirs,
    });
    const { data: guardrail } = await gateway.guardrails.create({ name: 'Theirs', workspace_id: theirs });
    tested.upstream.always({ body: completion() });
    const them = gateway.as({ permissions: both, workspaceId: theirs });
    const asked = await tested.run(them.fetch(chatRequest({ model: 'acme/fast', messages: hello, max_tokens: 9 })));
    const generation = asked.headers.get('x-generation-id') as string;
    expect((await them.generations.get({ id: generation })).data.workspace_id).toBe(theirs);
    await gateway.workspaces.update({ id: theirs, is_observability_io_logging_enabled: true });
    const asking = { model: 'acme/fast', input: 'Hello', store: true };
    const { id: kept } = await tested.run(them.responses.create(asking));
    expect((await them.responses.retrieve({ id: kept })).id).toBe(kept);
    const me = gateway.as({ permissions: both, workspaceId: mine });
    return { ...tested, kept, generation, mine, theirs, key, credential, guardrail, me };
  };

  it('nothing of another is seen, changed or told of', async () => {
    const { gateway, me, theirs, key, credential, guardrail, mine, generation, kept } = await tenants();
    const given: Record<string, object> = {
      'workspaces.get': { id: theirs },
      'workspaces.update': { id: 'theirs', name: 'Taken' },
      'workspaces.put': { id: 'theirs', name: 'Taken' },
      'workspaces.delete': { id: theirs },
      'budgets.list': { id: theirs },
      'budgets.get': { id: theirs, interval: 'daily' },
      'budgets.put': { id: 'theirs', interval: 'daily', limit_usd: 0.5 },
      'budgets.delete': { id: theirs, interval: 'daily' },
      'credentials.create': { provider: 'openai', key: 'sk-of-me-0123456789', workspace_id: theirs },
      'credentials.list': { workspace_id: theirs },
      'credentials.get': { id: credential.id },
      'credentials.update': { id: credential.id, disabled: true },
      'credentials.delete': { id: credential.id },
      'apiKeys.create': { name: 'Mine', workspace_id: theirs },
      'apiKeys.list': { workspace_id: theirs },
      'apiKeys.get': { hash: key.hash },
      'apiKeys.update': { hash: key.hash, disabled: true },
      'apiKeys.delete': { hash: key.hash },
      'guardrails.create': { name: 'Mine', workspace_id: theirs },
      'responses.retrieve': { id: kept },
      'responses.inputItems.list': { id: kept },
      'responses.delete': { id: kept },
      'generations.get': { id: generation },
      'generations.content': { id: generation },
      'generations.list': { workspace_id: theirs },
      'generations.activity': { workspace_id: theirs },
      'guardrails.list': { workspace_id: theirs },
      'audit.list': { workspace_id: theirs },
      'guardrails.get': { id: guardrail.id },
      'guardrails.update': { id: guardrail.id, name: 'Taken' },
      'guardrails.delete': { id: guardrail.id },
      'guardrails.keys': { id: guardrail.id },
      'guardrails.assignKeys': { id: guardrail.id, key_hashes: [key.hash] },
      'guardrails.unassignKeys': { id: guardrail.id, key_hashes: [key.hash] },
      'guardrails.assignWorkspaces': { id: guardrail.id, workspace_ids: [theirs] },
      'guardrails.unassignWorkspaces': { id: guardrail.id, workspace_ids: [theirs] },
    };
    const missing = { id: 'none-such', hash: 'f'.repeat(64) };
    for (const [place, theirsGiven] of Object.entries(given)) {
      const told = await errorOf(() => at(me, place)(theirsGiven));
      expect([place, told.status]).toEqual([place, 404]);
      const ofNobody = Object.fromEntries(
        Object.entries(theirsGiven).map(([name, value]) =>
          name === 'workspace_id'
            ? [name, '00000000-0000-4000-8000-00000000ffff']
            : [name, (missing as never)[name] ?? value],
        ),
      );
      expect([place, await errorOf(() => at(me, place)(ofNobody))]).toEqual([place, told]);
    }
    // What has to do with no other workspace, or names none. Conversations of others have tests of their own.
    const ofNone = /^(?:models|providers|embeddings|rerank|moderations|decisions|images|conversations)\./;
    const bounded = inGroups.filter(({ api = '' }) => !given[api] && !ofNone.test(api));
    expect(bounded.map(({ api }) => api).sort()).toEqual(['apiKeys.current', 'workspaces.create', 'workspaces.list']);
    expect((await errorOf(() => me.workspaces.create({ name: 'X', slug: 'x' }))).status).toBe(403);
    expect((await me.workspaces.list()).data.map(({ id }) => id)).toEqual([mine]);
    expect((await me.apiKeys.current()).data).toMatchObject({ workspace_id: mine, limit: null });
    expect([(await me.apiKeys.list()).data, (await me.credentials.list()).total_count]).toEqual([[], 0]);
    expect((await gateway.budgets.get({ id: theirs, interval: 'daily' })).data.limit_usd).toBe(1);
    expect((await gateway.apiKeys.get({ hash: key.hash })).data.disabled).toBe(false);
    expect((await gateway.workspaces.get({ id: theirs })).data.name).toBe('theirs');
  });
  it('what an operator has set stands', async () => {
    const { gateway, me, mine } = await tenants();
    await gateway.budgets.put({ id: mine, interval: 'daily', limit_usd: 1 });
    expect((await errorOf(() => me.budgets.put({ id: mine, interval: 'daily', limit_usd: 2 }))).status).toBe(403);
    expect((await me.budgets.put({ id: mine, interval: 'daily', limit_usd: 0.5 })).data.limit_usd).toBe(0.5);
  });
  it('a request is explained by the budgets of that workspace', async () => {
    const { gateway, me, mine } = await tenants();
    await gateway.budgets.put({ id: mine, interval: 'weekly', limit_usd: 3 });
    const explained = await me.explain({ model: 'acme/fast', messages: hello });
    expect(explained.budgets).toMatchObject([{ interval: 'weekly', limit_usd: 3 }]);
    expect(explained).toEqual(await gateway.explain({ model: 'acme/fast', messages: hello }, { workspaceId: mine }));
  });
  it.each(inGroups.map(({ api = '', permissions }) => [api, permissions] as const))(
    '%s needs its permissions',
    async (api, permissions) => {
      const { gateway } = open();
      for (const permission of both) {
        const seen = gateway.as({ permissions: [permission] });
        const status = await at(
          seen,
          api,
        )({ any: 1 }).then(
          () => 200,
          (error) => error.status,
        );
        expect([permission, status === 403]).toEqual([permission, !permissions.includes(permission)]);
      }
    },
  );
});

describe('a wrong argument is a GatewayError that names the place', () => {
  const wrong: [what: string, given: unknown][] = [
    ['null', null],
    ['a number', 7],
    ['a list', []],
    ['a function', () => undefined],
    ['a symbol', Symbol('x')],
    ['a big integer', 7n],
    ['bytes', new Uint8Array(1)],
    ['an unknown field', { unknown_field: 1 }],
  ];
  it.each(inGroups.map(({ api = '' }) => api))('of every kind, to %s', async (api) => {
    const { gateway } = open();
    for (const [, given] of wrong) {
      const { status, paths } = await errorOf(() => at(gateway, api)(given));
      expect([status, paths.length > 0]).toEqual([400, true]);
    }
    const failing = new Proxy(
      {},
      {
        ownKeys: () => {
          throw new TypeError('trap');
        },
      },
    );
    // A question to a model goes through JSON first.
    expect((await errorOf(() => at(gateway, api)(failing))).status).toBe(/^images\./.test(api) ? 400 : 500);
    const unknown = { ...fitting(api), unknown_field: 1 };
    expect(await errorOf(() => at(gateway, api)(unknown))).toMatchObject({ status: 400, paths: ['unknown_field'] });
  });
  it.each<[string, unknown, string[]]>([
    ['workspaces.create', undefined, ['name', 'slug']],
    ['workspaces.create', {}, ['name', 'slug']],
    ['workspaces.create', { name: 7, slug: 'No Slug' }, ['name', 'slug']],
    ['workspaces.get', undefined, ['id']],
    ['workspaces.get', { id: 7 }, ['id']],
    ['workspaces.get', { id: '' }, ['id']],
    ['workspaces.list', { limit: 1000 }, ['limit']],
    ['workspaces.list', { offset: -1 }, ['offset']],
    ['workspaces.list', { offset: null }, ['offset']],
    ['workspaces.list', { limit: Number.NaN }, ['limit']],
    ['budgets.put', { id: 'default', interval: 'daily' }, ['limit_usd']],
    ['budgets.put', { id: 'default', interval: 'daily', limit_usd: '5' }, ['limit_usd']],
    ['budgets.put', { id: 'default', limit_usd: 5 }, ['interval']],
    ['credentials.create', { provider: 'nobody', key: 'k' }, ['provider']],
    ['apiKeys.create', { name: 'x', limit: 'much' }, ['limit']],
    ['apiKeys.create', { name: 'x', limitUsd: 'much' }, ['limitUsd']],
    ['apiKeys.create', { limit: 5, limitUsd: 5, name: 'x' }, ['limitUsd']],
    ['apiKeys.create', 'name', ['']],
    ['apiKeys.find', undefined, ['hash']],
    ['apiKeys.find', {}, ['hash']],
    ['apiKeys.setDisabled', 7, ['hash']],
    ['apiKeys.setDisabled', 'f'.repeat(64), ['disabled']],
    ['apiKeys.delete', undefined, ['hash']],
    ['apiKeys.delete', {}, ['hash']],
    ['credentials.rotate', null, ['workspaces']],
    ['credentials.rotate', 'team-1', ['workspaces']],
    ['credentials.rotate', [null], ['workspaces[0]']],
    ['models.list', { sort: 'best' }, ['sort']],
    ['models.list', { q: null }, ['q']],
    ['models.count', { output_modalities: ['text'] }, ['output_modalities']],
  ])('%s(%j)', async (place, given, paths) => {
    const { gateway } = open();
    const found = await errorOf(() => at(gateway, place)(given));
    expect([found.status, found.paths]).toEqual([400, paths]);
    expect(found.message).toContain(paths[0]);
  });
  it.each<[unknown, unknown, string[]]>([
    [undefined, undefined, ['']],
    [null, undefined, ['']],
    [7, undefined, ['']],
    ['{', undefined, ['']],
    [{}, undefined, ['messages']],
    [{ model: 'acme/fast', messages: hello, provider: { onlly: [] } }, undefined, ['provider.onlly']],
    [{ messages: hello }, null, ['of']],
    [{ messages: hello }, 'default', ['of']],
    [{ messages: hello }, { workspaceId: 7 }, ['of.workspaceId']],
    [{ messages: hello }, { workspace: 'x' }, ['of.workspace']],
  ])('explain(%j, %j)', async (body, of, paths) => {
    const { gateway } = open();
    expect(await errorOf(() => gateway.explain(body, of as never))).toMatchObject({ status: 400, paths });
  });
  it.each<[unknown, string[]]>([
    [undefined, ['']],
    [null, ['']],
    ['ada', ['']],
    [[], ['']],
    [{}, ['permissions']],
    [{ permissions: 'management' }, ['permissions']],
    [{ permissions: ['everything'] }, ['permissions']],
    [{ permissions: [], workspaceId: 'a b' }, ['workspaceId']],
    [{ permissions: [], workspaceId: null }, ['workspaceId']],
    [{ permissions: [], managesAll: 'no', userId: 7 }, ['managesAll', 'userId']],
    // It would else manage every workspace.
    [{ permissions: ['management'], workspace: 'team-1' }, ['workspace']],
  ])('as(%j), and as the caller of handle', async (caller, paths) => {
    const { gateway } = open();
    expect(await errorOf(() => gateway.as(caller as never))).toMatchObject({ status: 400, paths });
    if (caller === undefined) return;
    const handled = await errorOf(() => gateway.handle(new Request('http://x/v1/models'), { caller: caller as never }));
    expect(handled.paths).toEqual(paths.map((path) => (path === '' ? 'context.caller' : `context.caller.${path}`)));
  });
  it.each<[string, unknown[], string[]]>([
    ['no request', [undefined], ['request']],
    ['no request', [null], ['request']],
    ['a text', ['http://x/v1/models'], ['request']],
    ['an object', [{}], ['request']],
    ['no context', [new Request('http://x/v1/models'), null], ['context']],
    ['a text for a context', [new Request('http://x/v1/models'), '/v1'], ['context']],
    ['a base path', [new Request('http://x/v1/models'), { basePath: 7 }], ['context.basePath']],
    ['a path', [new Request('http://x/v1/models'), { path: /x/ }], ['context.path']],
    ['a listener', [new Request('http://x/v1/models'), { onLeave: {} }], ['context.onLeave']],
    ['a caller', [new Request('http://x/v1/models'), { caller: null }], ['context.caller']],
    ['a failure', [new Request('http://x/v1/models'), { bodyFailure: 7 }], ['context.bodyFailure']],
  ])('handle, given as what it is not: %s', async (_, given, paths) => {
    const { gateway } = open();
    expect(await errorOf(() => Reflect.apply(gateway.handle, null, given))).toMatchObject({ status: 400, paths });
  });
  it.each<[unknown, unknown, string]>([
    [undefined, undefined, 'input'],
    ['/v1/models', undefined, 'input'],
    ['http://x/v1/models', { method: 'no method' }, 'init'],
    ['http://x/v1/models', 7, 'init'],
  ])('fetch(%j, %j)', async (input, init, path) => {
    const { gateway } = open();
    expect(await errorOf(() => gateway.fetch(input as never, init as never))).toMatchObject({ paths: [path] });
  });
  it('createGateway', async () => {
    const { createGateway } = await import('../../src/gateway.ts');
    for (const given of [undefined, null, 7, []])
      expect(await errorOf(() => createGateway(given as never))).toMatchObject({ status: 400, paths: [''] });
    const keys = [{ key: managementKey }];
    expect(await errorOf(() => createGateway({ apiKeys: keys, retries: 3 } as never))).toMatchObject({
      paths: ['retries'],
    });
  });
  it('catalog.refresh', async () => {
    const { gateway } = testGateway({ catalog: { source: async () => ({ models: 7 }) } });
    const { status, paths } = await errorOf(() => gateway.catalog.refresh());
    expect([status, paths.length > 0]).toEqual([503, true]);
  });
});

/** What an operation takes, as far as it must. */
function fitting(api: string): object {
  const path = all.find((one) => one.api === api)?.path ?? '';
  const params = Object.fromEntries([...path.matchAll(/:(\w+)/g)].map(([, name]) => [name, 'default']));
  const bodies: Record<string, object> = {
    'workspaces.create': { name: 'X', slug: 'x' },
    'budgets.put': { limit_usd: 1 },
    'credentials.create': { provider: 'openai', key: 'sk-x-0123456789' },
    'apiKeys.create': { name: 'X' },
    'generations.get': { id: 'gen-1' },
    'generations.content': { id: 'gen-1' },
    'guardrails.create': { name: 'X' },
    'conversations.update': { metadata: {} },
    'conversations.items.create': { items: [{ type: 'message', role: 'user', content: 'Hi' }] },
    'embeddings.create': { model: 'acme/embed', input: 'Hi' },
    'rerank.create': { model: 'acme/rerank', query: 'Hi', documents: ['Hi'] },
    'moderations.create': { input: 'Hi' },
    'decisions.create': { model: 'acme/decide', input: 'Hi', questions: [{ type: 'predicate', instructions: 'Hi?' }] },
    'images.generate': { prompt: 'Hi' },
    'images.edit': { prompt: 'Hi', images: [{ image_url: 'https://x.test/a.png' }] },
    'images.create': { prompt: 'Hi' },
    'guardrails.assignKeys': { key_hashes: ['e'.repeat(64)] },
    'guardrails.unassignKeys': { key_hashes: ['e'.repeat(64)] },
    'guardrails.assignWorkspaces': { workspace_ids: [defaultWorkspaceId] },
    'guardrails.unassignWorkspaces': { workspace_ids: [defaultWorkspaceId] },
  };
  return { ...params, ...bodies[api] };
}

it('a gateway that is asked by its own functions and by requests serves both', async () => {
  const { gateway, upstream, run } = testGateway();
  upstream.always({ body: completion() });
  const caller = gateway.as({ permissions: ['inference'], workspaceId: 'team-1' });
  const body = JSON.stringify({ model: 'acme/fast', messages: hello });
  const headers = { 'content-type': 'application/json' };
  const response = await run(
    caller.fetch('http://gateway.test/v1/chat/completions', { method: 'POST', headers, body }),
  );
  expect(response.status).toBe(200);
  expect((await caller.apiKeys.current()).data.usage).toBeGreaterThan(0);
});
