import { describe, expect, it } from 'vitest';
import { withRequest } from '../../../../src/call/ask.ts';
import type { CallForm, NativeObject } from '../../../../src/call/native.ts';
import { openaiResponses } from '../../../../src/dialects/openai-responses/index.ts';
import type { ResponsesQuirks } from '../../../../src/dialects/openai-responses/quirks.ts';
import type { ChatMessage, ChatTool } from '../../../../src/schema/chat/chat.ts';
import { askMadeOf, type Made, type MadeOf } from '../../../support/native.ts';

const user = (content: string): ChatMessage => ({ role: 'user', content });
const asked: Made = [user('Hi'), [{ role: 'user', content: 'Hi' }]];

function encode(made: Partial<MadeOf>, more: object = {}, quirks: ResponsesQuirks = {}, isLimited = false) {
  const { request, native } = askMadeOf({ messages: [asked], ...made }, more);
  return openaiResponses.encodeRequest({ request, native, upstreamModel: 'gpt-5', quirks, isLimited });
}

const func = (name: string): ChatTool => ({ type: 'function', function: { name } });

/** What an agent sends back: every kind of item that it knows. */
const conversation: readonly NativeObject[] = [
  { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Be brief.' }] },
  { role: 'user', content: [{ type: 'input_image', image_url: 'data:image/png;base64,aGk=', detail: 'high' }] },
  { type: 'reasoning', id: 'rs_1', summary: [], content: null, encrypted_content: 'gAAA' },
  {
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    status: 'completed',
    phase: 'commentary',
    content: [{ type: 'output_text', text: 'So.', annotations: [], logprobs: [] }],
  },
  {
    type: 'function_call',
    id: 'fc_1',
    call_id: 'c1',
    name: 'look',
    namespace: 'n',
    arguments: '{}',
    status: 'completed',
  },
  { type: 'function_call_output', id: 'fco_1', call_id: 'c1', output: [{ type: 'input_text', text: 'a' }] },
  { type: 'custom_tool_call', id: 'ctc_1', call_id: 'c2', name: 'patch', input: '*** Begin' },
  { type: 'custom_tool_call_output', call_id: 'c2', output: 'ok' },
  { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'q' } },
  { type: 'additional_tools', role: 'developer', tools: [{ type: 'function', name: 'g', parameters: {} }] },
  { type: 'compaction', id: 'cmp_1', encrypted_content: 'gBBB' },
];

