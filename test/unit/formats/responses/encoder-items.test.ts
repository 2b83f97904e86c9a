import { describe, expect, it } from 'vitest';
import { packReasoning, unpackReasoning } from '../../../../src/formats/responses/packed-reasoning.ts';
import type { ReasoningDetail } from '../../../../src/schema/chat/chat.ts';
import type { ChunkDelta } from '../../../../src/schema/chat/chunk.ts';
import { checkResponsesStream, type Loose } from '../../../support/check-responses.ts';
import { callDeltas, newEncoder, streamOf } from '../../../support/responses-encoding.ts';

const outputOf = (deltas: readonly ChunkDelta[], encoder = newEncoder({}, forms)): Loose[] =>
  checkResponsesStream(streamOf(deltas, 'stop', encoder)).final.output;
const forms = {
  patch: { kind: 'custom', name: 'apply_patch' },
  files_read: { kind: 'function', name: 'read', namespace: 'files' },
  shell: { kind: 'local_shell', name: 'local_shell' },
  find: { kind: 'tool_search', name: 'tool_search' },
} as const;

describe('a call', () => {
  it('of a function in a namespace comes back as one', () => {
    expect(outputOf(callDeltas(0, 'files_read', ['{}']))).toMatchObject([
      { type: 'function_call', name: 'read', namespace: 'files', arguments: '{}' },
    ]);
  });
  it('of local_shell comes back with an action', () => {
    const called = {
      command: ['ls', '-l'],
      env: { A: 'b', C: 1 },
      timeout_ms: 100,
      working_directory: '/',
      user: null,
    };
    expect(outputOf(callDeltas(0, 'shell', [JSON.stringify(called)]))).toMatchObject([
      {
        type: 'local_shell_call',
        status: 'completed',
        call_id: 'call_shell_0',
        action: { type: 'exec', command: ['ls', '-l'], env: { A: 'b' }, timeout_ms: 100, working_directory: '/' },
      },
    ]);
  });
  it.each(['{"command":"ls"}', 'ls', '', '[]'])('of local_shell with %j is what the model wrote', (text) => {
    expect(outputOf(callDeltas(0, 'shell', [text]))).toMatchObject([
      { type: 'function_call', name: 'shell', arguments: text },
    ]);
  });
  it('of local_shell that was cut is not complete, and the text before it is', () => {
    const deltas = [{ content: 'Look' }, ...callDeltas(0, 'shell', ['{"command":["l'])];
    const { final } = checkResponsesStream(streamOf(deltas, 'length', newEncoder({}, forms)));
    expect(final.output).toMatchObject([
      { type: 'message', status: 'completed' },
      { type: 'function_call', status: 'incomplete', arguments: '{"command":["l' },
    ]);
  });
  it('of tool_search has its arguments as an object', () => {
    expect(outputOf([...callDeltas(0, 'find', ['{"query":"x"}']), ...callDeltas(1, 'f', ['{}'])])).toMatchObject([
      { type: 'tool_search_call', execution: 'client', arguments: { query: 'x' }, status: 'completed' },
      { type: 'function_call', name: 'f' },
    ]);
  });
  it('keeps an empty text of arguments, as chat does', () => {
    expect(outputOf(callDeltas(0, 'f', []))).toMatchObject([{ arguments: '' }]);
  });
});

