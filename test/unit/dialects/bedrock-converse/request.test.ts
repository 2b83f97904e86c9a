import { describe, expect, it } from 'vitest';
import { bedrockConverse } from '../../../../src/dialects/bedrock-converse/index.ts';
import type { ConverseQuirks } from '../../../../src/dialects/bedrock-converse/quirks.ts';
import { encodeFitted } from '../../../../src/dialects/fit/index.ts';
import type { ChatRequest } from '../../../../src/schema/chat/chat.ts';

const claude = 'anthropic.claude-sonnet-4-5-20250929-v1:0';
const ask = { role: 'user' as const, content: 'Hello' };

function encode(request: Partial<ChatRequest>, upstreamModel = claude, quirks: ConverseQuirks = {}) {
  return bedrockConverse.encodeRequest({ request: { messages: [ask], ...request }, upstreamModel, quirks });
}

/** The same behind the stage that fits a request to the provider. */
function encodeAsSent(request: Partial<ChatRequest>, upstreamModel = claude) {
  return encodeFitted(bedrockConverse, { request: { messages: [ask], ...request }, upstreamModel, quirks: {} });
}

function additional(request: Partial<ChatRequest>, model: string, quirks: ConverseQuirks = {}) {
  const { payload, dropped } = encode(request, model, quirks);
  return { fields: payload.additionalModelRequestFields, config: payload.inferenceConfig, dropped };
}

const tool = (name: string) => ({ type: 'function' as const, function: { name } });
const called = (id: string, name = 'look') => ({
  role: 'assistant' as const,
  content: null,
  tool_calls: [{ id, type: 'function' as const, function: { name, arguments: '{"q":1}' } }],
});

describe('a block is taken beside its neighbours:', () => {
  const file = (type: string) => ({
    type: 'file' as const,
    file: { filename: 'a', file_data: `data:${type};base64,AAAA` },
  });
  const marked = { cache_control: { type: 'ephemeral' as const } };
  const kinds = (content: object[]) => {
    const { payload } = encode({ messages: [{ role: 'user', content: content as never }] });
    return (payload.messages as { content: object[] }[])[0]?.content.map((block) => Object.keys(block)[0]);
  };
  it.each<[string, object[], string[]]>([
    ['a document alone has a text', [file('application/pdf')], ['document', 'text']],
    ['a document beside a text has no other', [file('text/csv'), { type: 'text', text: 'a' }], ['document', 'text']],
    [
      'a mark does not stand right behind a document',
      [
        { type: 'text', text: 'a' },
        { ...file('text/csv'), ...marked },
      ],
      ['text', 'document', 'text', 'cachePoint'],
    ],
    ['a mark behind a document alone', [{ ...file('text/csv'), ...marked }], ['document', 'text', 'cachePoint']],
    [
      'a mark behind a text stays',
      [file('text/csv'), { type: 'text', text: 'a', ...marked }],
      ['document', 'text', 'cachePoint'],
    ],
  ])('%s', (_, content, blocks) => {
    expect(kinds(content)).toEqual(blocks);
  });
  it('the mark of the request is behind a text too', () => {
    const { payload } = encode({ messages: [{ role: 'user', content: [file('text/html')] }], ...marked });
    expect((payload.messages as { content: object[] }[])[0]?.content.map((block) => Object.keys(block)[0])).toEqual([
      'document',
      'text',
      'cachePoint',
    ]);
  });
});

describe('the path', () => {
  it('holds the model id with all that a path must not hold', () => {
    const arn = 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc';
    expect(encode({}, arn).path).toBe(
      '/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Aapplication-inference-profile%2Fabc/converse',
    );
  });
});

