import { describe, expect, it } from 'vitest';
import type { GatewayOptions } from '../../src/options.ts';
import { batchEmbedContentsResultSchema, embedContentResultSchema } from '../../src/schema/gemini/embed.ts';
import { testGateway, testKey, upstreamKeys } from '../support/gateway.ts';

const asCaller = { authorization: `Bearer ${testKey}` };
const path = '/models/acme/embed';
const text = (words: string) => ({ parts: [{ text: words }] });

/** A gateway before a server like OpenAI's. */
function gateway(options: Partial<GatewayOptions> = {}) {
  return testGateway({
    providers: { up: { baseUrl: 'https://up.test/v1', apiKey: upstreamKeys.up } },
    models: [
      { slug: 'acme/embed', endpoints: [{ provider: 'up', model: 'up-embed', pricing: { prompt: '0.000001' } }] },
    ],
    ...options,
  });
}

const vectors = (...list: number[][]) => ({
  body: {
    object: 'list',
    data: list.map((embedding, index) => ({ object: 'embedding', index, embedding })),
    usage: { prompt_tokens: list.length, total_tokens: list.length },
  },
});

describe('POST /v1beta/models/{model}:embedContent', () => {
  it('makes a vector at any provider, and is recorded and paid', async () => {
    const { call, upstream, records } = gateway();
    upstream.answer(vectors([1, 0]));
    const body = {
      model: 'models/acme/embed',
      content: text('Hi'),
      task_type: 'RETRIEVAL_QUERY',
      outputDimensionality: 2,
    };
    const { status, json } = await call('POST', `${path}:embedContent`, body, asCaller);
    expect([status, json]).toEqual([200, { embedding: { values: [1, 0] }, usageMetadata: { promptTokenCount: 1 } }]);
    expect(embedContentResultSchema().safeParse(json).success).toBe(true);
    expect(upstream.sent[0]?.body).toMatchObject({ model: 'up-embed', input: ['Hi'], dimensions: 2 });
    expect(records).toMatchObject([{ operation: 'embedContent', outcome: 'ok', costNanoUsd: 1_000 }]);
  });
  it('reads settings where newer clients write them, and says what no provider gets', async () => {
    const { call, upstream } = gateway();
    upstream.answer(vectors([1]));
    const body = { content: text('Hi'), embedContentConfig: { output_dimensionality: 1, title: 'A title' } };
    const { status, headers } = await call('POST', `${path}:embedContent`, body, asCaller);
    expect([status, headers.get('x-service-dropped')]).toEqual([200, expect.stringContaining('title')]);
    expect(upstream.sent[0]?.body).toMatchObject({ dimensions: 1 });
  });
  it.each<[string, object, string]>([
    ['no content', {}, 'content'],
    ['an empty text', { content: text('') }, 'content.parts[0]'],
    [
      'a part that no vector is made of',
      { content: { parts: [{ fileData: { fileUri: 'gs://a/b' } }] } },
      'content.parts[0]',
    ],
    ['another model than the path', { content: text('Hi'), model: 'models/other' }, 'model'],
    ['a field that nobody knows', { content: text('Hi'), colour: 'red' }, 'colour'],
    ['a field in both spellings', { content: text('Hi'), task_type: 'A', taskType: 'B' }, 'task_type'],
  ])('refuses %s, in the envelope of this wire', async (_, body, place) => {
    const { call, upstream } = gateway();
    const { status, json } = await call('POST', `${path}:embedContent`, body, asCaller);
    expect([status, json.error.status, json.error.message.startsWith(`${place}:`)]).toEqual([
      400,
      'INVALID_ARGUMENT',
      true,
    ]);
    expect(upstream.sent).toEqual([]);
  });
  it('is held before it is sent, and refused in the words of this wire', async () => {
    const { call, upstream } = gateway();
    await call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 0.000001 });
    const { status, json } = await call('POST', `${path}:embedContent`, { content: text('a'.repeat(99)) }, asCaller);
    expect([status, json.error.status, upstream.sent]).toEqual([402, expect.any(String), []]);
  });
});

describe('POST /v1beta/models/{model}:batchEmbedContents', () => {
  it('makes a vector of each item, in their order', async () => {
    const { call, upstream } = gateway();
    upstream.answer(vectors([1], [2]));
    const requests = [{ content: text('a') }, { content: { parts: [{ text: 'b' }] } }];
    const { status, json } = await call('POST', `${path}:batchEmbedContents`, { requests }, asCaller);
    expect([status, json.embeddings]).toEqual([200, [{ values: [1] }, { values: [2] }]]);
    expect(batchEmbedContentsResultSchema().safeParse(json).success).toBe(true);
    expect(upstream.sent[0]?.body).toMatchObject({ input: ['a', 'b'] });
  });
  it('refuses items with other settings than the first, and more than the option says', async () => {
    const { call } = gateway({ limits: { embeddingItems: 2 } });
    const ask = async (requests: object[]) =>
      (await call('POST', `${path}:batchEmbedContents`, { requests }, asCaller)).json.error?.message;
    expect(await ask([{ content: text('a') }, { content: text('b'), taskType: 'CLUSTERING' }])).toBe(
      'requests[1].taskType: expected the same in all requests',
    );
    expect(await ask([1, 2, 3].map(() => ({ content: text('a') })))).toBe('requests: expected at most 2 items');
  });
});

it('a model for embeddings says which calls it has', async () => {
  const { call } = gateway({
    models: [
      {
        slug: 'acme/embed',
        outputModalities: ['embeddings'],
        endpoints: [{ provider: 'up', model: 'e', pricing: { prompt: '0.000001' } }],
      },
    ],
  });
  const { json } = await call('GET', '/v1beta/models/acme/embed', undefined, asCaller);
  expect(json.supportedGenerationMethods).toEqual(['embedContent', 'batchEmbedContents']);
});
