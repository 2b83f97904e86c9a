import { describe, expect, it } from 'vitest';
import { askResponses, nativeStream, nativeUp, streamResponses } from '../support/ask-responses.ts';
import { hello, joined, testGateway } from '../support/gateway.ts';
import { chunk, completion, sse, usageChunk } from '../support/upstream.ts';
import {
  asked,
  call,
  candidate,
  chatStream,
  converse,
  fragment,
  googleStream,
  message,
  sentFor,
  served,
  streamed,
  tool,
} from './upstreams.ts';

const tools = { tools: [tool('read'), tool('list')] };
const longId = 'call_0123456789012345678901234567890123456789012345';
const called = (id: string, args?: string) => ({ role: 'assistant', content: null, tool_calls: [call(id, args)] });
const result = (id: string, content: unknown = 'A') => ({ role: 'tool', tool_call_id: id, content });
const gemini = () => served('google-generate-content', 'gemini-2.5-flash');
const claudeAtBedrock = () => served('bedrock-converse', 'us.anthropic.claude-sonnet-4-6');
const text = candidate([{ text: 'Hi' }]);
const pdf = (name: string, type = 'application/pdf') => ({
  type: 'file',
  file: { filename: name, file_data: `data:${type};base64,JVBERi0xLjQK` },
});
const xlsx = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
const png = 'data:image/png;base64,iVBORw0KGgo=';

describe('a stream of a chat server', () => {
  it('that has id and name in every fragment says them once', async () => {
    const whole = { id: 'call_1', type: 'function', function: { name: 'read', arguments: '{"path":' } };
    const events = [
      fragment(whole),
      fragment({ ...whole, function: { name: 'read', arguments: '"a"}' } }),
      chunk({}, 'tool_calls'),
    ];
    const { calls } = await streamed(served('openai-chat'), chatStream(...events), tools);
    expect(calls).toEqual([{ id: 'call_1', name: 'read', arguments: '{"path":"a"}' }]);
  });
  it('that says finish_reason several times, with text behind it, says it once, in the last chunk', async () => {
    const { deltas } = await streamed(
      served('openai-chat'),
      chatStream(chunk({ content: 'a' }, 'stop'), chunk({ content: 'b' }, 'stop'), chunk({}, 'stop')),
    );
    expect(deltas.filter(({ finish_reason: reason }) => reason !== null)).toHaveLength(1);
    expect(deltas.at(-1)?.finish_reason).toBe('stop');
  });
  it('that was cut by the context says length', async () => {
    const { deltas } = await streamed(
      served('openai-chat'),
      chatStream(chunk({ content: 'a' }), chunk({}, 'model_context_window_exceeded')),
    );
    expect(deltas.at(-1)?.finish_reason).toBe('length');
  });
  it('whose usage has cache_read_input_tokens counts them as cached', async () => {
    const usage = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12, cache_read_input_tokens: 8 };
    const { chunks } = await streamed(
      served('openai-chat'),
      chatStream(chunk({ content: 'a' }), chunk({}, 'stop'), usageChunk(usage)),
    );
    expect(chunks.at(-1)?.usage).toMatchObject({ prompt_tokens_details: { cached_tokens: 8 } });
  });
  it('whose usage has cache writes of GPT-5.6 counts them', async () => {
    const usage = {
      prompt_tokens: 10,
      completion_tokens: 2,
      total_tokens: 12,
      prompt_tokens_details: { cached_tokens: 2, cache_write_tokens: 4 },
    };
    const { chunks } = await streamed(
      served('openai-chat', 'gpt-5.6'),
      chatStream(chunk({ content: 'a' }), chunk({}, 'stop'), usageChunk(usage)),
    );
    expect(chunks.at(-1)?.usage).toMatchObject({ prompt_tokens_details: { cached_tokens: 2, cache_write_tokens: 4 } });
  });
});

