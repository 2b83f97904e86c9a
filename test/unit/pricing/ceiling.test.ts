import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Endpoint, PricedKind, Pricing } from '../../../src/call/model.ts';
import { affordableTokens, type CeilingOptions, ceilingOf, unknownPart } from '../../../src/pricing/ceiling.ts';
import { estimateUsage } from '../../../src/pricing/estimate.ts';
import { priceUsage } from '../../../src/pricing/price.ts';
import type { ChatRequest, Usage } from '../../../src/schema/chat/chat.ts';
import { boundOf } from '../../support/prompt-bound.ts';
import { scriptText } from '../../support/scripts.ts';
import { wav } from '../../support/wav.ts';

const requestOf = (fields: object): ChatRequest =>
  ({ messages: [{ role: 'user', content: 'Hi' }], ...fields }) as unknown as ChatRequest;
const saying = (content: unknown, fields: object = {}) =>
  requestOf({ messages: [{ role: 'user', content, ...fields }] });
const endpointOf = (fields: Partial<Endpoint> = {}): Endpoint => ({
  modelSlug: 'acme/model',
  providerSlug: 'acme',
  tag: 'acme',
  upstreamModel: 'model',
  pricing: { promptPicoUsd: 1_000_000, completionPicoUsd: 2_000_000 },
  contextLength: null,
  maxCompletionTokens: null,
  quantization: null,
  supportedParameters: null,
  dataPolicy: { zeroRetention: null, trains: null },
  ...fields,
});
const options: CeilingOptions = { defaultMaxTokens: 4_096 };
/** What the endpoint supports is less than the default. */
const roomy: CeilingOptions = { defaultMaxTokens: 1_000_000 };
const bare = boundOf(saying(''));

