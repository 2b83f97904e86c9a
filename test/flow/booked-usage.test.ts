import { describe, expect, it } from 'vitest';
import { definePlugin } from '../../src/index.ts';
import { bookedModels, holdOf, ledgerOf, withBudget } from '../support/booked.ts';
import { hello, type TestGateway } from '../support/gateway.ts';
import { chunk, completion, type Piece, sse, usageChunk } from '../support/upstream.ts';

// What a response costs whose usage was not reported, not to its end, or not as it was.

const ask = { model: 'acme/one', messages: hello, max_tokens: 1_000 };
const usage = (prompt_tokens: number, completion_tokens: number) => ({
  prompt_tokens,
  completion_tokens,
  total_tokens: prompt_tokens + completion_tokens,
});
const said = (content: string, more: object = {}) => sse(chunk({ content }, null, more));
const text = 'some words '.repeat(20);

/** Reads so many buffers of a stream, and leaves after a while. @returns the usage that was recorded */
async function leave(tested: TestGateway, body: object, pieces: readonly Piece[], reads: number, afterMs = 0) {
  tested.upstream.answer({ body: [...pieces, { hangs: true }] });
  const response = await tested.send({ ...ask, ...body, stream: true });
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  for (let n = 0; n < reads; n++) await reader.read();
  await tested.clock.advance(afterMs);
  await reader.cancel();
  const [record] = tested.records;
  expect(record?.outcome).toBe('cancelled');
  const { spent, held } = await ledgerOf(tested);
  expect([spent, held]).toEqual([record?.costNanoUsd, 0]);
  return { usage: record?.usage, spent };
}

describe('a client that leaves after the first token', () => {
  it('pays for media at their bound where nobody has counted them', async () => {
    const image = { type: 'image_url', image_url: { url: 'https://a.test/a.png' } };
    const tested = await withBudget(10);
    const { spent } = await leave(tested, { messages: [{ role: 'user', content: [image] }] }, [said('Hi')], 1);
    expect(spent).toBeGreaterThan(50_000 * 1_000);
  });
  it('pays for the prompt as the provider counted it, and for all text that came after', async () => {
    const begun = said('', { usage: usage(700, 1) });
    const { usage: booked, spent } = await leave(await withBudget(1), {}, [begun, said(text)], 1);
    expect(booked?.prompt_tokens).toBe(700);
    expect(booked?.completion_tokens).toBeGreaterThanOrEqual(text.length);
    expect(spent).toBe(700 * 1_000 + (booked?.completion_tokens ?? 0) * 8_000);
  });
  it('pays for text that came after a report which could be of it', async () => {
    const begun = said('', { usage: usage(12, 1) });
    const { usage: booked } = await leave(await withBudget(1), {}, [begun, said('some words')], 1);
    expect(booked?.completion_tokens).toBeGreaterThan('some words'.length);
  });
  it('pays what the provider counted, where it has counted all that came', async () => {
    const { usage: booked } = await leave(await withBudget(1), {}, [said(text, { usage: usage(7, 40) })], 1);
    expect([booked?.prompt_tokens, booked?.completion_tokens]).toEqual([7, 40]);
  });
  it('pays for output at a token for each byte, which text cannot exceed', async () => {
    const { usage: booked } = await leave(await withBudget(1), {}, [said('1234567890'.repeat(20))], 1);
    expect(booked?.completion_tokens).toBeGreaterThanOrEqual(200);
    expect(booked?.completion_tokens).toBeLessThan(300);
  });
  it('pays its hold where the model may have reasoned unseen, and for what was seen otherwise', async () => {
    const tested = await withBudget(1);
    const { spent } = await leave(tested, { model: 'acme/thinks' }, [said('Hi')], 1);
    expect(spent).toBe(tested.records[0]?.heldNanoUsd);
    const thought = sse(chunk({ reasoning: 'Well, well' }));
    const open = await withBudget(1);
    const seen = await leave(open, { model: 'acme/thinks' }, [thought, said('Hi')], 2);
    expect(seen.usage?.completion_tokens).toBeLessThan(200);
  });
  it('pays its hold where it had stopped reading: the provider may have gone on', async () => {
    const { spent } = await leave(await withBudget(1), {}, [said('Hi'), said('more')], 1, 20);
    expect(spent).toBe(await holdOf(ask));
    const soon = await leave(await withBudget(1), {}, [said('Hi'), said('more')], 1, 19);
    expect(soon.spent).toBeLessThan(spent);
  });
  it('pays its hold where the provider goes on without it, before and after the first token', async () => {
    const providers = { up: { baseUrl: 'https://up.test/v1', apiKey: 'sk-up', quirks: { generatesOn: true } } };
    const models = bookedModels.slice(0, 1);
    const hold = await holdOf(ask);
    const { spent } = await leave(await withBudget(1, { providers, models }), {}, [said('Hi')], 1);
    expect(spent).toBe(hold);
    const tested = await withBudget(1, { providers, models, retry: { maxAttempts: 1 } });
    tested.upstream.answer({ instead: 'hang' });
    await tested.post({ ...ask, stream: true });
    expect(await ledgerOf(tested)).toEqual({ spent: hold, held: 0 });
  });
  it('pays for audio that came at its hold', async () => {
    const audio = sse(chunk({ audio: { id: 'a', data: 'AAAA' } }));
    const { spent } = await leave(await withBudget(1), {}, [audio], 1);
    expect(spent).toBe(await holdOf(ask));
  });
  it('pays for the prompt as plugins have made it', async () => {
    const messages = [{ role: 'user', content: 'x'.repeat(5_000) }];
    const long = definePlugin({ id: 'long', prepare: (request) => ({ ...request, messages: messages as never }) });
    const tested = await withBudget(1, { plugins: [long] });
    const { spent } = await leave(tested, { plugins: [{ id: 'long' }] }, [said('Hi')], 1);
    expect(spent).toBeGreaterThan((await holdOf({ ...ask, messages })) - 1_000 * 8_000);
    // And so without limits, by a usual number.
    const free = await withBudget(1, { plugins: [long] });
    await free.call('DELETE', '/workspaces/default/budgets/lifetime');
    free.upstream.answer({ body: [said('Hi'), { hangs: true }] });
    const response = await free.send({ ...ask, plugins: [{ id: 'long' }], stream: true });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    await reader.cancel();
    expect(free.records[0]?.usage?.prompt_tokens).toBeGreaterThan(500);
  });
});

