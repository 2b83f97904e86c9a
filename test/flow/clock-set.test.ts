import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RequestRecord } from '../../src/index.ts';
import { hello, type TestGateway, testGateway } from '../support/gateway.ts';
import { traced } from '../support/traced.ts';
import { chunk, completion, errorBody, sse } from '../support/upstream.ts';

const hourMs = 3_600_000;
const ask = { model: 'acme/fast', messages: hello, max_tokens: 10 };
const jumps = [-24, -1, 1, 24].map((hours) => [hours] as const);

/** All numbers of a record that are a time that something took. */
function durationsIn(record: object): number[] {
  return Object.entries(record).flatMap(([name, value]) => {
    if (typeof value === 'number')
      return /^(totalMs|firstMs|ms|latency|generation_time|total_ms)$/.test(name) ? [value] : [];
    return typeof value === 'object' && value !== null ? durationsIn(value) : [];
  });
}

describe('a clock that is set', () => {
  it.each(jumps)('changes no rate limit: it is as long as it was (%i hours)', async (hours) => {
    const tested = testGateway({ rateLimits: { workspace: { requestsPerMinute: 2 } } });
    tested.upstream.always({ body: completion() });
    expect([(await tested.post(ask)).status, (await tested.post(ask)).status]).toEqual([200, 200]);
    tested.clock.setBy(hours * hourMs);
    expect((await tested.post(ask)).status).toBe(429);
    await tested.clock.advance(30_000);
    expect((await tested.post(ask)).status).toBe(200);
    await tested.gateway.close();
  });
  it.each(jumps)('changes no cooldown (%i hours)', async (hours) => {
    const tested = testGateway();
    tested.upstream.answer({ status: 429, headers: { 'retry-after': '60' }, body: { error: { message: 'slow' } } });
    tested.upstream.always({ body: completion() });
    expect((await tested.post(ask)).status).toBe(429);
    tested.clock.setBy(hours * hourMs);
    const refused = await tested.post(ask);
    expect(refused.status).toBeGreaterThanOrEqual(429);
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60);
    await tested.clock.advance(60_000);
    expect((await tested.post(ask)).status).toBe(200);
    await tested.gateway.close();
  });
  it('gives no negative time, and each request the time that it has', async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('set' as const), ms: fc.integer({ min: -5 * hourMs, max: 5 * hourMs }) }),
      fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 90_000 }) }),
      fc.record({ kind: fc.constant('ask' as const), stream: fc.boolean(), ms: fc.integer({ min: 0, max: 5_000 }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 12 }), async (steps) => {
        const tested = testGateway({ records: { enabled: true }, timeouts: { totalMs: 20_000 } });
        for (const one of steps) {
          if (one.kind === 'set') tested.clock.setBy(one.ms);
          else if (one.kind === 'wait') await tested.clock.advance(one.ms);
          else await askWhileSet(tested, one);
        }
        expect(tested.records.flatMap(durationsIn).filter((ms) => ms < 0)).toEqual([]);
        for (const record of tested.records)
          expect((await tested.call('GET', `/generation?id=${record.id}`)).text).not.toMatch(
            /"[a-z_]*(ms|latency|time)":-/,
          );
        await tested.gateway.close();
      }),
      { numRuns: 25 },
    );
  });
});

describe('a clock that is set while a request is in flight', () => {
  const stories = jumps.flatMap(([hours]) => [true, false].map((stream) => [hours, stream] as const));
  it.each(stories)('changes no time that anything took (%i hours, stream: %s)', async (hours, stream) => {
    expect(await timesOf(stream, hours * hourMs)).toEqual(await timesOf(stream, 0));
  });
  it('changes nothing that routing knows of an endpoint', async () => {
    const figuresOf = async (setMs: number) => {
      const { clock, upstream, send, run, call, gateway } = testGateway();
      const last = chunk({}, 'stop', { usage: { prompt_tokens: 5, completion_tokens: 20, total_tokens: 25 } });
      const text = [sse(chunk({ content: 'Hello' })), { waitMs: 500 }, sse(last), sse('[DONE]')];
      upstream.always({ body: text, afterMs: 400 });
      for (let n = 0; n < 6; n++) {
        for (const atMs of [100, 600]) clock.after(atMs, () => clock.setBy(n % 2 === 0 ? setMs : -setMs));
        await run((await run(send({ ...ask, stream: true }))).text());
      }
      const { endpoints } = (await call('GET', '/models/acme/fast/endpoints')).json.data;
      await gateway.close();
      return endpoints.map(({ latency_last_30m, throughput_last_30m }: Record<string, unknown>) => [
        latency_last_30m,
        throughput_last_30m,
      ]);
    };
    const figures = await figuresOf(0);
    expect(figures[0]).toEqual([expect.objectContaining({ p50: expect.any(Number) }), expect.anything()]);
    for (const setMs of [hourMs, -hourMs]) expect(await figuresOf(setMs)).toEqual(figures);
  });
  it('has times to tell of', async () => {
    const { record, spans, measured, generation } = await timesOf(true, hourMs);
    expect(record).toMatchObject({ firstMs: 700, totalMs: 1_200, attempts: [300, 400] });
    expect(spans).toEqual({
      'gateway.plan': [0],
      'chat acme/fast': [300, 900],
      'gateway.request': [1_200],
    });
    expect(measured.length).toBeGreaterThan(1);
    expect(generation).toMatchObject({ latency: 700, generation_time: 500 });
  });
});

