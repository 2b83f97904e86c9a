import { describe, expect, it } from 'vitest';
import { isGatewayError } from '../../src/base/errors.ts';
import type { ChatRequest } from '../../src/schema/chat/chat.ts';
import type { OperationRecord } from '../../src/telemetry/record.ts';
import { hello, nextTurn, testGateway, testKey } from '../support/gateway.ts';
import { chunk, completion, errorBody, sse, textStream } from '../support/upstream.ts';

const messages: ChatRequest['messages'] = [{ role: 'user', content: 'Hello' }];
const body = { model: 'acme/fast', messages };
const streamed = { ...body, stream: true } as const;
const begun = sse(chunk({ role: 'assistant', content: 'Hi' }));

async function errorOf(work: Promise<unknown>) {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!isGatewayError(error)) throw new Error('It threw no GatewayError', { cause: error });
  return error;
}

async function drained<T>(stream: AsyncIterable<T>): Promise<{ items: T[]; error: unknown }> {
  const items: T[] = [];
  try {
    for await (const one of stream) items.push(one);
  } catch (error) {
    return { items, error };
  }
  return { items, error: null };
}

describe('a chat completion in process', () => {
  it('is the one that a client gets, with the same record', async () => {
    const { gateway, upstream, records, post } = testGateway();
    upstream.always({ body: completion() });
    const result = await gateway.chat.completions.create(body);
    const { json } = await post(body);
    const { id } = json as { id: string };
    expect({ ...result, id }).toEqual(json);
    expect(result.id).toMatch(/^gen-/);
    expect(result.choices[0]?.message.content).toBe('Hello there');
    expect(result.usage?.cost).toBeGreaterThan(0);
    expect(records.map(({ id, costNanoUsd, outcome }) => [id, costNanoUsd, outcome])).toEqual([
      [result.id, records[1]?.costNanoUsd, 'ok'],
      [id, records[1]?.costNanoUsd, 'ok'],
    ]);
  });
  it('is not changed by what its caller does with its own objects', async () => {
    const { gateway, upstream } = testGateway();
    upstream.always({ body: completion() });
    const messages = [...hello] as ChatRequest['messages'];
    const asked = gateway.chat.completions.create({ model: 'acme/fast', messages, user: undefined });
    messages.push({ role: 'user', content: 'More' });
    await asked;
    expect(upstream.sent[0]?.body.messages).toEqual(hello);
  });
  it('takes headers as a request does, and reads no key', async () => {
    const { gateway, upstream, records } = testGateway();
    upstream.always({ body: completion() });
    const headers = { 'x-service-metadata': 'enabled', 'x-session-id': 's-1', authorization: `Bearer ${testKey}` };
    const result = await gateway.chat.completions.create(body, { headers });
    expect(result.service_metadata).toMatchObject({ requested: 'acme/fast', attempt: 1 });
    expect(records[0]).toMatchObject({ sessionId: 's-1', apiKeyHash: null });
    expect(
      (await errorOf(gateway.chat.completions.create(body, { headers: { 'x-service-timeout-ms': '0' } }))).status,
    ).toBe(400);
  });
  it('throws the error of which a response would tell', async () => {
    const operations: OperationRecord[] = [];
    const { gateway, upstream, records, run } = testGateway({ onOperation: (record) => operations.push(record) });
    upstream.always({ status: 400, body: errorBody('no such thing') });
    const wrong = await errorOf(gateway.chat.completions.create({ ...body, temperature: 9 }));
    expect([wrong.status, wrong.metadata?.issues]).toEqual([400, [expect.objectContaining({ path: 'temperature' })]]);
    expect(operations).toMatchObject([{ kind: 'refusal', operation: 'createChatCompletion', status: 400 }]);
    expect(operations[0]?.id).toBe(wrong.headers?.['x-generation-id']);
    const refused = await run(errorOf(gateway.chat.completions.create(streamed)));
    expect([refused.status, refused.message]).toEqual([400, expect.stringContaining('no such thing')]);
    expect(records).toHaveLength(1);
    const circular: Record<string, unknown> = { ...body };
    circular.self = circular;
    for (const given of [circular, null, 'text', [body], { ...body, seed: 1n }])
      expect((await errorOf(gateway.chat.completions.create(given as never))).status).toBe(400);
    for (const options of [null, { timeout: 1 }, { signal: {} }, { headers: { 'a b': 'c' } }])
      expect((await errorOf(gateway.chat.completions.create(body, options as never))).metadata?.issues).toMatchObject([
        { path: expect.stringMatching(/^options/) },
      ]);
    await gateway.close();
    expect((await errorOf(gateway.chat.completions.create(body))).status).toBe(503);
  });
  it('has the permissions, the models and the workspace of its caller', async () => {
    const { gateway, upstream, records } = testGateway();
    upstream.always({ body: completion() });
    const manager = gateway.as({ permissions: ['management'] });
    expect((await errorOf(manager.chat.completions.create(body))).status).toBe(403);
    const ada = gateway.as({
      permissions: ['inference'],
      workspaceId: 'w-1',
      userId: 'ada',
      allowedModels: ['acme/o*'],
    });
    expect((await errorOf(ada.chat.completions.create(body))).status).toBe(403);
    await ada.chat.completions.create({ ...body, model: 'acme/other' });
    expect(records.at(-1)).toMatchObject({ workspaceId: 'w-1', userId: 'ada', outcome: 'ok' });
  });
  it('is held against the budget of its workspace', async () => {
    const { gateway } = testGateway();
    await gateway.budgets.put({ id: 'default', interval: 'daily', limit_usd: 0.000001 });
    for (const given of [body, streamed])
      expect((await errorOf(gateway.chat.completions.create(given))).status).toBe(402);
  });
  it('is refused under overload, as a request is, and counts as one in flight', async () => {
    const { gateway, upstream } = testGateway({ overload: { maxInFlight: 1 } });
    upstream.always({ body: [begun, { hangs: true }] });
    const stream = await gateway.chat.completions.create(streamed);
    expect(gateway.state().requestsInFlight).toBe(1);
    expect((await errorOf(gateway.chat.completions.create(body))).status).toBe(503);
    await stream.return();
    expect(gateway.state().requestsInFlight).toBe(0);
  });
  it.each([undefined, new Error('enough')])(
    'stops at an abort before the answer, and throws its reason: %s',
    async (reason) => {
      const { gateway, upstream, records } = testGateway();
      upstream.always({ instead: 'hang' });
      const stop = new AbortController();
      const asked = gateway.chat.completions.create(body, { signal: stop.signal });
      await nextTurn();
      stop.abort(reason);
      await expect(asked).rejects.toBe(stop.signal.reason);
      expect([upstream.sent[0]?.closedAtMs, records[0]?.outcome]).toEqual([expect.any(Number), 'cancelled']);
      await expect(gateway.chat.completions.create(body, { signal: stop.signal })).rejects.toBe(stop.signal.reason);
      expect(upstream.sent).toHaveLength(1);
    },
  );
});

