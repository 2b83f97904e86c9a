import { describe, expect, it } from 'vitest';
import { checkWithPlugins } from '../../../src/schema/chat/plugin-check.ts';
import { pluginIds } from '../../../src/schema/chat/plugins.ts';
import { checkWithBounds } from '../../../src/schema/chat/request-bounds.ts';
import { responsesRequestCheck } from '../../../src/schema/request-checks.ts';
import {
  type ResponsesRequest,
  responsesContradictions,
  responsesIssues,
  responsesRequestSchema,
} from '../../../src/schema/responses/responses.ts';
import { checkBy } from '../../../src/schema/schema.ts';

const ask = { role: 'user', content: 'Hi' };

function faults(body: object): string[] {
  const found = checkBy(responsesRequestSchema(), body);
  return (found.issues ?? []).map(({ path, message }) => `${path}: ${message}`);
}

function parsed(body: object): ResponsesRequest {
  return responsesRequestSchema().parse({ input: [ask], ...body });
}

const issues = (body: object) => responsesIssues(parsed(body)).map(({ path, message }) => `${path}: ${message}`);
const contradictions = (body: object) => responsesContradictions(parsed(body));

/** An item of each kind, as agents send them. */
const items = [
  ask,
  { type: 'message', role: 'developer', id: 'msg_0', content: [{ type: 'input_text', text: 'Be brief.' }] },
  { role: 'system', content: 'Be kind.' },
  {
    type: 'message',
    role: 'user',
    content: [
      { type: 'input_text', text: 'See', cache_control: { type: 'ephemeral' }, prompt_cache_breakpoint: {} },
      { type: 'input_image', image_url: 'https://x.test/a.png', detail: 'low' },
      { type: 'input_file', file_data: 'data:application/pdf;base64,AA==', filename: 'a.pdf' },
      { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } },
      { type: 'input_video', video_url: 'https://x.test/a.mp4' },
    ],
  },
  {
    type: 'message',
    role: 'assistant',
    id: 'msg_1',
    status: 'completed',
    phase: 'commentary',
    content: [
      { type: 'output_text', text: 'Yes', annotations: [{ type: 'url_citation' }], logprobs: [] },
      { type: 'refusal', refusal: 'No' },
    ],
  },
  { role: 'assistant', content: null },
  {
    type: 'reasoning',
    id: 'rs_1',
    summary: [{ type: 'summary_text', text: 'a' }],
    content: null,
    encrypted_content: 'x',
  },
  { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'f', namespace: 'n', arguments: '{}', status: 'completed' },
  { type: 'function_call_output', call_id: 'c1', output: [{ type: 'input_text', text: 'done' }] },
  { type: 'custom_tool_call', call_id: 'c2', name: 'patch', input: '*** Begin' },
  { type: 'custom_tool_call_output', call_id: 'c2', output: 'ok' },
  {
    type: 'local_shell_call',
    id: 'ls_1',
    call_id: 'c3',
    status: 'completed',
    action: { type: 'exec', command: ['ls'] },
  },
  { type: 'local_shell_call_output', id: 'c3', output: '{}' },
  { type: 'tool_search_call', call_id: 'c4', execution: 'client', arguments: { query: 'x' } },
  { type: 'tool_search_output', call_id: 'c4', execution: 'client', tools: [{ type: 'function', name: 'g' }] },
  { type: 'additional_tools', role: 'developer', tools: [{ type: 'custom', name: 'h' }] },
  { type: 'compaction', encrypted_content: 'x' },
  { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'x' } },
  { type: 'mcp_call', id: 'm', name: 'x', server_label: 'y', arguments: '{}' },
  { type: 'service:web_search', id: 'sw' },
];

