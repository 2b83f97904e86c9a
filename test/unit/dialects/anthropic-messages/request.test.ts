import { describe, expect, it } from 'vitest';
import { ask, encode, lookTool } from './encode.ts';

const older = 'claude-sonnet-4-20250514';
const schema = {
  type: 'object',
  properties: { name: { type: 'string' } },
  required: ['name'],
  additionalProperties: false,
};
const asked = (more: object = schema) => ({
  response_format: { type: 'json_schema', json_schema: { name: 'person', schema: more } },
});

describe('output of a schema', () => {
  it('is the only tool of models without a word for it, and must be called', () => {
    const { payload, structuredOutput, reading } = encode(asked(), older);
    expect(payload.tools).toEqual([
      { name: 'structured_output', description: 'Takes the response.', input_schema: schema },
    ]);
    expect(payload.tool_choice).toEqual({
      type: 'tool',
      name: 'structured_output',
      disable_parallel_tool_use: true,
    });
    expect([structuredOutput, reading]).toEqual(['tool', { outputTool: 'structured_output' }]);
  });
  it('is one of several tools where the caller has some, under a name that is free', () => {
    const own = { type: 'function', function: { name: 'structured_output' } };
    const { payload, reading } = encode({ ...asked(), tools: [own] }, older);
    expect((payload.tools as { name: string }[]).map(({ name }) => name)).toEqual([
      'structured_output',
      'structured_output_',
    ]);
    expect(payload.tool_choice).toEqual({ type: 'any' });
    expect(reading).toEqual({ outputTool: 'structured_output_' });
  });
  it('is the one tool to call where the caller forbids the others', () => {
    const { payload } = encode({ ...asked(), tools: [lookTool], tool_choice: 'none' }, older);
    expect(payload.tool_choice).toMatchObject({ type: 'tool', name: 'structured_output' });
    expect(payload.tools).toHaveLength(2);
  });
  it.each([
    ['objects are left open', { type: 'object', properties: {}, additionalProperties: true }],
    ['objects are not described', { type: 'object' }],
    ['it refers to itself', { type: 'object', properties: { child: { $ref: '#' } } }],
    [
      'too much may be left out',
      { type: 'object', properties: Object.fromEntries(Array.from({ length: 25 }, (_, at) => [`p${at}`, {}])) },
    ],
  ])('is asked for by a tool where %s, for which the grammar has no form', (_, open) => {
    const { payload, structuredOutput } = encode(asked(open));
    expect(structuredOutput).toBe('tool');
    expect(payload.tools).toEqual([expect.objectContaining({ input_schema: open })]);
  });
  it.each([
    ['is no object', 'claude-sonnet-4-20250514', { type: 'array', items: {} }],
    [
      'has no form in the grammar, of a model that cannot be made to call a tool',
      'claude-opus-5-5',
      { type: 'object' },
    ],
  ])('is asked for in words where it %s', (_, model, other) => {
    const { payload, structuredOutput } = encode(asked(other), model);
    expect(structuredOutput).toBe('instruction');
    expect(payload.system).toEqual([{ type: 'text', text: expect.stringContaining(JSON.stringify(other)) }]);
    expect(payload).not.toHaveProperty('tools');
  });
  it('gives way to a tool that the caller wants called, and is listed', () => {
    const { payload, dropped, structuredOutput } = encode({ ...asked(), tools: [lookTool], tool_choice: 'required' });
    expect([structuredOutput, dropped]).toEqual([undefined, ['response_format']]);
    expect(payload.tool_choice).toEqual({ type: 'any' });
    expect(encode({ response_format: { type: 'grammar', grammar: 'x' } }).dropped).toEqual(['response_format']);
  });
  it('closes objects, and tells limits in words', () => {
    const { payload } = encode(
      asked({
        type: 'object',
        description: 'One.',
        properties: {
          age: { type: 'integer', minimum: 0, maximum: 150, description: 'Years.' },
          mail: { type: 'string', format: 'email', minLength: 3 },
          code: { type: 'string', format: 'custom' },
          pet: { oneOf: [{ $ref: '#/$defs/dog' }, { type: 'null' }] },
        },
        required: ['age', 'mail', 'code', 'pet'],
        $defs: { dog: { type: 'object', properties: {}, minProperties: 1 } },
      }),
    );
    expect(payload.output_config).toEqual({
      format: {
        type: 'json_schema',
        schema: {
          type: 'object',
          description: 'One.',
          properties: {
            age: { type: 'integer', description: 'Years. (minimum: 0, maximum: 150)' },
            mail: { type: 'string', format: 'email', description: '(minLength: 3)' },
            code: { type: 'string', description: '(format: "custom")' },
            pet: { anyOf: [{ $ref: '#/$defs/dog' }, { type: 'null' }] },
          },
          required: ['age', 'mail', 'code', 'pet'],
          $defs: {
            dog: { type: 'object', properties: {}, additionalProperties: false, description: '(minProperties: 1)' },
          },
          additionalProperties: false,
        },
      },
    });
  });
  it('is judged in no time, however often its references multiply', () => {
    const levels = Array.from({ length: 60 }, (_, at) => [
      `l${at}`,
      { anyOf: [{ $ref: `#/$defs/l${at + 1}` }, { $ref: `#/$defs/l${at + 1}` }] },
    ]);
    const bomb = { ...schema, properties: { name: { $ref: '#/$defs/l0' } }, $defs: Object.fromEntries(levels) };
    expect(encode(asked(bomb)).structuredOutput).toBe('tool');
  });
  it('follows a quirk', () => {
    expect(encode(asked(), 'm', { structuredOutput: 'native' }).structuredOutput).toBe('native');
    expect(encode(asked(), 'claude-opus-4-8', { structuredOutput: 'instruction' }).structuredOutput).toBe(
      'instruction',
    );
  });
});

