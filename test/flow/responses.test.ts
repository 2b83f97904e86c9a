import { describe, expect, it } from 'vitest';
import { checkResponsesResult, checkResponsesStream } from '../support/check-responses.ts';
import { checkError, type TestGateway, testGateway, testKey } from '../support/gateway.ts';
import { chunk, completion, type Piece, type ScriptedAnswer, sse, textStream } from '../support/upstream.ts';

const callerHeaders = { authorization: `Bearer ${testKey}` };

async function ask(test: TestGateway, body: object, headers: Record<string, string> = {}, path = '/responses') {
  return test.call('POST', path, { model: 'acme/fast', input: 'Hello', ...body }, { ...callerHeaders, ...headers });
}

/** A response in JSON, checked. */
async function askJson(test: TestGateway, body: object = {}, headers: Record<string, string> = {}) {
  const answer = await ask(test, body, headers);
  expect([answer.status, answer.text.slice(0, 300)]).toEqual([200, expect.any(String)]);
  checkResponsesResult(answer.json);
  return answer;
}

/** The text of a stream. */
async function askStream(test: TestGateway, body: object = {}, headers: Record<string, string> = {}) {
  const response = await test.run(
    test.gateway.fetch('http://gateway.test/v1/responses', {
      method: 'POST',
      headers: { ...callerHeaders, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model: 'acme/fast', input: 'Hello', stream: true, ...body }),
    }),
  );
  return { status: response.status, headers: response.headers, text: await test.run(response.text()) };
}

function gatewayWith(...answers: ScriptedAnswer[]): TestGateway {
  const test = testGateway();
  test.upstream.answer(...answers);
  return test;
}

const call = (index: number, id: string, name: string, text: string) =>
  chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: text } }] });
const more = (index: number, text: string) => chunk({ tool_calls: [{ index, function: { arguments: text } }] });
const tool = (name: string) => ({ type: 'function', name, parameters: { type: 'object', properties: {} } });

describe('a response', () => {
  it('goes the way of a chat completion: the same body upstream, the same id, cost and record', async () => {
    const test = gatewayWith({ body: completion() });
    const { json, headers } = await askJson(
      test,
      { instructions: 'Be brief.', max_output_tokens: 50, tools: [tool('look_up')] },
      { 'x-service-metadata': 'enabled' },
    );
    expect(test.upstream.sent[0]?.body).toMatchObject({
      model: 'up-fast',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hello' },
      ],
      max_tokens: 50,
      tools: [{ type: 'function', function: { name: 'look_up' } }],
    });
    expect(json).toMatchObject({
      id: headers.get('x-generation-id'),
      model: 'acme/fast',
      status: 'completed',
      output: [{ type: 'message', content: [{ type: 'output_text', text: 'Hello there' }] }],
      usage: { input_tokens: 10, output_tokens: 2, cost: 0.000036 },
      service_metadata: { requested: 'acme/fast', attempt: 1 },
    });
    expect(test.records).toMatchObject([{ id: json.id, outcome: 'ok', costNanoUsd: 36_000 }]);
  });
  it('streams interleaved calls, each with an id and an index of its own', async () => {
    const test = gatewayWith({
      body: [
        sse(
          chunk({ role: 'assistant', content: 'Two.' }),
          call(0, 'call_a', 'first', '{"a"'),
          call(1, 'call_b', 'second', '{"b"'),
          more(0, ':1}'),
          more(1, ':2}'),
          chunk({}, 'tool_calls'),
          '[DONE]',
        ),
      ],
    });
    const { text } = await askStream(test, { tools: [tool('first'), tool('second')] });
    const { final } = checkResponsesStream(text);
    expect(final.output).toMatchObject([
      { type: 'message', content: [{ text: 'Two.' }] },
      { type: 'function_call', call_id: 'call_a', name: 'first', arguments: '{"a":1}' },
      { type: 'function_call', call_id: 'call_b', name: 'second', arguments: '{"b":2}' },
    ]);
  });
  it('falls back until the first event, and announces nothing before', async () => {
    const test = gatewayWith({ status: 500 }, { status: 500 }, { body: textStream('From alt') });
    const { text } = await askStream(test, { model: 'acme/pair' });
    const { final, events } = checkResponsesStream(text);
    expect(events.filter(({ type }) => type === 'response.created')).toHaveLength(1);
    expect([final.model, [...new Set(test.upstream.sent.map(({ url }) => new URL(url).host))]]).toEqual([
      'acme/pair',
      ['up.test', 'alt.test'],
    ]);
  });
  it('is an HTTP error where it fails before its first event, and fails in the stream after it', async () => {
    const before = await askStream(gatewayWith({ status: 400, body: { error: { message: 'No such thing' } } }));
    expect(before.status).toBe(400);
    checkError(400, JSON.parse(before.text));
    const cut: Piece[] = [sse(chunk({ role: 'assistant', content: 'Hel' })), { breaks: true }];
    const after = await askStream(gatewayWith({ body: cut }));
    expect(after.status).toBe(200);
    const { final } = checkResponsesStream(after.text);
    expect(final).toMatchObject({ status: 'failed', error: { code: 'server_error' } });
    expect(after.text.endsWith('data: [DONE]\n\n')).toBe(true);
  });
  it('tells of a full context where agents look: by its code, in a stream of its own', async () => {
    const full = { error: { message: "This model's maximum context length is 8192 tokens.", code: 'x' } };
    const test = gatewayWith({ status: 400, body: full }, { status: 400, body: full });
    const { status, text } = await askStream(test);
    expect([status, checkResponsesStream(text).final.error?.code]).toEqual([200, 'context_length_exceeded']);
    expect(test.records[0]).toMatchObject({ outcome: 'failed', status: 400 });
    const json = await ask(test, {});
    expect([json.status, json.json.error]).toMatchObject([
      400,
      { code: 400, metadata: { error_type: 'context_length_exceeded' } },
    ]);
  });
  it('lists what a chat upstream did not get', async () => {
    const test = gatewayWith({ body: completion() });
    const { json } = await askJson(
      test,
      { tools: [tool('f'), { type: 'web_search' }], truncation: 'auto', client_metadata: { a: 'b' } },
      { 'x-service-metadata': 'enabled' },
    );
    expect(json.service_metadata.dropped).toEqual(
      expect.arrayContaining([expect.stringContaining('web_search'), 'client_metadata']),
    );
    expect(JSON.stringify(test.upstream.sent[0]?.body)).not.toMatch(/truncation|client_metadata|web_search/);
  });
});

