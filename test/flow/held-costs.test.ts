// Loaded beforehand: a gateway loads it when it is first needed, which takes time that a manual clock knows nothing of.
import '@pydantic/genai-prices';
import { describe, expect, it } from 'vitest';
import type { GatewayOptions } from '../../src/options.ts';
import { definePlugin } from '../../src/plugins/plugin.ts';
import { type Answer, hello, testGateway, upstreamKeys } from '../support/gateway.ts';
import { completion } from '../support/upstream.ts';
import { wav } from '../support/wav.ts';

const up = { baseUrl: 'https://up.test/v1', apiKey: upstreamKeys.up, name: 'Up' };

/** A gateway with a budget; the upstream bills `usage` for whatever it is asked. */
async function budgeted(limitUsd: number, options: Partial<GatewayOptions>, usage: object = {}) {
  // So that what the endpoints admit is what is held.
  const budgets = { defaultMaxTokens: 10_000_000, ...options.budgets };
  const tested = testGateway({ ...options, budgets });
  const billed = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20, ...usage };
  tested.upstream.always({ body: completion({ usage: billed }) });
  const put = await tested.call('PUT', '/workspaces/default/budgets/daily', { limit_usd: limitUsd });
  expect(put.status).toBe(200);
  return tested;
}
const modelOf = (provider: string, more: object = {}) => [
  { slug: 'acme/m', endpoints: [{ provider, model: 'm', pricing: { prompt: '0', completion: '0.00001' }, ...more }] },
];
const asking = (part: object) => [{ role: 'user', content: [{ type: 'text', text: 'Look' }, part] }];
const image = { type: 'image_url', image_url: { url: 'https://x.test/i.png' } };
const sound = (data: string, format: string) => ({ type: 'input_audio', input_audio: { data, format } });
const film = { type: 'video_url', video_url: { url: 'https://x.test/v.mp4' } };
const file = { type: 'file', file: { file_id: 'f' } };
const errorOf = ({ status, json }: Answer) => ({ status, ...json.error });

describe('a long prompt of a built-in model', () => {
  const messages = [{ role: 'user', content: 'word '.repeat(180_000) }];
  const usage = { prompt_tokens: 900_000 };
  const options = { providers: { openai: { apiKey: 'sk-openai-0123456789' } }, models: [] };
  it.each(['openai/gpt-5.5', 'openai/gpt-6-sol', 'openai/gpt-6.1-sol'])(
    'of %s is held at the price of long prompts, in full',
    async (model) => {
      const { post, upstream } = await budgeted(1.5, options, usage);
      expect((await post({ model, messages, max_tokens: 10 })).status).toBe(402);
      expect(upstream.sent).toEqual([]);
    },
  );
  it('is served where the budget has the money, and booked within it', async () => {
    const { post, records } = await budgeted(10, options, usage);
    expect((await post({ model: 'openai/gpt-5.5', messages, max_tokens: 10 })).status).toBe(200);
    expect(records[0]?.costNanoUsd).toBe(900_000 * 10_000 + 10 * 45_000);
  });
});

it('a prompt beyond the context that the catalogue gives is held in full, at the dearest price that it may reach', async () => {
  const longPrompts = [{ abovePromptTokens: 8_192, prompt: '0.00001' }];
  const options = {
    providers: { up },
    models: modelOf('up', {
      contextLength: 8_192,
      pricing: { prompt: '0.000001', completion: '0', longPrompts },
    }),
  };
  const plugins = [{ id: 'context-compression', enabled: false }];
  const ask = { model: 'acme/m', messages: [{ role: 'user', content: 'x '.repeat(50_000) }], max_tokens: 10, plugins };
  const { post, upstream } = await budgeted(0.5, options);
  expect((await post(ask)).status).toBe(402);
  expect(upstream.sent).toEqual([]);
  const { post: rich, records } = await budgeted(1.1, options, { prompt_tokens: 100_000 });
  expect((await rich(ask)).status).toBe(200);
  expect(records[0]?.costNanoUsd).toBe(1_000_000_000);
});

