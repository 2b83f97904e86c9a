import { describe, expect, it } from 'vitest';
import { openaiResponses } from '../../../../src/dialects/openai-responses/index.ts';
import type { ResponsesQuirks } from '../../../../src/dialects/openai-responses/quirks.ts';
import { type ChatRequest, chatRequestSchema } from '../../../../src/schema/chat/chat.ts';

const ask = { role: 'user', content: 'Hi' };

function encode(request: object, quirks: ResponsesQuirks = {}, upstreamModel = 'gpt-5') {
  const parsed = chatRequestSchema().parse({ messages: [ask], ...request }) as ChatRequest;
  return openaiResponses.encodeRequest({ request: parsed, upstreamModel, quirks });
}

const payloadOf = (...given: Parameters<typeof encode>) => encode(...given).payload;
const tools = [
  { type: 'function', function: { name: 'a' } },
  { type: 'function', function: { name: 'b' } },
];

describe('a request', () => {
  it('never names what an earlier call has stored, and never stores', () => {
    const { payload, dropped } = encode({
      previous_response_id: 'resp_1',
      conversation: 'conv_1',
      background: true,
      prompt: { id: 'pmpt_1' },
      input: 'Hi',
      instructions: 'Be rude.',
      include: ['file_search_call.results'],
      store: true,
    });
    expect(Object.keys(payload)).toEqual(['model', 'input', 'store', 'include']);
    expect(payload.store).toBe(false);
    expect(dropped).toEqual([
      'previous_response_id',
      'conversation',
      'background',
      'prompt',
      'input',
      'instructions',
      'include',
      'store',
    ]);
  });
  it('passes what the provider knows by the same name', () => {
    const same = {
      temperature: 0,
      top_p: 1,
      prompt_cache_key: 'k',
      prompt_cache_retention: '24h',
      truncation: 'auto',
      max_tool_calls: 3,
      parallel_tool_calls: true,
      metadata: {},
    };
    const { payload, dropped } = encode(same);
    expect(payload).toMatchObject(same);
    expect(dropped).toEqual([]);
  });
  it.each([
    ['no text and an empty list', { n: 1, modalities: ['text'], store: false, seed: null, stop: [] }, []],
    ['sound', { modalities: ['text', 'audio'], audio: { voice: 'x' } }, ['modalities', 'audio']],
    ['a name that is no name', { 'say "hi"\n': 1, [`x${'y'.repeat(64)}`]: 1, __proto__x: 2 }, ['__proto__x']],
    ['likely tokens without their probabilities', { top_logprobs: 2 }, ['top_logprobs']],
  ])('lists what it leaves out: %s', (_, request, dropped) => {
    expect(encode(request).dropped).toEqual(dropped);
  });
  it('lists unknown fields of messages, parts and tools, each once and not without end', () => {
    const part = { type: 'text', text: 'Hi', colour: 'red' };
    const user = { role: 'user', name: 'Ann', mood: 'bad', content: [part, part] };
    const assistant = {
      role: 'assistant',
      content: 'Hi',
      images: [{ image_url: { url: 'https://x.test/a.png' } }],
      annotations: [{ type: 'url_citation' }],
    };
    const tool = { type: 'function', function: { name: 'a', cost: 5 }, size: 1 };
    expect(encode({ messages: [user, user, assistant], tools: [tool] }).dropped).toEqual([
      'messages[].name',
      'messages[].mood',
      'messages[].content[].colour',
      'messages[].images',
      'messages[].annotations',
      'tools[].size',
      'tools[].function.cost',
    ]);
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`field_${at}`, 1]));
    expect(encode(many).dropped.length).toBe(64);
  });
  it('raises the largest output to what the provider takes', () => {
    expect(payloadOf({ max_tokens: 1 }).max_output_tokens).toBe(16);
    expect(payloadOf({ max_tokens: 1 }, { minMaxTokens: 4 }).max_output_tokens).toBe(4);
    expect(payloadOf({ max_tokens: 5, max_completion_tokens: 99 }).max_output_tokens).toBe(99);
    expect(openaiResponses.minMaxTokens({})).toBe(16);
  });
  it('leaves out what a provider refuses, by its name in either wire format', () => {
    const { payload, dropped } = encode(
      { temperature: 1, reasoning: { effort: 'low' }, user: 'u', messages: [ask] },
      { dropParams: ['temperature', 'include', 'user', 'messages', 'top_p'] },
    );
    expect(payload).toEqual({
      model: 'gpt-5',
      input: [{ type: 'message', ...ask }],
      store: false,
      reasoning: { effort: 'low', summary: 'auto' },
    });
    expect(dropped).toEqual(['temperature', 'user']);
    const refused = encode(
      { reasoning_effort: 'low', verbosity: 'low', max_tokens: 50 },
      { dropParams: ['reasoning', 'text', 'max_tokens', 'max_output_tokens', 'store'] },
    );
    expect(Object.keys(refused.payload)).toEqual(['model', 'input', 'include', 'max_output_tokens']);
    expect(refused.dropped).toEqual(['reasoning', 'text']);
  });
  it('lets the caller have the random text of streams left out', () => {
    expect(payloadOf({ stream: true, stream_options: { include_obfuscation: false } }).stream_options).toEqual({
      include_obfuscation: false,
    });
    expect(payloadOf({ stream: true, stream_options: { include_usage: true } })).not.toHaveProperty('stream_options');
  });
});

