import { describe, expect, it } from 'vitest';
import { type ChatRequest, chatRequestSchema } from '../../src/schema/chat/chat.ts';
import { hello, testGateway } from '../support/gateway.ts';
import { completion, textStream } from '../support/upstream.ts';

/** Every field of the contract's table with a valid value, and where it goes. */
const tool = {
  type: 'function',
  function: { name: 'look_up', description: 'Looks up', parameters: { type: 'object', properties: {} } },
};
const forwarded = {
  temperature: 0.5,
  top_p: 0.9,
  top_k: 40,
  min_p: 0.05,
  top_a: 0.1,
  frequency_penalty: -0.5,
  presence_penalty: 0.5,
  repetition_penalty: 1.1,
  logit_bias: { '50256': -100 },
  logprobs: true,
  top_logprobs: 3,
  seed: 7,
  stop: ['END', 'STOP'],
  tools: [tool],
  tool_choice: { type: 'function', function: { name: 'look_up' } },
  parallel_tool_calls: false,
  response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: { type: 'object' }, strict: true } },
  modalities: ['text'],
  image_config: { aspect_ratio: '16:9', n: 1, sizes: [1, 2] },
  reasoning_effort: 'low',
  service_tier: 'flex',
  user: 'user-1',
  metadata: { purpose: 'test' },
};
const keptHere = {
  models: ['acme/other'],
  reasoning: { effort: 'low', summary: 'auto' },
  session_id: 'session-1',
  cache_control: { type: 'ephemeral', ttl: '5m' },
  debug: { echo_upstream_body: true },
  plugins: [{ id: 'web', enabled: false }],
  provider: { allow_fallbacks: true },
  route: 'fallback',
  stop_server_tools_when: [{ type: 'step_count_is', step_count: 3 }],
  trace: { trace_id: 'trace-1', anything: 'else' },
};
const elsewhere = {
  messages: hello,
  model: 'acme/fast',
  max_tokens: 100,
  max_completion_tokens: 100,
  stream: false,
  stream_options: {},
};

async function sentFor(fields: object, quirks: object = {}) {
  const providers = { up: { baseUrl: 'https://up.test/v1', apiKey: 'sk-upstream-key', name: 'Up', quirks } };
  const { post, upstream } = testGateway({
    providers,
    models: [
      { slug: 'acme/fast', endpoints: [{ provider: 'up', model: 'up-fast' }] },
      { slug: 'acme/other', endpoints: [{ provider: 'up', model: 'up-other' }] },
    ],
  });
  const isStream = (fields as ChatRequest).stream === true;
  upstream.answer({ body: isStream ? textStream('Hi') : completion() });
  const answer = await post({ model: 'acme/fast', messages: hello, ...fields });
  expect([answer.status, answer.text.slice(0, 300)]).toEqual([200, expect.any(String)]);
  return upstream.sent[0]?.body ?? {};
}

describe('a chat request', () => {
  it('is covered here with all 39 fields of the contract', () => {
    const covered = Object.keys({ ...forwarded, ...keptHere, ...elsewhere });
    expect(covered.sort()).toEqual(Object.keys(chatRequestSchema().shape).sort());
    expect(covered).toHaveLength(39);
  });
  it('reaches the provider with every field that speaks to it, unchanged, and with none that speaks to the gateway', async () => {
    const sent = await sentFor({ ...forwarded, ...keptHere, max_tokens: 100 });
    expect(sent).toEqual({ ...forwarded, messages: hello, model: 'up-fast', max_tokens: 100 });
  });
  it('carries unknown top-level fields along', async () => {
    const unknown = {
      n: 2,
      verbosity: 'low',
      prediction: { type: 'content', content: 'x' },
      vendor_thing: [1, { a: null }],
    };
    expect(await sentFor(unknown)).toMatchObject(unknown);
  });
  it('leaves nulls out, which mean that a field is not set', async () => {
    const nulls = Object.fromEntries(
      [
        'temperature',
        'top_p',
        'top_k',
        'min_p',
        'top_a',
        'frequency_penalty',
        'presence_penalty',
        'repetition_penalty',
        'logit_bias',
        'logprobs',
        'top_logprobs',
        'seed',
        'stop',
        'parallel_tool_calls',
        'reasoning_effort',
        'service_tier',
        'max_tokens',
        'max_completion_tokens',
        'provider',
        'route',
        'unknown_field',
        'stream_options',
      ].map((name) => [name, null]),
    );
    expect(await sentFor(nulls)).toEqual({ model: 'up-fast', messages: hello });
  });
  it("is sent as one JSON body to the chat completions of the provider, with its key and not the caller's", async () => {
    const { post, upstream } = testGateway();
    upstream.answer({ body: completion() });
    await post(
      { model: 'acme/fast', messages: hello },
      { 'x-title': 'My app', cookie: 'a=b', 'x-forwarded-for': '10.0.0.1' },
    );
    const [sent] = upstream.sent;
    expect(sent?.url).toBe('https://up.test/v1/chat/completions');
    expect(sent?.headers).toEqual({
      authorization: 'Bearer sk-upstream-up-0123456789',
      'content-type': 'application/json',
      accept: 'application/json',
    });
  });
});

