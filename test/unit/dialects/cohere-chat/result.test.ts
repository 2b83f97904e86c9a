import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UpstreamError } from '../../../../src/base/http/upstream-error.ts';
import { cohereChat } from '../../../../src/dialects/cohere-chat/index.ts';
import { chatResultSchema } from '../../../../src/schema/chat/chat.ts';
import { usageSchema } from '../../../../src/schema/chat/usage.ts';

const decode = (body: unknown, reading = {}) => cohereChat.decodeResult(body, {}, reading);
const text = (said: string) => [{ type: 'text', text: said }];
const body = (message: object, more: object = {}) => ({
  id: 'x',
  finish_reason: 'COMPLETE',
  message: { role: 'assistant', ...message },
  ...more,
});
const choiceOf = (message: object, more: object = {}, reading = {}) =>
  decode(body(message, more), reading).result.choices[0];
const call = (id: string | undefined, name: string, args: unknown) => ({
  id,
  type: 'function',
  function: { name, arguments: args },
});

describe('a response of Cohere', () => {
  it('has its text, reasoning and plan, and details that can be sent back', () => {
    const said = choiceOf({
      content: [{ type: 'thinking', thinking: 'Hm. ' }, ...text('One. '), ...text('Two.')],
      tool_plan: 'I look.',
    });
    expect(said?.message).toEqual({
      role: 'assistant',
      content: 'One. Two.',
      refusal: null,
      reasoning: 'Hm. I look.',
      reasoning_details: [
        { type: 'reasoning.text', text: 'Hm. ', id: 'cohere-thinking', format: 'unknown', index: 0 },
        { type: 'reasoning.text', text: 'I look.', id: 'cohere-tool-plan', format: 'unknown', index: 1 },
      ],
    });
  });
  it('survives the way back', () => {
    const message = choiceOf({ content: [{ type: 'thinking', thinking: 'Hm.' }, ...text('Yes.')] })?.message as never;
    const { payload } = cohereChat.encodeRequest({
      request: { messages: [{ role: 'user', content: 'Hi' }, message] },
      upstreamModel: 'm',
      quirks: {},
    });
    expect((payload.messages as object[])[1]).toEqual({
      role: 'assistant',
      content: [{ type: 'thinking', thinking: 'Hm.' }, ...text('Yes.')],
    });
  });
  it.each([
    ['COMPLETE', 'stop'],
    ['STOP_SEQUENCE', 'stop'],
    ['MAX_TOKENS', 'length'],
    ['ERROR_TOXIC', 'content_filter'],
    ['A_NEW_WORD', 'stop'],
  ])('that ends with %s ends with %s', (native, ours) => {
    expect(choiceOf({ content: text('x') }, { finish_reason: native })).toMatchObject({
      finish_reason: ours,
      native_finish_reason: native,
    });
  });
  it.each(['ERROR', 'TIMEOUT', '', null, undefined, 7])('that ends with %j is broken off', (finish_reason) => {
    expect(() => choiceOf({ content: text('x') }, { finish_reason })).toThrow(UpstreamError);
  });
  it('keeps the usage of what is broken off', () => {
    const usage = { billed_units: { input_tokens: 3, output_tokens: 4 } };
    const broken = () => decode(body({ content: text('x') }, { finish_reason: 'ERROR', usage }));
    expect(broken).toThrow(expect.objectContaining({ usage: expect.objectContaining({ total_tokens: 7 }) }));
  });
  it('gives calls ids of ours where Cohere gave none, and never one twice', () => {
    const calls = choiceOf({ tool_calls: [call(undefined, 'a', '{}'), call('call_0', 'b', 'null'), call('', 'c', '')] })
      ?.message.tool_calls;
    expect(calls).toEqual([
      { id: 'call_1', type: 'function', function: { name: 'a', arguments: '{}' } },
      { id: 'call_0', type: 'function', function: { name: 'b', arguments: '{}' } },
      { id: 'call_2', type: 'function', function: { name: 'c', arguments: '{}' } },
    ]);
  });
  it('has the probability of each piece of text', () => {
    const logprobs = [
      { text: 'Pa', token_ids: [1, 2], logprobs: [-0.5, -0.25] },
      { text: 'x', token_ids: [] },
    ];
    expect(choiceOf({ content: text('Pa') }, { logprobs })?.logprobs).toEqual({
      content: [{ token: 'Pa', logprob: -0.75, bytes: [80, 97], top_logprobs: [] }],
      refusal: null,
    });
  });
  it('that calls a tool without a name is none', () => {
    for (const name of ['', 7])
      expect(() => choiceOf({ tool_calls: [call('c', name as never, '{}')] })).toThrow(UpstreamError);
  });
  it('may be an error', () => {
    expect(() => decode({ message: 'no such thing', id: 'a' })).toThrow('no such thing');
    expect(() => decode({ error: 'over\nand out' })).toThrow('over and out');
    expect(() => decode({ message: 'invalid request: blocked output: x' })).toThrow(
      expect.objectContaining({ fault: 'caller', errorType: 'content_policy_violation' }),
    );
    for (const none of [null, 'x', [], {}, { message: null }]) expect(() => decode(none)).toThrow(UpstreamError);
  });
  it('is valid or refused, whatever it holds', () => {
    const nonsense = fc.jsonValue({ maxDepth: 4 });
    const shape = fc.record(
      {
        finish_reason: fc.oneof(nonsense, fc.constant('COMPLETE')),
        usage: fc.oneof(nonsense, fc.record({ tokens: nonsense, billed_units: nonsense, cached_tokens: nonsense })),
        logprobs: nonsense,
        message: fc.oneof(
          nonsense,
          fc.record(
            {
              content: fc.oneof(nonsense, fc.array(fc.record({ type: nonsense, text: nonsense, thinking: nonsense }))),
              tool_plan: nonsense,
              tool_calls: fc.oneof(nonsense, fc.array(fc.record({ id: nonsense, function: nonsense }))),
              citations: fc.array(fc.record({ start: nonsense, end: nonsense, sources: fc.array(nonsense) })),
            },
            { requiredKeys: [] },
          ),
        ),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(shape, (value) => {
        try {
          const { result, usage } = decode(value);
          expect(chatResultSchema().safeParse(result).error).toBeUndefined();
          if (usage) expect(usageSchema().safeParse(usage).error).toBeUndefined();
        } catch (error) {
          if (!(error instanceof UpstreamError)) throw error;
        }
      }),
    );
  });
});

describe('structured output by a tool', () => {
  const reading = { outputTool: 'structured_output' };
  it('becomes the content, and the response an ordinary one', () => {
    const said = choiceOf(
      { tool_plan: 'I answer.', tool_calls: [call('1', 'structured_output', '{"a":1}')] },
      { finish_reason: 'TOOL_CALL' },
      reading,
    );
    expect(said).toMatchObject({
      finish_reason: 'stop',
      native_finish_reason: 'TOOL_CALL',
      message: { content: '{"a":1}', reasoning: 'I answer.' },
    });
    expect(said?.message).not.toHaveProperty('tool_calls');
  });
  it('is not mixed with text beside it, nor with other calls', () => {
    const said = choiceOf(
      { content: text('Well: '), tool_calls: [call('1', 'a', '{}'), call('2', 'structured_output', '{"a":1}')] },
      { finish_reason: 'TOOL_CALL' },
      reading,
    );
    expect(said).toMatchObject({
      finish_reason: 'tool_calls',
      message: { content: '{"a":1}', reasoning: 'Well: ', tool_calls: [{ id: '1' }] },
    });
  });
});

describe('citations', () => {
  const cited = (...sources: object[]) => ({ start: 1, end: 3, text: 'ab', type: 'TEXT_CONTENT', sources });
  const annotations = (citation: object) =>
    choiceOf({ content: [{ type: 'thinking', thinking: 'Hm' }, ...text('xabc')], citations: [citation] })?.message
      .annotations;
  it('of a page have its address', () => {
    const document = { id: 'd', url: 'https://a.test/b', title: 'B', snippet: 'a b' };
    expect(annotations(cited({ type: 'document', id: 'd', document }))).toEqual([
      {
        type: 'url_citation',
        url_citation: { url: 'https://a.test/b', title: 'B', content: 'a b', start_index: 1, end_index: 3 },
      },
    ]);
  });
  it('of a document or of the result of a tool have its text', () => {
    const sources = [
      { type: 'document', id: 'doc:0', document: { id: 'doc:0', text: 'a b', title: 'B.txt' } },
      { type: 'tool', id: 'call:0', tool_output: { degrees: '18' } },
    ];
    expect(annotations(cited(...sources))).toEqual([
      {
        type: 'file',
        file: { hash: 'doc:0', name: 'B.txt', content: text('a b'), start_index: 1, end_index: 3 },
      },
      {
        type: 'file',
        file: { hash: 'call:0', name: 'call:0', content: text('{"degrees":"18"}'), start_index: 1, end_index: 3 },
      },
    ]);
  });
  it('of a plan have no place in the text', () => {
    const citation = { ...cited({ type: 'tool', id: 'c', tool_output: { content: 'x' } }), type: 'PLAN' };
    expect(annotations(citation)).toEqual([{ type: 'file', file: { hash: 'c', name: 'c', content: text('x') } }]);
  });
  it('count from the beginning of the text, whichever block they are of', () => {
    const citation = { ...cited({ type: 'document', id: 'd', document: { url: 'https://a.test' } }), content_index: 1 };
    const said = choiceOf({ content: [...text('12345'), ...text('xabc')], citations: [citation] });
    expect(said?.message.annotations).toMatchObject([{ url_citation: { start_index: 6, end_index: 8 } }]);
  });
  it('with an address that is none are no links', () => {
    const document = { id: 'd', url: 'javascript:alert(1)', text: 't' };
    expect(annotations(cited({ type: 'document', id: 'd', document }))).toMatchObject([{ type: 'file' }]);
  });
});

describe('usage', () => {
  const usageOf = (usage: unknown, quirks = {}) => cohereChat.decodeResult(body({}, { usage }), quirks).usage;
  const both = {
    billed_units: { input_tokens: 100, output_tokens: 20 },
    tokens: { input_tokens: 600, output_tokens: 25 },
  };
  it('is what Cohere charges', () => {
    expect(usageOf(both)).toEqual({
      prompt_tokens: 100,
      completion_tokens: 20,
      total_tokens: 120,
      prompt_tokens_details: { cached_tokens: 0 },
    });
  });
  it('is what the model processed, where the quirk says so', () => {
    expect(usageOf({ ...both, cached_tokens: 448 }, { usage: 'processed' })).toEqual({
      prompt_tokens: 600,
      completion_tokens: 25,
      total_tokens: 625,
      prompt_tokens_details: { cached_tokens: 448 },
    });
  });
  it.each([
    [448, 0],
    [500, 0],
    [540, 40],
    [600, 100],
    [9999, 100],
    [-1, 0],
  ])('counts %i cached tokens as %i of those that are charged: what Cohere adds comes first', (cached, of) => {
    expect(usageOf({ ...both, cached_tokens: cached })?.prompt_tokens_details?.cached_tokens).toBe(of);
  });
  it('is the other count where one is missing or nonsense, and none where both are', () => {
    expect(usageOf({ tokens: both.tokens })?.total_tokens).toBe(625);
    expect(usageOf({ ...both, billed_units: { input_tokens: -1, output_tokens: 1e12 } })?.total_tokens).toBe(625);
    expect(usageOf({ billed_units: both.billed_units }, { usage: 'processed' })?.total_tokens).toBe(120);
    for (const none of [null, 1, {}, { tokens: 1 }, { tokens: { input_tokens: 1.5, output_tokens: '2' } }])
      expect(usageOf(none)).toBeNull();
  });
});