describe('the input of a custom tool', () => {
  const input = (text: string, size: number) => {
    const pieces = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
    const text2 = streamOf(callDeltas(0, 'patch', pieces), 'stop', newEncoder({}, forms));
    const { final, events } = checkResponsesStream(text2, { schemas: false });
    const deltas = events
      .filter(({ type }) => type === 'response.custom_tool_call_input.delta')
      .map(({ delta }) => delta);
    for (const delta of deltas) expect(delta.isWellFormed()).toBe(true);
    return { input: final.output[0]?.input, count: deltas.length };
  };
  const texts = ['', 'a', 'line\nline\t"quoted" \\ / \u2028', '😀😀', '\u0001\b\f\r', '*** Begin Patch\n+x'];
  it.each(texts)('is decoded wherever it is cut: %j', (text) => {
    const escaped = JSON.stringify({ input: text });
    const allEscaped = `{ "input" : "${[...Array(text.length).keys()]
      .map((at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`)
      .join('')}" }`;
    for (const json of [escaped, allEscaped])
      for (let size = 1; size <= json.length; size++) expect(input(json, size).input).toBe(text);
  });
  it('arrives while the model writes it', () => {
    expect(input(JSON.stringify({ input: 'abcdef' }), 1).count).toBe(6);
  });
  it.each([
    ['plain text', 'plain text'],
    ['', ''],
    ['{"input":"cut \\', 'cut \\'],
    ['{"input":"cut \\ud83d', 'cut \ud83d'],
    ['{"input":"a\\xb\\u12zz"}', 'a\\xb\\u12zz'],
    ['{"input":"a","other":1}', 'a'],
    ['{"other":1,"input":"a"}', 'a'],
    ['{"other":1}', '{"other":1}'],
    ['{"input":5}', '{"input":5}'],
    ['{"inp', '{"inp'],
    ['["input"]', '["input"]'],
    ['  {', '  {'],
  ])('of another form: %j', (text, expected) => {
    for (const size of [1, 3, 100]) {
      const pieces = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
      expect(outputOf(callDeltas(0, 'patch', pieces))[0]?.input).toBe(expected);
    }
  });
});

describe('reasoning', () => {
  const anthropic = { format: 'anthropic-claude-v1', index: 0 };
  const openai = { id: 'rs_1', format: 'openai-responses-v1' };
  const details = (...all: ReasoningDetail[]): ChunkDelta[] => all.map((one) => ({ reasoning_details: [one] }));
  it('with a signature is packed, exactly, beside what people can read', () => {
    const output = outputOf(
      details(
        { type: 'reasoning.text', text: 'Hm', ...anthropic },
        { type: 'reasoning.text', text: 'm.', ...anthropic },
        { type: 'reasoning.text', signature: 'sig', ...anthropic },
      ),
    );
    expect(output).toMatchObject([
      { summary: [{ type: 'summary_text', text: 'Hmm.' }], signature: 'sig', format: 'anthropic-claude-v1' },
    ]);
    expect(unpackReasoning(`${output[0]?.encrypted_content}`)).toEqual([
      { type: 'reasoning.text', text: 'Hmm.', signature: 'sig', ...anthropic },
    ]);
  });
  it('that is text alone is packed as well: agents leave the content out', () => {
    const [item] = outputOf([{ reasoning: 'Hm' }, { reasoning: 'm' }]);
    expect(unpackReasoning(`${item?.encrypted_content}`)).toEqual([{ type: 'reasoning.text', text: 'Hmm' }]);
  });
  it('of the format of Responses is the item that it came from', () => {
    const output = outputOf(
      details(
        { type: 'reasoning.summary', summary: 'One', ...openai, index: 0 },
        { type: 'reasoning.summary', summary: 'Two', ...openai, index: 1 },
        { type: 'reasoning.encrypted', data: 'sealed', ...openai, index: 2 },
        { type: 'reasoning.summary', summary: 'Next', ...openai, id: 'rs_2', index: 3 },
        { type: 'reasoning.encrypted', data: 'more', ...openai, id: 'rs_2', index: 4 },
      ),
    );
    expect(output).toMatchObject([
      { id: 'rs_1', summary: [{ text: 'One' }, { text: 'Two' }], encrypted_content: 'sealed' },
      { id: 'rs_2', summary: [{ text: 'Next' }], encrypted_content: 'more' },
    ]);
  });
  it('whose id changes with what is encrypted is packed: the provider checks the id', () => {
    const all: ReasoningDetail[] = [
      { type: 'reasoning.summary', summary: 'One', ...openai, index: 0 },
      { type: 'reasoning.encrypted', data: 'sealed', ...openai, id: 'rs_other', index: 1 },
    ];
    expect(unpackReasoning(`${outputOf(details(...all))[0]?.encrypted_content}`)).toEqual(all);
  });
  it('without anything in it is no item', () => {
    const empty: ReasoningDetail = { type: 'reasoning.text', text: '', ...anthropic };
    expect(outputOf([...details(empty), { content: 'Hi' }]).map(({ type }) => type)).toEqual(['message']);
  });
  it('text in both fields is there once', () => {
    const output = outputOf([
      { reasoning: 'Hm', reasoning_details: [{ type: 'reasoning.text', text: 'Hm', index: 0 }] },
    ]);
    expect(output).toMatchObject([{ summary: [{ text: 'Hm' }] }]);
  });
  it.each([
    'sealed by another',
    'gateway-reasoning-1.',
    'gateway-reasoning-1.!!!',
    `gateway-reasoning-1.${btoa('{}')}`,
    `gateway-reasoning-1.${btoa('[{"type":"other"}]')}`,
    `gateway-reasoning-1.${btoa('\xff\xfe')}`,
    `gateway-reasoning-1.${btoa('['.repeat(100_000))}`,
  ])('packed text that is none: %s', (text) => {
    expect(unpackReasoning(text)).toBeNull();
  });
  it('is packed and unpacked exactly', () => {
    const all: ReasoningDetail[] = [
      { type: 'reasoning.text', text: 'ü😀\u0000', signature: null, id: 'x', index: 3, format: 'unknown', other: [1] },
      { type: 'reasoning.encrypted', data: 'a+/=' },
      { type: 'reasoning.summary', summary: '' },
    ];
    const packed = packReasoning(all);
    expect(packed).toMatch(/^gateway-reasoning-1\.[\w-]+$/);
    expect(unpackReasoning(packed)).toEqual(all);
  });
});

