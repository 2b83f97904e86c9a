import { describe, expect, it } from 'vitest';
import { checkResponsesStream } from '../support/check-responses.ts';
import { managementKey, testGateway, testKey } from '../support/gateway.ts';
import { handshake, openSocket, withKey } from '../support/socket.ts';
import { chunk, completion, errorBody, sse, textStream, usageChunk } from '../support/upstream.ts';

const answered = (text: string) => ({ body: textStream(text) });
const toolCall = (id: string) => ({
  index: 0,
  id,
  type: 'function',
  function: { name: 'look', arguments: '{"a":1}' },
});
const calls = {
  body: [sse(chunk({ tool_calls: [toolCall('call_1')] }), chunk({}, 'tool_calls'), usageChunk(), '[DONE]')],
};
const tools = [{ type: 'function', name: 'look', parameters: { type: 'object', properties: {} } }];
const result = (id: string) => ({ type: 'function_call_output', call_id: id, output: 'found' });

describe('the handshake of a WebSocket', () => {
  it.each([
    ['without a key', { headers: {} }, 401],
    ['with a wrong key', { headers: { authorization: 'Bearer wrong' } }, 401],
    ['with a key that may not ask models', { headers: { authorization: `Bearer ${managementKey}` } }, 403],
    ['of a path where nothing is', { path: '/v1/nothing' }, 404],
    ['of an operation that has none', { path: '/v1/chat/completions' }, 426],
    ['of an operation that is only read', { path: '/v1/models' }, 426],
    ['outside of the mount', { path: '/other/responses' }, 404],
  ])('%s is refused', async (_, options, status) => {
    const tested = testGateway();
    const { response } = await handshake(tested, options);
    expect(response?.status).toBe(status);
    expect(await response?.json()).toMatchObject({ error: { code: status } });
  });

  it('takes a key from the subprotocols, where a browser can set no header, and never shows it', async () => {
    const tested = testGateway();
    const offered = `openai-insecure-api-key.${testKey}, openai-beta.responses.v1`;
    const upgrade = await handshake(tested, { headers: { 'sec-websocket-protocol': offered } });
    expect(upgrade).toMatchObject({ response: null, protocol: 'openai-beta.responses.v1' });
    const alone = `openai-insecure-api-key.${testKey}`;
    expect(await handshake(tested, { headers: { 'sec-websocket-protocol': alone } })).toMatchObject({ protocol: null });
    tested.upstream.always(answered('Hi'));
    const socket = await openSocket(tested, { headers: { 'sec-websocket-protocol': offered } });
    expect((await socket.turn({ input: 'Hello' })).at(-1)?.type).toBe('response.completed');
  });

  it('of a page of another site is refused where the host app names the caller, and a page of its own is not', async () => {
    const tested = testGateway({ trustedOrigins: ['https://app.test'] });
    const context = { caller: { userId: 'u1', permissions: ['inference' as const], workspaceId: 'default' } };
    const from = async (headers: Record<string, string>) =>
      (await handshake(tested, { headers, context })).response?.status ?? 101;
    expect(await from({ origin: 'https://evil.test', host: 'gateway.test' })).toBe(403);
    expect(await from({ 'sec-fetch-site': 'cross-site', origin: 'https://evil.test' })).toBe(403);
    expect(await from({ origin: 'http://gateway.test', host: 'gateway.test' })).toBe(101);
    expect(await from({ origin: 'https://app.test', host: 'gateway.test' })).toBe(101);
    expect(await from({})).toBe(101);
  });

  it('is refused where as many are open as may be, of all and of one workspace, until one is closed', async () => {
    const all = testGateway({ webSockets: { connections: 1 } });
    const first = await openSocket(all);
    expect((await handshake(all)).response?.status).toBe(503);
    first.session.closed();
    expect((await handshake(all)).response).toBeNull();
    const one = testGateway({ webSockets: { connectionsPerWorkspace: 1 } });
    const only = await openSocket(one);
    expect((await handshake(one)).response?.status).toBe(429);
    only.session.closed();
    only.session.closed();
    expect((await handshake(one)).response).toBeNull();
  });
});

