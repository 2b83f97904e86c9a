import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createGateway, type Gateway } from '../../src/gateway.ts';
import type { GatewayOptions } from '../../src/options.ts';
import type { RequestRecord } from '../../src/telemetry/record.ts';
import { fetchTransport } from '../../src/transport/fetch.ts';
import { chatRequest, hello, nextTurn, testKey } from '../support/gateway.ts';
import { runs } from '../support/runs.ts';
import { chunk, type HttpUpstream, httpUpstream, type ScriptedAnswer, sse, textStream } from '../support/upstream.ts';

const begun = sse(chunk({ role: 'assistant', content: '' }), chunk({ content: 'Hello there' }));
/**
 * The upstream must see its socket closed within this. `npm test` uses all cores, so that it can only tell soon from
 * never.
 */
const withinMs = runs(5_000, 50);

let upstream: HttpUpstream;
let gateway: Gateway;
let records: RequestRecord[];

beforeEach(async () => {
  upstream = await httpUpstream();
});
afterEach(async () => {
  await gateway.close();
  await upstream.close();
});

function open(options: Partial<GatewayOptions> = {}) {
  records = [];
  gateway = createGateway({
    providers: { up: { baseUrl: upstream.url, apiKey: 'sk-upstream-key', name: 'Up' } },
    models: [
      {
        slug: 'acme/fast',
        endpoints: [{ provider: 'up', model: 'm', pricing: { prompt: '0.000001', completion: '0.000001' } }],
      },
    ],
    apiKeys: [{ key: testKey }],
    onRecord: (record) => records.push(record),
    ...options,
  });
}

/** Whether the upstream's socket was closed in time after `leave`, and that nothing was sent after. */
async function leavesInTime(at: number, leave: () => unknown) {
  const sent = await upstream.request(at);
  const leftMs = performance.now();
  leave();
  expect((await sent.cut) - leftMs).toBeLessThan(withinMs);
  for (let turn = 0; turn < 5; turn++) await nextTurn();
  expect(upstream.sent).toHaveLength(at + 1);
}

/** A `fetch` whose signal is aborted rejects; what matters here is what the upstream sees. */
const gone = (pending: Promise<Response>) => pending.catch((error: unknown) => error);

const ask = (signal: AbortSignal, stream: boolean) =>
  gateway.fetch(chatRequest({ model: 'acme/fast', messages: hello, stream }, {}, signal));

const transports: [string, Partial<GatewayOptions>][] = [
  ['undici', {}],
  ['fetch', { transport: fetchTransport((input, init) => fetch(input, init)) }],
];

// Measured in real time, on a machine that may be busy with something else: hence another go.
describe.each(transports)('a client that leaves (%s)', { retry: 2 }, (_, options) => {
  beforeEach(() => open(options));

  it.each([false, true])(
    'before the headers (stream: %s) closes the upstream socket and is tried nowhere else',
    async (stream) => {
      upstream.answer({ instead: 'hang' });
      const client = new AbortController();
      const pending = gone(ask(client.signal, stream));
      await leavesInTime(0, () => client.abort());
      expect(await pending).toMatchObject({ name: 'AbortError' });
      expect(records).toMatchObject([{ outcome: 'cancelled', status: 499, attempts: [{ status: 499 }] }]);
    },
  );
  it.each<[string, boolean, ScriptedAnswer]>([
    ['before the first token', true, { body: [sse(chunk({ role: 'assistant', content: '' })), { hangs: true }] }],
    [
      'in the middle of a JSON body',
      false,
      { headers: { 'content-type': 'application/json' }, body: ['{"choices":', { hangs: true }] },
    ],
    ['in the middle of an error body', false, { status: 500, body: ['{"error":', { hangs: true }] }],
  ])('%s closes the upstream socket', async (__, stream, answer) => {
    upstream.answer(answer);
    const client = new AbortController();
    const pending = gone(ask(client.signal, stream));
    await leavesInTime(0, () => client.abort());
    expect(await pending).toMatchObject({ name: 'AbortError' });
    expect(records).toMatchObject([{ outcome: 'cancelled', status: 499 }]);
  });
  it('mid-stream by its signal closes the upstream socket, and pays for what was received', async () => {
    upstream.answer({ body: [begun, { hangs: true }] });
    const client = new AbortController();
    const response = await ask(client.signal, true);
    const reader = response.body?.getReader();
    expect((await reader?.read())?.done).toBe(false);
    await leavesInTime(0, () => client.abort());
    expect(records).toMatchObject([{ outcome: 'cancelled', status: 499, provider: 'Up', isEstimated: true }]);
    expect(records[0]?.usage?.completion_tokens).toBeGreaterThan(0);
    expect(records[0]?.costNanoUsd).toBeGreaterThan(0);
  });
  it('mid-stream by cancelling the body closes the upstream socket', async () => {
    upstream.answer({ body: [begun, { hangs: true }] });
    const response = await ask(new AbortController().signal, true);
    const reader = response.body?.getReader();
    await reader?.read();
    await leavesInTime(0, () => reader?.cancel());
    expect(records).toMatchObject([{ outcome: 'cancelled', status: 499 }]);
  });
  it('without reading its body closes the upstream socket', async () => {
    upstream.answer({ body: [begun, { hangs: true }] }, { body: [begun, { hangs: true }] });
    const client = new AbortController();
    await ask(client.signal, true);
    await leavesInTime(0, () => client.abort());
    expect(records).toMatchObject([{ outcome: 'cancelled' }]);
    const response = await ask(new AbortController().signal, true);
    await leavesInTime(1, () => response.body?.cancel());
    expect(records).toMatchObject([{ outcome: 'cancelled' }, { outcome: 'cancelled' }]);
  });
  it('while an upstream floods it closes the upstream socket', async () => {
    const flood = Array.from({ length: 2000 }, () => sse(chunk({ content: 'x'.repeat(10_000) })));
    upstream.answer({ body: [begun, ...flood] });
    const response = await ask(new AbortController().signal, true);
    const reader = response.body?.getReader();
    await reader?.read();
    await leavesInTime(0, () => reader?.cancel());
  });
  it('after the end changes nothing', async () => {
    upstream.answer({ body: textStream('Hi') });
    const client = new AbortController();
    const response = await ask(client.signal, true);
    await response.text();
    client.abort();
    await nextTurn();
    expect(records).toMatchObject([{ outcome: 'ok' }]);
    expect(upstream.sent[0]?.isCut).toBe(false);
  });
  it('gateway.close() closes the upstream socket and ends the stream with an error', async () => {
    upstream.answer({ body: [begun, { hangs: true }] });
    const response = await ask(new AbortController().signal, true);
    await leavesInTime(0, () => void gateway.close());
    const text = await response.text();
    expect(text).toContain('"error":{"code":503');
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(records).toMatchObject([{ outcome: 'cut', status: 503 }]);
  });
});
