import { describe, expect, it } from 'vitest';
import type { Transport } from '../../src/entries/testing.ts';
import { definePlugin } from '../../src/index.ts';
import { holdOf, ledgerOf, withBudget } from '../support/booked.ts';
import { hello } from '../support/gateway.ts';
import { chunk, completion, errorBody, type ScriptedAnswer, sse, usageChunk } from '../support/upstream.ts';

// What an attempt costs that has brought nothing.

const ask = { model: 'acme/one', messages: hello, max_tokens: 100 };
const streamed = { ...ask, stream: true };
const outputNanoUsd = 100 * 8_000;
const once = { retry: { maxAttempts: 1 } };
const silent: ScriptedAnswer = { instead: 'hang' };

describe('a request whose client leaves before the first token', () => {
  const leave = async (body: object, answer: ScriptedAnswer, model = 'acme/one') => {
    const tested = await withBudget(1);
    tested.upstream.answer(answer);
    const controller = new AbortController();
    const pending = tested.send({ ...body, model }, {}, controller.signal).catch(() => undefined);
    await tested.clock.advance(1_000);
    expect(tested.upstream.sent).toHaveLength(1);
    controller.abort();
    await pending;
    return { tested, ...(await ledgerOf(tested)) };
  };

  it('costs its hold where JSON was asked for: the provider may make all of it', async () => {
    const { spent, held, tested } = await leave(ask, silent);
    expect([spent, held]).toEqual([await holdOf(ask), 0]);
    expect(tested.records[0]).toMatchObject({ outcome: 'cancelled', costNanoUsd: spent });
    expect(tested.records[0]?.attempts).toMatchObject([{ status: 499, costNanoUsd: spent }]);
  });
  it('costs its prompt where a stream was asked for, with headers or without', async () => {
    const prompt = (await holdOf(ask)) - outputNanoUsd;
    expect(prompt).toBeGreaterThan(0);
    for (const answer of [silent, { body: [sse(chunk({ role: 'assistant', content: '' })), { hangs: true }] } as const])
      expect(await leave(streamed, answer)).toMatchObject({ spent: prompt, held: 0 });
  });
  it('costs its hold where the model may be reasoning, unseen', async () => {
    const hold = await holdOf({ ...ask, reasoning_effort: 'high' });
    expect(await leave({ ...streamed, reasoning_effort: 'high' }, silent)).toMatchObject({ spent: hold, held: 0 });
    const { spent, tested } = await leave(streamed, silent, 'acme/thinks');
    expect(spent).toBe(tested.records[0]?.heldNanoUsd);
    expect(spent).toBeGreaterThan(outputNanoUsd);
  });
  it.each([
    ['nothing while it waits for a connection', false],
    ['its hold from its first byte on', true],
  ])('costs %s', async (_, isSent) => {
    const transport: Transport = {
      reportsSending: true,
      send(request) {
        if (isSent) request.sending?.();
        return new Promise((_resolve, reject) =>
          request.signal.addEventListener('abort', () => reject(request.signal.reason)),
        );
      },
    };
    const tested = await withBudget(1, { transport });
    const controller = new AbortController();
    const pending = tested.send(ask, {}, controller.signal).catch(() => undefined);
    await tested.clock.advance(1_000);
    controller.abort();
    await pending;
    expect(await ledgerOf(tested)).toEqual({ spent: isSent ? await holdOf(ask) : 0, held: 0 });
  });
  it('is not sent again by the transport where a budget would not know', async () => {
    const seen: unknown[] = [];
    const transport: Transport = {
      async send({ mayRepeat }) {
        seen.push(mayRepeat);
        throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
      },
    };
    const tested = await withBudget(1, { transport, ...once });
    await tested.post(ask);
    await tested.call('DELETE', '/workspaces/default/budgets/lifetime');
    await tested.post(ask);
    expect(seen).toEqual([false, true]);
  });
  it('costs nothing before it is sent', async () => {
    const never = definePlugin({ id: 'slow', prepare: () => new Promise(() => undefined) });
    const tested = await withBudget(1, { plugins: [never] });
    const controller = new AbortController();
    const pending = tested.send({ ...ask, plugins: [{ id: 'slow' }] }, {}, controller.signal).catch(() => undefined);
    await tested.clock.advance(1_000);
    controller.abort();
    await tested.clock.advance(1);
    expect(tested.upstream.sent).toEqual([]);
    expect((await ledgerOf(tested)).spent).toBe(0);
    void pending;
  });
});

describe('a request that runs into its deadline', () => {
  it('costs its hold where JSON was asked for', async () => {
    const tested = await withBudget(1);
    tested.upstream.answer(silent);
    expect((await tested.post(ask, { 'x-service-timeout-ms': '5000' })).status).toBe(408);
    expect(await ledgerOf(tested)).toEqual({ spent: await holdOf(ask), held: 0 });
  });
});

