import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { receive } from '../contract/adapters/client.ts';
import { freePort } from '../support/start-service.ts';
import { serve, start } from './cli-start.ts';

const folder = mkdtempSync(join(tmpdir(), 'model-gateway-manage-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const key = 'sk-mine-1234567890';

const running = serve({ GATEWAY_API_KEY: key }, '--data', folder);
let url: string;
beforeAll(async () => {
  url = await running.url;
});
afterAll(async () => {
  running.signalAt(0);
  expect(await running.code).toBe(0);
});

/** Runs a command against the running gateway, or against its data folder. */
async function run(args: string[], where: 'url' | 'data' = 'url') {
  const env: Record<string, string> = where === 'url' ? { GATEWAY_URL: url, GATEWAY_API_KEY: key } : {};
  const { code, printed } = start(where === 'url' ? args : [...args, '--data', folder], env);
  return { code: await code, ...printed };
}

const chat = (apiKey: string) =>
  receive(`${url}/chat/completions`, {
    body: JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hello' }] }),
    headers: { authorization: `Bearer ${apiKey}` },
  });

describe('model-gateway models', () => {
  it.each(['url', 'data'] as const)('lists models with their prices, by %s', async (where) => {
    const { code, out, error } = await run(['models', '--search', 'lorem'], where);
    expect([code, error]).toEqual([0, '']);
    expect(out).toMatch(/^model +context +USD\/M in +USD\/M out\nsandbox\/lorem +131,072 +\$0\.10 +\$0\.40\n/);
  });
  it('lists the endpoints of one, and prints JSON', async () => {
    expect((await run(['models', 'sandbox/lorem'])).out).toMatch(/sandbox +default +131,072 +4,096 +\$0\.10 +\$0\.40/);
    expect(JSON.parse((await run(['models', 'sandbox/lorem', '--json'])).out).data.id).toBe('sandbox/lorem');
    expect(await run(['models', 'nobody/knows'])).toMatchObject({ code: 1, error: expect.stringMatching(/^40\d: /) });
  });
});

describe('model-gateway keys', () => {
  it('makes a key that is printed once, lists it masked, and ends it', async () => {
    const made = await run(['keys', 'create', 'CI', '--limit', '1', '--reset', 'monthly']);
    expect(made.code).toBe(0);
    const raw = made.out.trim();
    expect(raw).toMatch(/^sk-gw-\S+$/);
    expect(made.error).not.toContain(raw);
    expect((await chat(raw)).status).toBe(200);
    const { out } = await run(['keys'], 'data');
    expect(out).not.toContain(raw);
    expect(out).toMatch(/CI +sk-gw\.\.\.\S+ +inference +\$0\.0\d+ +\$1 monthly +active/);
    const hash = /^([0-9a-f]{12}) +CI/m.exec(out)?.[1] as string;
    expect(await run(['keys', 'disable', hash])).toMatchObject({ code: 0, out: 'The key CI is disabled.\n' });
    expect((await chat(raw)).status).toBe(401);
    expect(await run(['keys', 'enable', hash])).toMatchObject({ code: 0, out: 'The key CI is enabled.\n' });
    expect(await run(['keys', 'delete', hash])).toMatchObject({ code: 0, out: 'The key CI is gone.\n' });
    expect(await run(['keys', 'delete', hash])).toMatchObject({
      code: 1,
      error: expect.stringContaining('No key has'),
    });
    expect((await run(['keys'])).out).toContain('No key.');
  });
  it('shows names of other people without what a terminal would obey', async () => {
    expect((await run(['keys', 'create', 'a\u001b[2Jb'])).error).toContain('a?[2Jb');
    expect((await run(['keys'])).out).toContain('a?[2Jb');
  });
});

describe('model-gateway budgets', () => {
  it('sets, lists and removes them', async () => {
    expect((await run(['budgets'])).out).toBe('No budget.\n');
    const set = await run(['budgets', 'set', 'daily', '2.5']);
    expect([set.code, set.out]).toEqual([0, expect.stringMatching(/daily +\$2\.50 +\$0\.\d+ +\$0\.00 +\$2\.\d+ +20/)]);
    expect((await run(['budgets', '--workspace', 'default', '--json'], 'data')).out).toContain('"limit_usd": 2.5');
    expect((await run(['budgets', 'delete', 'daily'])).out).toBe('No budget.\n');
    expect(await run(['budgets', '--workspace', 'nobody'])).toMatchObject({
      code: 1,
      error: expect.stringContaining('404'),
    });
  });
});

describe('model-gateway explain', () => {
  it('says where a request would go, and what it would cost at most', async () => {
    const { code, out } = await run(['explain', '--model', 'sandbox/echo', 'Hi']);
    expect(code).toBe(0);
    expect(out).toMatch(/^sandbox\/echo, by direct\n/);
    expect(out).toMatch(/1 +sandbox +sandbox\/echo +own +\$0\.00\d+/);
    expect(out).toContain('The first endpoint would be asked.');
    expect((await run(['explain', '--model', 'openai/gpt-4.1', 'Hi'])).out).toMatch(/Refused: 40\d: /);
  });
});

describe('model-gateway usage', () => {
  it('sums what was asked', async () => {
    expect((await chat(key)).status).toBe(200);
    // Records are written behind the response.
    await expect
      .poll(async () => (await run(['usage', '--by', 'model,provider'])).out)
      .toMatch(/sandbox\/echo +Sandbox +\d+ +0 +\d+ +\d+ +\$0\.0/);
    expect((await run(['usage', '--by', 'user,tag', '--top', '1'])).out).toMatch(
      /^user +tag +requests[^\n]+\n- +- +\d+ /,
    );
    for (const wrong of [
      ['--sort', 'price'],
      ['--top', '0'],
      ['--by', 'users'],
    ])
      expect(await run(['usage', ...wrong])).toMatchObject({ code: 2, error: expect.stringContaining('Expected') });
    expect((await run(['usage', '--from', '2020-01-01', '--to', '2020-02-01'])).out).toBe('No request.\n');
  });
});

describe('a command that asks a gateway', () => {
  it('says what is wrong with its key or its address, and prints no key', async () => {
    const other = 'sk-other-1234567890';
    const refused = await run(['keys', '--key', other]);
    expect(refused).toMatchObject({ code: 1, out: '', error: expect.stringContaining('401: ') });
    expect(refused.error).not.toContain(other);
    const made = (await run(['keys', 'create', 'small'])).out.trim();
    expect((await run(['keys', '--key', made])).error).toContain('may need the permission "management"');
    const away = start(['keys', '--url', `http://127.0.0.1:${await freePort()}/v1`, '--key', key]);
    expect([await away.code, away.printed.error]).toEqual([1, expect.stringMatching(/^No response from http:.*ECONN/)]);
    const foreign = start(['keys', '--url', new URL('/', url).href, '--key', key]);
    expect([await foreign.code, foreign.printed.error]).toEqual([1, expect.stringMatching(/^404: /)]);
  });
});