describe('tools', () => {
  const weather = { type: 'function', function: { name: 'weather' } };
  it('are limited to those a choice allows', () => {
    const choice = (mode: string) => ({
      type: 'allowed_tools',
      allowed_tools: { mode, tools: [{ type: 'function', function: { name: 'look' } }] },
    });
    const { payload } = encode({ tools: [lookTool, weather], tool_choice: choice('required') });
    expect((payload.tools as { name: string }[]).map(({ name }) => name)).toEqual(['look']);
    const flat = { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'look' }] };
    expect(encode({ tools: [lookTool, weather], tool_choice: flat }).payload).toEqual(payload);
    expect(payload.tool_choice).toEqual({ type: 'any' });
    expect(encode({ tools: [lookTool, weather], tool_choice: choice('auto') }).payload).not.toHaveProperty(
      'tool_choice',
    );
  });
  it('that must be called one at a time', () => {
    const request = { tools: [lookTool], parallel_tool_calls: false };
    expect(encode({ ...request, tool_choice: 'required' }).payload.tool_choice).toEqual({
      type: 'any',
      disable_parallel_tool_use: true,
    });
    expect(encode({ ...request, tool_choice: 'none' }).payload.tool_choice).toEqual({ type: 'none' });
  });
  it('cannot be forced on models that refuse it, which is listed', () => {
    const { payload, dropped } = encode({ tools: [lookTool], tool_choice: 'required' }, 'claude-opus-5-5');
    expect(payload).not.toHaveProperty('tool_choice');
    expect(dropped).toEqual(['tool_choice']);
    expect(encode({ tool_choice: 'auto', parallel_tool_calls: true }).dropped).toEqual([
      'parallel_tool_calls',
      'tool_choice',
    ]);
  });
  it('of other kinds are refused, and say where', () => {
    expect(() => encode({ tools: [lookTool, { type: 'web_search' }] })).toThrow(/^tools\[1\]\.type: expected/);
    expect(() => encode({ tools: [lookTool], tool_choice: { type: 'custom' } })).toThrow(
      /^tool_choice\.type: expected/,
    );
  });
  it('are strict where the model and the schema allow it, else that is listed', () => {
    const strict = { ...lookTool, function: { ...lookTool.function, strict: true }, eager_input_streaming: true, x: 1 };
    const odd = { type: 'function', function: { name: 'odd', y: 1 } };
    expect(encode({ tools: [odd] }).dropped).toEqual(['tools[].function.y']);
    const { payload, dropped } = encode({ tools: [strict] });
    expect(payload.tools).toEqual([
      {
        name: 'look',
        input_schema: { ...lookTool.function.parameters, additionalProperties: false },
        strict: true,
        eager_input_streaming: true,
      },
    ]);
    expect(dropped).toEqual(['tools[].x']);
    expect(encode({ tools: [strict] }, older).dropped).toEqual(['tools[].function.strict', 'tools[].x']);
  });
  it('may be called what objects have by themselves', () => {
    const named = ['__proto__', 'constructor', 'toString'].map((name) => ({ type: 'function', function: { name } }));
    const { payload } = encode({ tools: named });
    expect((payload.tools as { name: string }[]).map(({ name }) => name)).toEqual([
      '__proto__',
      'constructor',
      'toString',
    ]);
  });
});

