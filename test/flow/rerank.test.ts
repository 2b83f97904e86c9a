import { describe, expect, it } from 'vitest';
import type { GatewayOptions } from '../../src/options.ts';
import { rerankResultSchema } from '../../src/schema/rerank/result.ts';
import { testGateway, testKey, upstreamKeys } from '../support/gateway.ts';

const asCaller = { authorization: `Bearer ${testKey}` };

/** A ranking of Cohere, as `V2RerankResponse` of cohere-ai 8 has it. */
const ofCohere = {
  id: 'x',
  results: [
    { index: 2, relevance_score: 0.1 },
    { index: 0, relevance_score: 0.9 },
  ],
  meta: { billed_units: { search_units: 1 } },
};

function gateway(options: Partial<GatewayOptions> = {}) {
  return testGateway({
    ...options,
    providers: {
      cohere: { apiKey: upstreamKeys.up },
      voyage: { apiKey: upstreamKeys.alt },
    },
    models: [
      {
        slug: 'acme/rerank',
        endpoints: [{ provider: 'cohere', model: 'rerank-v4', pricing: { prompt: '0', searchUnit: '0.002' } }],
      },
      {
        slug: 'acme/voyage-rerank',
        endpoints: [{ provider: 'voyage', model: 'rerank-2.5', pricing: { prompt: '0.00000005' } }],
      },
    ],
  });
}

describe('POST /rerank', () => {
  it('ranks by search units at Cohere, the best first', async () => {
    const t = gateway();
    t.upstream.answer({ body: ofCohere });
    const asked = {
      model: 'acme/rerank',
      query: 'q',
      documents: ['a', { text: 'b' }, 'c'],
      top_n: 2,
      return_documents: true,
    };
    const { status, json } = await t.call('POST', '/rerank', asked, asCaller);
    expect(status).toBe(200);
    expect(rerankResultSchema().parse(json)).toMatchObject({
      model: 'acme/rerank',
      provider: 'Cohere',
      results: [
        { index: 0, relevance_score: 0.9, document: { text: 'a' } },
        { index: 2, relevance_score: 0.1, document: { text: 'c' } },
      ],
      usage: { search_units: 1, cost: 0.002 },
    });
    expect(t.upstream.sent[0]?.url).toBe('https://api.cohere.com/v2/rerank');
    expect(t.upstream.sent[0]?.body).toEqual({ model: 'rerank-v4', query: 'q', documents: ['a', 'b', 'c'], top_n: 2 });
  });

  it('ranks by tokens at Voyage, whose list is under data', async () => {
    const t = gateway();
    t.upstream.answer({
      body: { object: 'list', data: [{ index: 0, relevance_score: 0.5 }], usage: { total_tokens: 20 } },
    });
    const { json } = await t.call(
      'POST',
      '/rerank',
      { model: 'acme/voyage-rerank', query: 'q', documents: ['a'] },
      asCaller,
    );
    expect(json).toMatchObject({
      results: [{ index: 0, relevance_score: 0.5 }],
      usage: { total_tokens: 20, cost: 0.000001 },
    });
    expect(t.upstream.sent[0]?.body).toMatchObject({ truncation: false, return_documents: false });
  });

  it.each([
    [
      'a document twice',
      [
        { index: 0, relevance_score: 1 },
        { index: 0, relevance_score: 1 },
      ],
    ],
    ['a document that is not there', [{ index: 7, relevance_score: 1 }]],
    ['no score', [{ index: 0 }]],
  ])('refuses a ranking with %s', async (_, results) => {
    const t = gateway();
    t.upstream.always({ body: { ...ofCohere, results } });
    const { status } = await t.call(
      'POST',
      '/rerank',
      { model: 'acme/rerank', query: 'q', documents: ['a', 'b'] },
      asCaller,
    );
    expect(status).toBe(502);
  });

  it('takes as many documents as the option says', async () => {
    const t = gateway({ limits: { rerankDocuments: 1 } });
    const body = { model: 'acme/rerank', query: 'q', documents: ['a', 'b'] };
    const { status, json } = await t.call('POST', '/rerank', body, asCaller);
    expect([status, json.error.message, t.upstream.sent]).toEqual([400, 'documents: expected at most 1 documents', []]);
  });

  it('answers the clients of Cohere and of Voyage AI as they expect it', async () => {
    const t = gateway();
    t.upstream.always({ body: ofCohere });
    const asked = { model: 'acme/rerank', query: 'q', documents: ['a', 'b', 'c'], return_documents: true };
    const ofCohereClient = await t.run(
      t.gateway.fetch('http://gateway.test/v2/rerank', {
        method: 'POST',
        headers: { ...asCaller, 'content-type': 'application/json' },
        body: JSON.stringify({ ...asked, top_n: 2 }),
      }),
    );
    expect(ofCohereClient.status).toBe(200);
    expect(await ofCohereClient.json()).toMatchObject({ meta: { billed_units: { search_units: 1 } } });
    const { json } = await t.call('POST', '/rerank', { ...asked, top_k: 2 }, asCaller);
    expect(json).toMatchObject({
      object: 'list',
      data: [{ index: 0, relevance_score: 0.9, document: 'a' }, { index: 2 }],
    });
    const both = await t.call('POST', '/rerank', { ...asked, top_k: 2, top_n: 1 }, asCaller);
    expect([both.status, both.json.error.message]).toEqual([
      400,
      'top_k: expected the same number as top_n, whose other name it is',
    ]);
  });

  it('books no more search units than there can be', async () => {
    const t = gateway();
    t.upstream.answer({
      body: { ...ofCohere, results: [{ index: 0, relevance_score: 1 }], meta: { billed_units: { search_units: 999 } } },
    });
    const { json } = await t.call('POST', '/rerank', { model: 'acme/rerank', query: 'q', documents: ['a'] }, asCaller);
    expect(json.usage).toMatchObject({ search_units: 1, cost: 0.002 });
  });
});

describe('POST /moderations', () => {
  it('tells what OpenAI tells, for nothing', async () => {
    const t = testGateway({ providers: { openai: { apiKey: upstreamKeys.up } }, models: [] });
    t.upstream.answer({
      body: {
        id: 'modr-1',
        model: 'omni',
        results: [{ flagged: true, categories: { violence: true, illicit: null }, category_scores: { violence: 0.8 } }],
      },
    });
    const asked = { model: 'openai/omni-moderation-latest', input: 'I will hit you' };
    const { status, json } = await t.call('POST', '/moderations', asked, asCaller);
    expect([status, json.results[0]]).toEqual([
      200,
      { flagged: true, categories: { violence: true, illicit: null }, category_scores: { violence: 0.8 } },
    ]);
    expect(t.records[0]).toMatchObject({ operation: 'createModerations', costNanoUsd: 0 });
  });
});
