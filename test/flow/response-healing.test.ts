import { describe, expect, it } from 'vitest';
// Loaded beforehand: loading takes time that a manual clock knows nothing of.
import '../../src/plugins/response-healing/heal.ts';
import '../../src/plugins/response-healing/reask.ts';
import { type ResponseHealingOptions, responseHealing } from '../../src/plugins/response-healing/index.ts';
import { askResponses, nativeMessage, nativeResponse, nativeUp, streamResponses } from '../support/ask-responses.ts';
import { checkResponsesStream } from '../support/check-responses.ts';
import { hello, testGateway } from '../support/gateway.ts';
import { chunk, completion, type Piece, sse, textStream, usageChunk } from '../support/upstream.ts';

const metadata = { 'x-service-metadata': 'enabled' };
const schema = { type: 'object', properties: { age: { type: 'integer' } }, required: ['age'] };
const plugins = [{ id: 'response-healing' }];
const ask = {
  model: 'acme/fast',
  messages: hello,
  plugins,
  response_format: { type: 'json_schema', json_schema: { name: 'person', schema } },
};
const broken = 'Sure: {age: "36",}';
const healed = '{"age":36}';

function gatewayWith(options: ResponseHealingOptions = {}, more: object = {}) {
  const test = testGateway({ plugins: [responseHealing(options)], ...more });
  test.upstream.always({ body: completion({}, { content: broken }) });
  return test;
}

