import { describe, expect, it } from 'vitest';
import { testGateway } from '../support/gateway.ts';
import { isEnd, openSocket } from '../support/socket.ts';
import { chunk, sse, textStream, usageChunk } from '../support/upstream.ts';

const answered = (text: string) => ({ body: textStream(text) });
const create = (fields: object) => ({ type: 'response.create', model: 'acme/fast', ...fields });
/** A provider that begins, and says no more until it is told to. */
function held(text = 'Hi', rest = sse(chunk({ content: text }), chunk({}, 'stop'), usageChunk(), '[DONE]')) {
  const { promise: until, resolve: release } = Promise.withResolvers<void>();
  return { answer: { body: [sse(chunk({ content: 'A ' })), { until }, rest] }, release };
}
const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } };
const calls = sse(chunk({ tool_calls: [call] }), chunk({}, 'tool_calls'), usageChunk(), '[DONE]');
const tools = [{ type: 'function', name: 'look', parameters: { type: 'object', properties: {} } }];

describe('the lanes of a WebSocket', () => {
  it('without a name, one response is made at a time, in the order in which they were asked for', async () => {
    const tested = testGateway();
    const first = held('one');
    tested.upstream.answer(first.answer, answered('two'), answered('three'));
    const socket = await openSocket(tested);
    for (const input of ['1', '2', '3']) socket.send(create({ input }));
    await socket.until(({ type }) => type === 'response.created');
    expect(tested.upstream.sent).toHaveLength(1);
    first.release();
    for (const text of ['one', 'two', 'three'])
      expect((await socket.until(isEnd)).at(-1)?.response.output[0]?.content).toMatchObject([
        { text: text === 'one' ? 'A one' : text },
      ]);
  });

  it('with names, each goes on by itself, and every event tells of which it is', async () => {
    const tested = testGateway();
    const slow = held('slow');
    tested.upstream.answer(slow.answer, answered('quick'));
    const socket = await openSocket(tested);
    socket.send(create({ input: 'a', stream_id: 'a' }));
    socket.send(create({ input: 'b', stream_id: 'b' }));
    const quick = await socket.until(isEnd);
    expect(quick.at(-1)).toMatchObject({ stream_id: 'b', type: 'response.completed' });
    slow.release();
    expect((await socket.until(isEnd)).at(-1)).toMatchObject({ stream_id: 'a', type: 'response.completed' });
    expect(socket.frames.every(({ stream_id: id }) => id === 'a' || id === 'b')).toBe(true);
    socket.send(create({ input: 'c', stream_id: 'a', model: 'acme/none' }));
    expect((await socket.until(isEnd)).at(-1)).toMatchObject({ type: 'error', stream_id: 'a' });
  });

  it('one goes on from the latest response of another, which keeps its own', async () => {
    const tested = testGateway();
    tested.upstream.always(answered('Hi'));
    const socket = await openSocket(tested);
    const [origin] = (await socket.turn({ input: 'origin', stream_id: 'a' })).slice(-1);
    const previous_response_id = origin?.response.id;
    for (const stream_id of ['b', 'c', 'a'])
      expect((await socket.turn({ input: stream_id, stream_id, previous_response_id })).at(-1)?.type).toBe(
        'response.completed',
      );
    // Its own lane has another now.
    expect((await socket.turn({ input: 'd', stream_id: 'd', previous_response_id })).at(-1)?.type).toBe('error');
  });

  it('are bounded in number, and so is what is made at once and what waits', async () => {
    const tested = testGateway({ webSockets: { streams: 3, inFlight: 2, queueBytes: 1_000 } });
    const waiting = [held('0'), held('1')];
    tested.upstream.answer(...waiting.map(({ answer }) => answer), answered('2'));
    const socket = await openSocket(tested);
    for (const stream_id of ['a', 'b', 'c']) socket.send(create({ input: 'x', stream_id }));
    await socket.until(({ type, stream_id: id }) => type === 'response.created' && id === 'b');
    expect(tested.upstream.sent).toHaveLength(2);
    socket.send(create({ input: 'x', stream_id: 'd' }));
    expect((await socket.until(isEnd)).at(-1)).toMatchObject({
      status: 400,
      stream_id: 'd',
      error: { code: 'websocket_stream_limit_reached', param: 'stream_id' },
    });
    socket.send(create({ input: 'x'.repeat(1_000), stream_id: 'a' }));
    expect((await socket.until(isEnd)).at(-1)).toMatchObject({
      status: 429,
      error: { code: 'websocket_queue_limit_reached' },
    });
    for (const { release } of waiting) release();
    const ended = [];
    for (let at = 0; at < 3; at++) ended.push((await socket.until(isEnd)).at(-1)?.stream_id);
    expect(ended.toSorted()).toEqual(['a', 'b', 'c']);
  });

  it('let no more requests wait than a connection may send, however short they are', async () => {
    const tested = testGateway();
    const slow = held();
    tested.upstream.answer(slow.answer);
    const socket = await openSocket(tested);
    socket.send(create({ input: 'x' }));
    await socket.until(({ type }) => type === 'response.created');
    for (let at = 0; at < 10_000; at++) socket.send('{"type":"response.create"}');
    expect(socket.frames.some(({ type }) => type === 'error')).toBe(false);
    socket.send('{"type":"response.create"}');
    expect(socket.frames.slice(-1)).toMatchObject([
      { type: 'error', status: 429, error: { code: 'websocket_queue_limit_reached' } },
    ]);
    socket.session.closed();
    slow.release();
  });

  it('that are refused at once leave time for everything else between one and the next', async () => {
    const tested = testGateway();
    const socket = await openSocket(tested);
    await socket.turn({ input: 1 });
    for (let at = 0; at < 200; at++) socket.send(create({ input: at }));
    await new Promise((resolve) => setImmediate(resolve));
    expect(socket.frames.length).toBeLessThan(20);
    for (let at = 0; at < 200; at++)
      expect((await socket.until(isEnd)).at(-1)).toMatchObject({ type: 'error', status: 400 });
  });

  it('serve what has waited as it was sent', async () => {
    const tested = testGateway();
    const slow = held();
    tested.upstream.answer(slow.answer, answered('two'), answered('three'));
    const socket = await openSocket(tested);
    socket.send(create({ input: 'one' }));
    socket.send(create({ input: 'two', temperature: 0.25, generate: true, previous_response_id: null }));
    socket.send(create({ input: 'three', seed: 7, stream_id: 'a' }));
    slow.release();
    for (let at = 0; at < 3; at++) expect((await socket.until(isEnd)).at(-1)?.type).toBe('response.completed');
    const bodies = tested.upstream.sent.map(({ body: { temperature, seed, messages } }) => ({
      temperature,
      seed,
      messages,
    }));
    expect(bodies).toContainEqual({ temperature: 0.25, seed: undefined, messages: [{ role: 'user', content: 'two' }] });
    expect(bodies).toContainEqual({ temperature: undefined, seed: 7, messages: [{ role: 'user', content: 'three' }] });
  });
});

