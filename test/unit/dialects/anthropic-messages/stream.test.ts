import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UpstreamError } from '../../../../src/base/http/upstream-error.ts';
import { streamDecoder } from '../../../../src/dialects/anthropic-messages/stream.ts';
import type { StreamPart } from '../../../../src/dialects/dialect.ts';
import { type ChatChunk, chatChunkSchema } from '../../../../src/schema/chat/chunk.ts';
import { usageSchema } from '../../../../src/schema/chat/usage.ts';

function decodeAll(events: readonly unknown[], outputTool?: string): StreamPart[] {
  const decoder = streamDecoder({}, outputTool ? { outputTool } : undefined);
  return events.flatMap((event) => decoder.decode(typeof event === 'string' ? event : JSON.stringify(event), ''));
}

const start = (usage: object = { input_tokens: 10, output_tokens: 1 }, content: unknown[] = []) => ({
  type: 'message_start',
  message: { type: 'message', role: 'assistant', content, usage },
});
const begin = (index: number, block: object) => ({ type: 'content_block_start', index, content_block: block });
const more = (index: number, delta: object) => ({ type: 'content_block_delta', index, delta });
const input = (index: number, text: string) => more(index, { type: 'input_json_delta', partial_json: text });
const words = (index: number, text: string) => more(index, { type: 'text_delta', text });
const stop = (index: number) => ({ type: 'content_block_stop', index });
const end = (reason: string, usage: object = { output_tokens: 7 }, delta: object = {}) => ({
  type: 'message_delta',
  delta: { stop_reason: reason, ...delta },
  usage,
});
const done = { type: 'message_stop' };
const call = (index: number, name: string, given: object = {}) =>
  begin(index, { type: 'tool_use', id: `toolu_${index}`, name, input: given });

const chunksOf = (parts: StreamPart[]): ChatChunk[] =>
  parts.flatMap((part) => (part.kind === 'chunk' ? [part.chunk] : []));
const deltasOf = (parts: StreamPart[]) => chunksOf(parts).map((chunk) => chunk.choices[0]!.delta);
const contentOf = (parts: StreamPart[]) =>
  deltasOf(parts)
    .map((delta) => delta.content ?? '')
    .join('');
const finishOf = (parts: StreamPart[]) => chunksOf(parts).flatMap((chunk) => chunk.choices[0]?.finish_reason ?? []);

/** Name and arguments of the calls, put together by index as clients do. */
function callsOf(parts: StreamPart[]) {
  const calls: { id: string; name: string; text: string }[] = [];
  for (const { index, id, function: called } of deltasOf(parts).flatMap((delta) => delta.tool_calls ?? [])) {
    calls[index] ??= { id: '', name: '', text: '' };
    calls[index].id += id ?? '';
    calls[index].name += called?.name ?? '';
    calls[index].text += called?.arguments ?? '';
  }
  return calls;
}