describe('the plugin response-healing', () => {
  it('makes the JSON that was asked for, and says what it did', async () => {
    const { post, upstream } = testGateway();
    upstream.always({ body: completion({}, { content: broken }) });
    const { json } = await post(ask, metadata);
    expect(json.choices[0]?.message.content).toBe(healed);
    expect(json.service_metadata?.pipeline).toEqual([
      {
        type: 'response_healing',
        name: 'response-healing',
        summary: 'healed: extracted, repaired, coerced',
        data: {
          mode: 'json_schema',
          original_length: broken.length,
          healed_length: healed.length,
          fixes: ['extracted', 'repaired', 'coerced'],
          fits_schema: true,
        },
      },
    ]);
  });
  it.each<[string, object, object]>([
    ['valid', {}, { content: ' {"age" : 36}\n' }],
    ['not asked for as JSON', { response_format: { type: 'text' } }, { content: broken }],
    ['without a format', { response_format: undefined }, { content: broken }],
    ['switched off', { plugins: [{ id: 'response-healing', enabled: false }] }, { content: broken }],
    ['a refusal', {}, { content: null, refusal: 'No {' }],
  ])('leaves a response that is %s as it is, to the byte', async (_, body, message) => {
    const test = testGateway();
    test.upstream.always({ body: completion({}, message) });
    const { json } = await test.post({ ...ask, ...body }, metadata);
    expect(json.choices[0]?.message).toMatchObject(message);
    expect(json.service_metadata).not.toHaveProperty('pipeline');
  });
  it.each(['length', 'content_filter', 'tool_calls'])(
    'does not make a response look whole that ended by %s',
    async (finish_reason) => {
      const test = testGateway();
      test.upstream.always({ body: completion({}, { content: '{"age": 3' }, { finish_reason }) });
      const { json } = await test.post(ask);
      expect(json.choices[0]?.message.content).toBe('{"age": 3');
    },
  );
  it('heals each choice by itself', async () => {
    const test = testGateway();
    const choice = (index: number, content: string) => ({
      index,
      message: { role: 'assistant', content },
      finish_reason: 'stop',
    });
    test.upstream.always({ body: completion({ choices: [choice(0, healed), choice(1, broken)] }) });
    const { json } = await test.post({ ...ask, n: 2 }, metadata);
    expect(json.choices.map(({ message }) => message.content)).toEqual([healed, healed]);
    expect(json.service_metadata?.pipeline).toMatchObject([{ data: { choice: 1 } }]);
  });
  it('leaves a response alone that is longer than the limit, and says so', async () => {
    const { post } = gatewayWith({ maxChars: 10 });
    const { json } = await post(ask, metadata);
    expect(json.choices[0]?.message.content).toBe(broken);
    expect(json.service_metadata?.pipeline).toMatchObject([{ data: { reason: 'too_long' } }]);
  });
  it.each<[string, string, object, object]>([
    ['ends within a value', '{"age": 3', {}, { reason: 'cut', cut_in: 'a number', original_length: 9 }],
    ['can be read in two ways', '{"age": 3} {"age": 4}', {}, { reason: 'ambiguous' }],
    ['is prose', 'I cannot', {}, { reason: 'no_json' }],
    ['is valid, but of another shape', '{"old": 3}', {}, { reason: 'schema' }],
    [
      'was cut by its length',
      '{"age": 36',
      { finish_reason: 'length' },
      { reason: 'unfinished', finish_reason: 'length' },
    ],
  ])('leaves a response that %s, and says why', async (_, content, choice, data) => {
    const test = testGateway();
    test.upstream.always({ body: completion({}, { content }, choice) });
    const { json } = await test.post(ask, metadata);
    expect(json.choices[0]?.message.content).toBe(content);
    expect(json.service_metadata?.pipeline).toMatchObject([{ type: 'response_healing', data }]);
  });
  it('leaves a response that would take more steps than the host app allows, and says so', async () => {
    const { post } = gatewayWith({ maxSteps: 50 });
    const { json } = await post(ask, metadata);
    expect(json.choices[0]?.message.content).toBe(broken);
    expect(json.service_metadata?.pipeline).toMatchObject([{ data: { reason: 'steps' } }]);
  });
  it('puts nothing into its stages that the model has written', async () => {
    const word = 'Zebracanary';
    const strict = { ...schema, additionalProperties: false };
    const format = { type: 'json_schema', json_schema: { name: 'person', schema: strict } };
    const texts = [
      `{"${word}": "x"}`,
      `{"age": "${word}"}`,
      `${word}: {age: "36", }`,
      `{"age": 1, "${word}`,
      `{"age": 1} {"age": 2, "${word}": 3}`,
      `{"a": {"${word}": [}}`,
      word,
    ];
    for (const text of texts)
      for (const reask of [false, true]) {
        const { post, upstream, records } = gatewayWith({ reask });
        upstream.always({ body: completion({}, { content: text }) });
        const { json } = await post({ ...ask, response_format: format }, metadata);
        const { pipeline } = json.service_metadata ?? {};
        expect(pipeline?.length).toBeGreaterThan(0);
        expect(JSON.stringify([pipeline, records])).not.toContain(word);
      }
  });
  it('is shown by explain, also behind a plugin that generates several times, and in a stream', async () => {
    const test = testGateway();
    const explained = async (body: object) => {
      const { json } = await test.call('POST', '/chat/completions/explain', { ...ask, ...body });
      return (json.data.pipeline ?? []).filter(({ name }: { name: string }) => name === 'response-healing');
    };
    const fusion = { id: 'fusion', analysis_models: ['acme/fast', 'acme/fast'], model: 'acme/fast' };
    const shown = { type: 'response_healing', name: 'response-healing', data: { mode: 'json_schema' } };
    expect(await explained({})).toMatchObject([{ ...shown, summary: expect.stringContaining('is healed') }]);
    expect(await explained({ plugins: [fusion, ...plugins] })).toMatchObject([shown]);
    expect(await explained({ stream: true })).toMatchObject([{ ...shown, summary: 'a stream stays as it is' }]);
    expect(await explained({ response_format: { type: 'text' } })).toEqual([]);
    await test.call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 0.000001 });
    expect(await explained({})).toMatchObject([shown]);
  });
  it('may act on every request', async () => {
    const { post } = gatewayWith({ isDefault: true });
    expect((await post({ ...ask, plugins: undefined })).json.choices[0]?.message.content).toBe(healed);
  });
});

