import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../../src/base/errors.ts';
import type { Model } from '../../../../src/call/model.ts';
import { countModels } from '../../../../src/operations/models/count.ts';
import { listModels } from '../../../../src/operations/models/list.ts';
import { listUserModels } from '../../../../src/operations/models/list-of-user.ts';
import { modelsQuery } from '../../../../src/schema/models/model.ts';
import {
  anyCaller,
  ask,
  endpoint,
  keyOf,
  type ListingWorld,
  listingDeps,
  model,
  perMillion,
} from '../../../support/listings.ts';

const zeroRetention = { dataPolicy: { zeroRetention: true, trains: false } };
const p = (p50: number) => ({ p50, p75: p50, p90: p50, p99: p50 });

/** In the catalogue's order. */
const models: Model[] = [
  model('openai/gpt-5', {
    name: 'Big One',
    created: 300,
    inputModalities: ['text', 'image', 'file'],
    quality: 0.9,
    isDistillable: false,
    endpoints: [
      endpoint('up', 'openai/gpt-5', {
        pricing: perMillion(2, 8),
        contextLength: 200_000,
        supportedParameters: ['tools', 'seed'],
      }),
      endpoint('alt', 'openai/gpt-5', {
        tag: 'alt/fast',
        pricing: perMillion(3, 12),
        contextLength: 400_000,
        supportedParameters: ['reasoning'],
        ...zeroRetention,
      }),
    ],
  }),
  model('meta-llama/llama-4-scout', {
    created: 100,
    contextLength: 10_000_000,
    quality: 0.3,
    isDistillable: true,
    inputModalities: ['text', 'image'],
    endpoints: [
      endpoint('alt', 'meta-llama/llama-4-scout', {
        pricing: perMillion(0.1, 0.3),
        supportedParameters: ['tools', 'seed', 'reasoning'],
      }),
    ],
  }),
  model('acme/quiet', { name: 'Quiet' }),
  model('acme/painter', {
    created: 200,
    outputModalities: ['image', 'text'],
    endpoints: [endpoint('up', 'acme/painter', { pricing: perMillion(0, 0), contextLength: 4096 })],
  }),
  model('openai/embed', { outputModalities: ['embeddings'] }),
];
const [gpt, llama] = models;
const statistics = {
  [keyOf(gpt?.endpoints[0])]: { latency30m: p(900), throughput30m: p(20) },
  [keyOf(gpt?.endpoints[1])]: { latency30m: p(300), throughput30m: p(90) },
  [keyOf(llama?.endpoints[0])]: { latency30m: p(500), throughput30m: p(60) },
};

async function ids(query: Record<string, string>, world: Partial<ListingWorld> = {}): Promise<string[]> {
  const { data } = await ask(listModels(listingDeps({ models, statistics, ...world })), { query });
  return data.map(({ id }: { id: string }) => id.slice(id.indexOf('/') + 1));
}

const all = ['gpt-5', 'llama-4-scout', 'quiet', 'painter'];

