import { describe, expect, it } from 'vitest';
import { cpuMs } from '../support/cpu-time.ts';
import { hello, testGateway } from '../support/gateway.ts';
import { completion } from '../support/upstream.ts';

const ask = { model: 'acme/fast', messages: hello };
const many = <T>(count: number, item: (at: number) => T) => Array.from({ length: count }, (_, at) => item(at));
const keys = (count: number) => Object.fromEntries(many(count, (at) => [`k${at}`, 1]));

async function answerTo(body: unknown, limits: Record<string, number> = {}) {
  const { post, upstream } = testGateway({ limits });
  upstream.always({ body: completion() });
  const { status, json } = await post(body);
  return { status, message: json?.error?.message, metadata: json?.error?.metadata, sent: upstream.sent.length };
}

describe('a request that names too much is refused before the work for each name', () => {
  it.each<[what: string, body: object, path: string, expected: string]>([
    ['a long model', { ...ask, model: `up/${':free'.repeat(80_000)}` }, 'model', '256 characters'],
    ['many models', { ...ask, models: many(40_000, (at) => `acme/m${at}`) }, 'models', '20 items'],
    ['a long one among models', { ...ask, models: ['acme/fast', 'x'.repeat(257)] }, 'models[1]', '256 characters'],
    ['many providers', { ...ask, provider: { only: many(1001, (at) => `p${at}`) } }, 'provider.only', '1000 items'],
    ['a long provider', { ...ask, provider: { order: ['x'.repeat(257)] } }, 'provider.order[0]', '256 characters'],
    [
      'many patterns of a plugin',
      { ...ask, plugins: [{ id: 'auto-router', allowed_models: many(1001, (at) => `*a*b${at}`) }] },
      'plugins[0].allowed_models',
      '1000 items',
    ],
    [
      'a long pattern of a plugin',
      { ...ask, plugins: [{ id: 'auto-router', allowed_models: ['*a'.repeat(129)] }] },
      'plugins[0].allowed_models[0]',
      '256 characters',
    ],
    ['many plugins', { ...ask, plugins: many(1001, () => ({ id: 'web', enabled: false })) }, 'plugins', '1000 items'],
    ['many tools', { ...ask, tools: many(1001, () => ({ type: 'a:b' })) }, 'tools', '1000 items'],
    ['many conditions', { ...ask, stop_server_tools_when: many(1001, () => ({})) }, 'stop_server_tools_when', '1000'],
    ['many biases', { ...ask, logit_bias: keys(1001) }, 'logit_bias', '1000 keys'],
    ['many image settings', { ...ask, image_config: keys(1001) }, 'image_config', '1000 keys'],
    ['many fields', { ...ask, ...keys(1000) }, '', '1000 keys'],
  ])('%s', async (_, body, path, expected) => {
    const { status, message, metadata, sent } = await answerTo(body);
    expect([status, sent]).toEqual([400, 0]);
    expect(message).toContain(`expected at most ${expected}`);
    expect(metadata?.issues).toMatchObject([{ path }]);
    expect(message.length).toBeLessThan(200);
  });

  it('of more values than a body may hold, whether they are many or were parsed by the host', async () => {
    for (const more of [many(50_000, () => 0), many(25_000, () => ({})), many(15_000, (at) => ({ at, b: [1] }))]) {
      const { status, message, metadata } = await answerTo({ ...ask, more });
      expect([status, metadata?.limit_values]).toEqual([413, 50_000]);
      expect(message).toBe('The body is made of more than 50000 values');
      const { gateway, upstream } = testGateway();
      upstream.always({ body: completion() });
      const request = new Request('http://gateway.test/v1/chat/completions', {
        method: 'POST',
        headers: { authorization: 'Bearer sk-test-inference' },
      });
      expect((await gateway.handle(request, { body: { ...ask, more } })).status).toBe(413);
    }
  });

  it('takes as much as each limit says, and other limits where options set them', async () => {
    const lists = {
      models: many(19, () => 'acme/fast'),
      provider: { ignore: many(1000, (at) => `p${at}`) },
      tools: many(1000, (at) => ({ type: 'function', function: { name: `f${at}` } })),
      logit_bias: keys(1000),
    };
    expect((await answerTo({ ...ask, ...lists, more: many(35_000, () => 0) })).status).toBe(200);
    const small = { models: 1, slugChars: 9, listItems: 5, jsonValues: 30 };
    expect((await answerTo(ask, small)).status).toBe(200);
    for (const fields of [
      { models: ['acme/fast', 'acme/pair'] },
      { model: 'acme/other' },
      { stop: 'a', top_p: 1, seed: 1, user: 'u' },
      { logit_bias: keys(6) },
    ])
      expect((await answerTo({ ...ask, ...fields }, small)).status).toBe(400);
    expect((await answerTo({ ...ask, more: many(40, () => 0) }, small)).status).toBe(413);
  });

  it('is not counted in texts, however many commas and brackets they hold', async () => {
    const content = '{"a":[1,2,3]},\\"'.repeat(60_000);
    expect((await answerTo({ ...ask, messages: [{ role: 'user', content }] })).status).toBe(200);
  });
});

describe('the work for each slug of a request', () => {
  it('does not grow with the number of its suffixes, of which ten mean something', async () => {
    expect((await answerTo({ ...ask, model: `acme/fast${':nitro'.repeat(10)}` })).status).toBe(200);
    expect((await answerTo({ ...ask, model: `acme/fast${':nitro'.repeat(11)}` })).status).toBe(400);
  });

  it('is done once for a router that is named with several suffixes', async () => {
    let randoms = 0;
    const { post, upstream } = testGateway({
      random: () => {
        randoms++;
        return 0.5;
      },
      models: many(30, (at) => ({
        slug: `acme/f${at}`,
        endpoints: [{ provider: 'up', model: `f${at}`, pricing: { prompt: '0', completion: '0' } }],
      })),
      providers: { up: { baseUrl: 'https://up.test/v1', apiKey: 'sk-upstream-0123456789' } },
    });
    upstream.always({ body: completion() });
    const suffixes = ['', ':nitro', ':floor', ':exacto', ':nitro:floor', ':floor:nitro', ':exacto:floor'];
    expect((await post({ messages: hello, models: suffixes.map((one) => `service/free${one}`) })).status).toBe(200);
    // One number for each of the thirty models, and one for each of the three endpoints that were chosen, each time.
    expect(randoms).toBeLessThan(60);
  });
});

describe('a short text that is slow to read for a careless expression', () => {
  it.each<[string, object]>([
    ['a model that looks like many releases', { model: `openai/gpt-4o${'-v1:1'.repeat(34)}!` }],
    ['a price of many digits', { provider: { max_price: { prompt: `${'1'.repeat(200_000)}x` } } }],
  ])('is read at once: %s', async (_, fields) => {
    const start = cpuMs();
    await answerTo({ ...ask, ...fields });
    // Some milliseconds. Read part by part in every possible way, it takes minutes, or for ever.
    expect(cpuMs() - start).toBeLessThan(3000);
  });
});