describe('a Responses request', () => {
  it('comes out as it came in, its items untouched', () => {
    const body = {
      model: 'a/b',
      input: items,
      tools: [
        { type: 'function', name: 'f', parameters: null, strict: null, defer_loading: true },
        { type: 'namespace', name: 'n', tools: [{ type: 'function', name: 'f' }] },
        { type: 'local_shell' },
        { type: 'tool_search', execution: 'client' },
        { type: 'web_search', external_web_access: true },
      ],
      instructions: null,
      reasoning: { effort: 'high', summary: null, context: 'auto' },
      text: { verbosity: 'low' },
      something_new: { a: 1 },
    };
    const before = structuredClone(body);
    for (const check of [responsesRequestSchema(), responsesRequestCheck()]) {
      const result = check.safeParse(body);
      expect(result.data).toEqual(before);
      const input = result.data?.input;
      for (let at = 0; at < items.length; at++) expect(input?.[at]).toBe(items[at]);
    }
    expect(body).toEqual(before);
  });

  it.each<[string, object, string | RegExp]>([
    ['no input', { model: 'x' }, 'input: expected string or array'],
    ['an empty input', { input: [] }, 'input: expected at least 1 item'],
    ['an item that is none', { input: [ask, 1] }, 'input[1]: expected object'],
    [
      'an item of an unknown type',
      { input: [ask, ask, ask, { type: 'x' }] },
      /^input\[3\]\.type: expected one of "message", "function_call", /,
    ],
    ['an item of no type and no role', { input: [{ content: 'x' }] }, /^input\[0\]\.type: expected one of "message"/],
    [
      'a role that is none',
      { input: [{ role: 'tool', content: '' }] },
      'input[0].role: expected one of "user", "system", "developer", "assistant"',
    ],
    ['a message without content', { input: [{ role: 'user' }] }, 'input[0].content: expected string or array'],
    [
      'a part of an unknown type',
      { input: [{ role: 'user', content: [{ type: 'text', text: '' }] }] },
      /^input\[0\]\.content\[0\]\.type: expected one of "input_text", "input_image"/,
    ],
    [
      'an image without an address',
      { input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'f' }] }] },
      'input[0].content[0].image_url: expected string',
    ],
    [
      'an image among instructions',
      { input: [{ role: 'system', content: [{ type: 'input_image', image_url: '' }] }] },
      'input[0].content[0].type: expected "input_text"',
    ],
    [
      'a call without an id',
      { input: [{ type: 'function_call', name: 'f', arguments: '' }] },
      'input[0].call_id: expected string',
    ],
    [
      'an output that is none',
      { input: [{ type: 'function_call_output', call_id: 'c', output: {} }] },
      'input[0].output: expected string or array',
    ],
    [
      'a compaction without content',
      { input: [{ type: 'compaction' }] },
      'input[0].encrypted_content: expected string',
    ],
    [
      'a tool of an unknown type',
      { input: 'x', tools: [{ type: 'x' }] },
      /^tools\[0\]\.type: expected one of "function", "custom", "namespace"/,
    ],
    ['a function without a name', { input: 'x', tools: [{ type: 'function' }] }, 'tools[0].name: expected string'],
    [
      'a tool of no group',
      { input: 'x', tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'web_search' }] }] },
      'tools[0].tools[0].type: expected one of "function", "custom"',
    ],
    [
      'a choice of an unknown kind',
      { input: 'x', tool_choice: { type: 'x' } },
      /^tool_choice\.type: expected one of "function", "custom", "allowed_tools"/,
    ],
    [
      'a choice that is none',
      { input: 'x', tool_choice: 1 },
      /^tool_choice: expected one of "none", "auto", "required" or object/,
    ],
    ['an unknown preference', { input: 'x', provider: { only_: [] } }, 'provider.only_: unknown key "only_"'],
    ['no output', { input: 'x', max_output_tokens: 0 }, 'max_output_tokens: expected at least 1'],
    [
      'another form',
      { input: 'x', text: { format: { type: 'xml' } } },
      'text.format.type: expected one of "text", "json_object", "json_schema"',
    ],
  ])('is refused with one clear issue: %s', (_, body, expected) => {
    const found = faults(body);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(expected);
  });

  it('lists the faults of many items, and not of a million', () => {
    const bad = { type: 'function_call', call_id: 1, name: 'f', arguments: 2 };
    expect(faults({ input: [bad, ask, bad] })).toEqual([
      'input[0].call_id: expected string',
      'input[0].arguments: expected string',
      'input[2].call_id: expected string',
      'input[2].arguments: expected string',
    ]);
    expect(faults({ input: Array.from({ length: 100_000 }, () => bad) }).length).toBeLessThan(50);
  });
});

