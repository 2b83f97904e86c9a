import { describe, expect, it } from 'vitest';
import { hello, testGateway } from '../support/gateway.ts';
import { completion, errorBody } from '../support/upstream.ts';

const price = (prompt: string, completion: string) => ({ prompt, completion });
/** Four endpoints of one model that differ in everything a preference may ask for. */
const options: Parameters<typeof testGateway>[0] = {
  retry: { attemptsPerEndpoint: 1 },
  providers: {
    up: { baseUrl: 'https://up.test/v1', name: 'Up', dataPolicy: { zeroRetention: true, trains: false } },
    alt: { baseUrl: 'https://alt.test/v1', name: 'Alt', dataPolicy: { zeroRetention: false, trains: false } },
    third: { baseUrl: 'https://third.test/v1', name: 'Third', dataPolicy: { zeroRetention: false, trains: true } },
  },
  models: [
    {
      slug: 'acme/any',
      order: 'price',
      endpoints: [
        {
          provider: 'up',
          model: 'up',
          pricing: price('0.000010', '0.000020'),
          quantization: 'fp16',
          supportedParameters: ['tools', 'temperature', 'max_tokens', 'reasoning'],
        },
        {
          provider: 'up',
          variant: 'turbo',
          model: 'turbo',
          pricing: price('0.000005', '0.000030'),
          quantization: 'fp8',
          supportedParameters: ['temperature'],
        },
        {
          provider: 'alt',
          model: 'alt',
          pricing: price('0.000001', '0.000002'),
          quantization: 'int4',
          supportedParameters: [],
        },
        { provider: 'third', model: 'third' },
      ],
    },
  ],
};

/**
 * The order in which a request with these preferences tries endpoints, all of which fail, and who was left out, by
 * which rule.
 */
async function route(provider: object | null, fields: object = {}) {
  const { post, upstream } = testGateway(options);
  upstream.always({ status: 500, body: errorBody('No') });
  const { status, json } = await post(
    { model: 'acme/any', messages: hello, provider, ...fields },
    { 'x-service-metadata': 'enabled' },
  );
  return { status, json, tried: upstream.sent.map(({ body }) => body.model) };
}
const tried = async (provider: object | null, fields?: object) => (await route(provider, fields)).tried;
/** By draw, which with a random source that always says the same is by price; what has none comes last. */
const all = ['alt', 'turbo', 'up', 'third'];

