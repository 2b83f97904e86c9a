import { describe, expect, it } from 'vitest';
import { testGateway, testKey } from '../support/gateway.ts';
import { completion, errorBody } from '../support/upstream.ts';

// biome-ignore lint/suspicious/noExplicitAny: of any response, for a test to look into
type Json = any;

const key = { authorization: `Bearer ${testKey}` };
const body = { model: 'acme/fast', max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }] };

function messagesGateway(options: Parameters<typeof testGateway>[0] = {}) {
  const made = testGateway(options);
  const post = (more: object = {}, headers: Record<string, string> = {}, path = '/messages') =>
    made.call('POST', path, { ...body, ...more }, { ...key, ...headers });
  return { ...made, post };
}

/** What was sent to the upstream for a request. */
async function sentFor(more: object, headers: Record<string, string> = {}): Promise<Json> {
  const { post, upstream } = messagesGateway();
  upstream.answer({ body: completion() });
  const { status, text } = await post(more, headers);
  expect(status, text).toBe(200);
  return upstream.sent[0]?.body;
}

/** The stream of a request, over chunks of a chat upstream. */
async function streamed(chunks: readonly object[], more: object = {}, isCut = false) {
  const { gateway, upstream, run, records } = testGateway();
  const frames = chunks.map((chunk) => `data: ${JSON.stringify({ object: 'chat.completion.chunk', ...chunk })}\n\n`);
  upstream.answer({ body: [...frames, ...(isCut ? [] : ['data: [DONE]\n\n'])] });
  const response = await run(
    gateway.fetch(
      new Request('http://gateway.test/v1/messages?beta=true', {
        method: 'POST',
        headers: { 'x-api-key': testKey, 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify({ ...body, stream: true, ...more }),
      }),
    ),
  );
  const text = await run(response.text());
  const parts = text.split('\n\n').slice(0, -1);
  const events = parts.map((frame) => {
    const [, name, data] = /^event: (\w+)\ndata: (.+)$/.exec(frame) ?? [];
    const event: Json = JSON.parse(data as string);
    expect(event.type).toBe(name);
    return event;
  });
  return { response, text, records, events };
}
const delta = (fields: object, finish: string | null = null) => ({
  choices: [{ index: 0, delta: fields, finish_reason: finish }],
});
const usage = {
  choices: [],
  usage: { prompt_tokens: 50, completion_tokens: 7, total_tokens: 57, prompt_tokens_details: { cached_tokens: 20 } },
};
const call = (index: number, args: string, id?: string) => ({
  tool_calls: [
    { index, ...(id ? { id, type: 'function' } : {}), function: { ...(id ? { name: id } : {}), arguments: args } },
  ],
});

describe('POST /messages over a chat upstream', () => {
  it('answers with a message', async () => {
    const { post, upstream, records } = messagesGateway();
    upstream.answer({ body: completion() });
    const { status, json, headers } = await post();
    expect([status, json]).toMatchObject([
      200,
      { type: 'message', role: 'assistant', model: 'acme/fast', stop_reason: 'end_turn', stop_sequence: null },
    ]);
    expect(json.content).toEqual([{ type: 'text', text: expect.any(String), citations: null }]);
    expect(headers.get('request-id')).toBe(json.id);
    expect(records[0]).toMatchObject({ operation: 'createMessage', outcome: 'ok' });
  });
  it('sends a conversation as chat has it: results right behind their calls, pictures behind the results', async () => {
    const sent = await sentFor({
      system: [
        { type: 'text', text: 'x-anthropic-billing-header: cc_version=1' },
        { type: 'text', text: 'Be brief', cache_control: { type: 'ephemeral' } },
      ],
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'Look' }] },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hm', signature: 'c2lnbmVk' },
            { type: 'text', text: 'I look' },
            { type: 'tool_use', id: 'toolu_1', name: 'read', input: { path: 'a' } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Here' },
            {
              type: 'tool_result',
              tool_use_id: 'toolu_1',
              is_error: true,
              content: [{ type: 'text', text: 'no file' }],
            },
          ],
        },
        { role: 'system', content: 'Mind the time' },
      ],
      tools: [{ name: 'read', description: 'Reads', input_schema: { type: 'object', properties: {} } }],
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
      stop_sequences: ['END'],
    });
    expect(sent).toMatchObject({
      tool_choice: 'required',
      parallel_tool_calls: false,
      stop: ['END'],
      tools: [{ type: 'function', function: { name: 'read', description: 'Reads' } }],
    });
    expect(JSON.stringify(sent)).not.toContain('billing');
    const roles = sent.messages.map(({ role }: Json) => role);
    expect(roles.slice(0, 4)).toEqual(['system', 'user', 'assistant', 'tool']);
    expect(sent.messages[2].tool_calls[0].function).toEqual({ name: 'read', arguments: '{"path":"a"}' });
    expect(sent.messages[3].content).toContain('no file');
    expect(JSON.stringify(sent.messages[4])).toContain('Here');
    expect(JSON.stringify(sent.messages)).toContain('Mind the time');
  });
  it.each<[string, object, object]>([
    [
      'adaptive, with an effort',
      { thinking: { type: 'adaptive' }, output_config: { effort: 'low' } },
      { reasoning_effort: 'low' },
    ],
    [
      'a form',
      { output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } },
      { response_format: { type: 'json_schema' } },
    ],
    ['no tools', { tools: [], tool_choice: { type: 'auto' } }, { model: 'up-fast' }],
    [
      'a long id of a user',
      { metadata: { user_id: 'x'.repeat(300) } },
      { user: expect.stringMatching(/^[0-9a-f]{64}$/) },
    ],
  ])('takes %s', async (_, more, expected) => {
    const sent = await sentFor(more);
    expect(sent).toMatchObject(expected);
    expect([sent.tools, sent.tool_choice, sent.thinking, sent.output_config]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });
  it('names what it leaves out, and never refuses it', async () => {
    const { post, upstream } = messagesGateway();
    upstream.answer({ body: completion() });
    const { status, headers } = await post({
      context_management: { edits: [] },
      tools: [
        { type: 'code_execution_20250825', name: 'code_execution' },
        { name: 'placeholder', input_schema: { type: 'object' }, defer_loading: true },
      ],
      brand_new_field: { deep: 1 },
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Hi' },
            { type: 'brand_new_block', x: 1 },
          ],
        },
      ],
    });
    expect(status).toBe(200);
    const dropped = headers.get('x-service-dropped');
    for (const name of [
      'context_management',
      'tools[].code_execution_20250825',
      'brand_new_field',
      'messages[].content[].brand_new_block',
    ])
      expect(dropped).toContain(name);
    expect(JSON.stringify(upstream.sent[0]?.body)).not.toMatch(
      /brand_new|placeholder|code_execution|context_management/,
    );
  });
  it('sends as many texts that end a response as chat upstreams take', async () => {
    const { post, upstream } = messagesGateway();
    upstream.always({ body: completion() });
    const five = ['a', 'b', 'c', 'd', 'e'];
    const dropped = async (stop_sequences: readonly string[]) =>
      (await post({ stop_sequences })).headers.get('x-service-dropped');
    expect([await dropped(five), await dropped(five.slice(1))]).toEqual(['stop_sequences', null]);
    expect(upstream.sent.map((one) => one.body.stop)).toEqual([five.slice(0, 4), five.slice(1)]);
  });
  it('gives thoughts a signature, and takes them back to the provider that made them', async () => {
    const { post, upstream } = messagesGateway();
    const thought = completion();
    Object.assign((thought as Json).choices[0].message, { reasoning_content: 'Let me see' });
    upstream.answer({ body: thought });
    const { json } = await post();
    expect(json.content[0]).toMatchObject({
      type: 'thinking',
      thinking: 'Let me see',
      signature: expect.stringMatching(/.+/),
    });
    upstream.answer({ body: completion() });
    await post({
      messages: [...body.messages, { role: 'assistant', content: json.content }, { role: 'user', content: 'Go on' }],
    });
    expect(JSON.stringify((upstream.sent[1] as Json).body.messages[1])).toContain('Let me see');
  });
  it('keeps the text of thoughts in the signature where the client wants none', async () => {
    const { post, upstream } = messagesGateway();
    const thought = completion();
    Object.assign((thought as Json).choices[0].message, { reasoning_content: 'Let me see' });
    upstream.answer({ body: thought });
    const { json } = await post({ thinking: { type: 'adaptive', display: 'omitted' } });
    expect(json.content[0]).toMatchObject({ type: 'thinking', thinking: '' });
    upstream.answer({ body: completion() });
    await post({
      messages: [...body.messages, { role: 'assistant', content: json.content }, { role: 'user', content: 'Go on' }],
    });
    expect(JSON.stringify((upstream.sent[1] as Json).body.messages[1])).toContain('Let me see');
  });
  it('refuses a thread before anything is billed, in the words after which clients send everything', async () => {
    const { post, upstream, records } = messagesGateway();
    const { status, json } = await post({ thread: { type: 'create' } });
    expect([status, json]).toMatchObject([
      400,
      {
        type: 'error',
        error: {
          type: 'invalid_request_error',
          details: { error_code: 'thread_unsupported_request', unsupported: [] },
        },
      },
    ]);
    expect(upstream.sent).toEqual([]);
    expect(records[0]?.usage?.cost ?? 0).toBe(0);
  });
  it.each<[number, string, string]>([
    [400, 'Input should be a valid string', 'invalid_request_error'],
    [429, 'Slow down', 'rate_limit_error'],
    [529, 'Overloaded', 'overloaded_error'],
    [500, 'Oops', 'api_error'],
  ])('a %s of the provider keeps its words', async (status, message, type) => {
    const { post, upstream } = messagesGateway({ retry: { maxAttempts: 1 } });
    upstream.answer({ status, body: errorBody(message) });
    const { json } = await post();
    expect(json).toMatchObject({
      type: 'error',
      error: { type, message: expect.stringContaining(message) },
      request_id: expect.stringMatching(/^gen-/),
    });
  });
  it('says in the words of the wire that a conversation is too long', async () => {
    const { post, upstream } = messagesGateway();
    upstream.answer({
      status: 400,
      body: {
        error: { message: "This model's maximum context length is 100 tokens", code: 'context_length_exceeded' },
      },
    });
    const { status, json } = await post();
    expect([status, json.error.message]).toEqual([
      400,
      expect.stringMatching(/prompt is too long.*maximum context length/),
    ]);
  });
  it.each<[string, object, string]>([
    ['no messages', { messages: [] }, 'messages'],
    ['a role that nobody has', { messages: [{ role: 'tool', content: 'x' }] }, 'messages[0].role'],
    [
      'a text block without text',
      { messages: [{ role: 'user', content: [{ type: 'text' }] }] },
      'messages[0].content[0].text',
    ],
    [
      'a call without input',
      { messages: [{ role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'b' }] }] },
      'messages[0].content[0].input',
    ],
    [
      'a picture without a source',
      { messages: [{ role: 'user', content: [{ type: 'image' }] }] },
      'messages[0].content[0].source',
    ],
    ['a tool without a name', { tools: [{ input_schema: {} }] }, 'tools[0].name'],
  ])('refuses %s, and says where', async (_, more, path) => {
    const { post, upstream } = messagesGateway();
    const { status, json } = await post(more);
    expect([status, json.error.type]).toEqual([400, 'invalid_request_error']);
    expect(json.error.message).toContain(path);
    expect(upstream.sent).toEqual([]);
  });
  it('takes the session of a client as the key of sticky routing', async () => {
    const { post, upstream, records } = messagesGateway();
    upstream.always({ body: completion() });
    await post({}, { 'x-claude-code-session-id': 'session-7' });
    await post({ session_id: 'own' }, { 'x-claude-code-session-id': 'session-7' });
    expect(records.map(({ sessionId }: Json) => sessionId)).toEqual(['session-7', 'own']);
  });
  it('sends no header of the wire to an upstream of another', async () => {
    const { post, upstream } = messagesGateway();
    upstream.answer({ body: completion() });
    await post({}, { 'anthropic-beta': 'a-1,b-2', 'anthropic-version': '2026-10-21', 'x-api-key': 'other' });
    expect(JSON.stringify(upstream.sent[0]?.headers)).not.toMatch(/anthropic|x-api-key/);
  });
});

