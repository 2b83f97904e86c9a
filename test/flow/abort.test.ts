import { describe, expect, it } from 'vitest';
import { hello, joined, nextTurn, readStream, sseEvents, testGateway, testKey } from '../support/gateway.ts';
import { chunk, completion, errorBody, type Piece, sse, textStream } from '../support/upstream.ts';

const startMs = Date.UTC(2026, 0, 1);
const begun = sse(chunk({ role: 'assistant', content: '' }), chunk({ content: 'Hi' }));
const streaming = { model: 'acme/pair', messages: hello, stream: true };

async function turns(count = 6) {
  for (let turn = 0; turn < count; turn++) await nextTurn();
}

describe('a client that leaves', () => {
  it.each([false, true])('during a backoff starts no further attempt (stream: %s)', async (stream) => {
    const { send, upstream, clock, records } = testGateway();
    upstream.answer({ status: 429, headers: { 'retry-after': '5' }, body: errorBody('Slow') });
    const client = new AbortController();
    const pending = send({ ...streaming, stream }, {}, client.signal).catch((error: unknown) => error);
    await turns();
    await clock.advance(1000);
    client.abort();
    expect(await pending).toMatchObject({ name: 'AbortError' });
    expect(records).toMatchObject([{ outcome: 'cancelled', status: 499, attempts: [{ status: 429 }] }]);
    await clock.advance(100_000);
    expect(upstream.sent).toHaveLength(1);
    // What was spent is counted within a second.
    await clock.advance(1000);
    expect(clock.pending).toBe(0);
  });
  it('before it has begun is not served at all', async () => {
    const { send, upstream, records } = testGateway();
    const client = new AbortController();
    client.abort();
    const response = await send(streaming, {}, client.signal).catch(() => null);
    await response?.text();
    expect(upstream.sent).toEqual([]);
    expect(records.every(({ outcome }) => outcome === 'cancelled')).toBe(true);
  });
  it.each(['its signal', 'its body'])(
    'through %s, after a stream was opened by a comment, is settled once',
    async (how) => {
      const { send, upstream, clock, records } = testGateway();
      upstream.answer({ afterMs: 30_000, body: [begun, { hangs: true }] });
      const client = new AbortController();
      const pending = send(streaming, {}, client.signal);
      await turns();
      await clock.advance(10_000);
      const response = await pending;
      const reader = response.body?.getReader();
      await reader?.read();
      // The relay opens while nobody reads.
      await clock.advance(20_000);
      await turns();
      if (how === 'its signal') client.abort();
      else await reader?.cancel();
      await turns();
      expect(records).toMatchObject([{ outcome: 'cancelled', status: 499 }]);
      expect(upstream.sent[0]?.closedAtMs).toBe(startMs + 30_000);
      // What was spent is counted within a second.
      await clock.advance(1000);
      expect(clock.pending).toBe(0);
    },
  );
  it.each(['its signal', 'its body'])(
    'through %s, while a stream opened by a comment still waits, stops the attempt',
    async (how) => {
      const { send, upstream, clock, records } = testGateway();
      upstream.answer({ instead: 'hang' });
      const client = new AbortController();
      const pending = send(streaming, {}, client.signal);
      await turns();
      await clock.advance(10_000);
      const response = await pending;
      const reader = response.body?.getReader();
      await reader?.read();
      if (how === 'its signal') client.abort();
      else await reader?.cancel();
      await turns();
      expect(records).toMatchObject([{ outcome: 'cancelled', status: 499 }]);
      expect(upstream.sent[0]?.closedAtMs).toBe(startMs + 10_000);
      // What was spent is counted within a second.
      await clock.advance(1000);
      expect(clock.pending).toBe(0);
    },
  );
});

describe('nothing is left behind', () => {
  it.each<[string, boolean, readonly Piece[]]>([
    ['a stream that ends', true, textStream('Hi')],
    ['a stream that is cut', true, [begun]],
    ['an answer', false, [JSON.stringify(completion())]],
    ['a failure', false, ['<html>']],
  ])('after %s no timer runs', async (_, stream, body) => {
    const { post, upstream, clock } = testGateway({ retry: { maxAttempts: 1 } });
    upstream.answer({ body });
    await post({ ...streaming, stream });
    await turns();
    // What was spent is counted within a second.
    await clock.advance(1000);
    expect(clock.pending).toBe(0);
  });
});

