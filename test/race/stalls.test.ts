import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGateway, type Gateway } from '../../src/gateway.ts';
import { completion } from '../support/upstream.ts';

const many = <T>(count: number, item: (at: number) => T) => Array.from({ length: count }, (_, at) => item(at));
const hello = [{ role: 'user', content: 'Hello' }];
const ask = { model: 'groq/fast', messages: hello };
const schemaOf = (schema: object) => ({
  model: 'sandbox/json',
  messages: hello,
  response_format: { type: 'json_schema', json_schema: { name: 'x', schema } },
});

/** What one tenant sends: the cheapest bodies that once took the most time. */
const attacks: [string, () => object][] = [
  ['80,000 slugs in models', () => ({ ...ask, models: many(80_000, (at) => `acme/m${at}`) })],
  ['a model of 400 kB of suffixes', () => ({ ...ask, model: `groq/x${':free'.repeat(80_000)}` })],
  ['a model that looks like many releases', () => ({ ...ask, model: `openai/gpt-4o${'-v1:1'.repeat(34)}!` })],
  ['29 MB of tiny values', () => ({ ...ask, more: many(14_500_000, () => 0) })],
  ['as many values as are allowed', () => ({ ...ask, messages: many(24_000, () => ({ role: 'user', content: '' })) })],
  ['patterns of a plugin', () => ({ ...ask, plugins: [{ id: 'auto-router', allowed_models: many(90_000, String) }] })],
  ['slugs for 500 credentials of 100 patterns', () => ({ messages: hello, models: many(20, (at) => `groq/x${at}`) })],
  ['a schema of many parts', () => schemaOf({ allOf: many(6000, (at) => ({ [`k${at}`]: 1 })) })],
  ['repeats of nothing', () => schemaOf({ type: 'string', pattern: '((((){9999}){9999}){9999}){9999}' })],
  ['a price of many digits', () => ({ ...ask, provider: { max_price: { prompt: `${'1'.repeat(900_000)}x` } } })],
];

describe('while one tenant sends what is slow to read, another waits no longer than 100 ms', () => {
  let gateway: Gateway;
  const keys = { attacker: 'sk-of-the-attacker', victim: 'sk-of-the-victim', operator: 'sk-of-the-operator' };
  const send = async (key: string, path: string, body: string) => {
    const response = await gateway.fetch(`http://gateway.test/v1${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body,
    });
    await response.text();
    return response.status;
  };

  beforeAll(async () => {
    gateway = createGateway({
      providers: {
        groq: { apiKey: 'gsk-operator-0123456789' },
        openai: { apiKey: 'sk-operator-0123456789' },
        sandbox: {},
      },
      apiKeys: [
        { key: keys.attacker, permissions: ['inference', 'management'], workspaceId: 'attacker' },
        { key: keys.victim, workspaceId: 'victim' },
      ],
      secrets: { current: 'a secret of at least 32 characters' },
      fetch: async () => Response.json(completion()),
    });
    for (let at = 0; at < 500; at++) {
      const allowed_models = many(100, (place) => (at < 10 ? `*a*${at}b${place}*` : `groq/m${at}-${place}`));
      const body = { provider: 'groq', key: `gsk-0123456789-${at}`, allowed_models };
      expect(await send(keys.attacker, '/byok', JSON.stringify(body))).toBe(201);
    }
    const warm = JSON.stringify({ model: 'groq/warm', messages: hello });
    for (let at = 0; at < 1200; at++) await send(keys.victim, '/chat/completions', warm);
    await send(keys.attacker, '/chat/completions', warm);
  });

  afterAll(() => gateway.close());

  it.each(attacks)('%s', async (_, bodyOf) => {
    const attack = JSON.stringify(bodyOf());
    const victims: Promise<number>[] = [];
    const waits = async () => {
      const start = performance.now();
      expect(await send(keys.victim, '/chat/completions', JSON.stringify(ask))).toBe(200);
      return performance.now() - start;
    };
    for (let round = 0; round < 20; round++) {
      const attacking = send(keys.attacker, '/chat/completions', attack);
      for (let at = 0; at < 20; at++) {
        victims.push(waits());
        await pause(5);
      }
      expect(await attacking).toBeLessThan(500);
    }
    const waited = (await Promise.all(victims)).sort((a, b) => a - b);
    expect(waited[Math.floor(waited.length * 0.99)]).toBeLessThan(100);
  });
});