describe('a stream of POST /messages', () => {
  it('has each block once, with indexes that rise by one, and the true usage at its end', async () => {
    const { events, response, text } = await streamed([
      delta({ role: 'assistant', content: '' }),
      delta({ reasoning_content: 'Hm' }),
      delta({ content: 'Yes', tool_calls: [] }),
      delta(call(0, '{"a"', 'one')),
      delta(call(1, '{}', 'two')),
      delta(call(0, ':1}')),
      delta({}, 'stop'),
      usage,
    ]);
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(text).not.toContain('[DONE]');
    expect(events.map(({ type, index }) => (index === undefined ? type : `${type} ${index}`))).toEqual([
      'message_start',
      'content_block_start 0',
      'content_block_delta 0',
      'content_block_delta 0',
      'content_block_stop 0',
      'content_block_start 1',
      'content_block_delta 1',
      'content_block_stop 1',
      'content_block_start 2',
      'content_block_delta 2',
      'content_block_delta 2',
      'content_block_stop 2',
      'content_block_start 3',
      'content_block_delta 3',
      'content_block_stop 3',
      'message_delta',
      'message_stop',
    ]);
    expect(events[0].message).toMatchObject({ content: [], stop_reason: null, usage: { output_tokens: 0 } });
    expect(events[0].message.usage.input_tokens).toBeGreaterThan(0);
    expect(events.at(-2)).toMatchObject({
      delta: { stop_reason: 'tool_use' },
      usage: { input_tokens: 30, cache_read_input_tokens: 20, output_tokens: 7 },
    });
  });
  it('that was cut ends with an error, and closes nothing that was open', async () => {
    const { events, records } = await streamed([delta({ content: 'Half' }), delta(call(0, '{"a":', 'one'))], {}, true);
    expect(events.map(({ type }) => type)).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'content_block_start',
      'content_block_delta',
      'error',
    ]);
    expect(events.at(-1)).toMatchObject({
      error: { type: 'api_error', message: expect.any(String) },
      request_id: expect.any(String),
    });
    expect(records[0]).toMatchObject({ outcome: 'cut' });
  });
  it.each([
    ['length', 'max_tokens'],
    ['content_filter', 'refusal'],
    ['stop', 'end_turn'],
  ])('that ends by %s says %s', async (finish, expected) => {
    const { events } = await streamed([delta({ content: 'A' }), delta({}, finish), usage]);
    expect(events.at(-2).delta.stop_reason).toBe(expected);
  });
});

