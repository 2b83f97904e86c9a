import { describe, expect, it } from 'vitest';
import { aiSdk } from '../../../../src/dialects/ai-sdk/index.ts';
import type { AiSdkQuirks } from '../../../../src/dialects/ai-sdk/quirks.ts';
import type { ChatMessage, ChatRequest } from '../../../../src/schema/chat/chat.ts';

const ask = { role: 'user' as const, content: 'Hi' };
const encode = (request: Partial<ChatRequest>, quirks: AiSdkQuirks = {}) =>
  aiSdk.encodeRequest({ request: { messages: [ask], ...request }, upstreamModel: 'm', quirks });
const promptOf = (messages: ChatMessage[], quirks: AiSdkQuirks = {}) =>
  encode({ messages }, quirks).payload.prompt as { role: string; content: Record<string, unknown>[] }[];
const tool = (name: string) => ({ type: 'function' as const, function: { name } });
const mark = { type: 'ephemeral' as const };

describe('a call of a model', () => {
  it('has marks of what to cache where its provider reads them', () => {
    const request = {
      messages: [
        { role: 'system' as const, content: [{ type: 'text' as const, text: 'A', cache_control: mark }] },
        { role: 'user' as const, content: [{ type: 'text' as const, text: 'B', cache_control: mark }] },
      ],
      tools: [{ ...tool('a'), cache_control: mark }],
      cache_control: { ...mark, ttl: '1h' as const },
    };
    const { payload, dropped } = encode(request, { cacheControl: 'anthropic' });
    const noted = { providerOptions: { anthropic: { cacheControl: mark } } };
    expect(payload).toMatchObject({
      prompt: [{ ...noted, content: 'A' }, { content: [{ ...noted, text: 'B' }] }],
      tools: [noted],
      providerOptions: { anthropic: { cacheControl: { ...mark, ttl: '1h' } } },
    });
    expect(dropped).toEqual([]);
  });
  it('has options of its provider from the host app, and from nobody else', () => {
    const quirks = { providerOptions: { openai: { store: false } } };
    const { payload, dropped } = encode({ providerOptions: { anthropic: { thinking: 1 } } }, quirks);
    expect(payload.providerOptions).toEqual({ openai: { store: false } });
    expect(dropped).toEqual(['providerOptions']);
  });
  it('has notes on thoughts, on the text and on calls where they belong', () => {
    const noted = (id: string, data: object, index: number) => ({
      type: 'reasoning.encrypted' as const,
      id,
      data: JSON.stringify(data),
      format: 'unknown',
      index,
    });
    const thought = (text: string, index: number) => ({
      type: 'reasoning.text' as const,
      text,
      id: 'ai-sdk-v4',
      index,
    });
    const details = [
      thought('Let me ', 0),
      thought('see.', 0),
      noted('ai-sdk-v4', { anthropic: { signature: 's' } }, 0),
      noted('ai-sdk-v4', { anthropic: { redactedData: 'r' } }, 1),
      noted('ai-sdk-v4:call:constructor', { google: { thoughtSignature: 't' } }, 2),
      noted('ai-sdk-v4:text', { openai: { itemId: 'i' } }, 3),
    ];
    const calls = ['constructor', 'b'].map((id) => ({
      id,
      type: 'function' as const,
      function: { name: '__proto__', arguments: '{"__proto__":1}' },
    }));
    const [, message] = promptOf([
      ask,
      { role: 'assistant', content: 'Yes.', reasoning: 'Let me see.', reasoning_details: details, tool_calls: calls },
    ]);
    expect(message?.content).toEqual([
      { type: 'reasoning', text: 'Let me see.', providerOptions: { anthropic: { signature: 's' } } },
      { type: 'reasoning', text: '', providerOptions: { anthropic: { redactedData: 'r' } } },
      { type: 'text', text: 'Yes.', providerOptions: { openai: { itemId: 'i' } } },
      {
        type: 'tool-call',
        toolCallId: 'constructor',
        toolName: '__proto__',
        input: JSON.parse('{"__proto__":1}'),
        providerOptions: { google: { thoughtSignature: 't' } },
      },
      { type: 'tool-call', toolCallId: 'b', toolName: '__proto__', input: JSON.parse('{"__proto__":1}') },
    ]);
  });
  it.each(['no JSON', '[1]', '"x"', '{"a":1}', `{"a":{"b":${'['.repeat(1000)}${']'.repeat(1000)}}}`])(
    'has no notes that are %s',
    (data) => {
      const reasoning_details = [{ type: 'reasoning.encrypted' as const, id: 'ai-sdk-v4', data }];
      const [, message] = promptOf([ask, { role: 'assistant', content: 'Yes.', reasoning_details }]);
      expect(message?.content.some((part) => 'providerOptions' in part)).toBe(false);
    },
  );
  it('has images that the model made before, and lists what has no place', () => {
    const { payload, dropped } = encode({
      messages: [
        { ...ask, name: 'Ann' },
        {
          role: 'assistant',
          content: null,
          refusal: 'No.',
          images: [{ image_url: { url: 'data:image/png;base64,AA==' } }],
          audio: { id: 'a' },
          annotations: [{ type: 'x' }],
        },
      ],
      reasoning: { effort: 'max', summary: 'auto' },
      modalities: ['image'],
    });
    expect((payload.prompt as object[])[1]).toEqual({
      role: 'assistant',
      content: [
        { type: 'text', text: 'No.' },
        { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AA==' } },
      ],
    });
    expect(payload.reasoning).toBe('max');
    expect(dropped.toSorted()).toEqual([
      'messages[].annotations',
      'messages[].audio',
      'messages[].name',
      'modalities',
      'reasoning.summary',
    ]);
  });
  it('lists unknown fields of messages, and a choice among no tools', () => {
    const { dropped } = encode({ messages: [{ ...ask, prefix: true, nothing: null }], tool_choice: 'required' });
    expect(dropped.toSorted()).toEqual(['messages[].prefix', 'tool_choice']);
  });
  it('offers only the tools that a list allows', () => {
    const choice = { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'b' }] };
    const { payload } = encode({ tools: [tool('a'), tool('b')], tool_choice: choice });
    expect(payload).toMatchObject({ tools: [{ name: 'b' }], toolChoice: { type: 'required' } });
  });
  const file = (part: object) => () =>
    promptOf([{ role: 'user', content: [{ type: 'file', file: part }] } as ChatMessage]);
  it.each<[string, () => unknown, string]>([
    ['files by an id', file({ file_id: 'f' }), 'messages[0].content[0].file: expected file_data'],
    ['addresses of another kind', file({ file_data: 'ftp://a.test/a.pdf' }), 'messages[0].content[0].file.file_data'],
    ['files of an unknown kind', file({ file_data: 'https://a.test/a' }), 'messages[0].content[0].file.file_data'],
    [
      'results of calls that nobody made',
      () => promptOf([ask, { role: 'tool', tool_call_id: 'x', content: 'y' }]),
      'messages[1].tool_call_id',
    ],
    ['tools that the gateway runs', () => encode({ tools: [{ type: 'service:a' }] }), 'tools[0].type'],
    ['choices of such tools', () => encode({ tool_choice: { type: 'a' } }), 'tool_choice'],
    ['forms that are no JSON', () => encode({ response_format: { type: 'python' } }), 'response_format.type'],
  ])('is refused with %s', (_, refused, message) => {
    expect(refused).toThrow(message);
  });
});
