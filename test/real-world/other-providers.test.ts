import { describe, expect, it } from 'vitest';
import { hello } from '../support/gateway.ts';
import { completion } from '../support/upstream.ts';
import {
  anthropicStream,
  asked,
  call,
  candidate,
  converse,
  converseHeaders,
  converseStream,
  googleStream,
  message,
  messageEnd,
  messageStart,
  sentFor,
  served,
  streamed,
  tool,
} from './upstreams.ts';

const tools = { tools: [tool('read'), tool('list')] };
const claude = 'claude-sonnet-4-6';
const block = (index: number, content_block: Record<string, unknown>) => ({
  type: 'content_block_start',
  index,
  content_block,
});
const delta = (index: number, fields: Record<string, unknown>) => ({
  type: 'content_block_delta',
  index,
  delta: fields,
});
const stop = (index: number) => ({ type: 'content_block_stop', index });
const twoCalls = [
  ...hello,
  { role: 'assistant', content: null, tool_calls: [call('call_1'), call('call_2', '{"path":"b"}')] },
  { role: 'tool', tool_call_id: 'call_1', content: 'A' },
  { role: 'tool', tool_call_id: 'call_2', content: 'B' },
];

describe('Anthropic', () => {
  it('streams parallel calls: each has its own index', async () => {
    const events = [
      messageStart(),
      block(0, { type: 'tool_use', id: 'toolu_1', name: 'read', input: {} }),
      delta(0, { type: 'input_json_delta', partial_json: '{"path":"a"}' }),
      stop(0),
      block(1, { type: 'tool_use', id: 'toolu_2', name: 'list', input: {} }),
      delta(1, { type: 'input_json_delta', partial_json: '{"path":"b"}' }),
      stop(1),
      ...messageEnd('tool_use'),
    ];
    const { calls, deltas } = await streamed(served('anthropic-messages', claude), anthropicStream(...events), tools);
    expect(calls).toEqual([
      { id: 'toolu_1', name: 'read', arguments: '{"path":"a"}' },
      { id: 'toolu_2', name: 'list', arguments: '{"path":"b"}' },
    ]);
    expect(deltas.at(-1)?.finish_reason).toBe('tool_calls');
  });
  it('streams a call without arguments: they are an empty object', async () => {
    const events = [
      messageStart(),
      block(0, { type: 'tool_use', id: 'toolu_1', name: 'list', input: {} }),
      delta(0, { type: 'input_json_delta', partial_json: '' }),
      stop(0),
      ...messageEnd('tool_use'),
    ];
    const { calls } = await streamed(served('anthropic-messages', claude), anthropicStream(...events), tools);
    expect(calls).toEqual([{ id: 'toolu_1', name: 'list', arguments: '{}' }]);
  });
  it('reports its prompt at the end alone, as some that speak its format', async () => {
    const events = [
      messageStart({ input_tokens: 0, output_tokens: 0 }),
      block(0, { type: 'text', text: '' }),
      delta(0, { type: 'text_delta', text: 'OK' }),
      stop(0),
      ...messageEnd('end_turn', { input_tokens: 14, output_tokens: 2, cache_read_input_tokens: 6 }),
    ];
    const { chunks } = await streamed(served('anthropic-messages', 'glm-5'), anthropicStream(...events));
    expect(chunks.at(-1)?.usage).toMatchObject({ prompt_tokens: 20, completion_tokens: 2 });
  });
  it('reports its prompt at the start and again at the end: it counts once', async () => {
    const events = [
      messageStart({ input_tokens: 14, output_tokens: 1, cache_read_input_tokens: 6 }),
      block(0, { type: 'text', text: '' }),
      delta(0, { type: 'text_delta', text: 'OK' }),
      stop(0),
      ...messageEnd('end_turn', { input_tokens: 14, output_tokens: 2, cache_read_input_tokens: 6 }),
    ];
    const { chunks } = await streamed(served('anthropic-messages', claude), anthropicStream(...events));
    expect(chunks.at(-1)?.usage).toMatchObject({ prompt_tokens: 20, completion_tokens: 2 });
  });
  it('ends each stream with a finish_reason before [DONE]', async () => {
    const events = [
      messageStart(),
      block(0, { type: 'text', text: '' }),
      delta(0, { type: 'text_delta', text: 'OK' }),
      stop(0),
      ...messageEnd('end_turn'),
    ];
    const { deltas, text } = await streamed(served('anthropic-messages', claude), anthropicStream(...events));
    expect(deltas.at(-1)?.finish_reason).toBe('stop');
    expect(text.trimEnd().endsWith('data: [DONE]')).toBe(true);
  });
  it('gets marks of what to cache where the caller put them', async () => {
    const system = { role: 'system', content: [{ type: 'text', text: 'Long', cache_control: { type: 'ephemeral' } }] };
    const body = await sentFor(served('anthropic-messages', claude), { messages: [system, ...hello] }, message());
    expect(body.system).toEqual([{ type: 'text', text: 'Long', cache_control: { type: 'ephemeral' } }]);
  });
  it('gets no mark on an empty text', async () => {
    const empty = {
      role: 'user',
      content: [
        { type: 'text', text: 'Hello' },
        { type: 'text', text: '', cache_control: { type: 'ephemeral' } },
      ],
    };
    const body = await sentFor(served('anthropic-messages', claude), { messages: [empty] }, message());
    expect(JSON.stringify(body.messages)).not.toContain('"text":""');
  });
  it('gets a budget of thoughts that is less than the largest output', async () => {
    const body = await sentFor(
      served('anthropic-messages', 'claude-sonnet-4-5'),
      { max_tokens: 4096, reasoning_effort: 'xhigh' },
      message(),
    );
    expect((body.thinking as { budget_tokens: number }).budget_tokens).toBeLessThan(body.max_tokens as number);
  });
  it('gets no sampling for Opus 4.7 and 4.8', async () => {
    for (const model of ['claude-opus-4-7', 'claude-opus-4-8', 'claude-fable-5']) {
      const body = await sentFor(served('anthropic-messages', model), { temperature: 0.2, top_p: 0.9 }, message());
      expect([model, body.temperature, body.top_p]).toEqual([model, undefined, undefined]);
    }
  });
  it('gets temperature or top_p for Opus 4.1 and 4.6, not both', async () => {
    for (const model of ['claude-opus-4-1', 'claude-opus-4-6']) {
      const body = await sentFor(served('anthropic-messages', model), { temperature: 0.2, top_p: 0.9 }, message());
      expect([model, body.temperature, body.top_p]).toEqual([model, 0.2, undefined]);
    }
  });
  it('is not asked by Claude 4.6 to continue an assistant: the caller learns why', async () => {
    const gateway = served('anthropic-messages', claude);
    const { status, json } = await asked(gateway, {
      messages: [...hello, { role: 'assistant', content: 'Once upon' }],
    });
    expect([status, gateway.upstream.sent.length]).toEqual([400, 0]);
    expect(json.error.message).toMatch(/messages\[1\]/);
  });
  it('gets a schema of type object for a tool without parameters', async () => {
    const bare = { type: 'function', function: { name: 'list' } };
    const body = await sentFor(served('anthropic-messages', claude), { tools: [bare] }, message());
    expect((body.tools as { input_schema: object }[])[0]?.input_schema).toMatchObject({ type: 'object' });
  });
});

