import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UpstreamError } from '../../../../src/base/http/upstream-error.ts';
import type { StreamPart } from '../../../../src/dialects/dialect.ts';
import { openaiResponses } from '../../../../src/dialects/openai-responses/index.ts';
import { chunkFolder } from '../../../../src/formats/chunks.ts';
import { chatChunkSchema } from '../../../../src/schema/chat/chunk.ts';
import { usageSchema } from '../../../../src/schema/chat/usage.ts';

const decodeAll = (events: readonly unknown[]): StreamPart[] => {
  const decoder = openaiResponses.streamDecoder({});
  return events.flatMap((event) => decoder.decode(typeof event === 'string' ? event : JSON.stringify(event), ''));
};

/** The message that the chunks add up to, and the other parts. */
function fold(events: readonly unknown[]) {
  const parts = decodeAll(events);
  const folder = chunkFolder();
  for (const part of parts) if (part.kind === 'chunk') folder.add(part.chunk);
  const choice = folder.result()?.choices[0];
  return { choice, message: choice?.message, kinds: parts.map(({ kind }) => kind).filter((kind) => kind !== 'chunk') };
}

const usage = { input_tokens: 3, output_tokens: 2, total_tokens: 5 };
const completed = (more: object = {}) => ({
  type: 'response.completed',
  response: { status: 'completed', output: [], usage, service_tier: 'default', ...more },
});
const more = (type: string, output_index: number, delta: string, rest: object = {}) => ({
  type: `response.${type}.delta`,
  output_index,
  content_index: 0,
  delta,
  ...rest,
});
const added = (output_index: number, item: object) => ({ type: 'response.output_item.added', output_index, item });
const done = (output_index: number, item: object) => ({ type: 'response.output_item.done', output_index, item });
const call = (name: string, args = '') => ({ type: 'function_call', call_id: `id_${name}`, name, arguments: args });

