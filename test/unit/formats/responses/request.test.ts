import { describe, expect, it } from 'vitest';
import type { Ask } from '../../../../src/call/ask.ts';
import type { Native } from '../../../../src/call/native.ts';
import { askToCompact } from '../../../../src/formats/responses/compaction-request.ts';
import { packCompaction, unpackCompaction } from '../../../../src/formats/responses/packed-compaction.ts';
import { packReasoning } from '../../../../src/formats/responses/packed-reasoning.ts';
import { askOfResponses } from '../../../../src/formats/responses/request/index.ts';
import { type ChatRequest, chatRequestSchema } from '../../../../src/schema/chat/chat.ts';
import { responsesRequestSchema } from '../../../../src/schema/responses/responses.ts';

const ask = { role: 'user', content: 'Hi' };
const fn = (name: string, more: object = {}) => ({ type: 'function', name, ...more });
const call = (id: string, more: object = {}) => ({
  type: 'function_call',
  call_id: id,
  name: 'f',
  arguments: '{}',
  ...more,
});
const output = (id: string, value: unknown = 'ok') => ({ type: 'function_call_output', call_id: id, output: value });
const said = (text: string, more: object = {}) => ({
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text }],
  ...more,
});

/** The chat request, which must itself be a valid one. */
function convert(body: object): { chat: ChatRequest; native: Native } {
  const request = responsesRequestSchema().parse({ input: [ask], ...body });
  const before = structuredClone(request);
  const { request: chat, native } = askOfResponses(request);
  expect(request).toEqual(before);
  expect(chatRequestSchema().safeParse(chat).error?.issues ?? []).toEqual([]);
  return { chat, native: native as Native };
}

const messagesOf = (...input: object[]) => convert({ input }).chat.messages;
const droppedOf = (body: object) => convert(body).native.dropped;

describe('the input', () => {
  it('is one message where it is a text', () => {
    expect(convert({ input: 'Hello' }).chat.messages).toEqual([{ role: 'user', content: 'Hello' }]);
  });
  it('stands behind the instructions', () => {
    const { chat, native } = convert({ instructions: 'Be brief.' });
    expect(chat.messages).toEqual([{ role: 'system', content: 'Be brief.' }, ask]);
    expect(native.instructionsAt).toBe(0);
    expect(native.items[0]).toEqual([]);
  });
  it('keeps roles and parts', () => {
    expect(
      messagesOf(
        { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'a' }] },
        { role: 'system', content: 'b' },
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'c', cache_control: { type: 'ephemeral' } },
            { type: 'input_image', image_url: 'https://x.test/a.png', detail: 'low' },
            { type: 'input_image', image_url: 'data:image/png;base64,AA==', detail: null },
            { type: 'input_file', file_data: 'data:application/pdf;base64,AA==', filename: 'a.pdf' },
            { type: 'input_file', file_url: 'https://x.test/a.pdf' },
            { type: 'input_file', file_id: 'file_1' },
            { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } },
            { type: 'input_video', video_url: 'https://x.test/a.mp4' },
          ],
        },
      ),
    ).toEqual([
      { role: 'developer', content: 'a' },
      { role: 'system', content: 'b' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'c', cache_control: { type: 'ephemeral' } },
          { type: 'image_url', image_url: { url: 'https://x.test/a.png', detail: 'low' } },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
          { type: 'file', file: { file_data: 'data:application/pdf;base64,AA==', filename: 'a.pdf' } },
          { type: 'file', file: { file_data: 'https://x.test/a.pdf' } },
          { type: 'file', file: { file_id: 'file_1' } },
          { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } },
          { type: 'video_url', video_url: { url: 'https://x.test/a.mp4' } },
        ],
      },
    ]);
  });
  it('folds what the model thought, said and called in a row into one message', () => {
    expect(
      messagesOf(
        ask,
        {
          type: 'reasoning',
          id: 'rs_1',
          summary: [{ type: 'summary_text', text: 's' }],
          content: null,
          encrypted_content: 'e',
        },
        said('Let me see', { phase: 'commentary' }),
        { type: 'reasoning', id: 'rs_2', summary: [], encrypted_content: 'e2' },
        call('c1'),
        call('c2', { name: 'g' }),
        output('c1'),
        output('c2', [
          { type: 'input_text', text: 'a' },
          { type: 'input_text', text: 'b' },
        ]),
        said('Done'),
        { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
      ),
    ).toEqual([
      ask,
      {
        role: 'assistant',
        content: 'Let me see',
        reasoning_details: [
          { type: 'reasoning.summary', summary: 's', id: 'rs_1', format: 'openai-responses-v1', index: 0 },
          { type: 'reasoning.encrypted', data: 'e', id: 'rs_1', format: 'openai-responses-v1', index: 1 },
          // The message takes number 2, so that the second thought comes back between the message and the calls.
          { type: 'reasoning.encrypted', data: 'e2', id: 'rs_2', format: 'openai-responses-v1', index: 3 },
        ],
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } },
          { id: 'c2', type: 'function', function: { name: 'g', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'ok' },
      { role: 'tool', tool_call_id: 'c2', content: 'ab' },
      { role: 'assistant', content: 'Done', refusal: 'No.' },
    ]);
  });
  it('keeps what a tool returned beside text, and says where it is', () => {
    const { chat, native } = convert({
      input: [
        call('c1'),
        output('c1', [
          { type: 'input_text', text: 'a' },
          { type: 'input_image', image_url: 'https://x.test' },
        ]),
      ],
    });
    expect(chat.messages[1]).toEqual({
      role: 'tool',
      tool_call_id: 'c1',
      content: [
        { type: 'text', text: 'a' },
        { type: 'image_url', image_url: { url: 'https://x.test' } },
      ],
    });
    expect(native.toolMedia).toEqual([{ path: 'input[1].output[1]', modality: 'image' }]);
  });
  it('is kept item by item for an upstream that speaks Responses', () => {
    const input = [
      { type: 'web_search_call', id: 'ws_0' },
      ask,
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'e' },
      { type: 'web_search_call', id: 'ws_1' },
      said('a', { id: 'msg_1', phase: 'commentary' }),
      said('b'),
      call('c1', { namespace: 'n', status: 'completed' }),
      output('c1'),
      { type: 'mcp_call', id: 'm_1' },
    ];
    const { chat, native } = convert({ input });
    expect(chat.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
    expect(chat.messages[1]?.content).toBe('a\n\nb');
    const kept = native.items.flatMap((items) => items ?? []);
    expect(kept).toHaveLength(input.length);
    for (const [at, item] of kept.entries()) expect(item).toBe(input[at]);
    expect(native.dropped).toEqual(['input[].web_search_call', 'input[].phase', 'input[].mcp_call']);
  });
});