describe('reasoning is asked for in the words of', () => {
  const high: Partial<ChatRequest> = { reasoning: { effort: 'high' }, max_tokens: 10_000 };
  it.each<[string, Partial<ChatRequest>, object | undefined, string[]]>([
    ['anthropic.claude-3-7-sonnet-20250219-v1:0', high, { thinking: { type: 'enabled', budget_tokens: 8000 } }, []],
    ['anthropic.claude-sonnet-4-20250514-v1:0', high, { thinking: { type: 'enabled', budget_tokens: 8000 } }, []],
    ['anthropic.claude-3-5-sonnet-20241022-v2:0', high, undefined, ['reasoning']],
    ['us.anthropic.claude-sonnet-4-6', high, { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } }, []],
    [
      'us.anthropic.claude-opus-4-6-v1',
      { reasoning_effort: 'xhigh' },
      { thinking: { type: 'adaptive' }, output_config: { effort: 'max' } },
      [],
    ],
    [
      'anthropic.claude-opus-4-8',
      { reasoning_effort: 'xhigh' },
      { thinking: { type: 'adaptive' }, output_config: { effort: 'xhigh' } },
      [],
    ],
    [
      'anthropic.claude-sonnet-4-6',
      { reasoning: { max_tokens: 4500 }, max_tokens: 10_000 },
      { thinking: { type: 'adaptive' }, output_config: { effort: 'medium' } },
      [],
    ],
    ['anthropic.claude-sonnet-4-6', { reasoning: { enabled: false } }, { thinking: { type: 'disabled' } }, []],
    ['anthropic.claude-opus-5-5', { reasoning: { enabled: false } }, undefined, ['reasoning']],
    ['openai.gpt-oss-120b-1:0', high, { reasoning_effort: 'high' }, []],
    ['openai.gpt-oss-120b-1:0', { reasoning_effort: 'minimal' }, { reasoning_effort: 'low' }, []],
    ['openai.gpt-oss-120b-1:0', { reasoning_effort: 'none' }, undefined, ['reasoning_effort']],
    ['openai.gpt-5.5', high, { reasoning: { effort: 'high' } }, []],
    ['qwen.qwen3-32b-v1:0', high, { reasoning_config: 'high' }, []],
    [
      'us.amazon.nova-2-lite-v1:0',
      { reasoning: { effort: 'low' }, max_tokens: 100 },
      { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'low' } },
      [],
    ],
    ['us.meta.llama3-3-70b-instruct-v1:0', high, undefined, ['reasoning']],
    ['some.model', { reasoning_effort: 'high' }, undefined, ['reasoning_effort']],
  ])('%s: %o', (model, request, fields, dropped) => {
    expect(additional(request, model)).toMatchObject({ dropped });
    expect(additional(request, model).fields).toEqual(fields);
  });

  it('the family that a quirk names, where the id names none', () => {
    const arn = 'arn:aws:bedrock:us-east-1:1:application-inference-profile/abc';
    expect(additional(high, arn).dropped).toEqual(['reasoning']);
    expect(additional(high, arn, { family: 'claude-4' }).fields).toEqual({
      thinking: { type: 'enabled', budget_tokens: 8000 },
    });
    expect(additional(high, 'openai.gpt-oss-20b', { family: 'claude-4' }).fields).toEqual({ reasoning_effort: 'high' });
  });

  it.each([1, 500, 1024])('nobody, where %i tokens leave no room for a thought of Claude', (max) => {
    const { fields, config, dropped } = additional({ max_tokens: max, reasoning_effort: 'high' }, claude);
    expect([fields, config, dropped]).toEqual([undefined, { maxTokens: max }, ['reasoning_effort']]);
  });

  it('nobody, beside a tool that must be called', () => {
    const { fields, dropped } = additional(
      { reasoning_effort: 'high', tools: [tool('look')], tool_choice: 'required' },
      claude,
    );
    expect([fields, dropped]).toEqual([undefined, ['reasoning_effort']]);
  });

  it('nobody, behind a call of a tool whose thought is not there', () => {
    const messages = [ask, called('a'), { role: 'tool' as const, tool_call_id: 'a', content: 'x' }];
    expect(additional({ messages, tools: [tool('look')], reasoning_effort: 'low' }, claude).dropped).toEqual([
      'reasoning_effort',
    ]);
  });
});