describe('what lasts for a time', () => {
  it.each([
    'src/http/overload.ts',
    'src/pipeline/deliver/client-source.ts',
    'src/pipeline/attempt/walk.ts',
    'src/pipeline/generation/stream.ts',
    'src/pipeline/attempt/watchdog.ts',
    'src/plugins/file-parser/work-time.ts',
    'src/catalog/document.ts',
    'src/stores/cache.ts',
    'src/stores/credentials/opened.ts',
    'src/stores/spending/outbox.ts',
    'src/stores/sticky.ts',
    'src/stores/storage/circuit.ts',
    'src/stores/storage/keyv.ts',
    'src/stores/storage/redis/eviction.ts',
  ])('is not measured by the time of day: %s', (path) => {
    expect(readFileSync(path, 'utf8')).toMatch(/lock\.monotonic\(\)/);
    expect(readFileSync(path, 'utf8')).not.toMatch(/lock\.now\(\)/);
  });
});

async function askWhileSet(tested: TestGateway, { stream, ms }: { stream: boolean; ms: number }): Promise<void> {
  tested.upstream.answer({ body: completion(), afterMs: ms });
  const before = tested.clock.monotonic();
  const answered = tested.send({ ...ask, stream });
  tested.clock.setBy(-hourMs);
  const response = await tested.run(answered);
  await tested.run(response.text());
  expect(tested.clock.monotonic() - before).toBeLessThanOrEqual(20_000);
}

/**
 * All that tells how long a request took: an attempt that fails after 300 ms, one that responds after 400, and a stream
 * that ends 500 ms later. The time of day is set in each of them.
 */
async function timesOf(stream: boolean, setMs: number) {
  const { clock, upstream, send, run, records, spans, measured, gateway, call } = traced({
    gateway: { records: { enabled: true }, retry: { baseDelayMs: 0, maxDelayMs: 0 } },
  });
  const set = (ms: number) => clock.after(ms, () => clock.setBy(setMs));
  upstream.answer({ status: 500, body: errorBody('Broken'), afterMs: 300 });
  const text = [
    sse(chunk({ content: 'Hello' })),
    { waitMs: 500 },
    sse(chunk({ content: ' there' })),
    sse(chunk({}, 'stop')),
  ];
  upstream.answer({ body: stream ? [...text, sse('[DONE]')] : completion(), afterMs: 400 });
  for (const atMs of [100, 500, 900]) set(atMs);
  const response = await run(send({ ...ask, stream }));
  await run(response.text());
  const [record] = records as [RequestRecord];
  const since = (times: object) =>
    Object.entries(times).map(([name, ms]) => [name, ms === null ? null : Number(ms) - record.receivedAtMs]);
  const generation = (await call('GET', `/generation?id=${record.id}`)).json.data;
  const times = {
    record: {
      firstMs: record.firstMs,
      totalMs: record.totalMs,
      authenticatedMs: record.authenticatedAtMs - record.receivedAtMs,
      attempts: record.attempts.map(({ startedAtMs, decidedAtMs }) => decidedAtMs - startedAtMs),
      generations: record.generations.map((one) => since(one.times)),
    },
    spans: Object.fromEntries(
      [...new Set(spans().map(({ name }) => name))].map((name) => [
        name,
        spans()
          .filter((one) => one.name === name)
          .map(({ duration: [seconds, nanoseconds] }) => seconds * 1_000 + nanoseconds / 1e6),
      ]),
    ),
    measured: (await measured()).flatMap(({ descriptor, dataPoints }) =>
      dataPoints.map(({ value }) => [descriptor.name, value]),
    ),
    stored: durationsIn(generation),
    generation,
  };
  await gateway.close();
  return times;
}
