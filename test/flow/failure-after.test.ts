import { describe, expect, it } from 'vitest';
import { hello, joined, testGateway } from '../support/gateway.ts';
import { chunk, errorBody, type Piece, sse, textStream, upstreamUsage, usageChunk } from '../support/upstream.ts';

const start = chunk({ role: 'assistant', content: '' });
const hi = chunk({ content: 'Hi' });
const begun = sse(start, hi);

/** Streams one answer; nothing may be tried twice once a token is out. */
async function streamOf(body: readonly Piece[], fields: object = {}) {
  const { post, upstream, records } = testGateway();
  upstream.answer({ body });
  const answer = await post({ model: 'acme/pair', messages: hello, stream: true, ...fields });
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
  expect(upstream.sent).toHaveLength(1);
  expect(records).toHaveLength(1);
  return { ...answer, last: answer.chunks.at(-1), record: records[0] };
}

describe('after the first token a failure is told in the stream, which never looks whole', () => {
  it.each<[string, Piece[], number, string]>([
    [
      'an error event',
      [begun, sse({ error: { message: 'Overloaded', type: 'server_error', code: 'overloaded' } }), sse('[DONE]')],
      529,
      'Overloaded',
    ],
    [
      'an error event of one name',
      [begun, sse(errorBody('Broken', 'boom')), sse(chunk({ content: 'more' }))],
      502,
      'Broken',
    ],
    ['a bare error object', [begun, '{"error":{"message":"Broken"}}\n'], 502, 'Broken'],
    ['a finish_reason that says error', [begun, sse(chunk({}, 'error'), usageChunk(), '[DONE]')], 502, ''],
    ['a finish_reason that says abort', [begun, sse(chunk({ content: '!' }, 'abort'), '[DONE]')], 502, ''],
    ['an end without finish_reason', [begun], 502, ''],
    ['usage and an end without finish_reason', [begun, sse(usageChunk())], 502, ''],
    ['the sentinel without finish_reason', [begun, sse('[DONE]')], 502, ''],
    ['a broken connection', [begun, { breaks: true }], 502, ''],
    ['an event that is not JSON', [begun, sse('{"choices":[')], 502, ''],
    ['half an event, then the end', [begun, 'data: {"choices":[{"index":0,"delta":{"content":"x"'], 502, ''],
    ['HTML in the middle', [begun, '<html>\n\n'], 502, ''],
    ['silence', [begun, { hangs: true }], 524, ''],
  ])('%s', async (_, body, code, message) => {
    const { last, chunks, record } = await streamOf(body);
    expect(joined(chunks.slice(0, -1))).toMatchObject({ content: expect.stringMatching(/^Hi/), finish: null });
    expect(last).toMatchObject({
      id: 'gen-1767225600-00000000000000000001',
      object: 'chat.completion.chunk',
      created: 1_767_225_600,
      model: 'acme/pair',
      provider: 'Up',
      error: { code, message: expect.stringContaining(message), metadata: { error_type: expect.any(String) } },
      choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error' }],
    });
    expect(last?.error?.message).not.toBe('');
    expect(record).toMatchObject({ outcome: 'cut', status: code, provider: 'Up', isEstimated: expect.any(Boolean) });
    expect(record?.usage?.prompt_tokens).toBeGreaterThan(0);
  });
  it.each<[string, string]>([
    ['an error event', sse({ error: { message: 'Broken' } })],
    ['an event that is not JSON', sse('{"choices":[')],
    ['an event beyond the limit', sse(chunk({ content: 'x'.repeat(2000) }))],
  ])('%s takes nothing away of what came with it in one piece', async (_, broken) => {
    const { post, upstream, records } = testGateway({ limits: { upstreamEventBytes: 1000 } });
    upstream.answer({ body: [begun, sse(chunk({ content: ' there' })) + broken, sse(chunk({}, 'stop'), '[DONE]')] });
    const { chunks } = await post({ model: 'acme/fast', messages: hello, stream: true });
    expect(joined(chunks).content).toBe('Hi there');
    expect(chunks.at(-1)?.error?.code).toBe(502);
    expect(records).toMatchObject([{ outcome: 'cut' }]);
  });
  it('pays for what was received, as the provider counted it where it did', async () => {
    const { record } = await streamOf([sse({ ...start, usage: upstreamUsage }, hi), { breaks: true }]);
    expect(record).toMatchObject({ outcome: 'cut', isEstimated: false, costNanoUsd: 36_000, usage: upstreamUsage });
  });
  it("tells the provider's code beside its message", async () => {
    const { last } = await streamOf([begun, sse({ error: { message: 'Broken', code: 'boom' } })]);
    expect(last?.error?.metadata).toEqual({ error_type: 'provider_unavailable', provider_code: 'boom' });
  });
  it('ends a stream of several choices of which one was not finished', async () => {
    const of = (index: number, delta: object, finish: string | null = null) => ({
      ...chunk({}),
      choices: [{ index, delta, finish_reason: finish }],
    });
    const { last } = await streamOf([sse(of(0, { content: 'a' }), of(1, { content: 'b' }), of(0, {}, 'stop'))], {
      n: 2,
    });
    expect(last?.error?.code).toBe(502);
  });
  it('ends a stream of several choices of which one never began', async () => {
    const of = (index: number, delta: object, finish: string | null = null) => ({
      ...chunk({}),
      choices: [{ index, delta, finish_reason: finish }],
    });
    const { last } = await streamOf([sse(of(0, { content: 'a' }), of(0, {}, 'stop'))], { n: 2 });
    expect(last?.error?.code).toBe(502);
  });
});