describe('a WebSocket that is closed', () => {
  it('by the client stops what is made, at once, and what was received is paid', async () => {
    const tested = testGateway();
    const { answer } = held();
    tested.upstream.always(answer);
    const socket = await openSocket(tested);
    for (const stream_id of ['a', 'b']) socket.send(create({ input: 'x', stream_id }));
    socket.send(create({ input: 'waits', stream_id: 'a' }));
    await socket.until(({ type, stream_id: id }) => type === 'response.created' && id === 'b');
    const before = socket.frames.length;
    const atMs = tested.clock.now();
    socket.session.closed();
    await tested.run(Promise.resolve());
    expect(tested.upstream.sent.map(({ closedAtMs }) => closedAtMs)).toEqual([atMs, atMs]);
    const ends = tested.records.map(({ status, outcome }) => [status, outcome]);
    expect(ends).toEqual([
      [499, 'cancelled'],
      [499, 'cancelled'],
    ]);
    expect(tested.records.every(({ costNanoUsd }) => Number(costNanoUsd) > 0)).toBe(true);
    expect(tested.gateway.state()).toMatchObject({ requestsInFlight: 0, holds: 0 });
    expect(socket.frames).toHaveLength(before);
    socket.send(create({ input: 'x' }));
    expect(socket.frames).toHaveLength(before);
  });

  it('by its age takes no more, finishes what is made, and says why', async () => {
    const tested = testGateway({ webSockets: { lifeMs: 5_000 } });
    const one = held();
    tested.upstream.answer(one.answer);
    const socket = await openSocket(tested);
    socket.send(create({ input: 'x' }));
    socket.send(create({ input: 'waits' }));
    await socket.until(({ type }) => type === 'response.created');
    await tested.clock.advance(5_000);
    const limit = { type: 'error', status: 400, error: { code: 'websocket_connection_limit_reached' } };
    expect((await socket.until(({ type }) => type === 'error')).at(-1)).toMatchObject(limit);
    expect(socket.closed).toBeNull();
    socket.send(create({ input: 'late' }));
    expect((await socket.until(({ type }) => type === 'error')).at(-1)).toMatchObject(limit);
    one.release();
    expect((await socket.until(isEnd)).at(-1)?.type).toBe('response.completed');
    expect((await socket.until(isEnd)).at(-1)).toMatchObject(limit);
    expect(socket.closed?.code).toBe(1000);
  });

  it('by nobody, while the client answers pings; and after two without an answer', async () => {
    const tested = testGateway({ webSockets: { pingMs: 1_000 } });
    const socket = await openSocket(tested);
    for (let at = 0; at < 5; at++) {
      await tested.clock.advance(1_000);
      socket.session.pong();
    }
    expect([socket.pings, socket.closed]).toEqual([5, null]);
    await tested.clock.advance(3_000);
    expect([socket.pings, socket.closed?.code]).toEqual([7, 1011]);
  });

  it('by the host is told that what is made is cut; in order, it is waited for', async () => {
    const tested = testGateway();
    const one = held();
    tested.upstream.answer(one.answer, held().answer);
    const idle = await openSocket(tested);
    const busy = await openSocket(tested);
    busy.send(create({ input: 'x' }));
    busy.send(create({ input: 'waits' }));
    await busy.until(({ type }) => type === 'response.created');
    for (const { session } of [idle, busy]) session.drain();
    expect([idle.closed?.code, idle.frames, busy.closed]).toEqual([1001, [], null]);
    expect((await busy.until(isEnd)).at(-1)).toMatchObject({ type: 'error', status: 503 });
    one.release();
    expect((await busy.until(isEnd)).at(-1)?.type).toBe('response.completed');
    expect(busy.closed?.code).toBe(1001);
    const last = await openSocket(tested);
    last.send(create({ input: 'x' }));
    await last.until(({ type }) => type === 'response.created');
    await tested.run(tested.gateway.close());
    expect((await last.until(isEnd)).at(-1)?.type).toBe('response.failed');
    expect(last.closed?.code).toBe(1001);
  });
});