describe('GET /models lists', () => {
  it.each<[Record<string, string>, string[]]>([
    [{}, all],
    [{ q: 'BIG' }, ['gpt-5']],
    [{ q: 'llama' }, ['llama-4-scout']],
    [{ q: 'nothing like it' }, []],
    [{ supported_parameters: 'tools' }, ['gpt-5', 'llama-4-scout']],
    // Not what one endpoint supports and another one: a request goes to one.
    [{ supported_parameters: 'tools, reasoning' }, ['llama-4-scout']],
    [{ input_modalities: 'image' }, ['gpt-5', 'llama-4-scout']],
    [{ input_modalities: 'image,file' }, ['gpt-5']],
    [{ input_modalities: 'text' }, all],
    [{ output_modalities: 'embeddings' }, ['embed']],
    [{ output_modalities: 'image,embeddings' }, ['painter', 'embed']],
    [{ output_modalities: 'all' }, [...all, 'embed']],
    [{ context: '200000' }, ['gpt-5', 'llama-4-scout']],
    [{ context: '400001' }, ['llama-4-scout']],
    [{ min_price: '0.1' }, ['gpt-5', 'llama-4-scout']],
    [{ max_price: '0.1' }, ['llama-4-scout', 'painter']],
    [{ max_price: '0' }, ['painter']],
    [{ min_price: '0.11', max_price: '2' }, ['gpt-5']],
    [{ min_price: 'null', max_price: 'null' }, all],
    [{ model_authors: 'acme,meta-llama' }, ['llama-4-scout', 'quiet', 'painter']],
    [{ providers: 'alt' }, ['gpt-5', 'llama-4-scout']],
    [{ providers: 'alt/fast' }, ['gpt-5']],
    [{ providers: 'UP' }, ['gpt-5', 'quiet', 'painter']],
    [{ providers: 'the other' }, []],
    [{ arch: 'Llama' }, ['llama-4-scout']],
    [{ arch: 'Llama3' }, []],
    [{ arch: 'GPT' }, ['gpt-5']],
    [{ distillable: 'true' }, ['llama-4-scout']],
    [{ distillable: 'false' }, ['gpt-5']],
    [{ zdr: 'true' }, ['gpt-5']],
    [{ zdr: 'false' }, all],
    // Of which nothing is known, so that no model can be said to match.
    [{ category: 'programming' }, []],
    [{ region: 'eu' }, []],
    // Without a value.
    [{ q: '', sort: '', context: ' ', zdr: '', category: '', region: '', use_rss: '' }, all],
    [{ use_rss: 'false', use_rss_chat_links: 'true' }, all],
  ])('%j: %j', async (query, expected) => {
    expect(await ids(query)).toEqual(expected);
  });
  it.each<[string, string[]]>([
    ['newest', ['gpt-5', 'painter', 'llama-4-scout', 'quiet']],
    ['pricing-low-to-high', ['painter', 'llama-4-scout', 'gpt-5', 'quiet']],
    ['pricing-high-to-low', ['gpt-5', 'llama-4-scout', 'painter', 'quiet']],
    ['context-high-to-low', ['llama-4-scout', 'gpt-5', 'painter', 'quiet']],
    ['throughput-high-to-low', ['gpt-5', 'llama-4-scout', 'quiet', 'painter']],
    ['latency-low-to-high', ['gpt-5', 'llama-4-scout', 'quiet', 'painter']],
    ['intelligence-high-to-low', ['gpt-5', 'llama-4-scout', 'quiet', 'painter']],
    ['most-popular', all],
    ['top-weekly', all],
    ['design-arena-elo-high-to-low', all],
  ])('sorted by %s, what is not known last', async (sort, expected) => {
    expect(await ids({ sort })).toEqual(expected);
  });
  it('sorted by the best of the endpoints that a caller can come to', async () => {
    for (const sort of ['throughput-high-to-low', 'latency-low-to-high']) {
      const reached = await ids({ sort, output_modalities: 'all' }, { usable: ['up'] });
      expect(reached).toEqual(['gpt-5', 'quiet', 'painter', 'embed']);
    }
    const [first] = await ids(
      { sort: 'latency-low-to-high' },
      { statistics: { ...statistics, [keyOf(gpt?.endpoints[1])]: {} } },
    );
    expect(first).toBe('llama-4-scout');
  });
  it.each<[Record<string, string>, RegExp]>([
    [{ context: '0' }, /expected an integer of at least 1/],
    [{ context: '1.5' }, /expected an integer/],
    [{ min_price: '-1' }, /expected USD per million tokens/],
    [{ max_price: 'cheap' }, /expected USD per million tokens/],
    [{ sort: 'best' }, /sort/],
    [{ category: 'cooking' }, /category/],
    [{ region: 'us' }, /region/],
    [{ distillable: 'maybe' }, /distillable/],
    [{ use_rss: 'true' }, /there is no feed/],
  ])('nothing for %j', (query, message) => {
    expect(() => modelsQuery().parse(query)).toThrow(message);
  });
});

describe('GET /models/count', () => {
  it.each([
    [{}, 4],
    [{ output_modalities: 'embeddings' }, 1],
    [{ output_modalities: 'all' }, 5],
  ])('%j: as many as are listed', async (query, count) => {
    expect(await ask(countModels(listingDeps({ models })), { query })).toEqual({ data: { count } });
  });
});