describe('reasoning that is asked for', () => {
  it.each([
    ['gpt-4.1-mini', false],
    ['gpt-4o-2024-08-06', false],
    ['ft:gpt-4o:acme::1', false],
    ['chatgpt-4o-latest', false],
    ['gpt-5-chat-latest', false],
    ['gpt-5.1-chat-latest', false],
    ['gpt-5.1-codex', true],
    ['o4-mini', true],
    ['gpt-oss-120b', true],
    ['our-deployment', true],
  ])('comes encrypted where the model reasons: %s', (model, isAsked) => {
    expect('include' in payloadOf({}, {}, model)).toBe(isAsked);
    expect('include' in payloadOf({}, { encryptedReasoning: !isAsked }, model)).toBe(!isAsked);
  });
  it.each<[string, object, object, unknown]>([
    ['an effort', { reasoning: { effort: 'xhigh' } }, {}, { effort: 'xhigh', summary: 'auto' }],
    ['reasoning at all', { reasoning: { enabled: true } }, {}, { effort: 'medium', summary: 'auto' }],
    ['a summary', { reasoning: { summary: 'detailed' } }, {}, { summary: 'detailed' }],
    ['reasoning that nobody sees', { reasoning: { effort: 'low', exclude: true } }, {}, { effort: 'low' }],
    ['none', { reasoning: { effort: 'none' } }, {}, { effort: 'none' }],
    ['what a client of OpenAI asks', { reasoning_effort: 'high' }, {}, { effort: 'high' }],
    [
      'of a provider without summaries',
      { reasoning: { effort: 'high' } },
      { reasoningSummaries: false },
      { effort: 'high' },
    ],
    ['a budget', { reasoning: { max_tokens: 20_000 } }, {}, { effort: 'high', summary: 'auto' }],
    ['a huge budget', { reasoning: { max_tokens: 90_000 } }, {}, { effort: 'high', summary: 'auto' }],
    ['a tiny budget', { reasoning: { max_tokens: 1 } }, {}, { effort: 'low', summary: 'auto' }],
    ['nothing', { reasoning: {} }, {}, undefined],
    ['what is kept of it', { reasoning: { context: 'all_turns', x: 1 } }, {}, { context: 'all_turns' }],
  ])('is asked for as %s', (_, request, quirks, wanted) => {
    expect(payloadOf(request, quirks).reasoning).toEqual(wanted);
  });
});

describe('no reasoning', () => {
  it('is asked for where the model may reason', () => {
    expect(payloadOf({ reasoning: { enabled: false } }).reasoning).toEqual({ effort: 'none' });
    expect(payloadOf({ reasoning: { enabled: false } }, {}, 'gpt-4.1')).not.toHaveProperty('reasoning');
  });
});