describe('the largest output of a prompt that may fill the context', () => {
  const models = modelOf('up', { contextLength: 128_000, maxCompletionTokens: 16_000 });
  const options = { providers: { up }, models };
  const cases: [string, object][] = [
    ['a file', { messages: asking(file) }],
    ['a film', { messages: asking(film) }],
    ['sound', { messages: asking(sound('A'.repeat(40), 'mp3')) }],
    ['pictures', { messages: [{ role: 'user', content: [image, image, image] }] }],
    ['long text', { messages: [{ role: 'user', content: 'x'.repeat(125_000) }] }],
  ];
  it.each(cases)('is all that the context admits, or it is sent: %s', async (_, fields) => {
    // The context is 1.28 USD of output, the endpoint's largest output 0.16 USD.
    const { send, upstream, clock, run } = await budgeted(2, options);
    upstream.always({ body: completion(), afterMs: 1_000 });
    const all = [1, 2, 3, 4, 5, 6].map(() => send({ model: 'acme/m', ...fields }));
    await clock.advance(1);
    // What is left after the first pays for four with a largest output.
    expect(upstream.sent.map(({ body }) => body.max_tokens)).toEqual([undefined, 16_000, 16_000, 16_000, 16_000]);
    const statuses = (await run(Promise.all(all))).map(({ status }) => status).sort();
    expect(statuses).toEqual([200, 200, 200, 200, 200, 402]);
  });
  it('is held for each choice', async () => {
    const { post, upstream } = await budgeted(2, options);
    await post({ model: 'acme/m', messages: asking(file), n: 2 });
    expect(upstream.sent[0]?.body).toMatchObject({ max_tokens: 16_000, n: 2 });
    expect(errorOf(await post({ model: 'acme/m', messages: asking(file), n: 20 }))).toMatchObject({
      status: 402,
      // What the cheaper way would take.
      message: expect.stringContaining('$3.2'),
    });
  });
  it('is sent where it was cut down to what is left', async () => {
    const { post, upstream } = await budgeted(0.1, { ...options, budgets: { shrinkToFit: true } });
    expect((await post({ model: 'acme/m', messages: asking(file) })).status).toBe(200);
    expect(upstream.sent[0]?.body.max_tokens).toBe(10_000);
  });
  it('is sent in the field that the provider reads', async () => {
    const { post, upstream } = await budgeted(0.2, {
      providers: { openai: { apiKey: 'sk-openai-0123456789' } },
      models: modelOf('openai', { contextLength: 128_000, maxCompletionTokens: 16_000 }),
    });
    await post({ model: 'acme/m', messages: asking(file) });
    expect(upstream.sent[0]?.body).toMatchObject({ max_completion_tokens: 16_000 });
  });
  it('that a plugin takes away is sent all the same', async () => {
    const { post, upstream } = await budgeted(1, {
      providers: { up },
      models: modelOf('up', { maxCompletionTokens: 16_000 }),
      plugins: [
        definePlugin({ id: 'acme-endless', isDefault: true, prepare: (request) => ({ ...request, max_tokens: null }) }),
      ],
    });
    expect((await post({ model: 'acme/m', messages: hello, max_tokens: 50 })).status).toBe(200);
    expect(upstream.sent[0]?.body.max_tokens).toBe(16_000);
  });
});

describe('reasoning', () => {
  const ask = { model: 'acme/m', messages: hello, max_tokens: 100 };
  const endpoint = { contextLength: 131_072, supportedParameters: ['reasoning', 'max_tokens'] };
  const at = (provider: string, more: object, settings: object = { apiKey: 'sk-0123456789' }) =>
    budgeted(0.1, { providers: { [provider]: settings }, models: modelOf(provider, more) });

  it.each(['siliconflow', 'alibaba', 'byteplus', 'xai'])(
    'is held up to the context at %s, which counts it beside max_tokens',
    async (provider) => {
      const { post, upstream } = await at(provider, { contextLength: 131_072 });
      // 131,172 tokens of output at 0.00001 USD.
      expect(errorOf(await post(ask))).toMatchObject({ status: 402, message: expect.stringContaining('$1.31') });
      expect(upstream.sent).toEqual([]);
    },
  );
  it.each(['openai', 'groq', 'deepseek', 'moonshotai', 'together', 'venice'])(
    'is within max_tokens at %s',
    async (provider) => {
      const { post } = await at(provider, endpoint);
      expect((await post(ask)).status).toBe(200);
    },
  );
  it('is held where nobody knows how the provider counts it, and the model reasons', async () => {
    expect((await (await at('up', endpoint, up)).post(ask)).status).toBe(402);
    const { post } = await at('up', { ...endpoint, supportedParameters: ['max_tokens'] }, up);
    expect((await post(ask)).status).toBe(200);
    const told = await at('up', endpoint, { ...up, quirks: { reasoningBeside: false } });
    expect((await told.post(ask)).status).toBe(200);
    const bounded = await at('up', endpoint, { ...up, quirks: { reasoningBeside: 5_000 } });
    expect((await bounded.post(ask)).status).toBe(200);
  });
  it('is not paid for where nothing limits it', async () => {
    const { post, upstream } = await at('siliconflow', {});
    expect(errorOf(await post(ask))).toMatchObject({
      status: 400,
      message: expect.stringContaining('without a context length'),
      metadata: { unpriced: [expect.stringContaining('acme/m at siliconflow for reasoning beside max_tokens')] },
    });
    expect(upstream.sent).toEqual([]);
  });
});

