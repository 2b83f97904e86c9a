import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../src/base/errors.ts';
import type { PluginHooks } from '../../src/call/hooks.ts';
import { defineGuardrail } from '../../src/guardrails/guardrail.ts';
import type { GatewayOptions } from '../../src/options.ts';
import { definePlugin } from '../../src/plugins/plugin.ts';
import type { ChatMessage } from '../../src/schema/chat/chat.ts';
import type { ChatChunk } from '../../src/schema/chat/chunk.ts';
import {
  askResponses,
  nativeMessage,
  nativeMessageEvents,
  nativeResponse,
  nativeStream,
  nativeUp,
  streamResponses,
} from '../support/ask-responses.ts';
import { checkResponsesResult, checkResponsesStream } from '../support/check-responses.ts';
import { type TestGateway, testGateway } from '../support/gateway.ts';
import { chunk, completion, sse, textStream } from '../support/upstream.ts';

const withPlugin = (hooks: PluginHooks, options: Partial<GatewayOptions> = {}) =>
  testGateway({ plugins: [definePlugin({ id: 'test', isDefault: true, ...hooks })], ...options });

/** Takes a word out of all that the client would read, wherever a chunk has it. */
const censor = (options: Partial<GatewayOptions> = {}): TestGateway =>
  testGateway({
    guardrails: [defineGuardrail({ id: 'words', steps: () => [{ push: (one) => [withoutWord(one)] }] })],
    ...options,
  });

function withoutWord(value: ChatChunk): ChatChunk {
  return { ...value, choices: value.choices.map((choice) => ({ ...choice, delta: clean(choice.delta) })) };
}

/** A copy as plugins make them: by spreading. */
function clean<T>(value: T): T {
  if (typeof value === 'string') return value.replaceAll('secret', '***') as T;
  if (Array.isArray(value)) return value.map(clean) as T;
  if (typeof value !== 'object' || value === null) return value;
  const copy = { ...value } as Record<string, unknown>;
  for (const key in copy) copy[key] = clean(copy[key]);
  return copy as T;
}

const said = 'It is secret.';
const citation = { type: 'url_citation', url: 'https://x.test/', title: 'secret', start_index: 0, end_index: 2 };
const call = {
  type: 'function_call',
  id: 'fc_1',
  status: 'completed',
  call_id: 'c1',
  name: 'f',
  arguments: '{"a":"secret"}',
};
const custom = {
  type: 'custom_tool_call',
  id: 'ctc_1',
  status: 'completed',
  call_id: 'c2',
  name: 'p',
  input: 'secret',
};
const thought = {
  type: 'reasoning',
  id: 'rs_1',
  summary: [{ type: 'summary_text', text: 'secret plan' }],
  content: [{ type: 'reasoning_text', text: 'secret thought' }],
};
const message = nativeMessage(said, {
  content: [
    { type: 'output_text', text: said, annotations: [citation], logprobs: [] },
    { type: 'refusal', refusal: 'No, secret' },
  ],
});
const output = [thought, message, call, custom];
const tools = [
  { type: 'function', name: 'f', parameters: {} },
  { type: 'custom', name: 'p' },
];

/** All of it in events, each text twice: in its deltas, and in the complete item. */
const events = [
  { type: 'response.output_item.added', output_index: 0, item: { ...thought, summary: [], content: [] } },
  { type: 'response.reasoning_summary_text.delta', output_index: 0, summary_index: 0, delta: 'secret plan' },
  { type: 'response.output_item.done', output_index: 0, item: thought },
  ...nativeMessageEvents(1, [said]).slice(0, -1),
  { type: 'response.output_text.annotation.added', output_index: 1, content_index: 0, annotation: citation },
  { type: 'response.output_item.done', output_index: 1, item: message },
  { type: 'response.output_item.added', output_index: 2, item: { ...call, arguments: '' } },
  { type: 'response.function_call_arguments.delta', output_index: 2, delta: call.arguments },
  { type: 'response.output_item.done', output_index: 2, item: call },
  { type: 'response.output_item.added', output_index: 3, item: { ...custom, input: '' } },
  { type: 'response.custom_tool_call_input.delta', output_index: 3, delta: custom.input },
  { type: 'response.output_item.done', output_index: 3, item: custom },
];