describe('a stream whose answer is whole stays whole', () => {
  it.each<[string, Piece[]]>([
    ['when the connection breaks after finish_reason', [begun, sse(chunk({}, 'stop')), { breaks: true }]],
    ['when it ends after finish_reason', [begun, sse(chunk({}, 'length'))]],
    ['when nothing more comes after finish_reason', [begun, sse(chunk({}, 'stop')), { hangs: true }]],
    ['when nonsense follows finish_reason', [begun, sse(chunk({}, 'stop')), sse('nonsense')]],
    ['when nonsense follows finish_reason in one piece', [begun, sse(chunk({}, 'stop'), 'nonsense')]],
    [
      'when an error follows the sentinel',
      [begun, sse(chunk({}, 'stop'), usageChunk(), '[DONE]', { error: { message: 'late' } })],
    ],
    ['when the connection breaks after the sentinel', [...textStream('Hi'), { breaks: true }]],
  ])('%s', async (_, body) => {
    const { chunks, record } = await streamOf(body);
    expect(joined(chunks).content).toBe('Hi');
    expect(chunks.at(-1)?.usage).toBeDefined();
    expect(record).toMatchObject({ outcome: 'ok', status: 200 });
  });
  it('when one choice takes long after another has finished', async () => {
    const of = (index: number, delta: object, finish: string | null = null) => ({
      ...chunk({}),
      choices: [{ index, delta, finish_reason: finish }],
    });
    const { chunks } = await streamOf(
      [
        sse(of(0, { content: 'a' }), of(0, {}, 'stop')),
        { waitMs: 30_000 },
        sse(of(1, { content: 'b' }), of(1, {}, 'stop'), '[DONE]'),
      ],
      { n: 2 },
    );
    expect([joined(chunks, 0), joined(chunks, 1)]).toMatchObject([
      { content: 'a', finish: 'stop' },
      { content: 'b', finish: 'stop' },
    ]);
  });
  it('when a provider answers with fewer choices than were asked for', async () => {
    const { chunks } = await streamOf(textStream('Hi'), { n: 3 });
    expect(joined(chunks)).toMatchObject({ content: 'Hi', finish: 'stop' });
  });
});

it('believes a sentinel alone of a provider that is known to send no finish_reason', async () => {
  const quirks = { finishesWithoutReason: true };
  const { post, upstream } = testGateway({
    providers: { up: { baseUrl: 'https://up.test/v1', quirks } },
    models: [{ slug: 'acme/fast', endpoints: [{ provider: 'up', model: 'm' }] }],
  });
  upstream.answer({ body: [begun, sse('[DONE]')] }, { body: [begun] });
  const whole = await post({ model: 'acme/fast', messages: hello, stream: true });
  expect(joined(whole.chunks)).toMatchObject({ content: 'Hi', finish: 'stop' });
  const cut = await post({ model: 'acme/fast', messages: hello, stream: true });
  expect(cut.chunks.at(-1)?.error?.code).toBe(502);
});