describe('the bound of a prompt', () => {
  const json = { type: 'object', properties: { city: { type: 'string', description: 'x'.repeat(500) } } };
  it.each<[string, ChatRequest, number]>([
    ['text', saying('x'.repeat(500)), 500],
    ['text in parts', saying([{ type: 'text', text: 'x'.repeat(500) }]), 500],
    ['Chinese', saying('字'.repeat(500)), 1_500],
    ['names', saying('', { name: 'x'.repeat(500) }), 500],
    ['fields of a message that nobody knows', saying('', { prefix_text: 'x'.repeat(500) }), 500],
    ['fields of a part that nobody knows', saying([{ type: 'text', text: '', title: 'x'.repeat(500) }]), 500],
    ['a part of a type that nobody knows', saying([{ type: 'document', body: 'x'.repeat(500) }]), 500],
    ['a tool', requestOf({ tools: [{ type: 'function', function: { name: 'f', parameters: json } }] }), 1_536 + 500],
    ['the choice of a tool', requestOf({ tool_choice: { type: 'function', function: { name: 'x'.repeat(60) } } }), 60],
    [
      'the shape of the answer',
      requestOf({ response_format: { type: 'json_schema', json_schema: { schema: json } } }),
      512 + 500,
    ],
    ['a prediction', requestOf({ prediction: { type: 'content', content: 'x'.repeat(500) } }), 500],
    ['fields that nobody knows', requestOf({ documents: [{ text: 'x'.repeat(500) }] }), 500],
    [
      'a tool call',
      requestOf({
        messages: [
          {
            role: 'assistant',
            tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: 'x'.repeat(500) } }],
          },
        ],
      }),
      1_000,
    ],
    [
      "a tool's result",
      requestOf({ messages: [{ role: 'tool', tool_call_id: 'c', content: '"'.repeat(500) }] }),
      1_000,
    ],
    [
      'reasoning that is passed back',
      requestOf({ messages: [{ role: 'assistant', content: '', reasoning: 'x'.repeat(500) }] }),
      500,
    ],
    [
      'reasoning in details',
      requestOf({
        messages: [
          { role: 'assistant', content: '', reasoning_details: [{ type: 'reasoning.text', text: 'x'.repeat(500) }] },
        ],
      }),
      500,
    ],
    ['a refusal', requestOf({ messages: [{ role: 'assistant', refusal: 'x'.repeat(500) }] }), 500],
    ['a picture', saying([{ type: 'image_url', image_url: { url: 'https://x.test' } }]), 50_000],
    // Many providers ignore that it is to be small.
    ['a small picture', saying([{ type: 'image_url', image_url: { url: 'https://x.test', detail: 'low' } }]), 50_000],
    [
      'a picture in a part that says it is text',
      saying([{ type: 'text', text: '', image_url: 'https://x.test' }]),
      50_000,
    ],
    [
      'a picture that an answer held',
      requestOf({ messages: [{ role: 'assistant', content: '', images: [{ image_url: { url: 'x' } }] }] }),
      50_000,
    ],
    // The longest that a provider takes, whatever the size and the declared format.
    ...['mp3', 'ogg', 'wav', 'pcm16'].map((format): [string, ChatRequest, number] => [
      `sound that is declared as ${format}`,
      saying([{ type: 'input_audio', input_audio: { data: 'A'.repeat(85_334), format } }]),
      34_200 * 32,
    ]),
    [
      'sound of which we can tell the length',
      saying([{ type: 'input_audio', input_audio: { data: wav({ seconds: 5 }), format: 'wav' } }]),
      5 * 32,
    ],
    [
      'the sound of an earlier answer',
      requestOf({ messages: [{ role: 'assistant', audio: { id: 'a', data: 'A'.repeat(9e6) } }] }),
      16_384,
    ],
    ['a film', saying([{ type: 'video_url', video_url: { url: 'https://x.test' } }]), 1_000_000],
    ['a film by its old name', saying([{ type: 'input_video', video_url: { url: 'https://x.test' } }]), 1_000_000],
    ['a file', saying([{ type: 'file', file: { file_id: 'f', filename: 'x'.repeat(500) } }]), 1_000_500],
  ])('covers %s', (_, request, least) => {
    const more = boundOf(request).tokens - bare.tokens;
    expect(more).toBeGreaterThanOrEqual(least);
    // Not by far, either: it is money that nobody else can use.
    expect(more).toBeLessThanOrEqual(least + 600);
  });
  it('leaves out what no model reads', () => {
    const silent = {
      user: 'x'.repeat(500),
      metadata: { a: 'x'.repeat(500) },
      stop: ['x'.repeat(500)],
      logit_bias: { 1: 1 },
      provider: { only: ['acme'] },
      trace: { trace_id: 'x'.repeat(500) },
      temperature: 1,
    };
    expect(boundOf(saying('', {})).tokens).toBe(boundOf({ ...saying(''), ...silent }).tokens);
  });
  it('does not take the bytes of media for text', () => {
    const url = `data:image/png;base64,${'A'.repeat(5_000_000)}`;
    expect(boundOf(saying([{ type: 'image_url', image_url: { url } }])).tokens).toBeLessThan(52_000);
  });
  it('counts pictures, those of earlier answers too', () => {
    const image = { type: 'image_url', image_url: { url: 'https://x.test' } };
    const request = requestOf({
      messages: [
        { role: 'user', content: [image, { type: 'text', text: 'or' }, image] },
        { role: 'assistant', content: 'Here', images: [image] },
      ],
    });
    expect(boundOf(request).images).toBe(3);
  });
  it.each<[unknown, number]>([
    [undefined, 1],
    [null, 1],
    [3, 3],
    ['3', 3],
    [2.5, 3],
    [0, 1],
    [-2, 1],
    ['many', 1],
    [Number.POSITIVE_INFINITY, 1],
  ])('takes n = %s for %i answers', (n, choices) => {
    expect(boundOf(requestOf({ n })).choices).toBe(choices);
    expect(boundOf(requestOf({ best_of: n, n: 'x' })).choices).toBe(choices);
  });
  it('leaves room for what tools of the provider read', () => {
    for (const request of [
      requestOf({ web_search_options: {} }),
      requestOf({ search_parameters: { mode: 'on' } }),
      requestOf({ tools: [{ type: 'web_search' }] }),
      requestOf({ venice_parameters: { enable_web_search: 'auto' } }),
      requestOf({ search_settings: { include_domains: [] } }),
      requestOf({ search_options: { forced_search: true } }),
    ]) {
      expect(boundOf(request)).toMatchObject({ toolTokens: 200_000, searches: 20 });
    }
    expect(bare).toMatchObject({ toolTokens: 0, searches: 0 });
    expect(boundOf(requestOf({ search_parameters: { max_search_results: 50 } })).searches).toBe(50);
    expect(boundOf(requestOf({ enable_search: false })).searches).toBe(0);
  });
  it('is no less than the bytes of everything written, in whichever script', () => {
    const text = scriptText(60);
    fc.assert(
      fc.property(text, text, text, text, text, (system, user, name, result, schema) => {
        const request = requestOf({
          messages: [
            { role: 'system', content: system },
            { role: 'user', content: [{ type: 'text', text: user }], name },
            {
              role: 'assistant',
              content: null,
              tool_calls: [{ id: name, type: 'function', function: { name: 'f', arguments: schema } }],
            },
            { role: 'tool', tool_call_id: name, content: result },
          ],
          tools: [{ type: 'function', function: { name: 'f', description: schema, parameters: { title: schema } } }],
        });
        const written = [system, user, name, name, name, schema, result, schema, schema];
        const bytes = written.reduce((sum, one) => sum + Buffer.byteLength(one.normalize('NFKC')), 0);
        expect(boundOf(request).tokens).toBeGreaterThanOrEqual(bytes);
        expect(estimateUsage(request, 0).prompt_tokens).toBeLessThanOrEqual(boundOf(request).tokens);
      }),
      { numRuns: 300 },
    );
  });
});