describe('a stream of a provider that speaks Responses', () => {
  const item = (id: string) => ({
    type: 'function_call',
    id: `fc_${id}`,
    call_id: id,
    name: 'read',
    arguments: '',
    status: 'in_progress',
  });
  it('has calls in turns: each has an index of its own in chat', async () => {
    const test = testGateway(nativeUp);
    const arg = (index: number, id: string, delta: string) => ({
      type: 'response.function_call_arguments.delta',
      output_index: index,
      item_id: `fc_${id}`,
      delta,
    });
    const end = (index: number, id: string, args: string) => ({
      type: 'response.output_item.done',
      output_index: index,
      item: { ...item(id), arguments: args, status: 'completed' },
    });
    const events = [
      { type: 'response.output_item.added', output_index: 0, item: item('a') },
      { type: 'response.output_item.added', output_index: 1, item: item('b') },
      arg(0, 'a', '{"path":'),
      arg(1, 'b', '{"path":'),
      arg(0, 'a', '"a"}'),
      arg(1, 'b', '"b"}'),
      end(0, 'a', '{"path":"a"}'),
      end(1, 'b', '{"path":"b"}'),
    ];
    test.upstream.answer({
      body: nativeStream(events, [
        { ...item('a'), arguments: '{"path":"a"}' },
        { ...item('b'), arguments: '{"path":"b"}' },
      ]),
    });
    const { chunks } = await test.post({ model: 'acme/fast', messages: hello, stream: true, ...tools });
    expect(joined(chunks).calls).toEqual([
      { id: 'a', name: 'read', arguments: '{"path":"a"}' },
      { id: 'b', name: 'read', arguments: '{"path":"b"}' },
    ]);
  });
  it('fails: what the client gets is numbered', async () => {
    const test = testGateway();
    test.upstream.answer({ body: [sse(chunk({ content: 'Half' })), { breaks: true }] });
    const events = (await streamResponses(test)).text
      .split('\n')
      .filter((line) => line.startsWith('data: {'))
      .map((line) => JSON.parse(line.slice(6)));
    expect(events.at(-1)?.type).toBe('response.failed');
    expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, at) => at));
  });
  it('gets deltas within the item that they belong to', async () => {
    const test = testGateway();
    test.upstream.answer({
      body: chatStream(chunk({ reasoning: 'Hm.' }), chunk({ content: 'Hi' }), chunk({}, 'stop')),
    });
    const events = (await streamResponses(test)).text
      .split('\n')
      .filter((line) => line.startsWith('data: {'))
      .map((line) => JSON.parse(line.slice(6)));
    const open = new Set<string>();
    for (const { type, item: one, item_id: id } of events) {
      if (type === 'response.output_item.added') open.add(one.id);
      if (type === 'response.output_item.done') open.delete(one.id);
      if (id !== undefined) expect(open.has(id)).toBe(true);
    }
  });
});

describe('Google', () => {
  it('reports cached tokens and those of tools: parts of the prompt', async () => {
    const usageMetadata = {
      promptTokenCount: 10,
      cachedContentTokenCount: 4,
      toolUsePromptTokenCount: 6,
      candidatesTokenCount: 5,
      totalTokenCount: 21,
    };
    const { chunks } = await streamed(gemini(), googleStream({ ...text, usageMetadata }));
    expect(chunks.at(-1)?.usage).toMatchObject({
      prompt_tokens: 16,
      completion_tokens: 5,
      prompt_tokens_details: { cached_tokens: 4 },
    });
  });
  it('gets image/jpeg for image/jpg', async () => {
    const image = {
      role: 'user',
      content: [{ type: 'image_url', image_url: { url: 'data:image/jpg;base64,/9j/4AAQ' } }],
    };
    expect(JSON.stringify(await sentFor(gemini(), { messages: [image] }, text))).toContain('image/jpeg');
  });
  it('gets no empty texts', async () => {
    const messages = [
      { role: 'system', content: '' },
      {
        role: 'user',
        content: [
          { type: 'text', text: '' },
          { type: 'text', text: 'Hi' },
        ],
      },
    ];
    expect(JSON.stringify(await sentFor(gemini(), { messages }, text))).not.toContain('"text":""');
  });
  it('gets another name for a tool whose name begins with a digit', async () => {
    const body = await sentFor(gemini(), { tools: [tool('3d_view')] }, text);
    expect(JSON.stringify(body.tools)).not.toContain('"name":"3d_view"');
  });
  it('gets schemas with $ref, const and lists of types as JSON Schema', async () => {
    const parameters = {
      type: 'object',
      properties: { a: { $ref: '#/$defs/x' }, b: { const: 'c' }, d: { type: ['string', 'null'] } },
      $defs: { x: { type: 'string' } },
    };
    const body = await sentFor(gemini(), { tools: [{ type: 'function', function: { name: 'f', parameters } }] }, text);
    expect(JSON.stringify(body.tools)).toContain('"parametersJsonSchema"');
  });
});