describe('a stream', () => {
  const pieces = (reason = 'stop'): Piece[] => [
    sse(chunk({ role: 'assistant', content: '' })),
    ...[...broken].map((letter) => sse(chunk({ content: letter }))),
    sse(chunk({}, reason)),
    sse(usageChunk()),
    sse('[DONE]'),
  ];
  const textOf = (chunks: readonly { choices: readonly { delta: { content?: string | null } }[] }[]) =>
    chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');

  it('stays as it is, unless the host app wants it healed', async () => {
    const { post, upstream } = gatewayWith();
    upstream.answer({ body: textStream(...broken) });
    const { chunks, text } = await post({ ...ask, stream: true }, metadata);
    expect(textOf(chunks)).toBe(broken);
    expect(text).toContain('a stream stays as it is');
  });
  it('is healed at its end where the host app wants it', async () => {
    const { post, upstream } = gatewayWith({ streams: true });
    upstream.answer({ body: pieces() }, { body: pieces('length') });
    const { chunks, text } = await post({ ...ask, stream: true }, metadata);
    expect(textOf(chunks)).toBe(healed);
    expect(chunks.at(-1)?.choices[0]?.finish_reason ?? 'stop').toBe('stop');
    expect(text).toContain('"fits_schema":true');
    expect(textOf((await post({ ...ask, stream: true })).chunks)).toBe(broken);
  });
  it('that breaks is not made whole', async () => {
    const { post, upstream } = gatewayWith({ streams: true });
    upstream.answer({ body: [...pieces().slice(0, 5), { breaks: true }] });
    const { chunks, text } = await post({ ...ask, stream: true });
    expect(textOf(chunks)).toBe(broken.slice(0, 4));
    expect(text).toContain('"finish_reason":"error"');
  });
});

describe('a Responses request', () => {
  const asked = { plugins, text: { format: { type: 'json_schema', name: 'person', schema } } };

  it('is healed over chat, and over a provider that speaks Responses', async () => {
    const chat = gatewayWith();
    expect((await askResponses(chat, asked)).json.output[0].content[0].text).toBe(healed);
    const native = gatewayWith({}, nativeUp);
    native.upstream.always({ body: nativeResponse([nativeMessage(broken)]) });
    expect((await askResponses(native, asked)).json.output[0].content[0].text).toBe(healed);
  });
  it('is healed in a stream where the host app wants it', async () => {
    const test = gatewayWith({ streams: true });
    test.upstream.answer({ body: textStream(...broken) });
    const { final } = checkResponsesStream((await streamResponses(test, asked)).text);
    expect(final.output).toMatchObject([{ content: [{ text: healed }] }]);
  });
});