describe('the largest output a ceiling rests on', () => {
  const known = endpointOf({ maxCompletionTokens: 8_000, contextLength: 100_000 });
  it.each<[string, object, Endpoint, CeilingOptions, object]>([
    ["the caller's cap", { max_tokens: 50 }, known, options, { maxTokens: 50, mustSend: false, source: 'caller' }],
    [
      'its newer name before the older',
      { max_tokens: 9, max_completion_tokens: 50 },
      known,
      options,
      { maxTokens: 50, mustSend: false },
    ],
    [
      'the older where the newer is null',
      { max_tokens: 50, max_completion_tokens: null },
      known,
      options,
      { maxTokens: 50, mustSend: false },
    ],
    [
      "the caller's where nothing else is known",
      { max_tokens: 99_999 },
      endpointOf(),
      options,
      { maxTokens: 99_999, mustSend: false },
    ],
    [
      'what the provider raises it to',
      { max_tokens: 5 },
      known,
      { ...options, minMaxTokens: 16 },
      { maxTokens: 16, mustSend: false },
    ],
    [
      "the endpoint's, lowered from the caller's",
      { max_tokens: 9_000 },
      known,
      options,
      { maxTokens: 8_000, mustSend: true, source: 'endpoint' },
    ],
    ["the endpoint's", {}, known, roomy, { maxTokens: 8_000, mustSend: true, source: 'endpoint' }],
    ['the default, where that is less', {}, known, options, { maxTokens: 4_096, mustSend: true, source: 'default' }],
    [
      'the default, also where only the bound of the prompt fills the context',
      { messages: [{ role: 'user', content: 'x'.repeat(19_000) }] },
      endpointOf({ contextLength: 20_000 }),
      options,
      { maxTokens: 4_096, mustSend: true, source: 'default' },
    ],
    [
      "the caller's, above the default",
      { max_tokens: 7_000 },
      known,
      options,
      { maxTokens: 7_000, mustSend: false, source: 'caller' },
    ],
    [
      "the endpoint's where the caller's is null",
      { max_tokens: null },
      known,
      roomy,
      { maxTokens: 8_000, mustSend: true },
    ],
    [
      'the context, with room for the prompt',
      {},
      endpointOf({ contextLength: 100_000 }),
      roomy,
      { maxTokens: 100_000 - boundOf(requestOf({})).tokens, mustSend: true },
    ],
    [
      'the shorter of the two',
      {},
      endpointOf({ contextLength: 5_000, maxCompletionTokens: 8_000 }),
      options,
      { maxTokens: 5_000 - boundOf(requestOf({})).tokens, mustSend: true },
    ],
    // The bound of the prompt leaves no room, the prompt itself may: the server would refuse what might not fit.
    [
      'all that the context admits, unsent, where the prompt may be long',
      {},
      endpointOf({ contextLength: 1_500, maxCompletionTokens: 1_200 }),
      options,
      { maxTokens: 1_500, mustSend: false, source: 'endpoint' },
    ],
    [
      "the endpoint's for the same prompt, if it is sent all the same",
      {},
      endpointOf({ contextLength: 1_500, maxCompletionTokens: 1_200 }),
      { ...options, alwaysSend: true },
      { maxTokens: 1_200, mustSend: true, source: 'endpoint' },
    ],
    [
      "the same, lowered from the caller's",
      { max_tokens: 1_400 },
      endpointOf({ contextLength: 1_500, maxCompletionTokens: 1_200 }),
      options,
      { maxTokens: 1_200, mustSend: true },
    ],
    ['the default', {}, endpointOf(), options, { maxTokens: 4_096, mustSend: true, source: 'default' }],
    [
      'the default, raised to what the provider takes',
      {},
      endpointOf(),
      { defaultMaxTokens: 5, minMaxTokens: 16 },
      { maxTokens: 16, mustSend: true },
    ],
  ])('is %s', (_, fields, endpoint, given, expected) => {
    const request = requestOf(fields);
    expect(ceilingOf(request, boundOf(request), endpoint, given)).toMatchObject(expected);
  });
});

