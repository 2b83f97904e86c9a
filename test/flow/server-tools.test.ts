import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../src/base/errors.ts';
import type { GatewayOptions } from '../../src/options.ts';
import { defineServerTool, type ServerTool } from '../../src/server-tools/server-tool.ts';
import {
  askResponses,
  nativeMessage,
  nativeMessageEvents,
  nativeResponse,
  nativeStream,
  nativeUp,
  streamResponses,
} from '../support/ask-responses.ts';
import { ledgerOf, withBudget } from '../support/booked.ts';
import { checkResponsesResult, checkResponsesStream } from '../support/check-responses.ts';
import { checkError, testGateway } from '../support/gateway.ts';
import { chunk, completion, errorBody, type Piece, sse, textStream, usageChunk } from '../support/upstream.ts';

const metadata = { 'x-service-metadata': 'enabled' };
const datetime = { type: 'service:datetime', parameters: { timezone: 'Europe/Berlin' } };
const own = { type: 'function', function: { name: 'look_up', parameters: { type: 'object', properties: {} } } };
const ask = {
  model: 'acme/fast',
  messages: [{ role: 'user', content: 'What time is it?' }],
  tools: [datetime],
  max_tokens: 50,
};
const streamed = { ...ask, stream: true };

interface Called {
  id: string;
  name: string;
  args?: string;
}
const call = ({ id, name, args = '{}' }: Called) => ({ id, type: 'function', function: { name, arguments: args } });
const calling = (calls: Called[], message: object = {}, finish_reason = 'tool_calls') =>
  completion({}, { content: null, tool_calls: calls.map(call), ...message }, { finish_reason });
/** The same as a stream, each call in fragments. */
const callingStream = (calls: Called[], text = ''): Piece[] => [
  sse(chunk({ role: 'assistant', content: text })),
  ...calls.flatMap((one, index) => [
    sse(chunk({ tool_calls: [{ index, id: one.id, type: 'function', function: { name: one.name, arguments: '' } }] })),
    ...[...(one.args ?? '{}')].map((letter) =>
      sse(chunk({ tool_calls: [{ index, function: { arguments: letter } }] })),
    ),
  ]),
  sse(chunk({}, 'tool_calls')),
  sse(usageChunk()),
  sse('[DONE]'),
];
const now: Called = { id: 'c1', name: 'datetime' };

/** A gateway with a tool of the host app. */
function withTool(tool: Partial<ServerTool>, options: Partial<GatewayOptions> = {}) {
  const made = defineServerTool({ name: 'dice', description: 'Rolls.', parameters: {}, run: () => '4', ...tool });
  return testGateway({ serverTools: [made], ...options });
}
const rolling = { ...ask, tools: [{ type: 'service:dice' }] };

