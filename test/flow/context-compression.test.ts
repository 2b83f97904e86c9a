import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { GatewayOptions } from '../../src/options.ts';
import { contextCompression } from '../../src/plugins/context-compression/index.ts';
import { definePlugin } from '../../src/plugins/plugin.ts';
import { askResponses, nativeMessage, nativeResponse, nativeUp, streamResponses } from '../support/ask-responses.ts';
import { testGateway, testPricing, upstreamKeys } from '../support/gateway.ts';
import { runs } from '../support/runs.ts';
import { completion, errorBody, textStream } from '../support/upstream.ts';

const shown = { 'x-service-metadata': 'enabled' };
const on = [{ id: 'context-compression' }];
const off = [{ id: 'context-compression', enabled: false }];
const long = 'word '.repeat(500);
/** Some 10,000 tokens in 21 messages. */
const messages = [
  { role: 'system', content: 'Be brief' },
  ...Array.from({ length: 20 }, (_, at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', content: `${at} ${long}` })),
  { role: 'user', content: 'The question' },
];

const endpoint = (provider: 'up' | 'alt', contextLength: number | null, more = {}) => ({
  provider,
  supportedParameters: ['max_tokens'],
  model: `${provider}-m`,
  pricing: testPricing,
  ...(contextLength === null ? {} : { contextLength }),
  ...more,
});
const models: GatewayOptions['models'] = [
  { slug: 'acme/small', endpoints: [endpoint('up', 4_096)] },
  { slug: 'acme/medium', endpoints: [endpoint('up', 9_000)] },
  { slug: 'acme/large', endpoints: [endpoint('up', 100_000)] },
  { slug: 'acme/open', endpoints: [endpoint('up', null)] },
  { slug: 'acme/two', order: 'listed', endpoints: [endpoint('up', 4_096), endpoint('alt', 8_000)] },
  { slug: 'acme/painter', outputModalities: ['image'], endpoints: [endpoint('up', 4_096)] },
];

/** Servers that get each message as it is, so that messages can be counted. */
const quirks = { messageOrder: 'any' as const };
const providers = {
  up: { baseUrl: 'https://up.test/v1', apiKey: upstreamKeys.up, name: 'Up', quirks },
  alt: { baseUrl: 'https://alt.test/v1', apiKey: upstreamKeys.alt, name: 'Alt', quirks },
};

function gatewayWith(options: Partial<GatewayOptions> = {}) {
  const test = testGateway({ providers, models, ...options });
  test.upstream.always({ body: completion() });
  return test;
}

/** How many messages each attempt sent. */
const sentCounts = ({ upstream }: ReturnType<typeof testGateway>) =>
  upstream.sent.map(({ body }) => (body.messages as unknown[]).length);

describe('a prompt that is too long', () => {
  it.each<[string, object, boolean]>([
    ['acme/small', {}, true],
    ['acme/small', { plugins: off }, false],
    ['acme/small', { transforms: [] }, false],
    ['acme/small', { transforms: [], plugins: on }, true],
    ['acme/small', { transforms: ['middle-out'], plugins: off }, false],
    ['acme/small', { modalities: ['image'] }, false],
    ['acme/painter', {}, false],
    ['acme/medium', {}, false],
    ['acme/medium', { plugins: on }, true],
    ['acme/medium', { plugins: [{ id: 'context-compression', engine: 'middle-out' }] }, true],
    ['acme/medium', { transforms: ['middle-out'] }, true],
    ['acme/medium', { transforms: ['middle-out'], provider: { require_parameters: true } }, true],
    ['acme/large', { plugins: on }, false],
    ['acme/open', { plugins: on }, false],
  ])(
    'is for requests that ask for it, and for small contexts: %s with %j is shortened: %s',
    async (model, fields, is) => {
      const test = gatewayWith();
      const { status, json } = await test.post({ model, messages, max_tokens: 100, ...fields }, shown);
      const [count = 0] = sentCounts(test);
      expect([status, count < messages.length]).toEqual([200, is]);
      const stages = (json.service_metadata as { pipeline?: object[] }).pipeline ?? [];
      expect(stages).toEqual(
        is
          ? [
              {
                type: 'context_compression',
                name: 'context-compression',
                summary: expect.stringMatching(/^removed \d+ of 22 messages, cut \d: about \d+ tokens became \d+$/),
                data: { engine: 'middle-out', input_type: 'messages', original_count: 22, compressed_count: count },
              },
            ]
          : [],
      );
      expect(json.service_metadata).not.toHaveProperty('dropped');
      const sent = test.upstream.sent[0]?.body.messages as typeof messages;
      expect([sent[0], sent.at(-1)]).toEqual([messages[0], messages.at(-1)]);
    },
  );
  it('is shown by explain with the same stage, for the endpoint that would be tried first', async () => {
    const test = gatewayWith();
    for (const [model, is] of [
      ['acme/small', true],
      ['acme/large', false],
    ] as const) {
      const request = { model, messages, max_tokens: 100 };
      const { pipeline } = await test.gateway.explain(request);
      const { json } = await test.post(request, shown);
      const said = (json.service_metadata as { pipeline?: object[] }).pipeline;
      expect([model, pipeline?.length]).toEqual([model, is ? 1 : undefined]);
      expect(pipeline).toEqual(said);
    }
  });
  it('is shortened in a stream as well', async () => {
    const test = gatewayWith();
    test.upstream.always({ body: textStream('Hi') });
    const { chunks } = await test.post({ model: 'acme/small', messages, stream: true }, shown);
    expect(sentCounts(test)[0]).toBeLessThan(22);
    expect(chunks.at(-1)?.service_metadata).toMatchObject({ pipeline: [{ type: 'context_compression' }] });
  });
  it('is shortened for every endpoint by itself', async () => {
    const test = gatewayWith({ retry: { attemptsPerEndpoint: 1 } });
    test.upstream.answer({ status: 500, body: errorBody('No') }, { body: completion() });
    const { json } = await test.post({ model: 'acme/two', messages, max_tokens: 100 }, shown);
    const [first = 0, second = 0] = sentCounts(test);
    expect([first < second, second < 22]).toEqual([true, true]);
    expect((json.service_metadata as { pipeline: object[] }).pipeline).toHaveLength(2);
  });
  it('is shortened after other plugins have made it longer, and told once for all attempts', async () => {
    const plugin = definePlugin({
      id: 'longer',
      isDefault: true,
      prepare: (request) => ({ ...request, messages: [{ role: 'user' as const, content: long }, ...request.messages] }),
    });
    const test = gatewayWith({ plugins: [plugin] });
    test.upstream.answer({ status: 500, body: errorBody('No') }, { body: completion() });
    const { json } = await test.post({ model: 'acme/small', messages, max_tokens: 100 }, shown);
    const pipeline = json.service_metadata?.pipeline ?? [];
    expect(pipeline.map(({ data }) => data?.original_count)).toEqual([23]);
  });
  it('is refused by name where a transform is not there', async () => {
    for (const transforms of [['outside-in'], 'middle-out', { a: 1 }]) {
      const { status, json } = await gatewayWith().post({ model: 'acme/small', messages, transforms });
      expect([status, json.error.metadata?.issues]).toEqual([
        400,
        [{ path: 'transforms', message: 'expected [] or ["middle-out"]' }],
      ]);
    }
  });
  it('is shortened for every endpoint, or for no small one, where the host app says so', async () => {
    const always = gatewayWith({ plugins: [contextCompression({ isDefault: true })] });
    await always.post({ model: 'acme/medium', messages, max_tokens: 100 });
    expect(sentCounts(always)[0]).toBeLessThan(22);
    const never = gatewayWith({ plugins: [contextCompression({ smallContext: 0 })] });
    await never.post({ model: 'acme/small', messages, max_tokens: 100 });
    expect(sentCounts(never)).toEqual([22]);
  });
});

describe('a Responses request', () => {
  const input = messages.map(({ role, content }) => ({ type: 'message', role, content }));
  it('is shortened over chat, where `truncation` says so and for small contexts', async () => {
    for (const [model, fields, is] of [
      ['acme/small', {}, true],
      ['acme/medium', { truncation: 'disabled' }, false],
      ['acme/medium', { truncation: 'auto' }, true],
      ['acme/medium', { truncation: 'auto', plugins: off }, false],
    ] as const) {
      const test = gatewayWith();
      const { json } = await askResponses(test, { model, input, max_output_tokens: 100, ...fields }, shown);
      expect([(sentCounts(test)[0] ?? 0) < 22, json.service_metadata.pipeline?.length ?? 0]).toEqual([is, is ? 1 : 0]);
      test.upstream.always({ body: textStream('Hi') });
      await streamResponses(test, { model, input, max_output_tokens: 100, ...fields });
      expect((sentCounts(test)[1] ?? 0) < 22).toBe(is);
    }
  });
  it('keeps its items at a provider that speaks Responses, which truncates by itself', async () => {
    for (const [model, fields, is] of [
      ['acme/medium', { truncation: 'auto' }, false],
      ['acme/medium', { plugins: on }, true],
      ['acme/small', { truncation: 'auto' }, true],
    ] as const) {
      const test = gatewayWith(nativeUp);
      test.upstream.always({ body: nativeResponse([nativeMessage('Hi')]) });
      await askResponses(test, { model, input, max_output_tokens: 100, ...fields });
      const sent = test.upstream.sent[0]?.body.input as object[];
      expect(sent.length < 22).toBe(is);
      expect(input).toEqual(expect.arrayContaining([sent[0], sent.at(-1)]));
    }
  });
});

describe('service/auto', () => {
  const ask = { model: 'service/auto', messages, max_tokens: 100 };
  it('of which no model holds the prompt chooses those with the largest context, where it is shortened', async () => {
    const small = [2_000, 3_000, 3_000].map((context, at) => ({
      slug: `acme/s${at}`,
      endpoints: [endpoint('up', context)],
    }));
    const test = gatewayWith({ models: small });
    expect((await test.post(ask)).status).toBe(404);
    const { status, json } = await test.post({ ...ask, plugins: on });
    expect([status, ['acme/s1', 'acme/s2'].includes(json.model)]).toEqual([200, true]);
  });
  it('takes a model that holds half of the prompt, where it is shortened', async () => {
    const own = [
      { slug: 'acme/third', quality: 0.9, endpoints: [endpoint('up', 3_000)] },
      { slug: 'acme/most', quality: 0.5, endpoints: [endpoint('up', 9_000)] },
    ];
    const test = gatewayWith({ models: own });
    expect((await test.post({ ...ask, plugins: on })).json.model).toBe('acme/most');
  });
});

describe('money', () => {
  it('holds what is sent, as explain says', async () => {
    const random = fc.record({
      model: fc.constantFrom('acme/small', 'acme/medium', 'acme/two'),
      plugins: fc.constantFrom(undefined, on, off),
      count: fc.integer({ min: 1, max: 21 }),
      maxTokens: fc.constantFrom(undefined, 1, 100, 3_000),
      limitUsd: fc.constantFrom(0.02, 0.05, 0.1, 1),
    });
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(random, async ({ model, plugins, count, maxTokens, limitUsd }) => {
        const test = gatewayWith();
        await test.call('PUT', '/workspaces/default/budgets/daily', { limit_usd: limitUsd });
        const ask = {
          model,
          messages: messages.slice(-count),
          ...(plugins && { plugins }),
          ...(maxTokens && { max_tokens: maxTokens }),
        };
        const explained = await test.call('POST', '/chat/completions/explain', ask);
        const { status } = await test.post(ask);
        const { error, hold_usd } = explained.json.data;
        const [record] = test.records;
        expect(status).toBe(error?.code ?? 200);
        if (status === 200) expect(record?.generations[0]?.heldNanoUsd).toBe(Math.round(hold_usd * 1e9));
        const isShort = test.upstream.sent.length > 0 && (sentCounts(test)[0] ?? 0) < count;
        seen.add(`${status} ${isShort}`);
      }),
      { seed: 5, numRuns: runs(80, 500) },
    );
    expect([...seen].sort()).toEqual(['200 false', '200 true', '402 false']);
  });
  it('is enough for a long prompt of which little is sent', async () => {
    const ask = { model: 'acme/small', messages: [{ role: 'user', content: 'word '.repeat(100_000) }], max_tokens: 10 };
    const test = gatewayWith();
    await test.call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 0.1 });
    expect((await test.post({ ...ask, plugins: off })).status).toBe(402);
    expect((await test.post(ask)).status).toBe(200);
  });
});

it('the cheapest body that costs the most time: 9,000 messages', async () => {
  const many = Array.from({ length: 9_000 }, (_, at) => ({ role: at % 2 ? 'assistant' : 'user', content: 'a' }));
  const test = gatewayWith();
  expect((await test.post({ model: 'acme/small', messages: many, max_tokens: 1 })).status).toBe(200);
  expect(sentCounts(test)[0]).toBeLessThan(1_000);
});
