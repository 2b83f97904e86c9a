import { describe, expect, it } from 'vitest';
import { fetchTransport } from '../../../src/transport/fetch.ts';
import { readAll, rejection, request, transportContract } from './suite.ts';

// The fetch of Node is an undici that cannot be configured.
transportContract('fetchTransport', () => fetchTransport(fetch), {
  skips100: false,
  repeatsOnDeadConnection: false,
  noticesResetWithoutLength: false,
  noticesCutCompression: false,
});

describe('fetchTransport on its own', () => {
  const url = 'http://upstream.example/v1';

  it('asks fetch for no redirects and no compression, and lets the caller ask otherwise', async () => {
    const seen: RequestInit[] = [];
    const transport = fetchTransport(async (_, init) => {
      seen.push(init!);
      return new Response('{}');
    });
    await transport.send(request(url));
    await transport.send({ ...request(url), headers: { 'accept-encoding': 'gzip' } });
    expect(seen.map(({ redirect }) => redirect)).toEqual(['manual', 'manual']);
    expect(seen.map(({ headers }) => new Headers(headers).get('accept-encoding'))).toEqual(['identity', 'gzip']);
  });

  it('takes the redirect a browser hides for a bad answer', async () => {
    const hidden = Object.defineProperties(new Response(), {
      status: { value: 0 },
      type: { value: 'opaqueredirect' },
    });
    const error = await rejection(fetchTransport(async () => hidden).send(request(url)));
    expect(error).toMatchObject({ name: 'UpstreamError', reason: 'bad_response', status: 502, fault: 'transient' });
  });

  it('does not wait for a fetch that ignores its signal, and cancels its late answer', async () => {
    const { promise: late, resolve } = Promise.withResolvers<Response>();
    const controller = new AbortController();
    const pending = rejection(fetchTransport(() => late).send({ ...request(url), signal: controller.signal }));
    const reason = new Error('the caller has left');
    controller.abort(reason);
    expect(await pending).toBe(reason);
    const cancelled = Promise.withResolvers<void>();
    resolve(new Response(new ReadableStream({ cancel: () => cancelled.resolve() })));
    await cancelled.promise;
  });

  it('rejects a pending read at once, whatever the body does with the abort', async () => {
    const controller = new AbortController();
    const silent = new Response(new ReadableStream());
    const { body } = await fetchTransport(async () => silent).send({ ...request(url), signal: controller.signal });
    const pending = rejection(body.read());
    controller.abort('why');
    expect(await pending).toBe('why');
  });

  it('skips empty pieces', async () => {
    const pieces = ['', 'a', '', '', 'b', ''].map((text) => new TextEncoder().encode(text));
    const stream = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        const piece = pieces.shift();
        if (piece === undefined) controller.close();
        else controller.enqueue(piece);
      },
    });
    const { body } = await fetchTransport(async () => new Response(stream)).send(request(url));
    expect((await readAll(body)).toString()).toBe('ab');
  });

  it('cancels the body of an answer whose headers are too large', async () => {
    const cancelled = Promise.withResolvers<void>();
    const stream = new ReadableStream({ cancel: () => cancelled.resolve() });
    const large = new Response(stream, { headers: { 'x-large': 'x'.repeat(40_000) } });
    const error = await rejection(fetchTransport(async () => large).send(request(url)));
    expect(error).toMatchObject({ reason: 'bad_response', message: 'the headers of the response are too large' });
    await cancelled.promise;
  });

  it('leaves no listener on the signal of a finished exchange', async () => {
    const { signal } = new AbortController();
    let listeners = 0;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners++;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners--;
      remove(...args);
    };
    const transport = fetchTransport(async () => new Response('{}'));
    await readAll((await transport.send({ ...request(url), signal })).body);
    expect(listeners).toBe(0);
  });
});
