import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Keyv } from 'keyv';
import { describe, expect, it } from 'vitest';
import { openDataFolder } from '../../../adapters/cli/data-folder.ts';
import { sqliteStore } from '../../../adapters/sqlite/sqlite.ts';
import { randomIds } from '../../../src/base/ids.ts';
import { sha256Hex } from '../../../src/base/secrets.ts';
import { createGateway } from '../../../src/gateway.ts';
import { type GatewayOptions, OptionsError } from '../../../src/options.ts';
import { hello, managementKey, type TestGateway, testGateway, testKey, upstreamKeys } from '../../support/gateway.ts';
import { completion, errorBody } from '../../support/upstream.ts';

const secrets = { current: 'a master secret of the tests, which is long enough' };
const other = 'another master secret of the tests, also long enough';

/** Only output costs: 8 micro-USD a token. An answer of the scripted upstream has 2. */
const pricing = { prompt: '0', completion: '0.000008' };
const costUsd = 0.000016;
const ask = { model: 'acme/fast', messages: hello, max_tokens: 100 };
const worstUsd = 0.0008;
const models = [
  { slug: 'acme/fast', endpoints: [{ provider: 'up', model: 'm', pricing }] },
  {
    slug: 'acme/pair',
    endpoints: [
      { provider: 'up', model: 'cheap', pricing },
      { provider: 'alt', model: 'dear', pricing: { prompt: '0', completion: '0.00008' } },
    ],
  },
  { slug: 'acme/free', endpoints: [{ provider: 'up', model: 'free' }] },
];
/** A provider that workspaces can bring a key for. */
const own = { model: 'groq/llama', messages: hello };
const groq = { groq: { apiKey: upstreamKeys.up, baseUrl: 'https://groq.test/v1', byok: true } };

function gateway(options: Partial<GatewayOptions> = {}): TestGateway {
  // Counted ids would be the same at two gateways on one store.
  const tested = testGateway({ models, ids: randomIds, ...options });
  tested.upstream.always({ body: completion() });
  return tested;
}

async function put({ call }: TestGateway, limits: Record<string, number>): Promise<void> {
  for (const [interval, limit_usd] of Object.entries(limits)) {
    expect((await call('PUT', `/workspaces/default/budgets/${interval}`, { limit_usd })).status).toBe(200);
  }
}

/** What was spent and is held in the default workspace today, as a refusal tells it. */
async function sumsOf(tested: TestGateway): Promise<{ spent_usd: number; held_usd: number }> {
  await put(tested, { daily: 1e-9 });
  const { status, json } = await tested.post(ask);
  expect(status).toBe(402);
  const { spent_usd, held_usd } = json.error.metadata as { spent_usd: number; held_usd: number };
  return { spent_usd, held_usd };
}

async function key({ call }: TestGateway, fields: object = {}) {
  const { status, json } = await call('POST', '/keys', { name: 'k', ...fields });
  expect(status).toBe(201);
  return { hash: json.data.hash as string, headers: { authorization: `Bearer ${json.key}` } };
}

/** Brings credentials for groq; they are numbered. */
async function bring({ call }: TestGateway, ...credentials: object[]): Promise<string[]> {
  const ids: string[] = [];
  for (const [at, fields] of credentials.entries()) {
    const made = await call('POST', '/byok', { provider: 'groq', key: `gsk-number-${at}-0123456789`, ...fields });
    expect(made.status).toBe(201);
    ids.push(made.json.data.id);
  }
  return ids;
}

/** Whose key each request upstream had: the number of the credential, or the operator. */
function keysUsed({ upstream }: TestGateway): (number | 'operator')[] {
  return upstream.sent.map(({ headers }) => {
    const [, number] = /number-(\d)-/.exec(headers.authorization ?? '') ?? [];
    return number === undefined ? 'operator' : Number(number);
  });
}

/**
 * A gateway whose upstream answers after a minute, with a request in flight; its time stands still, as if it had died.
 */
async function dead(store: Keyv, options: Partial<GatewayOptions> = {}) {
  const tested = gateway({ store, ...options });
  await put(tested, { daily: 1 });
  tested.upstream.answer({ body: completion(), afterMs: 50_000 });
  const response = tested.send(ask);
  await tested.clock.advance(0);
  return { tested, response };
}

