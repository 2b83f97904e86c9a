import { describe, expect, it } from 'vitest';
import type { GatewayOptions } from '../../src/options.ts';
import { nextTurn, testGateway, upstreamKeys } from '../support/gateway.ts';
import { responsesUpstream } from '../support/responses-upstream.ts';
import { isEnd, openSocket, type TestSocket } from '../support/socket.ts';

const provider = { dialect: 'openai-responses', webSocket: true } as const;

function setUp(options: Partial<GatewayOptions> = {}) {
  const upstream = responsesUpstream();
  const logged: unknown[] = [];
  const logger = { info: () => undefined, warn: (...line: unknown[]) => logged.push(line), error: () => undefined };
  const tested = testGateway({
    providers: {
      up: { ...provider, baseUrl: 'https://up.test/v1', apiKey: upstreamKeys.up },
      alt: { ...provider, baseUrl: 'https://alt.test/v1', apiKey: upstreamKeys.alt },
    },
    transport: upstream.transport,
    logger: logger as never,
    ...options,
    // These clients answer no ping.
    webSockets: { pingMs: 1_000_000_000, ...options.webSockets },
  });
  return { ...tested, tested, provider: upstream, logged };
}

/** The id of the response that the frames end with. */
const idOf = (frames: Awaited<ReturnType<TestSocket['turn']>>) => frames.at(-1)?.response.id as string;
const outputOf = (frames: Awaited<ReturnType<TestSocket['turn']>>) =>
  (frames.at(-1)?.response.output ?? []) as unknown as { content?: { text: string }[] }[];
const textOf = (frames: Awaited<ReturnType<TestSocket['turn']>>) =>
  outputOf(frames)
    .map((item) => item.content?.[0]?.text)
    .join('');
const message = (text: string) => ({ type: 'message', role: 'user', content: text });
const output = (id: string) => ({ type: 'function_call_output', call_id: id, output: 'found' });
const tools = [{ type: 'function', name: 'look', parameters: { type: 'object', properties: {} } }];
const call = { id: 'call_1', name: 'look', arguments: '{"a":1}' };