describe('reasoning', () => {
  const details = [
    { type: 'reasoning.text', text: 'Hm…', signature: 'sig', format: 'anthropic-claude-v1', index: 4, more: [1] },
    { type: 'reasoning.encrypted', data: 'redacted', format: 'anthropic-claude-v1', index: 5 },
  ];
  const packed = packReasoning(details as never);

  it('that was packed comes out as it was, and goes to no upstream that speaks Responses', () => {
    const item = { type: 'reasoning', id: 'rs', summary: [], content: [{ text: 'Hm…' }], encrypted_content: packed };
    const { chat, native } = convert({ input: [item, said('a')] });
    expect(chat.messages[0]).toMatchObject({ reasoning_details: details });
    expect(native.items[0]).toEqual([said('a')]);
  });
  it('that was packed of such an upstream goes back to it as it was', () => {
    const own = [
      { type: 'reasoning.summary', summary: 's', id: 'rs_9', format: 'xai-responses-v1', index: 0 },
      { type: 'reasoning.encrypted', data: 'e', id: 'rs_9', format: 'xai-responses-v1', index: 1 },
    ];
    const item = { type: 'reasoning', id: 'rs', summary: [], encrypted_content: packReasoning(own as never) };
    const { chat, native } = convert({ input: [item] });
    expect(chat.messages[0]).toMatchObject({ reasoning_details: own });
    expect(native.items[0]).toEqual([
      { type: 'reasoning', id: 'rs_9', summary: [{ type: 'summary_text', text: 's' }], encrypted_content: 'e' },
    ]);
  });
  it('with a damaged pack is what a provider may have encrypted', () => {
    for (const text of ['gateway-reasoning-1.%', 'gateway-reasoning-1.e30', packed.slice(0, -9)])
      expect(messagesOf({ type: 'reasoning', summary: [], encrypted_content: text })[0]).toMatchObject({
        reasoning_details: [{ type: 'reasoning.encrypted', data: text }],
      });
  });
  it.each([
    [
      { content: [{ text: 'a' }, { text: 'b' }], signature: 's', format: 'anthropic-claude-v1' },
      [
        { type: 'reasoning.text', text: 'a', format: 'anthropic-claude-v1', index: 0 },
        { type: 'reasoning.text', text: 'b', signature: 's', format: 'anthropic-claude-v1', index: 1 },
      ],
    ],
    [
      { summary: [{ text: 'a' }], signature: 's', format: 'anthropic-claude-v1' },
      [{ type: 'reasoning.text', text: 'a', signature: 's', format: 'anthropic-claude-v1', index: 0 }],
    ],
    [{ content: [{ text: 'a' }], signature: 's' }, [{ type: 'reasoning.text', text: 'a', signature: 's', index: 0 }]],
    [{ signature: 's', format: 'x' }, [{ type: 'reasoning.text', signature: 's', format: 'x', index: 0 }]],
    [
      { summary: [{ text: '' }, { text: 'a' }] },
      [{ type: 'reasoning.summary', summary: 'a', format: 'openai-responses-v1', index: 0 }],
    ],
  ])('as %j', (item, expected) => {
    expect(messagesOf({ type: 'reasoning', ...item })[0]).toMatchObject({ content: '', reasoning_details: expected });
  });
  it('loses the fields of gateways on its way to a provider', () => {
    const item = { type: 'reasoning', id: 'rs', summary: [], encrypted_content: 'e' };
    const { native } = convert({ input: [{ ...item, signature: null, format: 'openai-responses-v1' }] });
    expect(native.items[0]).toEqual([item]);
  });
});