describe('POST /messages/count_tokens', () => {
  it('estimates, without a largest output, a call, or money', async () => {
    const { call, upstream } = testGateway();
    const { status, json, headers } = await call(
      'POST',
      '/messages/count_tokens?beta=true',
      { model: 'acme/fast', messages: body.messages, tools: [] },
      key,
    );
    expect([status, json]).toEqual([200, { input_tokens: expect.any(Number) }]);
    expect(json.input_tokens).toBeGreaterThan(3);
    expect(headers.get('x-service-token-count')).toBe('estimated');
    expect(upstream.sent).toEqual([]);
  });
});

describe('POST /messages/explain', () => {
  it('tells the plan, and calls nobody', async () => {
    const { post, upstream } = messagesGateway();
    const { status, json } = await post({}, {}, '/messages/explain');
    expect([status, upstream.sent]).toEqual([200, []]);
    expect(JSON.stringify(json.data)).toContain('acme/fast');
  });
});

describe('the models, as a client of the wire lists them', () => {
  const models = [
    {
      slug: 'acme/fast',
      contextLength: 1000,
      aliases: ['claude-acme-fast'],
      endpoints: [{ provider: 'up', model: 'a', maxCompletionTokens: 100 }],
    },
    { slug: 'acme/other', endpoints: [{ provider: 'alt', model: 'b' }] },
  ];
  const wire = { ...key, 'anthropic-version': '2023-06-01' };
  const list = (query: string, headers: Record<string, string> = wire) =>
    testGateway({ models }).call('GET', `/models${query}`, undefined, headers);

  it('have sizes, and aliases beside their slugs', async () => {
    const { status, json } = await list('?limit=1000');
    expect([status, json]).toMatchObject([200, { has_more: false, first_id: 'acme/fast', last_id: 'acme/other' }]);
    expect(json.data.map(({ id }: Json) => id)).toEqual(['acme/fast', 'claude-acme-fast', 'acme/other']);
    expect(json.data[1]).toMatchObject({
      type: 'model',
      max_input_tokens: 1000,
      max_tokens: 100,
      created_at: '1970-01-01T00:00:00Z',
    });
  });
  it.each([
    ['?limit=2', ['acme/fast', 'claude-acme-fast'], true],
    ['?limit=2&after_id=claude-acme-fast', ['acme/other'], false],
    ['?limit=1&before_id=acme/other', ['claude-acme-fast'], true],
    ['?before_id=acme/fast', [], false],
  ])('come in pages: %s', async (query, ids, hasMore) => {
    const { json } = await list(query);
    expect([json.data.map(({ id }: Json) => id), json.has_more]).toEqual([ids, hasMore]);
  });
  it('are those of the other wires for their clients', async () => {
    expect((await list('', key)).json.object).toBe('list');
  });
  it('can be found by an alias, and asked by it', async () => {
    const { call, upstream } = testGateway({ models });
    const { json } = await call('GET', '/models/claude-acme-fast', undefined, wire);
    expect(json).toMatchObject({ type: 'model', id: 'claude-acme-fast' });
    upstream.answer({ body: completion() });
    expect((await call('POST', '/messages', { ...body, model: 'claude-acme-fast' }, key)).status).toBe(200);
    const missing = await call('GET', '/models/claude-none', undefined, wire);
    expect([missing.status, missing.json.error.type]).toEqual([404, 'not_found_error']);
  });
});
