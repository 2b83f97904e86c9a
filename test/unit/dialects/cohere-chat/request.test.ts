import { describe, expect, it } from 'vitest';
import { cohereChat } from '../../../../src/dialects/cohere-chat/index.ts';
import type { CohereQuirks } from '../../../../src/dialects/cohere-chat/quirks.ts';
import type { ChatRequest } from '../../../../src/schema/chat/chat.ts';

const ask = { role: 'user' as const, content: 'Hi' };
const encode = (request: Partial<ChatRequest>, quirks: CohereQuirks = {}) =>
  cohereChat.encodeRequest({ request: { messages: [ask], ...request }, upstreamModel: 'm', quirks });
const tool = (name: string) => ({ type: 'function' as const, function: { name } });
const offered = (request: Partial<ChatRequest>) =>
  (encode(request).payload.tools as { function: { name: string } }[]).map((one) => one.function.name);
const schema = {
  type: 'json_schema' as const,
  json_schema: { name: 'x', schema: { type: 'object', properties: { a: { type: 'string' } } } },
};

describe('a request for Cohere', () => {
  it('keeps within the bounds of `p` and `k`, outside of which Cohere refuses it', () => {
    expect(encode({ top_p: 1, top_k: -1 }).payload).toMatchObject({ p: 0.99, k: 0 });
    expect(encode({ top_p: 0, top_k: 1000 }).payload).toMatchObject({ p: 0.01, k: 500 });
  });
  it('leaves out what is null without a word', () => {
    const { payload, dropped } = encode({ seed: null, stop: null, top_p: null, logit_bias: null, n: null });
    expect(Object.keys(payload)).toEqual(['model', 'stream', 'messages']);
    expect(dropped).toEqual([]);
  });
  it("carries Cohere's own fields, and lists others that nobody knows", () => {
    const own = {
      documents: [{ id: 'a', data: { text: 'b' } }],
      citation_options: { mode: 'FAST' },
      safety_mode: 'STRICT',
      strict_tools: true,
      priority: 3,
    };
    const { payload, dropped } = encode({ ...own, dont_know: 1 });
    expect(payload).toMatchObject(own);
    expect(dropped).toEqual(['dont_know']);
  });
  it('does not speak of what is for the gateway alone', () => {
    const { payload, dropped } = encode({ models: ['a/b'], provider: {}, session_id: 's', usage: { include: true } });
    expect(Object.keys(payload)).toEqual(['model', 'stream', 'messages']);
    expect(dropped).toEqual([]);
  });
  it('never lets reasoning take all of the largest output', () => {
    for (const max_tokens of [1, 2, 100]) {
      const { thinking } = encode({ max_tokens, reasoning: { max_tokens: 5000 } }).payload;
      expect(thinking).toEqual({ type: 'enabled', token_budget: Math.max(max_tokens - 1, 1) });
    }
  });
  it('drops the parameters that a server refuses, by the names of the caller', () => {
    const { payload, dropped } = encode(
      { top_p: 0.5, seed: 1, reasoning: { effort: 'low' } },
      { dropParams: ['top_p', 'reasoning'] },
    );
    expect(payload).toMatchObject({ seed: 1 });
    expect(payload).not.toHaveProperty('p');
    expect(payload).not.toHaveProperty('thinking');
    expect(dropped).toEqual(['top_p', 'reasoning']);
  });
  it('lists unknown fields of messages, and a choice among no tools', () => {
    const { dropped } = encode({ messages: [{ ...ask, prefix: true, nothing: null }], tool_choice: 'required' });
    expect(dropped).toEqual(['tool_choice', 'messages[].prefix']);
  });
  it('lists the fields of messages that Cohere has no place for', () => {
    const { dropped } = encode({
      messages: [
        { ...ask, name: 'Ann' },
        {
          role: 'assistant',
          content: 'x',
          images: [{ image_url: { url: 'data:' } }],
          audio: { id: 'a' },
          annotations: [{ type: 'x' }],
        },
        {
          role: 'user',
          content: [{ type: 'image_url', image_url: { url: 'https://a.test', detail: 'original' } }],
        },
      ],
      reasoning: { effort: 'low', summary: 'auto' },
      modalities: ['text', 'audio'],
    });
    expect(dropped.toSorted()).toEqual([
      'messages[].annotations',
      'messages[].audio',
      'messages[].content[].image_url.detail',
      'messages[].images',
      'messages[].name',
      'modalities',
      'reasoning.summary',
    ]);
  });
  it('says what the model refused before', () => {
    const messages = [ask, { role: 'assistant' as const, content: null, refusal: 'No.' }];
    expect(encode({ messages }).payload.messages).toEqual([ask, { role: 'assistant', content: 'No.' }]);
  });
});