describe('a Responses request at a provider that speaks Responses', () => {
  it('has the items of the caller, letter for letter', () => {
    const messages = conversation.map((item): Made => [user('stands for it'), [item]]);
    const { payload, dropped, reading } = encode({ messages });
    expect(JSON.stringify(payload.input)).toBe(JSON.stringify(conversation));
    expect([dropped, reading, payload.store]).toEqual([[], { outputItems: true }, false]);
  });
  it('has several items of one message, and none of one that stands for nothing', () => {
    const [first, second] = conversation as [NativeObject, NativeObject];
    const messages: Made[] = [
      [user('a'), [first, second]],
      [user('b'), []],
    ];
    expect(encode({ messages }).payload.input).toEqual([first, second]);
  });
  it('has a message that a plugin has changed as a chat request has it', () => {
    const messages: Made[] = [asked, [user('***')]];
    expect(encode({ messages }).payload.input).toEqual([
      { role: 'user', content: 'Hi' },
      { type: 'message', role: 'user', content: '***' },
    ]);
  });
  it('has its instructions, for as long as nobody has changed them', () => {
    const instructions: ChatMessage = { role: 'system', content: 'Be brief.' };
    const { payload } = encode({ messages: [[instructions, []], asked], hasInstructions: true });
    expect(payload).toMatchObject({ instructions: 'Be brief.', input: [{ role: 'user', content: 'Hi' }] });
    const before = askMadeOf({ messages: [[instructions, []], asked], hasInstructions: true });
    const messages = [{ role: 'system' as const, content: '***' }, user('Hi!')];
    const { request, native } = withRequest(before, { ...before.request, messages });
    const sent = openaiResponses.encodeRequest({ request, native, upstreamModel: 'gpt-5', quirks: {} }).payload;
    expect(sent).not.toHaveProperty('instructions');
    expect(sent.input).toMatchObject([{ role: 'system', content: '***' }, { role: 'user' }]);
    const kept = encode(
      { messages: [[instructions, []], asked], hasInstructions: true },
      {},
      { dropParams: ['instructions'] },
    );
    expect(kept.payload.input).toMatchObject([{ role: 'system', content: 'Be brief.' }, { role: 'user' }]);
  });
  it('has each tool of the caller once, what plugins have added, and the tools of the provider', () => {
    const group = { type: 'namespace', name: 'n', tools: [{ type: 'function', name: 'a' }] };
    const patch = { type: 'custom', name: 'patch', format: { type: 'grammar', syntax: 'lark', definition: 'x' } };
    const brought = { type: 'additional_tools', tools: [{ type: 'function', name: 'g' }] };
    const search = { type: 'web_search', external_web_access: true };
    const before = askMadeOf({
      messages: [[user('Hi'), [brought]]],
      tools: [
        [func('n__a'), group],
        [func('n__b'), group],
        [func('patch'), patch],
        [func('g'), brought],
      ],
      hostedTools: [search],
    });
    const tools = [...(before.request.tools ?? []), func('added')];
    const { request, native } = withRequest(before, { ...before.request, tools });
    const { payload } = openaiResponses.encodeRequest({ request, native, upstreamModel: 'gpt-5', quirks: {} });
    expect(payload.tools).toMatchObject([group, patch, { type: 'function', name: 'added' }, search]);
    expect(payload.input).toEqual([brought]);
  });
  it('has a tool that an item brought in, where a plugin has left the item out', () => {
    const brought = { type: 'additional_tools', tools: [{ type: 'function', name: 'g' }] };
    const { payload } = encode({ tools: [[func('g'), brought]] });
    expect(payload.tools).toMatchObject([{ type: 'function', name: 'g' }]);
  });
  it('has the choice of a tool, for as long as it stands', () => {
    const own = { type: 'custom', name: 'patch' };
    const chat = { type: 'function', function: { name: 'patch' } };
    const toolChoice = { chat, own };
    expect(encode({ toolChoice }, { tool_choice: chat }).payload.tool_choice).toBe(own);
    expect(encode({ toolChoice }, { tool_choice: 'none' }).payload.tool_choice).toBe('none');
    expect(encode({ toolChoice: { chat: undefined, own: 'auto' } }).payload.tool_choice).toBe('auto');
  });
  it('has the fields that only Responses have, and what else is to be included', () => {
    const fields = {
      truncation: 'auto',
      max_tool_calls: 3,
      client_metadata: { a: 'b' },
      context_management: [{ type: 'compaction', compact_threshold: 1000 }],
    };
    const { payload, dropped } = encode({ fields, include: ['web_search_call.action.sources'] }, { truncation: null });
    expect(payload).toMatchObject({
      ...fields,
      include: ['reasoning.encrypted_content', 'web_search_call.action.sources'],
    });
    expect(dropped).toEqual([]);
  });
  it('never names what somebody has stored', () => {
    const fields = {
      previous_response_id: 'resp_1',
      conversation: 'conv_1',
      prompt: { id: 'pmpt_1' },
      background: true,
      store: true,
      input: 'x',
      model: 'x',
      instructions: 'x',
    };
    const prompt_cache_options = { mode: 'explicit', comparison_response_id: 'resp_1' };
    const messages: Made[] = [
      asked,
      [user('a'), [{ type: 'reasoning', id: 'rs_of_another', summary: [{ type: 'summary_text', text: 'So.' }] }]],
      [user('b'), [{ type: 'image_generation_call', id: 'ig_of_another', status: 'completed' }]],
      [user('c'), [{ type: 'code_interpreter_call', id: 'ci', container_id: 'cntr_of_another' }]],
      [user('d'), [{ type: 'mcp_approval_response', approval_request_id: 'mcpr_1', approve: true }]],
      [user('e'), [{ type: 'shell_call', environment: { type: 'container_reference', container_id: 'cntr_1' } }]],
    ];
    const { body, dropped, payload } = encode({ fields, messages }, { prompt_cache_options });
    expect(body).not.toMatch(/resp_1|conv_1|pmpt_1|of_another|mcpr_1|cntr_1/);
    expect([payload.store, payload.model, payload.background]).toEqual([false, 'gpt-5', undefined]);
    expect(dropped).toEqual([
      'input[].reasoning',
      'input[].image_generation_call',
      'input[].code_interpreter_call',
      'input[].mcp_approval_response',
      'input[].shell_call',
      'prompt_cache_options.comparison_response_id',
      ...Object.keys(fields).filter((name) => !['store', 'input', 'model'].includes(name)),
    ]);
  });
  it('refuses a reference to an item', () => {
    expect(() => encode({ messages: [[user('a'), [{ type: 'item_reference', id: 'msg_1' }]]] })).toThrow(
      'input[].item_reference: expected the item itself',
    );
  });
  it('has no mark of the gateway, but the provider`s own where it takes one', () => {
    const part = { type: 'input_text', text: 'Hi' };
    const marked = { role: 'user', content: [{ ...part, cache_control: { type: 'ephemeral' } }, part] };
    const messages: Made[] = [[user('Hi'), [marked]]];
    const plain = encode({ messages });
    expect([plain.payload.input, plain.dropped]).toEqual([
      [{ role: 'user', content: [part, part] }],
      ['input[].content[].cache_control'],
    ]);
    const own = encode({ messages }, {}, { cacheBreakpoints: true });
    expect([own.payload.input, own.dropped]).toEqual([
      [{ role: 'user', content: [{ ...part, prompt_cache_breakpoint: { mode: 'explicit' } }, part] }],
      [],
    ]);
  });
  it('leaves out what the provider refuses', () => {
    const { payload, dropped } = encode(
      { fields: { client_metadata: { a: 'b' } }, hostedTools: [{ type: 'web_search' }], include: ['x'] },
      {},
      { dropParams: ['client_metadata', 'tools', 'include'] },
    );
    expect(Object.keys(payload)).toEqual(['model', 'input', 'store']);
    expect(dropped).toEqual(['client_metadata', 'tools']);
  });
});