describe('a server tool', () => {
  it('is a function for the model, is run by the gateway, and the model gets its result', async () => {
    const { post, upstream, records } = testGateway();
    upstream.answer(
      { body: calling([now], { content: 'Let me see.' }) },
      { body: completion({}, { content: 'It is one.' }) },
    );
    const { status, json } = await post(ask, metadata);
    expect(status).toBe(200);
    const [first, second] = upstream.sent.map(({ body }) => body) as [Record<string, unknown>, Record<string, unknown>];
    expect(first.tools).toMatchObject([{ type: 'function', function: { name: 'datetime' } }]);
    expect(second.messages).toEqual([
      ...ask.messages,
      expect.objectContaining({ role: 'assistant', content: 'Let me see.', tool_calls: [call(now)] }),
      {
        role: 'tool',
        tool_call_id: 'c1',
        content: '{"datetime":"2026-01-01T01:00:00+01:00","timezone":"Europe/Berlin"}',
      },
    ]);
    expect(json.choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { role: 'assistant', content: 'Let me see.\n\nIt is one.' },
    });
    expect(json.choices[0]?.message).not.toHaveProperty('tool_calls');
    expect(json.usage).toMatchObject({
      prompt_tokens: 20,
      server_tool_use_details: { tool_calls_requested: 1, tool_calls_executed: 1 },
    });
    expect(json.service_metadata?.pipeline).toEqual([
      {
        type: 'server_tools',
        name: 'server-tools',
        summary: '2 steps, 1 calls',
        cost_usd: 0,
        data: { mode: 'sdk', steps: 2, calls: { datetime: 1 } },
      },
    ]);
    expect(records[0]?.generations).toHaveLength(2);
  });
  it('works in a stream, which says the same', async () => {
    const { post, upstream } = testGateway();
    upstream.answer({ body: callingStream([now], 'Let me see.') }, { body: textStream('It ', 'is one.') });
    const { chunks, text } = await post(streamed);
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe('Let me see.\n\nIt is one.');
    expect(text).not.toContain('datetime');
    expect(chunks.map(({ choices }) => choices[0]?.finish_reason ?? null).filter(Boolean)).toEqual(['stop']);
    expect(text.trimEnd().endsWith('data: [DONE]')).toBe(true);
    expect(upstream.sent).toHaveLength(2);
  });
  it('that the model does not call changes nothing', async () => {
    const { post, upstream } = testGateway();
    upstream.answer({ body: completion({}, { content: 'Noon.' }) });
    const { json } = await post(ask, metadata);
    expect(json.choices[0]?.message.content).toBe('Noon.');
    expect(json.service_metadata).not.toHaveProperty('pipeline');
    expect(json.usage).not.toHaveProperty('server_tool_use_details');
  });
  it('may be forced: the choice is for the first step alone', async () => {
    const { post, upstream } = testGateway();
    upstream.answer({ body: calling([now]) }, { body: completion() });
    await post({ ...ask, tool_choice: { type: 'service:datetime' } });
    expect(upstream.sent.map(({ body }) => body.tool_choice)).toEqual([
      { type: 'function', function: { name: 'datetime' } },
      'auto',
    ]);
  });
  it('has another name where the caller has a function of its name', async () => {
    const { post, upstream } = testGateway();
    const named = { type: 'function', function: { name: 'datetime' } };
    upstream.answer({ body: calling([{ ...now, name: 'datetime_2' }]) }, { body: completion() });
    expect((await post({ ...ask, tools: [named, datetime] })).status).toBe(200);
    expect(upstream.sent).toHaveLength(2);
    expect(upstream.sent[0]?.body.tools).toMatchObject([named, { function: { name: 'datetime_2' } }]);
  });
  it.each([false, true])('beside a function of the caller: its calls go to the caller (stream: %s)', async (stream) => {
    const { post, upstream } = testGateway();
    const calls = [now, { id: 'c2', name: 'look_up', args: '{"a":1}' }];
    upstream.answer({ body: stream ? callingStream(calls, 'Both.') : calling(calls, { content: 'Both.' }) });
    const body = { ...ask, tools: [datetime, own], stream };
    const { json, chunks } = await post(body);
    expect(upstream.sent).toHaveLength(1);
    if (stream) {
      const passed = chunks.flatMap(({ choices }) => choices.flatMap(({ delta }) => delta.tool_calls ?? []));
      expect(passed.every(({ index }) => index === 0)).toBe(true);
      expect(passed[0]).toMatchObject({ id: 'c2', function: { name: 'look_up' } });
      expect(passed.map((one) => one.function?.arguments ?? '').join('')).toBe('{"a":1}');
    } else expect(json.choices[0]).toMatchObject({ message: { content: 'Both.', tool_calls: [{ id: 'c2' }] } });
    const ends = stream ? chunks.at(-1)?.choices[0]?.finish_reason : json.choices[0]?.finish_reason;
    expect(ends ?? 'tool_calls').toBe('tool_calls');
  });
  it.each<[string, object, string]>([
    ['is not there', { tools: [{ type: 'service:bash' }] }, 'tool not available: service:bash'],
    [
      'has wrong parameters',
      { tools: [{ ...datetime, parameters: { timezone: 'Moon' } }] },
      'tools[0].parameters.timezone',
    ],
    ['is offered for several choices', { n: 2 }, 'n: expected 1'],
  ])('that %s is a 400', async (_, body, message) => {
    const { post, upstream } = testGateway();
    const { status, json } = await post({ ...ask, ...body });
    checkError(400, json);
    expect([status, json.error.message]).toEqual([400, expect.stringContaining(message)]);
    expect(upstream.sent).toEqual([]);
  });
  it('is counted by explain as the function that it is', async () => {
    const { call: operation } = testGateway();
    const { json } = await operation('POST', '/chat/completions/explain', ask);
    expect(json.data.error).toBe(null);
    const refused = await operation('POST', '/chat/completions/explain', { ...ask, tools: [{ type: 'service:bash' }] });
    expect(refused.status).toBe(400);
  });
});

