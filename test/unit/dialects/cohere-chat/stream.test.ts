import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UpstreamError } from '../../../../src/base/http/upstream-error.ts';
import { cohereChat } from '../../../../src/dialects/cohere-chat/index.ts';
import type { Reading, StreamPart } from '../../../../src/dialects/dialect.ts';
import { chunkFolder } from '../../../../src/formats/chunks.ts';
import { chatChunkSchema } from '../../../../src/schema/chat/chunk.ts';

type Event = Record<string, unknown>;

const decodeAll = (events: readonly (Event | string)[], reading: Reading = {}): StreamPart[] => {
  const decoder = cohereChat.streamDecoder({}, reading);
  return events.flatMap((event) => decoder.decode(typeof event === 'string' ? event : JSON.stringify(event), ''));
};
const folded = (parts: readonly StreamPart[]) => {
  const folder = chunkFolder();
  for (const part of parts) if (part.kind === 'chunk') folder.add(part.chunk);
  return folder.result()?.choices[0];
};
const kinds = (parts: readonly StreamPart[]) => parts.map(({ kind }) => kind);

const begin: Event = { type: 'message-start', id: 'x', delta: { message: { role: 'assistant' } } };
const text = (said: string, index = 0): Event => ({
  type: 'content-delta',
  index,
  delta: { message: { content: { text: said } } },
});
const thinking = (said: string, index = 0): Event => ({
  type: 'content-delta',
  index,
  delta: { message: { content: { thinking: said } } },
});
const plan = (said: string): Event => ({ type: 'tool-plan-delta', delta: { message: { tool_plan: said } } });
const start = (index: number, name: unknown, id: unknown = `c${index}`, args = ''): Event => ({
  type: 'tool-call-start',
  index,
  delta: { message: { tool_calls: { id, type: 'function', function: { name, arguments: args } } } },
});
const args = (index: number, more: unknown): Event => ({
  type: 'tool-call-delta',
  index,
  delta: { message: { tool_calls: { function: { arguments: more } } } },
});
const stop = (index: number): Event => ({ type: 'tool-call-end', index });
const end = (finish_reason: unknown = 'COMPLETE', more: object = {}): Event => ({
  type: 'message-end',
  delta: { finish_reason, usage: { billed_units: { input_tokens: 1, output_tokens: 2 } }, ...more },
});