describe('a client that reads slowly', () => {
  it('gets no more than it reads: nothing is read from the provider meanwhile', async () => {
    const tested = testGateway();
    const pieces = Array.from({ length: 50 }, (_, at) => sse(chunk({ content: `${at} ` })));
    tested.upstream.answer({ body: [...pieces, sse(chunk({}, 'stop'), usageChunk(), '[DONE]')] });
    const waiting: (() => void)[] = [];
    const room = () => new Promise<void>((resolve) => waiting.push(resolve));
    const socket = await openSocket(tested, { room });
    socket.send(create({ input: 'x' }));
    await tested.run(Promise.resolve());
    for (let frames = 1; frames < 20; frames++) {
      await tested.run(Promise.resolve());
      expect(socket.frames).toHaveLength(frames);
      waiting.shift()?.();
    }
    socket.session.closed();
    for (const go of waiting) go();
    await tested.run(Promise.resolve());
    expect(tested.upstream.sent[0]?.closedAtMs).not.toBeNull();
  });

  it('and provokes errors that it does not read has to go', async () => {
    const tested = testGateway();
    const socket = await openSocket(tested, { room: () => new Promise(() => undefined) });
    for (let at = 0; at < 1_000; at++) socket.send('{');
    expect(socket.closed).toBeNull();
    socket.send('{');
    expect([socket.closed?.code, socket.frames.length]).toEqual([1008, 1_001]);
    const reading = await openSocket(tested, { room: () => Promise.resolve() });
    for (let at = 0; at < 3_000; at++) {
      reading.send('{');
      if (at % 500 === 0) await tested.run(Promise.resolve());
    }
    expect(reading.closed).toBeNull();
  });

  it('and provokes large ones that it does not read has to go much sooner', async () => {
    const tested = testGateway({ webSockets: { queueBytes: 10_000 } });
    const socket = await openSocket(tested, { room: () => new Promise(() => undefined) });
    const steer = { type: 'response.steer', previous_response_id: 'gen-none', input: 'x'.repeat(4_000) };
    socket.send(steer);
    socket.send(steer);
    expect(socket.closed).toBeNull();
    socket.send(steer);
    expect([socket.closed?.code, socket.frames.length]).toEqual([1008, 3]);
  });

  it('and has stopped is given up, and its connection closed', async () => {
    const tested = testGateway({ timeouts: { totalMs: 5_000 } });
    tested.upstream.answer(held().answer);
    const socket = await openSocket(tested, { room: () => new Promise(() => undefined) });
    socket.send(create({ input: 'x' }));
    await tested.run(Promise.resolve());
    await tested.clock.advance(5_000);
    await tested.run(Promise.resolve());
    expect(socket.closed?.code).toBe(1008);
    expect(tested.gateway.state().requestsInFlight).toBe(0);
  });
});