describe('Google', () => {
  it('gets a signature for calls that another model made', async () => {
    const body = await sentFor(
      served('google-generate-content', 'gemini-3.1-pro-preview'),
      { messages: twoCalls, ...tools },
      candidate([{ text: 'Hi' }]),
    );
    const parts = (body.contents as { parts: Record<string, unknown>[] }[]).flatMap((one) => one.parts);
    const calls = parts.filter((part) => 'functionCall' in part);
    expect(calls).toHaveLength(2);
    expect(calls[0]).toHaveProperty('thoughtSignature');
  });
  it('gets its own signature back with the call', async () => {
    const gateway = served('google-generate-content', 'gemini-3.1-pro-preview');
    gateway.upstream.answer({
      body: candidate([{ functionCall: { name: 'read', args: { path: 'a' } }, thoughtSignature: 'c2ln' }]),
    });
    const said = (await asked(gateway, tools)).json.choices[0]?.message as unknown as { tool_calls: { id: string }[] };
    gateway.upstream.answer({ body: candidate([{ text: 'Hi' }]) });
    await asked(gateway, {
      ...tools,
      messages: [...hello, said, { role: 'tool', tool_call_id: said.tool_calls[0]?.id, content: 'A' }],
    });
    expect(gateway.upstream.sent[1]?.text).toContain('"thoughtSignature":"c2ln"');
  });
  it('says that its call is malformed: an error, not an empty answer', async () => {
    const gateway = served('google-generate-content', 'gemini-3-pro-preview');
    gateway.upstream.always({ body: candidate([], 'MALFORMED_FUNCTION_CALL') });
    const { status, json } = await asked(gateway, tools);
    expect(status === 502 || json.choices[0]?.finish_reason === 'error').toBe(true);
  });
  it('calls in the first event and stops in the last: tool_calls', async () => {
    const events = [
      candidate([{ functionCall: { name: 'read', args: { path: 'a' } } }], null),
      candidate([{ text: '' }], 'STOP'),
    ];
    const { calls, deltas } = await streamed(
      served('google-generate-content', 'gemini-2.5-flash'),
      googleStream(...events),
      tools,
    );
    expect([calls.length, deltas.at(-1)?.finish_reason]).toEqual([1, 'tool_calls']);
  });
  it('calls without args: an empty object', async () => {
    const events = [candidate([{ functionCall: { name: 'list' } }])];
    const { calls } = await streamed(
      served('google-generate-content', 'gemini-2.5-flash'),
      googleStream(...events),
      tools,
    );
    expect(calls[0]?.arguments).toBe('{}');
  });
  it('takes a tool without parameters', async () => {
    for (const parameters of [undefined, { type: 'object', properties: {} }]) {
      const bare = {
        type: 'function',
        function: { name: 'list', ...(parameters === undefined ? {} : { parameters }) },
      };
      const body = await sentFor(
        served('google-generate-content', 'gemini-3-pro-preview'),
        { tools: [bare] },
        candidate([{ text: 'Hi' }]),
      );
      const [
        {
          functionDeclarations: [declared],
        },
      ] = body.tools as [{ functionDeclarations: [{ parameters?: object; parametersJsonSchema?: object }] }];
      // In the older form, an object without properties is refused.
      expect(declared.parameters).toBeUndefined();
      if (declared.parametersJsonSchema) expect(declared.parametersJsonSchema).toHaveProperty('type', 'object');
    }
  });
  it('gets a type with a schema that names none', async () => {
    const bare = { name: 'list', parameters: { $schema: 'http://json-schema.org/draft-07/schema#' } };
    const gateway = served('google-generate-content', 'gemini-3-pro-preview');
    const body = await sentFor(gateway, { tools: [{ type: 'function', function: bare }] }, candidate([{ text: 'Hi' }]));
    expect(JSON.stringify(body.tools)).toContain('"type":"object"');
  });
  it('keeps what is inside of an object that may be null', async () => {
    const nullable = { type: ['object', 'null'], properties: { prop_a: { type: 'string' } }, required: ['prop_a'] };
    const typed = {
      type: 'function',
      function: { name: 'list', parameters: { type: 'object', properties: { some: nullable } } },
    };
    const body = await sentFor(
      served('google-generate-content', 'gemini-2.5-flash'),
      { tools: [typed] },
      candidate([{ text: 'Hi' }]),
    );
    expect(JSON.stringify(body.tools)).toContain('prop_a');
  });
  it('refuses an error in a list, as its chat endpoint does: the words arrive', async () => {
    const gateway = served('openai-chat', 'gemini-3.6-flash');
    gateway.upstream.always({
      status: 400,
      body: JSON.stringify([
        { error: { code: 400, message: 'Function call is missing a thought_signature', status: 'INVALID_ARGUMENT' } },
      ]),
    });
    expect((await asked(gateway)).json.error.message).toContain('thought_signature');
  });
});