describe('the largest output', () => {
  it.each([1025, 2000, 32_000, 200_000])('%i is never exceeded by a budget', (max) => {
    for (const request of [{ reasoning_effort: 'max' as const }, { reasoning: { max_tokens: 1_000_000 } }]) {
      const { fields, config } = additional({ ...request, max_completion_tokens: max }, claude);
      expect(config).toEqual({ maxTokens: max });
      const { budget_tokens: budget } = (fields as { thinking: { budget_tokens: number } }).thinking;
      expect(budget).toBeLessThan(max);
      expect(budget).toBeGreaterThanOrEqual(1024);
    }
  });

  it('keeps Nova from its highest effort, which takes none', () => {
    const nova = 'amazon.nova-2-lite-v1:0';
    const limited = additional({ reasoning_effort: 'high', max_tokens: 100, temperature: 0.5 }, nova);
    expect(limited).toEqual({
      fields: { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'medium' } },
      config: { maxTokens: 100, temperature: 0.5 },
      dropped: ['reasoning_effort'],
    });
    expect(additional({ reasoning_effort: 'high', temperature: 0.5 }, nova)).toEqual({
      fields: { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'high' } },
      config: undefined,
      dropped: ['temperature'],
    });
  });

  it('is not raised by fields of the model', () => {
    const own = { max_tokens: 9, inferenceConfig: { maxTokens: 9, topK: 3 }, seed: 1 };
    const { fields, dropped } = additional(
      { max_tokens: 5, additionalModelRequestFields: own },
      'amazon.nova-pro-v1:0',
    );
    expect(fields).toEqual({ inferenceConfig: { topK: 3 }, seed: 1 });
    expect(dropped).toEqual([
      'additionalModelRequestFields.max_tokens',
      'additionalModelRequestFields.inferenceConfig',
    ]);
  });
});

describe('sampling', () => {
  it.each<[string, object, object, string[]]>([
    ['anthropic.claude-3-5-haiku-20241022-v1:0', { temperature: 0.5, topP: 0.9 }, { top_k: 5 }, []],
    ['anthropic.claude-sonnet-4-6', { temperature: 0.5 }, { top_k: 5 }, ['top_p']],
    ['anthropic.claude-opus-4-8', {}, {}, ['temperature', 'top_p', 'top_k']],
    ['amazon.nova-pro-v1:0', { temperature: 0.5, topP: 0.9 }, { inferenceConfig: { topK: 5 } }, []],
    ['openai.gpt-6-sol', {}, {}, ['temperature', 'top_p', 'stop', 'top_k']],
    ['openai.gpt-oss-20b', { temperature: 0.5, topP: 0.9 }, {}, ['stop', 'top_k']],
    ['mistral.mistral-large-2407-v1:0', { temperature: 0.5, topP: 0.9 }, { top_k: 5 }, []],
    ['some.model', { temperature: 0.5, topP: 0.9 }, {}, ['top_k']],
  ])('%s gets what it takes', (model, config, fields, dropped) => {
    const sent = additional({ temperature: 0.5, top_p: 0.9, top_k: 5, stop: ['x'] }, model);
    const stop = dropped.includes('stop') ? {} : { stopSequences: ['x'] };
    expect(sent.config ?? {}).toEqual({ ...config, ...stop });
    expect(sent.fields ?? {}).toEqual(fields);
    expect(sent.dropped).toEqual(dropped);
  });

  it('leaves out what Claude refuses while it thinks', () => {
    const sent = additional(
      { reasoning_effort: 'low', temperature: 0.2, top_p: 0.9, top_k: 5, max_tokens: 9000 },
      claude,
    );
    expect(sent.config).toEqual({ maxTokens: 9000 });
    expect(sent.dropped).toEqual(['temperature', 'top_p', 'top_k']);
  });

  it('takes a temperature that is too high for the highest, and says so', () => {
    const sent = additional({ temperature: 1.5 }, claude);
    expect([sent.config, sent.dropped]).toEqual([{ temperature: 1 }, ['temperature']]);
  });
});

