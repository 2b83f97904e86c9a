import { describe, expect, it } from 'vitest';
import { ask, encode, encodeAsSent, lookTool } from './encode.ts';

const format = 'anthropic-claude-v1';
const call = (id: string, text = '{}') => ({
  id,
  type: 'function' as const,
  function: { name: 'look', arguments: text },
});
const turnsOf = (messages: object[], model?: string) => encode({ messages }, model).payload.messages;
const answered = (message: object) => [ask, { role: 'assistant', content: 'Yes.', ...message }, ask];
const sentBack = (details: object[], message: object = {}) =>
  turnsOf(answered({ reasoning_details: details, ...message }))[1]?.content;

describe('thoughts that come back', () => {
  it('are put together from the parts of a stream', () => {
    const parts = [
      { type: 'reasoning.text', text: 'Let me', format, index: 0 },
      { type: 'reasoning.text', text: ' see.', format, index: 0 },
      { type: 'reasoning.text', signature: 's1', format, index: 0 },
      { type: 'reasoning.encrypted', data: 'x', format, index: 1 },
      { type: 'reasoning.text', text: '', signature: 's2', format, index: 3 },
    ];
    expect(sentBack(parts)).toEqual([
      { type: 'thinking', thinking: 'Let me see.', signature: 's1' },
      { type: 'redacted_thinking', data: 'x' },
      { type: 'text', text: 'Yes.' },
      { type: 'thinking', thinking: '', signature: 's2' },
    ]);
  });
  it('stand where they stood among text and calls', () => {
    const thought = (index: number) => ({ type: 'reasoning.text', text: `${index}`, signature: 's', format, index });
    const content = sentBack([thought(0), thought(2), thought(5)], { tool_calls: [call('a'), call('b'), call('c')] });
    expect(content?.map((block) => block.thinking ?? block.text ?? block.id)).toEqual([
      '0',
      'Yes.',
      '2',
      'a',
      'b',
      '5',
      'c',
    ]);
  });
  it('of a response that broke off stand before those of the one that took its place, each with its own signature', () => {
    const parts = (signature: string) => [
      { type: 'reasoning.text', text: 'Let me', format, index: 0 },
      { type: 'reasoning.text', text: ' see.', format, index: 0 },
      { type: 'reasoning.text', signature, format, index: 0 },
    ];
    const thoughtWith = (signature: string) => ({ type: 'thinking', thinking: 'Let me see.', signature });
    expect(sentBack([...parts('s1'), ...parts('s2')])).toEqual([
      thoughtWith('s1'),
      thoughtWith('s2'),
      { type: 'text', text: 'Yes.' },
    ]);
    const whole = (text: string) => ({ type: 'reasoning.text', text, signature: 's', format, index: 0 });
    expect(sentBack([whole('One.'), whole('Two.')])?.map(({ thinking }) => thinking)).toEqual([
      'One.',
      'Two.',
      undefined,
    ]);
    const empty = { type: 'reasoning.text', text: '', format, index: 0 };
    expect(sentBack([...parts('s1'), empty])).toEqual([thoughtWith('s1'), { type: 'text', text: 'Yes.' }]);
  });
  it('are told apart by their signatures where no place is known', () => {
    const thought = (text: string) => ({ type: 'reasoning.text', text, signature: 's', format });
    expect(sentBack([thought('One.'), thought('Two.')])?.map((block) => block.thinking)).toEqual([
      'One.',
      'Two.',
      undefined,
    ]);
  });
  it.each([
    ["another provider's", { type: 'reasoning.text', text: 'a', signature: 's', format: 'google-gemini-v1' }],
    ['of no format', { type: 'reasoning.encrypted', data: 'x' }],
    ['without a signature', { type: 'reasoning.text', text: 'a', format }],
    ['summaries', { type: 'reasoning.summary', summary: 'a', format }],
  ])('are left out and listed where they are %s', (_, detail) => {
    const { payload, dropped } = encode({ messages: answered({ reasoning_details: [detail], reasoning: 'a' }) });
    expect(payload.messages[1]?.content).toEqual([{ type: 'text', text: 'Yes.' }]);
    expect(dropped).toEqual(['messages[].reasoning', 'messages[].reasoning_details']);
  });
  it('as a text are left out and listed', () => {
    expect(encode({ messages: answered({ reasoning_content: 'a' }) }).dropped).toEqual([
      'messages[].reasoning_content',
    ]);
  });
});