describe('a stream', () => {
  it('becomes chunks, its counts, and an end where the provider says so', () => {
    const ping = { type: 'ping' };
    const usage = { input_tokens: 10, cache_read_input_tokens: 5, output_tokens: 1, service_tier: 'standard' };
    const parts = decodeAll([
      start(usage),
      ping,
      begin(0, { type: 'text', text: '' }),
      words(0, 'Hi'),
      stop(0),
      end('end_turn'),
      done,
    ]);
    const chunk = (choice: object, others: object = {}) => ({
      kind: 'chunk',
      chunk: { id: '', object: 'chat.completion.chunk', created: 0, model: '', choices: [choice], ...others },
    });
    const counted = (output: number) => ({
      kind: 'usage',
      usage: {
        prompt_tokens: 15,
        completion_tokens: output,
        total_tokens: 15 + output,
        prompt_tokens_details: { cached_tokens: 5 },
      },
    });
    expect(parts).toEqual([
      chunk({ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }, { service_tier: 'default' }),
      counted(1),
      chunk({ index: 0, delta: { content: 'Hi' }, finish_reason: null }),
      chunk({ index: 0, delta: {}, finish_reason: 'stop', native_finish_reason: 'end_turn' }),
      counted(7),
      { kind: 'done' },
    ]);
  });
  it('that is cut has no end', () => {
    const events = [start(), begin(0, { type: 'text', text: '' }), words(0, 'Hi'), stop(0), end('end_turn'), done];
    for (let count = 0; count < events.length - 2; count++) {
      const parts = decodeAll(events.slice(0, count));
      expect(finishOf(parts)).toEqual([]);
      expect(parts.some(({ kind }) => kind === 'done')).toBe(false);
    }
  });
  it('keeps calls apart that come by turns, and gives each its index and id', () => {
    const parts = decodeAll([
      start(),
      call(1, 'look'),
      call(2, '__proto__'),
      input(2, '{"b"'),
      input(1, '{"a":'),
      input(2, ':2}'),
      input(1, '1}'),
      stop(2),
      stop(1),
      end('tool_use'),
    ]);
    expect(callsOf(parts)).toEqual([
      { id: 'toolu_1', name: 'look', text: '{"a":1}' },
      { id: 'toolu_2', name: '__proto__', text: '{"b":2}' },
    ]);
    expect(finishOf(parts)).toEqual(['tool_calls']);
  });
  it.each([
    ['no input', [call(0, 'look'), input(0, ''), stop(0)], '{}'],
    ['an input at its start', [call(0, 'look', { a: 1 }), stop(0)], '{"a":1}'],
    ['an input at its start and again', [call(0, 'look', { a: 1 }), input(0, '{"a":1}'), stop(0)], '{"a":1}'],
    ['no end of its own', [call(0, 'look')], '{}'],
  ])('calls a tool with %s', (_, events, text) => {
    expect(callsOf(decodeAll([start(), ...events, end('tool_use')]))).toMatchObject([{ text }]);
  });
  it('may begin with calls that a tool of the provider made', () => {
    const made = { type: 'tool_use', id: 'toolu_1', name: 'look', input: { a: 1 } };
    expect(callsOf(decodeAll([start(undefined, [made]), end('tool_use')]))).toMatchObject([
      { id: 'toolu_1', text: '{"a":1}' },
    ]);
  });
  it('shows thoughts and their signatures under the place of their block', () => {
    const parts = decodeAll([
      start(),
      begin(0, { type: 'thinking', thinking: '', signature: '' }),
      more(0, { type: 'thinking_delta', thinking: 'Hm' }),
      more(0, { type: 'signature_delta', signature: 's' }),
      stop(0),
      begin(1, { type: 'redacted_thinking', data: 'x' }),
    ]);
    const format = 'anthropic-claude-v1';
    expect(deltasOf(parts).slice(1)).toEqual([
      { reasoning: 'Hm', reasoning_details: [{ type: 'reasoning.text', text: 'Hm', index: 0, format }] },
      { reasoning_details: [{ type: 'reasoning.text', signature: 's', index: 0, format }] },
      { reasoning_details: [{ type: 'reasoning.encrypted', data: 'x', index: 1, format }] },
    ]);
  });
  it('tells what a text rests on when the text has ended', () => {
    const citation = { type: 'web_search_result_location', url: 'https://a', title: 'A', cited_text: 'warm' };
    const parts = decodeAll([
      start(),
      words(0, 'It is '),
      begin(1, { type: 'text', text: '', citations: [] }),
      more(1, { type: 'citations_delta', citation }),
      words(1, 'wa'),
      words(1, 'rm'),
      stop(1),
    ]);
    expect(deltasOf(parts).at(-1)).toEqual({
      annotations: [
        {
          type: 'url_citation',
          url_citation: { url: 'https://a', title: 'A', content: 'warm', start_index: 6, end_index: 10 },
        },
      ],
    });
  });
  it('says why the model refuses', () => {
    const parts = decodeAll([start(), end('refusal', {}, { stop_details: { explanation: 'Not this.' } })]);
    expect(deltasOf(parts).slice(1)).toEqual([{ refusal: 'Not this.' }, {}]);
    expect(finishOf(parts)).toEqual(['content_filter']);
  });
  it('has one end, whatever comes behind it', () => {
    expect(finishOf(decodeAll([start(), end('max_tokens'), end('end_turn')]))).toEqual(['length']);
  });
  it('leaves out tools that the provider runs itself, and what it does not know', () => {
    const parts = decodeAll([
      start(),
      begin(0, { type: 'server_tool_use', id: 's', name: 'web_search', input: {} }),
      input(0, '{"query":"x"}'),
      stop(0),
      begin(1, { type: 'web_search_tool_result', content: [] }),
      stop(1),
      begin(2, { type: 'something_new' }),
      more(2, { type: 'something_delta', text: 'x' }),
      stop(2),
      { type: 'something_else' },
      end('pause_turn'),
    ]);
    expect(deltasOf(parts)).toEqual([{ role: 'assistant', content: '' }, {}]);
    expect(finishOf(parts)).toEqual(['stop']);
  });
});