describe('a compaction', () => {
  it('of this gateway is a message with the summary', () => {
    const item = { type: 'compaction', encrypted_content: packCompaction('We wrote a.ts. „Ä“ 🙂') };
    const { chat, native } = convert({ input: [item, ask] });
    expect(chat.messages[0]).toMatchObject({
      role: 'user',
      content: expect.stringMatching(/We wrote a\.ts\. „Ä“ 🙂$/),
    });
    expect(native.onlyNative).toEqual([]);
    expect(native.items[0]).toEqual([
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: chat.messages[0]?.content }] },
    ]);
  });
  it('of another maker is for an upstream that speaks Responses alone', () => {
    const item = { type: 'compaction', encrypted_content: 'gAAAA' };
    const { chat, native } = convert({ input: [item, ask] });
    expect(chat.messages).toEqual([ask]);
    expect(native.items[0]).toEqual([item, ask]);
    expect(native.onlyNative).toEqual([{ path: 'input[0]', expected: 'a compaction that this gateway made' }]);
  });
  it.each([
    'gateway-compaction-1.',
    'gateway-compaction-1.!',
    'gateway-compaction-1.bnVsbA',
    'gateway-compaction-1.gICA',
    '',
  ])('that is damaged is none of ours: %j', (text) => {
    expect(unpackCompaction(text)).toBeNull();
  });
});

