import { describe, expect, it } from 'vitest';
import { openaiResponses } from '../../../../src/dialects/openai-responses/index.ts';
import type { ResponsesQuirks } from '../../../../src/dialects/openai-responses/quirks.ts';
import type { ChatRequest } from '../../../../src/schema/chat/chat.ts';

type Json = Record<string, unknown>;

const format = 'openai-responses-v1';
const summary = (id: string, ...texts: string[]) => ({
  id,
  summary: texts.map((text) => ({ type: 'summary_text', text })),
});
const reasoning = (id: string, data: string, ...texts: string[]) => ({
  type: 'reasoning',
  ...summary(id, ...texts),
  encrypted_content: data,
});
const message = (text: string) => ({
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text }],
});
const call = (id: string) => ({ type: 'function_call', call_id: id, name: 'f', arguments: '{}' });

function decode(output: readonly object[], quirks: ResponsesQuirks = {}): Json {
  const body = { object: 'response', status: 'completed', output };
  return openaiResponses.decodeResult(body, quirks).result.choices[0]?.message as Json;
}

function encode(assistant: object, quirks: ResponsesQuirks = {}) {
  const request = { messages: [{ role: 'assistant', ...assistant }] } as ChatRequest;
  const { payload, dropped } = openaiResponses.encodeRequest({ request, upstreamModel: 'o4', quirks });
  return { input: payload.input, dropped };
}

describe('reasoning that comes back', () => {
  it.each<[string, object[]]>([
    ['before a message', [reasoning('rs_1', 'e1', 'One.', 'Two.'), message('Hi')]],
    [
      'before each of several calls',
      [reasoning('rs_1', 'e1'), call('c1'), reasoning('rs_2', 'e2', 'Then.'), call('c2')],
    ],
    [
      'between a message and calls',
      [reasoning('rs_1', 'e1', 'A'), message('I look.'), reasoning('rs_2', 'e2'), call('c1'), call('c2')],
    ],
    ['twice in a row', [reasoning('rs_1', 'e1', 'A'), reasoning('rs_2', 'e2', 'B'), message('Hi')]],
    [
      'as plain text',
      [
        { type: 'reasoning', id: 'a', summary: [], content: [{ type: 'reasoning_text', text: 'Hm.' }] },
        { type: 'reasoning', id: 'b', summary: [], content: [{ type: 'reasoning_text', text: 'So.' }] },
        message('Hi'),
      ],
    ],
  ])('is what the provider gave, at its place: %s', (_, output) => {
    expect(encode(decode(output))).toEqual({ input: output, dropped: [] });
  });
  it('is the same from the fragments of a stream, also where each event had another id', () => {
    const decoder = openaiResponses.streamDecoder({});
    const events = [
      { type: 'response.output_item.added', output_index: 0, item: { type: 'reasoning', id: 'x1', summary: [] } },
      { type: 'response.reasoning_summary_text.delta', output_index: 0, item_id: 'x2', summary_index: 0, delta: 'On' },
      { type: 'response.reasoning_summary_text.delta', output_index: 0, item_id: 'x3', summary_index: 0, delta: 'e.' },
      {
        type: 'response.reasoning_summary_text.delta',
        output_index: 0,
        item_id: 'x4',
        summary_index: 1,
        delta: 'Two.',
      },
      { type: 'response.output_item.done', output_index: 0, item: reasoning('rs_1', 'e1', 'One.', 'Two.') },
      { type: 'response.output_item.done', output_index: 1, item: call('c1') },
    ];
    const deltas = events
      .flatMap((event) => decoder.decode(JSON.stringify(event), ''))
      .flatMap((part) => (part.kind === 'chunk' ? part.chunk.choices.map(({ delta }) => delta) : []));
    expect(deltas.map((delta) => delta.reasoning ?? '').join('')).toBe('One.\n\nTwo.');
    const details = deltas.flatMap((delta) => delta.reasoning_details ?? []);
    expect(details.map(({ index, id }) => [index, id])).toEqual([
      [0, 'x1'],
      [0, 'x1'],
      [1, 'x1'],
      [2, 'rs_1'],
    ]);
    const calls = [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }];
    expect(encode({ content: null, tool_calls: calls, reasoning_details: details })).toEqual({
      input: [reasoning('rs_1', 'e1', 'One.', 'Two.'), call('c1')],
      dropped: [],
    });
  });
  it.each<[string, object, string[]]>([
    ['of another format', { type: 'reasoning.encrypted', data: 'e', format: 'azure-openai-responses-v1' }, ['details']],
    ['of no format', { type: 'reasoning.encrypted', data: 'e' }, ['details']],
    [
      'a summary alone, of which the provider has stored nothing',
      { type: 'reasoning.summary', summary: 'A', format },
      ['details'],
    ],
  ])('is left out, and listed: %s', (_, detail, names) => {
    expect(encode({ content: 'Hi', reasoning_details: [detail] })).toEqual({
      input: [message('Hi')],
      dropped: names.map((name) => `messages[].reasoning_${name}`),
    });
  });
  it('is left out where nothing follows it, which the provider refuses', () => {
    const detail = { type: 'reasoning.encrypted', data: 'e', format, id: 'rs_1' };
    expect(encode({ content: null, reasoning: 'Hm.', reasoning_content: 'Hm.', reasoning_details: [detail] })).toEqual({
      input: [],
      dropped: ['messages[].reasoning_details', 'messages[].reasoning', 'messages[].reasoning_content'],
    });
  });
  it('is only that of the same service', () => {
    const quirks = { reasoningFormat: 'azure-openai-responses-v1' };
    const output = [reasoning('rs_1', 'e1', 'A'), message('Hi')];
    expect(encode(decode(output, quirks), quirks)).toEqual({ input: output, dropped: [] });
    expect(encode(decode(output), quirks)).toEqual({
      input: [message('Hi')],
      dropped: ['messages[].reasoning_details', 'messages[].reasoning'],
    });
  });
  it.each<[string, unknown]>([
    ['far away', 1e15],
    ['before the first', -5],
  ])('stands before the last item at the latest, whatever its index says: %s', (_, index) => {
    const detail = { type: 'reasoning.encrypted', data: 'e', format, id: 'rs_1', index };
    expect(encode({ content: 'Hi', reasoning_details: [detail] }).input).toEqual([
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'e' },
      message('Hi'),
    ]);
  });
});