describe('a response over a WebSocket', () => {
  it('has the events of the same response by HTTP, one a frame, and is booked and recorded like it', async () => {
    const tested = testGateway();
    tested.upstream.always(answered('Hello there'));
    const socket = await openSocket(tested);
    const frames = await socket.turn({ input: 'Hello', store: false });
    const events = frames.map((frame) => `event: ${frame.type}\ndata: ${JSON.stringify(frame)}\n\n`);
    const { final } = checkResponsesStream(`${events.join('')}data: [DONE]\n\n`);
    expect(final).toMatchObject({ status: 'completed', previous_response_id: null, store: false });
    const request = new Request('http://gateway.test/v1/responses', {
      method: 'POST',
      headers: { ...withKey, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'acme/fast', input: 'Hello', store: false, stream: true }),
    });
    const byHttp = await tested.run(tested.gateway.fetch(request).then((response) => response.text()));
    const types = [...byHttp.matchAll(/^event: (.+)$/gm)].map(([, type]) => type);
    expect(frames.map(({ type }) => type)).toEqual(types);
    expect(tested.records).toHaveLength(2);
    const [one, other] = tested.records;
    expect(one?.operation).toBe('createResponse');
    expect(one?.costNanoUsd).toBe(other?.costNanoUsd);
    expect(tested.upstream.sent[0]?.body).toEqual(tested.upstream.sent[1]?.body);
  });

  it('goes on from the last one with the new items alone, without a store', async () => {
    const tested = testGateway();
    const socket = await openSocket(tested);
    tested.upstream.answer(calls, answered('It is found'), answered('Yes'));
    const [first] = (await socket.turn({ input: 'Look', tools, store: false })).slice(-1);
    const second = await socket.turn({ input: [result('call_1')], tools, previous_response_id: first?.response.id });
    for (const { response } of second.filter((frame) => frame.response !== undefined))
      expect(response.previous_response_id).toBe(first?.response.id);
    const third = await socket.turn({ input: 'Really?', tools, previous_response_id: second.at(-1)?.response.id });
    expect(third.at(-1)).toMatchObject({ type: 'response.completed' });
    const messages = tested.upstream.sent[2]?.body.messages as { role: string; content: unknown }[];
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant', 'user']);
    expect(messages.map(({ content }) => content)).toEqual(
      ['Look', expect.anything(), 'found', 'It is found', 'Really?'].map((text, at) =>
        at === 1 ? messages[1]?.content : text,
      ),
    );
  });

  it.each([
    ['of which nothing is known', async () => 'gen-unknown'],
    [
      'that another has followed',
      async (socket: Awaited<ReturnType<typeof openSocket>>) => {
        const [first] = (await socket.turn({ input: 'One' })).slice(-1);
        await socket.turn({ input: 'Two' });
        return first?.response.id as string;
      },
    ],
    [
      'after which a turn has failed',
      async (socket: Awaited<ReturnType<typeof openSocket>>) => {
        const [first] = (await socket.turn({ input: 'One' })).slice(-1);
        const previous_response_id = first?.response.id as string;
        const failed = await socket.turn({ input: [result('call_none')], previous_response_id });
        expect(failed).toMatchObject([{ type: 'error', status: 400, error: { param: 'input' } }]);
        return previous_response_id;
      },
    ],
  ])('does not go on from one %s', async (_, idOf) => {
    const tested = testGateway();
    tested.upstream.always(answered('Hi'));
    const socket = await openSocket(tested);
    const id = await idOf(socket);
    const sent = tested.upstream.sent.length;
    expect(await socket.turn({ input: 'On', previous_response_id: id })).toMatchObject([
      { type: 'error', status: 400, error: { code: 'previous_response_not_found', param: 'previous_response_id' } },
    ]);
    expect(tested.upstream.sent).toHaveLength(sent);
    expect((await socket.turn({ input: 'Anew' })).at(-1)?.type).toBe('response.completed');
  });

  it('is not gone on from after a provider has failed, nor from another connection', async () => {
    const tested = testGateway({ retry: { maxAttempts: 1 } });
    const socket = await openSocket(tested);
    tested.upstream.answer(answered('One'), { status: 500, body: errorBody('broken') });
    const [first] = (await socket.turn({ input: 'One' })).slice(-1);
    const previous_response_id = first?.response.id;
    const other = await openSocket(tested);
    expect((await other.turn({ input: 'Mine?', previous_response_id })).at(-1)).toMatchObject({
      error: { code: 'previous_response_not_found' },
    });
    expect((await socket.turn({ input: 'On', previous_response_id })).at(-1)).toMatchObject({
      type: 'error',
      status: 502,
    });
    expect((await socket.turn({ input: 'On', previous_response_id })).at(-1)).toMatchObject({
      error: { code: 'previous_response_not_found' },
    });
  });

  it('is prepared without a model where the client wants that, checked and unpaid, and can be gone on from', async () => {
    const tested = testGateway();
    const socket = await openSocket(tested);
    const frames = await socket.turn({ input: 'Known before', generate: false });
    expect(frames.map(({ type }) => type)).toEqual(['response.created', 'response.in_progress', 'response.completed']);
    const ready = frames.at(-1)?.response;
    expect(ready).toMatchObject({ output: [], status: 'completed', model: 'acme/fast' });
    expect([tested.upstream.sent, tested.records]).toEqual([[], []]);
    tested.upstream.always(answered('Hi'));
    await socket.turn({ input: 'And now', previous_response_id: ready?.id });
    expect(JSON.stringify(tested.upstream.sent[0]?.body.messages)).toMatch(/Known before.*And now/);
    expect((await socket.turn({ input: 5, generate: false })).at(-1)).toMatchObject({ type: 'error', status: 400 });
  });

  it('that breaks never looks complete', async () => {
    const broken = { body: [sse(chunk({ content: 'Hel' })), { breaks: true as const }] };
    const tested = testGateway();
    tested.upstream.always(broken);
    const socket = await openSocket(tested);
    expect((await socket.turn({ input: 'Hello' })).at(-1)).toMatchObject({ type: 'response.failed' });
    const cutting = testGateway({ streams: { onCut: 'close' } });
    cutting.upstream.always(broken);
    const cut = await openSocket(cutting);
    expect((await cut.turn({ input: 'Hello' })).at(-1)).toMatchObject({ type: 'error', status: 502 });
    cutting.upstream.always(answered('Hi'));
    expect((await cut.turn({ input: 'Hello' })).at(-1)).toMatchObject({ type: 'response.completed' });
  });

  it('that is cut at its token limit is incomplete, and can be gone on from', async () => {
    const tested = testGateway();
    tested.upstream.answer({ body: [sse(chunk({ content: 'Once' }), chunk({}, 'length'), usageChunk(), '[DONE]')] });
    tested.upstream.always(answered('upon'));
    const socket = await openSocket(tested);
    const [cut] = (await socket.turn({ input: 'Tell' })).slice(-1);
    expect(cut?.type).toBe('response.incomplete');
    const next = await socket.turn({ input: 'More', previous_response_id: cut?.response.id });
    expect(next.at(-1)?.type).toBe('response.completed');
  });
});