describe('tools', () => {
  const nameOf = (chat: ChatRequest) => chat.tools?.map((tool) => (tool.function as { name: string }).name);

  it('become functions, each under a name of its own, which leads back to the tool', () => {
    const tools = [
      fn('run', {
        description: 'Runs',
        parameters: { type: 'object' },
        strict: true,
        cache_control: { type: 'ephemeral' },
      }),
      {
        type: 'custom',
        name: 'patch',
        description: 'Patches',
        format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' },
      },
      { type: 'namespace', name: 'mcp__git', description: 'Git', tools: [fn('run'), { type: 'custom', name: 'log' }] },
      { type: 'namespace', name: 'mcp__fs__', tools: [fn('run')] },
      { type: 'local_shell' },
      { type: 'tool_search', execution: 'client', parameters: { type: 'object', properties: {} } },
      { type: 'web_search', external_web_access: true },
      fn('with.dots'),
      { type: 'namespace', name: 'n'.repeat(60), tools: [fn('long'), fn('longer')] },
    ];
    const { chat, native } = convert({ tools });
    const names = nameOf(chat) ?? [];
    expect(names.slice(0, 7)).toEqual([
      'run',
      'patch',
      'mcp__git__run',
      'mcp__git__log',
      'mcp__fs__run',
      'local_shell',
      'tool_search',
    ]);
    expect(new Set(names).size).toBe(10);
    for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(names[7]).toMatch(/^with_dots_/);
    expect(Object.fromEntries(native.callForms)).toEqual({
      patch: { kind: 'custom', name: 'patch' },
      mcp__git__run: { kind: 'function', name: 'run', namespace: 'mcp__git' },
      mcp__git__log: { kind: 'custom', name: 'log', namespace: 'mcp__git' },
      mcp__fs__run: { kind: 'function', name: 'run', namespace: 'mcp__fs__' },
      local_shell: { kind: 'local_shell', name: 'local_shell' },
      tool_search: { kind: 'tool_search', name: 'tool_search' },
      [names[7] as string]: { kind: 'function', name: 'with.dots' },
      [names[8] as string]: { kind: 'function', name: 'long', namespace: 'n'.repeat(60) },
      [names[9] as string]: { kind: 'function', name: 'longer', namespace: 'n'.repeat(60) },
    });
    expect(chat.tools?.[0]).toEqual({
      type: 'function',
      function: { name: 'run', description: 'Runs', parameters: { type: 'object' }, strict: true },
      cache_control: { type: 'ephemeral' },
    });
    expect(chat.tools?.[1]).toMatchObject({
      function: {
        description: expect.stringMatching(/^Patches\n\n.*lark grammar.*\nstart: "x"$/s),
        parameters: { properties: { input: { type: 'string' } }, required: ['input'] },
      },
    });
    expect(native.tools).toEqual([
      tools[0],
      tools[1],
      tools[2],
      tools[2],
      tools[3],
      tools[4],
      tools[5],
      tools[7],
      tools[8],
      tools[8],
    ]);
    expect(native.hostedTools).toEqual([tools[6]]);
    expect(native.dropped).toEqual(['tools[].web_search']);
  });
  it('have the same names in every turn, whatever stands beside them', () => {
    const alone = nameOf(convert({ tools: [{ type: 'custom', name: 'a b' }] }).chat);
    const tools = [fn('x'), { type: 'namespace', name: 'n', tools: [fn('y')] }, { type: 'custom', name: 'a b' }];
    expect(nameOf(convert({ tools }).chat)?.[2]).toBe(alone?.[0]);
  });
  it('never take the name of a function', () => {
    const tools = [
      { type: 'namespace', name: 'a', tools: [fn('b')] },
      fn('a__b'),
      { type: 'local_shell' },
      fn('local_shell'),
    ];
    const { chat, native } = convert({ tools });
    const names = nameOf(chat) ?? [];
    expect(names[1]).toBe('a__b');
    expect(names[3]).toBe('local_shell');
    expect(new Set(names).size).toBe(4);
    expect([...native.callForms.keys()].sort()).toEqual([names[0], names[2]].sort());
  });
  it('that items bring in are functions too, and go upstream with their items', () => {
    const additional = { type: 'additional_tools', role: 'developer', tools: [fn('f'), { type: 'web_search' }] };
    const found = {
      type: 'tool_search_output',
      call_id: 'c1',
      execution: 'client',
      tools: [fn('f'), { type: 'namespace', name: 'n', tools: [fn('g')] }],
    };
    const { chat, native } = convert({
      input: [
        additional,
        ask,
        { type: 'tool_search_call', call_id: 'c1', execution: 'client', arguments: { query: 'q' } },
        found,
      ],
    });
    expect(nameOf(chat)).toEqual(['f', 'n__g']);
    expect(native.tools).toEqual([additional, found]);
    expect(native.hostedTools).toEqual([]);
    expect(native.dropped).toEqual(['tools[].web_search']);
    expect(chat.messages.slice(1)).toEqual([
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'tool_search', arguments: '{"query":"q"}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: '{"tools":["f","n__g"]}' },
    ]);
  });
  it('are called by their chat names in the conversation', () => {
    const tools = [
      { type: 'namespace', name: 'n', tools: [fn('g')] },
      { type: 'custom', name: 'a b' },
    ];
    const { chat } = convert({
      tools,
      input: [
        call('c1', { name: 'g', namespace: 'n' }),
        call('c2', { name: 'g' }),
        { type: 'custom_tool_call', call_id: 'c3', name: 'a b', input: 'say "x"\n' },
        { type: 'local_shell_call', call_id: 'c4', action: { type: 'exec', command: ['ls'], env: {} } },
        { type: 'local_shell_call', id: 'ls_5', action: { type: 'exec', command: ['pwd'] } },
        { type: 'local_shell_call_output', id: 'ls_5', output: '/' },
      ],
    });
    expect(chat.messages[0]).toMatchObject({
      tool_calls: [
        { id: 'c1', function: { name: 'n__g' } },
        { id: 'c2', function: { name: 'n__g' } },
        { id: 'c3', function: { name: nameOf(chat)?.[1], arguments: '{"input":"say \\"x\\"\\n"}' } },
        { id: 'c4', function: { name: 'local_shell', arguments: '{"command":["ls"],"env":{}}' } },
        { id: 'ls_5', function: { name: 'local_shell' } },
      ],
    });
    expect(chat.messages[1]).toEqual({ role: 'tool', tool_call_id: 'ls_5', content: '/' });
  });
});