describe('Bedrock', () => {
  it('gets a user turn before a greeting', async () => {
    const body = await sentFor(
      claudeAtBedrock(),
      { messages: [{ role: 'assistant', content: 'Welcome!' }, ...hello] },
      converse(),
    );
    expect((body.messages as { role: string }[])[0]?.role).toBe('user');
  });
  it('gets a text beside a document', async () => {
    const body = await sentFor(
      claudeAtBedrock(),
      { messages: [{ role: 'user', content: [pdf('a.pdf')] }], plugins: [{ id: 'file-parser', enabled: false }] },
      converse(),
    );
    expect(JSON.stringify(body.messages)).toMatch(/"text":"[^"]/);
  });
  it('gets a document in its own format, and two of one name under two', async () => {
    const content = [{ type: 'text', text: 'Read' }, pdf('a.xlsx', xlsx), pdf('a.pdf'), pdf('a.pdf')];
    const body = await sentFor(
      claudeAtBedrock(),
      { messages: [{ role: 'user', content }], plugins: [{ id: 'file-parser', enabled: false }] },
      converse(),
    );
    const documents = (
      body.messages as { content: { document?: { format: string; name: string } }[] }[]
    )[0]?.content.flatMap(({ document }) => document ?? []);
    expect(documents?.map(({ format }) => format)).toEqual(['xlsx', 'pdf', 'pdf']);
    expect(new Set(documents?.map(({ name }) => name)).size).toBe(3);
  });
  it('gets no stop texts of white space', async () => {
    const body = await sentFor(claudeAtBedrock(), { stop: ['\n\n', 'END'] }, converse());
    expect(body.inferenceConfig).toMatchObject({ stopSequences: ['END'] });
  });
});

describe('Anthropic', () => {
  it('gets signed thoughts back byte for byte', async () => {
    const details = [
      { type: 'reasoning.text', text: 'Hm.', signature: 'c2lnbmVk', format: 'anthropic-claude-v1', index: 0 },
    ];
    const messages = [
      ...hello,
      { role: 'assistant', content: 'Hi', reasoning: 'Hm.', reasoning_details: details },
      ...hello,
    ];
    const body = await sentFor(
      served('anthropic-messages', 'claude-sonnet-4-5'),
      { messages, reasoning_effort: 'high' },
      message(),
    );
    expect(JSON.stringify(body.messages)).toContain('{"type":"thinking","thinking":"Hm.","signature":"c2lnbmVk"}');
  });
});