describe('what is refused with 400', () => {
  it.each<[string, object, string | RegExp]>([
    ['store', { store: true }, /^store: .*stateless/],
    ['an earlier response', { previous_response_id: 'resp_1' }, /^previous_response_id: .*stateless.*in input/],
    ['a conversation', { conversation: 'conv_1' }, /^conversation: .*stateless/],
    ['a stored prompt', { prompt: { id: 'p' } }, /^prompt: .*stores no prompts/],
    ['the background', { background: true }, /^background: .*stateless/],
    ['an item by its id', { input: [ask, { type: 'item_reference', id: 'msg_1' }] }, /^input\[1\]\.type: .*stateless/],
    ['a field of a chat request', { max_tokens: 5 }, 'max_tokens: send max_output_tokens'],
    ['several choices', { n: 2 }, /^n: a response has one output/],
    [
      'a tool of the provider',
      { tools: [{ type: 'mcp', server_label: 'x' }] },
      /^tools\[0\]\.type: "mcp" is a tool that/,
    ],
    [
      'such a tool in an item',
      { input: [ask, { type: 'additional_tools', tools: [{ type: 'shell' }] }] },
      /^input\[1\]\.tools\[0\]\.type: "shell"/,
    ],
    ['such a tool, forced', { tool_choice: { type: 'apply_patch' } }, /^tool_choice\.type: "apply_patch"/],
    [
      'two tools of one name',
      {
        tools: [
          { type: 'function', name: 'a' },
          { type: 'custom', name: 'a' },
        ],
      },
      'tools[1].name: another tool has this name',
    ],
    [
      'a call of no tool',
      { tool_choice: 'required', tools: [] },
      'tool_choice: "required" needs at least one tool in tools',
    ],
    [
      'nothing said',
      { input: [{ type: 'additional_tools', tools: [] }] },
      /^input: expected at least one item that says/,
    ],
    [
      'a call that nobody can name',
      { input: [ask, { type: 'local_shell_call', action: {} }] },
      'input[1].call_id: expected string',
    ],
  ])('%s', (_, body, expected) => {
    const found = issues(body);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(expected);
  });

  it.each([
    [{ store: false, previous_response_id: null, background: false, prompt: null }],
    [{ tool_choice: 'required', input: [ask, { type: 'additional_tools', tools: [{ type: 'function', name: 'f' }] }] }],
    [{ tools: ['a', 'b'].map((name) => ({ type: 'namespace', name, tools: [{ type: 'function', name: 'f' }] })) }],
    [{ input: items }],
  ])('but not %j', (body) => {
    expect(issues(body)).toEqual([]);
  });
});