it('what connections can go on from is bounded over all of them, and the workspace that has most gives way', async () => {
  const tested = testGateway({ webSockets: { memoryBytes: 20_000 } });
  tested.upstream.always(answered('Hi'));
  const large = await openSocket(tested);
  const small = await openSocket(tested);
  const [kept] = (await small.turn({ input: 'small' })).slice(-1);
  const [lost] = (await large.turn({ input: 'x'.repeat(30_000) })).slice(-1);
  const [fits] = (await large.turn({ input: 'x'.repeat(10_000) })).slice(-1);
  const on = async (socket: typeof large, id: unknown) =>
    (await socket.turn({ input: 'on', previous_response_id: id })).at(-1)?.type;
  expect(await on(large, lost?.response.id)).toBe('error');
  expect(await on(large, fits?.response.id)).toBe('response.completed');
  expect(await on(small, kept?.response.id)).toBe('response.completed');
});

describe('a response that is steered', () => {
  const steer = (id: unknown, input: unknown = 'Shorter') => ({
    type: 'response.steer',
    previous_response_id: id,
    input,
  });

  it('ends, and another that begins with the new input follows by itself, with the settings of the first', async () => {
    const tested = testGateway();
    const one = held('Long story');
    tested.upstream.answer(one.answer, answered('Short'));
    const socket = await openSocket(tested);
    socket.send(create({ input: 'Tell', temperature: 0.5, stream_id: 'a' }));
    const [created] = (await socket.until(({ type }) => type === 'response.created')).slice(-1);
    const id = created?.response.id;
    socket.send(steer(id));
    const [accepted] = (await socket.until(({ type }) => type.startsWith('response.steer'))).slice(-1);
    expect(accepted).toMatchObject({
      type: 'response.steer.accepted',
      stream_id: 'a',
      steer: { previous_response_id: id },
    });
    one.release();
    await socket.until(isEnd);
    const next = await socket.until(isEnd);
    expect(next.at(-1)).toMatchObject({
      type: 'response.completed',
      stream_id: 'a',
      response: { previous_response_id: id, temperature: 0.5 },
    });
    const numbers = socket.frames.slice(0, -next.length).map(({ sequence_number: number }) => number);
    expect(numbers).toEqual(numbers.map((_, at) => at));
    expect(tested.upstream.sent[1]?.body).toMatchObject({
      temperature: 0.5,
      messages: [{ content: 'Tell' }, { role: 'assistant' }, { role: 'user', content: 'Shorter' }],
    });
  });

  it('and waits for results of tools keeps the input until the client sends them', async () => {
    const tested = testGateway();
    const { answer, release } = held('', calls);
    tested.upstream.answer(answer, answered('Short'));
    const socket = await openSocket(tested);
    socket.send(create({ input: 'Tell', tools }));
    const [created] = (await socket.until(({ type }) => type === 'response.created')).slice(-1);
    socket.send(steer(created?.response.id));
    release();
    const [pending] = (await socket.until(({ type }) => type === 'response.steer.pending')).slice(-1);
    const required = [{ type: 'function_call_output', call_id: 'call_1', name: 'look' }];
    expect(pending).toMatchObject({ reason: 'waiting_for_required_input', required_input: required });
    const input = required.map(({ name: _, ...stub }) => ({ ...stub, output: 'found' }));
    await socket.turn({ input, tools, previous_response_id: created?.response.id });
    const messages = tested.upstream.sent[1]?.body.messages as object[];
    expect(JSON.stringify(messages)).toMatch(/Shorter/);
    expect(messages).toMatchObject([
      { content: 'Tell' },
      { role: 'assistant' },
      { role: 'tool' },
      { content: 'Shorter' },
    ]);
  });

  it('takes no more input than may wait, and gives back what waited for results that never came', async () => {
    const tested = testGateway({ webSockets: { queueBytes: 1_000 } });
    const { answer, release } = held('', calls);
    tested.upstream.answer(answer, answered('Other'));
    const socket = await openSocket(tested);
    socket.send(create({ input: 'Tell', tools }));
    const [created] = (await socket.until(({ type }) => type === 'response.created')).slice(-1);
    const id = created?.response.id;
    socket.send(steer(id, 'a'.repeat(700)));
    socket.send(steer(id, 'b'.repeat(700)));
    const [refused] = (await socket.until(({ type }) => type === 'response.steer.failed')).slice(-1);
    expect(refused).toMatchObject({ error: { code: 'too_many_pending_steers' }, steer: { input: 'b'.repeat(700) } });
    release();
    await socket.until(({ type }) => type === 'response.steer.pending');
    // Another conversation begins: nobody can send the results any more.
    await socket.turn({ input: 'Other' });
    const [back] = (await socket.until(({ type }) => type === 'response.steer.failed')).slice(-1);
    expect(back).toMatchObject({ error: { code: 'response_not_active' }, steer: { input: 'a'.repeat(700) } });
    // And its room is free again.
    tested.upstream.always(answered('Hi'));
    expect((await socket.turn({ input: 'c'.repeat(700) })).at(-1)?.type).toBe('response.completed');
  });

  it('by nobody any more, when the host stops, gives the input back', async () => {
    const tested = testGateway();
    const one = held();
    tested.upstream.answer(one.answer);
    const socket = await openSocket(tested);
    socket.send(create({ input: 'Tell' }));
    const [created] = (await socket.until(({ type }) => type === 'response.created')).slice(-1);
    socket.send(steer(created?.response.id, 'mine'));
    socket.session.drain();
    one.release();
    const [failed] = (await socket.until(({ type }) => type === 'response.steer.failed')).slice(-1);
    expect(failed).toMatchObject({ error: { code: 'successor_creation_failed' }, steer: { input: 'mine' } });
    expect(socket.closed?.code).toBe(1001);
  });

  it.each<[string, (id: unknown) => object, string]>([
    ['that is not known', () => steer('gen-none'), 'response_not_found'],
    ['that is complete', (id) => steer(id), 'response_already_completed'],
    ['without an id', () => steer(undefined), 'invalid_input'],
    ['with nothing', (id) => steer(id, ''), 'invalid_input'],
    ['with words of the model', (id) => steer(id, [{ role: 'assistant', content: 'x' }]), 'invalid_input'],
    ['with results', (id) => steer(id, [{ type: 'function_call_output', call_id: 'c', output: 'x' }]), 'invalid_input'],
    ['with more fields', (id) => ({ ...steer(id), model: 'acme/other' }), 'invalid_input'],
  ])('%s is refused, and the input comes back', async (_, frameOf, code) => {
    const tested = testGateway();
    tested.upstream.always(answered('Hi'));
    const socket = await openSocket(tested);
    const [done] = (await socket.turn({ input: 'x' })).slice(-1);
    const frame = frameOf(done?.response.id) as { input: unknown };
    socket.send(frame);
    const [failed] = (await socket.until(({ type }) => type === 'response.steer.failed')).slice(-1);
    expect(failed).toMatchObject({ error: { code, type: 'invalid_request_error' }, steer: { input: frame.input } });
    expect(failed?.steer.id).toBeUndefined();
  });

  it.each([
    ['that fails gives the input back', { breaks: true as const }, 'response_not_active'],
    ['whose next one cannot be made gives the input back', null, 'successor_creation_failed'],
  ])('%s', async (_, broken, code) => {
    const tested = testGateway({ retry: { maxAttempts: 1 } });
    const one = held();
    const body = broken === null ? one.answer.body : [...one.answer.body.slice(0, 2), broken];
    tested.upstream.answer({ body }, { status: 400, body: { error: { message: 'no' } } });
    const socket = await openSocket(tested);
    socket.send(create({ input: 'x' }));
    const [created] = (await socket.until(({ type }) => type === 'response.created')).slice(-1);
    socket.send(steer(created?.response.id, 'mine'));
    const [accepted] = (await socket.until(({ type }) => type === 'response.steer.accepted')).slice(-1);
    one.release();
    const [failed] = (await socket.until(({ type }) => type === 'response.steer.failed')).slice(-1);
    expect(failed).toMatchObject({ error: { code }, steer: { id: accepted?.steer.id, input: 'mine' } });
    expect((await socket.turn({ input: 'y' })).at(-1)?.type).toBe('error');
  });
});