describe('a compaction', () => {
  it('is a summary that the next request goes on with, whichever model serves it', async () => {
    const test = gatewayWith({ body: completion({}, { content: 'They said hello.' }) }, { body: completion() });
    const first = await ask(
      test,
      {
        input: [
          { role: 'user', content: 'Hello' },
          { type: 'message', role: 'assistant', content: 'Hi' },
        ],
      },
      {},
      '/responses/compact',
    );
    expect([first.status, first.json.object, first.json.output.map(({ type }: { type: string }) => type)]).toEqual([
      200,
      'response.compaction',
      ['message', 'compaction'],
    ]);
    // Clients that read strictly know no message without an id and a status.
    const id = `msg_${first.json.id}_0`;
    expect(first.json.output[0]).toMatchObject({ id, role: 'user', status: 'completed' });
    await askJson(test, { input: [...first.json.output, { role: 'user', content: 'Go on' }] });
    const { messages } = (test.upstream.sent[1]?.body ?? {}) as { messages: { content: string }[] };
    // One message of the user: not every server takes three in a row.
    expect(messages.map(({ content }) => content)).toEqual([
      expect.stringMatching(/^Hello\n\n.*They said hello\.\n\nGo on$/s),
    ]);
  });
  it('is the response to a request that ends with a trigger', async () => {
    const test = gatewayWith({ body: textStream('They said ', 'hello.') }, { body: completion() });
    const input = [{ role: 'user', content: 'Hello' }, { type: 'compaction_trigger' }];
    const { final } = checkResponsesStream((await askStream(test, { input })).text);
    expect([final.status, final.output.map(({ type }) => type)]).toEqual(['completed', ['compaction']]);
    await askJson(test, { input: [...final.output, { role: 'user', content: 'Go on' }] });
    const { messages } = (test.upstream.sent[1]?.body ?? {}) as { messages: { content: string }[] };
    expect(messages[0]?.content).toContain('They said hello.');
  });
  it('fails where the model writes no summary: the conversation must not be lost', async () => {
    const test = gatewayWith({ body: completion({}, { content: ' ' }) });
    const { status } = await ask(test, {}, {}, '/responses/compact');
    expect(status).toBe(502);
  });
});

describe('the count of tokens', () => {
  it('needs no provider, and grows with all that the model reads', async () => {
    const test = testGateway();
    const count = async (body: object) => {
      const { status, json } = await ask(test, body, {}, '/responses/input_tokens');
      expect([status, json.object]).toEqual([200, 'response.input_tokens']);
      return json.input_tokens as number;
    };
    const plain = await count({});
    expect(await count({ instructions: 'Be brief.' })).toBeGreaterThan(plain);
    expect(await count({ tools: [tool('look_up_something')] })).toBeGreaterThan(plain);
    expect(test.upstream.sent).toEqual([]);
  });
});

describe('what a provider cannot take', () => {
  const user = (...content: object[]) => ({ role: 'user', content });
  const text = { type: 'input_text', text: 'Look' };
  const sound = { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } };
  const called = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' };

  it.each<[string, object]>([
    ['input[1].content[1]', { input: [user(text), user(text, sound)] }],
    [
      'input[2].output[0]',
      { input: [user(text), called, { type: 'function_call_output', call_id: 'c', output: [sound] }] },
    ],
    ['input[0].content[0]', { instructions: 'Be brief.', input: [user(sound)] }],
    ['input[1].content[0]', { input: [{ type: 'mcp_call', id: 'm' }, user(sound)] }],
    ['input', { input: '' }],
  ])('is refused at its place in the request: %s', async (path, body) => {
    const up = { baseUrl: 'https://up.test/v1', apiKey: 'sk-up-0123456789', dialect: 'anthropic-messages' as const };
    const test = testGateway({ providers: { up, alt: up } });
    const { status, json } = await ask(test, { max_output_tokens: 5, ...body });
    checkError(400, json);
    expect([status, json.error.message]).toEqual([400, expect.stringContaining(`${path}: expected `)]);
    expect(json.error.message).not.toContain('messages');
  });
});