describe('a ceiling', () => {
  const ceiling = (fields: object, endpoint: Partial<Endpoint> = {}, given: Partial<CeilingOptions> = {}) => {
    const request = requestOf(fields);
    const prompt = boundOf(request);
    const of = ceilingOf(request, prompt, endpointOf(endpoint), { ...options, ...given });
    if (of === null) throw new Error('no ceiling');
    return { ...of, prompt };
  };
  it('is not known where the price is not', () => {
    expect(ceilingOf(requestOf({}), bare, endpointOf({ pricing: null }), options)).toBe(null);
    expect(affordableTokens(requestOf({}), bare, endpointOf({ pricing: null }), 1e9, options)).toBe(0);
  });
  it('is the prompt and the largest output at their prices', () => {
    const { nanoUsd, promptTokens, completionTokens, prompt } = ceiling({ max_tokens: 100 });
    expect(promptTokens).toBe(prompt.tokens);
    expect(completionTokens).toBe(100);
    expect(nanoUsd).toBe(prompt.tokens * 1_000 + 100 * 2_000);
  });
  it('takes the dearest price of each side', () => {
    const dear = { promptPicoUsd: 1_000, completionPicoUsd: 1_000 };
    for (const field of ['cacheRead', 'cacheWriteHour', 'cacheWrite12h', 'audio', 'audioCacheRead', 'imageToken']) {
      const { nanoUsd, prompt } = ceiling({ max_tokens: 100 }, { pricing: { ...dear, [`${field}PicoUsd`]: 7_000 } });
      expect([field, nanoUsd]).toEqual([field, prompt.tokens * 7 + 100]);
    }
    for (const field of ['reasoning', 'audioOutput', 'imageOutput']) {
      const { nanoUsd, prompt } = ceiling({ max_tokens: 100 }, { pricing: { ...dear, [`${field}PicoUsd`]: 7_000 } });
      expect([field, nanoUsd]).toEqual([field, prompt.tokens + 700]);
    }
  });
  it('takes the prices of long prompts where the prompt may be one', () => {
    const pricing = { promptPicoUsd: 1_000, completionPicoUsd: 1_000 };
    const long = (abovePromptTokens: number) => [{ abovePromptTokens, promptPicoUsd: 2_000, completionPicoUsd: 3_000 }];
    const at = bare.tokens;
    const costOf = (above: number) =>
      ceilingOf(saying('', {}), bare, endpointOf({ pricing: { ...pricing, longPrompts: long(above) } }), {
        defaultMaxTokens: 10,
      });
    expect(costOf(at)?.nanoUsd).toBe(at + 10);
    expect(costOf(at - 1)?.nanoUsd).toBe(2 * at + 30);
  });
  it('holds every answer that is asked for', () => {
    expect(ceiling({ max_tokens: 100, n: 4 })).toMatchObject({ completionTokens: 400, maxTokens: 100 });
    expect(ceiling({ max_tokens: 100, n: 4 }).nanoUsd - ceiling({ max_tokens: 100, n: 1 }).nanoUsd).toBe(300 * 2_000);
  });
  it('holds pictures, searches and the request where they are charged', () => {
    const pricing = {
      promptPicoUsd: 0,
      completionPicoUsd: 0,
      imagePicoUsd: 5_000,
      webSearchPicoUsd: 9_000,
      requestPicoUsd: 1_000,
    };
    const image = { type: 'image_url', image_url: { url: 'https://x.test' } };
    const messages = [{ role: 'user', content: [image, image] }];
    expect(ceiling({ messages }, { pricing }).nanoUsd).toBe(2 * 5 + 1);
    expect(ceiling({ messages, web_search_options: {} }, { pricing }).nanoUsd).toBe(2 * 5 + 20 * 9 + 1);
  });
  it('holds a prediction twice: as prompt, and as output that is not used', () => {
    const { completionTokens, prompt } = ceiling({ max_tokens: 100, prediction: { content: 'x'.repeat(500) } });
    expect(prompt.predictedTokens).toBeGreaterThan(500);
    expect(completionTokens).toBe(100 + prompt.predictedTokens);
  });
  describe('holds reasoning', () => {
    const listing = { supportedParameters: ['tools', 'reasoning'] };
    it.each<[string, CeilingOptions['reasoningBeside'], Partial<Endpoint>, number]>([
      ['up to the context, where the provider counts it beside the output', true, {}, 100_100],
      ['up to a limit of its own, where it is known', 5_000, {}, 5_100],
      ['within the output, where the provider counts both together', false, listing, 100],
      ['up to the context, where the endpoint reasons and nothing is known', undefined, listing, 100_100],
      ['within the output, where nothing says that the endpoint reasons', undefined, {}, 100],
      ['within the output of an endpoint that does not reason', undefined, { supportedParameters: ['tools'] }, 100],
    ])('%s', (_, reasoningBeside, endpoint, completionTokens) => {
      expect(ceiling({ max_tokens: 100 }, { contextLength: 100_000, ...endpoint }, { reasoningBeside })).toMatchObject({
        completionTokens,
        maxTokens: 100,
      });
    });
    it('not at all, where nothing limits it', () => {
      const given = { ...options, reasoningBeside: true };
      expect(ceilingOf(requestOf({ max_tokens: 100 }), bare, endpointOf(), given)).toBe(null);
      expect(affordableTokens(requestOf({ max_tokens: 100 }), bare, endpointOf(), 1e12, given)).toBe(0);
      expect(unknownPart(bare, endpointOf(), given)).toMatch(/^reasoning/);
    });
  });
  it('holds a text that is longer than the context, with the prices of long prompts beyond it', () => {
    const messages = [{ role: 'user', content: 'x'.repeat(50_000) }];
    const longPrompts = [{ abovePromptTokens: 8_192, promptPicoUsd: 3_000_000 }];
    const pricing = { promptPicoUsd: 1_000_000, completionPicoUsd: 2_000_000, longPrompts };
    const held = ceiling({ messages, max_tokens: 10 }, { contextLength: 8_192, pricing });
    expect(held.promptTokens).toBe(held.prompt.tokens);
    expect(held.nanoUsd).toBe(held.prompt.tokens * 3_000 + 10 * 2_000);
  });
  it('holds media for no more than the context, unless a dearer price begins beyond it', () => {
    const messages = [{ role: 'user', content: [{ type: 'file', file: { file_id: 'f' } }] }];
    const { promptTokens, prompt } = ceiling({ messages }, { contextLength: 8_192 });
    expect(promptTokens).toBe(8_192 + prompt.tokens - 1_000_000);
    const pricing = {
      promptPicoUsd: 1,
      completionPicoUsd: 1,
      longPrompts: [{ abovePromptTokens: 8_192, promptPicoUsd: 2 }],
    };
    expect(ceiling({ messages }, { contextLength: 8_192, pricing }).promptTokens).toBe(prompt.tokens);
    expect(ceiling({ messages, web_search_options: {} }, { contextLength: 8_192 }).promptTokens).toBeGreaterThan(
      208_192,
    );
  });
  it('holds small pictures as such only where the provider is known to honour it', () => {
    const messages = [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'u', detail: 'low' } }] }];
    const { promptTokens: large } = ceiling({ messages });
    expect(ceiling({ messages }, {}, { lowDetail: true }).promptTokens).toBe(large - 47_000);
  });
  it.each(['sonar-pro', 'gpt-4o-search-preview', 'some-model:online', 'groq/compound', 'o3-deep-research'])(
    'holds searches of %s, whatever is asked',
    (upstreamModel) => {
      const pricing = { promptPicoUsd: 0, completionPicoUsd: 0, webSearchPicoUsd: 9_000 };
      expect(ceiling({}, { upstreamModel, pricing }).nanoUsd).toBe(20 * 9);
      expect(ceiling({}, { upstreamModel, pricing }, { alwaysSearches: false }).nanoUsd).toBe(0);
    },
  );
  it('holds searches of a provider that always searches, but not of a model that only sounds like it', () => {
    const pricing = { promptPicoUsd: 0, completionPicoUsd: 0, webSearchPicoUsd: 9_000 };
    expect(ceiling({}, { pricing }, { alwaysSearches: true }).nanoUsd).toBe(20 * 9);
    for (const upstreamModel of ['research-1', 'searcher', 'browser-use', 'onliner'])
      expect(ceiling({}, { upstreamModel, pricing }).nanoUsd).toBe(0);
  });
  it('is not known where the price of a kind is not that the request needs', () => {
    const part = (fields: object, kind: PricedKind, given: Partial<CeilingOptions> = {}) => {
      const endpoint = endpointOf({ pricing: { promptPicoUsd: 1, completionPicoUsd: 1, unknownKinds: [kind] } });
      const prompt = boundOf(requestOf(fields));
      const all = { ...options, ...given };
      const unknown = unknownPart(prompt, endpoint, all);
      expect(ceilingOf(requestOf(fields), prompt, endpoint, all) === null).toBe(unknown !== null);
      return unknown;
    };
    const of = (one: object) => ({ messages: [{ role: 'user', content: [one] }] });
    const sound = { type: 'input_audio', input_audio: { data: 'A', format: 'mp3' } };
    const film = { type: 'video_url', video_url: { url: 'u' } };
    const picture = { type: 'image_url', image_url: { url: 'u' } };
    for (const one of [sound, film]) expect(part(of(one), 'audio')).toBe('audio in the prompt');
    expect(part({ messages: [{ role: 'assistant', audio: { id: 'a' } }] }, 'audio')).toBe('audio in the prompt');
    for (const one of [picture, film, { type: 'file', file: {} }])
      expect(part(of(one), 'image')).toBe('images in the prompt');
    for (const fields of [{ modalities: ['text', 'audio'] }, { audio: { voice: 'alloy' } }])
      expect(part(fields, 'audioOutput')).toBe('audio in the response');
    for (const fields of [{ modalities: ['image'] }, { image_config: { aspect_ratio: '1:1' } }])
      expect(part(fields, 'imageOutput')).toBe('images in the response');
    expect(part({ enable_search: true }, 'search')).toBe('web searches');
    expect(part({}, 'search', { alwaysSearches: true })).toBe('web searches');
    for (const kind of ['audio', 'image', 'audioOutput', 'imageOutput', 'search'] as const)
      expect(part({}, kind)).toBe(null);
    expect(part(of(picture), 'audio')).toBe(null);
  });
});