describe('an annotation', () => {
  const cite = (fields: object): ChunkDelta => ({
    annotations: [{ type: 'url_citation', url_citation: { url: 'https://a.example', title: 'A', ...fields } }],
  });
  const notesIn = (output: readonly Loose[]) =>
    output.flatMap(({ content }) => (content ?? []).map(({ annotations }) => annotations));
  it('is flat, with places in the text of its part', () => {
    const deltas = [{ content: 'One. ' }, ...callDeltas(0, 'f', ['{}']), { content: 'Two.' }];
    expect(notesIn(outputOf([...deltas, cite({ start_index: 5, end_index: 8 })]))).toEqual([
      [],
      [{ type: 'url_citation', url: 'https://a.example', title: 'A', start_index: 0, end_index: 3 }],
    ]);
  });
  it.each([
    [
      'after its text has ended',
      [{ content: 'One' }, ...callDeltas(0, 'f', ['{}']), cite({ start_index: 1, end_index: 2 })],
    ],
    ['without any text', [cite({})]],
    ['before its text', [cite({}), { content: 'One' }]],
  ])('is not lost %s', (_, deltas) => {
    expect(notesIn(outputOf(deltas)).flat()).toMatchObject([
      { url: 'https://a.example', start_index: 0, end_index: 0 },
    ]);
  });
  const lateDeltas = [{ content: 'One' }, ...callDeltas(0, 'f', ['{}']), cite({ start_index: 1, end_index: 2 })];
  it('finds its text after a call, where a plugin may cite: the message stays open', () => {
    const encoder = newEncoder({}, forms);
    encoder.expectCitations?.();
    expect(notesIn(outputOf(lateDeltas, encoder))).toMatchObject([[{ start_index: 1, end_index: 2 }]]);
  });
  it('finds it too where the request has a web search', () => {
    const encoder = newEncoder({ tools: [{ type: 'web_search' }] }, forms);
    expect(notesIn(outputOf(lateDeltas, encoder))).toMatchObject([[{ start_index: 1, end_index: 2 }]]);
  });
  it('of a file is a file_citation', () => {
    const file = { hash: 'h', name: 'a.pdf', content: [] };
    expect(notesIn(outputOf([{ content: 'x' }, { annotations: [{ type: 'file', file }] }]))).toEqual([
      [{ type: 'file_citation', file_id: 'h', filename: 'a.pdf', index: 0, content: [] }],
    ]);
  });
});