describe('a WebSocket to a provider', () => {
  it('is opened at the first turn of a client, kept for the next ones, and closed when the client has left', async () => {
    const { tested, provider, records } = setUp();
    const socket = await openSocket(tested);
    expect(provider.connections).toHaveLength(0);
    provider.will({ text: 'one' }, { text: 'two' });
    expect(textOf(await socket.turn({ input: 'a' }))).toBe('one');
    expect(textOf(await socket.turn({ input: 'b' }))).toBe('two');
    const [connection] = provider.connections;
    expect(provider.connections).toHaveLength(1);
    expect(connection).toMatchObject({ url: 'https://up.test/v1/responses', isOpen: true });
    expect(connection?.headers).toEqual({ authorization: `Bearer ${upstreamKeys.up}` });
    expect(provider.asked.map(({ over }) => over)).toEqual(['socket', 'socket']);
    for (const { body } of provider.asked) {
      expect(body).toMatchObject({ type: 'response.create', model: 'up-fast', store: false });
      expect(body).not.toHaveProperty('stream');
    }
    expect(records.map(({ costNanoUsd }) => Number(costNanoUsd))).toEqual([28_000, 28_000]);
    socket.session.closed();
    expect(connection?.isOpen).toBe(false);
  });

  it('carries the very response that comes by HTTP, event by event, at the same cost', async () => {
    const said = { text: 'Hello there, you', thought: 'sealed' };
    const over = async (webSocket: boolean) => {
      const up = { ...provider, webSocket, baseUrl: 'https://up.test/v1', apiKey: upstreamKeys.up };
      const { tested, provider: asked, records } = setUp({ providers: { up, alt: up } });
      asked.will(said);
      const frames = await (await openSocket(tested)).turn({ input: 'Hello', stream_options: {} });
      return { frames, over: asked.asked[0]?.over, cost: records[0]?.costNanoUsd, record: records[0]?.usage };
    };
    const [bySocket, byHttp] = [await over(true), await over(false)];
    expect([bySocket.over, byHttp.over]).toEqual(['socket', 'http']);
    expect(bySocket.frames).toEqual(byHttp.frames);
    expect([bySocket.cost, bySocket.record]).toEqual([byHttp.cost, byHttp.record]);
  });

  it('is not used for requests by HTTP, nor where the option is not set', async () => {
    const { tested, provider } = setUp();
    await tested.post({ model: 'acme/fast', messages: [{ role: 'user', content: 'Hi' }], stream: true });
    expect(provider.asked.map(({ over }) => over)).toEqual(['http']);
    expect(provider.connections).toHaveLength(0);
  });

  it('goes on from the latest response with the new items alone, by the id that the provider gave it', async () => {
    const { tested, provider, records } = setUp();
    const socket = await openSocket(tested);
    provider.will({ thought: 'sealed', call }, { text: 'It is found' }, { text: 'Yes' });
    const first = await socket.turn({ input: 'Look', tools, store: false, instructions: 'Be brief' });
    const more = { tools, store: false, instructions: 'Be brief' };
    const second = await socket.turn({ input: [output('call_1')], previous_response_id: idOf(first), ...more });
    expect(textOf(second)).toBe('It is found');
    // As agents do that send everything each time.
    const all = [message('Look'), ...outputOf(first), output('call_1')];
    const third = await socket.turn({
      input: [...all, ...outputOf(second), message('Really?')],
      ...more,
    });
    expect(textOf(third)).toBe('Yes');
    expect(provider.asked.map(({ body }) => body.previous_response_id)).toEqual([undefined, 'resp_1', 'resp_2']);
    expect(provider.asked.map(({ body }) => body.input)).toEqual([
      expect.anything(),
      [expect.objectContaining(output('call_1'))],
      [expect.objectContaining({ role: 'user' })],
    ]);
    expect(provider.asked.map(({ body }) => body.instructions)).toEqual(['Be brief', 'Be brief', 'Be brief']);
    expect(provider.asked.map(({ read }) => read.length)).toEqual([1, 4, 6]);
    for (const frames of [first, second, third]) expect(JSON.stringify(frames)).not.toContain('resp_');
    expect(records.map(({ costNanoUsd }) => Number(costNanoUsd))).toEqual([28_000, 104_000, 128_000]);
  });

  it.each([
    ['begins with another text', () => [message('Other'), message('More')]],
    ['leaves the response out', () => [message('Look'), message('More')]],
    [
      'changes the response',
      (items: object[]) => [
        message('Look'),
        { ...items[0], content: [{ type: 'output_text', text: 'X' }] },
        message('M'),
      ],
    ],
    ['adds nothing', (items: object[]) => [message('Look'), ...items]],
  ])('gets the whole input where the conversation %s', async (_, inputOf) => {
    const { tested, provider } = setUp();
    const socket = await openSocket(tested);
    const first = await socket.turn({ input: 'Look' });
    const input = inputOf(outputOf(first));
    await socket.turn({ input });
    const [, second] = provider.asked;
    expect(second?.over).toBe('socket');
    expect(second?.body).not.toHaveProperty('previous_response_id');
    expect(second?.read).toHaveLength(input.length);
  });

  it('gets the whole input, once, where the provider has forgotten the response, before the client sees anything', async () => {
    const { tested, provider, records } = setUp();
    const socket = await openSocket(tested);
    const first = await socket.turn({ input: 'Look' });
    provider.will({ error: { status: 400, code: 'previous_response_not_found' } }, { text: 'two' });
    const second = await socket.turn({ input: 'More', previous_response_id: idOf(first) });
    expect(textOf(second)).toBe('two');
    expect(provider.asked.map(({ body }) => body.previous_response_id)).toEqual([undefined, 'resp_1', undefined]);
    expect(provider.asked[2]?.read).toHaveLength(3);
    expect(records).toHaveLength(2);
    expect(records[1]?.attempts).toHaveLength(1);
    // The next one goes on again.
    await socket.turn({ input: 'More', previous_response_id: idOf(second) });
    expect(provider.asked[3]?.body.previous_response_id).toBe('resp_3');
  });

  it('never goes on again where the provider takes no such request, but takes it whole', async () => {
    const { tested, provider } = setUp();
    const socket = await openSocket(tested);
    let last = await socket.turn({ input: 'Look' });
    provider.will({ error: { status: 400, code: 'unsupported_parameter' } }, { text: 'two' });
    for (const input of ['More', 'Still more']) last = await socket.turn({ input, previous_response_id: idOf(last) });
    expect(last.at(-1)?.type).toBe('response.completed');
    expect(provider.asked.map(({ body }) => body.previous_response_id)).toEqual([
      undefined,
      'resp_1',
      undefined,
      undefined,
    ]);
  });

  it.each([
    [429, 'rate_limit_exceeded', { 'retry-after': '7' }, 429],
    [400, 'invalid_prompt', {}, 400],
    [401, 'invalid_api_key', {}, 502],
    [503, 'server_is_overloaded', {}, 529],
  ])('tells of the error %i as by HTTP, and is used again', async (status, code, headers, shown) => {
    const told = async (webSocket: boolean) => {
      const up = { ...provider, webSocket, baseUrl: 'https://up.test/v1', apiKey: upstreamKeys.up };
      const { tested, provider: asked, records } = setUp({ providers: { up, alt: up }, retry: { maxAttempts: 1 } });
      asked.will({ error: { status, code, headers } });
      const socket = await openSocket(tested);
      const [error] = await socket.turn({ input: 'Hello' });
      const [record] = records;
      return { error, record: record?.error, cost: record?.costNanoUsd, socket, asked, tested };
    };
    const [bySocket, byHttp] = [await told(true), await told(false)];
    expect(bySocket.asked.asked[0]?.over).toBe('socket');
    expect(bySocket.error).toEqual(byHttp.error);
    expect(bySocket.error).toMatchObject({ type: 'error', status: shown });
    if (status === 429) expect(bySocket.error?.headers).toMatchObject({ 'retry-after': '7' });
    expect([bySocket.record, bySocket.cost]).toEqual([byHttp.record, byHttp.cost]);
    await bySocket.tested.clock.advance(600_000);
    expect((await bySocket.socket.turn({ input: 'Again' })).at(-1)?.type).toBe('response.completed');
  });

  it('is opened anew with the key that a provider is given after a 401', async () => {
    const keys = ['sk-old-0123456789', 'sk-new-0123456789'];
    const up = { ...provider, baseUrl: 'https://up.test/v1', apiKey: () => keys.shift() ?? 'sk-none' };
    const { tested, provider: asked } = setUp({ providers: { up, alt: up } });
    asked.will({ error: { status: 401, code: 'expired' } });
    const socket = await openSocket(tested);
    expect((await socket.turn({ input: 'Hello' })).at(-1)?.type).toBe('response.completed');
    expect(asked.connections.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer sk-old-0123456789',
      'Bearer sk-new-0123456789',
    ]);
  });

  it('is tried after another provider has failed, and each has its own', async () => {
    const { tested, provider } = setUp();
    provider.will({ error: { status: 500, code: 'server_error' } }, { error: { status: 500, code: 'server_error' } });
    const socket = await openSocket(tested);
    const frames = await socket.turn({ model: 'acme/pair', input: 'Hello' });
    expect(frames.at(-1)?.type).toBe('response.completed');
    expect(new Set(provider.connections.map(({ url }) => url))).toEqual(
      new Set(['https://up.test/v1/responses', 'https://alt.test/v1/responses']),
    );
  });

  it('that closes in the middle of a response leaves a response that is cut, never a whole one', async () => {
    const { tested, provider, records } = setUp();
    provider.will({ text: 'Hello there you', after: { events: 5, does: 'close' } });
    const socket = await openSocket(tested);
    const frames = await socket.turn({ input: 'Hello' });
    expect(frames.at(-1)?.type).not.toBe('response.completed');
    expect(frames.some(({ type }) => type === 'response.output_text.delta')).toBe(true);
    expect(Number(records[0]?.costNanoUsd)).toBeGreaterThan(0);
    expect((await socket.turn({ input: 'Again' })).at(-1)?.type).toBe('response.completed');
    expect(provider.connections).toHaveLength(2);
  });

  it('that closes before the first event has failed, and the next attempt opens another', async () => {
    const { tested, provider } = setUp();
    provider.will({ after: { events: 0, does: 'close' } });
    const socket = await openSocket(tested);
    expect((await socket.turn({ input: 'Hello' })).at(-1)?.type).toBe('response.completed');
    expect(provider.connections).toHaveLength(2);
  });

  it('that has died while nothing was asked is replaced without a failed attempt', async () => {
    const { tested, provider, records } = setUp();
    const socket = await openSocket(tested);
    await socket.turn({ input: 'a' });
    provider.connections[0]?.close();
    await socket.turn({ input: 'b' });
    // It dies in the very moment.
    provider.will({ after: { events: 0, does: 'close' } });
    expect((await socket.turn({ input: 'c' })).at(-1)?.type).toBe('response.completed');
    expect(provider.connections).toHaveLength(3);
    expect(records.map(({ attempts }) => attempts.length)).toEqual([1, 1, 1]);
  });

  it('is closed at once when the client leaves, and what was received is paid', async () => {
    const { tested, provider, records } = setUp();
    provider.will({ text: 'Hello there you', after: { events: 5, does: 'hang' } });
    const socket = await openSocket(tested);
    socket.send({ type: 'response.create', model: 'acme/fast', input: 'Hello' });
    await socket.until(({ type }) => type === 'response.output_text.delta');
    const atMs = tested.clock.now();
    socket.session.closed();
    expect(provider.connections[0]?.isOpen).toBe(false);
    expect(provider.asked[0]?.isLeft).toBe(true);
    await turns(50);
    expect(tested.clock.now() - atMs).toBeLessThan(50);
    expect(Number(records[0]?.costNanoUsd)).toBeGreaterThan(0);
    expect(tested.gateway.state()).toMatchObject({ requestsInFlight: 0, holds: 0 });
  });

  it.each([
    ['before the first event', { events: 0, does: 'hang' as const }],
    ['between two events', { events: 5, does: 'hang' as const }],
  ])('that says nothing %s is given up after the same time as by HTTP', async (_, after) => {
    const { tested, provider } = setUp({ retry: { maxAttempts: 1 } });
    provider.will({ text: 'Hello there you', after });
    const socket = await openSocket(tested);
    const frames = await socket.turn({ input: 'Hello' });
    expect(frames.at(-1)?.type).not.toBe('response.completed');
    expect(provider.connections[0]?.isOpen).toBe(false);
    expect(provider.asked[0]?.isLeft).toBe(true);
  });

  it.each([426, 500, 'hang' as const])(
    'that is refused (%s) is not asked for again by the client, who gets HTTP',
    async (refuses) => {
      const { tested, provider, logged, records } = setUp();
      provider.refuses = refuses;
      const socket = await openSocket(tested);
      for (const input of ['a', 'b']) expect((await socket.turn({ input })).at(-1)?.type).toBe('response.completed');
      expect(provider.asked.map(({ over }) => over)).toEqual(['http', 'http']);
      expect(records.map(({ attempts }) => attempts.length)).toEqual([1, 1]);
      expect(logged).toHaveLength(1);
      expect(JSON.stringify(logged)).toContain('"provider":"up"');
      expect(JSON.stringify(logged)).not.toContain(upstreamKeys.up);
      // Another client tries anew.
      provider.refuses = null;
      await (await openSocket(tested)).turn({ input: 'c' });
      expect(provider.asked[2]?.over).toBe('socket');
    },
  );

  it('that the provider calls too old is opened anew, and so is one of its age, and one that nobody used', async () => {
    const { tested, provider, records } = setUp({ webSockets: { lifeMs: 100_000_000 } });
    const socket = await openSocket(tested);
    const first = await socket.turn({ input: 'a' });
    provider.will({ error: { status: 400, code: 'websocket_connection_limit_reached' } }, { text: 'two' });
    expect(textOf(await socket.turn({ input: 'b', previous_response_id: idOf(first) }))).toBe('two');
    expect(provider.connections.map(({ isOpen }) => isOpen)).toEqual([false, true]);
    expect(provider.asked.at(-1)?.read).toHaveLength(3);
    // Kept busy, it reaches its age.
    const openedAtMs = tested.clock.now();
    while (provider.connections.length === 2) {
      await tested.clock.advance(240_000);
      await socket.turn({ input: 'again' });
    }
    const ageMs = tested.clock.now() - openedAtMs;
    expect(ageMs).toBeGreaterThanOrEqual(3_540_000);
    expect(ageMs).toBeLessThan(3_900_000);
    expect(provider.connections.map(({ isOpen }) => isOpen)).toEqual([false, false, true]);
    await tested.clock.advance(300_001);
    expect(provider.connections.at(-1)).toMatchObject({ isOpen: false });
    await socket.turn({ input: 'again' });
    expect(provider.connections).toHaveLength(4);
    expect(records.every(({ attempts }) => attempts.length === 1)).toBe(true);
  });

  it('is pinged while nothing is asked, and dropped where nobody answers', async () => {
    const { tested, provider } = setUp();
    const socket = await openSocket(tested);
    await socket.turn({ input: 'a' });
    await tested.clock.advance(25_000);
    await tested.clock.advance(25_000);
    expect(provider.connections[0]).toMatchObject({ pings: 2, isOpen: true });
    provider.pongs = false;
    for (let at = 0; at < 3; at++) await tested.clock.advance(25_000);
    expect(provider.connections[0]?.isOpen).toBe(false);
  });

  it('serves one response at a time; others of the client come by HTTP meanwhile', async () => {
    const { tested, provider } = setUp();
    const { promise: until, resolve } = Promise.withResolvers<void>();
    provider.will({ text: 'slow', until }, { text: 'quick' });
    const socket = await openSocket(tested);
    socket.send({ type: 'response.create', model: 'acme/fast', input: 'a', stream_id: 'a' });
    await socket.until(({ type }) => type === 'response.output_text.delta');
    const quick = await socket.turn({ input: 'b', stream_id: 'b' });
    expect(quick.at(-1)?.stream_id).toBe('b');
    expect(provider.asked.map(({ over }) => over)).toEqual(['socket', 'http']);
    resolve();
    expect((await socket.until(isEnd)).at(-1)).toMatchObject({ stream_id: 'a', type: 'response.completed' });
  });

  it('are bounded for each client: the one that was not used for the longest time gives way', async () => {
    const { tested, provider } = setUp({ webSockets: { upstream: { perConnection: 1 } } });
    const socket = await openSocket(tested);
    for (const model of ['acme/fast', 'acme/other', 'acme/fast']) await socket.turn({ model, input: 'a' });
    expect(provider.connections.map(({ isOpen }) => isOpen)).toEqual([false, false, true]);
  });

  it('shows the client nothing but events of its response: no limits of the account, no key', async () => {
    const { tested, provider } = setUp();
    const secret = upstreamKeys.up;
    provider.will({
      text: `the key is ${secret} indeed`,
      before: ['{"type":"codex.rate_limits","plan_type":"pro"}', '{"type":"session.created"}'],
    });
    const socket = await openSocket(tested);
    const frames = await socket.turn({ input: 'Hello' });
    expect(frames.at(-1)?.type).toBe('response.completed');
    const shown = JSON.stringify(frames);
    expect(shown).not.toContain(secret);
    expect(shown).not.toContain('rate_limits');
    expect(shown).not.toContain('session.created');
  });

  it.each([
    ['no JSON', 'hello'],
    ['an object without a type', '{"a":1}'],
    ['an event of no response', '{"type":"response.output_text.delta","delta":"x"}'],
    ['a response that was given already', '{"type":"response.completed","response":{"id":"resp_1","output":[]}}'],
    ['an event that is too deep', `{"type":"response.created","response":${'['.repeat(9_999)}`],
  ])('that sends %s first has failed: it is closed, and another attempt is made', async (_, frame) => {
    const { tested, provider } = setUp();
    const socket = await openSocket(tested);
    await socket.turn({ input: 'a' });
    provider.will({ before: [frame], text: 'wrong' }, { text: 'right' });
    expect(textOf(await socket.turn({ input: 'b' }))).toBe('right');
    expect(provider.connections.map(({ isOpen }) => isOpen)).toEqual([false, true]);
  });

  it('that sends events which nobody asked for is closed before the next response can begin with them', async () => {
    const { tested, provider } = setUp();
    const socket = await openSocket(tested);
    await socket.turn({ input: 'a' });
    provider.connections[0]?.listener.frame('{"type":"codex.rate_limits"}');
    expect(provider.connections[0]?.isOpen).toBe(true);
    provider.connections[0]?.listener.frame('{"type":"response.created","response":{"id":"resp_x"}}');
    expect(provider.connections[0]?.isOpen).toBe(false);
    expect(textOf(await socket.turn({ input: 'b' }))).toBe('ok');
  });

  it('waits while the client does not read', async () => {
    const { tested, provider } = setUp({ limits: { upstreamStreamBytes: 100_000_000 } });
    const { promise, resolve } = Promise.withResolvers<void>();
    provider.will({
      text: `${'word '.repeat(10)}${'x'.repeat(40_000)} ${'y'.repeat(40_000)} ${'z'.repeat(200_000)} end`,
    });
    let isSlow = true;
    const socket = await openSocket(tested, { room: () => (isSlow ? promise : undefined) });
    socket.send({ type: 'response.create', model: 'acme/fast', input: 'Hello' });
    await turns(300);
    expect(provider.connections[0]?.isPaused).toBe(true);
    isSlow = false;
    resolve();
    expect((await socket.until(isEnd)).at(-1)?.type).toBe('response.completed');
    expect(provider.connections[0]?.isPaused).toBe(false);
  });
});

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await nextTurn();
}

describe('the option webSocket', () => {
  const gatewayWith = (up: object, options: object = {}) =>
    setUp({
      providers: { up: { baseUrl: 'https://up.test/v1', webSocket: true, ...up }, alt: { baseUrl: 'https://a.test' } },
      ...options,
    });

  it.each([
    ['a dialect that has none', {}, {}, 'its dialect is openai-chat'],
    [
      'a transport that opens none',
      provider,
      { transport: { send: async () => ({}) as never } },
      'the option transport',
    ],
    [
      'a fetch of the host app',
      provider,
      { transport: undefined, fetch: async () => new Response() },
      'the option fetch',
    ],
  ])('is refused with %s', (_, up, options, why) => {
    expect(() => gatewayWith(up, options)).toThrow('providers.up.webSocket');
    expect(() => gatewayWith(up, options)).toThrow(why);
  });
});