describe('Bedrock', () => {
  it('gets the results of parallel calls in one turn', async () => {
    const body = await sentFor(
      served('bedrock-converse', 'us.anthropic.claude-sonnet-4-6'),
      { messages: twoCalls, ...tools },
      converse(),
    );
    const turns = body.messages as { role: string; content: Record<string, unknown>[] }[];
    expect(turns.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(turns[2]?.content.filter((one) => 'toolResult' in one)).toHaveLength(2);
  });
  it('begins a call: its arguments are a text from the first chunk on', async () => {
    const events = converseStream(
      ['messageStart', { role: 'assistant' }],
      ['contentBlockStart', { contentBlockIndex: 0, start: { toolUse: { toolUseId: 't1', name: 'read' } } }],
      ['contentBlockDelta', { contentBlockIndex: 0, delta: { toolUse: { input: '{"path":"a"}' } } }],
      ['contentBlockStop', { contentBlockIndex: 0 }],
      ['messageStop', { stopReason: 'tool_use' }],
      ['metadata', { usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 } }],
    );
    const { calls, deltas } = await streamed(
      served('bedrock-converse', 'us.anthropic.claude-sonnet-4-6'),
      events,
      tools,
      converseHeaders,
    );
    expect(calls).toEqual([{ id: 't1', name: 'read', arguments: '{"path":"a"}' }]);
    expect(JSON.stringify(deltas)).not.toContain('"arguments":null');
  });
  it('streams a call without arguments: one empty object', async () => {
    const events = converseStream(
      ['messageStart', { role: 'assistant' }],
      ['contentBlockStart', { contentBlockIndex: 0, start: { toolUse: { toolUseId: 't1', name: 'list' } } }],
      ['contentBlockStop', { contentBlockIndex: 0 }],
      ['messageStop', { stopReason: 'tool_use' }],
      ['metadata', { usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 } }],
    );
    const { calls } = await streamed(
      served('bedrock-converse', 'us.anthropic.claude-sonnet-4-6'),
      events,
      tools,
      converseHeaders,
    );
    expect(calls).toEqual([{ id: 't1', name: 'list', arguments: '{}' }]);
  });
  it('gets marks of what to cache in the system prompt', async () => {
    const system = { role: 'system', content: [{ type: 'text', text: 'Long', cache_control: { type: 'ephemeral' } }] };
    const body = await sentFor(
      served('bedrock-converse', 'eu.anthropic.claude-sonnet-4-6'),
      { messages: [system, ...hello] },
      converse(),
    );
    expect(JSON.stringify(body.system)).toContain('cachePoint');
  });
  it('gets no sampling for Opus 4.7', async () => {
    const body = await sentFor(
      served('bedrock-converse', 'us.anthropic.claude-opus-4-7'),
      { temperature: 0.2, top_p: 0.9 },
      converse(),
    );
    expect(JSON.stringify(body.inferenceConfig ?? {})).not.toMatch(/temperature|topP/);
  });
  it('says its error as message alone', async () => {
    const gateway = served('bedrock-converse', 'us.anthropic.claude-sonnet-4-6');
    gateway.upstream.always({ status: 400, body: { message: 'The prompt is too long for it' } });
    expect((await asked(gateway)).json.error.message).toContain('too long for it');
  });
});