describe('usage that cannot be', () => {
  const asJson = (reported: object, content = text) => ({ body: completion({ usage: reported }, { content }) });
  const asStream = (reported: object, content = text) => ({
    body: [said(content), sse(chunk({}, 'stop'), usageChunk(reported), '[DONE]')],
  });

  it.each([
    ['zero, as JSON', false, asJson(usage(0, 0))],
    ['zero, in a stream', true, asStream(usage(0, 0))],
    ['one token of output, as JSON', false, asJson(usage(10, 1))],
    ['one token of output, in a stream', true, asStream(usage(10, 1))],
  ])('is not believed beside text: %s', async (_, stream, answer) => {
    const tested = await withBudget(1);
    tested.upstream.answer(answer);
    expect((await tested.post({ ...ask, stream })).status).toBe(200);
    const [record] = tested.records;
    expect(record?.usage?.completion_tokens).toBeGreaterThanOrEqual(text.length);
    expect(record?.usage?.prompt_tokens).toBeGreaterThanOrEqual(10);
    expect(record?.isEstimated).toBe(true);
    expect(await ledgerOf(tested)).toEqual({ spent: record?.costNanoUsd, held: 0 });
  });
  it('of the first chunk alone is no report of the response', async () => {
    const tested = await withBudget(1);
    const begun = said('', { usage: usage(12, 0) });
    tested.upstream.answer({ body: [begun, said('Hello'), sse(chunk({}, 'stop'), '[DONE]')] });
    await tested.post({ ...ask, stream: true });
    const { usage: booked } = tested.records[0] as (typeof tested.records)[0];
    expect(booked?.prompt_tokens).toBe(12);
    expect(booked?.completion_tokens).toBeGreaterThanOrEqual(5);
  });
  it('is known by what no vocabulary holds: text of few tokens is believed', async () => {
    for (const [answer, stream] of [
      [asJson(usage(1, 2), ' '.repeat(256)), false],
      [asStream(usage(1, 2), ' '.repeat(256)), true],
    ] as const) {
      const tested = await withBudget(1);
      tested.upstream.answer(answer);
      await tested.post({ ...ask, stream });
      expect(tested.records[0]).toMatchObject({ isEstimated: false, costNanoUsd: 1_000 + 2 * 8_000 });
    }
  });
});