describe('tools', () => {
  const history: ChatRequest['messages'] = [
    ask,
    called('a'),
    { role: 'tool', tool_call_id: 'a', content: 'found' },
    { role: 'user', content: 'Thanks' },
  ];

  it.each(['auto', 'required'])('are limited to those that a choice allows: %s', (mode) => {
    const allowed = { mode, tools: [{ type: 'function', function: { name: 'look' } }] };
    for (const choice of [
      { type: 'allowed_tools', allowed_tools: allowed },
      { type: 'allowed_tools', ...allowed },
    ]) {
      const { payload } = encode({
        messages: [ask],
        tools: [tool('other'), tool('look')],
        tool_choice: choice as never,
      });
      const { tools, toolChoice } = payload.toolConfig as {
        tools: { toolSpec: { name: string } }[];
        toolChoice: unknown;
      };
      expect(tools.map(({ toolSpec }) => toolSpec.name)).toEqual(['look']);
      expect(toolChoice).toEqual(mode === 'auto' ? undefined : { any: {} });
    }
  });

  it.each([
    ['of which none may be called', { tools: [tool('look')], tool_choice: 'none' as const }],
    ['that are not there any more', {}],
  ])('%s: earlier calls are text, as Converse takes no calls without tools', (_, more) => {
    const { payload } = encode({ messages: history, ...more });
    expect(payload).toEqual({
      messages: [
        { role: 'user', content: [{ text: 'Hello' }] },
        { role: 'assistant', content: [{ text: '[Called the tool look with {"q":1}]' }] },
        { role: 'user', content: [{ text: '[Result of the tool look: found]' }, { text: 'Thanks' }] },
      ],
    });
  });

  it('get other ids where Converse does not take those of the caller, the same for call and result', () => {
    const ids = ['functions.look:0', 'functions.look 0', 'x'.repeat(80), `${'x'.repeat(80)}y`, 'fine-1_a'];
    const messages = ids.flatMap((id) => [called(id), { role: 'tool' as const, tool_call_id: id, content: 'ok' }]);
    const { payload } = encodeAsSent({ messages: [ask, ...messages], tools: [tool('look')] });
    const blocks = (payload.messages as { content: Record<string, { toolUseId: string }>[] }[]).flatMap(
      (one) => one.content,
    );
    const uses = blocks.flatMap(({ toolUse }) => (toolUse ? [toolUse.toolUseId] : []));
    const results = blocks.flatMap(({ toolResult }) => (toolResult ? [toolResult.toolUseId] : []));
    expect(uses).toEqual(results);
    expect(new Set(uses).size).toBe(ids.length);
    for (const id of uses) expect(id).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(uses[4]).toBe('fine-1_a');
  });

  it('of Mistral get ids of nine letters and digits', () => {
    const messages = ['call_1', 'call_2'].flatMap((id) => [
      called(id),
      { role: 'tool' as const, tool_call_id: id, content: 'ok' },
    ]);
    const { body } = encodeAsSent(
      { messages: [ask, ...messages], tools: [tool('look')] },
      'mistral.mistral-large-2407-v1:0',
    );
    const [one, ofOne, two, ofTwo] = [...body.matchAll(/"toolUseId":"([A-Za-z0-9]{9})"/g)].map(([, id]) => id);
    expect([ofOne, ofTwo, one === two]).toEqual([one, two, false]);
  });

  it('that failed say so, and one without output has some', () => {
    const messages = [ask, called('a'), { role: 'tool' as const, tool_call_id: 'a', content: '', is_error: true }];
    const { payload } = encode({ messages, tools: [tool('look')] });
    expect((payload.messages as unknown[])[2]).toEqual({
      role: 'user',
      content: [{ toolResult: { toolUseId: 'a', content: [{ text: '(no output)' }], status: 'error' } }],
    });
  });

  it('cannot be forced on the newest models', () => {
    const { payload, dropped } = encode(
      { tools: [tool('look')], tool_choice: 'required' },
      'anthropic.claude-opus-5-5',
    );
    expect(payload.toolConfig).not.toHaveProperty('toolChoice');
    expect(dropped).toEqual(['tool_choice']);
  });

  it('of the gateway or of another kind are refused', () => {
    expect(() => encode({ tools: [{ type: 'service:web_search' }] })).toThrow('tools[0].type: expected function');
    expect(() => encode({ tools: [tool('a')], tool_choice: { type: 'web_search' } })).toThrow('tool_choice: expected');
  });

  it('with names of the prototype are tools like others', () => {
    const { body } = encode({ tools: [tool('__proto__'), tool('constructor')] });
    expect([...body.matchAll(/"name":"(\w+)"/g)].map(([, name]) => name)).toEqual(['__proto__', 'constructor']);
  });
});

