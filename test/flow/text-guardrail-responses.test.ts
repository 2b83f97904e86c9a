import { describe, expect, it } from 'vitest';
import type { TextPattern } from '../../src/guardrails/text/pattern.ts';
import { textGuardrail } from '../../src/guardrails/text-guardrail.ts';
import type { GatewayOptions } from '../../src/options.ts';
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
import { chunk, completion, sse } from '../support/upstream.ts';

const metadata = { 'x-service-metadata': 'enabled' };
const address = 'bob@example.com';
const said = `Write to ${address} soon.`;
const clean = 'Write to [REDACTED:email] soon.';
const redactEmail: TextPattern = { builtin: 'email', action: 'redact' };
const blockEmail: TextPattern = { builtin: 'email', action: 'block' };

function guarded(pattern: TextPattern, options: Partial<GatewayOptions> = {}): TestGateway {
  return testGateway({ guardrails: [textGuardrail({ id: 'pii', patterns: [pattern] })], ...options });
}

const citation = { type: 'url_citation', url: 'https://x.test/', title: address, start_index: 0, end_index: 2 };
const token = { token: address, bytes: [98], logprob: 0, top_logprobs: [{ token: address, bytes: [98], logprob: 0 }] };
const call = {
  type: 'function_call',
  id: 'fc_1',
  status: 'completed',
  call_id: 'c1',
  name: 'f',
  arguments: JSON.stringify({ to: address }),
};
const custom = { type: 'custom_tool_call', id: 'ctc_1', status: 'completed', call_id: 'c2', name: 'p', input: said };
const thought = {
  type: 'reasoning',
  id: 'rs_1',
  summary: [{ type: 'summary_text', text: said }],
  content: [{ type: 'reasoning_text', text: said }],
  note: address,
};
const message = nativeMessage(said, {
  note: address,
  content: [
    { type: 'output_text', text: said, annotations: [citation], logprobs: [token] },
    { type: 'refusal', refusal: said },
  ],
});
const search = { type: 'web_search_call', id: 'ws', status: 'completed', action: { type: 'search', query: address } };
const output = [thought, message, call, custom, search];
const tools = [
  { type: 'function', name: 'f', parameters: {} },
  { type: 'custom', name: 'p' },
];

/** Every text twice: in pieces of so many characters, and in the complete item. */
function eventsOf(size: number): object[] {
  const pieces = (text: string) => text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
  const deltas = (type: string, index: number, text: string, more: object = {}) =>
    pieces(text).map((delta) => ({ type, output_index: index, delta, ...more }));
  return [
    { type: 'response.output_item.added', output_index: 0, item: { ...thought, summary: [], content: [] } },
    ...deltas('response.reasoning_summary_text.delta', 0, said, { summary_index: 0 }),
    ...deltas('response.reasoning_text.delta', 0, said, { content_index: 0 }),
    { type: 'response.output_item.done', output_index: 0, item: thought },
    ...nativeMessageEvents(1, pieces(said), { note: address }).slice(0, -1),
    { type: 'response.output_text.annotation.added', output_index: 1, content_index: 0, annotation: citation },
    ...deltas('response.refusal.delta', 1, said, { content_index: 1 }),
    { type: 'response.output_item.done', output_index: 1, item: message },
    { type: 'response.output_item.added', output_index: 2, item: { ...call, arguments: '' } },
    ...deltas('response.function_call_arguments.delta', 2, call.arguments),
    { type: 'response.output_item.done', output_index: 2, item: call },
    { type: 'response.output_item.added', output_index: 3, item: { ...custom, input: '' } },
    ...deltas('response.custom_tool_call_input.delta', 3, said),
    { type: 'response.output_item.done', output_index: 3, item: custom },
    { type: 'response.output_item.added', output_index: 4, item: search },
    { type: 'response.web_search_call.searching', output_index: 4, query: address },
    { type: 'response.output_item.done', output_index: 4, item: search },
  ];
}

const expected = [
  {
    type: 'reasoning',
    id: 'rs_1',
    summary: [{ type: 'summary_text', text: clean }],
    content: [{ type: 'reasoning_text', text: clean }],
  },
  {
    type: 'message',
    content: [
      { type: 'output_text', text: clean, annotations: [{ ...citation, title: '[REDACTED:email]' }] },
      { type: 'refusal', refusal: clean },
    ],
  },
  { type: 'function_call', id: 'fc_1', arguments: '{"to":"[REDACTED:email]"}' },
  { type: 'custom_tool_call', id: 'ctc_1', input: clean },
];

describe('redaction of a response of an upstream that speaks Responses', () => {
  it('finds every text of a complete response', async () => {
    const test = guarded(redactEmail, nativeUp);
    test.upstream.answer({ body: nativeResponse(output) });
    const { status, text, json } = await askResponses(test, { tools, include: ['message.output_text.logprobs'] });
    expect(status).toBe(200);
    checkResponsesResult(json);
    expect(text).not.toContain('example.com');
    expect(json.output).toMatchObject(expected);
  });
  it.each([1, 2, 3, 5, 8, 13, 100])('finds every text of a stream in pieces of %i characters', async (size) => {
    const test = guarded(redactEmail, nativeUp);
    test.upstream.answer({ body: nativeStream(eventsOf(size), output) });
    const { text } = await streamResponses(test, { tools });
    const { final } = checkResponsesStream(text);
    expect(text).not.toContain('example');
    expect(final.output).toMatchObject(expected);
  });
  it('finds what only the end of the stream tells', async () => {
    const test = guarded(redactEmail, nativeUp);
    test.upstream.answer({ body: nativeStream([], output) });
    const { text } = await streamResponses(test, { tools });
    const { final } = checkResponsesStream(text);
    expect(text).not.toContain('example.com');
    expect(final.output).toMatchObject(expected);
  });
});

