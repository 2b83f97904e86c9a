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
  ['patterns of a plugin', () => ({ ...ask, plugins: [{ id: 'auto-router', allowed_models: many(45_000, String) }] })],
  ['slugs for 500 credentials of 100 patterns', () => ({ messages: hello, models: many(20, (at) => `groq/x${at}`) })],
  ['a schema of many parts', () => schemaOf({ allOf: many(6000, (at) => ({ [`k${at}`]: 1 })) })],
  ['repeats of nothing', () => schemaOf({ type: 'string', pattern: '((((){9999}){9999}){9999}){9999}' })],
  ['a price of many digits', () => ({ ...ask, provider: { max_price: { prompt: `${'1'.repeat(900_000)}x` } } })],
];

const packed = (kind: string, json: string) => `gateway-${kind}-1.${Buffer.from(json).toString('base64url')}`;
const detail = JSON.stringify({ type: 'reasoning.text', text: '' });
const reasoning = (encrypted_content: string) => ({ type: 'reasoning', summary: [], encrypted_content });
const respond = { model: 'groq/fast', input: 'Hello' };
const inputs = (input: object[]) => ({ ...respond, input: [...input, { role: 'user', content: 'Hello' }] });

/** The same of Responses requests. */
const responsesAttacks: [string, () => object][] = [
  [
    'as much base64 as is allowed that is no summary',
    () => inputs([{ type: 'compaction', encrypted_content: `gateway-compaction-1.${'_-'.repeat(2_090_000)}` }]),
  ],
  [
    '25,000 details of packed reasoning',
    () => inputs(many(10, () => reasoning(packed('reasoning', `[${Array(2_500).fill(detail).join(',')}]`)))),
  ],
  [
    '10,000 tools of a namespace',
    () => ({
      ...respond,
      tools: [{ type: 'namespace', name: 'n', tools: many(10_000, (at) => ({ type: 'function', name: `f${at}` })) }],
    }),
  ],
  [
    'tools that need another name',
    () => ({
      ...respond,
      tools: many(24_000, (at) => ({ type: 'custom', name: `ä${at}` })),
    }),
  ],
  ['as many items as are allowed', () => inputs(many(20_000, () => reasoning('gateway-reasoning-1.W10W10')))],
  [
    'calls and outputs',
    () =>
      inputs([
        ...many(6_000, (at) => ({ type: 'function_call', call_id: `${at}`, name: `f${at}`, arguments: '' })),
        ...many(6_000, (at) => ({ type: 'function_call_output', call_id: `${5_999 - at}`, output: '' })),
      ]),
  ],
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

  it.each([
    ...attacks.map(([name, bodyOf]) => [name, '/chat/completions', bodyOf] as const),
    ...responsesAttacks.flatMap(([name, bodyOf]) =>
      ['/responses', '/responses/compact', '/responses/input_tokens'].map((path) => [name, path, bodyOf] as const),
    ),
  ])('%s, to %s', async (_, path, bodyOf) => {
    const attack = JSON.stringify(bodyOf());
    const victims: Promise<number>[] = [];
    const waits = async () => {
      const start = performance.now();
      expect(await send(keys.victim, '/chat/completions', JSON.stringify(ask))).toBe(200);
      return performance.now() - start;
    };
    for (let round = 0; round < 12; round++) {
      const attacking = send(keys.attacker, path, attack);
      for (let at = 0; at < 20; at++) {
        victims.push(waits());
        await pause(5);
      }
      expect(await attacking).toBeLessThan(500);
    }
    const waited = (await Promise.all(victims)).sort((a, b) => a - b);
    // The attacker is in this process, too: where memory is slow to come by, its own text takes longer than 100 ms.
    expect(waited[Math.floor(waited.length * 0.99)]).toBeLessThan(Math.max(100, 2 * movingMs(attack)));
  });
});

/** How long this machine needs to make bytes of a text, and a text of the bytes: the slowest of nine times. */
function movingMs(text: string): number {
  const times = many(9, () => {
    const start = performance.now();
    expect(new TextDecoder().decode(new TextEncoder().encode(text))).toHaveLength(text.length);
    return performance.now() - start;
  });
  return Math.max(...times);
}
