import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Keyv } from 'keyv';
import { afterAll, describe, expect, it } from 'vitest';
import {
  type Checking,
  checkClock,
  checkCredentials,
  checkStore,
  checkSwitches,
  type Finding,
} from '../../adapters/cli/doctor-checks.ts';
import { createGateway, type GatewayOptions } from '../../src/index.ts';
import { newNamespace, newSchema, openStore, type Place } from '../support/race/stores.ts';
import { describeWithPostgres, describeWithRedis } from '../support/services.ts';
import { start } from './cli-start.ts';

const folder = mkdtempSync(join(tmpdir(), 'model-gateway-doctor-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const secret = 'a master secret of the tests, long enough';
const providerKey = 'sk-canary-of-the-doctor-0123456789';
const keyv = pathToFileURL(createRequire(import.meta.url).resolve('keyv')).href;
let files = 0;

/** Writes a config file of these options, given as source. */
function configOf(source: string): string {
  const path = join(folder, `config-${++files}.mjs`);
  writeFileSync(path, `import { Keyv } from '${keyv}';\nexport default ${source};\n`);
  return path;
}

async function examined(args: string[]) {
  const { code, printed } = start(['doctor', ...args, '--json']);
  const exit = await code;
  expect(printed.out + printed.error).not.toMatch(/canary|master secret/);
  const findings = printed.out === '' ? [] : (JSON.parse(printed.out).findings as Finding[]);
  const levelOf = (check: string) => findings.filter((one) => one.check === check).map(({ level }) => level);
  return { exit, findings, error: printed.error, levelOf };
}

describe('model-gateway doctor', () => {
  it('finds nothing wrong without a config file, and says that nothing was sent', async () => {
    const { exit, findings } = await examined([]);
    expect([exit, findings.filter(({ level }) => level === 'problem')]).toEqual([0, []]);
    const checks = ['config', 'store', 'store', 'secret', 'providers', 'prices', 'switches', 'byok', 'clock'];
    expect(findings.map(({ check }) => check)).toEqual(checks);
    const { printed, code } = start(['doctor']);
    expect(await code).toBe(0);
    expect(printed.out).toContain('No provider was asked: with --live');
    expect(printed.out).toMatch(/^ok {7}store {6}It is atomic/m);
  });
  it('names a wrong option, and a config file that is not there: exit code 1', async () => {
    const wrong = await examined(['--config', configOf(`{ providers: { openai: { apiKe: '${providerKey}' } } }`)]);
    expect([wrong.exit, wrong.levelOf('config')]).toEqual([1, ['problem']]);
    expect(wrong.findings[0]?.found).toContain('providers.openai.apiKe');
    expect(wrong.error).toBe('There is 1 problem.\n');
    const missing = await examined(['--config', join(folder, 'none.mjs')]);
    expect([missing.exit, missing.findings]).toEqual([1, []]);
  });
  it('warns of providers without a key, of models without a price, and where keys cannot be sealed', async () => {
    const path = configOf(`{
      providers: { openai: { apiKey: '${providerKey}' }, groq: {} },
      models: [{ slug: 'acme/x', endpoints: [{ provider: 'openai', model: 'x' }] }],
      store: new Keyv(),
    }`);
    const { exit, findings, levelOf } = await examined(['--config', path]);
    expect(exit).toBe(0);
    expect(findings.find(({ check }) => check === 'config')?.found).toContain('groq');
    expect(findings.find(({ check }) => check === 'providers')?.found).toBe('With a key: openai.');
    expect(findings.find(({ check }) => check === 'prices')?.found).toBe('Without a price: acme/x.');
    expect(levelOf('secret')).toEqual(['warning']);
  });
  it('names the endpoints without a price of a model whose other endpoints have one', async () => {
    const path = configOf(`{
      providers: { azure: { apiKey: '${providerKey}', credential: { resource: 'ours' } }, local: { baseUrl: 'http://127.0.0.1:9/v1' } },
      models: [{
        slug: 'acme/x',
        endpoints: [
          { provider: 'azure', model: 'our-deployment', baseModel: 'gpt-4o' },
          { provider: 'azure', model: 'another', variant: 'old' },
          { provider: 'local', model: 'x' },
        ],
      }],
      store: new Keyv(),
    }`);
    const { findings } = await examined(['--config', path]);
    expect(findings.find(({ check }) => check === 'prices')?.found).toBe(
      'Without a price: acme/x at azure/old and local.',
    );
  });
  it('finds switches of workspaces that have no effect, and says what they need', async () => {
    const gateway = createGateway({ authenticate: 'host', providers: { sandbox: {} } });
    const { id } = (await gateway.workspaces.create({ name: 'Told', slug: 'told' })).data;
    await gateway.workspaces.update({ id, is_observability_broadcast_enabled: true });
    const examine = (options: GatewayOptions) => checkSwitches({ gateway, options } as Checking);
    const [found, ...more] = await examine({});
    expect(more).toEqual([]);
    expect(found).toMatchObject({
      level: 'warning',
      found: 'is_observability_broadcast_enabled has no effect for: told.',
    });
    const broadcasts = Object.assign(() => undefined, { broadcasts: true });
    expect(await examine({ onRecord: broadcasts })).toMatchObject([{ level: 'ok' }]);
    await gateway.close();
  });
  it('finds credentials that no request uses, and what they lack, without a key', async () => {
    const gateway = createGateway({ authenticate: 'host', providers: { sandbox: {} }, secrets: { current: secret } });
    const { id } = (await gateway.workspaces.create({ name: 'Told', slug: 'told' })).data;
    await gateway.credentials.create({ provider: 'openai', key: providerKey, workspace_id: id });
    const examine = () => checkCredentials({ gateway } as Checking);
    expect(await examine()).toMatchObject([{ level: 'ok' }]);
    // More than a page of them.
    for (let made = 0; made < 101; made++)
      await gateway.credentials.create({ provider: 'openai', key: providerKey, workspace_id: id });
    await gateway.credentials.create({ provider: 'cloudflare', key: providerKey, workspace_id: id });
    await gateway.credentials.create({ provider: 'heygen', key: providerKey });
    const found = await examine();
    expect(found.map(({ found: text }) => text).sort()).toEqual([
      expect.stringMatching(
        /of default for heygen is not used: this provider is known to serve video alone, .*set none\.$/,
      ),
      expect.stringMatching(/of told for cloudflare is not used: key\.accountId: expected/),
    ]);
    expect(JSON.stringify(found)).not.toContain(providerKey);
    await gateway.close();
  });
  it('asks each provider for a few tokens with --live alone, and says what came of it', async () => {
    const asked: string[] = [];
    const upstream = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      const isKnown = request.headers.authorization === `Bearer ${providerKey}`;
      response.writeHead(isKnown ? 200 : 401, { 'content-type': 'application/json' });
      const choices = [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }];
      response.end(JSON.stringify(isKnown ? { choices } : { error: { message: 'Incorrect API key' } }));
    });
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    const baseUrl = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`;
    const optionsWith = (key: string) => `{
      providers: { mine: { baseUrl: '${baseUrl}', apiKey: '${key}' } },
      models: [{ slug: 'acme/x', endpoints: [{ provider: 'mine', model: 'x' }] }],
      catalog: { builtInModels: false },
      store: new Keyv(),
      secrets: { current: '${secret}' },
    }`;
    try {
      const path = configOf(optionsWith(providerKey));
      expect((await examined(['--config', path])).exit).toBe(0);
      expect(asked).toEqual([]);
      const live = await examined(['--config', path, '--live']);
      expect([live.exit, live.levelOf('live')]).toEqual([0, ['ok']]);
      expect(asked).toEqual(['HEAD /v1', 'POST /v1/chat/completions']);
      const refused = await examined(['--config', configOf(optionsWith('sk-canary-wrong-0123456789')), '--live']);
      expect([refused.exit, refused.levelOf('live')]).toEqual([1, ['problem']]);
    } finally {
      upstream.close();
    }
  });
  it('finds a store that is away, one that is not atomic, and one that is full', async () => {
    const failing = { get: down, set: down, delete: down, clear: down };
    const full = { get: async () => undefined, set: isFull, delete: async () => true, clear: async () => undefined };
    const found: Finding[][] = [];
    for (const store of [new Keyv({ store: failing as never }), new Map(), new Keyv({ store: full as never })]) {
      const options = { store: store as never, authenticate: 'host' as const };
      const gateway = createGateway(options);
      const another = () => createGateway({ ...options, store: new Map() as never });
      const shared = {
        options,
        gateway,
        another,
        now: Date.now,
        monotonic: () => performance.now(),
        uniqueName: () => 'doctor-test',
      };
      found.push(await checkStore({ ...shared, fetch: globalThis.fetch }));
      await gateway.close();
    }
    expect(found[0]).toMatchObject([{ level: 'problem', advice: expect.stringContaining('address') }]);
    expect(found[1]).toMatchObject([
      { level: 'ok' },
      { level: 'problem', found: expect.stringContaining('not atomic') },
    ]);
    expect(found[2]).toMatchObject([
      { level: 'problem', found: expect.stringContaining('full'), advice: expect.stringMatching(/^Make room/) },
    ]);
  });
});

async function isFull(): Promise<never> {
  throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
}

async function down(): Promise<never> {
  throw new Error('The store is down');
}

/** Looks at a store that processes share, and at its clock. */
function examinesWell(newPlace: (url: string) => Place): (url: () => Promise<string>) => void {
  return (url) => {
    it('is found atomic, with its clock, and nothing stays in it', async () => {
      const place = newPlace(await url());
      const { store, close } = openStore(place.at);
      // How fast a server of the tests is, is not looked at here.
      const storeTimeoutMs = 20_000;
      const options = { store, authenticate: 'host' as const, secrets: { current: secret }, storeTimeoutMs };
      const gateway = createGateway(options);
      const another = () => createGateway(options);
      const checking = {
        options,
        gateway,
        another,
        now: Date.now,
        monotonic: () => performance.now(),
        uniqueName: () => 'doctor-test',
        fetch,
      };
      expect((await checkStore(checking)).map(({ level }) => level)).toEqual(['ok', 'ok']);
      const { data } = await gateway.workspaces.list();
      expect(data.map(({ slug }) => slug)).toEqual(['default']);
      expect(await checkClock(checking, false)).toMatchObject([{ level: 'ok', found: expect.stringMatching(/agree/) }]);
      const early = { ...checking, now: () => Date.now() + 60_000 };
      expect(await checkClock(early, false)).toMatchObject([
        { level: 'problem', found: expect.stringMatching(/ahead/) },
      ]);
      const late = { ...checking, now: () => Date.now() - 5_000 };
      expect(await checkClock(late, false)).toMatchObject([
        { level: 'warning', found: expect.stringMatching(/behind/) },
      ]);
      await gateway.close();
      await close();
      await place.clear();
    });
  };
}

describeWithRedis('a Redis', examinesWell(newNamespace));
describeWithPostgres('a PostgreSQL', examinesWell(newSchema));
