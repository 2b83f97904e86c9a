// Loaded beforehand: a guardrail loads it when it is first needed, which takes time that a manual clock knows nothing of.
import 're2js';
import { describe, expect, it } from 'vitest';
import { textGuardrail } from '../../src/guardrails/text-guardrail.ts';
import type { GatewayOptions } from '../../src/options.ts';
import { eventFrame } from '../support/converse-wire.ts';
import { testGateway, testKey, testPricing } from '../support/gateway.ts';
import { loadRecordings } from '../support/recordings.ts';
import { describeWithShared } from '../support/reference.ts';
import { engineOf } from '../support/search.ts';

// biome-ignore lint/suspicious/noExplicitAny: of any response, for a test to look into
type Json = any;

const model = 'us.anthropic.claude-sonnet-4-6';
const host = `https://bedrock-runtime.us-east-1.amazonaws.com/model/${model}`;
const vertex = 'claude-sonnet-4-6';
const hello = [{ role: 'user', content: 'Hello' }];

/** A gateway before Claude at Bedrock and at Google Cloud. */
function clouds(options: Partial<GatewayOptions> = {}) {
  const tested = testGateway({
    providers: {
      'amazon-bedrock': { apiKey: 'bedrock-key-0123456789', credential: { region: 'us-east-1' } },
      cloud: {
        baseUrl: 'https://cloud.test/v1/publishers/anthropic/models',
        apiKey: 'sk-cloud-0123456789',
        dialect: 'anthropic-messages',
        quirks: { host: 'vertex' },
      },
    },
    models: [
      { slug: 'acme/aws', endpoints: [{ provider: 'amazon-bedrock', model, pricing: testPricing }] },
      { slug: 'acme/gcp', endpoints: [{ provider: 'cloud', model: vertex, pricing: testPricing }] },
    ],
    ...options,
  });
  const post = (body: object, headers: Record<string, string> = {}, path = '/messages') =>
    tested.call(
      'POST',
      path,
      { model: 'acme/aws', max_tokens: 100, messages: hello, ...body },
      { authorization: `Bearer ${testKey}`, ...headers },
    );
  const stream = async (body: object = {}): Promise<string> => {
    const request = new Request('http://gateway.test/v1/messages', {
      method: 'POST',
      headers: { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'acme/aws', max_tokens: 100, messages: hello, stream: true, ...body }),
    });
    const response = await tested.run(tested.gateway.fetch(request));
    return tested.run(response.text());
  };
  return { ...tested, post, stream };
}

const message = (more: object = {}) => ({
  id: 'msg_bdrk_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-6',
  content: [
    { type: 'thinking', thinking: 'Hm', signature: 'c2ln' },
    { type: 'text', text: 'Hi' },
  ],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 10, cache_read_input_tokens: 4, output_tokens: 2 },
  ...more,
});

const eventOf = (event: Json): Uint8Array =>
  eventFrame('chunk', { bytes: Buffer.from(JSON.stringify(event)).toString('base64'), p: 'abc' });

const events = (usage = { input_tokens: 10, output_tokens: 1 }): Json[] => [
  { type: 'message_start', message: message({ content: [], stop_reason: null, usage }) },
  { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'c2ln' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Grüße' } },
  { type: 'content_block_stop', index: 1 },
  {
    type: 'message_delta',
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: 2 },
  },
  { type: 'message_stop', 'amazon-bedrock-invocationMetrics': { inputTokenCount: 10, outputTokenCount: 2 } },
];