describe('GET /models/user', () => {
  it('lists all that the caller can use, whatever it answers with', async () => {
    const { data } = await ask(listUserModels(listingDeps({ models })));
    expect(data.map(({ id }: Model & { id: string }) => id)).toEqual(models.map(({ slug }) => slug));
  });
});

describe('a listed model', () => {
  const shown = async (one: Model, world: Partial<ListingWorld> = {}, basePath = '/v1') => {
    const { data } = await ask(listUserModels(listingDeps({ models: [one], ...world })), { basePath });
    return data[0];
  };

  it('of which nothing is known has every field', async () => {
    expect(await shown(model('acme/quiet'))).toEqual({
      id: 'acme/quiet',
      object: 'model',
      owned_by: 'acme',
      canonical_slug: 'acme/quiet',
      name: 'acme/quiet',
      created: 0,
      description: '',
      context_length: null,
      architecture: {
        modality: 'text->text',
        input_modalities: ['text'],
        output_modalities: ['text'],
        tokenizer: 'Other',
        instruct_type: null,
      },
      pricing: { prompt: '-1', completion: '-1', request: '-1', image: '-1' },
      top_provider: { context_length: null, max_completion_tokens: null, is_moderated: false },
      per_request_limits: null,
      supported_parameters: [],
      default_parameters: null,
      supported_voices: null,
      hugging_face_id: null,
      knowledge_cutoff: null,
      expiration_date: null,
      links: { details: '/v1/models/acme/quiet/endpoints' },
    });
  });
  it('shows what is known', async () => {
    const known = {
      name: 'GPT 5',
      created: 1_700_000_000,
      description: 'A model.',
      contextLength: 1000,
      inputModalities: ['text', 'image'],
      outputModalities: ['text', 'audio'],
      huggingFaceId: 'openai/gpt-5',
      knowledgeCutoff: '2025-01-01',
      expirationDate: '2027-01-01',
    };
    expect(await shown(model('openai/gpt-5', known))).toMatchObject({
      name: 'GPT 5',
      created: 1_700_000_000,
      description: 'A model.',
      context_length: 1000,
      architecture: {
        modality: 'text+image->text+audio',
        input_modalities: ['text', 'image'],
        output_modalities: ['text', 'audio'],
        tokenizer: 'GPT',
      },
      hugging_face_id: 'openai/gpt-5',
      knowledge_cutoff: '2025-01-01',
      expiration_date: '2027-01-01',
    });
  });
  it('has the prices and limits of its cheapest endpoint, what any supports, and the longest context', async () => {
    const slug = 'acme/many';
    const endpoints = [
      endpoint('up', slug, { pricing: null, contextLength: 900 }),
      // A tier that has to be asked for.
      endpoint('up', slug, { tag: 'up/flex', pricing: perMillion(0.1, 0.1), serviceTier: 'flex' }),
      endpoint('up', slug, { pricing: perMillion(2, 8), supportedParameters: ['seed', 'tools'] }),
      endpoint('alt', slug, {
        pricing: perMillion(1, 8, { cacheReadPicoUsd: 100_000, requestPicoUsd: 5_000_000_000 }),
        contextLength: 500,
        maxCompletionTokens: 50,
        supportedParameters: ['tools', 'stop'],
      }),
      endpoint('alt', slug, { pricing: perMillion(0, 0), isDisabled: true, contextLength: 9999 }),
      endpoint('other', slug, { pricing: perMillion(0, 0), contextLength: 9999 }),
    ];
    expect(await shown(model(slug, { endpoints }))).toMatchObject({
      context_length: 900,
      pricing: {
        prompt: '0.000001',
        completion: '0.000008',
        request: '0.005',
        image: '0',
        input_cache_read: '0.0000001',
      },
      top_provider: { context_length: 500, max_completion_tokens: 50 },
      supported_parameters: ['seed', 'tools', 'stop'],
    });
  });
  it.each([
    ['acme/fast', '/v1', '/v1/models/acme/fast/endpoints'],
    ['acme/fast:free', '', '/models/acme/fast:free/endpoints'],
    ['acme/fast', '/', '/models/acme/fast/endpoints'],
    ['acme/team/fast', '/api/llm', '/api/llm/models/acme/team%2Ffast/endpoints'],
  ])('%s, asked for below %j, links to its endpoints', async (slug, basePath, details) => {
    expect((await shown(model(slug), {}, basePath)).links).toEqual({ details });
  });
});