describe('a server tool of the host app', () => {
  it('gets its arguments and settings, and may add annotations', async () => {
    const seen: unknown[] = [];
    const { post, upstream } = withTool({
      run(args, { settings, addAnnotations, call: { caller } }) {
        seen.push(args, settings, caller.workspaceId);
        addAnnotations([
          { type: 'url_citation', url_citation: { url: 'https://dice.test', start_index: 0, end_index: 1 } },
        ]);
        return 'six';
      },
    });
    upstream.answer({ body: calling([{ id: 'c', name: 'dice', args: '{"sides":6}' }]) }, { body: completion() });
    const { json } = await post({ ...rolling, tools: [{ type: 'service:dice', parameters: { fair: true } }] });
    expect(seen).toEqual([{ sides: 6 }, { fair: true }, expect.any(String)]);
    expect(json.choices[0]?.message.annotations).toMatchObject([{ url_citation: { url: 'https://dice.test' } }]);
  });
  it.each<[string, string, Partial<ServerTool>, string]>([
    ['fails', '{}', { run: () => Promise.reject(new Error('secret of the tool')) }, '{"error":"the tool failed"}'],
    ['never ends', '{}', { run: () => new Promise(() => undefined) }, '{"error":"the tool failed"}'],
    ['gets no JSON', '{"sides":', {}, '{"error":"the arguments are no JSON object"}'],
    ['gets a list', '[1]', {}, '{"error":"the arguments are no JSON object"}'],
    ['gets nothing', '', {}, '4'],
  ])('that %s: the model is told so', async (_, args, tool, result) => {
    const { post, upstream } = withTool(tool);
    upstream.answer({ body: calling([{ id: 'c', name: 'dice', args }]) }, { body: completion() });
    expect((await post(rolling)).status).toBe(200);
    const { messages } = (upstream.sent[1] as { body: { messages?: { content: string }[] } }).body;
    expect(messages?.at(-1)?.content).toBe(result);
  });
  it.each([
    ['JSON', false],
    ['a stream', true],
  ])('is called on by the model that served, also where that is a fallback: %s', async (_name, stream) => {
    const { post, upstream } = testGateway({ retry: { attemptsPerEndpoint: 1 } });
    const step = { body: stream ? callingStream([now]) : calling([now]) };
    const last = { body: stream ? textStream('Done.') : completion({}, { content: 'Done.' }) };
    upstream.answer({ status: 500, body: errorBody('not now') }, step, step, last);
    const { status } = await post({ ...ask, stream, model: 'acme/other', models: ['acme/fast:nitro'] });
    expect(status).toBe(200);
    const called = upstream.sent.map(({ body }) => (body as { model: string }).model);
    expect(called).toEqual(['alt-other', 'up-fast', 'up-fast', 'up-fast']);
  });

  it('may end the call', async () => {
    const { post, upstream } = withTool({
      run: () => {
        throw new GatewayError('permission_denied', 'No dice');
      },
    });
    upstream.answer(
      { body: calling([{ id: 'c', name: 'dice' }]) },
      { body: callingStream([{ id: 'c', name: 'dice' }], 'Hm') },
    );
    const { status, json } = await post(rolling);
    expect([status, json.error.message]).toEqual([403, 'No dice']);
    const { text } = await post({ ...rolling, stream: true });
    expect(text).toContain('"finish_reason":"error"');
    expect(text).toContain('No dice');
  });
  it('ends when the client leaves', async () => {
    let wasAborted = false;
    const leaving = new AbortController();
    const { send, upstream, clock, records } = withTool({
      run: (_, { signal }) =>
        new Promise(() => {
          signal.addEventListener('abort', () => {
            wasAborted = true;
          });
          leaving.abort();
        }),
    });
    upstream.answer({ body: calling([{ id: 'c', name: 'dice' }]) });
    await send(rolling, {}, leaving.signal).catch(() => undefined);
    await clock.advance(1);
    expect([wasAborted, upstream.sent.length]).toEqual([true, 1]);
    expect(records).toMatchObject([{ outcome: 'cancelled' }]);
  });
  it.each([{ name: 'a b' }, { name: '' }, { name: 'x'.repeat(49) }])('may not be called %j', (tool) => {
    expect(() => withTool(tool)).toThrow(/serverTools\[0\]\.name/);
  });
});