describe('the choice of a tool', () => {
  const tools = [
    fn('f'),
    { type: 'custom', name: 'p' },
    { type: 'namespace', name: 'n', tools: [fn('g'), fn('h')] },
    { type: 'web_search' },
  ];
  const forced = (name: string) => ({ type: 'function', function: { name } });
  const allowed = (mode: string, ...names: string[]) => ({
    type: 'allowed_tools',
    allowed_tools: { mode, tools: names.map(forced) },
  });
  it.each<[unknown, unknown, string[]]>([
    ['required', 'required', []],
    [{ type: 'function', name: 'f' }, forced('f'), []],
    [{ type: 'custom', name: 'p' }, forced('p'), []],
    [{ type: 'function', name: 'g', namespace: 'n' }, forced('n__g'), []],
    [{ type: 'function', name: 'g' }, forced('n__g'), []],
    [{ type: 'web_search' }, undefined, ['tool_choice']],
    [
      { type: 'allowed_tools', mode: 'required', tools: [fn('f'), { type: 'namespace', name: 'n' }] },
      allowed('required', 'f', 'n__g', 'n__h'),
      [],
    ],
    [
      { type: 'allowed_tools', mode: 'auto', tools: [fn('f'), { type: 'web_search' }] },
      allowed('auto', 'f'),
      ['tool_choice.tools[].web_search'],
    ],
    [
      { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'web_search' }] },
      'none',
      ['tool_choice.tools[].web_search'],
    ],
  ])('%j', (choice, expected, dropped) => {
    const { chat, native } = convert({ tools, tool_choice: choice });
    expect(chat.tool_choice).toEqual(expected);
    expect(native.toolChoice).toEqual({ chat: expected, own: choice });
    expect(native.dropped).toEqual(['tools[].web_search', ...dropped]);
  });
  it('is left out where there are no functions, as servers refuse it there', () => {
    const { chat, native } = convert({ tools: [], tool_choice: 'auto', parallel_tool_calls: false });
    expect(Object.keys(chat)).toEqual(['messages']);
    expect(native.fields).toEqual({ parallel_tool_calls: false });
    expect(native.dropped).toEqual([]);
    expect(droppedOf({ tools: [{ type: 'web_search' }], tool_choice: 'required' })).toEqual([
      'tools[].web_search',
      'tool_choice',
    ]);
  });
});