describe('a stream of Cohere', () => {
  it('becomes text, reasoning and a plan, each with details that can be sent back', () => {
    const parts = decodeAll([begin, thinking('Hm'), thinking('.'), text('A', 1), text('B', 1), plan('Go.'), end()]);
    expect(folded(parts)).toMatchObject({
      finish_reason: 'stop',
      native_finish_reason: 'COMPLETE',
      message: { content: 'AB', reasoning: 'Hm.Go.' },
    });
    expect(folded(parts)?.message.reasoning_details).toEqual([
      { type: 'reasoning.text', text: 'Hm', id: 'cohere-thinking', format: 'unknown', index: 0 },
      { type: 'reasoning.text', text: '.', id: 'cohere-thinking', format: 'unknown', index: 0 },
      { type: 'reasoning.text', text: 'Go.', id: 'cohere-tool-plan', format: 'unknown', index: 1 },
    ]);
    expect(kinds(parts).slice(-3)).toEqual(['usage', 'chunk', 'done']);
  });
  it('tells calls apart that come mixed', () => {
    const parts = decodeAll([
      begin,
      start(0, 'a'),
      start(1, '__proto__'),
      args(1, '{"x"'),
      args(0, '{"y"'),
      args(1, ':1}'),
      args(0, ':2}'),
      stop(1),
      stop(0),
      end('TOOL_CALL'),
    ]);
    expect(folded(parts)).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        tool_calls: [
          { id: 'c0', function: { name: 'a', arguments: '{"y":2}' } },
          { id: 'c1', function: { name: '__proto__', arguments: '{"x":1}' } },
        ],
      },
    });
  });
  it.each([
    ['nothing', []],
    ['null', ['null']],
    ['null in pieces', ['n', 'u', 'll']],
    ['null between white space', [' ', 'null', '\n']],
  ])('has an empty object for a tool whose arguments are %s', (_, pieces) => {
    for (const last of [[stop(0)], []]) {
      const parts = decodeAll([begin, start(0, 'a'), ...pieces.map((one) => args(0, one)), ...last, end('TOOL_CALL')]);
      expect(folded(parts)?.message.tool_calls?.[0]?.function.arguments).toBe('{}');
    }
  });
  it('has arguments as they are where they only begin as null does', () => {
    const parts = decodeAll([begin, start(0, 'a'), args(0, ' nu'), args(0, 'mber'), stop(0), end('TOOL_CALL')]);
    expect(folded(parts)?.message.tool_calls?.[0]?.function.arguments).toBe(' number');
  });
  it('has ids of ours where Cohere gave none', () => {
    const parts = decodeAll([begin, start(3, 'a', 7), start(5, 'b', null), end('TOOL_CALL')]);
    expect(folded(parts)?.message.tool_calls?.map(({ id }) => id)).toEqual(['call_0', 'call_1']);
  });
  it('has the arguments of the output tool as its content, in pieces', () => {
    const parts = decodeAll(
      [begin, plan('p'), start(0, 'structured_output'), args(0, '{"a"'), args(0, ':1}'), stop(0), end('TOOL_CALL')],
      { outputTool: 'structured_output' },
    );
    expect(folded(parts)).toMatchObject({ finish_reason: 'stop', message: { content: '{"a":1}', reasoning: 'p' } });
    expect(folded(parts)?.message).not.toHaveProperty('tool_calls');
  });
  it('has text as its content where the output tool was not called, and else as reasoning', () => {
    const outputTool = 'structured_output';
    expect(folded(decodeAll([begin, text('Hi'), text('!'), end()], { outputTool }))?.message.content).toBe('Hi!');
    const both = decodeAll([begin, text('Hi'), start(0, outputTool, 'c', '{}'), end('TOOL_CALL')], { outputTool });
    expect(folded(both)?.message).toMatchObject({ content: '{}', reasoning: 'Hi' });
  });
  it('has its citations, counted from the beginning of the text', () => {
    const citations = {
      start: 0,
      end: 1,
      content_index: 2,
      sources: [{ type: 'document', id: 'd', document: { url: 'https://a.test', title: 'A' } }],
    };
    const cite = { type: 'citation-start', index: 0, delta: { message: { citations } } };
    const parts = decodeAll([begin, text('abc', 1), text('d', 2), cite, { type: 'citation-end', index: 0 }, end()]);
    expect(folded(parts)?.message.annotations).toEqual([
      {
        type: 'url_citation',
        url_citation: { url: 'https://a.test', title: 'A', content: '', start_index: 3, end_index: 4 },
      },
    ]);
  });
  it('has its probabilities', () => {
    const parts = decodeAll([begin, { ...text('é'), logprobs: { text: 'é', token_ids: [1], logprobs: [-1] } }, end()]);
    expect(folded(parts)?.logprobs?.content).toEqual([
      { token: 'é', logprob: -1, bytes: [195, 169], top_logprobs: [] },
    ]);
  });

  it('is complete only where Cohere says so', () => {
    for (const cut of [
      [begin, text('A')],
      [begin, text('A'), '[DONE]'],
      [begin, text('A'), end('')],
      [begin, text('A'), end(null)],
    ])
      expect(kinds(decodeAll(cut))).not.toContain('done');
    expect(kinds(decodeAll([begin, text('A'), end(), '[DONE]']))).toContain('done');
  });
  it.each([['ERROR'], ['TIMEOUT']])('that ends with %s is broken off, and its usage is known', (native) => {
    const parts = decodeAll([begin, text('A'), end(native)]);
    expect(kinds(parts).slice(-2)).toEqual(['usage', 'error']);
    expect(parts.at(-1)).toMatchObject({ isReported: true, error: { reason: 'bad_response', providerCode: native } });
  });
  it('may hold an error', () => {
    for (const event of [
      end('COMPLETE', { error: 'it broke' }),
      { message: 'it broke', id: 'x' },
      { type: 'error', error: { message: 'it broke' } },
      { type: 'error', message: 'it broke' },
    ]) {
      const parts = decodeAll([begin, text('A'), event]);
      expect(parts.at(-1)).toMatchObject({ kind: 'error', isReported: true, error: { message: 'it broke' } });
    }
  });
  it('may hold kinds of events that nobody knows yet', () => {
    expect(
      decodeAll([{ type: 'debug', prompt: 'x' }, { type: 'content-end', index: 0 }, { type: 'toString' }]),
    ).toEqual([]);
  });
  it.each([
    ['no JSON', 'hello'],
    ['a text', '"x"'],
    ['a list', '[]'],
    ['deeply nested', `{"a":${'['.repeat(100)}${']'.repeat(100)}}`],
    ['a part of a call that has not begun', JSON.stringify(args(0, 'x'))],
    ['a call without a name', JSON.stringify(start(0, 7))],
  ])('with an event that is %s is broken', (_, event) => {
    expect(() => decodeAll([begin, event])).toThrow(UpstreamError);
  });
  it('with a part of a call that has ended is broken', () => {
    expect(() => decodeAll([begin, start(0, 'a'), args(0, '{}'), stop(0), args(0, '{}')])).toThrow(UpstreamError);
  });
  it('takes huge texts as they are', () => {
    const huge = 'é'.repeat(100_000);
    const parts = decodeAll([begin, text(huge), start(0, huge), args(0, huge), stop(0), end('TOOL_CALL')]);
    expect(folded(parts)?.message.content).toBe(huge);
    expect(folded(parts)?.message.tool_calls?.[0]?.function).toEqual({ name: huge, arguments: huge });
  });
  it('becomes valid parts, or an error of the provider, whatever it holds', () => {
    const nonsense = fc.jsonValue({ maxDepth: 3 });
    const known = ['message-start', 'content-start', 'content-delta', 'tool-plan-delta', 'tool-call-start'];
    const more = ['tool-call-delta', 'tool-call-end', 'citation-start', 'citation-end', 'message-end', 'error'];
    const named = fc.record({ id: nonsense, function: fc.record({ name: nonsense, arguments: nonsense }) });
    const event = fc.record(
      {
        type: fc.oneof(fc.constantFrom(...known, ...more), nonsense),
        index: fc.oneof(fc.nat(2), nonsense),
        logprobs: nonsense,
        delta: fc.oneof(
          nonsense,
          fc.record(
            {
              finish_reason: nonsense,
              usage: nonsense,
              error: nonsense,
              message: fc.oneof(
                nonsense,
                fc.record(
                  {
                    content: fc.oneof(nonsense, fc.record({ text: nonsense, thinking: nonsense })),
                    tool_plan: nonsense,
                    tool_calls: fc.oneof(nonsense, named, fc.array(named)),
                    citations: fc.oneof(nonsense, fc.record({ start: nonsense, sources: fc.array(nonsense) })),
                  },
                  { requiredKeys: [] },
                ),
              ),
            },
            { requiredKeys: [] },
          ),
        ),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 6 }), fc.boolean(), (events, isStructured) => {
        try {
          for (const part of decodeAll(events, isStructured ? { outputTool: 'a' } : {}))
            if (part.kind === 'chunk') expect(chatChunkSchema().safeParse(part.chunk).error).toBeUndefined();
        } catch (error) {
          if (!(error instanceof UpstreamError)) throw error;
        }
      }),
    );
  });
});