describe('the loop of server tools', () => {
  const again = () => calling([{ id: 'c', name: 'dice' }], { content: 'Again.' });

  it.each<[string, object, number]>([
    ['step_count_is', { type: 'step_count_is', step_count: 3 }, 3],
    ['has_tool_call', { type: 'has_tool_call', tool_name: 'service:dice' }, 1],
    ['max_tokens_used', { type: 'max_tokens_used', max_tokens: 25 }, 3],
    ['max_cost', { type: 'max_cost', max_cost_in_dollars: 0.00005 }, 2],
    ['finish_reason_is', { type: 'finish_reason_is', reason: 'tool_calls' }, 1],
  ])('ends by %s, with what the model has said', async (type, condition, steps) => {
    const { post, upstream } = withTool({});
    upstream.always({ body: again() });
    const { json } = await post({ ...rolling, stop_server_tools_when: [condition] }, metadata);
    expect(upstream.sent).toHaveLength(steps);
    expect(json.choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { content: Array(steps).fill('Again.').join('\n\n') },
    });
    expect(json.service_metadata?.pipeline).toMatchObject([{ data: { steps, stopped_by: type } }]);
    expect(json.service_metadata).not.toHaveProperty('dropped');
  });
  it('ends after thirty steps', async () => {
    const { post, upstream } = withTool({});
    upstream.always({ body: again() });
    const { json } = await post(rolling, metadata);
    expect(upstream.sent).toHaveLength(30);
    expect(json.service_metadata?.pipeline).toMatchObject([{ data: { stopped_by: 'steps' } }]);
    expect(json.choices[0]).toMatchObject({ finish_reason: 'length', native_finish_reason: 'server_tool_steps' });
    expect(json.choices[0]?.message.content).toMatch(/Again\.\n\n\[The response was stopped here: .* 30 steps .*\]$/);
  });
  it('runs thirty-two calls of a step, and tells the model that others are too many', async () => {
    let runs = 0;
    const { post, upstream } = withTool({ run: () => String(++runs) });
    const calls = Array.from({ length: 40 }, (_, at) => ({ id: `c${at}`, name: 'dice' }));
    upstream.answer({ body: calling(calls) }, { body: completion() });
    const { json } = await post(rolling);
    const { messages } = (upstream.sent[1] as { body: { messages?: { content: string }[] } }).body;
    expect([runs, messages?.at(-1)?.content]).toEqual([32, '{"error":"too many calls at once"}']);
    expect(json.usage?.server_tool_use_details).toEqual({ tool_calls_requested: 40, tool_calls_executed: 32 });
  });
  it('runs no calls that were cut short', async () => {
    const { post, upstream } = withTool({});
    upstream.answer({ body: calling([{ id: 'c', name: 'dice' }], { content: 'Again.' }, 'length') });
    const { json } = await post(rolling);
    expect(upstream.sent).toHaveLength(1);
    expect(json.choices[0]).toMatchObject({ finish_reason: 'length', message: { content: 'Again.' } });
  });
  it('fails where a later step fails, and says so', async () => {
    const { post, upstream } = withTool({});
    upstream.answer({ body: again() }, { status: 400, body: errorBody('No') });
    expect((await post(rolling)).status).toBe(400);
    upstream.answer(
      { body: callingStream([{ id: 'c', name: 'dice' }], 'Again.') },
      { status: 400, body: errorBody('No') },
    );
    const { text } = await post({ ...rolling, stream: true });
    expect(text).toContain('"finish_reason":"error"');
  });
  it('holds money for each step, and books all of them', async () => {
    const dice = defineServerTool({
      name: 'dice',
      description: '',
      parameters: {},
      async run(_, { hold }) {
        (await hold(5_000)).settle(2_000);
        return '1';
      },
    });
    const test = await withBudget(1, { serverTools: [dice] });
    test.upstream.answer({ body: again() }, { body: again() }, { body: completion() });
    await test.post({ ...rolling, model: 'acme/one' });
    const [record] = test.records;
    const booked = record?.generations.reduce((sum, { costNanoUsd }) => sum + (costNanoUsd ?? 0), 0) ?? 0;
    expect(record?.costNanoUsd).toBe(booked + 4_000);
    expect(await ledgerOf(test)).toEqual({ spent: booked + 4_000, held: 0 });
  });
  it('says in a stream what it says in JSON, whatever the steps are', async () => {
    const word = fc.stringMatching(/^[a-z]{1,6}$/);
    const step = fc.record({ text: fc.option(word, { nil: '' }), calls: fc.integer({ min: 1, max: 3 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 4 }), word, async (steps, answer) => {
        const callsOf = (count: number, at: number) =>
          Array.from({ length: count }, (_, one) => ({ id: `c${at}_${one}`, name: 'dice', args: `{"n":${one}}` }));
        const [whole, pieces] = [withTool({}), withTool({})];
        for (const [at, { text, calls }] of steps.entries()) {
          whole.upstream.answer({ body: calling(callsOf(calls, at), { content: text || null }) });
          pieces.upstream.answer({ body: callingStream(callsOf(calls, at), text) });
        }
        whole.upstream.answer({ body: completion({}, { content: answer }) });
        pieces.upstream.answer({ body: textStream(...answer) });
        const { json } = await whole.post(rolling);
        const { chunks } = await pieces.post({ ...rolling, stream: true });
        const texts = [...steps.map(({ text }) => text), answer].filter((text) => text !== '');
        expect(json.choices[0]?.message.content).toBe(texts.join('\n\n'));
        expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe(texts.join('\n\n'));
        expect(pieces.upstream.sent.map(({ body }) => body.messages)).toEqual(
          whole.upstream.sent.map(({ body }) => body.messages),
        );
      }),
      { numRuns: 60, seed: 21 },
    );
  });
});