describe('asking once more', () => {
  const bad = '{"age":"many","x":1}';
  const good = '{"age":7}';
  const textOf = (body: { choices: { message: { content?: unknown } }[] }) => body.choices[0]?.message.content;
  /** A gateway whose upstream says one text after the other. */
  function saying(options: ResponseHealingOptions, ...texts: string[]) {
    const test = testGateway({ plugins: [responseHealing({ reask: true, ...options })] });
    test.upstream.answer(...texts.map((text) => ({ body: completion({}, { content: text }) })));
    return test;
  }

  it('tells the model what was wrong, and delivers what fits', async () => {
    for (const second of [good, 'Sorry! ```json\n{age: "7"}\n```']) {
      const { post, upstream, records } = saying({}, bad, second);
      const { json } = await post({ ...ask, max_tokens: 100, tools: [], temperature: 0 }, metadata);
      expect(textOf(json)).toBe(good);
      const [first, again] = upstream.sent.map(({ body }) => body);
      expect(again).toEqual({
        ...first,
        messages: [
          ...hello,
          { role: 'assistant', content: bad },
          { role: 'user', content: expect.stringMatching(/^Your response is not the JSON.*\n- age: .*type/s) },
        ],
      });
      expect(json.service_metadata?.pipeline?.[0]).toMatchObject({
        type: 'response_healing',
        summary: 're-asked: the second response fits',
        data: { mode: 'json_schema', reasked: true, fits_schema: true },
      });
      expect(records[0]?.generations).toHaveLength(2);
      expect(records[0]?.costNanoUsd).toBe(2 * 36_000);
      expect(json.usage?.total_tokens).toBe(24);
    }
  });
  it('keeps the first response where the second is no better, and asks no third time', async () => {
    const { post, upstream } = saying({}, bad, 'I cannot');
    const { json } = await post(ask, metadata);
    expect([textOf(json), upstream.sent.length]).toEqual([bad, 2]);
    expect(json.service_metadata?.pipeline?.[0]?.summary).toBe('re-asked: the first response stays');
  });
  it('keeps the first response where there is no money for a second, or no provider', async () => {
    const test = saying({}, bad);
    const capped = { ...ask, max_tokens: 100 };
    await test.call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 1 });
    const { hold_usd } = (await test.call('POST', '/chat/completions/explain', capped)).json.data;
    await test.call('PUT', '/workspaces/default/budgets/daily', { limit_usd: hold_usd });
    const poor = await test.post(capped, metadata);
    expect([poor.status, textOf(poor.json), test.upstream.sent.length]).toEqual([200, bad, 1]);
    expect(poor.json.service_metadata?.pipeline?.[0]?.summary).toBe('re-asked: no second response');
    const { post, upstream } = saying({}, bad);
    upstream.always({ status: 400, body: { error: { message: 'No' } } });
    const lonely = await post(ask);
    expect([lonely.status, textOf(lonely.json)]).toEqual([200, bad]);
  });
  it('is for responses alone that cannot be healed: one generation for all others', async () => {
    for (const [text, fields] of [
      [good, {}],
      [broken, {}],
      ['any text', { response_format: undefined }],
      [bad, { response_format: { type: 'json_object' } }],
      [bad, { plugins: [{ id: 'response-healing', enabled: false }] }],
    ] as const) {
      const { post, upstream } = saying({}, text);
      expect((await post({ ...ask, ...fields })).status).toBe(200);
      expect(upstream.sent).toHaveLength(1);
    }
    const { post, upstream } = testGateway({ plugins: [responseHealing({ reask: true })] });
    const choice = (index: number) => ({
      index,
      message: { role: 'assistant', content: bad },
      finish_reason: 'stop',
    });
    upstream.always({ body: { ...completion(), choices: [choice(0), choice(1)] } });
    await post({ ...ask, n: 2 });
    expect(upstream.sent).toHaveLength(1);
  });
  it('is for streams where they are held, and for Responses', async () => {
    const streamed = { ...ask, stream: true };
    const held = saying({ streams: true }, bad, good);
    const { chunks } = await held.post(streamed, metadata);
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe(good);
    const live = testGateway({ plugins: [responseHealing({ reask: true })] });
    live.upstream.always({ body: textStream(bad) });
    await live.post(streamed);
    expect(live.upstream.sent).toHaveLength(1);
    const text = { format: { type: 'json_schema', name: 'person', schema } };
    const overChat = saying({}, bad, good);
    const { json } = await askResponses(overChat, { plugins, text });
    expect(json.output[0].content[0].text).toBe(good);
    const native = testGateway({ ...nativeUp, plugins: [responseHealing({ reask: true })] });
    native.upstream.answer(...[bad, good].map((one) => ({ body: nativeResponse([nativeMessage(one)]) })));
    const { json: other } = await askResponses(native, { plugins, text });
    expect(other.output[0].content[0].text).toBe(good);
    expect(native.upstream.sent[1]?.body.input).toHaveLength(3);
  });
  it('does not go on when the client leaves', async () => {
    const { send, upstream, clock, records } = saying({}, bad);
    upstream.always({ instead: 'hang' });
    const client = new AbortController();
    const sent = send(ask, {}, client.signal).catch(() => undefined);
    await clock.advance(10);
    client.abort();
    await clock.advance(10);
    await sent;
    expect(records.map(({ outcome, generations }) => [outcome, generations.length])).toEqual([['cancelled', 2]]);
  });
});
