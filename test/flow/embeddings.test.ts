import { createOpenAI } from '@ai-sdk/openai';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import type { GatewayOptions } from '../../src/options.ts';
import { embeddingsResultSchema } from '../../src/schema/embeddings/result.ts';
import { testGateway, testKey, upstreamKeys } from '../support/gateway.ts';

const asCaller = { authorization: `Bearer ${testKey}` };
const price = { prompt: '0.000001' };

/** Vectors as OpenAI's own SDK types them: `CreateEmbeddingResponse` of openai 7. */
function vectors(
  items: readonly (readonly number[] | string)[],
  tokens: number | null = items.length,
): { body: object } {
  return {
    body: {
      object: 'list',
      model: 'upstream-embed',
      data: items.map((embedding, index) => ({ object: 'embedding', index, embedding })),
      ...(tokens === null ? {} : { usage: { prompt_tokens: tokens, total_tokens: tokens } }),
    },
  };
}

function gatewayWith(quirks: object = {}, options: Partial<GatewayOptions> = {}) {
  return testGateway({
    providers: {
      up: { baseUrl: 'https://up.test/v1', apiKey: upstreamKeys.up, name: 'Up', quirks: { embeddings: quirks } },
      alt: { baseUrl: 'https://alt.test/v1', apiKey: upstreamKeys.alt, name: 'Alt', quirks: { embeddings: quirks } },
    },
    models: [
      {
        slug: 'acme/embed',
        endpoints: [
          { provider: 'up', model: 'up-embed', pricing: price },
          { provider: 'alt', model: 'alt-embed', pricing: price },
        ],
        fallbacks: ['acme/other-embed'],
      },
      { slug: 'acme/other-embed', endpoints: [{ provider: 'alt', model: 'other-embed', pricing: price }] },
      {
        slug: 'acme/chat',
        endpoints: [{ provider: 'up', model: 'up-chat', pricing: { ...price, completion: '0.000002' } }],
      },
    ],
    retry: { attemptsPerEndpoint: 1, maxAttempts: 4 },
    ...options,
  } as Partial<GatewayOptions>);
}