describe('the largest output', () => {
  it.each([
    ['max_tokens', {}, { max_tokens: 50 }, { max_tokens: 50 }],
    ['max_completion_tokens', {}, { max_completion_tokens: 50 }, { max_tokens: 50 }],
    ['both, of which the newer wins', {}, { max_tokens: 50, max_completion_tokens: 60 }, { max_tokens: 60 }],
    [
      'the newer name where the provider takes that',
      { maxTokensField: 'max_completion_tokens' },
      { max_tokens: 50 },
      { max_completion_tokens: 50 },
    ],
    ['at least what the provider demands', { minMaxTokens: 16 }, { max_tokens: 1 }, { max_tokens: 16 }],
    ['more than that as it is', { minMaxTokens: 16 }, { max_tokens: 17 }, { max_tokens: 17 }],
  ])('is sent as %s', async (_, quirks, fields, expected) => {
    const { max_tokens, max_completion_tokens } = await sentFor(fields, quirks);
    expect({ max_tokens, max_completion_tokens }).toEqual({
      max_tokens: undefined,
      max_completion_tokens: undefined,
      ...expected,
    });
  });
});

describe('what a provider is known not to take', () => {
  it('is left out', async () => {
    const sent = await sentFor(
      { top_k: 5, seed: 1, reasoning: { effort: 'high' } },
      { dropParams: ['top_k', 'reasoning_effort'] },
    );
    expect(sent).toEqual({ model: 'up-fast', messages: hello, seed: 1 });
  });
  it('a developer message is a system message', async () => {
    const messages = [{ role: 'developer', content: 'Be brief' }, ...hello];
    expect((await sentFor({ messages })).messages).toEqual([{ role: 'system', content: 'Be brief' }, ...hello]);
    expect((await sentFor({ messages }, { developerRole: true })).messages).toEqual(messages);
  });
  it('marks of caching and the reasoning of earlier answers', async () => {
    const messages = [
      { role: 'user', content: [{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } }] },
      {
        role: 'assistant',
        content: 'Yes',
        reasoning: 'Hm',
        reasoning_details: [{ type: 'reasoning.text', text: 'Hm' }],
      },
      ...hello,
    ];
    const sent = await sentFor({ messages, tools: [{ ...tool, cache_control: { type: 'ephemeral' } }] });
    expect(sent.messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
      { role: 'assistant', content: 'Yes' },
      ...hello,
    ]);
    expect(sent.tools).toEqual([tool]);
  });
});

describe('usage of a stream', () => {
  it.each([
    ['when the caller does not mention it', {}],
    ['when the caller declines it', { stream_options: { include_usage: false } }],
    ['when the caller asks for it', { stream_options: { include_usage: true } }],
  ])('is asked for %s', async (_, fields) => {
    expect((await sentFor({ stream: true, ...fields })).stream_options).toEqual({ include_usage: true });
  });
  it('is not asked for where the provider refuses the question', async () => {
    expect(await sentFor({ stream: true }, { streamOptions: false })).toEqual({
      model: 'up-fast',
      messages: hello,
      stream: true,
    });
  });
  it('keeps the other stream options of the caller', async () => {
    expect((await sentFor({ stream: true, stream_options: { include_obfuscation: false } })).stream_options).toEqual({
      include_usage: true,
      include_obfuscation: false,
    });
  });
});

describe('messages', () => {
  it('of every role and with every kind of part pass as they came', async () => {
    const messages = [
      { role: 'system', content: 'Be brief', name: 'boss' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Look' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==', detail: 'low' } },
          { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } },
          { type: 'video_url', video_url: { url: 'https://example.test/v.mp4' } },
          { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AA==' } },
        ],
      },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'look_up', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'found', vendor_field: true },
    ];
    expect((await sentFor({ messages })).messages).toEqual(messages);
  });
});