describe('a plugin of the host app, on a Responses request', () => {
  const nativeInput = [
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'My number is 42' }] },
    { type: 'message', role: 'user', content: 'Go on' },
  ];

  it('sees a chat request before it is routed and prepared', async () => {
    const seen: unknown[] = [];
    const test = withPlugin({
      before: (request) => {
        seen.push(request.messages);
        return request;
      },
      prepare: (request, { endpoint }) => ({ ...request, user: endpoint.providerSlug }),
    });
    test.upstream.answer({ body: completion() });
    await askResponses(test, { instructions: 'Be brief.', input: nativeInput });
    expect(seen).toEqual([
      [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'My number is 42' },
        { role: 'user', content: 'Go on' },
      ],
    ]);
    expect(test.upstream.sent[0]?.body.user).toBe('up');
  });
  it.each(['before', 'prepare', 'wrap'] as const)(
    'that replaces messages in `%s`: an upstream that speaks Responses gets them and not the items',
    async (hook) => {
      const retell = (messages: readonly ChatMessage[]): ChatMessage[] =>
        messages.map((one) =>
          JSON.stringify(one).includes('42') || one.role === 'system'
            ? ({ ...one, content: 'Left out' } as ChatMessage)
            : one,
        );
      const change = <R extends { messages: ChatMessage[] }>(request: R): R => ({
        ...request,
        messages: retell(request.messages),
      });
      const hooks: PluginHooks =
        hook === 'wrap' ? { wrap: (generate, request) => generate(change(request)) } : { [hook]: change };
      const test = withPlugin(hooks, nativeUp);
      test.upstream.answer({ body: nativeResponse([nativeMessage('Hi')]) });
      const { status } = await askResponses(test, { instructions: 'The number 42', input: nativeInput });
      const { text } = test.upstream.sent[0] ?? { text: '' };
      expect([status, text.includes('42'), text.match(/Left out/g)?.length]).toEqual([200, false, 2]);
      expect(test.upstream.sent[0]?.body.input).toContainEqual(nativeInput[1]);
    },
  );
  it('that takes a tool away: the upstream does not get it in another form', async () => {
    const test = withPlugin({ before: (request) => ({ ...request, tools: request.tools?.slice(1) }) }, nativeUp);
    test.upstream.answer({ body: nativeResponse([nativeMessage('Hi')]) });
    await askResponses(test, { tools });
    expect(test.upstream.sent[0]?.body.tools).toEqual([tools[1]]);
  });
  it.each([false, true])('that adds annotations has them in the message (stream: %s)', async (stream) => {
    const added = {
      type: 'url_citation',
      url_citation: { url: 'https://y.test/', title: 'Y', start_index: 0, end_index: 2 },
    };
    for (const options of [{}, nativeUp]) {
      const test = withPlugin(
        {
          before: (request, context) => {
            context.addAnnotations([added]);
            return request;
          },
        },
        options,
      );
      const isNative = 'providers' in options;
      const body = isNative
        ? stream
          ? nativeStream(nativeMessageEvents(0, ['Hi']), [nativeMessage('Hi')])
          : nativeResponse([nativeMessage('Hi')])
        : stream
          ? textStream('Hi')
          : completion();
      test.upstream.answer({ body });
      const result = stream
        ? checkResponsesStream((await streamResponses(test)).text).final
        : (await askResponses(test)).json;
      expect([isNative, JSON.stringify(result.output)]).toEqual([isNative, expect.stringContaining('https://y.test/')]);
    }
  });
});