describe('what is a contradiction (422)', () => {
  const tools = [
    { type: 'function', name: 'f' },
    { type: 'namespace', name: 'n', tools: [{ type: 'function', name: 'g' }] },
    { type: 'web_search_preview' },
  ];
  it.each<[string, object, string, RegExp]>([
    [
      'an output without its call',
      { input: [{ type: 'function_call_output', call_id: 'c\n9', output: '' }] },
      'input[0].call_id',
      /^is the id of no call/,
    ],
    [
      'an output before its call',
      {
        input: [
          { type: 'custom_tool_call_output', call_id: 'c', output: '' },
          { type: 'custom_tool_call', call_id: 'c', name: 'f', input: '' },
        ],
      },
      'input[0].call_id',
      /^is the id of no call/,
    ],
    [
      'an output of a shell without its call',
      { input: [ask, { type: 'local_shell_call_output', id: 'c', output: '' }] },
      'input[1].id',
      /^is the id of no call/,
    ],
    [
      'tools that nobody searched',
      { input: [ask, { type: 'tool_search_output', call_id: 'c', tools: [] }] },
      'input[1].call_id',
      /^is the id of no call/,
    ],
    [
      'a forced function that is not there',
      { tools, tool_choice: { type: 'function', name: 'x' } },
      'tool_choice.name',
      /not in tools/,
    ],
    [
      'a forced custom tool that is a function',
      { tools, tool_choice: { type: 'custom', name: 'f' } },
      'tool_choice.name',
      /not in tools/,
    ],
    [
      'a forced tool of another group',
      { tools, tool_choice: { type: 'function', name: 'g', namespace: 'm' } },
      'tool_choice.name',
      /not in tools/,
    ],
    ['a forced shell', { tools, tool_choice: { type: 'local_shell' } }, 'tool_choice.type', /not in tools/],
    [
      'one of several',
      {
        tools,
        tool_choice: {
          type: 'allowed_tools',
          mode: 'auto',
          tools: [
            { type: 'function', name: 'f' },
            { type: 'function', name: 'x' },
          ],
        },
      },
      'tool_choice.tools[1]',
      /not in tools/,
    ],
  ])('%s', (_, body, path, message) => {
    expect(contradictions(body)).toEqual([{ path, message: expect.stringMatching(message) }]);
  });

  it.each([
    [{ input: items }],
    [{ tools, tool_choice: { type: 'function', name: 'g', namespace: 'n' } }],
    [{ tools, tool_choice: { type: 'function', name: 'g' } }],
    [{ tools, tool_choice: { type: 'web_search' } }],
    [{ tools, tool_choice: { type: 'allowed_tools', mode: 'required', tools: [{ type: 'namespace', name: 'n' }] } }],
  ])('but not %j', (body) => {
    expect(contradictions(body)).toEqual([]);
  });

  it('lists no more than a hundred orphans, of a hundred thousand', () => {
    const orphans = Array.from({ length: 100_000 }, (_, at) => ({
      type: 'function_call_output',
      call_id: `c${at}`,
      output: '',
    }));
    expect(contradictions({ input: orphans })).toHaveLength(100);
  });
});

describe('a Responses request is checked as a chat request is', () => {
  const bounds = { models: 2, slugChars: 10, listItems: 3 };
  const bounded = checkWithBounds(responsesRequestCheck, bounds);
  it.each([
    [{ models: ['a', 'b', 'c'] }, 'models: expected at most 2 items'],
    [{ tools: [1, 2, 3, 4] }, 'tools: expected at most 3 items'],
    [{ include: ['a', 'b', 'c', 'd'] }, 'include: expected at most 3 items'],
    [{ provider: { only: ['a'.repeat(11)] } }, 'provider.only[0]: expected at most 10 characters'],
  ])('refuses what names too much: %j', (body, expected) => {
    const found = checkBy(bounded(), body);
    expect(found.issues).toEqual([{ path: expected.split(': ')[0], message: expected.split(': ')[1] }]);
  });
  it('lets as much pass as may be', () => {
    expect(checkBy(bounded(), { input: 'x', models: ['a'] }).issues).toBeNull();
  });
  it('takes a plugin of the host app, and its options', () => {
    const plugins = [{ id: 'own' }];
    const check = checkWithPlugins(responsesRequestCheck, plugins);
    expect(pluginIds).not.toContain('own');
    expect(check().safeParse({ input: 'x', plugins: [{ id: 'own', a: 1 }] }).data?.plugins).toEqual([
      { id: 'own', a: 1 },
    ]);
    expect(check().safeParse({ input: 'x', plugins: [{ id: 'other' }] }).success).toBe(false);
  });
});
