import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { createGateway, type Gateway } from '../../src/gateway.ts';
import type { Transport, TransportRequest, TransportResponse } from '../../src/transport/transport.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const key = 'key-of-a-test';
const url = 'http://host/v1/chat/completions';
const event = 'data: {"id":"1","choices":[{"index":0,"delta":{"role":"assistant","content":"Hi"}}]}\n\n';

/** A provider that answers nothing, or one event of a stream, and then waits to be let go of. */
class Waiting implements Transport {
  isLetGo = false;
  readonly #asked = Promise.withResolvers<void>();
  readonly asked = this.#asked.promise;
  readonly #speaksFirst: boolean;

  constructor(speaksFirst: boolean) {
    this.#speaksFirst = speaksFirst;
  }

  async send({ signal }: TransportRequest): Promise<TransportResponse> {
    this.#asked.resolve();
    signal.addEventListener('abort', () => {
      this.isLetGo = true;
    });
    const nothing = new Promise<never>(() => undefined);
    if (!this.#speaksFirst) return nothing;
    let reads = 0;
    return {
      status: 200,
      headers: { 'content-type': 'text/event-stream' },
      body: {
        read: () => (reads++ === 0 ? Promise.resolve(new TextEncoder().encode(event)) : nothing),
        cancel: () => undefined,
      },
    };
  }
}

const body = JSON.stringify({ model: 'up/x', stream: true, messages: [{ role: 'user', content: 'Hi' }] });
const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
const post = { method: 'POST', headers, body };

/** Each asks in a function of its own, so that nothing but the gateway keeps what it made. */
const ways: Record<string, (gateway: Gateway, signal: AbortSignal) => Promise<unknown>> = {
  'fetch with a URL and a signal': (gateway, signal) => gateway.fetch(url, { ...post, signal }),
  'fetch with a Request': (gateway, signal) => gateway.fetch(new Request(url, { ...post, signal })),
  'fetch with a Request and more headers': (gateway, signal) =>
    gateway.fetch(new Request(url, { ...post, signal }), { headers: { ...headers, 'x-more': '1' } }),
  'fetch with a Request and a signal beside it': (gateway, signal) => gateway.fetch(new Request(url, post), { signal }),
  'fetch with one signal of several': (gateway, signal) =>
    gateway.fetch(url, { ...post, signal: AbortSignal.any([signal, new AbortController().signal]) }),
  'fetch as a user': (gateway, signal) =>
    gateway.as({ permissions: ['inference'], userId: 'ada' }).fetch(new Request(url, { ...post, signal })),
  'handle with a Request': (gateway, signal) => gateway.handle(new Request(url, { ...post, signal })),
  'handle with a copy, and the signal of the original': (gateway, signal) => {
    const request = new Request(url, { ...post, signal });
    return gateway.handle(request.clone(), {
      onLeave(leave) {
        request.signal.addEventListener('abort', leave);
        return () => request.signal.removeEventListener('abort', leave);
      },
    });
  },
  'the function for completions': async (gateway, signal) => {
    const chat = { model: 'up/x', messages: [{ role: 'user' as const, content: 'Hi' }], stream: true as const };
    const chunks = (await gateway.chat.completions.create(chat, { signal }))[Symbol.asyncIterator]();
    await chunks.next();
    return chunks;
  },
};

const moments = [
  ['of an open stream', true],
  ['before the response', false],
] as const;
const cases = moments.flatMap(([moment, speaksFirst]) =>
  Object.entries(ways).map(([way, ask]) => ({ name: `${way}, ${moment}`, speaksFirst, ask })),
);

describe('once everything was collected that nobody holds', () => {
  it.for(cases)('the abort of a caller reaches the provider: $name', async ({ speaksFirst, ask }) => {
    const provider = new Waiting(speaksFirst);
    const providers = { up: { baseUrl: 'http://up.invalid/v1' } };
    const gateway = createGateway({ providers, apiKeys: [{ key }], transport: provider });
    const leaving = new AbortController();
    const asking = ask(gateway, leaving.signal);
    asking.catch(() => undefined);
    await (speaksFirst ? asking : provider.asked);
    for (let pass = 0; pass < 3; pass++) {
      collect();
      await setImmediate();
    }
    expect(provider.isLetGo).toBe(false);
    leaving.abort();
    await setImmediate();
    expect(provider.isLetGo).toBe(true);
    await gateway.close();
  });
});
