import { describe, expect, it } from 'vitest';
import { outputDeltasOf, outputItemOf } from '../../../../src/call/output-item.ts';
import { openaiResponses } from '../../../../src/dialects/openai-responses/index.ts';
import { chunkFolder, toChunks } from '../../../../src/formats/chunks.ts';
import type { ChatChunk } from '../../../../src/schema/chat/chunk.ts';
import { cpuMs } from '../../../support/cpu-time.ts';

const reading = { outputItems: true };
const usage = { input_tokens: 3, output_tokens: 2, total_tokens: 5 };
const added = (output_index: number, item: object) => ({ type: 'response.output_item.added', output_index, item });
const done = (output_index: number, item: object) => ({ type: 'response.output_item.done', output_index, item });
const text = (output_index: number, delta: string, content_index = 0) => ({
  type: 'response.output_text.delta',
  output_index,
  content_index,
  delta,
});
const completed = (output: readonly object[] = []) => ({
  type: 'response.completed',
  response: { status: 'completed', output, usage },
});
const message = (id: string, said?: string) => ({
  type: 'message',
  id,
  role: 'assistant',
  phase: 'commentary',
  content: said === undefined ? [] : [{ type: 'output_text', text: said, annotations: [] }],
});

function chunksOf(events: readonly object[]): ChatChunk[] {
  const decoder = openaiResponses.streamDecoder({}, reading);
  const parts = events.flatMap((event) => decoder.decode(JSON.stringify(event), ''));
  return parts.flatMap((part) => (part.kind === 'chunk' ? [part.chunk] : []));
}

/** Each step: which item, what it adds, and whether it ends it. */
function steps(events: readonly object[]) {
  return chunksOf(events).flatMap(({ choices }) =>
    choices.flatMap(({ delta }) => {
      const item = outputItemOf(delta);
      const { role: _, ...rest } = JSON.parse(JSON.stringify(delta));
      return item === null ? [] : [[item.index, item.item.id ?? null, rest, item.isDone === true]];
    }),
  );
}

describe('items of a stream', () => {
  it('are announced, have their texts, and end', () => {
    expect(steps([added(0, message('m')), text(0, 'Hi'), done(0, message('m', 'Hi!')), completed()])).toEqual([
      [0, 'm', {}, false],
      [0, 'm', { content: 'Hi' }, false],
      [0, 'm', { content: '!' }, true],
    ]);
  });
  it('have no gap between their texts, and citations that count from the beginning of the item', () => {
    const citation = { type: 'url_citation', url: 'https://a.test', start_index: 1, end_index: 2 };
    const note = (output_index: number, content_index: number) => ({
      type: 'response.output_text.annotation.added',
      output_index,
      content_index,
      annotation: citation,
    });
    const events = [text(0, 'One'), text(1, 'Two'), note(1, 0), text(1, 'Three', 1), note(1, 1), completed()];
    const deltas = steps(events).map(([, , delta]) => delta);
    expect(deltas).toMatchObject([
      { content: 'One' },
      { content: 'Two' },
      { annotations: [{ url_citation: { start_index: 1, end_index: 2 } }] },
      { content: 'Three' },
      { annotations: [{ url_citation: { start_index: 4, end_index: 5 } }] },
      {},
      {},
    ]);
  });
  it('keep what only Responses say: the phase, the namespace, the id of a call', () => {
    const call = { type: 'function_call', id: 'fc', call_id: 'c', name: 'f', namespace: 'n', arguments: '' };
    const [first, , last] = chunksOf([added(0, call), done(0, { ...call, arguments: '{"a":1}' }), completed()]);
    expect(outputItemOf(first?.choices[0]?.delta as object)).toEqual({
      index: 0,
      item: { type: 'function_call', id: 'fc', call_id: 'c', name: 'f', namespace: 'n' },
    });
    expect(last?.choices[0]?.finish_reason).toBe('tool_calls');
  });
  it('of a custom tool have the raw input, also where it is empty', () => {
    const call = { type: 'custom_tool_call', id: 'ctc', call_id: 'c', name: 'patch', input: '' };
    const more = { type: 'response.custom_tool_call_input.delta', output_index: 0, delta: '*** Begin' };
    expect(steps([added(0, call), more, done(0, { ...call, input: '*** Begin\n' }), completed()])).toMatchObject([
      [0, 'ctc', { tool_calls: [{ id: 'c', function: { name: 'patch', arguments: '' } }] }, false],
      [0, 'ctc', { tool_calls: [{ function: { arguments: '*** Begin' } }] }, false],
      [0, 'ctc', { tool_calls: [{ function: { arguments: '\n' } }] }, true],
    ]);
    expect(steps([added(0, call), done(0, call), completed()])).toMatchObject([
      [0, 'ctc', { tool_calls: [{ function: { arguments: '' } }] }, false],
      [0, 'ctc', {}, true],
    ]);
  });
  it('that no delta can hold pass as they are, with their events, but without texts in pieces', () => {
    const search = { type: 'web_search_call', id: 'ws', status: 'in_progress' };
    const whole = { ...search, status: 'completed', action: { type: 'search', query: 'q' } };
    const event = (name: string, more: object = {}) => ({
      type: `response.web_search_call.${name}`,
      output_index: 7,
      item_id: 'ws',
      ...more,
    });
    const items = chunksOf([
      added(7, search),
      event('searching'),
      event('code.delta', { delta: 'sk-' }),
      done(7, whole),
    ])
      .map(({ choices }) => outputItemOf(choices[0]?.delta as object))
      .filter((item) => item !== null);
    expect(items).toEqual([
      { index: 0, item: search, isOpaque: true },
      {
        index: 0,
        item: search,
        isOpaque: true,
        event: { type: 'response.web_search_call.searching', output_index: 0, item_id: 'ws' },
      },
      { index: 0, item: whole, isOpaque: true, isDone: true },
    ]);
  });
});