describe('OpenAI and Azure', () => {
  it.each(['gpt-5', 'gpt-5.2-chat', 'gpt-5.5', 'gpt-5.6-sol', 'o3-mini'])(
    'get no temperature for %s',
    async (model) => {
      const body = await sentFor(served('openai-chat', model), { temperature: 0 });
      expect(body).not.toHaveProperty('temperature');
    },
  );
  it('get temperature for gpt-5.4, which takes it', async () => {
    expect(await sentFor(served('openai-chat', 'gpt-5.4'), { temperature: 0.3 })).toMatchObject({ temperature: 0.3 });
  });
  it('get properties with the schema of a tool that has none', async () => {
    const bare = { type: 'function', function: { name: 'list', parameters: { type: 'object' } } };
    const body = await sentFor(served('openai-chat', 'gpt-5'), { tools: [bare] });
    expect(JSON.stringify(body.tools)).toContain('"properties":{}');
  });
});

describe('others that speak chat completions', () => {
  it('DeepSeek gets earlier thoughts back in its own field, with calls', async () => {
    const messages = [
      ...hello,
      { role: 'assistant', content: null, reasoning: 'I must read it.', tool_calls: [call('call_1')] },
      { role: 'tool', tool_call_id: 'call_1', content: 'A' },
    ];
    const gateway = served('openai-chat', 'deepseek-v4-pro', { provider: 'deepseek' });
    const body = await sentFor(gateway, { messages, ...tools });
    expect((body.messages as object[])[1]).toMatchObject({ reasoning_content: 'I must read it.' });
  });
  it('DeepSeek gets the field content with every message', async () => {
    const messages = [
      ...hello,
      { role: 'assistant', tool_calls: [call('call_1')] },
      { role: 'tool', tool_call_id: 'call_1', content: 'A' },
    ];
    const body = await sentFor(served('openai-chat', 'deepseek-v4-pro', { provider: 'deepseek' }), {
      messages,
      ...tools,
    });
    for (const one of body.messages as object[]) expect(one).toHaveProperty('content');
  });
  it('a server of Qwen gets one system message, at the beginning', async () => {
    const messages = [
      { role: 'system', content: 'A' },
      { role: 'system', content: 'B' },
      ...hello,
      { role: 'system', content: 'C' },
      ...hello,
    ];
    const body = await sentFor(served('openai-chat', 'Qwen/Qwen3.6-27B'), { messages });
    const roles = (body.messages as { role: string }[]).map(({ role }) => role);
    expect(roles.lastIndexOf('system')).toBe(0);
  });
  it('Mistral gets ids of nine letters and digits', async () => {
    const messages = [
      ...hello,
      { role: 'assistant', content: null, tool_calls: [call('toolu_01VpEm654HvfMoRcrE3Hgdc6')] },
      { role: 'tool', tool_call_id: 'toolu_01VpEm654HvfMoRcrE3Hgdc6', content: 'A' },
    ];
    const gateway = served('openai-chat', 'mistral-large-latest', { provider: 'mistral' });
    const [, assistant, result] = (await sentFor(gateway, { messages, ...tools })).messages as [
      object,
      { tool_calls: { id: string }[] },
      { tool_call_id: string },
    ];
    expect(assistant.tool_calls[0]?.id).toMatch(/^[A-Za-z0-9]{9}$/);
    expect(result.tool_call_id).toBe(assistant.tool_calls[0]?.id);
  });
  it('xAI gets an effort for Grok 4.5, and none for Grok 4', async () => {
    const effort = { reasoning_effort: 'low' };
    expect(await sentFor(served('openai-chat', 'grok-4.5', { provider: 'xai' }), effort)).toMatchObject(effort);
    expect(await sentFor(served('openai-chat', 'grok-4', { provider: 'xai' }), effort)).not.toHaveProperty(
      'reasoning_effort',
    );
  });
  it('every server is asked for the usage of its stream', async () => {
    const gateway = served('openai-chat');
    gateway.upstream.answer({ body: completion() });
    await asked(gateway, { stream: true });
    expect(gateway.upstream.sent[0]?.body).toMatchObject({ stream_options: { include_usage: true } });
  });
});