describe('tools', () => {
  it.each<[string, unknown, unknown]>([
    ['any', 'auto', 'auto'],
    ['one function', { type: 'function', function: { name: '__proto__' } }, { type: 'function', name: '__proto__' }],
    [
      'some functions',
      { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [tools[0]] } },
      { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'a' }] },
    ],
    [
      'some, already in its own form',
      { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'a' }, 5] },
      { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'a' }, 5] },
    ],
    ['no list', { type: 'allowed_tools', allowed_tools: 5 }, { type: 'allowed_tools', mode: 'auto', tools: [] }],
    ['a custom tool', { type: 'custom', custom: { name: 'c' } }, { type: 'custom', name: 'c' }],
    ['its own tool', { type: 'web_search' }, { type: 'web_search' }],
  ])('are chosen as the caller says: %s', (_, choice, wanted) => {
    expect(payloadOf({ tools, tool_choice: choice }).tool_choice).toEqual(wanted);
  });
  it('have a schema even where the caller gives none', () => {
    expect(payloadOf({ tools }).tools).toEqual(
      ['a', 'b'].map((name) => ({
        type: 'function',
        name,
        parameters: { type: 'object', properties: {} },
        strict: false,
      })),
    );
  });
  it("search the web in the provider's own words", () => {
    const place = { type: 'approximate', country: 'FR' };
    const { payload, dropped } = encode({
      tools: [
        {
          type: 'web_search',
          allowed_domains: ['a.test'],
          excluded_domains: ['b.test'],
          engine: 'native',
          max_results: 3,
          search_context_size: 'low',
          user_location: place,
        },
        { type: 'web_search_preview' },
      ],
    });
    expect(payload.tools).toEqual([
      {
        type: 'web_search',
        search_context_size: 'low',
        user_location: place,
        filters: { allowed_domains: ['a.test'] },
      },
      { type: 'web_search_preview' },
    ]);
    expect(dropped).toEqual(['tools[].excluded_domains', 'tools[].engine', 'tools[].max_results']);
  });
  it('that only a gateway runs are refused by name', () => {
    expect(() => encode({ tools: [tools[0], { type: 'service:web_search' }] })).toThrow(
      'tools[1].type: expected "function" or "web_search" for this provider',
    );
  });
});

describe('the form of the response', () => {
  it('has a schema and no strictness unless the caller asks for it', () => {
    const schema = { type: 'json_schema', json_schema: { name: 'x', extra: 1 } };
    const { payload, dropped } = encode({ response_format: schema });
    expect(payload.text).toEqual({ format: { type: 'json_schema', name: 'x', schema: {}, strict: false } });
    expect(dropped).toEqual(['response_format.json_schema.extra']);
  });
  it('may be plain text, which is no structured output', () => {
    const { payload, structuredOutput } = encode({ response_format: { type: 'text' } });
    expect([payload.text, structuredOutput]).toEqual([{ format: { type: 'text' } }, undefined]);
  });
  it('is refused where the provider knows no such form', () => {
    expect(() => encode({ response_format: { type: 'grammar', grammar: 'x' } })).toThrow('response_format.type');
  });
});

describe('messages', () => {
  const inputOf = (messages: object[], quirks: ResponsesQuirks = {}) => payloadOf({ messages }, quirks).input;

  it.each<[string, object, string]>([
    ['sound', { type: 'input_audio', input_audio: { data: '', format: 'wav' } }, 'messages[1].content[1]'],
    ['video', { type: 'video_url', video_url: { url: 'https://x.test/a.mp4' } }, 'messages[1].content[1]'],
  ])('of a tool cannot hold %s', (_, part, path) => {
    const content = [{ type: 'text', text: 'Hi' }, part];
    expect(() => inputOf([ask, { role: 'tool', tool_call_id: 'c', content }])).toThrow(`${path}: expected`);
  });
  it('of the assistant hold text and refusals alone', () => {
    const image = { type: 'image_url', image_url: { url: 'https://x.test/a.png' } };
    expect(() => inputOf([ask, { role: 'assistant', content: [image] }])).toThrow('messages[1].content[0]: expected');
    const refused = { role: 'assistant', content: '', refusal: 'No.' };
    expect(inputOf([refused, { role: 'assistant', content: [{ type: 'text', text: 'A' }] }])).toEqual([
      { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'A' }] },
    ]);
  });
  it('refer to a file by its id, or need its content', () => {
    const file = (one: object) => inputOf([{ role: 'user', content: [{ type: 'file', file: one }] }]);
    expect(file({ file_id: 'file_1' })).toMatchObject([{ content: [{ type: 'input_file', file_id: 'file_1' }] }]);
    expect(file({ file_data: 'data:text/plain;base64,QQ==' })).toMatchObject([{ content: [{ filename: 'file' }] }]);
    for (const one of [{}, { file_data: 'QQ==' }])
      expect(() => file(one)).toThrow('messages[0].content[0].file: expected');
  });
  it('mark what to cache where the provider takes marks', () => {
    const part = { type: 'text', text: 'Long.', cache_control: { type: 'ephemeral' } };
    const mark = { prompt_cache_breakpoint: { mode: 'explicit' } };
    expect(inputOf([{ role: 'user', content: [part] }], { cacheBreakpoints: true })).toMatchObject([
      { content: [{ type: 'input_text', text: 'Long.', ...mark }] },
    ]);
    expect(inputOf([{ role: 'user', content: [{ type: 'text', text: 'Long.', ...mark }] }])).toMatchObject([
      { content: [{ type: 'input_text', text: 'Long.', ...mark }] },
    ]);
  });
});