describe('messages', () => {
  it('put results first, and keep what the user said', () => {
    const called = { role: 'assistant', tool_calls: [call('a'), call('b')] };
    const results = ['a', 'b'].map((id) => ({ role: 'tool', tool_call_id: id, content: id }));
    const [, , last] = turnsOf([ask, called, ask, ...results]);
    expect(last?.content.map(({ type }) => type)).toEqual(['tool_result', 'tool_result', 'text']);
  });
  it('give ids that Anthropic takes, the same to a call and its result', () => {
    const ids = ['functions.look:0', 'functions_look_0', '', 'call_ü'];
    const { messages: turns } = encodeAsSent({
      messages: [
        ask,
        { role: 'assistant', tool_calls: ids.map((id) => call(id)) },
        ...ids.map((id) => ({ role: 'tool', tool_call_id: id, content: 'x' })),
      ],
    }).payload;
    const called = turns[1]?.content.map(({ id }) => id);
    const made = (start: string) => expect.stringMatching(new RegExp(`^${start}_[a-z0-9]{8}$`));
    expect(called).toEqual([made('functions_look_0'), 'functions_look_0', made(''), made('call__')]);
    expect(new Set(called).size).toBe(4);
    expect(turns[2]?.content.map(({ tool_use_id: id }) => id)).toEqual(called);
  });
  it.each<[string, object]>([
    ['', {}],
    ['{"a":1}', { a: 1 }],
    ['[1]', { arguments: '[1]' }],
    ['null', { arguments: 'null' }],
    ['{"__proto__":{"a":1}}', JSON.parse('{"__proto__":{"a":1}}')],
    [`{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}`, { arguments: expect.stringMatching(/^\{"a":\[/) }],
  ])('take an object as arguments: %.30j', (text, input) => {
    const turns = turnsOf([ask, { role: 'assistant', tool_calls: [call('a', text)] }, ask]);
    expect(turns[1]?.content[0]?.input).toEqual(input);
  });
  describe('that instruct in the middle of a conversation', () => {
    const system = (content: string) => ({ role: 'system', content });
    const rolesOf = (messages: object[], model: string) =>
      turnsOf(messages, model).map(({ role, content }) => `${role}: ${content.map(({ text }) => text).join(' ')}`);
    const answer = { role: 'assistant', content: 'Yes.' };
    it.each(['claude-opus-4-8', 'claude-opus-5-5', 'claude-fable-5', 'claude-haiku-5-5'])(
      'remain instructions of %s behind a user and before an answer',
      (model) => {
        expect(
          rolesOf([ask, system('a'), { role: 'developer', content: 'b' }, answer, ask, system('c')], model),
        ).toEqual(['user: Hi', 'system: a b', 'assistant: Yes.', 'user: Hi', 'system: c']);
      },
    );
    it('are text of the user at other places, and for other models and hosts', () => {
      expect(rolesOf([ask, answer, system('a'), ask], 'claude-opus-4-8')).toEqual([
        'user: Hi',
        'assistant: Yes.',
        'user: a Hi',
      ]);
      expect(rolesOf([ask, system('a'), ask], 'claude-opus-4-8')).toEqual(['user: Hi a Hi']);
      for (const model of ['claude-sonnet-5', 'claude-opus-4-7', 'm'])
        expect(rolesOf([ask, system('a')], model)).toEqual(['user: Hi a']);
      const vertex = encode({ messages: [ask, system('a')] }, 'claude-opus-4-8', { host: 'vertex' });
      expect(vertex.payload.messages).toHaveLength(1);
    });
  });
  it('are instructions alone where there is nothing else', () => {
    const { payload } = encode({ messages: [{ role: 'system', content: 'Say hello.' }] });
    expect(payload).not.toHaveProperty('system');
    expect(payload.messages).toEqual([{ role: 'user', content: [{ type: 'text', text: 'Say hello.' }] }]);
  });
  it('that are all empty are refused', () => {
    expect(() => turnsOf([{ role: 'user', content: ' \n' }])).toThrow('messages: expected a message that is not empty');
  });
  it('at the end of which the model goes on lose white space, or are refused by models that do not', () => {
    const begun = [ask, { role: 'assistant', content: 'It is \n' }];
    expect(turnsOf(begun)[1]?.content).toEqual([{ type: 'text', text: 'It is' }]);
    expect(() => turnsOf(begun, 'claude-opus-4-6')).toThrow(/^messages\[1\]: expected/);
  });
  it('list fields that have no word, and send a refusal as what was said', () => {
    const messages = [
      { ...ask, name: 'Ann' },
      { role: 'assistant', content: null, refusal: 'No.', annotations: [], audio: { id: 'a' }, tool_calls: [] },
      ask,
    ];
    const { payload, dropped } = encode({ messages });
    expect(payload.messages[1]?.content).toEqual([{ type: 'text', text: 'No.' }]);
    expect(dropped).toEqual(['messages[].annotations', 'messages[].audio', 'messages[].name']);
  });
  it('of tools may be empty, errors and marked', () => {
    const cache = { type: 'ephemeral' };
    const turns = turnsOf([
      ask,
      { role: 'assistant', tool_calls: [call('a'), call('b')] },
      { role: 'tool', tool_call_id: 'a', content: '' },
      { role: 'tool', tool_call_id: 'b', is_error: true, content: [{ type: 'text', text: 'x', cache_control: cache }] },
    ]);
    expect(turns[2]?.content).toEqual([
      { type: 'tool_result', tool_use_id: 'a' },
      {
        type: 'tool_result',
        tool_use_id: 'b',
        is_error: true,
        content: [{ type: 'text', text: 'x' }],
        cache_control: cache,
      },
    ]);
  });
});

describe('parts', () => {
  const partsOf = (content: object[], quirks = {}) =>
    encode({ messages: [{ role: 'user', content }] }, undefined, quirks);
  const sentParts = (content: object[]) => encodeAsSent({ messages: [{ role: 'user', content }] });
  const file = (data: object) => ({ type: 'file', file: data });
  const image = (url: string) => ({ type: 'image_url', image_url: { url } });
  it.each<[string, object, RegExp]>([
    ['a picture of another type', image('data:image/tiff;base64,AAAA'), /image_url\.url: expected an image of type/],
    ['a picture that is no base64', image('data:image/png,abc'), /image_url\.url: expected an http\(s\) URL/],
    ['an address that is none', image('ftp://a/b.png'), /expected an http\(s\) URL/],
    ['a file of another type', file({ file_data: 'data:application/zip;base64,AAAA' }), /file_data: expected a PDF/],
    ['a text that is no base64', file({ file_data: 'data:text/plain;base64,%%%' }), /file_data: expected a PDF/],
    ['no file', file({ filename: 'a' }), /\.file: expected file_data or file_id/],
    ['a sound', { type: 'input_audio', input_audio: { data: 'A', format: 'wav' } }, /no sound and no video/],
  ])('refuse %s, and say where', (_, part, message) => {
    expect(() => partsOf([{ type: 'text', text: 'See:' }, part])).toThrow(message);
    expect(() => partsOf([{ type: 'text', text: 'See:' }, part])).toThrow(/^messages\[0\]\.content\[1\]/);
  });
  it('are texts, pictures and files of the provider', () => {
    const { payload, headers } = sentParts([
      file({ filename: 'a.csv', file_data: `data:text/csv;base64,${btoa('a,b')}` }),
      file({ file_data: 'data:image/jpg;base64,AAAA' }),
      file({ file_id: 'file_1' }),
    ]);
    expect(payload.messages[0]?.content).toEqual([
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'a,b' }, title: 'a.csv' },
      { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: 'AAAA' } },
      { type: 'document', source: { type: 'file', file_id: 'file_1' } },
    ]);
    expect(headers['anthropic-beta']).toBe('files-api-2025-04-14');
  });
  it('are cited where the caller asks for it, and list fields that have no word', () => {
    const { payload, dropped } = partsOf([
      { ...file({ file_data: 'data:application/pdf;base64,AAAA' }), citations: { enabled: true } },
      { type: 'text', text: 'See:', citations: [], x: 1 },
    ]);
    expect(payload.messages[0]?.content[0]).toMatchObject({ type: 'document', citations: { enabled: true } });
    expect(dropped).toEqual(['messages[].content[].citations', 'messages[].content[].x']);
  });
  it('of an assistant are text alone', () => {
    const messages = [ask, { role: 'assistant', content: [image('https://a/b.png')] }, ask];
    expect(() => turnsOf(messages)).toThrow(/^messages\[1\]\.content\[0\]: expected text/);
  });
  it('are marked four times at most: the first and the last stay', () => {
    const marked = (text: string) => ({ type: 'text', text, cache_control: { type: 'ephemeral' } });
    const { payload, dropped } = encode({
      tools: [{ ...lookTool, cache_control: { type: 'ephemeral' } }],
      messages: [
        { role: 'system', content: [marked('1')] },
        { role: 'user', content: [marked('2'), marked('3'), marked('4')] },
      ],
      cache_control: { type: 'ephemeral', ttl: '1h' },
    });
    expect(JSON.stringify(payload).split('"cache_control"')).toHaveLength(5);
    expect(payload.tools).toEqual([expect.objectContaining({ cache_control: { type: 'ephemeral' } })]);
    expect(payload.messages[0]?.content.map((block) => 'cache_control' in block)).toEqual([false, true, true]);
    expect(dropped).toEqual(['messages[].content[].cache_control']);
  });
});