describe('a stream', () => {
  it('begins with a role, and ends with a reason, the tier, usage and the mark of its end', () => {
    const parts = decodeAll([
      { type: 'response.created', response: { created_at: 9, service_tier: 'auto' } },
      { type: 'response.in_progress', response: {} },
      more('output_text', 0, 'Hi'),
      completed(),
    ]);
    const head = { id: '', object: 'chat.completion.chunk', created: 9, model: '' };
    const chunk = (delta: object, rest: object = {}) => ({
      kind: 'chunk',
      chunk: { ...head, choices: [{ index: 0, delta, finish_reason: null, ...rest }] },
    });
    expect(parts).toEqual([
      chunk({ role: 'assistant', content: '' }),
      chunk({ content: 'Hi' }),
      {
        kind: 'chunk',
        chunk: {
          ...head,
          service_tier: 'default',
          choices: [{ index: 0, delta: {}, finish_reason: 'stop', native_finish_reason: 'completed' }],
        },
      },
      { kind: 'usage', usage: expect.objectContaining({ prompt_tokens: 3, completion_tokens: 2 }) },
      { kind: 'done' },
    ]);
  });
  it('has the role also where nothing announced it', () => {
    expect(decodeAll([more('output_text', 0, 'Hi')])).toMatchObject([
      { chunk: { choices: [{ delta: { role: 'assistant', content: 'Hi' } }] } },
    ]);
  });
  it('keeps calls apart that come interleaved', () => {
    const { choice } = fold([
      added(0, call('__proto__')),
      added(1, call('constructor')),
      more('function_call_arguments', 1, '{"b":'),
      more('function_call_arguments', 0, '{"a":'),
      more('function_call_arguments', 1, '2}'),
      more('function_call_arguments', 0, '1}'),
      done(1, call('constructor', '{"b":2}')),
      done(0, call('__proto__', '{"a":1}')),
      completed(),
    ]);
    expect(choice?.finish_reason).toBe('tool_calls');
    expect(choice?.message.tool_calls).toEqual([
      { id: 'id___proto__', type: 'function', function: { name: '__proto__', arguments: '{"a":1}' } },
      { id: 'id_constructor', type: 'function', function: { name: 'constructor', arguments: '{"b":2}' } },
    ]);
  });
  const item = { type: 'message', content: [{ type: 'output_text', text: 'Hello', annotations: [] }] };
  const whole = { type: 'response.output_text.done', output_index: 0, content_index: 0, text: 'Hello' };
  it.each<[string, unknown[]]>([
    [
      'in pieces',
      [
        more('output_text', 0, 'Hel'),
        more('output_text', 0, 'lo'),
        whole,
        done(0, item),
        completed({ output: [item] }),
      ],
    ],
    ['without its last piece', [more('output_text', 0, 'Hel'), whole, done(0, item), completed({ output: [item] })]],
    ['when it is complete', [whole, done(0, item), completed()]],
    ['with its item', [added(0, item), done(0, item), completed({ output: [item] })]],
    [
      'with its item, twice',
      [done(0, item), done(0, item), whole, more('output_text', 0, 'x'), completed({ output: [item] })],
    ],
    ['with the end', [completed({ output: [item] })]],
    ['begun, the rest with the end', [added(0, item), more('output_text', 0, 'H'), completed({ output: [item] })]],
    ['counted from one', [more('output_text', 1, 'Hello'), done(1, item), completed({ output: [item] })]],
  ])('says a text once that comes %s', (_, events) => {
    expect(fold(events)).toMatchObject({ message: { content: 'Hello' }, kinds: ['usage', 'done'] });
  });
  it.each<[string, unknown[]]>([
    ['before the item', [more('function_call_arguments', 0, '{"a":1}'), done(0, call('f', '{"a":1}'))]],
    [
      'with the event of its end',
      [added(0, call('f')), { type: 'response.function_call_arguments.done', output_index: 0, arguments: '{"a":1}' }],
    ],
    ['with the item', [done(0, call('f', '{"a":1}'))]],
    ['when the response is complete', [added(0, { type: 'function_call' })]],
  ])('has the arguments of a call that come %s', (_, events) => {
    const { message } = fold([...events, completed({ output: [call('f', '{"a":1}')] })]);
    expect(message?.tool_calls).toMatchObject([{ id: 'id_f', function: { name: 'f', arguments: '{"a":1}' } }]);
  });
  it('has an empty object for a call without arguments', () => {
    expect(fold([added(0, call('f')), done(0, call('f'))]).message?.tool_calls?.[0]?.function.arguments).toBe('{}');
  });
  it('has notes, refusals, thoughts, images and custom calls', () => {
    const annotation = { type: 'url_citation', url: 'https://x.test', title: 'X', start_index: 0, end_index: 2 };
    const { message, choice } = fold([
      more('reasoning_summary_text', 0, 'Hm', { summary_index: 0 }),
      { type: 'response.reasoning_summary_text.done', output_index: 0, summary_index: 0, text: 'Hm.' },
      more('reasoning_text', 0, 'So'),
      more('output_text', 1, 'Hi', { logprobs: [{ token: 'Hi', logprob: -1 }] }),
      { type: 'response.output_text.annotation.added', output_index: 1, content_index: 0, annotation },
      done(1, {
        type: 'message',
        content: [{ type: 'output_text', text: 'Hi', annotations: [annotation, { ...annotation, title: 'Y' }] }],
      }),
      more('refusal', 2, 'No'),
      { type: 'response.refusal.done', output_index: 2, content_index: 0, refusal: 'No.' },
      more('output_text', 3, 'Bye'),
      done(4, { type: 'image_generation_call', result: 'aGk=' }),
      added(5, { type: 'custom_tool_call', call_id: 'c', name: 'sql', input: '' }),
      more('custom_tool_call_input', 5, 'SELECT'),
      completed(),
    ]);
    expect(message).toEqual({
      role: 'assistant',
      content: 'Hi\n\nBye',
      refusal: 'No.',
      reasoning: 'Hm.\n\nSo',
      reasoning_details: [
        { type: 'reasoning.summary', summary: 'Hm', format: 'openai-responses-v1', index: 0 },
        { type: 'reasoning.summary', summary: '.', format: 'openai-responses-v1', index: 0 },
        { type: 'reasoning.text', text: 'So', format: 'openai-responses-v1', index: 1 },
      ],
      annotations: ['X', 'Y'].map((title) => ({
        type: 'url_citation',
        url_citation: { url: 'https://x.test', title, start_index: 0, end_index: 2 },
      })),
      images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } }],
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'sql', arguments: 'SELECT' } }],
    });
    expect(choice?.logprobs?.content).toEqual([{ token: 'Hi', logprob: -1, bytes: null, top_logprobs: [] }]);
  });
  it('says what ended it', () => {
    const ended = (reason: string) => ({
      type: 'response.incomplete',
      response: { status: 'incomplete', incomplete_details: { reason }, usage },
    });
    expect(fold([ended('max_output_tokens')])).toMatchObject({
      choice: { finish_reason: 'length', native_finish_reason: 'max_output_tokens' },
      kinds: ['usage', 'done'],
    });
    const asCompleted = { ...ended('max_output_tokens'), type: 'response.completed' };
    expect(fold([asCompleted]).choice?.finish_reason).toBe('length');
    expect(fold([ended('content_filter')]).choice?.finish_reason).toBe('content_filter');
  });
  it('is complete only when the provider says so', () => {
    for (const last of ['[DONE]', { type: 'response.output_text.done', text: 'Hi' }, { type: 'response.queued' }])
      expect(fold([more('output_text', 0, 'Hi'), last])).toMatchObject({ choice: { finish_reason: null }, kinds: [] });
  });
  it('is over when it was said to be', () => {
    expect(decodeAll([completed(), '[DONE]', more('output_text', 0, 'Hi'), 'garbage', completed()])).toHaveLength(3);
  });
  it('ignores events of kinds that nobody knows', () => {
    const unknown = [
      { type: 'response.mcp_call.failed', error: { message: 'No' } },
      { type: 'response.web_search_call.searching' },
      { type: 'keepalive', sequence_number: 3 },
      { type: 'response.output_item.added', item: 5 },
      { type: 'response.output_item.done', item: null },
      { type: 'response.output_text.delta', delta: { text: 'x' } },
    ];
    expect(decodeAll(unknown)).toEqual([]);
  });
  it('takes a text of 100,000 characters, and as many pieces, in linear time', () => {
    const long = 'é'.repeat(100_000);
    expect(fold([more('output_text', 0, long), { ...whole, text: long }]).message?.content).toBe(long);
    const decoder = openaiResponses.streamDecoder({});
    const event = JSON.stringify(more('output_text', 0, 'x'));
    let length = 0;
    for (let n = 0; n < 100_000; n++) length += decoder.decode(event, '').length;
    const all = JSON.stringify({ ...whole, text: 'x'.repeat(100_001) });
    expect([length, decoder.decode(all, '')]).toMatchObject([
      100_000,
      [{ chunk: { choices: [{ delta: { content: 'x' } }] } }],
    ]);
  });
});