describe('a field that nobody knows', () => {
  it.each<[string, object, string]>([
    ['of the request', { connectors: [{ id: 'web-search' }] }, 'connectors'],
    ['that would be a body of its own', { extra_body: { n: 100 } }, 'extra_body'],
    ['of search', { web_search_options: { search_type: 'pro' } }, 'web_search_options.search_type'],
    ['of Venice', { venice_parameters: { enable_x_search: true } }, 'venice_parameters.enable_x_search'],
    ['of a message', { messages: [{ role: 'user', content: '', attachments: ['f'] }] }, 'messages[].attachments'],
    [
      'of a part',
      { messages: [{ role: 'user', content: [{ type: 'text', text: '', document: 'u' }] }] },
      'messages[].content[].document',
    ],
  ])('%s is named', (_, fields, path) => {
    expect([...boundOf(requestOf(fields)).unknownFields]).toEqual([path]);
  });
  it('is not one that costs no more than its text, or that has no value', () => {
    const fields = {
      temperature: 1,
      tool_choice: 'auto',
      enable_thinking: true,
      web_search_options: { search_context_size: 'low' },
      venice_parameters: { disable_thinking: true },
      connectors: null,
      n: 2,
    };
    const { unknownFields, searches } = boundOf(requestOf(fields));
    expect([...unknownFields]).toEqual([]);
    expect(searches).toBe(20);
    expect(boundOf(requestOf({ venice_parameters: { disable_thinking: true } })).searches).toBe(0);
  });
  it('is named with few others, and none at length', () => {
    const fields = Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`${at}${'x'.repeat(500)}`, 1]));
    const { unknownFields } = boundOf(requestOf(fields));
    expect(unknownFields.size).toBe(10);
    for (const path of unknownFields) expect(path.length).toBeLessThanOrEqual(80);
  });
});