describe('output of a schema', () => {
  const format = (schema: object): Partial<ChatRequest> => ({
    response_format: { type: 'json_schema', json_schema: { name: 'p', schema: schema as Record<string, unknown> } },
  });
  const closed = { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false };
  const open = { type: 'object', properties: { a: { type: 'object' } }, additionalProperties: false };

  it.each([
    ['natively, of a model that keeps to schemas', claude, closed, 'native'],
    ['natively, of gpt-oss', 'openai.gpt-oss-20b', closed, 'native'],
    ['by a tool, where an object of the schema is open', claude, open, 'tool'],
    ['by a tool, of Nova', 'amazon.nova-pro-v1:0', closed, 'tool'],
    [
      'by an instruction, of a model that may not be made to call a tool',
      'meta.llama3-1-8b-instruct-v1:0',
      closed,
      'instruction',
    ],
    ['by an instruction, where it is no object', 'amazon.nova-pro-v1:0', { type: 'array' }, 'instruction'],
  ])('is asked for %s', (_, model, schema, way) => {
    expect(encode(format(schema), model).structuredOutput).toBe(way);
  });

  it('by a tool: it must be called, and its arguments are the response', () => {
    const { payload, reading } = encode(format(open));
    expect(payload.toolConfig).toEqual({
      tools: [{ toolSpec: { name: 'structured_output', inputSchema: { json: open } } }],
      toolChoice: { tool: { name: 'structured_output' } },
    });
    expect(reading).toEqual({ reasoningFormat: 'anthropic-claude-v1', outputTool: 'structured_output' });
  });

  it('by a tool beside others: one of them must be called', () => {
    const { payload, reading } = encode({ ...format(open), tools: [tool('structured_output')] });
    expect(payload.toolConfig).toMatchObject({ toolChoice: { any: {} } });
    expect(reading?.outputTool).toBe('structured_output_2');
    const none = encode({ ...format(open), tools: [tool('look')], tool_choice: 'none' }).payload.toolConfig;
    expect(none).toMatchObject({ toolChoice: { tool: { name: 'structured_output' } } });
    expect((none as { tools: unknown[] }).tools.length).toBe(1);
  });

  it('by an instruction while Claude thinks, which cannot be made to call a tool then', () => {
    const { payload, structuredOutput } = encode({ ...format(open), reasoning_effort: 'low', max_tokens: 9000 });
    expect(structuredOutput).toBe('instruction');
    expect(payload).not.toHaveProperty('toolConfig');
    expect(JSON.stringify(payload.system)).toContain('JSON Schema');
  });

  it('in another language than JSON is left out', () => {
    expect(encode({ response_format: { type: 'grammar', grammar: 'x' } }).dropped).toEqual(['response_format']);
  });
});