describe('time-outs', () => {
  const timeouts = { headersMs: 1000, jsonHeadersMs: 1500, firstEventMs: 2000, idleMs: 3000, totalMs: 50_000 };
  const options = { timeouts, retry: { maxAttempts: 1 } };
  it.each<[string, boolean, object, number, number]>([
    ['to the headers of JSON', false, { instead: 'hang' }, 1500, 524],
    ['to the headers of a stream', true, { instead: 'hang' }, 1000, 524],
    ['to the first event', true, { body: [{ hangs: true }] }, 2000, 524],
    [
      'to the first event, which a comment is not',
      true,
      { body: [': hi\n\n', { waitMs: 1900 }, ': hi\n\n', { hangs: true }] },
      2000,
      524,
    ],
    ['to the first of a body', false, { body: [{ hangs: true }] }, 2000, 524],
    ['between pieces of a body', false, { body: ['{"a":', { waitMs: 2900 }, '1', { hangs: true }] }, 5900, 524],
    ['between pieces of an error', false, { status: 500, body: ['{"error":', { hangs: true }] }, 3000, 524],
    [
      'of the whole request',
      false,
      { body: Array.from({ length: 100 }, () => [' ', { waitMs: 1000 }]).flat() },
      50_000,
      408,
    ],
  ])('%s', async (_, stream, answer, afterMs, status) => {
    const { post, upstream, clock, records } = testGateway({ ...options, keepAlive: { firstMs: 100_000 } });
    upstream.answer(answer);
    const answered = await post({ ...streaming, stream });
    expect([answered.status, clock.now() - startMs]).toEqual([status, afterMs]);
    expect(answered.json.error.metadata?.error_type).toBe('timeout');
    expect(upstream.sent[0]?.closedAtMs).toBe(startMs + afterMs);
    expect(records).toMatchObject([{ outcome: 'failed', status, totalMs: afterMs }]);
  });
  it.each<[string, readonly Piece[], number, number]>([
    ['between events', [begun, { waitMs: 2900 }, sse(chunk({ content: '!' })), { hangs: true }], 5900, 524],
    [
      'of the whole request',
      [begun, ...Array.from({ length: 100 }, (): Piece[] => [{ waitMs: 1000 }, sse(chunk({ content: '!' }))]).flat()],
      50_000,
      408,
    ],
  ])('%s, in the stream', async (_, body, afterMs, code) => {
    const { post, upstream, clock, records } = testGateway(options);
    upstream.answer({ body });
    const { chunks } = await post(streaming);
    expect([chunks.at(-1)?.error?.code, clock.now() - startMs]).toEqual([code, afterMs]);
    expect(upstream.sent[0]?.closedAtMs).toBe(startMs + afterMs);
    expect(records).toMatchObject([{ outcome: 'cut', status: code }]);
  });
  it('do not run while the client is slow to read', async () => {
    const { send, upstream, clock, run } = testGateway(options);
    upstream.answer({ body: [begun, sse(chunk({ content: '!' })), sse(chunk({}, 'stop'), '[DONE]')] });
    const reader = (await run(send(streaming))).body?.getReader();
    let text = '';
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true };
      if (done) break;
      text += new TextDecoder().decode(value);
      await clock.advance(10_000);
    }
    expect(sseEvents(text).at(-1)).toEqual({ data: '[DONE]' });
    expect(text).not.toContain('error');
  });
});

describe('the whole request', () => {
  const slow = (options: object = {}) => testGateway({ timeouts: { totalMs: 5000 }, ...options });
  const endless = (signal?: AbortSignal) =>
    new Request('http://gateway.test/v1/chat/completions', {
      method: 'POST',
      headers: { authorization: `Bearer ${testKey}` },
      body: new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode('{"messages":')) }),
      duplex: 'half',
      ...(signal ? { signal } : {}),
    } as RequestInit);

  it('includes a body that does not come', async () => {
    const { gateway, run, clock } = slow();
    const response = await run(gateway.fetch(endless()));
    expect([response.status, clock.now() - startMs, clock.pending]).toEqual([408, 5000, 0]);
  });
  it('includes an `authenticate` that does not answer', async () => {
    const { post, clock } = slow({ authenticate: () => new Promise(() => undefined) });
    expect([(await post(streaming)).status, clock.now() - startMs, clock.pending]).toEqual([408, 5000, 0]);
  });
  it('ends while a body is awaited when the client leaves or the gateway closes', async () => {
    const { gateway, clock } = slow();
    const client = new AbortController();
    const left = gateway.fetch(endless(client.signal)).catch((error: unknown) => error);
    const closed = gateway.fetch(endless());
    await turns();
    client.abort();
    expect(await left).toMatchObject({ name: 'AbortError' });
    await gateway.close();
    expect((await closed).status).toBe(503);
    // What was spent is counted within a second.
    await clock.advance(1000);
    expect(clock.pending).toBe(0);
  });
});

