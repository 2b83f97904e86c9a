import { Ajv2020 } from 'ajv/dist/2020.js';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { createGateway, type GatewayOptions } from '../../src/index.ts';
import '../support/late-parts.ts';
import { manualClock } from '../support/manual-clock.ts';

const key = 'sk-test-inference';
const model = 'sandbox/assistant';

function clientOf(options: Partial<GatewayOptions> = {}) {
  const clock = manualClock();
  const gateway = createGateway({ providers: { sandbox: {} }, apiKeys: [{ key }], clock, ...options });
  const client = new OpenAI({
    apiKey: key,
    baseURL: 'http://in-process/v1',
    maxRetries: 0,
    fetch: (url, init) => gateway.fetch(new Request(url, init as RequestInit)),
  });
  return { client, run: <T>(promise: Promise<T>) => clock.until(promise) };
}

const fn = (name: string, description = '', properties: object = {}) => ({
  type: 'function' as const,
  function: { name, description, parameters: { type: 'object', properties, required: Object.keys(properties) } },
});
const weather = fn('get_weather', 'Current conditions of a place', { city: { type: 'string' } });
const clockTool = fn('currentTime', 'What the clock shows at a place');
const mail = fn('x1', 'Writes an email to a colleague');
const tools = [mail, weather, clockTool];
const user = (content: string) => ({ role: 'user' as const, content });