describe('redaction of a response of a chat upstream, for a client that speaks Responses', () => {
  const pieces = ['Write to bo', 'b@exam', 'ple.com', ' soon.'];
  const frames = [
    ...pieces.map((reasoning) =>
      chunk({ reasoning, reasoning_details: [{ type: 'reasoning.text', text: reasoning, index: 0 }] }),
    ),
    ...pieces.map((content) => chunk({ content })),
    chunk({ tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'p', arguments: '' } }] }),
    ...[`{"input":"Write to bob@`, `example.com soon."}`].map((text) =>
      chunk({ tool_calls: [{ index: 0, function: { arguments: text } }] }),
    ),
    chunk({}, 'tool_calls'),
  ];

  it('keeps its items in order, each once', async () => {
    const test = guarded(redactEmail);
    test.upstream.answer({ body: [sse(...frames, '[DONE]')] });
    const { text } = await streamResponses(test, { tools });
    const { final } = checkResponsesStream(text);
    expect(text).not.toContain('exam');
    expect(final.output).toMatchObject([
      { type: 'reasoning' },
      { type: 'message', content: [{ text: clean }] },
      { type: 'custom_tool_call', input: clean },
    ]);
    expect(JSON.stringify(final.output[0]).split('[REDACTED:email]')).toHaveLength(2);
  });
  it('releases the end of a thought before the message begins', async () => {
    const test = guarded(redactEmail);
    test.upstream.answer({
      body: [sse(chunk({ reasoning: 'I think so' }), chunk({ content: 'Yes' }), chunk({}, 'stop'), '[DONE]')],
    });
    const { final } = checkResponsesStream((await streamResponses(test)).text);
    expect(final.output.map((item: object) => JSON.stringify(item))).toEqual([
      expect.stringContaining('"I think so"'),
      expect.stringContaining('"Yes"'),
    ]);
  });
});

describe('a response that is blocked', () => {
  it.each([
    [
      'chat',
      {},
      [sse(chunk({ content: 'Write to bob@' }), chunk({ content: 'example.com' }), chunk({}, 'stop'), '[DONE]')],
    ],
    [
      'Responses',
      nativeUp,
      nativeStream(nativeMessageEvents(0, ['Write to bob@', 'example.com']), [nativeMessage(said)]),
    ],
  ] as const)('fails in its stream, over an upstream of %s', async (_, options, body) => {
    const test = guarded(blockEmail, options);
    test.upstream.answer({ body });
    const { text } = await streamResponses(test, {}, metadata);
    const { final } = checkResponsesStream(text);
    expect(final).toMatchObject({
      status: 'failed',
      error_type: 'permission_denied',
      service_metadata: { pipeline: [{ guardrail_id: 'pii', data: { patterns: ['email'], direction: 'output' } }] },
    });
    expect(text).not.toContain('bob');
  });
  it('is a 403 of a complete one', async () => {
    const test = guarded(blockEmail, nativeUp);
    test.upstream.answer({ body: nativeResponse([nativeMessage(said)]) });
    const { status, json } = await askResponses(test);
    expect([status, json.error.metadata]).toMatchObject([403, { patterns: ['email'] }]);
  });
});

describe('a Responses request', () => {
  const item = (role: string, text: string) => ({ type: 'message', role, content: [{ type: 'input_text', text }] });
  const input = [
    item('user', said),
    { ...thought, note: undefined },
    { ...call },
    { type: 'function_call_output', call_id: 'c1', output: said },
    { ...item('user', 'Go on'), note: address },
  ];

  it.each([
    ['chat', {}, completion()],
    ['Responses', nativeUp, nativeResponse([nativeMessage('Hi')])],
  ] as const)('is redacted before it reaches an upstream of %s, also in its items', async (_, options, body) => {
    const test = guarded(redactEmail, options);
    test.upstream.answer({ body });
    const asked = [
      { ...tools[0], description: address },
      { ...tools[1], format: { type: 'grammar', syntax: 'regex', definition: `${address} ` } },
    ];
    const { status } = await askResponses(test, { instructions: said, input, tools: asked });
    const { text } = test.upstream.sent[0] ?? { text: '' };
    expect([status, text.includes('example.com'), text.includes(clean)]).toEqual([200, false, true]);
  });
  it('that is blocked reaches no upstream', async () => {
    const test = guarded(blockEmail, nativeUp);
    const { status, json } = await askResponses(test, { input });
    expect([status, json.error.metadata, test.upstream.sent.length]).toMatchObject([403, { patterns: ['email'] }, 0]);
  });
});