describe('output that was asked for by a tool', () => {
  it('is the content, and the end an ordinary one', () => {
    const parts = decodeAll(
      [start(), call(0, 'out'), input(0, '{"a"'), input(0, ':1}'), stop(0), end('tool_use')],
      'out',
    );
    expect([contentOf(parts), callsOf(parts), finishOf(parts)]).toEqual(['{"a":1}', [], ['stop']]);
  });
  it('is alone: what is said beside it, and a second time, is left out', () => {
    const output = (index: number) => [call(index, 'out'), input(index, '{}'), stop(index)];
    const parts = decodeAll([start(), words(0, 'Here:'), ...output(1), ...output(2), end('tool_use')], 'out');
    expect(contentOf(parts)).toBe('{}');
  });
  it('may be what the model said instead, once it is known that no call comes', () => {
    const parts = decodeAll([start(), words(0, 'N'), words(0, 'o.'), end('end_turn')], 'out');
    expect([contentOf(parts), finishOf(parts)]).toEqual(['No.', ['stop']]);
  });
});

describe('a stream that breaks', () => {
  it.each([
    ['overloaded_error', 529],
    ['rate_limit_error', 429],
    ['api_error', 500],
    ['authentication_error', 401],
  ])('with %s is an error of the status %i', (type, status) => {
    const [part] = decodeAll([{ type: 'error', error: { type, message: 'No' } }]);
    expect(part).toMatchObject({
      kind: 'error',
      error: { reason: 'status', status, providerCode: type, message: 'No' },
    });
  });
  it('is an error of the provider where it names no type that is known', () => {
    for (const event of [{ type: 'error' }, { error: { message: 'No' } }, { type: 'error', error: { type: 'new' } }])
      expect(decodeAll([event])).toMatchObject([{ kind: 'error', error: { reason: 'bad_response', status: 502 } }]);
  });
  it.each([
    ['text', 'Hello'],
    ['a list', '[]'],
    ['a number', '5'],
    ['half of an object', '{"type":"ping"'],
    ['an event of no type', '{"a":1}'],
    ['an event that nests too deep', `${'{"a":'.repeat(100)}1${'}'.repeat(100)}`],
    ['a call of no name', JSON.stringify(begin(0, { type: 'tool_use', id: 'a' }))],
    ['the input of no call', JSON.stringify(input(3, '{}'))],
  ])('is a bad response: %s', (_, data) => {
    expect(() => decodeAll([data])).toThrow(expect.objectContaining({ reason: 'bad_response', status: 502 }));
  });
  it('takes the name of the frame for the type where the event has none', () => {
    expect(streamDecoder().decode('{}', 'message_stop')).toEqual([{ kind: 'done' }]);
  });
  it('takes texts of any size, and holds on to none of them', () => {
    const long = 'ü'.repeat(100_000);
    const parts = decodeAll([start(), words(0, long), call(1, 'look'), input(1, long), stop(1), end('tool_use')]);
    expect([contentOf(parts), callsOf(parts)[0]?.text]).toEqual([long, long]);
  });
  it('never becomes anything but valid parts, or an error of the provider, whatever it holds', () => {
    const nonsense = fc.jsonValue({ maxDepth: 3 });
    const types = (...known: string[]) => fc.oneof(nonsense, fc.constantFrom(...known));
    const optional = { requiredKeys: [] };
    const block = fc.record(
      {
        type: types('text', 'thinking', 'redacted_thinking', 'tool_use'),
        text: nonsense,
        citations: nonsense,
        thinking: nonsense,
        signature: nonsense,
        data: nonsense,
        id: nonsense,
        name: fc.oneof(nonsense, fc.constantFrom('out', 'look')),
        input: nonsense,
      },
      optional,
    );
    const delta = fc.record(
      {
        type: types('text_delta', 'thinking_delta', 'signature_delta', 'input_json_delta', 'citations_delta'),
        text: nonsense,
        thinking: nonsense,
        signature: nonsense,
        partial_json: nonsense,
        citation: nonsense,
        stop_reason: nonsense,
        stop_details: nonsense,
      },
      optional,
    );
    const event = fc.record(
      {
        type: types(
          'message_start',
          'content_block_start',
          'content_block_delta',
          'content_block_stop',
          'message_delta',
        ),
        index: fc.oneof(nonsense, fc.nat(2)),
        message: fc.oneof(nonsense, fc.record({ content: fc.array(block), usage: nonsense }, optional)),
        content_block: fc.oneof(nonsense, block),
        delta: fc.oneof(nonsense, delta),
        usage: nonsense,
      },
      optional,
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 8 }), fc.boolean(), (events, hasTool) => {
        try {
          for (const part of decodeAll(events, hasTool ? 'out' : undefined)) {
            if (part.kind === 'chunk') chatChunkSchema().parse(part.chunk);
            if (part.kind === 'usage') usageSchema().parse(part.usage);
          }
        } catch (error) {
          if (!(error instanceof UpstreamError)) throw error;
        }
      }),
      { numRuns: 500 },
    );
  });
});