describe('caching', () => {
  const marked: Partial<ChatRequest> = {
    messages: [
      { role: 'system', content: [{ type: 'text', text: 'Long.', cache_control: { type: 'ephemeral', ttl: '1h' } }] },
      ask,
    ],
    tools: [{ ...tool('look'), cache_control: { type: 'ephemeral' } }],
  };
  it.each([
    [claude, ['1h', '-'], []],
    ['anthropic.claude-3-7-sonnet-20250219-v1:0', ['-', '-'], ['messages[].content[].cache_control.ttl']],
    ['amazon.nova-pro-v1:0', ['-'], ['tools[].cache_control', 'messages[].content[].cache_control.ttl']],
    ['meta.llama3-1-8b-instruct-v1:0', [], ['tools[].cache_control', 'messages[].content[].cache_control']],
  ])('%s gets the marks that it takes', (model, marks, dropped) => {
    const { body, dropped: left } = encode(marked, model);
    const found = [...body.matchAll(/"cachePoint":\{"type":"default"(?:,"ttl":"(\w+)")?\}/g)];
    expect(found.map(([, ttl]) => ttl ?? '-')).toEqual(marks);
    expect(left).toEqual(dropped);
  });

  it('of a whole request sets no fifth mark, and no second one at the same place', () => {
    const part = { type: 'text' as const, text: 'a', cache_control: { type: 'ephemeral' as const } };
    const request = (parts: number) =>
      encode({ messages: [{ role: 'user', content: Array(parts).fill(part) }], cache_control: { type: 'ephemeral' } });
    expect([request(1).body.match(/cachePoint/g)?.length, request(1).dropped]).toEqual([1, []]);
    expect([request(4).body.match(/cachePoint/g)?.length, request(4).dropped]).toEqual([4, ['cache_control']]);
  });

  it('marks stand behind the result of a tool', () => {
    const content = [{ type: 'text' as const, text: 'x', cache_control: { type: 'ephemeral' as const } }];
    const messages = [ask, called('a'), { role: 'tool' as const, tool_call_id: 'a', content }];
    const { payload } = encode({ messages, tools: [tool('look')] });
    expect((payload.messages as { content: unknown[] }[])[2]?.content).toEqual([
      { toolResult: { toolUseId: 'a', content: [{ text: 'x' }] } },
      { cachePoint: { type: 'default' } },
    ]);
  });
});

describe('parts', () => {
  const part = (one: object, quirks: ConverseQuirks = {}) =>
    encode({ messages: [{ role: 'user', content: [one] } as ChatRequest['messages'][number]] }, claude, quirks);
  const file = (filename: string, type = 'application/pdf') => ({
    type: 'file',
    file: { filename, file_data: `data:${type};base64,AAAA` },
  });

  it.each([
    ['Über uns (2).pdf', 'ber uns (2)'],
    ['../../etc/passwd', 'etc passwd'],
    ['日本.pdf', 'document'],
    ['', 'document'],
    ['a  b\tc.tar.gz', 'a b c tar'],
  ])('the document %j has a name that Converse takes', (filename, name) => {
    expect(part(file(filename)).body).toContain(`"name":${JSON.stringify(name)}`);
  });

  it('documents have names of their own, however many share one', () => {
    const long = 'x'.repeat(300);
    const names = ['a.pdf', 'a.csv', 'a (2).pdf', 'a.pdf', long, long];
    const { body } = encode({ messages: [{ role: 'user', content: names.map((name) => file(name)) as never }] });
    const sent = [...body.matchAll(/"name":"([^"]+)"/g)].map(([, name]) => name as string);
    expect(new Set(sent).size).toBe(names.length);
    for (const name of sent) expect(name).toMatch(/^[A-Za-z0-9 ()[\]-]{1,200}$/);
  });

  it.each([
    ['an image in S3', { type: 'image_url', image_url: { url: 's3://b/a.jpg' } }, 'image', 'jpeg'],
    ['a video in S3', { type: 'video_url', video_url: { url: 's3://b/a.3gp' } }, 'video', 'three_gp'],
    ['a document in S3', { type: 'file', file: { file_data: 's3://b/a.docx' } }, 'document', 'docx'],
    ['an image as a file', file('a.png', 'image/png'), 'image', 'png'],
    ['raw sound', { type: 'input_audio', input_audio: { data: 'AA', format: 'pcm16' } }, 'audio', 'pcm'],
  ])('%s becomes a block', (_, one, kind, format) => {
    const { payload } = part(one, { s3: true });
    expect((payload.messages as { content: object[] }[])[0]?.content[0]).toMatchObject({ [kind]: { format } });
  });

  it.each([
    ['an image of another format', { type: 'image_url', image_url: { url: 'data:image/tiff;base64,AA' } }],
    ['an image in S3 without an ending', { type: 'image_url', image_url: { url: 's3://b/a' } }],
    ['an image in S3, unless the operator allows it', { type: 'image_url', image_url: { url: 's3://b/a.jpg' } }],
    ['a document in S3, unless the operator allows it', { type: 'file', file: { file_data: 's3://b/a.pdf' } }],
    ['a file by its id', { type: 'file', file: { file_id: 'x' } }],
    ['a file of another format', file('a.zip', 'application/zip')],
    ['a sound of another format', { type: 'input_audio', input_audio: { data: 'AA', format: 'midi' } }],
  ])('%s is refused', (_, one) => {
    expect(() => part(one)).toThrow(/^messages\[0\]\.content\[0\]\./);
  });

  it('documents that are to be cited say so', () => {
    expect(part({ ...file('a.pdf'), citations: { enabled: true } }).body).toContain('"citations":{"enabled":true}');
  });
});