describe('a Messages request for Claude at Bedrock', () => {
  it('goes to InvokeModel as it came, without the model and with the features under trial that Bedrock knows', async () => {
    const { post, upstream, records } = clouds();
    upstream.answer({ body: message({ 'amazon-bedrock-invocationMetrics': { inputTokenCount: 10 } }) });
    const thought = { type: 'thinking', thinking: '', signature: 'c2lnbmF0dXJl' };
    const call = { type: 'tool_use', id: 'toolu_1', name: 'read', input: { b: 1, a: 2 } };
    const own = {
      system: [{ type: 'text', text: 'Be brief', cache_control: { type: 'ephemeral' } }],
      messages: [
        ...hello,
        { role: 'assistant', content: [thought, call] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'x' }] },
      ],
      tools: [{ name: 'read', input_schema: { type: 'object', $schema: 'x' } }],
      thinking: { type: 'adaptive', display: 'omitted' },
      metadata: { user_id: 'u' },
    };
    const { json, headers } = await post(
      { ...own, session_id: 's' },
      { 'anthropic-beta': 'context-1m-2025-08-07, brand-new-1', 'anthropic-version': '2026-10-21' },
    );
    const [sent] = upstream.sent as Json[];
    expect(sent.url).toBe(`${host}/invoke`);
    expect(sent.body).toEqual({
      anthropic_version: 'bedrock-2023-05-31',
      anthropic_beta: ['context-1m-2025-08-07'],
      max_tokens: 100,
      ...own,
    });
    expect(Object.keys(sent.headers).filter((name) => name.startsWith('anthropic'))).toEqual([]);
    expect(headers.get('x-service-dropped')).toBe('anthropic-beta.brand-new-1');
    expect(json).toEqual(message({ model: 'acme/aws' }));
    expect(records[0]).toMatchObject({ outcome: 'ok', usage: { prompt_tokens: 14, completion_tokens: 2 } });
  });
  it('leaves out and names what Bedrock refuses', async () => {
    const { post, upstream } = clouds();
    upstream.answer({ body: message() });
    const deferred = { name: 'later', input_schema: { type: 'object' }, defer_loading: true };
    const { headers } = await post({
      context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
      output_config: { effort: 'high' },
      service_tier: 'auto',
      brand_new: 1,
      tools: [
        { name: 'read', input_schema: { type: 'object' }, strict: true, eager_input_streaming: true },
        deferred,
        { type: 'web_search_20250305', name: 'web_search' },
      ],
    });
    const { body } = upstream.sent[0] as Json;
    expect(Object.keys(body).toSorted()).toEqual(['anthropic_version', 'max_tokens', 'messages', 'tools']);
    expect(body.tools).toEqual([{ name: 'read', input_schema: { type: 'object' } }]);
    expect(headers.get('x-service-dropped')?.split(', ').toSorted()).toEqual([
      'brand_new',
      'context_management',
      'output_config',
      'service_tier',
      'tools[].defer_loading',
      'tools[].eager_input_streaming',
      'tools[].strict',
      'tools[].web_search_20250305',
    ]);
  });
  it('has a mark on the request at its end, and instructions in the middle as text of the user', async () => {
    const { post, upstream } = clouds();
    upstream.answer({ body: message() });
    const mark = { type: 'ephemeral' };
    const messages = [...hello, { role: 'system', content: 'Mind the time' }];
    const { headers } = await post({ cache_control: mark, messages });
    expect(upstream.sent[0]?.body).toMatchObject({
      messages: [...hello, { role: 'user', content: [{ type: 'text', text: 'Mind the time', cache_control: mark }] }],
    });
    expect(headers.get('x-service-dropped')).toBeNull();
    const marked = Array.from({ length: 4 }, () => ({ type: 'text', text: 'a', cache_control: mark }));
    upstream.answer({ body: message() });
    const many = await post({ cache_control: mark, messages: [{ role: 'user', content: marked }] });
    expect(many.headers.get('x-service-dropped')).toBe('cache_control');
    expect(upstream.sent[1]?.body).toMatchObject({ messages: [{ role: 'user', content: marked }] });
  });
  it.each<[string, object]>([
    ['a form of the output', { output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } }],
    [
      'blocks of another provider’s tools',
      {
        messages: [
          ...hello,
          {
            role: 'assistant',
            content: [{ type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }],
          },
          ...hello,
        ],
      },
    ],
  ])('goes by Converse where it has %s', async (_, more) => {
    const { post, upstream } = clouds();
    upstream.answer({
      body: {
        output: { message: { role: 'assistant', content: [{ text: '{}' }] } },
        stopReason: 'end_turn',
        usage: { inputTokens: 3, outputTokens: 5, totalTokens: 8 },
      },
    });
    expect((await post(more)).json.content).toMatchObject([{ type: 'text', text: '{}' }]);
    expect(upstream.sent[0]?.url).toBe(`${host}/converse`);
  });
  it('goes by Converse where a guardrail has changed it, or the gateway searches for it', async () => {
    const answer = {
      body: {
        output: { message: { role: 'assistant', content: [{ text: 'Hi' }] } },
        stopReason: 'end_turn',
        usage: { inputTokens: 3, outputTokens: 5, totalTokens: 8 },
      },
    };
    const hush = textGuardrail({ id: 'hush', patterns: [{ name: 'hush', regex: 'hush-\\d+', action: 'redact' }] });
    const guarded = clouds({ guardrails: [hush] });
    guarded.upstream.answer(answer);
    await guarded.post({ messages: [{ role: 'user', content: 'hush-1' }] });
    const searching = clouds({ searchEngines: [engineOf([])] });
    searching.upstream.answer(answer);
    await searching.post({ tools: [{ type: 'web_search_20250305', name: 'web_search' }] });
    for (const { upstream } of [guarded, searching]) expect(upstream.sent[0]?.url).toBe(`${host}/converse`);
    expect(guarded.upstream.sent[0]?.text).not.toContain('hush-1');
    expect(searching.upstream.sent[0]?.text).toContain('web_search');
  });
  it('streams the events of the model, without the counts of Bedrock', async () => {
    const { stream, upstream, records } = clouds();
    upstream.answer({ body: [Buffer.concat(events().map(eventOf)) as Uint8Array] });
    const text = await stream();
    expect(upstream.sent[0]?.url).toBe(`${host}/invoke-with-response-stream`);
    expect(upstream.sent[0]?.body).not.toHaveProperty('stream');
    const expected = events().map((event) => {
      const { 'amazon-bedrock-invocationMetrics': _, ...rest } = event;
      const shown = rest.message ? { ...rest, message: { ...rest.message, model: 'acme/aws' } } : rest;
      return `event: ${event.type}\ndata: ${JSON.stringify(shown)}\n\n`;
    });
    expect(text).toBe(expected.join(''));
    expect(records[0]).toMatchObject({ outcome: 'ok', usage: { prompt_tokens: 10, completion_tokens: 2 } });
  });
  it.each<[string, Uint8Array]>([
    ['an exception', eventFrame('throttlingException', { message: 'Too many tokens' }, 'exception')],
    ['an event that is no base64', eventFrame('chunk', { bytes: '%%' })],
    [
      'an event of the model that is an error',
      eventOf({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }),
    ],
  ])('ends with an error where the stream breaks by %s', async (_, broken) => {
    const { stream, upstream, records } = clouds({ retry: { maxAttempts: 1 } });
    upstream.answer({ body: [Buffer.concat([...events().slice(0, 6).map(eventOf), broken]) as Uint8Array] });
    const text = await stream();
    expect(text).toMatch(/event: error\ndata: .*\n\n$/);
    expect(text).not.toMatch(/message_stop|message_delta/);
    expect(records[0]?.outcome).toBe('cut');
  });
  it('has the words of a refusal, by which clients repair a request', async () => {
    const { post, upstream } = clouds();
    const words = 'messages.1.content.0: Invalid `signature` in `thinking` block';
    upstream.answer({
      status: 400,
      headers: { 'x-amzn-errortype': 'ValidationException:http://internal.amazon.com/' },
      body: { message: words },
    });
    const { status, json } = await post({});
    expect([status, json]).toMatchObject([
      400,
      { type: 'error', error: { type: 'invalid_request_error', message: words } },
    ]);
  });
  it('has its tokens counted as it came', async () => {
    const { post, upstream } = clouds();
    upstream.answer({ body: { inputTokens: 5 } });
    const { json } = await post({ system: 'Be brief' }, {}, '/messages/count_tokens');
    expect(json).toEqual({ input_tokens: 5 });
    const { url, body } = upstream.sent[0] as Json;
    expect(url).toBe(`${host.replace('us.anthropic', 'anthropic')}/count-tokens`);
    expect(JSON.parse(Buffer.from(body.input.invokeModel.body, 'base64').toString())).toEqual({
      anthropic_version: 'bedrock-2023-05-31',
      max_tokens: 100,
      messages: hello,
      system: 'Be brief',
    });
  });
});