describe('an event that is none', () => {
  it.each([
    'nonsense',
    '5',
    'null',
    '[]',
    '{}',
    '{"type":5}',
    '{"choices":[]}',
    '{"type":"response.completed"}',
    `{"type":"x","y":${'['.repeat(200)}${']'.repeat(200)}}`,
    JSON.stringify(done(0, { type: 'function_call', arguments: '{}' })),
  ])('is a bad response: %s', (data) => {
    expect(() => decodeAll([data])).toThrow(expect.objectContaining({ reason: 'bad_response', status: 502 }));
  });
  it('never becomes anything but valid parts, or an error of the provider, whatever it holds', () => {
    const any = fc.jsonValue({ maxDepth: 2 });
    const names = ['output_text', 'refusal', 'reasoning_summary_text', 'reasoning_text', 'function_call_arguments'];
    const types = [
      ...names.flatMap((name) => [`response.${name}.delta`, `response.${name}.done`]),
      'response.created',
      'response.output_item.added',
      'response.output_item.done',
      'response.output_text.annotation.added',
      'response.completed',
      'response.failed',
      'error',
    ];
    const small = fc.oneof(fc.constantFrom(0, 1, 2), any);
    const anItem = fc.record({
      type: fc.constantFrom('message', 'reasoning', 'function_call', 'x'),
      id: any,
      name: fc.oneof(fc.string(), any),
      call_id: any,
      arguments: any,
      content: any,
      summary: any,
      encrypted_content: any,
    });
    const event = fc.record({
      type: fc.constantFrom(...types),
      output_index: small,
      content_index: small,
      summary_index: small,
      delta: fc.oneof(fc.string(), any),
      text: fc.oneof(fc.string(), any),
      arguments: any,
      refusal: any,
      logprobs: any,
      annotation: any,
      item: fc.oneof(anItem, any),
      response: fc.oneof(fc.record({ output: fc.oneof(fc.array(anItem), any), usage: any, error: any }), any),
      error: any,
      message: any,
    });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 8 }), (events) => {
        let parts: StreamPart[] = [];
        try {
          parts = decodeAll(events);
        } catch (error) {
          if (!(error instanceof UpstreamError)) throw error;
        }
        for (const part of parts) {
          if (part.kind === 'chunk') expect(chatChunkSchema().safeParse(part.chunk).error).toBeUndefined();
          if (part.kind === 'usage') expect(usageSchema().safeParse(part.usage).error).toBeUndefined();
        }
      }),
      { numRuns: 2000 },
    );
  });
});