describe('comments while waiting', () => {
  it('open a stream after a silence before the first token, and keep it open', async () => {
    const { post, upstream, clock } = testGateway();
    upstream.answer({ afterMs: 35_000, body: textStream('Hi') });
    const { comments, chunks, text } = await post(streaming);
    expect(comments).toEqual(['SERVICE PROCESSING', 'SERVICE PROCESSING', 'SERVICE PROCESSING']);
    expect(text.startsWith(': SERVICE PROCESSING\n\n')).toBe(true);
    expect(joined(chunks).content).toBe('Hi');
    expect(clock.now() - startMs).toBe(35_000);
  });
  it('come in the middle of a stream too', async () => {
    const { post, upstream } = testGateway();
    upstream.answer({ body: [begun, { waitMs: 25_000 }, sse(chunk({}, 'stop'), '[DONE]')] });
    const { comments } = await post(streaming);
    expect(comments).toEqual(['SERVICE PROCESSING', 'SERVICE PROCESSING']);
  });
  it('do not come while the stream speaks', async () => {
    const { post, upstream } = testGateway();
    upstream.answer({
      body: [
        begun,
        ...Array.from({ length: 10 }, (): Piece[] => [{ waitMs: 9000 }, sse(chunk({ content: '!' }))]).flat(),
        sse(chunk({}, 'stop'), '[DONE]'),
      ],
    });
    expect((await post(streaming)).comments).toEqual([]);
  });
  it('name the brand, and come as often as was said', async () => {
    const { post, upstream } = testGateway({ brand: 'acme', keepAlive: { firstMs: 1000, everyMs: 500 } });
    upstream.answer({ afterMs: 2200, body: textStream('Hi') });
    expect((await post(streaming)).comments).toEqual(['ACME PROCESSING', 'ACME PROCESSING', 'ACME PROCESSING']);
  });
  it('do not keep a failure before the first token from falling over', async () => {
    const { post, upstream } = testGateway({ retry: { attemptsPerEndpoint: 1 } });
    upstream.answer({ afterMs: 15_000, status: 500, body: errorBody('Late') }, { body: textStream('Hi') });
    const { comments, chunks } = await post(streaming);
    expect(comments).toHaveLength(1);
    expect(joined(chunks).content).toBe('Hi');
    expect(chunks[0]?.provider).toBe('Alt');
  });
  it('leave a failure only the stream to be told in', async () => {
    const { post, upstream, records } = testGateway({ retry: { maxAttempts: 1 } });
    upstream.answer({ afterMs: 15_000, status: 500, body: errorBody('Late') });
    const { status, comments, chunks } = await post(streaming, { 'x-service-metadata': 'enabled' });
    expect([status, comments.length, chunks.length]).toEqual([200, 1, 1]);
    expect(chunks[0]).toMatchObject({
      error: { code: 502, type: 'server_error', message: 'Provider returned error: Late' },
      choices: [{ index: 0, finish_reason: 'error' }],
      service_metadata: { attempt: 1, attempts: [{ provider: 'Up', status: 500 }] },
    });
    expect(records).toMatchObject([{ outcome: 'failed', status: 502 }]);
  });
});

describe('gateway.close()', () => {
  it('ends open streams with an error in the stream', async () => {
    const { gateway, send, upstream, run, records, clock } = testGateway();
    upstream.answer({ body: [begun, { hangs: true }] });
    const response = await run(send(streaming));
    const reading = readStream(response);
    await turns();
    await gateway.close();
    const { chunks } = await reading;
    expect(chunks.at(-1)?.error).toMatchObject({ code: 503 });
    expect(records).toMatchObject([{ outcome: 'cut', status: 503 }]);
    // What was spent is counted within a second.
    await clock.advance(1000);
    expect(clock.pending).toBe(0);
  });
  it('ends what waits, and takes nothing new', async () => {
    const { gateway, send, upstream, post } = testGateway();
    upstream.answer({ instead: 'hang' });
    const pending = send({ ...streaming, stream: false });
    await turns();
    await gateway.close();
    expect((await pending).status).toBe(503);
    const { status, headers } = await post(streaming);
    expect([status, headers.get('retry-after')]).toEqual([503, '1']);
    expect(upstream.sent).toHaveLength(1);
  });
});