describe('a guardrail that takes a word out', () => {
  it('finds it in a complete response of an upstream that speaks Responses, wherever it is', async () => {
    for (const item of output) {
      const test = censor(nativeUp);
      test.upstream.answer({ body: nativeResponse([item]) });
      const { status, text, json } = await askResponses(test, { tools });
      expect(status).toBe(200);
      checkResponsesResult(json);
      expect(text).not.toContain('secret');
      expect(text).toContain('***');
    }
  });
  it.each([false, true])('lets no item pass that it cannot see, but a compaction (stream: %s)', async (stream) => {
    const search = {
      type: 'web_search_call',
      id: 'ws',
      status: 'completed',
      action: { type: 'search', query: 'secret' },
    };
    const mystery = { type: 'mystery', id: 'm', status: 'completed', said: 'secret' };
    const compaction = { type: 'compaction', id: 'cmp', encrypted_content: 'gAAA' };
    const items = [search, nativeMessage('It is secret.'), mystery, compaction];
    const told = items.flatMap((item, at) => [
      { type: 'response.output_item.added', output_index: at, item },
      { type: 'response.mystery.searching', output_index: at, query: 'secret' },
      { type: 'response.output_item.done', output_index: at, item },
    ]);
    const test = censor(nativeUp);
    test.upstream.answer({ body: stream ? nativeStream(told, items) : nativeResponse(items) });
    const { text } = stream ? await streamResponses(test) : await askResponses(test);
    const final = stream ? checkResponsesStream(text).final : JSON.parse(text);
    expect(text).not.toContain('secret');
    expect(final.output).toMatchObject([{ content: [{ text: 'It is ***.' }] }, { type: 'compaction' }]);
  });
  it('finds an annotation that alone has it', async () => {
    const test = censor(nativeUp);
    const cited = nativeMessage('Fine', {
      content: [{ type: 'output_text', text: 'Fine', annotations: [citation], logprobs: [] }],
    });
    test.upstream.answer({ body: nativeResponse([cited]) });
    expect((await askResponses(test)).text).not.toContain('secret');
  });
  it('finds it in a stream, in all events and in the final response', async () => {
    const test = censor(nativeUp);
    test.upstream.answer({ body: nativeStream(events, output) });
    const { text } = await streamResponses(test, { tools });
    const { final } = checkResponsesStream(text);
    expect(text).not.toContain('secret');
    expect(final.output.map(({ type }) => type)).toEqual(['reasoning', 'message', 'function_call', 'custom_tool_call']);
  });
  it('finds it where only the end of the stream tells of it', async () => {
    const test = censor(nativeUp);
    test.upstream.answer({ body: nativeStream([], output) });
    const { text } = await streamResponses(test, { tools });
    checkResponsesStream(text);
    expect(text).not.toContain('secret');
  });
  it('finds it in a stream of a chat upstream, also in the input of a custom tool', async () => {
    const test = censor();
    test.upstream.answer({
      body: [
        sse(
          chunk({ role: 'assistant', content: said, reasoning: 'secret thought' }),
          chunk({
            tool_calls: [
              { index: 0, id: 'c', type: 'function', function: { name: 'p', arguments: '{"input":"secret"}' } },
            ],
          }),
          chunk({}, 'tool_calls'),
          '[DONE]',
        ),
      ],
    });
    const { text } = await streamResponses(test, { tools });
    checkResponsesStream(text);
    expect(text).not.toContain('secret');
  });
  it.each([false, true])('that holds all back until the end, and tells it anew (stream: %s)', async (stream) => {
    let held: ChatChunk[] = [];
    const test = testGateway({
      guardrails: [
        defineGuardrail({
          id: 'late',
          steps: () => [
            {
              push: (one) => {
                held.push(one);
                return [];
              },
              end: () => held.map(withoutWord),
            },
          ],
        }),
      ],
      ...nativeUp,
    });
    held = [];
    test.upstream.answer({ body: stream ? nativeStream(events, output) : nativeResponse(output) });
    const text = stream ? (await streamResponses(test, { tools })).text : (await askResponses(test, { tools })).text;
    if (stream) checkResponsesStream(text);
    else checkResponsesResult(JSON.parse(text));
    expect([text.includes('secret'), text.includes('***')]).toEqual([false, true]);
  });
});

describe('a step that refuses what it sees', () => {
  const refusing = (options: Partial<GatewayOptions>) =>
    testGateway({
      guardrails: [
        defineGuardrail({
          id: 'words',
          steps: () => [
            {
              push: (one) => {
                if (JSON.stringify(one).includes('secret')) throw new GatewayError('guardrail_blocked', 'Not that');
                return [one];
              },
            },
          ],
        }),
      ],
      ...options,
    });

  it.each([
    ['chat', {}, textStream('Hi ', 'secret')],
    ['Responses', nativeUp, nativeStream(nativeMessageEvents(0, ['Hi ', 'secret']), [nativeMessage('Hi secret')])],
  ] as const)(
    'fails the response in its stream, over an upstream of %s, and what was used is booked',
    async (_, options, body) => {
      const test = refusing(options);
      test.upstream.answer({ body });
      const { status, text } = await streamResponses(test, {}, { 'x-service-metadata': 'enabled' });
      const { final } = checkResponsesStream(text);
      expect([status, final]).toMatchObject([
        200,
        {
          status: 'failed',
          error: { message: 'Not that' },
          error_type: 'permission_denied',
          service_metadata: { attempt: 1 },
        },
      ]);
      expect(text).not.toContain('secret');
      expect(test.records).toMatchObject([{ outcome: 'cut', status: 403 }]);
      expect(test.records[0]?.costNanoUsd).toBeGreaterThan(0);
    },
  );
  it('is an HTTP error of a complete response', async () => {
    const test = refusing(nativeUp);
    test.upstream.answer({ body: nativeResponse([nativeMessage('secret')]) });
    const { status, json } = await askResponses(test);
    expect([status, json.error]).toMatchObject([403, { code: 403, message: 'Not that' }]);
  });
});