describe('what is decided of tenants, money and stores', () => {
  it('What is held before a request', async () => {
    const tested = gateway();
    await put(tested, { daily: 10, monthly: 10 });
    const limited = await key(tested, { limit: 10 });
    tested.upstream.always({ instead: 'hang' });
    tested.send({ ...ask, model: 'acme/pair' }, limited.headers).catch(() => undefined);
    await tested.clock.advance(0);
    expect((await sumsOf(tested)).held_usd).toBe(10 * worstUsd);
    await put(tested, { daily: 10, monthly: 1e-9 });
    expect((await tested.post(ask)).json.error.metadata).toMatchObject({
      interval: 'monthly',
      held_usd: 10 * worstUsd,
    });
    await put(tested, { monthly: 10 });
    await tested.call('PATCH', `/keys/${limited.hash}`, { limit: 1e-9 });
    const refused = await tested.post(ask, limited.headers);
    expect(refused.json.error.metadata).toMatchObject({ scope: 'key', held_usd: 10 * worstUsd });
  });
  it('Output that nobody limits', async () => {
    const tested = gateway();
    await put(tested, { daily: 10 });
    await tested.post({ ...ask, max_tokens: undefined });
    expect(tested.upstream.sent[0]?.body.max_tokens).toBe(8_192);
  });
  it('A try that is too dear', async () => {
    const tested = gateway({ retry: { attemptsPerEndpoint: 1 } });
    await put(tested, { daily: 2 * worstUsd });
    tested.upstream.answer({ status: 500, body: errorBody('No') });
    expect((await tested.post({ ...ask, model: 'acme/pair' })).status).toBe(502);
    expect(tested.upstream.sent).toHaveLength(1);
    await put(tested, { daily: 1e-6, monthly: 1e-6, lifetime: 1 });
    const limited = await key(tested, { limit: 1e-6 });
    const { status, json } = await tested.post({ ...ask, model: 'acme/pair' }, limited.headers);
    expect([status, json.error.metadata]).toEqual([
      402,
      expect.objectContaining({ scope: 'key', interval: 'lifetime' }),
    ]);
    await put(tested, { lifetime: 1e-6 });
    expect((await tested.post(ask, limited.headers)).json.error.metadata).toMatchObject({ scope: 'workspace' });
  });
  it('A limit that is changed', async () => {
    const tested = gateway();
    await tested.post(ask);
    await put(tested, { daily: 1 });
    await tested.post(ask);
    await tested.call('DELETE', '/workspaces/default/budgets/daily');
    await tested.post(ask);
    await put(tested, { daily: 2 });
    await tested.post(ask);
    await put(tested, { daily: 1e-9 });
    expect((await tested.post(ask)).json.error.metadata).toMatchObject({ spent_usd: 4 * costUsd });
  });
  it('What is in flight when a budget is made', async () => {
    const tested = gateway();
    await put(tested, { daily: 1 });
    tested.upstream.answer({ body: completion(), afterMs: 1_000 });
    const inFlight = tested.send(ask);
    await tested.clock.advance(0);
    await put(tested, { lifetime: worstUsd });
    expect((await tested.post(ask)).status).toBe(200);
    await tested.run(inFlight);
    await put(tested, { lifetime: 1e-9 });
    expect((await tested.post(ask)).json.error.metadata).toMatchObject({
      interval: 'lifetime',
      spent_usd: 2 * costUsd,
    });
  });
  it('What a process held that died', async () => {
    const leaseMs = 60_000;
    for (const onLostHold of ['charge', 'release'] as const) {
      const store = new Keyv();
      const options = onLostHold === 'charge' ? {} : { budgets: { onLostHold } };
      // The clock of the first is that of the store.
      const tested = gateway({ store, ...options });
      await dead(store, options);
      await tested.clock.advance(leaseMs - 1);
      expect(await sumsOf(tested)).toEqual({ spent_usd: 0, held_usd: worstUsd });
      await tested.clock.advance(1);
      expect(await sumsOf(tested)).toEqual({ spent_usd: onLostHold === 'charge' ? worstUsd : 0, held_usd: 0 });
    }
  });
  it('A settlement that comes after', async () => {
    const store = new Keyv();
    // The clock of the first is that of the store.
    const tested = gateway({ store });
    const late = await dead(store);
    await tested.clock.advance(60_000);
    expect(await sumsOf(tested)).toEqual({ spent_usd: worstUsd, held_usd: 0 });
    expect((await late.tested.run(late.response)).status).toBe(200);
    await late.tested.gateway.close();
    expect(await sumsOf(tested)).toEqual({ spent_usd: costUsd, held_usd: 0 });
  });
  it('A provider that bills more', async () => {
    const warnings: string[] = [];
    const logger = {
      info: () => undefined,
      warn: (_: object, text: string) => warnings.push(text),
      error: () => undefined,
    };
    const tested = gateway({ logger });
    await put(tested, { daily: worstUsd });
    const usage = { prompt_tokens: 1, completion_tokens: 1_000, total_tokens: 1_001 };
    tested.upstream.answer({ body: completion({ usage }) });
    expect((await tested.post(ask)).status).toBe(200);
    expect(await sumsOf(tested)).toEqual({ spent_usd: 0.008, held_usd: 0 });
    expect(warnings).toContain('a call cost more than was held for it');
  });
  it('What is spent where nothing is limited', async () => {
    const flushMs = 1_000;
    const store = new Keyv();
    const [first, second] = [gateway({ store }), gateway({ store })];
    const { headers } = await key(first);
    await first.post(ask, headers);
    const seen = async () => (await second.call('GET', '/key', undefined, headers)).json.data.usage;
    await first.clock.advance(flushMs - 1);
    expect(await seen()).toBe(0);
    await first.clock.advance(1);
    expect(await seen()).toBe(costUsd);
  });
  it("Through a workspace's own credentials", async () => {
    const priced = [{ slug: 'acme/fast', endpoints: [{ provider: 'groq', model: 'm', pricing }] }];
    for (const includeByok of [false, true]) {
      const tested = gateway({ secrets, providers: groq, models: priced, budgets: { includeByok } });
      await bring(tested, {});
      await put(tested, { daily: 1e-6 });
      expect((await tested.post(ask)).status).toBe(includeByok ? 402 : 200);
      await tested.call('DELETE', '/workspaces/default/budgets/daily');
      const [blind, counting] = [
        await key(tested, { limit: 1e-6 }),
        await key(tested, { limit: 1e-6, include_byok_in_limit: true }),
      ];
      expect((await tested.post(ask, blind.headers)).status).toBe(200);
      expect((await tested.post(ask, counting.headers)).status).toBe(402);
    }
  });
  it('How much a limit can be', async () => {
    const tested = gateway();
    const path = '/workspaces/default/budgets/daily';
    const shown = async (limit_usd: number) => (await tested.call('PUT', path, { limit_usd })).json.data?.limit_usd;
    expect(await shown(0.0000000019)).toBe(0.000000001);
    const most = 9_000_000;
    expect([await shown(most), await shown(most + 1), await shown(9e-10), await shown(0)]).toEqual([
      most,
      undefined,
      undefined,
      undefined,
    ]);
    const { headers } = await key(tested, { limit: 0 });
    expect((await tested.post(ask, headers)).status).toBe(402);
  });
  it('What is left of a key', async () => {
    const tested = gateway();
    const { hash, headers } = await key(tested, { limit: 1 });
    await tested.post(ask, headers);
    tested.upstream.always({ instead: 'hang' });
    tested.send(ask, headers).catch(() => undefined);
    await tested.clock.advance(0);
    expect((await tested.call('GET', `/keys/${hash}`)).json.data).toMatchObject({
      usage: costUsd,
      limit_remaining: 1 - costUsd,
    });
  });
  it('A store that does not answer', async () => {
    const [waitMs, failures, probeMs] = [250, 5, 100];
    const store = new Keyv();
    let isStuck = true;
    const { get } = store.store;
    Object.assign(store.store, {
      get: (name: string) => (isStuck ? new Promise(() => undefined) : get.call(store.store, name)),
    });
    const tested = gateway({ store });
    const tookMs = async () => {
      const from = tested.clock.now();
      const { status } = await tested.call('GET', '/workspaces/default');
      return [status, tested.clock.now() - from];
    };
    for (let call = 0; call < failures; call++) expect(await tookMs()).toEqual([503, waitMs]);
    expect(await tookMs()).toEqual([503, 0]);
    isStuck = false;
    await tested.clock.advance(probeMs - 1);
    expect(await tookMs()).toEqual([503, 0]);
    await tested.clock.advance(1);
    expect(await tookMs()).toEqual([200, 0]);
  });
  it('A Keyv that has no atomic way', async () => {
    const warnings: string[] = [];
    const logger = {
      info: () => undefined,
      warn: (_: object, text: string) => warnings.push(text),
      error: () => undefined,
    };
    const foreign = () => {
      const rows = new Map<string, unknown>();
      const adapter = {
        opts: {},
        namespace: undefined,
        get: async (name: string) => rows.get(name),
        set: async (name: string, value: unknown) => void rows.set(name, value),
        delete: async (name: string) => rows.delete(name),
        clear: async () => rows.clear(),
      };
      return new Keyv({ store: adapter });
    };
    gateway({ store: foreign(), logger });
    expect(warnings).toEqual([expect.stringContaining('budgets hold within this process only')]);
    const nothing = async () => undefined as never;
    const names = ['hold', 'settle', 'release', 'renew', 'expire', 'add', 'read', 'forget'] as const;
    const ledger = Object.fromEntries(names.map((name) => [name, nothing])) as unknown as GatewayOptions['ledger'];
    gateway({ store: foreign(), logger, ledger });
    gateway({ store: new Keyv(), logger });
    expect(warnings).toHaveLength(1);
    for (const store of [foreign(), new Keyv(), new Keyv({ store: new Map() })])
      expect(() => gateway({ store, budgets: { onUnsharedStore: 'refuse' } })).toThrow(OptionsError);
  });
  it('A Keyv with `encryption`', async () => {
    const encryption = { encrypt: async (text: string) => text, decrypt: async (text: string) => text };
    const sqlite = sqliteStore(':memory:');
    for (const [store, isRefused] of [
      [new Keyv({ store: sqlite, encryption: encryption as never }), true],
      [new Keyv({ encryption: encryption as never }), false],
    ] as const) {
      const open = () => createGateway({ store, apiKeys: [{ key: testKey }] });
      if (isRefused) expect(open).toThrow(OptionsError);
      else expect(open).not.toThrow();
    }
    await sqlite.disconnect();
  });
  it('Records of a store that make no sense', async () => {
    const rows = new Map<string, unknown>();
    const tested = gateway({ store: new Keyv({ store: rows }) });
    const { hash } = await key(tested, { name: 'a name that is secret' });
    for (const [name, value] of rows) {
      const damaged = JSON.stringify(value).replace('limitNanoUsd', 'nobodyKnows');
      if (name.includes(`:api-key:${hash}`)) rows.set(name, JSON.parse(damaged));
    }
    const broken = await tested.call('GET', `/keys/${hash}`);
    expect([broken.status, broken.text.includes('secret')]).toEqual([500, false]);
    expect((await tested.call('DELETE', `/keys/${hash}`)).status).toBe(200);
    expect((await tested.call('GET', `/keys/${hash}`)).status).toBe(404);
  });
  it('What `serve` seals with', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'model-gateway-decisions-'));
    const [first, second] = [openDataFolder(folder), openDataFolder(folder)];
    expect(first.secret).toMatch(/^.{32,}$/);
    expect(second.secret).toBe(first.secret);
    if (process.platform !== 'win32') expect(statSync(join(folder, 'secret')).mode & 0o777).toBe(0o600);
    expect(existsSync(join(folder, 'gateway.db'))).toBe(true);
    for (const { store } of [first, second]) await store?.disconnect();
    rmSync(folder, { recursive: true });
  });
  it('Labels', async () => {
    const [first, last, least] = [5, 4, 20];
    const tested = gateway({ secrets });
    const text = 'abcdefghijklmnopqrstuvwxyz';
    for (const [length, label] of [
      [least, `${text.slice(0, first)}...${text.slice(0, least).slice(-last)}`],
      [least - 1, '...'],
    ] as const) {
      const made = await tested.call('POST', '/byok', { provider: 'groq', key: text.slice(0, length) });
      expect(made.json.data.label).toBe(label);
    }
  });
  it('Order of credentials', async () => {
    const tested = gateway({ secrets, providers: groq, models: [], retry: { attemptsPerEndpoint: 1 } });
    await bring(tested, { is_fallback: true }, {}, {});
    tested.upstream.always({ status: 401, body: errorBody('No') });
    await tested.post(own);
    expect(keysUsed(tested)).toEqual([1, 2, 'operator', 0]);
  });
  it('A credential that the provider refuses', async () => {
    const cooldownMs = 60_000;
    for (const status of [401, 402, 403, 429]) {
      const tested = gateway({ secrets, providers: groq, models: [] });
      await bring(tested, {});
      tested.upstream.answer({ status, body: errorBody('No'), headers: { 'retry-after': '1' } });
      const from = tested.clock.now();
      for (let call = 0; call < 2; call++) expect((await tested.post(own)).status).toBe(200);
      expect(tested.clock.now()).toBe(from);
      const isInCooldown = status !== 429;
      expect([status, keysUsed(tested)]).toEqual([
        status,
        isInCooldown ? [0, 'operator', 'operator'] : [0, 'operator', 0],
      ]);
      await tested.clock.advance(cooldownMs);
      await tested.post(own);
      expect(keysUsed(tested).at(-1)).toBe(0);
    }
  });
  it('A credential that does not open', async () => {
    const store = new Keyv();
    await bring(gateway({ store, secrets, providers: groq, models: [] }), {});
    const warnings: string[] = [];
    const logger = {
      info: () => undefined,
      warn: (_: object, text: string) => warnings.push(text),
      error: () => undefined,
    };
    const tested = gateway({ store, secrets: { current: other }, providers: groq, models: [], logger });
    const cooldownMs = 60_000;
    for (const [waitMs, logged] of [
      [0, 1],
      [cooldownMs - 1, 1],
      [2, 2],
    ] as const) {
      await tested.clock.advance(waitMs);
      expect((await tested.post(own)).status).toBe(200);
      expect(warnings.filter((text) => text.includes('cannot be opened'))).toHaveLength(logged);
    }
    expect(keysUsed(tested)).toEqual(['operator', 'operator', 'operator']);
  });
  it('Lists of a credential', async () => {
    for (const [restriction, isUsed] of [
      [{ allowed_user_ids: null }, true],
      [{ allowed_user_ids: [] }, false],
      [{ allowed_user_ids: ['u'] }, false],
      [{ allowed_models: [] }, false],
      [{ allowed_api_key_hashes: [sha256Hex(testKey)] }, true],
      [{ allowed_api_key_hashes: [] }, false],
    ] as const) {
      const tested = gateway({ secrets, providers: groq, models: [] });
      await bring(tested, restriction);
      await tested.post(own);
      expect([restriction, keysUsed(tested)]).toEqual([restriction, [isUsed ? 0 : 'operator']]);
    }
  });
  it('How many credentials', async () => {
    const tested = gateway({ secrets, limits: { credentials: 2 } });
    await bring(tested, {}, {});
    expect((await tested.call('POST', '/byok', { provider: 'groq', key: 'gsk-0123456789' })).status).toBe(400);
    const { optionsSchema } = await import('../../../src/options.ts');
    expect(optionsSchema().parse({ apiKeys: [{ key: testKey }] }).limits.credentials).toBe(500);
  });
  it('How many patterns of models', async () => {
    const tested = gateway({ secrets, limits: { credentialPatterns: 2 } });
    const post = (allowed_models: string[]) =>
      tested.call('POST', '/byok', { provider: 'groq', key: 'gsk-0123456789', allowed_models });
    const slugs = Array.from({ length: 100 }, (_, at) => `acme/m${at}`);
    expect((await post(slugs)).status).toBe(201);
    const first = await post(['acme/*', 'groq/*']);
    expect([first.status, (await post(['acme/*'])).status, (await post(['x/*'])).status]).toEqual([201, 201, 400]);
    const patch = (id: string, allowed_models: string[]) => tested.call('PATCH', `/byok/${id}`, { allowed_models });
    // Those that it replaces do not count, where no other credential has them.
    expect((await patch(first.json.data.id, ['acme/*', 'x/*'])).status).toBe(200);
    const refused = await patch(first.json.data.id, ['x/*', 'y/*']);
    expect([refused.status, refused.json.error.message]).toEqual([
      400,
      'allowed_models: expected at most 2 different patterns with a * in all provider credentials of the workspace',
    ]);
    const at = await Promise.all(['a*', 'b*', 'c*'].map((pattern) => post([pattern])));
    expect(at.map(({ status }) => status)).toEqual([400, 400, 400]);
    const { optionsSchema } = await import('../../../src/options.ts');
    expect(optionsSchema().parse({ apiKeys: [{ key: testKey }] }).limits.credentialPatterns).toBe(1000);
  });
  it("Somebody else's workspace", async () => {
    const tested = gateway({ secrets });
    const { id } = (await tested.call('POST', '/workspaces', { name: 'x', slug: 'x' })).json.data;
    const { headers } = await key(tested, { workspace_id: id, permissions: ['management'] });
    const [{ hash }, [credential]] = [await key(tested), await bring(tested, {})];
    for (const [theirs, nobodys] of [
      ['/workspaces/default', `/workspaces/${crypto.randomUUID()}`],
      ['/workspaces/default/budgets', '/workspaces/nobody/budgets'],
      [`/keys/${hash}`, `/keys/${'0'.repeat(64)}`],
      [`/byok/${credential}`, `/byok/${crypto.randomUUID()}`],
    ]) {
      const found = await tested.call('GET', theirs as string, undefined, headers);
      const missing = await tested.call('GET', nobodys as string, undefined, headers);
      expect([found.status, found.text]).toEqual([404, missing.text]);
      expect((await tested.call('GET', theirs as string)).status).toBe(200);
    }
  });
  it('Who makes workspaces', async () => {
    const make = async (tested: TestGateway, headers = {}) =>
      (await tested.call('POST', '/workspaces', { name: 'x', slug: 'x' }, headers)).status;
    expect(await make(gateway())).toBe(201);
    const tested = gateway();
    expect(await make(tested, (await key(tested, { permissions: ['management'] })).headers)).toBe(403);
    const workspaceId = 'mine';
    expect(await make(gateway({ apiKeys: [{ key: managementKey, permissions: ['management'], workspaceId }] }))).toBe(
      403,
    );
    const caller = { permissions: ['management'] as const };
    expect(await make(gateway({ authenticate: () => caller }))).toBe(201);
    expect(await make(gateway({ authenticate: () => ({ ...caller, workspaceId: 'mine' }) }))).toBe(403);
  });
  it('Slugs', async () => {
    const { call } = gateway();
    const make = async (slug: string) => (await call('POST', '/workspaces', { name: 'x', slug })).status;
    expect([await make('acme'), await make('acme'), await make(crypto.randomUUID())]).toEqual([201, 400, 400]);
  });
  it('Deleting a workspace', async () => {
    const tested = gateway({ secrets });
    const { call } = tested;
    const { id } = (await call('POST', '/workspaces', { name: 'x', slug: 'x' })).json.data;
    const [{ hash }, [credential]] = [
      await key(tested, { workspace_id: id }),
      await bring(tested, { workspace_id: id }),
    ];
    await call('PUT', '/workspaces/x/budgets/daily', { limit_usd: 1 });
    expect((await call('DELETE', '/workspaces/x')).status).toBe(400);
    await call('PATCH', `/keys/${hash}`, { disabled: true });
    expect((await call('DELETE', '/workspaces/x')).status).toBe(200);
    for (const path of [`/keys/${hash}`, `/byok/${credential}`, '/workspaces/x/budgets'])
      expect([path, (await call('GET', path)).status]).toEqual([path, 404]);
    expect((await call('POST', '/workspaces', { name: 'x', slug: 'x' })).json.data.id).not.toBe(id);
    const bound = { permissions: ['management'] as const, workspaceId: id as string };
    const late = gateway({ store: new Keyv(), authenticate: () => bound });
    expect((await late.call('GET', `/workspaces/${id}`)).status).toBe(404);
  });
  it('`created_by`', async () => {
    const made = async (tested: TestGateway) =>
      (await tested.call('POST', '/workspaces', { name: 'x', slug: 'x' })).json.data.created_by;
    expect(await made(gateway())).toBe(`key:${sha256Hex(managementKey).slice(0, 8)}`);
    expect(await made(gateway({ authenticate: () => ({ permissions: ['management'], userId: 'ada' }) }))).toBe('ada');
  });
  it('A key that is disabled or expired', async () => {
    const tested = gateway();
    const expires_at = new Date(tested.clock.now() + 1_000).toISOString();
    const [off, late] = [await key(tested), await key(tested, { expires_at })];
    await tested.call('PATCH', `/keys/${off.hash}`, { disabled: true });
    await tested.clock.advance(1_000);
    const answers = [await tested.post(ask, off.headers), await tested.post(ask, late.headers)];
    expect(answers.map(({ status, json }) => [status, json.error.message])).toEqual([
      [401, 'The API key is disabled'],
      [401, 'The API key has expired'],
    ]);
  });
});