describe('a server that lies', () => {
  const ends = (events: readonly object[]) => {
    const all = steps(events);
    const indices = [...new Set(all.map(([index]) => index))];
    return indices.map((index) => all.filter((step) => step[0] === index && step[3]).length);
  };
  it.each<[string, object[]]>([
    ['announces an item under two ids', [added(0, message('a')), text(0, 'x'), done(0, message('b', 'x'))]],
    ['announces an item twice', [added(0, message('a')), added(0, message('b')), done(0, message('b', 'x'))]],
    ['never closes an item', [added(0, message('a')), text(0, 'x'), added(1, message('b'))]],
    ['closes an item twice', [added(0, message('a')), done(0, message('a', 'x')), done(0, message('a', 'xy'))]],
    ['goes on after the end', [added(0, message('a')), done(0, message('a', 'x')), text(0, 'y')]],
    ['announces nothing', [text(0, 'x'), { type: 'response.reasoning_text.delta', output_index: 1, delta: 't' }]],
    ['calls one item two kinds', [added(0, { type: 'function_call', id: 'f', call_id: 'c', name: 'f' }), text(0, 'x')]],
    ['ends an item as another', [added(0, message('a')), done(0, { type: 'web_search_call', id: 'w' })]],
    ['announces no item', [added(0, { id: 'a' }), done(0, { id: 'a' }), text(0, 'x')]],
  ])('that %s breaks nothing: each item ends once, under its first id', (_, events) => {
    const all = [...events, completed()];
    expect(ends(all).every((times) => times === 1)).toBe(true);
    for (const index of new Set(steps(all).map(([at]) => at)))
      expect(new Set(steps(all).flatMap((step) => (step[0] === index ? [step[1]] : []))).size).toBe(1);
  });
  it('loses nothing of what it says', () => {
    const items = [added(0, { type: 'function_call', id: 'f', call_id: 'c', name: 'f' }), text(0, 'Hi'), completed()];
    expect(steps(items)).toMatchObject([
      [0, 'f', { tool_calls: [{ function: { name: 'f' } }] }, false],
      [1, null, { content: 'Hi' }, false],
      [0, 'f', {}, true],
      [1, null, {}, true],
    ]);
  });
  it('costs linear time, whatever it announces', () => {
    const decoder = openaiResponses.streamDecoder({}, reading);
    const startedAt = cpuMs();
    let count = 0;
    for (let at = 0; at < 50_000; at++)
      count += decoder.decode(JSON.stringify(added(0, { type: `kind_${at}`, id: `${at}` })), '').length;
    for (let at = 1; at < 50_000; at++) decoder.decode(JSON.stringify(added(at, message(`${at}`))), '');
    decoder.decode(JSON.stringify(completed()), '');
    expect(count).toBe(4);
    expect(cpuMs() - startedAt).toBeLessThan(5_000);
  });
});