describe('POST /embeddings', () => {
  it('answers with the vectors of a server like OpenAI’s, with usage and cost', async () => {
    const t = gatewayWith();
    t.upstream.answer(vectors([[0.1, 0.2]], 2));
    const { status, json } = await t.call('POST', '/embeddings', { model: 'acme/embed', input: 'two words' }, asCaller);
    expect(status).toBe(200);
    expect(embeddingsResultSchema().parse(json)).toMatchObject({
      object: 'list',
      model: 'acme/embed',
      data: [{ object: 'embedding', index: 0, embedding: [0.1, 0.2] }],
      usage: { prompt_tokens: 2, total_tokens: 2, cost: 0.000002, is_byok: false },
    });
    expect(t.upstream.sent[0]?.url).toBe('https://up.test/v1/embeddings');
    expect(t.upstream.sent[0]?.body).toEqual({ model: 'up-embed', input: ['two words'] });
    expect(t.records[0]).toMatchObject({ operation: 'createEmbeddings', costNanoUsd: 2000, outcome: 'ok' });
  });

  it('gives base64 of float32 to a client that asks for it, whichever form the provider has', async () => {
    const t = gatewayWith({ encodingField: null });
    t.upstream.answer(vectors([[1, -2.5]]));
    const asked = { model: 'acme/embed', input: ['a'], encoding_format: 'base64' };
    const { json } = await t.call('POST', '/embeddings', asked, asCaller);
    const bytes = Buffer.from(json.data[0].embedding, 'base64');
    expect([bytes.readFloatLE(0), bytes.readFloatLE(4), bytes.length]).toEqual([1, -2.5, 8]);
    expect(t.upstream.sent[0]?.body).not.toHaveProperty('encoding_format');

    const other = gatewayWith();
    other.upstream.answer(vectors([json.data[0].embedding]));
    const floats = await other.call('POST', '/embeddings', { model: 'acme/embed', input: 'a' }, asCaller);
    expect(floats.json.data[0].embedding).toEqual([1, -2.5]);
  });

  it('splits a list into what the provider takes, and joins it by index', async () => {
    const t = gatewayWith({ items: 2 });
    const seen: string[][] = [];
    t.upstream.always(
      vectors([
        [1, 1],
        [2, 2],
      ]),
    );
    const input = ['a', 'b', 'c', 'd'];
    const { json, status } = await t.call('POST', '/embeddings', { model: 'acme/embed', input }, asCaller);
    for (const { body } of t.upstream.sent) seen.push(body.input as string[]);
    expect(status).toBe(200);
    expect(seen.sort()).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ]);
    expect(
      json.data.map(({ index, embedding }: { index: number; embedding: number[] }) => [index, embedding[0]]),
    ).toEqual([
      [0, 1],
      [1, 2],
      [2, 1],
      [3, 2],
    ]);
    expect(json.usage.prompt_tokens).toBe(4);
    // One attempt for all of it.
    expect(t.records[0]?.attempts).toHaveLength(1);
  });

  it('keeps what was received when a part fails, books it, and asks the next endpoint of the model for the rest', async () => {
    const t = gatewayWith({ items: 1 });
    t.upstream.answer(vectors([[1, 0]], 1), { status: 500, body: { error: { message: 'no' } } }, vectors([[0, 1]], 1));
    const { json, status } = await t.call('POST', '/embeddings', { model: 'acme/embed', input: ['a', 'b'] }, asCaller);
    expect(status).toBe(200);
    expect(json.data.map(({ embedding }: { embedding: number[] }) => embedding)).toEqual([
      [1, 0],
      [0, 1],
    ]);
    expect(t.upstream.sent.map(({ url }) => new URL(url).host)).toEqual(['up.test', 'up.test', 'alt.test']);
    expect(json.usage).toMatchObject({ prompt_tokens: 2, cost: 0.000002 });
    expect(t.records[0]).toMatchObject({
      costNanoUsd: 2000,
      attempts: [{ status: 500, costNanoUsd: 1000 }, { status: 200 }],
    });
  });

  it('never falls back to another model unless the request lists it', async () => {
    const t = gatewayWith();
    t.upstream.always({ status: 500, body: {} });
    const { status } = await t.call('POST', '/embeddings', { model: 'acme/embed', input: 'a' }, asCaller);
    expect(status).toBeGreaterThanOrEqual(500);
    expect(t.upstream.sent.map(({ body }) => body.model)).toEqual(['up-embed', 'alt-embed']);

    const listed = gatewayWith();
    listed.upstream.answer({ status: 400, body: { error: { message: 'too long' } } }, vectors([[3, 4]]));
    const asked = { model: 'acme/embed', models: ['acme/other-embed'], input: 'a' };
    expect((await listed.call('POST', '/embeddings', asked, asCaller)).json.model).toBe('acme/other-embed');
  });

  it('refuses vectors of another length than was asked for', async () => {
    const t = gatewayWith();
    t.upstream.always(vectors([[1, 2, 3]]));
    const { status, text } = await t.call(
      'POST',
      '/embeddings',
      { model: 'acme/embed', input: 'a', dimensions: 2 },
      asCaller,
    );
    expect([status, text]).toEqual([502, expect.stringContaining('3 numbers instead of 2')]);
  });

  it('keeps tasks apart both ways, and says why', async () => {
    const t = gatewayWith();
    const embed = await t.call('POST', '/embeddings', { model: 'acme/chat', input: 'a' }, asCaller);
    expect(embed.json.error).toMatchObject({ code: 404, message: expect.stringContaining('no model for embeddings') });
    const chat = await t.post({ model: 'acme/embed', messages: [{ role: 'user', content: 'Hi' }] });
    expect(chat.json.error).toMatchObject({ code: 404, message: expect.stringContaining('no model for chat') });
    const router = await t.call('POST', '/embeddings', { model: 'service/auto', input: 'a' }, asCaller);
    expect(router.json.error).toMatchObject({ code: 400, message: expect.stringContaining('name a model for it') });
    expect(t.upstream.sent).toEqual([]);
  });

  it('sends token ids only where they are understood', async () => {
    const t = gatewayWith();
    t.upstream.answer(vectors([[1], [2]], 5));
    await t.call(
      'POST',
      '/embeddings',
      {
        model: 'acme/embed',
        input: [
          [1, 2],
          [3, 4, 5],
        ],
      },
      asCaller,
    );
    expect(t.upstream.sent[0]?.body.input).toEqual([
      [1, 2],
      [3, 4, 5],
    ]);
    const other = gatewayWith({ tokenInputs: false });
    const { status, json } = await other.call('POST', '/embeddings', { model: 'acme/embed', input: [1, 2] }, asCaller);
    expect([status, json.error.message]).toEqual([400, 'input[0]: expected a text: it takes no token ids']);
  });

  it.each([
    [{ input: '' }],
    [{ input: [] }],
    [{ input: ['a', ''] }],
    [{ input: 'a', encoding_format: 'int8' }],
    [{ input: 'a', dimensions: 0 }],
    [{ input: 'a', colour: 'red' }],
    [{ input: Array.from({ length: 2049 }, () => 'a') }],
  ])('refuses %j', async (fields) => {
    const t = gatewayWith();
    const { status } = await t.call('POST', '/embeddings', { model: 'acme/embed', ...fields }, asCaller);
    expect([status, t.upstream.sent]).toEqual([400, []]);
  });

  it('takes as many items as the option says', async () => {
    const t = gatewayWith({}, { limits: { embeddingItems: 1 } });
    const { status, json } = await t.call('POST', '/embeddings', { model: 'acme/embed', input: ['a', 'b'] }, asCaller);
    expect([status, json.error.message, t.upstream.sent]).toEqual([400, 'input: expected at most 1 items', []]);
  });

  it('marks a use that the provider did not report, or that cannot be true, as an estimate', async () => {
    const t = gatewayWith();
    t.upstream.answer(vectors([[1]], null), vectors([[1]], 1_000_000));
    const first = await t.call('POST', '/embeddings', { model: 'acme/embed', input: 'some words here' }, asCaller);
    expect(first.json.usage).toMatchObject({ estimated: true, prompt_tokens: expect.any(Number) });
    const second = await t.call('POST', '/embeddings', { model: 'acme/embed', input: 'some words here' }, asCaller);
    expect(second.json.usage.prompt_tokens).toBeLessThan(200);
  });

  it('holds the money of all parts before the first is sent', async () => {
    const t = gatewayWith({ items: 1 });
    await t.call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 0.0001 });
    const { status, json } = await t.call(
      'POST',
      '/embeddings',
      { model: 'acme/embed', input: ['a'.repeat(60), 'b'.repeat(60)] },
      asCaller,
    );
    expect([status, json.error?.metadata?.error_type ?? null, t.upstream.sent]).toEqual([402, expect.any(String), []]);
  });

  it('shows guardrails every text before it leaves, and sends what they leave', async () => {
    const guardrails = [
      {
        id: 'names',
        before: (request: { messages: { content: string }[] }) => ({
          ...request,
          messages: request.messages.map((one) => ({ ...one, content: one.content.replace('Alice', '[name]') })),
        }),
      },
    ];
    const t = gatewayWith({}, { guardrails } as unknown as Partial<GatewayOptions>);
    t.upstream.answer(vectors([[1], [2]]));
    await t.call('POST', '/embeddings', { model: 'acme/embed', input: ['Alice', 'Bob'] }, asCaller);
    expect(t.upstream.sent[0]?.body.input).toEqual(['[name]', 'Bob']);
    const tokens = await t.call('POST', '/embeddings', { model: 'acme/embed', input: [1, 2] }, asCaller);
    expect([tokens.status, tokens.json.error.message]).toEqual([403, expect.stringContaining('cannot read token ids')]);
  });

  it('lists the models for embeddings', async () => {
    const t = gatewayWith();
    const { json } = await t.call('GET', '/embeddings/models', undefined, asCaller);
    const all = await t.call('GET', '/models?output_modalities=embeddings', undefined, asCaller);
    expect(json.data.map(({ id }: { id: string }) => id)).toEqual(['acme/embed', 'acme/other-embed']);
    expect(all.json.data).toEqual(json.data);
    expect(json.data[0].architecture.output_modalities).toEqual(['embeddings']);
    const text = await t.call('GET', '/models', undefined, asCaller);
    expect(text.json.data.map(({ id }: { id: string }) => id)).toEqual(['acme/chat']);
  });

  it('explains the route and the hold without calling anybody', async () => {
    const t = gatewayWith();
    const { status, json } = await t.call('POST', '/embeddings/explain', { model: 'acme/embed', input: 'a' }, asCaller);
    expect([status, json.data.candidates.map(({ provider }: { provider: string }) => provider)]).toEqual([
      200,
      ['up', 'alt'],
    ]);
    expect(json.data.candidates[0].ceiling_usd).toBeGreaterThan(0);
    expect(t.upstream.sent).toEqual([]);
  });

  it('is answered by the sandbox with vectors of length 1, always the same', async () => {
    const t = testGateway({ providers: { sandbox: {} }, models: [] });
    const ask = () =>
      t.call('POST', '/embeddings', { model: 'sandbox/embed', input: ['red apple', 'green apple'] }, asCaller);
    const [one, two] = [await ask(), await ask()];
    expect(one.status).toBe(200);
    expect(one.json.data).toEqual(two.json.data);
    for (const { embedding } of one.json.data) expect(Math.hypot(...embedding)).toBeCloseTo(1, 5);
    const failing = await t.call('POST', '/embeddings', { model: 'sandbox/rate-limited', input: 'a' }, asCaller);
    expect(failing.status).toBe(429);
  });

  it('is a typed function in process', async () => {
    const t = gatewayWith();
    t.upstream.answer(vectors([[0.5]]));
    const { data, usage } = await t.run(t.gateway.embeddings.create({ model: 'acme/embed', input: 'a' }));
    expect([data[0]?.embedding, usage.prompt_tokens]).toEqual([[0.5], 1]);
  });
});