describe('what a caller can come to', () => {
  const slug = 'acme/other';
  const world = (own: object, endpoints = [endpoint('other', slug)]) => ({
    models: [model(slug, { endpoints })],
    own: [
      {
        id: '1',
        provider: 'other',
        isFallback: false,
        allowedModels: null,
        allowedUserIds: null,
        allowedApiKeyHashes: null,
        ...own,
      },
    ],
  });
  const key = 'a'.repeat(64);
  const otherKey = 'b'.repeat(64);

  it.each<[string, object, number]>([
    ['without restrictions', {}, 1],
    ['a fallback', { isFallback: true }, 1],
    ['of another provider', { provider: 'up' }, 0],
    ['for its author’s models', { allowedModels: ['acme/*'] }, 1],
    ['for other models', { allowedModels: ['acme/fast'] }, 0],
    // A request may name one.
    ['for some users', { allowedUserIds: ['ann'] }, 1],
    ['for no user', { allowedUserIds: [] }, 0],
    ['for the caller’s key', { allowedApiKeyHashes: [otherKey, key] }, 1],
    ['for another key', { allowedApiKeyHashes: [otherKey] }, 0],
  ])('an own credential %s', async (_, own, count) => {
    const { data } = await ask(listUserModels(listingDeps(world(own))));
    expect(data).toHaveLength(count);
  });
  it('who manages the workspace, and makes no requests, sees what some key of it can', async () => {
    const caller = { permissions: ['management'], apiKeyHash: key } as const;
    const seen = async (allowedApiKeyHashes: string[]) =>
      (
        await ask(listUserModels(listingDeps(world({ allowedApiKeyHashes }))), {
          caller: { ...anyCaller, ...caller },
        })
      ).data.length;
    expect([await seen([otherKey]), await seen([])]).toEqual([1, 0]);
  });
  it('not without a credential, nor what is disabled', async () => {
    const listed = async (given: ListingWorld) => (await ask(listUserModels(listingDeps(given)))).data.length;
    expect(await listed({ models: [model(slug, { endpoints: [endpoint('other', slug)] })] })).toBe(0);
    expect(await listed(world({}, [endpoint('other', slug, { isDisabled: true })]))).toBe(0);
  });
});

describe('prices', () => {
  it('are asked for where the catalogue does not know them yet', async () => {
    const deps = listingDeps({ models: [model('acme/fast'), model('acme/slow')] });
    const priced = model('acme/fast', { endpoints: [endpoint('up', 'acme/fast', { pricing: perMillion(1, 2) })] });
    const slow = model('acme/slow');
    const view = (slugs: readonly string[]) =>
      slugs.length === 2
        ? { model: () => null, models: [priced, slow], aliasOf: () => null, named: () => [] }
        : deps.catalog.view();
    const { data } = await ask(listUserModels({ ...deps, catalog: { view } }));
    expect(data.map(({ pricing }: { pricing: { prompt: string } }) => pricing.prompt)).toEqual(['0.000001', '-1']);
  });
  it('that cannot be asked for now are shown as unknown, unless something is broken', async () => {
    const deps = listingDeps({ models: [model('acme/fast')] });
    const listedWith = (error: Error) => {
      const view = (slugs: readonly string[]) => {
        if (slugs.length > 0) throw error;
        return deps.catalog.view();
      };
      return ask(listUserModels({ ...deps, catalog: { view } }));
    };
    const { data } = await listedWith(new GatewayError('unavailable', 'The document was never read'));
    expect(data.map(({ pricing }: { pricing: { prompt: string } }) => pricing.prompt)).toEqual(['-1']);
    await expect(listedWith(new TypeError('a mistake'))).rejects.toThrow('a mistake');
  });
});