describe('messages', () => {
  it('of the system alone become the conversation', () => {
    expect(encode({ messages: [{ role: 'system', content: 'Write.' }] }).payload).toEqual({
      messages: [{ role: 'user', content: [{ text: 'Write.' }] }],
    });
  });

  it('end without white space where the model goes on', () => {
    const { payload } = encode({ messages: [ask, { role: 'assistant', content: 'The \n' }] });
    expect((payload.messages as unknown[])[1]).toEqual({ role: 'assistant', content: [{ text: 'The' }] });
  });

  it('of earlier responses leave out what nobody reads, and say so; a refusal is text', () => {
    const { payload, dropped } = encode({
      messages: [
        { ...ask, name: 'Ann' },
        { role: 'assistant', content: null, refusal: 'No.', images: [{ image_url: { url: 'x' } }], annotations: [] },
        ask,
      ],
    });
    expect((payload.messages as unknown[])[1]).toEqual({ role: 'assistant', content: [{ text: 'No.' }] });
    expect(dropped).toEqual(['messages[].name', 'messages[].images', 'messages[].annotations']);
  });

  it.each([
    [claude, 'openai-responses-v1', 'c2ln', [], ['messages[].reasoning_details', 'messages[].reasoning']],
    [claude, 'anthropic-claude-v1', undefined, [], ['messages[].reasoning_details', 'messages[].reasoning']],
    [claude, undefined, 'c2ln', ['signed'], []],
    ['qwen.qwen3-32b-v1:0', 'unknown', undefined, ['plain'], []],
    [
      'qwen.qwen3-32b-v1:0',
      'anthropic-claude-v1',
      'c2ln',
      [],
      ['messages[].reasoning_details', 'messages[].reasoning'],
    ],
    ['deepseek.v3-v1:0', 'unknown', undefined, [], ['messages[].reasoning_details', 'messages[].reasoning']],
  ])('%s gets back only reasoning of its own: %s, %s', (model, format, signature, blocks, dropped) => {
    const detail = { type: 'reasoning.text' as const, text: 'Hm.', signature, format, index: 0 };
    const message = { role: 'assistant' as const, content: 'Hi', reasoning: 'Hm.', reasoning_details: [detail] };
    const { payload, dropped: left } = encode({ messages: [ask, message, ask] }, model);
    const sent = (payload.messages as { content: object[] }[])[1]?.content.slice(0, -1);
    const expected = { signed: { text: 'Hm.', signature: 'c2ln' }, plain: { text: 'Hm.' } };
    expect(sent).toEqual(blocks.map((kind) => ({ reasoningContent: { reasoningText: expected[kind as 'plain'] } })));
    expect(left).toEqual(dropped);
  });

  it('send the older name of reasoning where plain text is taken, and drop it elsewhere', () => {
    const messages = [ask, { role: 'assistant' as const, content: 'Hi', reasoning_content: 'Hm.' }, ask];
    expect(encode({ messages }, 'qwen.qwen3-32b-v1:0').body).toContain('{"reasoningText":{"text":"Hm."}}');
    expect(encode({ messages }).dropped).toEqual(['messages[].reasoning_content']);
  });

  it('give a secret thought in a form that nobody knows back as it came', () => {
    const detail = {
      type: 'reasoning.encrypted' as const,
      id: 'bedrock-converse',
      data: 'QQ',
      format: 'unknown',
      index: 0,
    };
    const message = { role: 'assistant' as const, content: 'Hi', reasoning_details: [detail] };
    expect(encode({ messages: [ask, message, ask] }).body).toContain('{"redactedContent":"QQ"}');
  });

  it('put the pieces of a streamed thought together again, and tell two thoughts apart', () => {
    const text = (piece: object) => ({ type: 'reasoning.text' as const, format: 'anthropic-claude-v1', ...piece });
    const secret = { type: 'reasoning.encrypted' as const, data: 'xyz', format: 'anthropic-claude-v1', index: 1 };
    const details = [
      text({ text: 'I ', index: 0 }),
      text({ text: 'think', index: 0 }),
      text({ signature: 's1', index: 0 }),
      secret,
      text({ text: 'again' }),
      text({ signature: 's2' }),
      text({ text: 'and again', signature: 's3' }),
    ];
    const message = { role: 'assistant' as const, content: 'Hi', reasoning_details: details };
    const { payload, dropped } = encode({ messages: [ask, message, ask] });
    expect((payload.messages as { content: object[] }[])[1]?.content).toEqual([
      { reasoningContent: { reasoningText: { text: 'I think', signature: 's1' } } },
      { reasoningContent: { redactedContent: btoa('xyz') } },
      { reasoningContent: { reasoningText: { text: 'again', signature: 's2' } } },
      { reasoningContent: { reasoningText: { text: 'and again', signature: 's3' } } },
      { text: 'Hi' },
    ]);
    expect(dropped).toEqual([]);
  });
});