describe('other fields', () => {
  it.each<[object, object, string[]]>([
    [{ temperature: 1.7 }, { temperature: 1 }, []],
    [{ stop: 'END' }, { stop_sequences: ['END'] }, []],
    [{ user: 'a' }, { metadata: { user_id: 'a' } }, []],
    [{ user: 'a', safety_identifier: 'b' }, { metadata: { user_id: 'b' } }, ['user']],
    [{ user: 'a'.repeat(257) }, {}, ['user']],
    [{ service_tier: 'default' }, { service_tier: 'standard_only' }, []],
    [{ service_tier: 'flex' }, {}, ['service_tier']],
    [{ n: 1, logprobs: false, presence_penalty: 0, modalities: ['text'] }, {}, []],
    [{ modalities: ['text', 'audio'], audio: { voice: 'a' } }, {}, ['audio', 'modalities']],
    [
      { thinking: { type: 'enabled' }, mcp_servers: [], verbosity: 'constructor' },
      {},
      ['mcp_servers', 'thinking', 'verbosity'],
    ],
    [{ include_reasoning: true, usage: { include: true }, plugins: [], seed: null }, {}, []],
  ])('%.60j', (request, expected, dropped) => {
    const { payload, ...encoded } = encode(request);
    const { model: _model, max_tokens: _max, messages: _messages, ...rest } = payload;
    expect(rest).toEqual(expected);
    expect(encoded.dropped).toEqual(dropped);
  });
  it.each([
    ['claude-3-haiku-20240307', 4_096],
    ['claude-3-5-sonnet-20241022', 8_192],
    ['claude-opus-4-1-20250805', 32_000],
    ['claude-sonnet-4@20250514', 32_000],
    ['claude-mythos-preview', 32_000],
    ['m', 8_192],
  ])('the largest output of %s is %i where none is named', (model, tokens) => {
    expect(encode({}, model).payload.max_tokens).toBe(tokens);
    expect(encode({}, model, { defaultMaxTokens: 7 }).payload.max_tokens).toBe(7);
    expect(encode({ max_tokens: 9, max_completion_tokens: 5 }, model).payload.max_tokens).toBe(5);
  });
  it('are left out by a quirk, and listed', () => {
    const { payload, dropped } = encode({ temperature: 0.5, stop: 'a' }, undefined, { dropParams: ['stop', 'seed'] });
    expect(payload).toMatchObject({ temperature: 0.5 });
    expect(payload).not.toHaveProperty('stop_sequences');
    expect(dropped).toEqual(['stop']);
  });
  it('switch features under trial on by a quirk', () => {
    expect(encode({}, undefined, { betas: ['a', 'b'] }).headers['anthropic-beta']).toBe('a,b');
  });
});

describe('Claude on Vertex', () => {
  const vertex = { host: 'vertex' as const };
  const model = 'claude-sonnet-4-5@20250929';
  it('has the model in the path and the version in the body', () => {
    const { path, payload, headers } = encode({}, model, vertex);
    expect(path).toBe('/claude-sonnet-4-5@20250929:rawPredict');
    expect(payload).toMatchObject({ anthropic_version: 'vertex-2023-10-16', max_tokens: 32_000 });
    expect(payload).not.toHaveProperty('model');
    expect(headers).not.toHaveProperty('anthropic-version');
    const stream = encode({ stream: true }, 'a/../b', vertex);
    expect(stream.path).toBe('/a%2F..%2Fb:streamRawPredict');
    expect(stream.payload.stream).toBe(true);
  });
  it('gets a mark on the last block in place of one on the request', () => {
    const { payload } = encode({ cache_control: { type: 'ephemeral' } }, model, vertex);
    expect(payload).not.toHaveProperty('cache_control');
    expect(payload.messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } }] },
    ]);
  });
  it('fetches nothing, and knows no tiers', () => {
    const messages = [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://a/b.png' } }] }];
    expect(() => encode({ messages }, model, vertex)).toThrow(/expected a data URL/);
    expect(encode({ messages: [ask], service_tier: 'auto' }, model, vertex).dropped).toEqual(['service_tier']);
  });
  it('is asked for output of a schema by a tool, since organizations have to allow the other way', () => {
    expect(encode(asked(), model, vertex).structuredOutput).toBe('tool');
    expect(encode(asked(), model, { ...vertex, structuredOutput: 'native' }).structuredOutput).toBe('native');
  });
});