describe('what a caller says of media', () => {
  const pricing = { prompt: '0.00001', completion: '0' };
  const withQuirks = (quirks: object) => ({ providers: { up: { ...up, quirks } }, models: modelOf('up', { pricing }) });
  const ask = (part: object) => ({ model: 'acme/m', messages: asking(part), max_tokens: 10 });

  it('makes a picture cheap only where the provider is known to honour it', async () => {
    const low = { ...image, image_url: { ...image.image_url, detail: 'low' } };
    const { post } = await budgeted(0.1, withQuirks({}));
    expect((await post(ask(low))).status).toBe(402);
    const { post: honoured } = await budgeted(0.1, withQuirks({ lowDetail: true }));
    expect((await honoured(ask(low))).status).toBe(200);
    expect((await honoured(ask(image))).status).toBe(402);
  });
  it.each<[string, object]>([
    ['a header that gives another rate', sound(wav({ seconds: 5_000, rate: 1, bits: 8 }), 'wav')],
    ['a header that gives less data', sound(wav({ seconds: 5, dataBytes: 100 }), 'wav')],
    ['samples that it has not', sound('A'.repeat(4_000), 'pcm16')],
    ['a dense format', sound('A'.repeat(4_000), 'mp3')],
    ['a format that nobody knows', sound('A'.repeat(4_000), 'constructor')],
  ])('makes no sound short: %s', async (_, part) => {
    const { post, upstream } = await budgeted(10, withQuirks({}));
    expect((await post(ask(part))).status).toBe(402);
    expect(upstream.sent).toEqual([]);
  });
  it('is believed of sound whose length cannot be read in two ways', async () => {
    const { post } = await budgeted(0.1, withQuirks({}));
    expect((await post(ask(sound(wav({ seconds: 10 }), 'wav')))).status).toBe(200);
  });
});

describe('work that a provider may do besides', () => {
  const pricing = { prompt: '0', completion: '0', webSearch: '0.01' };
  const options = { providers: { up }, models: modelOf('up', { pricing }) };
  const ask = { model: 'acme/m', messages: hello, max_tokens: 10 };

  it.each<[string, object]>([
    ['web_search_options', { web_search_options: {} }],
    ['search_parameters', { search_parameters: { mode: 'on' } }],
    ['enable_search', { enable_search: true }],
    ['search_options', { search_options: { forced_search: true } }],
    ['web_search', { web_search: { enable: true } }],
    ['search_settings', { search_settings: { country: 'de' } }],
    ['venice_parameters', { venice_parameters: { enable_web_search: 'on' } }],
  ])('is held for: %s', async (_, fields) => {
    // Twenty searches are 0.2 USD.
    const { post, upstream } = await budgeted(0.1, options);
    expect((await post({ ...ask, ...fields })).status).toBe(402);
    expect(upstream.sent).toEqual([]);
    const { post: rich } = await budgeted(0.3, options);
    expect((await rich({ ...ask, ...fields })).status).toBe(200);
  });
  it('is held for a model that always searches', async () => {
    const searching = modelOf('up', { pricing, model: 'acme-search-preview' });
    expect((await (await budgeted(0.1, { ...options, models: searching })).post(ask)).status).toBe(402);
    const quirks = { providers: { up: { ...up, quirks: { alwaysSearches: true } } }, models: options.models };
    expect((await (await budgeted(0.1, quirks)).post(ask)).status).toBe(402);
    expect((await (await budgeted(0.1, options)).post(ask)).status).toBe(200);
  });
  it.each<[string, object, string]>([
    ['of the request', { connectors: [{ id: 'web-search' }] }, 'connectors'],
    ['of search', { web_search_options: { search_type: 'pro' } }, 'web_search_options.search_type'],
    ['that speaks of speed', { speed: 'fast' }, 'speed'],
    ['of a message', { messages: [{ ...hello[0], attachments: ['f'] }] }, 'messages[].attachments'],
    [
      'of a part',
      { messages: asking({ type: 'text', text: '', audio_url: 'https://x.test' }) },
      'messages[].content[].audio_url',
    ],
  ])('is refused where a field may ask for it that nobody knows: one %s', async (_, fields, path) => {
    const { post, upstream } = await budgeted(100, options);
    expect(errorOf(await post({ ...ask, ...fields }))).toMatchObject({
      status: 400,
      message: expect.stringContaining(path),
      metadata: { unknown_fields: [path] },
    });
    expect(upstream.sent).toEqual([]);
    const { post: allowed, upstream: asked } = await budgeted(100, { ...options, budgets: { unknownFields: 'allow' } });
    expect((await allowed({ ...ask, ...fields })).status).toBe(200);
    expect(asked.sent).toHaveLength(1);
  });
  it('is nobody’s concern through a credential that no limit counts', async () => {
    const { post, call } = await budgeted(0.1, {
      providers: { openai: {} },
      models: modelOf('openai', { pricing }),
      secrets: { current: 'a secret of at least 32 characters' },
    });
    expect((await call('POST', '/byok', { provider: 'openai', key: 'sk-byok-0123456789' })).status).toBe(201);
    expect((await post({ ...ask, connectors: [{ id: 'web-search' }], enable_search: true })).status).toBe(200);
  });
  it('is nobody’s concern without a limit', async () => {
    const { post, upstream } = testGateway(options);
    upstream.always({ body: completion() });
    expect((await post({ ...ask, connectors: [{ id: 'web-search' }] })).status).toBe(200);
    expect(upstream.sent[0]?.body.connectors).toEqual([{ id: 'web-search' }]);
  });
});