describe('a streamed chat completion in process', () => {
  it('has the chunks that a client gets, cut anywhere', async () => {
    const { gateway, upstream, records, post } = testGateway();
    upstream.always({ body: textStream('Hel', 'lo', ' wörld') });
    const stream = await gateway.chat.completions.create(streamed);
    const { items, error } = await drained(stream);
    const events = (await post(streamed)).text.match(/(?<=^data: )\{.*$/gm)?.map((one) => JSON.parse(one)) ?? [];
    expect(error).toBeNull();
    expect(items).toEqual(events.map((event) => ({ ...event, id: stream.id })));
    expect([stream.id, stream.headers['x-generation-id']]).toEqual([items[0]?.id, items[0]?.id]);
    expect(items.at(-1)?.usage?.cost).toBeGreaterThan(0);
    expect(records.map(({ outcome }) => outcome)).toEqual(['ok', 'ok']);
    expect(await stream.next()).toEqual({ done: true, value: undefined });
  });
  it('stops the provider, and pays for what came, when its reader leaves the loop', async () => {
    const { gateway, upstream, records } = testGateway();
    upstream.always({ body: [begun, begun, { hangs: true }] });
    for await (const { choices } of await gateway.chat.completions.create(streamed)) {
      if (choices[0]?.delta.content === 'Hi') break;
    }
    expect([upstream.sent[0]?.closedAtMs, records[0]?.outcome]).toEqual([expect.any(Number), 'cancelled']);
    expect(records[0]?.costNanoUsd).toBeGreaterThan(0);
    expect(gateway.state().requestsInFlight).toBe(0);
  });
  it('stops the provider also where nobody has read, or a read waits', async () => {
    for (const waits of [false, true]) {
      const { gateway, upstream, records } = testGateway();
      upstream.always({ body: [begun, { hangs: true }] });
      const stream = await gateway.chat.completions.create(streamed);
      if (waits) await stream.next();
      const waiting = waits ? stream.next() : null;
      expect(await stream.return()).toEqual({ done: true, value: undefined });
      expect((await waiting)?.done ?? true).toBe(true);
      expect(await stream.next()).toEqual({ done: true, value: undefined });
      expect([upstream.sent[0]?.closedAtMs, records[0]?.outcome]).toEqual([expect.any(Number), 'cancelled']);
    }
  });
  it.each([true, false])('breaks at an abort, with its reason (a read waits: %s)', async (waits) => {
    const { gateway, upstream, records } = testGateway();
    upstream.always({ body: [begun, { hangs: true }] });
    const stop = new AbortController();
    const stream = await gateway.chat.completions.create(streamed, { signal: stop.signal });
    await stream.next();
    const waiting = waits ? stream.next() : null;
    stop.abort();
    await expect(waiting ?? stream.next()).rejects.toBe(stop.signal.reason);
    expect([upstream.sent[0]?.closedAtMs, records[0]?.outcome]).toEqual([expect.any(Number), 'cancelled']);
  });
  it('throws where it breaks off, so that a cut answer never looks complete', async () => {
    for (const cut of [
      [begun, { breaks: true }],
      [begun],
      [begun, sse({ error: { message: 'Overloaded', code: 503 } })],
    ]) {
      const { gateway, upstream, records, run } = testGateway();
      upstream.always({ body: cut as string[] });
      const { items, error } = await run(drained(await run(gateway.chat.completions.create(streamed))));
      expect(items.map(({ choices }) => choices[0]?.delta.content).join('')).toBe('Hi');
      expect(isGatewayError(error)).toBe(true);
      expect(error).toMatchObject({ status: expect.any(Number), metadata: { usage: { cost: expect.any(Number) } } });
      expect((error as { status: number }).status).toBeGreaterThanOrEqual(502);
      expect(items.some(({ choices }) => choices[0]?.finish_reason)).toBe(false);
      expect(records[0]?.outcome).toBe('cut');
    }
  });
  it('throws when the gateway is closed meanwhile', async () => {
    const { gateway, upstream } = testGateway();
    upstream.always({ body: [begun, { hangs: true }] });
    const stream = await gateway.chat.completions.create(streamed);
    await stream.next();
    const waiting = errorOf(stream.next());
    await gateway.close();
    expect((await waiting).status).toBe(503);
  });
  it('gives chunks in order to reads that are made at once', async () => {
    const { gateway, upstream } = testGateway();
    upstream.always({ body: textStream('a', 'b', 'c') });
    const stream = await gateway.chat.completions.create(streamed);
    const read = await Promise.all(Array.from({ length: 9 }, () => stream.next()));
    const chunks = read.flatMap(({ value }) => value ?? []);
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe('abc');
    expect(read.at(-1)).toEqual({ done: true, value: undefined });
  });
});

describe('a response of the Responses operation in process', () => {
  const input = { model: 'acme/fast', input: 'Hello' };
  it('is the one that a client gets, complete and as events', async () => {
    const { gateway, upstream } = testGateway();
    upstream.answer({ body: completion() }, { body: textStream('Hel', 'lo') });
    const result = await gateway.responses.create(input);
    expect(result).toMatchObject({ object: 'response', status: 'completed', model: 'acme/fast' });
    const { items, error } = await drained(await gateway.responses.create({ ...input, stream: true }));
    expect(error).toBeNull();
    expect([items[0]?.type, items.at(-1)?.type]).toEqual(['response.created', 'response.completed']);
    expect(items.map((event) => (event.type === 'response.output_text.delta' ? event.delta : '')).join('')).toBe(
      'Hello',
    );
  });
  it('gives the event of its failure, and then throws', async () => {
    const { gateway, upstream, run } = testGateway();
    upstream.always({ body: [begun, { breaks: true }] });
    const { items, error } = await run(drained(await gateway.responses.create({ ...input, stream: true })));
    expect(items.at(-1)?.type).toBe('response.failed');
    expect(error).toMatchObject({ name: 'GatewayError', status: 502 });
  });
});