describe('sandbox/assistant', () => {
  it.each<[string, object, string[]]>([
    ['names a tool', { messages: [user('How is the weather in Paris?')], tools }, ['get_weather']],
    ['names two', { messages: [user('Weather and time, please')], tools }, ['get_weather', 'currentTime']],
    [
      'names two, one at a time',
      { messages: [user('Weather and time, please')], tools, parallel_tool_calls: false },
      ['get_weather'],
    ],
    ['describes one', { messages: [user('Send an email to my colleague Ann')], tools }, ['x1']],
    ['fits none', { messages: [user('Hello')], tools }, []],
    ['has only general words', { messages: [user('What can you get for the tool?')], tools }, []],
    ['has to call', { messages: [user('Hello')], tools, tool_choice: 'required' }, ['x1']],
    ['has to call what fits', { messages: [user('The weather?')], tools, tool_choice: 'required' }, ['get_weather']],
    [
      'has to call one',
      { messages: [user('Hello')], tools, tool_choice: { type: 'function', function: { name: 'currentTime' } } },
      ['currentTime'],
    ],
    ['must not call', { messages: [user('The weather?')], tools, tool_choice: 'none' }, []],
  ])('calls the tools that fit a request that %s, as JSON and as a stream', async (_, body, names) => {
    const { client, run } = clientOf();
    const asked = { model, ...body } as unknown as OpenAI.ChatCompletionCreateParamsNonStreaming;
    const { choices } = await run(Promise.resolve(client.chat.completions.create(asked)));
    const calls = choices[0]?.message.tool_calls ?? [];
    expect(calls.map((call) => call.type === 'function' && call.function.name)).toEqual(names);
    expect(choices[0]?.finish_reason).toBe(names.length === 0 ? 'stop' : 'tool_calls');
    expect(new Set(calls.map(({ id }) => id)).size).toBe(names.length);
    for (const call of calls)
      if (call.type === 'function' && call.function.name === 'get_weather')
        expect(JSON.parse(call.function.arguments)).toEqual({ city: expect.any(String) });
    const streamed = await run(
      client.chat.completions.stream({ ...asked, stream: true } as never).finalChatCompletion(),
    );
    expect(
      streamed.choices[0]?.message.tool_calls?.map((call) => call.type === 'function' && call.function.name) ?? [],
    ).toEqual(names);
  });

  it('uses the results of tools in the next turn, with the history as the library dumps it', async () => {
    const { client, run } = clientOf();
    const messages: OpenAI.ChatCompletionMessageParam[] = [user('Weather and time?')];
    const first = await run(Promise.resolve(client.chat.completions.create({ model, messages, tools })));
    const said = first.choices[0]?.message as OpenAI.ChatCompletionMessage;
    messages.push(said);
    for (const { id } of said.tool_calls ?? []) messages.push({ role: 'tool', tool_call_id: id, content: `R-${id}` });
    const next = await run(Promise.resolve(client.chat.completions.create({ model, messages, tools })));
    const { content } = next.choices[0]?.message ?? {};
    for (const { id } of said.tool_calls ?? []) expect(content).toContain(`R-${id}`);
    expect(next.choices[0]?.finish_reason).toBe('stop');
  });

  it('gives JSON for a schema, and thinks only when it is asked to', async () => {
    const { client, run } = clientOf();
    const schema = { type: 'object', properties: { a: { type: 'integer', minimum: 3 } }, required: ['a'] };
    const response_format = { type: 'json_schema' as const, json_schema: { name: 'a', schema } };
    const asked = { model, messages: [user('Hi')], response_format };
    const plain = await run(Promise.resolve(client.chat.completions.create(asked)));
    const message = plain.choices[0]?.message as { content: string; reasoning?: string | null };
    expect(new Ajv2020().validate(schema, JSON.parse(message.content))).toBe(true);
    expect(message.reasoning ?? null).toBeNull();
    const thought = await run(
      Promise.resolve(
        client.chat.completions.create({ ...asked, response_format: { type: 'json_object' }, reasoning_effort: 'low' }),
      ),
    );
    expect(thought.choices[0]?.message).toMatchObject({ reasoning: expect.stringContaining('sandbox') });
    expect(JSON.parse(thought.choices[0]?.message.content ?? '')).toBeTypeOf('object');
    expect(thought.usage?.completion_tokens_details?.reasoning_tokens).toBeGreaterThan(0);
    const off = await run(Promise.resolve(client.chat.completions.create({ ...asked, reasoning_effort: 'none' })));
    expect(off.choices[0]?.message ?? {}).not.toHaveProperty('reasoning', expect.any(String));
  });

  it.each<[object[], string]>([
    [[user('Reply with exactly the word: pong')], 'pong'],
    [[user('Reply with exactly: first.')], 'first'],
    [[user('Reply with exactly OK and nothing else.')], 'OK'],
    [[user("Now say 'done'.")], 'done'],
    [[user('Respond with the exact string: héllo 你好 🦊 — nothing else.')], 'héllo 你好 🦊'],
    [[{ role: 'system', content: 'Reply with exactly OK' }, user('ping')], 'OK'],
  ])('says word for word what %j asks for', async (messages, text) => {
    const { client, run } = clientOf();
    const { choices } = await run(Promise.resolve(client.chat.completions.create({ model, messages } as never)));
    expect((choices[0] as OpenAI.ChatCompletion.Choice).message.content).toBe(text);
  });

  it.each(['Say hello in exactly 3 words.', 'Reply with just the number.', `Say: ${' '.repeat(5_000)}x`])(
    'says what it was told where no words are asked for: %j',
    async (text) => {
      const { client, run } = clientOf();
      const asked = { model, messages: [user(text)] };
      const { choices } = await run(Promise.resolve(client.chat.completions.create(asked)));
      expect(choices[0]?.message.content).toContain('You said:');
    },
  );

  it.each<[string, object, string[]]>([
    ['Call set_count with the count value 42.', {}, ['{"count":42}']],
    ['Use the tool. The count is -7', {}, ['{"count":-7}']],
    ['Count: 1.5', {}, ['{"count":0}']],
    ['Set count to 5 twice', {}, ['{"count":5}', '{"count":5}']],
    ['Set count to 5 twice', { parallel_tool_calls: false }, ['{"count":5}']],
    ['Use the tool again', {}, ['{"count":0}']],
  ])('calls a function as %j says (%j)', async (text, fields, expected) => {
    const { client, run } = clientOf();
    const asked = {
      model,
      messages: [user(text)],
      tools: [fn('set_count', '', { count: { type: 'integer' } })],
      ...fields,
    };
    const { choices } = await run(Promise.resolve(client.chat.completions.create(asked)));
    const calls = choices[0]?.message.tool_calls ?? [];
    expect(calls.map((call) => call.type === 'function' && call.function.arguments)).toEqual(expected);
  });

  it('makes a JSON object of the keys that are asked for', async () => {
    const { client, run } = clientOf();
    const text =
      'Output a JSON object with exactly these keys: name (string), count (number), and active (boolean). Go.';
    const asked = { model, messages: [user(text)], response_format: { type: 'json_object' as const } };
    const { choices } = await run(Promise.resolve(client.chat.completions.create(asked)));
    expect(JSON.parse(choices[0]?.message.content ?? '')).toEqual({ name: 'sandbox', count: 0, active: true });
  });

  it('obeys the largest output, stop and n, and takes images', async () => {
    const { client, run } = clientOf();
    const content = [
      { type: 'text' as const, text: 'Look at this' },
      { type: 'image_url' as const, image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
    ];
    const messages = [{ role: 'user' as const, content }];
    const { choices } = await run(Promise.resolve(client.chat.completions.create({ model, messages, n: 2 })));
    expect(choices.map(({ message }) => message.content)).toEqual([
      expect.stringContaining('Look at this'),
      expect.stringContaining('choice 2'),
    ]);
    const short = await run(Promise.resolve(client.chat.completions.create({ model, messages, max_tokens: 3 })));
    expect([short.choices[0]?.finish_reason, short.usage?.completion_tokens]).toEqual(['length', 3]);
    const stopped = await run(Promise.resolve(client.chat.completions.create({ model, messages, stop: ['sandbox'] })));
    expect(stopped.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'This is the ' } });
  });

  it('does the same through Responses', async () => {
    const { client, run } = clientOf();
    const tool = { type: 'function' as const, name: 'get_weather', parameters: { type: 'object' }, strict: false };
    const input: OpenAI.Responses.ResponseInput = [user('The weather?')];
    const first = await run(Promise.resolve(client.responses.create({ model, input, tools: [tool] })));
    const call = first.output.find(({ type }) => type === 'function_call') as OpenAI.Responses.ResponseFunctionToolCall;
    expect(call.name).toBe('get_weather');
    input.push(...(first.output as OpenAI.Responses.ResponseInput));
    input.push({ type: 'function_call_output', call_id: call.call_id, output: 'sunny' });
    const next = await run(Promise.resolve(client.responses.create({ model, input, tools: [tool] })));
    expect(next.output_text).toContain('sunny');
  });
});