describe('a complete response of items', () => {
  const body = {
    status: 'completed',
    output: [
      { type: 'reasoning', id: 'r', summary: [], encrypted_content: 'xyz' },
      message('m', 'One'),
      { type: 'web_search_call', id: 'w', status: 'completed' },
      { ...message('n', 'Two'), phase: 'final_answer' },
    ],
    usage,
  };
  const { result } = openaiResponses.decodeResult(body, {}, reading);
  const ids = (deltas: readonly { delta: object }[] | null) =>
    deltas?.map(({ delta }) => [outputItemOf(delta)?.item.id, outputItemOf(delta)?.isDone]);
  const everyItem = [
    ['r', true],
    ['m', true],
    ['w', true],
    ['n', true],
  ];

  it('has the deltas of its items, which add up to the message', () => {
    const { message: said } = result.choices[0] as { message: { content: string } };
    expect(said.content).toBe('OneTwo');
    expect(ids(outputDeltasOf(said))).toEqual(everyItem);
  });
  it('is the same as chunks, and folded again', () => {
    const chunks = toChunks(result);
    expect(ids(chunks.slice(0, -1).map(({ choices }) => choices[0] as { delta: object }))).toEqual(everyItem);
    const folder = chunkFolder();
    for (const chunk of chunks) folder.add(chunk);
    const [choice] = folder.result()?.choices ?? [];
    expect(choice).toEqual(result.choices[0]);
    expect(ids(outputDeltasOf(choice?.message as object))).toEqual(everyItem);
  });
  it('follows what a step has made of its chunks', () => {
    const folder = chunkFolder();
    for (const chunk of toChunks(result)) {
      const [choice] = chunk.choices;
      const delta = { ...choice?.delta, ...(choice?.delta.content ? { content: '***' } : {}) };
      folder.add({ ...chunk, choices: [{ index: 0, finish_reason: null, ...choice, delta }] });
    }
    const said = folder.result()?.choices[0]?.message as { content: string };
    expect(said.content).toBe('******');
    expect(outputDeltasOf(said)?.map(({ delta }) => delta.content)).toEqual([undefined, '***', undefined, '***']);
  });
  it('says nothing of items to a client of chat completions', () => {
    const chat = openaiResponses.decodeResult(body, {}).result.choices[0] as { message: { content: string } };
    expect(chat.message.content).toBe('One\n\nTwo');
    expect(outputDeltasOf(chat.message)).toBe(null);
  });
});

describe('a conversation that the provider has shortened', () => {
  const body = {
    id: 'resp_1',
    object: 'response.compaction',
    created_at: 9,
    output: [
      { type: 'message', id: 'msg', role: 'user', status: 'completed', content: [{ type: 'input_text', text: 'Hi' }] },
      { type: 'compaction', id: 'cmp', encrypted_content: 'gAAA' },
    ],
    usage,
  };
  it('is its items, and nothing that the model says', () => {
    const { result, usage: used } = openaiResponses.decodeResult(body, {}, { ...reading, compaction: true });
    const [choice] = result.choices;
    expect(choice).toMatchObject({ finish_reason: 'stop', message: { content: null } });
    const items = outputDeltasOf(choice?.message as object)?.map(({ delta }) => outputItemOf(delta));
    expect(items).toEqual(body.output.map((item, index) => ({ index, item, isOpaque: true, isDone: true })));
    expect([result.created, used?.total_tokens]).toEqual([9, 5]);
  });
  it.each<[string, object]>([
    ['nothing', {}],
    ['an error', { object: 'response.compaction', error: { message: 'No' }, output: [] }],
    ['no output', { object: 'response.compaction', output: null }],
  ])('is none where there is %s', (_, wrong) => {
    expect(() => openaiResponses.decodeResult(wrong, {}, reading)).toThrow();
  });
  it('is none to a client of chat completions, and where nobody has asked for it', () => {
    expect(() => openaiResponses.decodeResult(body, {})).toThrow('not complete');
    expect(() => openaiResponses.decodeResult(body, {}, reading)).toThrow('not complete');
  });
});