describe('tools', () => {
  const tools = [tool('a'), tool('b'), tool('__proto__'), tool('constructor')];
  it('are offered as they are named, whatever the names', () => {
    expect(offered({ tools })).toEqual(['a', 'b', '__proto__', 'constructor']);
  });
  it('are those that a list allows, in either shape of the list', () => {
    const allowed = { mode: 'required', tools: [{ type: 'function', function: { name: 'b' } }] };
    for (const choice of [
      { type: 'allowed_tools', allowed_tools: allowed },
      { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'b' }] },
    ]) {
      expect(offered({ tools, tool_choice: choice })).toEqual(['b']);
      expect(encode({ tools, tool_choice: choice }).payload.tool_choice).toBe('REQUIRED');
    }
    const auto = { type: 'allowed_tools', allowed_tools: { ...allowed, mode: 'auto' } };
    expect(encode({ tools, tool_choice: auto }).payload).not.toHaveProperty('tool_choice');
  });
  it('that a provider does not run are refused, and so are choices of them', () => {
    expect(() => encode({ tools: [{ type: 'service:web_search' }] })).toThrow('tools[0].type: expected function');
    expect(() => encode({ tools, tool_choice: { type: 'web_search' } })).toThrow('tool_choice: expected');
  });
});

describe('structured output', () => {
  it('is not asked for where a tool must be called', () => {
    const { payload, dropped, structuredOutput } = encode({
      tools: [tool('a')],
      tool_choice: 'required',
      response_format: schema,
    });
    expect(payload.tool_choice).toBe('REQUIRED');
    expect(offered({ tools: [tool('a')], tool_choice: 'required', response_format: schema })).toEqual(['a']);
    expect([dropped, structuredOutput]).toEqual([['response_format'], undefined]);
  });
  it('is native where tools must not be called', () => {
    const { payload, structuredOutput } = encode({ tools: [tool('a')], tool_choice: 'none', response_format: schema });
    expect(payload).not.toHaveProperty('tools');
    expect(payload.response_format).toEqual({ type: 'json_object', json_schema: schema.json_schema.schema });
    expect(structuredOutput).toBe('native');
  });
  it('is asked for by an instruction beside documents', () => {
    const { payload, structuredOutput } = encode({ documents: ['a text'], response_format: schema });
    expect(payload).not.toHaveProperty('response_format');
    expect((payload.messages as object[])[0]).toEqual({
      role: 'system',
      content: expect.stringContaining(JSON.stringify(schema.json_schema.schema)),
    });
    expect(structuredOutput).toBe('instruction');
  });
  it('of another kind is refused', () => {
    expect(() => encode({ response_format: { type: 'grammar', grammar: 'x' } })).toThrow('response_format.type');
  });
});

describe('reasoning', () => {
  const assistant = (message: object) => ({ role: 'assistant' as const, content: 'Yes.', ...message });
  const detail = (id: string, text: string, index: number) => ({
    type: 'reasoning.text' as const,
    format: 'unknown',
    id,
    text,
    index,
  });
  const sent = (message: object) => {
    const { payload, dropped } = encode({ messages: [ask, assistant(message)] });
    return [(payload.messages as object[])[1], dropped];
  };
  it("that Cohere wrote becomes Cohere's own blocks, also from the pieces of a stream", () => {
    const details = [
      detail('cohere-thinking', 'Let me ', 0),
      detail('cohere-thinking', 'see.', 0),
      detail('cohere-thinking', 'Well.', 1),
    ];
    expect(sent({ reasoning: 'Let me see.Well.', reasoning_details: details })).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Let me see.' },
          { type: 'thinking', thinking: 'Well.' },
          { type: 'text', text: 'Yes.' },
        ],
      },
      [],
    ]);
  });
  it('that is a plan of tool calls becomes the plan', () => {
    const calls = [{ id: 'c', type: 'function' as const, function: { name: 'a', arguments: '{}' } }];
    const details = [detail('cohere-tool-plan', 'I will ', 0), detail('cohere-tool-plan', 'look.', 0)];
    expect(sent({ content: null, tool_calls: calls, reasoning_details: details })).toEqual([
      { role: 'assistant', tool_plan: 'I will look.', tool_calls: calls },
      [],
    ]);
  });
  it.each([
    ['text of another provider', [{ ...detail('x', 'a', 0), format: 'anthropic-claude-v1', signature: 's' }]],
    ['what is encrypted', [{ type: 'reasoning.encrypted', data: 'a', id: 'cohere-thinking' }]],
    ['a summary', [{ type: 'reasoning.summary', summary: 'a', id: 'cohere-thinking' }]],
  ])('that is %s is left out and listed', (_, reasoning_details) => {
    expect(sent({ reasoning_details })).toEqual([
      { role: 'assistant', content: 'Yes.' },
      ['messages[].reasoning_details'],
    ]);
  });
});