describe('what a model of the sandbox ignores', () => {
  const messages = [user('Hi')];
  const body = {
    messages,
    tools,
    temperature: 1,
    top_p: null,
    reasoning_effort: 'low',
    seed: 1,
    stop: 'x',
    user: 'ann',
  };
  const droppedBy = async (fields: object, options: Partial<GatewayOptions> = {}) => {
    const { client, run } = clientOf(options);
    const headers = { 'x-service-metadata': 'enabled' };
    const asked = { ...body, ...fields } as unknown as OpenAI.ChatCompletionCreateParamsNonStreaming;
    const answer = await run(Promise.resolve(client.chat.completions.create(asked, { headers })));
    return (answer as { service_metadata?: { dropped?: string[] } }).service_metadata?.dropped ?? [];
  };
  it.each([
    ['sandbox/echo', ['temperature', 'tools', 'reasoning_effort']],
    ['sandbox/tool-call', ['temperature', 'reasoning_effort']],
    [model, ['temperature']],
  ])('is listed: %s', async (name, dropped) => {
    expect(await droppedBy({ model: name })).toEqual(dropped);
  });
  it('is nothing where a script answers, which gets all of it', async () => {
    const seen: unknown[] = [];
    const respond = (request: object) => {
      seen.push(request);
      return 'Hi';
    };
    const options = { sandbox: { script: [{ respond: respond as never }] } };
    expect(await droppedBy({ model: 'sandbox/echo' }, options)).toEqual([]);
    expect(seen).toMatchObject([{ body: { temperature: 1 } }]);
  });
  it('gives probabilities of its tokens where they are asked for, as JSON and as a stream, the same each time', async () => {
    const { client, run } = clientOf();
    const asked = { model, messages: [user('Hello')], logprobs: true, top_logprobs: 3 };
    const { choices } = await run(Promise.resolve(client.chat.completions.create(asked)));
    const tokens = choices[0]?.logprobs?.content ?? [];
    expect(tokens.map(({ token }) => token).join('')).toBe(choices[0]?.message.content);
    for (const { token, logprob, bytes, top_logprobs: top } of tokens) {
      expect(new TextDecoder().decode(Uint8Array.from(bytes ?? []))).toBe(token);
      expect([top.length, top[0]?.token, top[0]?.logprob]).toEqual([3, token, logprob]);
      expect(top.reduce((sum, one) => sum + Math.exp(one.logprob), 0)).toBeLessThanOrEqual(1);
    }
    const streamed = await run(
      (async () => {
        const parts: OpenAI.ChatCompletionTokenLogprob[] = [];
        for await (const chunk of await client.chat.completions.create({ ...asked, stream: true }))
          parts.push(...(chunk.choices[0]?.logprobs?.content ?? []));
        return parts;
      })(),
    );
    expect(streamed).toEqual(tokens);
    const plain = await run(Promise.resolve(client.chat.completions.create({ model, messages: [user('Hello')] })));
    expect(plain.choices[0]?.logprobs).toBeNull();
  });
  it('refuses more probabilities than a process makes in a moment', async () => {
    const { client, run } = clientOf();
    const create = client.chat.completions.create({
      model: 'sandbox/large-event',
      messages: [user('Hello')],
      logprobs: true,
      max_tokens: 30_000,
      ...({ sandbox: { tokens: 30_000 } } as object),
    });
    await expect(run(Promise.resolve(create))).rejects.toThrow(/30000 probabilities/);
  });
});
