import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UpstreamError } from '../../../../src/base/http/upstream-error.ts';
import { decodeResult } from '../../../../src/dialects/anthropic-messages/result.ts';
import { readUsage } from '../../../../src/dialects/anthropic-messages/usage.ts';
import { chatResultSchema } from '../../../../src/schema/chat/chat.ts';
import { usageSchema } from '../../../../src/schema/chat/usage.ts';
import { sharedAvailable, validateAgainstReference } from '../../../support/reference.ts';

const usage = { input_tokens: 10, output_tokens: 5 };
const text = (words: string, more: object = {}) => ({ type: 'text', text: words, ...more });
const message = (content: unknown, more: object = {}) => ({
  type: 'message',
  role: 'assistant',
  content,
  stop_reason: 'end_turn',
  usage,
  ...more,
});
const decode = (body: unknown, outputTool?: string) => decodeResult(body, {}, outputTool ? { outputTool } : undefined);
const choiceOf = (body: unknown, outputTool?: string) => decode(body, outputTool).result.choices[0];

describe('a message', () => {
  it('becomes a chat completion', () => {
    const body = message([text('It is '), { type: 'later_block', text: 'x' }, text('warm.')], {
      usage: { ...usage, service_tier: 'standard' },
    });
    expect(decode(body).result).toEqual({
      id: '',
      object: 'chat.completion',
      created: 0,
      model: '',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'It is warm.', refusal: null },
          finish_reason: 'stop',
          native_finish_reason: 'end_turn',
          logprobs: null,
        },
      ],
      system_fingerprint: null,
      service_tier: 'default',
    });
  });
  it.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['pause_turn', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['refusal', 'content_filter'],
    ['compaction', 'stop'],
    ['constructor', 'stop'],
    ['tool_use', 'stop'],
  ])('that ends with %s has the finish_reason %s', (native, reason) => {
    expect(choiceOf(message([text('x')], { stop_reason: native }))).toMatchObject({
      finish_reason: reason,
      native_finish_reason: native,
    });
  });
  it('calls tools, with ids that are its own or new, and arguments that are JSON', () => {
    const call = (id: unknown, name: string, input: unknown) => ({ type: 'tool_use', id, name, input });
    const body = message(
      [
        call('toolu_1', 'look', { at: 'it' }),
        call(5, '__proto__', {}),
        call('call_1', 'constructor', 'x'),
        { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} },
        { type: 'mcp_tool_use', id: 'mcp_1', name: 'echo', input: {} },
      ],
      { stop_reason: 'tool_use' },
    );
    expect(choiceOf(body)).toMatchObject({
      message: {
        content: null,
        tool_calls: [
          { id: 'toolu_1', type: 'function', function: { name: 'look', arguments: '{"at":"it"}' } },
          { id: 'call_2', type: 'function', function: { name: '__proto__', arguments: '{}' } },
          { id: 'call_1', type: 'function', function: { name: 'constructor', arguments: '{}' } },
        ],
      },
      finish_reason: 'tool_calls',
    });
  });
  it('shows thoughts as text and in parts that go back', () => {
    const { message: said } = choiceOf(
      message([
        { type: 'thinking', thinking: 'Hm.', signature: 's' },
        { type: 'redacted_thinking', data: 'x' },
        text('Yes.'),
        { type: 'thinking', thinking: '', signature: 't' },
      ]),
    )!;
    const format = 'anthropic-claude-v1';
    expect(said.reasoning).toBe('Hm.');
    expect(said.reasoning_details).toEqual([
      { type: 'reasoning.text', text: 'Hm.', signature: 's', index: 0, format },
      { type: 'reasoning.encrypted', data: 'x', index: 1, format },
      { type: 'reasoning.text', text: '', signature: 't', index: 3, format },
    ]);
  });
  it('cites pages by address, and documents by name', () => {
    const page = { type: 'web_search_result_location', url: 'https://a/b', title: 'A', cited_text: 'warm' };
    const brought = { type: 'search_result_location', source: 'https://c/d', title: null, cited_text: 'cold' };
    const document = { type: 'page_location', document_title: 'a.pdf', document_index: 0, cited_text: 'rain' };
    const nonsense = [null, 5, {}, { type: 'char_location' }, { type: 'char_location', cited_text: 5 }];
    const body = message([
      text('It is '),
      text('warm', { citations: [page] }),
      text('.', { citations: [brought, document, ...nonsense] }),
    ]);
    expect(choiceOf(body)?.message.annotations).toEqual([
      {
        type: 'url_citation',
        url_citation: { url: 'https://a/b', title: 'A', content: 'warm', start_index: 6, end_index: 10 },
      },
      {
        type: 'url_citation',
        url_citation: { url: 'https://c/d', title: '', content: 'cold', start_index: 10, end_index: 11 },
      },
      { type: 'file', file: { hash: '', name: 'a.pdf', content: [{ type: 'text', text: 'rain' }] } },
    ]);
  });
  it('says why the model refuses, where Anthropic does', () => {
    const refused = (details: unknown) =>
      choiceOf(message([], { stop_reason: 'refusal', stop_details: details }))?.message.refusal;
    expect(refused({ type: 'refusal', category: 'cyber', explanation: 'Not this.' })).toBe('Not this.');
    expect(refused(null)).toBe(null);
    expect(refused({ explanation: 5 })).toBe(null);
  });
});

