import { describe, expect, it } from 'vitest';
import { gatewayFetch } from '../../adapters/hosts/bun.ts';
import { gatewayRoute } from '../../adapters/hosts/next.ts';
import { ledgerOf, withBudget } from '../support/booked.ts';
import { chatRequest, hello, type TestGateway } from '../support/gateway.ts';
import { chunk, sse, textStream } from '../support/upstream.ts';

// A stream that nobody reads: the deadline settles it, in process and where a host pulls a web stream.

const totalMs = 30_000;
const ask = { model: 'acme/one', messages: hello, max_tokens: 1_000, stream: true };
const bun = { timeout: () => undefined, stop: async () => undefined };

const ways: Record<string, (tested: TestGateway, request: Request) => Promise<Response>> = {
  'gateway.fetch': ({ gateway }, request) => gateway.fetch(request),
  'the fetch of Bun.serve': ({ gateway }, request) => gatewayFetch(gateway)(request, bun) as Promise<Response>,
  'a Next route handler': ({ gateway }, request) =>
    gatewayRoute(gateway, { basePath: '/v1' }).POST(request, { params: Promise.resolve({}) }),
};

describe.each(Object.entries(ways))('a response of %s that nobody reads', (_, respond) => {
  const options = { timeouts: { totalMs } };

  it.each([
    ['ever', 0],
    ['on', 1],
  ])('%s is settled by the deadline, and fails whoever reads it then', async (_, reads) => {
    const tested = await withBudget(1, options);
    tested.upstream.answer({
      body: [sse(chunk({ content: 'Hi' })), sse(chunk({ content: 'there' })), { hangs: true }],
    });
    const response = await respond(tested, chatRequest(ask));
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    for (let n = 0; n < reads; n++) await reader.read();
    await tested.clock.advance(totalMs - 1);
    expect(tested.records).toEqual([]);
    await tested.clock.advance(1);
    expect(tested.records).toMatchObject([{ outcome: 'cut', status: 408 }]);
    expect(tested.upstream.sent[0]?.closedAtMs).toBe(tested.clock.now());
    // Nobody knows how much of the response the provider has made meanwhile.
    expect(await ledgerOf(tested)).toEqual({ spent: tested.records[0]?.heldNanoUsd, held: 0 });
    await expect(reader.closed).rejects.toMatchObject({ status: 408 });
    await expect(reader.read()).rejects.toMatchObject({ status: 408 });
    expect(tested.clock.pending).toBe(0);
  });
  it('before its first token is settled by the deadline too', async () => {
    const tested = await withBudget(1, options);
    tested.upstream.answer({ instead: 'hang' });
    const pending = respond(tested, chatRequest(ask));
    await tested.clock.advance(totalMs);
    // A comment has opened it after ten seconds.
    const response = await pending;
    expect(tested.records).toMatchObject([{ outcome: 'failed', status: 408 }]);
    const { spent, held } = await ledgerOf(tested);
    expect([spent, held]).toEqual([tested.records[0]?.costNanoUsd, 0]);
    expect(spent).toBeGreaterThan(0);
    await expect(response.text()).rejects.toMatchObject({ status: 408 });
  });
  it('is settled when the gateway is closed', async () => {
    const tested = await withBudget(1, options);
    tested.upstream.answer({ body: textStream('Hi') });
    const response = await respond(tested, chatRequest(ask));
    await tested.run(tested.gateway.close());
    expect(tested.records).toMatchObject([{ outcome: 'cut', status: 503 }]);
    expect(await response.text()).toMatch(/"finish_reason":"error".*\n\ndata: \[DONE\]\n\n$/s);
  });
  it('is told in band of the deadline where its reader waits for more', async () => {
    const tested = await withBudget(1, options);
    tested.upstream.answer({ body: [sse(chunk({ content: 'Hi' })), { hangs: true }] });
    const response = await respond(tested, chatRequest(ask));
    expect(await tested.run(response.text())).toMatch(/"finish_reason":"error".*\n\ndata: \[DONE\]\n\n$/s);
  });
});