describe('a frame that is wrong gets an error, and the connection stays:', () => {
  it.each<[string, object | string | Uint8Array, object]>([
    ['bytes', new Uint8Array([1]), { status: 400 }],
    ['no JSON', '{', { status: 400, error: { code: 'invalid_request' } }],
    ['no object', '[1]', { status: 400 }],
    ['no type', { model: 'acme/fast' }, { status: 400, error: { param: 'type' } }],
    ['an unknown type', { type: 'response.make' }, { status: 400, error: { param: 'type' } }],
    [
      'a lane without a name',
      { type: 'response.create', stream_id: '' },
      { status: 400, error: { param: 'stream_id' } },
    ],
    ['a lane that is no text', { type: 'response.create', stream_id: 7 }, { error: { param: 'stream_id' } }],
    ['no stream', { type: 'response.create', stream: false }, { error: { param: 'stream' } }],
    [
      'what runs on its own',
      { type: 'response.create', background: true, input: 'x' },
      { error: { param: 'background' } },
    ],
    ['no flag', { type: 'response.create', generate: 'no' }, { error: { param: 'generate' } }],
    ['no id', { type: 'response.create', previous_response_id: 1 }, { error: { param: 'previous_response_id' } }],
    ['no input', { type: 'response.create', previous_response_id: 'x', input: 1 }, { error: { param: 'input' } }],
    [
      'no field of a request',
      { type: 'response.create', input: 'x', temperature: 'hot' },
      { error: { param: 'temperature' } },
    ],
    ['too much nesting', `{"type":"response.create","input":${'['.repeat(200)}`, { status: 400 }],
    ['too many values', `{"a":[${'0,'.repeat(60_000)}0]}`, { status: 413, error: { code: 'payload_too_large' } }],
    ['too many bytes', `"${'x'.repeat(2_000_000)}"`, { status: 413, error: { code: 'payload_too_large' } }],
  ])('%s', async (_, frame, expected) => {
    const tested = testGateway({ limits: { bodyBytes: 1_000_000 } });
    tested.upstream.always(answered('Hi'));
    const socket = await openSocket(tested);
    socket.send({ type: 'response.processed', response_id: 'x' });
    socket.send(typeof frame === 'string' || frame instanceof Uint8Array ? frame : { model: 'acme/fast', ...frame });
    expect(await socket.until(({ type }) => type === 'error')).toMatchObject([{ type: 'error', ...expected }]);
    expect((await socket.turn({ input: 'Hello' })).at(-1)?.type).toBe('response.completed');
    expect(socket.closed).toBeNull();
  });
});