describe('a Messages request for Claude at Google Cloud', () => {
  it('goes on as it came, without what is refused there, which is named', async () => {
    const { post, upstream } = clouds();
    upstream.answer({ body: message() });
    const { headers } = await post(
      {
        model: 'acme/gcp',
        brand_new: 1,
        output_config: { effort: 'high' },
        context_management: { edits: [] },
        cache_control: { type: 'ephemeral' },
        tools: [{ name: 'read', input_schema: { type: 'object' }, strict: true }],
      },
      { 'anthropic-beta': 'a-1' },
    );
    const [sent] = upstream.sent as Json[];
    expect(sent.url).toBe(`https://cloud.test/v1/publishers/anthropic/models/${vertex}:rawPredict`);
    expect(sent.body).toEqual({
      anthropic_version: 'vertex-2023-10-16',
      max_tokens: 100,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello', cache_control: { type: 'ephemeral' } }] }],
      brand_new: 1,
      tools: [{ name: 'read', input_schema: { type: 'object' } }],
    });
    expect(headers.get('x-service-dropped')?.split(', ').toSorted()).toEqual([
      'context_management',
      'output_config',
      'tools[].strict',
    ]);
    expect(sent.headers['anthropic-beta']).toBeUndefined();
  });
});

describeWithShared('recorded streams of Claude, framed as Bedrock does', () => {
  const recordings = loadRecordings('anthropic-messages', (lines) => [
    lines.map((line) => `data: ${line}\n\n`).join(''),
  ])
    .filter(({ status, isStream }) => status === 200 && isStream)
    .map((one) => [one.name, one] as const);
  it.each(recordings)('%s comes out the same', async (_, { body }) => {
    const data = [...new TextDecoder().decode(body).matchAll(/^data: *(.*)$/gm)].map(([, event]) =>
      JSON.parse(event ?? ''),
    );
    const { stream, upstream } = clouds();
    upstream.answer({ body: [Buffer.concat(data.map(eventOf)) as Uint8Array] });
    const got = [...(await stream()).matchAll(/^data: (.*)$/gm)].map(([, event]) => JSON.parse(event ?? ''));
    const named = data.map((event) =>
      event.type === 'message_start' ? { ...event, message: { ...event.message, model: 'acme/aws' } } : event,
    );
    expect(got).toEqual(named);
  });
});
