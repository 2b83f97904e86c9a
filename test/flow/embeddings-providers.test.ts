import { describe, expect, it } from 'vitest';
import type { GatewayOptions } from '../../src/options.ts';
import { testGateway, testKey } from '../support/gateway.ts';

// Shapes of responses: from the types of the providers' own SDKs (cohere-ai 8.1, voyageai 0.4, @google/genai 3.3,
// @mistralai/mistralai 2.7, together-ai 0.52), and from the public descriptions of Vertex AI, Bedrock and Jina.

const asCaller = { authorization: `Bearer ${testKey}` };
const key = 'sk-upstream-0123456789abcdef';

/** A vector of 256 numbers. */
const long: number[] = new Array(256).fill(1);

interface Case {
  provider: string;
  settings?: object;
  model: string;
  asked: Record<string, unknown>;
  /** The responses, one for each request. */
  answers: readonly { body: object; headers?: Record<string, string> }[];
  url: string;
  sent: readonly object[];
  vectors: readonly (readonly number[])[];
  tokens: number;
}

const cases: Readonly<Record<string, Case>> = {
  'Cohere, which needs an input_type': {
    provider: 'cohere',
    model: 'embed-v4.0',
    asked: { input: ['a', 'b'], dimensions: 256 },
    answers: [{ body: { id: 'x', embeddings: { float: [long, long] }, meta: { billed_units: { input_tokens: 2 } } } }],
    url: 'https://api.cohere.com/v2/embed',
    sent: [
      {
        model: 'embed-v4.0',
        input_type: 'search_document',
        texts: ['a', 'b'],
        output_dimension: 256,
        embedding_types: ['float'],
        truncate: 'NONE',
      },
    ],
    vectors: [long, long],
    tokens: 2,
  },
  'Cohere, with pictures': {
    provider: 'cohere',
    model: 'embed-v4.0',
    asked: {
      input: [
        {
          content: [
            { type: 'text', text: 'a' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
          ],
        },
      ],
      input_type: 'search_query',
    },
    answers: [
      {
        body: {
          embeddings: { float: [[1, 2]] },
          meta: { billed_units: { input_tokens: 1, image_tokens: 9, images: 1 } },
        },
      },
    ],
    url: 'https://api.cohere.com/v2/embed',
    sent: [
      {
        model: 'embed-v4.0',
        input_type: 'search_query',
        inputs: [
          {
            content: [
              { type: 'text', text: 'a' },
              { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
            ],
          },
        ],
        embedding_types: ['float'],
        truncate: 'NONE',
      },
    ],
    vectors: [[1, 2]],
    tokens: 10,
  },
  'Voyage, which would cut in silence': {
    provider: 'voyage',
    model: 'voyage-4',
    asked: { input: 'a', input_type: 'search_query', dimensions: 2 },
    answers: [
      {
        body: {
          object: 'list',
          data: [{ object: 'embedding', embedding: [1, 2], index: 0 }],
          model: 'voyage-4',
          usage: { total_tokens: 3 },
        },
      },
    ],
    url: 'https://api.voyageai.com/v1/embeddings',
    sent: [{ model: 'voyage-4', input: ['a'], truncation: false, output_dimension: 2, input_type: 'query' }],
    vectors: [[1, 2]],
    tokens: 3,
  },
  'Jina, which has tasks': {
    provider: 'jina',
    model: 'jina-embeddings-v4',
    asked: { input: 'a', input_type: 'search_document' },
    answers: [{ body: { data: [{ embedding: [1, 2], index: 0 }], usage: { prompt_tokens: 4, total_tokens: 4 } } }],
    url: 'https://api.jina.ai/v1/embeddings',
    sent: [{ model: 'jina-embeddings-v4', input: ['a'], task: 'retrieval.passage' }],
    vectors: [[1, 2]],
    tokens: 4,
  },
  'Mistral, with its own word for dimensions': {
    provider: 'mistral',
    model: 'codestral-embed',
    asked: { input: 'a', dimensions: 2, user: 'u' },
    answers: [
      {
        body: {
          data: [{ embedding: [1, 2], index: 0, object: 'embedding' }],
          usage: { prompt_tokens: 5, completion_tokens: 0, total_tokens: 5 },
        },
      },
    ],
    url: 'https://api.mistral.ai/v1/embeddings',
    sent: [{ model: 'codestral-embed', input: ['a'], output_dimension: 2 }],
    vectors: [[1, 2]],
    tokens: 5,
  },
  'Gemini, a hundred at a time': {
    provider: 'google-ai-studio',
    model: 'gemini-embedding-001',
    asked: { input: ['a', 'b'], dimensions: 2, input_type: 'search_query' },
    answers: [
      { body: { embeddings: [{ values: [3, 4] }, { values: [0, 2] }], usageMetadata: { promptTokenCount: 6 } } },
    ],
    url: 'https://generativelanguage.googleapis.com/v1beta/models/gemini-embedding-001:batchEmbedContents',
    sent: [
      {
        requests: ['a', 'b'].map((text) => ({
          model: 'models/gemini-embedding-001',
          content: { parts: [{ text }] },
          taskType: 'RETRIEVAL_QUERY',
          outputDimensionality: 2,
        })),
      },
    ],
    // What was shortened comes back with another length than 1.
    vectors: [
      [0.6, 0.8],
      [0, 1],
    ],
    tokens: 6,
  },
  'Vertex AI, one item at a time for Gemini': {
    provider: 'google-vertex',
    model: 'gemini-embedding-001',
    asked: { input: ['a', 'b'] },
    answers: [
      { body: { predictions: [{ embeddings: { values: [1], statistics: { token_count: 2, truncated: false } } }] } },
      { body: { predictions: [{ embeddings: { values: [1], statistics: { token_count: 2, truncated: false } } }] } },
    ],
    url: 'https://aiplatform.googleapis.com/v1beta1/publishers/google/models/gemini-embedding-001:predict',
    sent: [
      { instances: [{ content: 'a' }], parameters: { autoTruncate: false } },
      { instances: [{ content: 'b' }], parameters: { autoTruncate: false } },
    ],
    vectors: [[1], [1]],
    tokens: 4,
  },
  'Vertex AI, by embedContent for the newest': {
    provider: 'google-vertex',
    model: 'gemini-embedding-2',
    asked: { input: 'a' },
    answers: [{ body: { embedding: { values: [1] }, usageMetadata: { promptTokenCount: 2 } } }],
    url: 'https://aiplatform.googleapis.com/v1beta1/publishers/google/models/gemini-embedding-2:embedContent',
    sent: [{ content: { parts: [{ text: 'a' }] }, embedContentConfig: { autoTruncate: false } }],
    vectors: [[1]],
    tokens: 2,
  },
  'Titan at Bedrock, a request for each text': {
    provider: 'amazon-bedrock',
    settings: { credential: { region: 'us-east-1' } },
    model: 'amazon.titan-embed-text-v2:0',
    asked: { input: ['a', 'b'], dimensions: 2 },
    answers: [
      { body: { embedding: [1, 0], inputTextTokenCount: 3 } },
      { body: { embedding: [1, 0], inputTextTokenCount: 3 } },
    ],
    url: 'https://bedrock-runtime.us-east-1.amazonaws.com/model/amazon.titan-embed-text-v2%3A0/invoke',
    sent: [
      { inputText: 'a', dimensions: 2, normalize: true },
      { inputText: 'b', dimensions: 2, normalize: true },
    ],
    vectors: [
      [1, 0],
      [1, 0],
    ],
    tokens: 6,
  },
  'Cohere at Bedrock, which counts in a header': {
    provider: 'amazon-bedrock',
    settings: { credential: { region: 'us-east-1' } },
    model: 'us.cohere.embed-v4:0',
    asked: { input: 'a' },
    answers: [{ body: { embeddings: { float: [[1, 2]] } }, headers: { 'x-amzn-bedrock-input-token-count': '7' } }],
    url: 'https://bedrock-runtime.us-east-1.amazonaws.com/model/us.cohere.embed-v4%3A0/invoke',
    sent: [{ input_type: 'search_document', texts: ['a'], embedding_types: ['float'], truncate: 'NONE' }],
    vectors: [[1, 2]],
    tokens: 7,
  },
};

function gatewayOf({ provider, settings = {}, model }: Pick<Case, 'provider' | 'settings' | 'model'>) {
  return testGateway({
    providers: { [provider]: { apiKey: key, ...settings } },
    models: [{ slug: 'acme/embed', endpoints: [{ provider, model, pricing: { prompt: '0.000001' } }] }],
    retry: { maxAttempts: 1 },
  } as Partial<GatewayOptions>);
}

describe('embeddings of', () => {
  it.each(Object.entries(cases))('%s', async (_, one) => {
    const t = gatewayOf(one);
    t.upstream.answer(...one.answers);
    const { status, json } = await t.call('POST', '/embeddings', { model: 'acme/embed', ...one.asked }, asCaller);
    expect(t.upstream.sent.map(({ body }) => body)).toEqual(one.sent);
    expect(t.upstream.sent[0]?.url).toBe(one.url);
    expect(status).toBe(200);
    for (const [at, vector] of one.vectors.entries())
      for (const [place, number] of vector.entries()) expect(json.data[at].embedding[place]).toBeCloseTo(number, 6);
    expect(json.usage.prompt_tokens).toBe(one.tokens);
  });

  it('Together have no use: it is estimated, and marked', async () => {
    const t = gatewayOf({ provider: 'together', model: 'BAAI/bge-large-en-v1.5' });
    t.upstream.answer({ body: { object: 'list', data: [{ embedding: [1], index: 0, object: 'embedding' }] } });
    const { json } = await t.call('POST', '/embeddings', { model: 'acme/embed', input: 'some words' }, asCaller);
    expect(json.usage).toMatchObject({ estimated: true });
    const refused = await t.call('POST', '/embeddings', { model: 'acme/embed', input: 'a', dimensions: 3 }, asCaller);
    expect([refused.status, refused.json.error.message]).toEqual([
      400,
      expect.stringContaining('dimensions: expected none'),
    ]);
  });

  it.each(['cohere', 'google-ai-studio', 'voyage'])('%s take no token ids, and are not asked', async (provider) => {
    const t = gatewayOf({ provider, model: 'm-embed' });
    const { status } = await t.call('POST', '/embeddings', { model: 'acme/embed', input: [1, 2, 3] }, asCaller);
    expect([status, t.upstream.sent]).toEqual([400, []]);
  });
});