describe('each response of a connection is a request of its own:', () => {
  it('a key that is revoked meanwhile is refused, and a spent budget', async () => {
    const tested = testGateway();
    const { json } = await tested.call('POST', '/keys', { name: 'mine', limit: 0.0043 });
    const socket = await openSocket(tested, { headers: { authorization: `Bearer ${json.key}` } });
    tested.upstream.always(answered('Hi'));
    const ask = { input: 'Hello', max_output_tokens: 5 };
    const turns = [];
    for (let at = 0; at < 6; at++) turns.push((await socket.turn(ask)).at(-1));
    expect(turns[0]?.type).toBe('response.completed');
    expect(turns.at(-1)).toMatchObject({ type: 'error', status: 402, error: { code: 'payment_required' } });
    await tested.call('PATCH', `/keys/${json.data.hash}`, { disabled: true });
    await tested.clock.advance(10_000);
    expect((await socket.turn(ask)).at(-1)).toMatchObject({ status: 401, error: { type: 'authentication_error' } });
  });

  it('a rate limit counts each, and says when to come again', async () => {
    const tested = testGateway({ rateLimits: { key: { requestsPerMinute: 2 } } });
    tested.upstream.always(answered('Hi'));
    const socket = await openSocket(tested);
    for (let at = 0; at < 2; at++) expect((await socket.turn({ input: 'x' })).at(-1)?.type).toBe('response.completed');
    const [refused] = (await socket.turn({ input: 'x' })).slice(-1);
    expect(refused).toMatchObject({ status: 429, error: { type: 'rate_limit_error', code: 'rate_limit_exceeded' } });
    expect(Number(refused?.headers?.['retry-after'])).toBeGreaterThan(0);
  });

  it('the host app is asked for its user each time', async () => {
    const tested = testGateway();
    tested.upstream.always(answered('Hi'));
    const users: (object | null)[] = [
      { userId: 'u', permissions: ['inference'] },
      { userId: 'u', permissions: ['inference'] },
    ];
    const caller = () => Promise.resolve((users.shift() ?? null) as never);
    const socket = await openSocket(tested, { headers: {}, context: { caller } });
    expect((await socket.turn({ input: 'x' })).at(-1)?.type).toBe('response.completed');
    expect((await socket.turn({ input: 'x' })).at(-1)).toMatchObject({ type: 'error', status: 401 });
  });

  it('its JSON and its stream cost the same, also where one goes on from another', async () => {
    const tested = testGateway();
    tested.upstream.answer(answered('Hi'), answered('Hi'), { body: completion() });
    const socket = await openSocket(tested);
    const [first] = (await socket.turn({ input: 'Hello' })).slice(-1);
    await socket.turn({ input: 'And?', previous_response_id: first?.response.id });
    const whole = [
      { role: 'user', content: 'Hello' },
      ...(first?.response.output ?? []),
      { role: 'user', content: 'And?' },
    ];
    await tested.call('POST', '/responses', { model: 'acme/fast', input: whole }, withKey);
    expect(tested.upstream.sent[1]?.body.messages).toEqual(tested.upstream.sent[2]?.body.messages);
  });
});