const price = fc.oneof(fc.constant(0), fc.nat({ max: 100_000_000 }));
const tokenPrices = {
  promptPicoUsd: price,
  completionPicoUsd: price,
  cacheReadPicoUsd: price,
  cacheWritePicoUsd: price,
  cacheWriteHourPicoUsd: price,
  audioPicoUsd: price,
  audioCacheReadPicoUsd: price,
  imageTokenPicoUsd: price,
  reasoningPicoUsd: price,
  audioOutputPicoUsd: price,
  imageOutputPicoUsd: price,
};
const somePricing: fc.Arbitrary<Pricing> = fc.record(
  {
    ...tokenPrices,
    imagePicoUsd: price,
    webSearchPicoUsd: price,
    requestPicoUsd: price,
    longPrompts: fc.array(
      fc.record(
        { abovePromptTokens: fc.nat({ max: 10_000 }), ...tokenPrices },
        { requiredKeys: ['abovePromptTokens'] },
      ),
      { maxLength: 3 },
    ),
  },
  { requiredKeys: ['promptPicoUsd', 'completionPicoUsd'] },
);
const limit = fc.option(fc.integer({ min: 1, max: 200_000 }));
const someEndpoint = fc
  .record({ pricing: somePricing, contextLength: limit, maxCompletionTokens: limit })
  .map((fields) => endpointOf(fields));