describe('a message that a plugin has changed', () => {
  const callForms = new Map<string, CallForm>([
    ['patch', { kind: 'custom', name: 'patch' }],
    ['n__a', { kind: 'function', name: 'a', namespace: 'n' }],
    ['shell', { kind: 'local_shell', name: 'local_shell' }],
    ['find', { kind: 'tool_search', name: 'tool_search' }],
  ]);
  const calls = [
    ['c1', 'patch', '{"input":"*** Begin"}'],
    ['c2', 'n__a', '{"x":1}'],
    ['c3', 'shell', '{"command":["ls"]}'],
    ['c4', 'find', '{"query":"q"}'],
    ['c5', 'patch', 'no JSON'],
    ['c6', 'other', '{}'],
  ].map(([id, name, args]) => ({
    id: id as string,
    type: 'function' as const,
    function: { name: name as string, arguments: args as string },
  }));
  it('calls the tools by the names that the provider knows', () => {
    const results = ['c1', 'c2', 'c3'].map(
      (id): Made => [{ role: 'tool', tool_call_id: id, content: 'done' } as ChatMessage],
    );
    const messages: Made[] = [asked, [{ role: 'assistant', content: null, tool_calls: calls }], ...results];
    expect((encode({ messages, callForms }).payload.input as object[]).slice(1)).toEqual([
      { type: 'custom_tool_call', call_id: 'c1', name: 'patch', input: '*** Begin' },
      { type: 'function_call', call_id: 'c2', name: 'a', namespace: 'n', arguments: '{"x":1}' },
      {
        type: 'local_shell_call',
        id: 'c3',
        call_id: 'c3',
        status: 'completed',
        action: { type: 'exec', command: ['ls'] },
      },
      { type: 'tool_search_call', call_id: 'c4', execution: 'client', status: 'completed', arguments: { query: 'q' } },
      { type: 'custom_tool_call', call_id: 'c5', name: 'patch', input: 'no JSON' },
      { type: 'function_call', call_id: 'c6', name: 'other', arguments: '{}' },
      { type: 'custom_tool_call_output', call_id: 'c1', output: 'done' },
      { type: 'function_call_output', call_id: 'c2', output: 'done' },
      { type: 'local_shell_call_output', id: 'c3', call_id: 'c3', output: 'done' },
    ]);
  });
  it('answers a call that stands as it was written', () => {
    const native = { type: 'custom_tool_call', call_id: 'c1', name: 'patch', input: '*** Begin' };
    const messages: Made[] = [
      [{ role: 'assistant', content: null, tool_calls: calls.slice(0, 1) }, [native]],
      [{ role: 'tool', tool_call_id: 'c1', content: '***' }],
    ];
    expect(encode({ messages, callForms }).payload.input).toEqual([
      native,
      { type: 'custom_tool_call_output', call_id: 'c1', output: '***' },
    ]);
  });
});

