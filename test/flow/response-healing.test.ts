import { describe, expect, it } from 'vitest';
// Loaded beforehand: loading takes time that a manual clock knows nothing of.
import '../../src/plugins/response-healing/heal.ts';
import { type ResponseHealingOptions, responseHealing } from '../../src/plugins/response-healing.ts';
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
    expect(json.service_metadata?.pipeline).toMatchObject([{ summary: 'too long' }]);
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