describe('fields', () => {
  it.each<[string, object, object]>([
    ['the largest output', { max_output_tokens: 5 }, { max_completion_tokens: 5 }],
    [
      'a schema',
      { text: { format: { type: 'json_schema', name: 'n', schema: { type: 'object' }, strict: true } } },
      {
        response_format: { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'object' }, strict: true } },
      },
    ],
    ['JSON', { text: { format: { type: 'json_object' } } }, { response_format: { type: 'json_object' } }],
    [
      'plain text',
      { text: { format: { type: 'text' }, verbosity: 'low' } },
      { response_format: { type: 'text' }, verbosity: 'low' },
    ],
    [
      'reasoning',
      { reasoning: { effort: 'high', summary: null, context: 'auto' } },
      { reasoning: { effort: 'high', context: 'auto' } },
    ],
    ['an older summary', { reasoning: { generate_summary: 'concise' } }, { reasoning: { summary: 'concise' } }],
    [
      'probabilities',
      { include: ['message.output_text.logprobs'], top_logprobs: 2 },
      { logprobs: true, top_logprobs: 2 },
    ],
    ['likely tokens', { top_logprobs: 2 }, { logprobs: true, top_logprobs: 2 }],
    ['no likely tokens', { top_logprobs: 0 }, {}],
    [
      'what is met always',
      {
        store: false,
        include: ['reasoning.encrypted_content'],
        background: false,
        truncation: 'disabled',
        previous_response_id: null,
      },
      {},
    ],
    [
      'what is null',
      { user: null, tools: null, text: null, reasoning: null, metadata: null, temperature: null, stream: null },
      {},
    ],
    [
      'what both have',
      {
        model: 'a/b',
        stream: true,
        temperature: 0,
        seed: 1,
        user: 'u',
        metadata: { a: 'b' },
        prompt_cache_key: 'k',
        safety_identifier: 's',
        session_id: 'x',
        service_tier: 'flex',
        provider: { only: ['a'] },
        stream_options: { include_obfuscation: false },
      },
      {
        model: 'a/b',
        stream: true,
        temperature: 0,
        seed: 1,
        user: 'u',
        metadata: { a: 'b' },
        prompt_cache_key: 'k',
        safety_identifier: 's',
        session_id: 'x',
        service_tier: 'flex',
        provider: { only: ['a'] },
        stream_options: { include_obfuscation: false },
      },
    ],
    ['what nobody knows', { something_new: 1 }, { something_new: 1 }],
  ])('convert %s', (_, body, expected) => {
    const { chat, native } = convert(body);
    // Without the symbol of the native.
    const fields = Object.fromEntries(Object.entries(chat).filter(([name]) => name !== 'messages'));
    expect(fields).toEqual(expected);
    expect(native.dropped).toEqual([]);
  });
  it('that only an upstream that speaks Responses knows are kept for it, and listed', () => {
    const own = {
      max_tool_calls: 3,
      truncation: 'auto',
      context_management: [{ type: 'compaction', compact_threshold: 9 }],
      client_metadata: { a: 'b' },
    };
    const { chat, native } = convert({
      ...own,
      include: ['web_search_call.action.sources', 'evil\n', 'reasoning.encrypted_content'],
      text: { x_new: 1 },
    });
    expect(Object.keys(chat)).toEqual(['messages']);
    expect(native.fields).toEqual(own);
    expect(native.include).toEqual(['web_search_call.action.sources', 'evil\n']);
    expect(native.dropped).toEqual([
      ...Object.keys(own).filter((name) => name !== 'truncation'),
      'text.x_new',
      'include.web_search_call.action.sources',
      'include',
    ]);
  });
  it('named like a prototype change nothing', () => {
    const body = JSON.parse(
      '{"input":[{"role":"user","content":[{"type":"input_text","text":"a","__proto__":{"x":1}}],"__proto__":{"role":"system"}}],"__proto__":{"tools":[1]},"reasoning":{"effort":"low","__proto__":{"y":1}}}',
    );
    const { request: chat } = askOfResponses(responsesRequestSchema().parse(body));
    expect(Object.getPrototypeOf(chat)).toBe(Object.prototype);
    expect(chat.messages).toEqual([{ role: 'user', content: expect.anything() }]);
    expect((chat as unknown as { tools?: unknown }).tools).toBeUndefined();
    expect(chat.reasoning).toEqual({ effort: 'low' });
  });
});

describe('a request to compact', () => {
  it('asks for a summary of the conversation, and of nothing else', () => {
    const request = responsesRequestSchema().parse({
      model: 'm',
      input: [ask, said('Hello')],
      instructions: 'Be brief.',
      tools: [fn('f')],
      tool_choice: 'required',
      stream: true,
      text: { format: { type: 'json_object' }, verbosity: 'low' },
      prompt_cache_key: 'k',
    });
    const { request: chat, native } = askToCompact(request) as Ask & { native: Native };
    expect(chat).toMatchObject({ model: 'm', tool_choice: 'none', prompt_cache_key: 'k', tools: [{}] });
    expect(chat.stream ?? chat.response_format ?? chat.verbosity).toBeUndefined();
    expect(chat.messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user']);
    expect(native.purpose).toBe('compact');
    expect(native.items[3]).toEqual([]);
    expect(native.instructionsAt).toBe(0);
    expect(chatRequestSchema().safeParse(chat).success).toBe(true);
  });
});
