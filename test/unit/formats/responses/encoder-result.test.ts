import { describe, expect, it } from 'vitest';
import { type OutputItem, withOutputDeltas, withOutputItem } from '../../../../src/call/output-item.ts';
import { openaiResponses } from '../../../../src/dialects/openai-responses/index.ts';
import { toChunks } from '../../../../src/formats/chunks.ts';
import type { AssistantMessage, ChatResult } from '../../../../src/schema/chat/chat.ts';
import type { ChunkDelta } from '../../../../src/schema/chat/chunk.ts';
import { checkResponsesResult, checkResponsesStream } from '../../../support/check-responses.ts';
import { end, head, newEncoder, resultOf, streamOf } from '../../../support/responses-encoding.ts';

const forms = { patch: { kind: 'custom', name: 'apply_patch' } } as const;

describe('the items of an upstream that speaks Responses', () => {
  const on = (index: number, item: object, delta: ChunkDelta, more: Partial<OutputItem> = {}): ChunkDelta =>
    withOutputItem(delta, { index, item: { ...item } as OutputItem['item'], ...more });
  const message = { type: 'message', id: 'msg_own', role: 'assistant', content: [], phase: 'commentary' };
  const search = { type: 'web_search_call', id: 'ws_1', status: 'in_progress' };
  const custom = { type: 'custom_tool_call', id: 'ctc_own', call_id: 'call_9', name: 'patch', input: '' };
  const deltas = () => [
    on(
      0,
      { type: 'reasoning', id: 'rs_own', summary: [] },
      {
        reasoning_details: [
          { type: 'reasoning.summary', summary: 'Hm', id: 'rs_own', format: 'openai-responses-v1', index: 0 },
        ],
      },
    ),
    on(
      0,
      { type: 'reasoning', id: 'rs_own', summary: [] },
      {
        reasoning_details: [
          { type: 'reasoning.encrypted', data: 'sealed', id: 'rs_own', format: 'openai-responses-v1', index: 1 },
        ],
      },
      { isDone: true },
    ),
    on(1, search, {}, { isOpaque: true }),
    on(
      1,
      search,
      {},
      {
        isOpaque: true,
        event: { type: 'response.web_search_call.searching', output_index: 7, item_id: 'x', sequence_number: 99 },
      },
    ),
    on(1, search, {}, { isOpaque: true, event: { type: 'response.completed\n\ndata: x' } }),
    on(1, search, {}, { isOpaque: true, event: { type: 'response.completed', response: {} } }),
    on(
      1,
      { ...search, status: 'completed', action: { type: 'search', query: 'x' } },
      {},
      { isOpaque: true, isDone: true },
    ),
    on(2, message, { content: 'First' }),
    on(2, message, {}, { isDone: true }),
    on(3, { ...message, id: 'msg_own', phase: 'final_answer' }, { content: '\n\nSecond' }, { isDone: true }),
    on(4, custom, {
      tool_calls: [{ index: 0, id: 'call_9', type: 'function', function: { name: 'patch', arguments: '' } }],
    }),
    on(4, custom, { tool_calls: [{ index: 0, function: { arguments: 'raw "text"' } }] }),
  ];
  const expected = [
    { type: 'reasoning', id: 'rs_own', summary: [{ text: 'Hm' }], encrypted_content: 'sealed' },
    { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'x' } },
    { type: 'message', id: 'msg_own', phase: 'commentary', content: [{ text: 'First' }] },
    { type: 'message', phase: 'final_answer', content: [{ text: '\n\nSecond' }] },
    { type: 'custom_tool_call', id: 'ctc_own', call_id: 'call_9', name: 'patch', input: 'raw "text"' },
  ];
  it('keep ids, fields and order, and pass as they are where chat has no place for them', () => {
    const text = streamOf(deltas(), 'stop', newEncoder({}, forms));
    const { final, events } = checkResponsesStream(text);
    expect(final.output).toMatchObject(expected);
    expect(final.output[3]?.id).not.toBe('msg_own');
    const searching = events.filter(({ type }) => type === 'response.web_search_call.searching');
    expect(searching).toMatchObject([{ output_index: 1, item_id: 'ws_1' }]);
    expect(text.match(/^event: response\.completed$/gm)).toHaveLength(1);
  });
  it('have what the end of an item adds, and places that count from the beginning of their item', () => {
    const citation = { url: 'https://a.example', title: 'A', start_index: 1, end_index: 3 };
    const cut = { ...message, id: 'msg_2', status: 'incomplete' };
    const output = checkResponsesStream(
      streamOf(
        [
          on(0, { ...message, phase: null }, { content: 'First' }),
          on(0, message, {}, { isDone: true }),
          on(1, { ...message, id: 'msg_2' }, { content: 'Second' }),
          on(1, cut, { annotations: [{ type: 'url_citation', url_citation: citation }] }, { isDone: true }),
        ],
        'length',
      ),
    ).final.output;
    expect(output).toMatchObject([
      { phase: 'commentary', status: 'completed' },
      { status: 'incomplete', content: [{ text: 'Second', annotations: [{ start_index: 1, end_index: 3 }] }] },
    ]);
  });
  it('are in JSON what they are in a stream', () => {
    const said = {
      content: 'First\n\nSecond',
      reasoning_details: deltas().flatMap((one) => one.reasoning_details ?? []),
    };
    const calls = [{ id: 'call_9', type: 'function', function: { name: 'patch', arguments: 'raw "text"' } }];
    const result = resultOf({ ...said, tool_calls: calls });
    const choice = result.choices[0];
    if (choice)
      withOutputDeltas(
        choice.message,
        deltas().map((delta) => ({ delta })),
      );
    const body = checkResponsesResult(newEncoder({}, forms).result(head, result, end));
    expect(body.output).toMatchObject(expected);
  });
  it.each<[string, (message: AssistantMessage) => AssistantMessage]>([
    ['in place', (message) => Object.assign(message, { content: '[redacted]', tool_calls: undefined })],
    ['in a copy', (message) => ({ ...message, content: '[redacted]', tool_calls: undefined })],
  ])('are not shown where a guardrail has changed the message since, %s', (_, changed) => {
    const result = resultOf({ content: 'First' });
    const [choice] = result.choices as [ChatResult['choices'][number]];
    const made = withOutputDeltas(
      choice.message,
      deltas().map((delta) => ({ delta })),
    );
    choice.message = changed(made);
    const body = JSON.stringify(newEncoder({}, forms).result(head, result, end));
    expect(body).toContain('[redacted]');
    expect(body).not.toMatch(/First|Second|raw/);
    expect(JSON.stringify([...toChunks(result)])).not.toMatch(/First|Second|raw/);
  });
});