describe('a chat server', () => {
  it('gets ids of no more than 40 characters at OpenAI', async () => {
    const body = await sentFor(served('openai-chat', 'gpt-4.1', { provider: 'openai' }), {
      messages: [...hello, called(longId), result(longId)],
      ...tools,
    });
    const [, assistant] = body.messages as [object, { tool_calls: { id: string }[] }];
    expect(assistant.tool_calls[0]?.id.length).toBeLessThanOrEqual(40);
  });
  it('gets large numbers of earlier calls as they were', async () => {
    const args = '{"id":12345678901234567890}';
    const gateway = served('anthropic-messages', 'claude-sonnet-4-5');
    await sentFor(gateway, { messages: [...hello, called('call_1', args), result('call_1')], ...tools }, message());
    expect(gateway.upstream.sent[0]?.text).toContain(args);
  });
  it('is taken null for what is not set', async () => {
    const messages = [
      ...hello,
      { role: 'assistant', content: 'Hi', tool_calls: null, refusal: null, audio: null, function_call: null },
      ...hello,
    ];
    const gateway = served('openai-chat');
    gateway.upstream.answer({ body: completion() });
    expect((await asked(gateway, { messages, tools: null, stop: null })).status).toBe(200);
  });
  it('gets pictures of a tool in the user message behind it', async () => {
    const picture = [{ type: 'image_url', image_url: { url: png } }];
    const body = await sentFor(served('openai-chat', 'gpt-4.1'), {
      messages: [...hello, called('call_1'), result('call_1', picture)],
      ...tools,
    });
    expect((body.messages as { role: string }[]).at(-1)?.role).toBe('user');
  });
  it('gets no content of null from an assistant without calls refused here', async () => {
    const gateway = served('openai-chat');
    gateway.upstream.answer({ body: completion() });
    expect(
      (await asked(gateway, { messages: [...hello, { role: 'assistant', content: null }, ...hello] })).status,
    ).toBe(200);
    expect((await asked(gateway, { messages: [{ role: 'user', content: null }] })).status).toBe(400);
  });
  it('gets calls of one turn in one message', async () => {
    const test = testGateway();
    test.upstream.answer({ body: completion() });
    const one = (id: string) => ({ type: 'function_call', call_id: id, name: 'read', arguments: '{}' });
    const output = (id: string) => ({ type: 'function_call_output', call_id: id, output: 'A' });
    await askResponses(test, {
      input: [{ type: 'message', role: 'user', content: 'Hello' }, one('a'), one('b'), output('a'), output('b')],
      tools: [{ type: 'function', name: 'read', parameters: { type: 'object', properties: {} } }],
    });
    const [sent] = test.upstream.sent;
    const messages = (sent as unknown as { body: { messages: { role: string }[] } }).body.messages;
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'tool']);
  });
  it('gets valid JSON where the arguments of the history are broken', async () => {
    const body = await sentFor(served('openai-chat'), {
      messages: [...hello, called('call_1', '{"path":"a'), result('call_1'), called('call_2', ''), result('call_2')],
      ...tools,
    });
    for (const one of body.messages as { tool_calls?: { function: { arguments: string } }[] }[])
      for (const { function: made } of one.tool_calls ?? []) expect(() => JSON.parse(made.arguments)).not.toThrow();
  });
  it('says insufficient_quota: one try, and 502 for the caller', async () => {
    const gateway = served('openai-chat');
    gateway.upstream.always({
      status: 429,
      body: {
        error: {
          message: 'You exceeded your current quota, please check your plan and billing details.',
          type: 'insufficient_quota',
          code: 'insufficient_quota',
        },
      },
    });
    const { status } = await asked(gateway);
    expect([status, gateway.upstream.sent.length]).toEqual([502, 1]);
  });
  it('gets no doubled slash where its address ends in one', async () => {
    const test = testGateway({
      providers: { up: { baseUrl: 'https://up.test/v1/' } },
      models: [{ slug: 'acme/it', endpoints: [{ provider: 'up', model: 'm' }] }],
    });
    test.upstream.answer({ body: completion() });
    await test.post({ model: 'acme/it', messages: hello });
    expect(test.upstream.sent[0]?.url).toBe('https://up.test/v1/chat/completions');
  });
  it('is asked for a model that is listed with object and owned_by, by its slug with slashes', async () => {
    const test = testGateway();
    const { json } = await test.call('GET', '/models/acme/fast');
    expect(json).toMatchObject({ id: 'acme/fast', object: 'model', owned_by: expect.any(String) });
    expect((await test.call('GET', '/models?limit=1000')).status).toBe(200);
  });
  it('reports None, texts and NaN as usage: it is estimated, whole', async () => {
    for (const usage of [
      { prompt_tokens: null, completion_tokens: null },
      { prompt_tokens: '10', completion_tokens: 'x' },
      'none',
    ]) {
      const gateway = served('openai-chat');
      gateway.upstream.answer({ body: completion({ usage }) });
      const { status, json } = await asked(gateway);
      expect([status, Number.isSafeInteger(json.usage?.prompt_tokens)]).toEqual([200, true]);
    }
  });
});
