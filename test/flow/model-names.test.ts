import { describe, expect, it } from 'vitest';
import { createGateway } from '../../src/gateway.ts';
import type { OptionsError } from '../../src/options.ts';
import { hello, testGateway, testKey } from '../support/gateway.ts';
import { completion } from '../support/upstream.ts';

const enabled = { 'x-service-metadata': 'enabled' };
const endpoint = (model: string, provider = 'up') => ({ provider, model });
const catalog = { builtInModels: false };

describe('an alias', () => {
  it('stands for a model: the response names the model, the record what was sent', async () => {
    const { post, upstream, records } = testGateway({ aliases: { 'gpt-4o': 'acme/fast' } });
    upstream.always({ body: completion() });
    const { json } = await post({ model: 'gpt-4o', messages: hello }, enabled);
    expect(json.model).toBe('acme/fast');
    expect(json.service_metadata).toMatchObject({
      requested: 'gpt-4o',
      strategy: 'alias',
      params: { alias_of: 'acme/fast' },
    });
    expect(upstream.sent[0]?.body).toMatchObject({ model: 'up-fast' });
    expect(records[0]).toMatchObject({ requested: 'gpt-4o', model: 'acme/fast' });
  });
  it('takes suffixes, stands in lists of models, and may stand for a router or a suffix', async () => {
    const { post, upstream } = testGateway({
      catalog,
      aliases: { quick: 'acme/fast', best: 'service/auto', cheap: 'acme/pair:floor' },
    });
    upstream.always({ body: completion() });
    const modelOf = async (body: object) => (await post({ messages: hello, ...body })).json.model;
    expect(await modelOf({ model: 'quick:nitro' })).toBe('acme/fast');
    expect(await modelOf({ models: ['quick', 'acme/other'] })).toBe('acme/fast');
    expect(await modelOf({ model: 'cheap' })).toBe('acme/pair');
    expect(await modelOf({ model: 'best' })).toMatch(/^acme\//);
  });
  it('may be listed with its model', async () => {
    const { post, upstream } = testGateway({
      models: [{ slug: 'acme/one', aliases: ['one', 'old/one'], endpoints: [endpoint('m')] }],
    });
    upstream.always({ body: completion() });
    for (const model of ['one', 'old/one'])
      expect((await post({ model, messages: hello })).json.model).toBe('acme/one');
  });
  it('may come with a catalogue document, and takes no place of a model', async () => {
    const models = [{ slug: 'acme/one', aliases: ['one', 'acme/fast'], endpoints: [endpoint('m')] }];
    const { post, upstream } = testGateway({ catalog: { ...catalog, source: () => ({ models }) } });
    upstream.always({ body: completion() });
    expect((await post({ model: 'one', messages: hello })).json.model).toBe('acme/one');
    expect((await post({ model: 'acme/fast', messages: hello })).json.model).toBe('acme/fast');
  });
  it('of a model that does not exist is a 400 that names what it stands for', async () => {
    const { post } = testGateway({ catalog, aliases: { old: 'acme/gone' } });
    const { status, json } = await post({ model: 'old', messages: hello });
    expect([status, json.error.message]).toEqual([400, '"acme/gone" is not a model of this gateway']);
  });
  it('lets a gateway serve its own models while the document cannot be read', async () => {
    const source = () => {
      throw new Error('away');
    };
    const { post, upstream } = testGateway({ catalog: { source }, aliases: { quick: 'acme/fast' } });
    upstream.always({ body: completion() });
    expect((await post({ model: 'quick', messages: hello })).status).toBe(200);
  });
  it.each([
    ['aliases.acme/one', { aliases: { 'acme/one': 'acme/two' } }],
    ['aliases.a', { aliases: { a: 'b/b', 'b/b': 'acme/one' } }],
    ['aliases.one', { aliases: { one: 'acme/two' }, models: [{ slug: 'acme/one', aliases: ['one'], endpoints: [] }] }],
    ['aliases.a', { aliases: { a: 'no-slash' } }],
    ['models[0].aliases[0]', { models: [{ slug: 'acme/one', aliases: ['acme/two'] }, { slug: 'acme/two' }] }],
    [
      'models[1].aliases[0]',
      {
        models: [
          { slug: 'acme/one', aliases: ['x'] },
          { slug: 'acme/two', aliases: ['x'] },
        ],
      },
    ],
    ['models[0].fallbacks[0]', { models: [{ slug: 'acme/one', fallbacks: ['acme/one'] }] }],
  ] as [string, { models?: object[]; aliases?: Record<string, string> }][])(
    'that would have no effect is refused at the start: %s',
    (path, { models, ...options }) => {
      const given = models ?? [{ slug: 'acme/one' }];
      const start = () =>
        createGateway({
          providers: { up: { baseUrl: 'https://up.test/v1' } },
          apiKeys: [{ key: testKey }],
          ...options,
          models: given.map((model) => ({ ...model, endpoints: [endpoint('m')] })) as never,
        });
      try {
        start();
        expect.unreachable();
      } catch (error) {
        expect((error as OptionsError).issues?.map((issue) => issue.path)).toEqual([path]);
      }
    },
  );
});

describe('a name without an author', () => {
  const models = [
    { slug: 'acme/one', endpoints: [endpoint('m1')] },
    { slug: 'acme/both', endpoints: [endpoint('m2')] },
    { slug: 'other/both', endpoints: [endpoint('m3')] },
    { slug: 'acme/shared', endpoints: [endpoint('m4')] },
    { slug: 'far/shared', endpoints: [{ ...endpoint('m5'), disabled: true }] },
  ];
  it('means the only model that has it', async () => {
    const { post, upstream } = testGateway({ catalog, models });
    upstream.always({ body: completion() });
    const { json } = await post({ model: 'one', messages: hello }, enabled);
    expect([json.model, json.service_metadata?.strategy]).toEqual(['acme/one', 'alias']);
    expect((await post({ model: 'one:nitro', messages: hello })).json.model).toBe('acme/one');
  });
  it('that several models have is a 400 with the candidates', async () => {
    const { post } = testGateway({ catalog, models });
    const { status, json } = await post({ model: 'both', messages: hello });
    expect([status, json.error.metadata]).toEqual([
      400,
      { error_type: 'invalid_request', model: 'both', candidates: ['acme/both', 'other/both'] },
    ]);
  });
  it('is not ambiguous by models that the caller cannot come to or may not use', async () => {
    const limited = 'sk-test-limited';
    const { post, upstream } = testGateway({
      catalog,
      models,
      apiKeys: [{ key: testKey }, { key: limited, models: ['other/*'] }],
    });
    upstream.always({ body: completion() });
    expect((await post({ model: 'shared', messages: hello })).json.model).toBe('acme/shared');
    const authorization = `Bearer ${limited}`;
    expect((await post({ model: 'both', messages: hello }, { authorization })).json.model).toBe('other/both');
  });
  it('is found among the built-in models', async () => {
    const { post, upstream } = testGateway({ providers: { openai: { apiKey: 'sk-0123456789' } }, models: [] });
    upstream.always({ body: completion() });
    expect((await post({ model: 'gpt-4o', messages: hello })).json.model).toBe('openai/gpt-4o');
  });
  it('is unknown with `catalog.bareNames: false`', async () => {
    const { post } = testGateway({ catalog: { ...catalog, bareNames: false }, models });
    expect((await post({ model: 'one', messages: hello })).status).toBe(400);
  });
});