describe('provider preferences', () => {
  it.each([
    null,
    {},
    {
      only: [],
      ignore: null,
      order: [],
      quantizations: null,
      zdr: false,
      data_collection: 'allow',
      require_parameters: false,
    },
  ])('%j: everybody, the cheaper sooner', async (provider) => {
    expect(await tried(provider)).toEqual(all);
  });
  it.each<[object, string[]]>([
    [{ only: ['alt'] }, ['alt']],
    [{ only: ['third', 'alt'] }, ['alt', 'third']],
    [{ only: ['up'] }, ['turbo', 'up']],
    [{ only: ['up/turbo'] }, ['turbo']],
    [{ only: ['UP/Turbo'] }, ['turbo']],
    [{ ignore: ['up'] }, ['alt', 'third']],
    [{ ignore: ['up/turbo', 'third'] }, ['alt', 'up']],
    [{ only: ['up', 'alt'], ignore: ['up/turbo'] }, ['alt', 'up']],
    [{ order: ['third', 'alt'] }, ['third', 'alt', 'up', 'turbo']],
    [{ order: ['up/turbo'] }, ['turbo', 'up', 'alt', 'third']],
    [{ order: ['nobody', 'alt'] }, ['alt', 'up', 'turbo', 'third']],
    [{ allow_fallbacks: false }, ['alt']],
    [{ order: [], allow_fallbacks: false }, ['alt']],
    [{ order: ['third', 'alt'], allow_fallbacks: false }, ['third', 'alt']],
    [{ order: ['alt', 'up'], allow_fallbacks: false }, ['alt', 'up', 'turbo']],
    [{ order: ['up/turbo', 'nobody', 'ALT'], allow_fallbacks: false }, ['turbo', 'alt']],
    [{ zdr: true }, ['turbo', 'up']],
    [{ data_collection: 'deny' }, ['alt', 'turbo', 'up']],
    [{ quantizations: ['fp8', 'int4'] }, ['alt', 'turbo']],
    [{ quantizations: ['unknown'] }, ['third']],
    [{ max_price: { prompt: 5 } }, ['alt', 'turbo']],
    [{ max_price: { prompt: '4.999' } }, ['alt']],
    [{ max_price: { prompt: '10', completion: '20.0' } }, ['alt', 'up']],
    [{ max_price: { completion: 30, prompt: 5 } }, ['alt', 'turbo']],
    [{ max_price: { request: 0 } }, ['alt', 'turbo', 'up']],
    [{ require_parameters: true }, ['alt', 'turbo', 'up', 'third']],
  ])('%j', async (provider, expected) => {
    expect(await tried(provider)).toEqual(expected);
  });
  it('require_parameters leaves those that support all that is sent', async () => {
    const provider = { require_parameters: true };
    expect(await tried(provider, { temperature: 1 })).toEqual(['turbo', 'up']);
    expect(await tried(provider, { temperature: 1, max_completion_tokens: 5, reasoning_effort: 'low' })).toEqual([
      'up',
    ]);
    // What the gateway acts on itself.
    const ours = { user: 'me', metadata: { a: 'b' }, prompt_cache_key: 'k' };
    expect((await tried(provider, { temperature: null, ...ours })).toSorted()).toEqual(['alt', 'third', 'turbo', 'up']);
  });
  it.each<[object, object, Record<string, string>]>([
    [{ only: ['nobody'] }, {}, { up: 'only', 'up/turbo': 'only', alt: 'only', third: 'only' }],
    [{ ignore: ['up'], zdr: true }, {}, { up: 'ignore', 'up/turbo': 'ignore', alt: 'zdr', third: 'zdr' }],
    [
      { data_collection: 'deny', quantizations: ['fp4'] },
      {},
      { up: 'quantizations', 'up/turbo': 'quantizations', alt: 'quantizations', third: 'data_collection' },
    ],
    [
      { max_price: { prompt: 0 } },
      {},
      { up: 'max_price', 'up/turbo': 'max_price', alt: 'max_price', third: 'max_price' },
    ],
    [
      { require_parameters: true },
      { seed: 1 },
      {
        up: 'require_parameters',
        'up/turbo': 'require_parameters',
        alt: 'require_parameters',
        third: 'require_parameters',
      },
    ],
  ])('%j that leave nobody are 404, naming the rule for each endpoint', async (provider, fields, rules) => {
    const { status, json, tried: asked } = await route(provider, fields);
    expect([status, asked]).toEqual([404, []]);
    const excluded = json.error.metadata?.excluded as { model: string; provider: string; filter: string }[];
    expect(Object.fromEntries(excluded.map(({ provider: tag, filter }) => [tag, filter]))).toEqual(rules);
    for (const rule of new Set(Object.values(rules))) expect(json.error.message).toContain(rule);
    expect(json.service_metadata?.endpoints.total).toBe(4);
  });
  it("without fallbacks still retries, and shows that one's error", async () => {
    const { post, upstream } = testGateway({ ...options, retry: {} });
    upstream.answer({ status: 500, body: errorBody('First') }, { status: 500, body: errorBody('Second') });
    const { status, json } = await post({ model: 'acme/any', messages: hello, provider: { allow_fallbacks: false } });
    expect([status, json.error.message, upstream.sent.map(({ body }) => body.model)]).toEqual([
      502,
      'Second',
      ['alt', 'alt'],
    ]);
  });
  it('without fallbacks call no other model of the list, whatever becomes of the first', async () => {
    const more = { slug: 'acme/more', endpoints: [{ provider: 'alt', model: 'more-alt' }] };
    const askFor = async (provider: object, status: number) => {
      const { post, upstream } = testGateway({ ...options, models: [...(options.models ?? []), more] });
      upstream.answer({ status, body: errorBody('No') });
      upstream.always({ body: completion() });
      const answer = await post(
        { models: ['acme/any', 'acme/more'], messages: hello, provider },
        { 'x-service-metadata': 'enabled' },
      );
      return { ...answer, asked: upstream.sent.map(({ body }) => body.model) };
    };
    expect((await askFor({ order: ['alt', 'third'] }, 400)).asked).toEqual(['alt', 'more-alt']);
    const refused = await askFor({ order: ['alt', 'third'], allow_fallbacks: false }, 400);
    expect([refused.status, refused.asked]).toEqual([400, ['alt']]);
    const moved = await askFor({ order: ['alt', 'third'], allow_fallbacks: false }, 500);
    expect([moved.status, moved.asked]).toEqual([200, ['alt', 'third']]);
    const left = await askFor(
      { order: ['alt'], ignore: ['up'], quantizations: ['unknown'], allow_fallbacks: false },
      200,
    );
    expect([left.status, left.asked]).toEqual([404, []]);
    expect(left.json.error.metadata?.excluded).toContainEqual({
      model: 'acme/more',
      provider: 'alt',
      filter: 'allow_fallbacks',
    });
    expect(left.json.service_metadata?.endpoints).toEqual({ total: 5, available: [] });
  });
  it('hold for every model of the list', async () => {
    const { post, upstream } = testGateway({
      ...options,
      models: [
        ...(options.models ?? []),
        {
          slug: 'acme/more',
          order: 'price',
          endpoints: [
            { provider: 'alt', model: 'more-alt' },
            { provider: 'up', model: 'more-up' },
          ],
        },
      ],
    });
    upstream.answer({ status: 400, body: errorBody('No') }, { body: completion() });
    await post({ models: ['acme/any', 'acme/more'], messages: hello, provider: { only: ['up'] } });
    expect(upstream.sent.map(({ body }) => body.model)).toEqual(['turbo', 'more-up']);
  });
});