describe('a response', () => {
  it('repeats the request, and nothing that is the gateway’s own', () => {
    const request = {
      instructions: 'Be brief',
      tools: [{ type: 'function', name: 'f', parameters: null, strict: null }],
      temperature: 0.5,
      max_output_tokens: 100,
      top_logprobs: null,
      text: { format: { type: 'text' }, verbosity: 'low' },
      reasoning: { effort: 'low' },
      metadata: { a: 'b' },
      provider: { order: ['x'] },
      plugins: [],
      service_metadata: 'forged',
    };
    const body = checkResponsesResult(newEncoder(request).result(head, resultOf({ content: 'Hi' }), end));
    const { provider, plugins, service_metadata, top_logprobs, ...echoed } = request;
    expect(body).toMatchObject({ ...echoed, store: false, parallel_tool_calls: true, tool_choice: 'auto' });
    expect(body.top_logprobs).toBe(0);
    for (const absent of ['provider', 'plugins', 'service_metadata']) expect(body).not.toHaveProperty(absent);
  });
  it('has each field that public suites demand, with the default of the interface where the request has none', () => {
    const tools = [{ type: 'function', name: 'f' }, { type: 'custom', name: 'c' }, { type: 'service:datetime' }];
    const body = checkResponsesResult(newEncoder({ tools, text: { format: null } }).result(head, resultOf({}), end));
    const { id, created_at, completed_at, output, model, usage, ...rest } = body;
    expect(rest).toEqual({
      object: 'response',
      status: 'completed',
      error: null,
      incomplete_details: null,
      service_tier: 'default',
      previous_response_id: null,
      store: false,
      background: false,
      instructions: null,
      max_output_tokens: null,
      max_tool_calls: null,
      metadata: null,
      tools: [
        { type: 'function', name: 'f', description: null, parameters: null, strict: null },
        { type: 'custom', name: 'c' },
      ],
      tool_choice: 'auto',
      parallel_tool_calls: true,
      prompt_cache_key: null,
      safety_identifier: null,
      temperature: 1,
      top_logprobs: 0,
      top_p: 1,
      presence_penalty: 0,
      frequency_penalty: 0,
      truncation: 'disabled',
      reasoning: { effort: null, summary: null },
      text: { format: { type: 'text' } },
    });
  });
  it('names the tier that served where clients know it, and no other: they would refuse the response', () => {
    const tierOf = (service_tier: string) => {
      const result = { ...resultOf({ content: 'Hi' }), service_tier };
      return checkResponsesResult(newEncoder({ service_tier: 'auto' }).result(head, result, end)).service_tier;
    };
    expect(tierOf('priority')).toBe('priority');
    // What was asked for is not what served. Public suites demand the field.
    expect(tierOf('on_demand')).toBe('default');
  });
  it('has usage with both details, cost and what else is known', () => {
    const usage = {
      prompt_tokens: 10,
      completion_tokens: 4,
      total_tokens: 14,
      prompt_tokens_details: { cached_tokens: 3, audio_tokens: 1 },
      completion_tokens_details: { reasoning_tokens: null, image_tokens: 2 },
      cost: 0.01,
      is_byok: true,
      cost_details: {
        upstream_inference_cost: 0.02,
        upstream_inference_prompt_cost: 0.015,
        upstream_inference_completions_cost: 0.005,
      },
      server_tool_use_details: { web_search_requests: 2 },
    };
    const body = checkResponsesResult(newEncoder().result(head, resultOf({ content: 'Hi' }), { usage }));
    expect(body.usage).toEqual({
      input_tokens: 10,
      input_tokens_details: { cached_tokens: 3, audio_tokens: 1 },
      output_tokens: 4,
      output_tokens_details: { reasoning_tokens: 0, image_tokens: 2 },
      total_tokens: 14,
      cost: 0.01,
      is_byok: true,
      cost_details: {
        upstream_inference_cost: 0.02,
        upstream_inference_input_cost: 0.015,
        upstream_inference_output_cost: 0.005,
      },
      server_tool_use_details: { web_search_requests: 2 },
    });
  });
  it('read by the dialect of Responses is the chat result that it was made of', () => {
    const message = {
      content: 'Look here.',
      refusal: 'No',
      reasoning: 'Hm',
      annotations: [
        { type: 'url_citation', url_citation: { url: 'https://a.example', title: 'A', start_index: 5, end_index: 9 } },
      ],
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }],
    };
    const body = newEncoder().result(head, resultOf(message, 'tool_calls'), end);
    const { result, usage } = openaiResponses.decodeResult(JSON.parse(JSON.stringify(body)), {});
    expect(result.choices[0]).toMatchObject({ message, finish_reason: 'tool_calls' });
    expect(usage).toMatchObject(end.usage);
  });
});
