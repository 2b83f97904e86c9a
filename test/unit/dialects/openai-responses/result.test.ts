import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UpstreamError } from '../../../../src/base/http/upstream-error.ts';
import { openaiResponses } from '../../../../src/dialects/openai-responses/index.ts';
import { chatResultSchema } from '../../../../src/schema/chat/chat.ts';
import { usageSchema } from '../../../../src/schema/chat/usage.ts';

const usage = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 60, cache_write_tokens: 20 },
  output_tokens: 50,
  output_tokens_details: { reasoning_tokens: 30 },
  total_tokens: 150,
};
const text = (one: string, more: object = {}) => ({ type: 'output_text', text: one, ...more });
const message = (...content: object[]) => ({ type: 'message', role: 'assistant', content });
const response = (output: unknown, more: object = {}) => ({ object: 'response', status: 'completed', output, ...more });

const decode = (body: unknown) => openaiResponses.decodeResult(body, {});
const choiceOf = (output: unknown, more?: object) => decode(response(output, more)).result.choices[0];
const errorOf = (body: unknown): UpstreamError => {
  try {
    decode(body);
  } catch (error) {
    if (error instanceof UpstreamError) return error;
  }
  throw new Error('There is no such error');
};

describe('a complete response', () => {
  it('has a message, usage, tier and time', () => {
    const body = response([message(text('Hi'))], { usage, created_at: 7, service_tier: 'flex', id: 'r', model: 'x' });
    expect(decode(body)).toEqual({
      result: {
        id: '',
        object: 'chat.completion',
        created: 7,
        model: '',
        choices: [
          {
            index: 0,
            message: { role: 'assistant', content: 'Hi', refusal: null },
            finish_reason: 'stop',
            native_finish_reason: 'completed',
            logprobs: null,
          },
        ],
        system_fingerprint: null,
        service_tier: 'flex',
      },
      usage: {
        prompt_tokens: 100,
        completion_tokens: 50,
        total_tokens: 150,
        prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 20 },
        completion_tokens_details: { reasoning_tokens: 30 },
      },
    });
  });
  it.each<[string, object[], string]>([
    ['several parts are one text', [message(text('A'), text('B'))], 'AB'],
    ['several messages are paragraphs', [message(text('A')), message(text('')), message(text('B'))], 'A\n\nB'],
  ])('%s', (_, output, content) => {
    expect(choiceOf(output)?.message.content).toBe(content);
  });
  it('has notes at their place in the complete text', () => {
    const page = { type: 'url_citation', url: 'https://x.test', title: 'X', start_index: 1, end_index: 3 };
    const file = { type: 'file_citation', file_id: 'file_1', filename: 'a.pdf', index: 2 };
    const path = { type: 'file_path', file_id: 'file_2', index: 0 };
    const annotations = [
      page,
      { ...page, title: 5, end_index: 'x' },
      file,
      path,
      { type: 'url_citation' },
      { type: 'x' },
      5,
    ];
    expect(
      choiceOf([message(text('A')), message(text('Before'), text('B', { annotations }))])?.message.annotations,
    ).toEqual([
      { type: 'url_citation', url_citation: { url: 'https://x.test', title: 'X', start_index: 10, end_index: 12 } },
      { type: 'url_citation', url_citation: { url: 'https://x.test', start_index: 10 } },
      {
        type: 'file',
        file: { file_id: 'file_1', filename: 'a.pdf', index: 2, hash: 'file_1', name: 'a.pdf', content: [] },
      },
      { type: 'file', file: { file_id: 'file_2', index: 0, hash: 'file_2', name: 'file_2', content: [] } },
    ]);
  });
  it('has the refusal apart from the text', () => {
    const refused = choiceOf([message({ type: 'refusal', refusal: 'I cannot.' })]);
    expect(refused).toMatchObject({ message: { content: null, refusal: 'I cannot.' }, finish_reason: 'stop' });
  });
  it('has the probabilities of tokens', () => {
    const logprobs = [
      { token: 'A', logprob: -0.1, bytes: [65], top_logprobs: [{ token: 'B', logprob: -2, bytes: [66] }] },
      { token: 'B', logprob: -0.2 },
      { token: 5 },
    ];
    expect(choiceOf([message(text('AB', { logprobs }))])?.logprobs).toEqual({
      content: [logprobs[0], { token: 'B', logprob: -0.2, bytes: null, top_logprobs: [] }],
      refusal: null,
    });
  });
  it.each(['__proto__', 'constructor', 'toString', ''])('has calls of tools of any name: %j', (name) => {
    const calls = choiceOf([
      { type: 'function_call', call_id: 'c1', name, arguments: '{"a":1}' },
      { type: 'function_call', name, arguments: '' },
      { type: 'custom_tool_call', call_id: 'c3', name, input: 'SELECT 1' },
    ]);
    expect(calls).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } });
    expect(calls?.message.tool_calls).toEqual([
      { id: 'c1', type: 'function', function: { name, arguments: '{"a":1}' } },
      { id: 'call_1', type: 'function', function: { name, arguments: '{}' } },
      { id: 'c3', type: 'function', function: { name, arguments: 'SELECT 1' } },
    ]);
  });
  it('has the images that the provider made', () => {
    const made = { type: 'image_generation_call', status: 'completed', result: 'aGk=' };
    expect(choiceOf([made, { ...made, output_format: 'webp' }, { ...made, result: null }])?.message.images).toEqual([
      { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
      { type: 'image_url', image_url: { url: 'data:image/webp;base64,aGk=' } },
    ]);
  });
  it('counts the searches that the provider charges', () => {
    const search = { type: 'web_search_call', action: { type: 'search', query: 'x' } };
    const { usage: counted } = decode(
      response([search, { ...search, action: { type: 'open_page' } }, { type: 'web_search_call' }], { usage }),
    );
    expect(counted?.server_tool_use_details).toEqual({ web_search_requests: 2 });
  });
  it('says nothing of the tools that the provider ran', () => {
    const ran = ['code_interpreter_call', 'mcp_call', 'computer_call', 'program', 'compaction', 5, null, undefined];
    expect(choiceOf(ran.map((type) => ({ type, name: 'x', arguments: '{}', content: 5 })))?.message).toEqual({
      role: 'assistant',
      content: null,
      refusal: null,
    });
  });
  it.each<[string, object, unknown]>([
    [
      'the limit',
      { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
      ['length', 'max_output_tokens'],
    ],
    [
      'a filter',
      { status: 'incomplete', incomplete_details: { reason: 'content_filter' } },
      ['content_filter', 'content_filter'],
    ],
    ['something', { status: 'incomplete', incomplete_details: 5 }, ['length', 'incomplete']],
  ])('that was ended by %s says so, also where it calls tools', (_, more, reasons) => {
    const ended = choiceOf([{ type: 'function_call', name: 'f', arguments: '{"a' }], more);
    expect([ended?.finish_reason, ended?.native_finish_reason]).toEqual(reasons);
  });
});