describe('an attempt that may have been served', () => {
  const timeouts = { jsonHeadersMs: 1_000, headersMs: 1_000 };

  it.each<[string, ScriptedAnswer, object]>([
    ['that timed out', silent, { timeouts }],
    ['whose connection broke', { body: [{ breaks: true }] }, {}],
    ['that brought nonsense', { body: '<html>' }, {}],
    ['that a proxy gave up waiting for', { status: 504, body: '{}' }, {}],
    ['whose error in a 200 is a time-out', { body: { error: { message: 'late', code: 524 } } }, {}],
  ])('%s costs its hold, and is not sent again where the budget does not cover both', async (_, answer, options) => {
    const hold = await holdOf(ask);
    const tested = await withBudget((1.5 * hold) / 1e9, options);
    tested.upstream.answer(answer, { body: completion() });
    expect((await tested.post({ ...ask, model: 'acme/two' })).status).toBeGreaterThanOrEqual(500);
    expect(tested.upstream.sent).toHaveLength(1);
    expect(await ledgerOf(tested)).toEqual({ spent: hold, held: 0 });
  });
  it('costs its hold where it reported its prompt, and may have reasoned since', async () => {
    const tested = await withBudget(1, { ...once, timeouts: { firstEventMs: 1_000 } });
    const usage = { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11 };
    const begun = sse(chunk({ role: 'assistant', content: '' }, null, { usage }));
    tested.upstream.answer({ body: [begun, { hangs: true }] }, { body: [begun, { hangs: true }] });
    await tested.post({ ...streamed, reasoning_effort: 'high' });
    const hold = await holdOf({ ...ask, reasoning_effort: 'high' });
    expect(tested.records[0]?.costNanoUsd).toBe(hold);
    // One that does not reason has made no more than that.
    await tested.post(streamed);
    expect(tested.records[1]?.costNanoUsd).toBe(10 * 1_000 + 8_000);
  });
  it('is sent again where the budget covers both, and both are booked', async () => {
    const hold = await holdOf(ask);
    const tested = await withBudget((2 * hold) / 1e9, { timeouts });
    tested.upstream.answer(silent, { body: completion() });
    const { status, json } = await tested.post(ask);
    expect([status, tested.upstream.sent.length]).toEqual([200, 2]);
    const spent = hold + 10 * 1_000 + 2 * 8_000;
    expect(json.usage?.cost).toBe(spent / 1e9);
    expect(await ledgerOf(tested)).toEqual({ spent, held: 0 });
  });
  it.each<[string, ScriptedAnswer]>([
    ['was refused with an error status', { status: 500, body: errorBody('no') }],
    ['was refused as too many', { status: 429, body: errorBody('no') }],
    ['was refused inside a 200', { body: { error: { message: 'no', code: 503 } } }],
    ['never had a connection', { instead: 'refuse' }],
  ])('costs nothing where it %s', async (_, answer) => {
    const tested = await withBudget(1, once);
    tested.upstream.answer(answer);
    expect((await tested.post(ask)).status).toBeGreaterThanOrEqual(429);
    expect(await ledgerOf(tested)).toEqual({ spent: 0, held: 0 });
  });
  it('costs its prompt in a workspace without limits, where it is only counted', async () => {
    const tested = await withBudget(1, once);
    await tested.call('DELETE', '/workspaces/default/budgets/lifetime');
    tested.upstream.answer({ body: '<html>' });
    await tested.post(ask);
    expect(tested.records[0]?.costNanoUsd).toBe(8_000);
  });
});

describe('with the default time-outs', () => {
  it('a JSON response is waited for for five minutes, and then the client is told whose time-out it was', async () => {
    const tested = await withBudget(1);
    tested.upstream.always(silent);
    const from = tested.clock.now();
    const { status } = await tested.post({ ...ask, model: 'acme/two' });
    expect([status, tested.clock.now() - from, tested.upstream.sent.length]).toEqual([524, 300_000, 1]);
  });
  it('a time-out is tried again where another as long still ends in time', async () => {
    const tested = await withBudget(1, { timeouts: { jsonHeadersMs: 250_000 } });
    tested.upstream.always(silent);
    const { status } = await tested.post(ask);
    expect([status, tested.upstream.sent.length]).toEqual([524, 2]);
  });
});

describe('of two attempts beside each other', () => {
  it('the one that is let go of costs its prompt, as plugins have made it', async () => {
    const long = definePlugin({
      id: 'long',
      prepare: (request) => ({ ...request, messages: [{ role: 'user', content: 'x'.repeat(5_000) }] }),
    });
    const tested = await withBudget(1, { hedge: { enabled: true, afterMs: 1_000 }, plugins: [long] });
    const usage = { prompt_tokens: 900, completion_tokens: 2, total_tokens: 902 };
    const served = [chunk({ content: 'Hi' }), chunk({}, 'stop'), usageChunk(usage), '[DONE]'];
    tested.upstream.answer(silent, { body: [sse(...served)] });
    await tested.post({ ...streamed, model: 'acme/two', plugins: [{ id: 'long' }] });
    const prompt = (await holdOf({ ...ask, messages: [{ role: 'user', content: 'x'.repeat(5_000) }] })) - outputNanoUsd;
    expect(tested.records[0]?.attempts).toMatchObject([
      { status: 499, errorType: 'hedged', costNanoUsd: prompt },
      { status: 200, costNanoUsd: 0 },
    ]);
    expect(await ledgerOf(tested)).toEqual({ spent: prompt + 900 * 1_000 + 2 * 8_000, held: 0 });
  });
});