describe('client libraries', () => {
  it('of OpenAI get vectors by their default, which is base64, and by float', async () => {
    const t = gatewayWith();
    t.upstream.answer(
      vectors([Buffer.from(new Float32Array([0.25, -1]).buffer).toString('base64')]),
      vectors([[0.25, -1]]),
    );
    const client = new OpenAI({
      apiKey: testKey,
      baseURL: 'http://gateway.test/v1',
      fetch: t.gateway.fetch,
      maxRetries: 0,
    });
    const usual = await t.run(client.embeddings.create({ model: 'acme/embed', input: 'a' }));
    expect([...(usual.data[0]?.embedding ?? [])]).toEqual([0.25, -1]);
    expect(t.upstream.sent[0]?.body.encoding_format).toBe('base64');
    const floats = await t.run(client.embeddings.create({ model: 'acme/embed', input: 'a', encoding_format: 'float' }));
    expect(floats.data[0]?.embedding).toEqual([0.25, -1]);
  });

  it('of the AI SDK embed many values', async () => {
    const t = gatewayWith();
    t.upstream.always(
      vectors([
        [1, 0],
        [0, 1],
      ]),
    );
    const provider = createOpenAI({ apiKey: testKey, baseURL: 'http://gateway.test/v1', fetch: t.gateway.fetch });
    const model = provider.embeddingModel('acme/embed');
    const { embeddings } = await t.run(Promise.resolve(model.doEmbed({ values: ['a', 'b'] })));
    expect(embeddings).toEqual([
      [1, 0],
      [0, 1],
    ]);
  });
});

describe('a client that leaves', () => {
  it('pays for what was in flight, and the hold is given back', async () => {
    const t = gatewayWith({ items: 1 });
    await t.call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 1 });
    t.upstream.answer(vectors([[1]]), { instead: 'hang' });
    const controller = new AbortController();
    const request = new Request('http://gateway.test/v1/embeddings', {
      method: 'POST',
      headers: { ...asCaller, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'acme/embed', input: ['a', 'b'] }),
      signal: controller.signal,
    });
    const pending = t.gateway.fetch(request).catch(() => undefined);
    await t.clock.advance(1_000);
    controller.abort();
    await pending;
    await t.gateway.flush();
    const [record] = t.records;
    expect(record).toMatchObject({ outcome: 'cancelled', status: 499, overrunNanoUsd: 0 });
    // One item was served, for a token; the other may have been.
    expect(record?.costNanoUsd).toBeGreaterThan(1_000);
    expect(record?.costNanoUsd).toBeLessThanOrEqual(record?.heldNanoUsd ?? 0);
  });
});