const someOptions = fc.record({
  defaultMaxTokens: fc.integer({ min: 1, max: 10_000 }),
  minMaxTokens: fc.constantFrom(0, 1, 16),
  reasoningBeside: fc.constantFrom(undefined, false, 1, 5_000),
  alwaysSend: fc.boolean(),
  lowDetail: fc.boolean(),
  alwaysSearches: fc.constantFrom(undefined, true),
});
const someRequest = fc
  .record({
    text: scriptText(40),
    images: fc.nat({ max: 2 }),
    max_tokens: limit,
    max_completion_tokens: limit,
    n: fc.constantFrom(undefined, 1, 3),
    prediction: fc.constantFrom(undefined, { type: 'content', content: 'old text' }),
    web_search_options: fc.constantFrom(undefined, {}),
  })
  .map(({ text, images, ...fields }) => {
    const pictures = Array.from({ length: images }, () => ({
      type: 'image_url',
      image_url: { url: 'https://x.test' },
    }));
    return requestOf({ messages: [{ role: 'user', content: [{ type: 'text', text }, ...pictures] }], ...fields });
  });
/** A share of something, now and then all of it. */
const share = fc.oneof(fc.constant(1), fc.constant(0), fc.double({ min: 0, max: 1, noNaN: true }));
const shares = fc.record({
  prompt: share,
  completion: share,
  searches: share,
  inDetails: fc.array(share, { minLength: 5, maxLength: 5 }),
  outDetails: fc.array(share, { minLength: 3, maxLength: 3 }),
});