describe('a body that is no complete response', () => {
  it.each<[string, unknown]>([
    ['nothing', null],
    ['a list', []],
    ['a text', 'Hi'],
    ['a response without output', { status: 'completed' }],
    ['one still running', response([message(text('Hi'))], { status: 'in_progress' })],
    ['one that was cancelled', response([], { status: 'cancelled' })],
    ['one without a status', response([message(text('Hi'))], { status: undefined })],
    ['a call of no function', response([{ type: 'function_call', name: 5 }])],
  ])('is a bad response: %s', (_, body) => {
    expect(errorOf(body)).toMatchObject({ reason: 'bad_response', status: 502, fault: 'transient' });
  });
  it('carries the usage that the provider will bill', () => {
    const failed = errorOf(response([], { status: 'failed', error: { code: 'server_error', message: 'Oh.' }, usage }));
    expect(failed).toMatchObject({ message: 'Oh.', providerCode: 'server_error', usage: { total_tokens: 150 } });
  });
  it('is never anything but a valid result or an error of the provider, whatever it holds', () => {
    const any = fc.jsonValue({ maxDepth: 2 });
    const type = fc.constantFrom(
      'message',
      'reasoning',
      'function_call',
      'custom_tool_call',
      'web_search_call',
      'image_generation_call',
      5,
    );
    const partOf = fc.record({
      type: fc.constantFrom('output_text', 'refusal', 5),
      text: any,
      refusal: any,
      annotations: any,
      logprobs: any,
    });
    const item = fc.record({
      type,
      id: any,
      name: fc.oneof(any, fc.string()),
      call_id: any,
      arguments: any,
      input: any,
      content: fc.oneof(any, fc.array(partOf)),
      summary: fc.oneof(any, fc.array(fc.record({ text: any }))),
      encrypted_content: any,
      action: any,
      result: any,
    });
    const body = fc.record({
      status: fc.oneof(fc.constantFrom('completed', 'incomplete'), any),
      output: fc.oneof(any, fc.array(item)),
      error: fc.oneof(fc.constant(null), any),
      incomplete_details: any,
      usage: any,
      created_at: any,
      service_tier: any,
    });
    fc.assert(
      fc.property(body, (one) => {
        try {
          const { result, usage: counted } = decode(one);
          expect(chatResultSchema().safeParse(result).error).toBeUndefined();
          if (counted) expect(usageSchema().safeParse(counted).error).toBeUndefined();
        } catch (error) {
          if (!(error instanceof UpstreamError)) throw error;
        }
      }),
      { numRuns: 2000 },
    );
  });
});