it('the field that steers the sandbox is free of charge under a limit', async () => {
  const { post } = await budgeted(1, { providers: { sandbox: {} }, models: [] });
  const ask = { model: 'sandbox/lorem', messages: hello, max_tokens: 50, sandbox: { tokens: 3 } };
  expect((await post(ask)).status).toBe(200);
});

describe('a price of the built-in list', () => {
  const options = { providers: { openai: { apiKey: 'sk-0123456789' }, perplexity: { apiKey: 'sk-0123456789' } } };
  const ask = async (model: string, fields: object) => {
    const { post, upstream } = await budgeted(100, { ...options, models: [] });
    const answer = await post({ model, messages: hello, max_tokens: 10, ...fields });
    expect(upstream.sent).toHaveLength(answer.status === 200 ? 1 : 0);
    return errorOf(answer);
  };
  it.each<[string, object, string]>([
    ['openai/gpt-4o-audio-preview', { modalities: ['text', 'audio'], audio: { voice: 'a' } }, 'audio in the response'],
    ['openai/gpt-4o-audio-preview', { messages: asking(sound('A', 'mp3')) }, 'audio in the prompt'],
    ['openai/gpt-4o', { messages: asking(sound('A', 'mp3')) }, 'audio in the prompt'],
    ['openai/gpt-4o', { modalities: ['image'] }, 'images in the response'],
    ['openai/gpt-4o-audio-preview', { messages: asking(image) }, 'images in the prompt'],
    ['openai/gpt-4o-search-preview', {}, 'web searches'],
  ])('of %s is not known with %o', async (model, fields, part) => {
    expect(await ask(model, fields)).toMatchObject({
      status: 400,
      message: expect.stringContaining(`for ${part} is not known`),
      metadata: { unpriced: [`${model} at openai for ${part}`] },
    });
  });
  it.each<[string, object]>([
    ['openai/gpt-4o-audio-preview', {}],
    ['openai/gpt-audio', { modalities: ['text', 'audio'], messages: asking(sound('A', 'mp3')) }],
    ['openai/gpt-4o', { messages: asking(image) }],
    ['openai/gpt-4o', { web_search_options: {} }],
    ['perplexity/sonar', {}],
  ])('of %s is known with %o', async (model, fields) => {
    expect(await ask(model, fields)).toMatchObject({ status: 200 });
  });
  it('that a plugin makes unknown is not paid', async () => {
    const plugin = definePlugin({
      id: 'acme-voice',
      isDefault: true,
      prepare: (request) => ({ ...request, modalities: ['text', 'audio'] }),
    });
    const { post, upstream } = await budgeted(100, { ...options, models: [], plugins: [plugin] });
    expect((await post({ model: 'openai/gpt-4o', messages: hello, max_tokens: 10 })).status).toBe(402);
    expect(upstream.sent).toEqual([]);
  });
  it('of your own models has the price of text for what you leave out', async () => {
    const { post } = await budgeted(100, { providers: { up }, models: modelOf('up', { contextLength: 128_000 }) });
    for (const part of [image, sound('A', 'mp3')])
      expect((await post({ model: 'acme/m', messages: asking(part), max_tokens: 10 })).status).toBe(200);
  });
});