describe('whatever is asked, charged and reported,', () => {
  it('a cost is within the ceiling', () => {
    fc.assert(
      fc.property(someRequest, someEndpoint, someOptions, shares, (request, endpoint, given, part) => {
        const prompt = boundOf(request);
        const ceiling = ceilingOf(request, prompt, endpoint, given);
        if (ceiling === null) throw new Error('no ceiling');
        const prompts = Math.floor(ceiling.promptTokens * part.prompt);
        const completions = Math.floor(ceiling.completionTokens * part.completion);
        const [cached, written, hour, audio, image] = part.inDetails.map((of) => Math.floor(prompts * of));
        const [reasoning, audioOut, imageOut] = part.outDetails.map((of) => Math.floor(completions * of));
        const usage: Usage = {
          prompt_tokens: prompts,
          completion_tokens: completions,
          total_tokens: prompts + completions,
          prompt_tokens_details: {
            cached_tokens: cached,
            cache_write_tokens: written,
            cache_write_1h_tokens: hour,
            audio_tokens: audio,
            image_tokens: image,
          },
          completion_tokens_details: { reasoning_tokens: reasoning, audio_tokens: audioOut, image_tokens: imageOut },
          server_tool_use_details: { web_search_requests: Math.floor(prompt.searches * part.searches) },
        };
        const { totalNanoUsd } = priceUsage(usage, endpoint.pricing as Pricing, prompt.images);
        expect(totalNanoUsd).toBeLessThanOrEqual(ceiling.nanoUsd);
      }),
      { numRuns: 1_000 },
    );
  });
  it('the output that is affordable is the largest whose ceiling is within the amount', () => {
    fc.assert(
      fc.property(someRequest, someEndpoint, someOptions, share, (request, endpoint, given, part) => {
        const prompt = boundOf(request);
        const ceilingAt = (maxTokens: number) =>
          ceilingOf({ ...request, max_tokens: null, max_completion_tokens: maxTokens }, prompt, endpoint, given);
        const own = ceilingOf(request, prompt, endpoint, given);
        if (own === null) throw new Error('no ceiling');
        const amount = Math.floor(own.nanoUsd * 1.1 * part);
        const tokens = affordableTokens(request, prompt, endpoint, amount, given);
        expect(tokens).toBeLessThanOrEqual(own.maxTokens);
        if (tokens > 0) expect(ceilingAt(tokens)?.nanoUsd).toBeLessThanOrEqual(amount);
        const { contextLength, maxCompletionTokens } = endpoint;
        const natural = Math.min(maxCompletionTokens ?? Number.POSITIVE_INFINITY, contextLength ?? own.maxTokens);
        if (tokens < Math.min(own.maxTokens, natural)) {
          const next = Math.max(tokens + 1, given.minMaxTokens);
          expect(ceilingAt(next)?.nanoUsd).toBeGreaterThan(amount);
        }
        if (amount >= own.nanoUsd) expect(tokens).toBe(own.maxTokens);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('the output that is affordable', () => {
  const request = requestOf({ max_tokens: 100 });
  const prompt = boundOf(request);
  const promptNanoUsd = prompt.tokens * 1_000;
  const within = (amount: number, given: Partial<CeilingOptions> = {}) =>
    affordableTokens(request, prompt, endpointOf(), amount, { ...options, ...given });

  it.each([
    ['nothing, where not even the prompt is', promptNanoUsd - 1, 0],
    ['nothing, where only the prompt is', promptNanoUsd, 0],
    ['nothing, where a token more is not', promptNanoUsd + 1_999, 0],
    ['to the last nano-USD', promptNanoUsd + 2_000, 1],
    ['to the last token', promptNanoUsd + 99 * 2_000 + 1_999, 99],
    ['all that is asked for', promptNanoUsd + 100 * 2_000, 100],
    ['no more than is asked for', Number.MAX_SAFE_INTEGER, 100],
    ['no more than is asked for, of an endless budget', Number.POSITIVE_INFINITY, 100],
    ['nothing, of a debt', -1, 0],
    ['nothing, of no number', Number.NaN, 0],
  ])('is %s', (_, amount, tokens) => {
    expect(within(amount)).toBe(tokens);
  });
  it('is nothing where the provider takes no less than what is too much', () => {
    expect(within(promptNanoUsd + 15 * 2_000, { minMaxTokens: 16 })).toBe(0);
    expect(within(promptNanoUsd + 16 * 2_000, { minMaxTokens: 16 })).toBe(16);
  });
  it('may be more than the usual output, where a request asks for more and nobody knows the limit of the endpoint', () => {
    const amount = promptNanoUsd + 50 * 2_000;
    expect(within(amount, { defaultMaxTokens: 10 })).toBe(50);
  });
  it('is all of it where it is free', () => {
    const free = endpointOf({ pricing: { promptPicoUsd: 0, completionPicoUsd: 0 } });
    expect(affordableTokens(request, prompt, free, 0, options)).toBe(100);
  });
});