describe('other fields', () => {
  it('of Converse pass by their own names; all others are left out, and said to be', () => {
    const own = {
      guardrailConfig: { guardrailIdentifier: 'g', guardrailVersion: '1' },
      performanceConfig: { latency: 'optimized' },
      requestMetadata: { a: 'b' },
      additionalModelResponseFieldPaths: ['/stop_sequence'],
    };
    const { payload, dropped } = encode({ ...own, seed: 1, made_up: true, promptVariables: {}, modalities: ['audio'] });
    expect(payload).toMatchObject(own);
    expect(dropped).toEqual(['seed', 'made_up', 'promptVariables', 'modalities']);
  });

  it('null means that a field is not set', () => {
    const { payload, dropped } = encode({
      seed: null,
      temperature: null,
      stop: null,
      max_tokens: null,
      logprobs: null,
    });
    expect([Object.keys(payload), dropped]).toEqual([['messages'], []]);
  });

  it('metadata that the logs of AWS do not take is left out', () => {
    expect(encode({ metadata: { a: 'b"c' } }).dropped).toEqual(['metadata']);
  });

  it.each([
    ['auto', undefined, []],
    ['flex', { type: 'flex' }, []],
    ['scale', undefined, ['service_tier']],
  ] as const)('the tier %s', (tier, sent, dropped) => {
    const encoded = encode({ service_tier: tier });
    expect([encoded.payload.serviceTier, encoded.dropped]).toEqual([sent, dropped]);
  });
});