describe('output that was asked for by a tool', () => {
  const output = { type: 'tool_use', id: 't1', name: 'out', input: { a: 1 } };
  it('is the content, and the end an ordinary one', () => {
    const choice = choiceOf(message([text('Here:'), output], { stop_reason: 'tool_use' }), 'out');
    expect(choice).toMatchObject({ message: { content: '{"a":1}' }, finish_reason: 'stop' });
    expect(choice?.message).not.toHaveProperty('tool_calls');
  });
  it('stands beside calls of other tools', () => {
    const other = { type: 'tool_use', id: 't2', name: 'look', input: {} };
    const choice = choiceOf(message([output, other, output], { stop_reason: 'tool_use' }), 'out');
    expect(choice).toMatchObject({ message: { content: '{"a":1}' }, finish_reason: 'tool_calls' });
    expect(choice?.message.tool_calls).toHaveLength(1);
  });
  it('may be what the model said instead', () => {
    expect(choiceOf(message([text('No.')]), 'out')?.message.content).toBe('No.');
  });
});

describe('what is no message', () => {
  it.each([
    ['null', null],
    ['a list', []],
    ['an empty object', {}],
    ['content that is none', message('x')],
    ['no end', message([text('x')], { stop_reason: null })],
    ['a call of no name', message([{ type: 'tool_use', id: 'a', input: {} }])],
    ['a call of an empty name', message([{ type: 'tool_use', id: 'a', name: '', input: {} }])],
  ])('is a bad response: %s', (_, body) => {
    expect(() => decode(body)).toThrow(expect.objectContaining({ reason: 'bad_response', status: 502 }));
  });
  it('is an error where it says so, and what it cost is known', () => {
    const body = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' }, usage };
    expect(() => decode(body)).toThrow(
      expect.objectContaining({ reason: 'status', status: 529, usage: expect.objectContaining({ total_tokens: 15 }) }),
    );
  });
  it('never becomes anything but a valid result or an error of the provider', () => {
    const nonsense = fc.jsonValue({ maxDepth: 3 });
    const block = fc.record(
      {
        type: fc.oneof(nonsense, fc.constantFrom('text', 'thinking', 'redacted_thinking', 'tool_use')),
        text: nonsense,
        citations: fc.oneof(
          nonsense,
          fc.array(fc.record({ type: nonsense, url: nonsense, cited_text: nonsense }, { requiredKeys: [] })),
        ),
        thinking: nonsense,
        signature: nonsense,
        data: nonsense,
        id: nonsense,
        name: nonsense,
        input: nonsense,
      },
      { requiredKeys: [] },
    );
    const body = fc.record(
      {
        type: nonsense,
        content: fc.oneof(nonsense, fc.array(fc.oneof(block, nonsense), { maxLength: 4 })),
        stop_reason: fc.oneof(nonsense, fc.constant('tool_use')),
        stop_details: nonsense,
        usage: nonsense,
        error: nonsense,
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(body, nonsense), (value) => {
        try {
          const { result, usage: counted } = decode(value, 'out');
          chatResultSchema().parse(result);
          if (sharedAvailable) expect(validateAgainstReference('ChatResult', { ...result, model: 'm' })).toEqual([]);
          if (counted) usageSchema().parse(counted);
        } catch (error) {
          if (!(error instanceof UpstreamError)) throw error;
        }
      }),
    );
  });
});

describe('usage', () => {
  it('counts what was read from a cache and written to one as part of the prompt', () => {
    expect(
      readUsage({
        input_tokens: 4,
        output_tokens: 50,
        cache_read_input_tokens: 100,
        cache_creation_input_tokens: 30,
        cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 10 },
        output_tokens_details: { thinking_tokens: 40 },
        server_tool_use: { web_search_requests: 2 },
      }),
    ).toEqual({
      prompt_tokens: 134,
      completion_tokens: 50,
      total_tokens: 184,
      prompt_tokens_details: { cached_tokens: 100, cache_write_tokens: 30, cache_write_1h_tokens: 10 },
      completion_tokens_details: { reasoning_tokens: 40 },
      server_tool_use_details: { web_search_requests: 2 },
    });
  });
  it('adds up the steps where the conversation was made shorter on the way, which the totals leave out', () => {
    const step = (type: string, input: number, output: number) => ({
      type,
      input_tokens: input,
      output_tokens: output,
    });
    const steps = [step('compaction', 1000, 50), step('message', 60, 7), step('advisor_message', 5, 5), null];
    expect(readUsage({ input_tokens: 60, output_tokens: 7, iterations: steps })).toMatchObject({
      prompt_tokens: 1060,
      completion_tokens: 57,
    });
    const fallback = [step('message', 408, 0), step('fallback_message', 412, 264)];
    expect(readUsage({ input_tokens: 412, output_tokens: 264, iterations: fallback })).toMatchObject({
      prompt_tokens: 412,
    });
  });
  it.each([
    null,
    5,
    {},
    { input_tokens: 1 },
    { input_tokens: -1, output_tokens: 1 },
    { input_tokens: 1e12, output_tokens: 1 },
    { input_tokens: 1, output_tokens: 1, cache_read_input_tokens: -5 },
    { input_tokens: 1, output_tokens: 1, cache_creation_input_tokens: 1e12 },
  ])('%j is none', (raw) => {
    expect(readUsage(raw)).toBe(null);
  });
});