describe('where money is limited', () => {
  const limited = (made: Partial<MadeOf>, more: object = {}) => encode(made, more, {}, true);
  it('nothing is sent that costs more than tokens, and all of it is listed', () => {
    const { payload, dropped } = limited({
      hostedTools: [{ type: 'web_search' }, { type: 'tool_search' }],
      fields: { context_management: [{ type: 'compaction' }], truncation: 'auto' },
      messages: [
        [
          user('Hi'),
          [
            {
              type: 'additional_tools',
              tools: [
                { type: 'web_search_preview' },
                { type: 'function', name: 'g', defer_loading: true },
                { type: 'tool_search', execution: 'client' },
              ],
            },
          ],
        ],
      ],
    });
    expect(payload).toEqual({
      model: 'gpt-5',
      input: [
        {
          type: 'additional_tools',
          tools: [
            { type: 'function', name: 'g' },
            { type: 'tool_search', execution: 'client' },
          ],
        },
      ],
      store: false,
      include: ['reasoning.encrypted_content'],
      truncation: 'auto',
    });
    expect(dropped).toEqual([
      'input[].tools[].web_search_preview',
      'tools[].web_search',
      'tools[].tool_search',
      'context_management',
    ]);
  });
  it('tools that a search of the provider would have loaded are there at once', () => {
    const group = { type: 'namespace', name: 'n', tools: [{ type: 'function', name: 'a', defer_loading: true }] };
    const { payload } = limited({ tools: [[func('n__a'), group]], hostedTools: [{ type: 'tool_search' }] });
    expect(payload.tools).toEqual([{ type: 'namespace', name: 'n', tools: [{ type: 'function', name: 'a' }] }]);
  });
  it.each<[unknown, unknown]>([
    ['auto', 'auto'],
    ['required', undefined],
    [{ type: 'web_search' }, undefined],
    [{ type: 'allowed_tools', mode: 'auto', tools: [{ type: 'web_search' }] }, undefined],
    [
      { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'web_search' }, { type: 'function', name: 'a' }] },
      { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'a' }] },
    ],
    [
      { type: 'function', name: 'a' },
      { type: 'function', name: 'a' },
    ],
  ])('no choice names what is left out: %j', (own, sent) => {
    const { payload, dropped } = limited({
      toolChoice: { chat: undefined, own },
      hostedTools: [{ type: 'web_search' }],
    });
    expect(payload.tool_choice).toEqual(sent);
    expect(dropped.includes('tool_choice')).toBe(sent === undefined);
  });
  it('a question for a summary is in the place of a command to compact', () => {
    const trigger = { type: 'compaction_trigger' };
    const messages: Made[] = [asked, [user('Write a summary.'), [trigger]]];
    const question = { role: 'user', content: 'Write a summary.' };
    const lastOf = ({ payload }: ReturnType<typeof encode>) => (payload.input as object[])[1];
    expect(lastOf(limited({ messages }))).toMatchObject(question);
    expect(lastOf(encode({ messages }))).toMatchObject(question);
    expect(lastOf(encode({ messages }, {}, { compacts: true }))).toEqual(trigger);
    const inside: Made[] = [[user('x'), [{ role: 'user', content: 'x' }, trigger]], asked];
    expect(() => limited({ messages: inside })).toThrow('input[].compaction_trigger: expected no compaction');
  });
});

describe('a compaction', () => {
  const instructions: ChatMessage = { role: 'system', content: 'Be brief.' };
  const closing: Made = [user('Write a summary.'), []];
  const made: Partial<MadeOf> = {
    messages: [[instructions, []], asked, closing],
    hasInstructions: true,
    purpose: 'compact',
    tools: [[func('a'), { type: 'function', name: 'a' }]],
    fields: { truncation: 'auto' },
  };
  const more = { prompt_cache_key: 'k', service_tier: 'flex', reasoning: { effort: 'low' }, session_id: 's' };
  it('is asked of a provider that compacts, without the closing question', () => {
    const { path, payload, dropped, reading } = encode(made, more, { compacts: true });
    expect([path, reading]).toEqual(['/responses/compact', { outputItems: true, compaction: true }]);
    expect(payload).toEqual({
      model: 'gpt-5',
      input: [{ role: 'user', content: 'Hi' }],
      instructions: 'Be brief.',
      prompt_cache_key: 'k',
      service_tier: 'flex',
    });
    expect(dropped).toEqual(['tools', 'reasoning', 'truncation']);
    const changed = encode({ ...made, messages: [asked, [user('***')]], hasInstructions: false }, more, {
      compacts: true,
    });
    expect(changed.payload.input).toEqual([{ role: 'user', content: 'Hi' }]);
  });
  it.each<[string, object, ResponsesQuirks]>([
    ['a provider that does not compact', {}, {}],
    ['one that must be sent a largest output', { max_completion_tokens: 100 }, { compacts: true }],
  ])('is a question for a summary at %s', (_, limit, quirks) => {
    const { path, payload } = encode(made, { ...more, ...limit }, quirks);
    expect(path).toBe('/responses');
    expect(payload.input).toEqual([
      { role: 'user', content: 'Hi' },
      { type: 'message', role: 'user', content: 'Write a summary.' },
    ]);
    expect(payload).toMatchObject({ instructions: 'Be brief.', reasoning: { effort: 'low' } });
  });
  it('leaves an ordinary request as it is', () => {
    expect(encode({ ...made, purpose: 'respond' }, {}, { compacts: true }).path).toBe('/responses');
  });
});