describe('a server tool in a Responses request', () => {
  const input = [{ role: 'user', content: 'What time is it?' }];
  const asked = { input, tools: [datetime, { type: 'function', name: 'look_up', parameters: {} }] };

  it('works over chat, in JSON and in a stream', async () => {
    const test = testGateway();
    test.upstream.answer(
      { body: calling([now], { content: 'Let me see.' }) },
      { body: completion({}, { content: 'One.' }) },
    );
    const { status, json } = await askResponses(test, { ...asked, tool_choice: { type: 'service:datetime' } });
    expect(status).toBe(200);
    checkResponsesResult(json);
    expect(json.output).toMatchObject([
      { type: 'message', content: [{ text: 'Let me see.' }] },
      { type: 'service:datetime', status: 'completed' },
      { type: 'message', content: [{ text: '\n\nOne.' }] },
    ]);
    expect(test.upstream.sent.map(({ body }) => body.tool_choice)).toEqual([
      { type: 'function', function: { name: 'datetime' } },
      'auto',
    ]);
    test.upstream.answer({ body: callingStream([now], 'Let me see.') }, { body: textStream('One.') });
    const { final } = checkResponsesStream((await streamResponses(test, asked)).text);
    expect(final.output).toMatchObject([
      { type: 'message', content: [{ text: 'Let me see.' }] },
      { type: 'service:datetime', status: 'completed' },
      { type: 'message', content: [{ text: '\n\nOne.' }] },
    ]);
  });
  it('works over a provider that speaks Responses: what it said and called goes back to it', async () => {
    const test = testGateway(nativeUp);
    const called = {
      type: 'function_call',
      id: 'fc_1',
      call_id: 'c1',
      name: 'datetime',
      arguments: '{}',
      status: 'completed',
    };
    test.upstream.answer(
      { body: nativeResponse([called]) },
      { body: nativeResponse([nativeMessage('One.')]) },
      {
        body: nativeStream(
          [
            { type: 'response.output_item.added', output_index: 0, item: { ...called, arguments: '' } },
            { type: 'response.function_call_arguments.delta', output_index: 0, item_id: 'fc_1', delta: '{}' },
            { type: 'response.output_item.done', output_index: 0, item: called },
          ],
          [called],
        ),
      },
      { body: nativeStream(nativeMessageEvents(0, ['One.']), [nativeMessage('One.')]) },
    );
    const { json } = await askResponses(test, asked);
    expect(json.output).toMatchObject([{ type: 'service:datetime' }, { type: 'message', content: [{ text: 'One.' }] }]);
    expect(test.upstream.sent[1]?.body.input).toMatchObject([
      ...input,
      { type: 'function_call', call_id: 'c1', name: 'datetime' },
      { type: 'function_call_output', call_id: 'c1', output: expect.stringContaining('2026-01-01T01:00:00') },
    ]);
    const { final } = checkResponsesStream((await streamResponses(test, asked)).text);
    expect(final.output).toMatchObject([
      { type: 'service:datetime' },
      { type: 'message', content: [{ text: 'One.' }] },
    ]);
    expect(test.upstream.sent).toHaveLength(4);
  });
  it('is counted as the function that it is, and refused where it is not there', async () => {
    const test = testGateway();
    const counted = await askResponses(test, asked, {}, '/responses/input_tokens');
    expect(counted.json.input_tokens).toBeLessThan(500);
    for (const path of ['/responses', '/responses/input_tokens', '/responses/explain', '/responses/compact']) {
      const { status, json } = await askResponses(test, { input, tools: [{ type: 'service:bash' }] }, {}, path);
      expect([path, status, json.error.message]).toEqual([path, 400, expect.stringContaining('service:bash')]);
    }
  });
});
