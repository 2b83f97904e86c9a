import { describe, expect, it } from 'vitest';
import { apiKey, chatEvents, chatRequest, chatResponse, chunksPerStream } from '../../bench/bodies.ts';
import { startCollecting, stopCollecting } from '../../bench/collector.ts';
import { costNanoUsd, gatewayOptions, managementKey, tenantOptions } from '../../bench/gateway-options.ts';
import { messageReader } from '../../bench/read-message.ts';
import { byCpu, type Findings, headline, judge, report, table } from '../../bench/report.ts';
import { crowdPlan, crowdSize, type PreferenceSet, preferences } from '../../bench/routing/crowd.ts';
import { median, medianDifference, medianRatio, percentile } from '../../bench/statistics.ts';
import type { Rounds } from '../../bench/throughput.ts';
import { endpointKey } from '../../src/call/facts.ts';
import { createGateway, type Recorder, type RequestRecord } from '../../src/index.ts';
import { planRoute } from '../../src/routing/plan.ts';
import { providerPreferencesSchema } from '../../src/schema/chat/preferences.ts';

const url = 'http://127.0.0.1:9/v1';

describe('statistics', () => {
  it('interpolates percentiles and leaves the values as they were', () => {
    const values = [40, 10, 30, 20];
    expect(percentile(values, 0)).toBe(10);
    expect(percentile(values, 1)).toBe(40);
    expect(percentile(values, 0.25)).toBe(17.5);
    expect(median(values)).toBe(25);
    expect(median([3, 1, 2])).toBe(2);
    expect(values).toEqual([40, 10, 30, 20]);
  });
  it('of nothing are not a number', () => {
    expect(median([])).toBeNaN();
  });
  it('compare round by round, so that a machine that slows down does not count', () => {
    expect(medianRatio([50, 5, 500], [100, 10, 1000])).toBe(0.5);
    expect(medianDifference([12, 22, 132], [10, 20, 130])).toBe(2);
  });
  it('leave out rounds that one side lacks', () => {
    expect(medianRatio([1, 2, 99], [2, 4])).toBe(0.5);
  });
});

describe('the end of a message', () => {
  const chunked = `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chatEvents.map(frame).join('')}0\r\n\r\n`;
  const sized = `HTTP/1.1 200 OK\r\nContent-Length: ${chatResponse.length}\r\n\r\n${chatResponse}`;
  const empty = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n';

  it.each([
    ['chunked', chunked],
    ['with a length', sized],
    ['without a body', empty],
  ])('is found wherever it is cut: %s', (_, message) => {
    for (const size of [1, 2, 3, 7, 64, message.length]) {
      const reader = messageReader('HTTP/1.1 200');
      const bytes = Buffer.from(message);
      for (const count of [1, 2]) {
        const ends = chunksOf(bytes, size).map((chunk) => reader.push(chunk));
        expect(ends.indexOf(true)).toBe(ends.length - 1);
        expect(reader.messages).toBe(count);
        expect(reader.latestBytes).toBe(bytes.length - bytes.indexOf('\r\n\r\n') - 4);
      }
    }
  });
  it('gives what was kept', () => {
    const reader = messageReader('HTTP/1.1 200');
    const kept = reader.keep();
    for (const chunk of chunksOf(Buffer.from(sized), 10)) reader.push(chunk);
    expect(kept().toString()).toBe(sized);
  });
  it('is not looked for behind an unexpected start', () => {
    const reader = messageReader('HTTP/1.1 200');
    expect(() => reader.push(Buffer.from('HTTP/1.1 500 Oops\r\ncontent-length: 0\r\n\r\n'))).toThrow(/500 Oops/);
  });
});

describe('bodies', () => {
  it('have the sizes that the results speak of', () => {
    expect(Buffer.byteLength(chatRequest())).toBeGreaterThan(900);
    expect(Buffer.byteLength(chatRequest())).toBeLessThan(1200);
    expect(Buffer.byteLength(chatRequest({ extraBytes: 39_000 }))).toBeGreaterThan(39_900);
    expect(JSON.parse(chatRequest({ stream: true })).messages).toHaveLength(4);
    expect(Buffer.byteLength(chatResponse)).toBeGreaterThan(550);
    expect(Buffer.byteLength(chatResponse)).toBeLessThan(700);
  });
  it('stream as many chunks as they say, and a sentinel', () => {
    expect(chatEvents).toHaveLength(chunksPerStream + 1);
    expect(chatEvents.at(-1)).toBe('data: [DONE]\n\n');
    for (const event of chatEvents.slice(0, -1))
      expect(JSON.parse(event.slice(6)).object).toBe('chat.completion.chunk');
  });
});

describe('the gateway of the measurements', () => {
  it.each([
    ['', apiKey, (onRecord: Recorder) => gatewayOptions(url, onRecord)],
    [' for workspaces', managementKey, (onRecord: Recorder) => tenantOptions(url, onRecord, undefined)],
  ])('charges for a request what the audit of the ledgers expects%s', async (_, key, options) => {
    const records: RequestRecord[] = [];
    const headersOfResponse = { 'content-type': 'application/json' };
    const gateway = createGateway({
      ...options((record) => records.push(record)),
      apiKeys: [{ key, permissions: ['inference'] }],
      fetch: async () => new Response(chatResponse, { headers: headersOfResponse }),
    });
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
    // The usage is believed for the large requests, too.
    for (const extraBytes of [0, 39_000]) {
      const request = { method: 'POST', headers, body: chatRequest({ extraBytes }) };
      const response = await gateway.fetch('http://127.0.0.1/v1/chat/completions', request);
      expect(response.status).toBe(200);
    }
    expect(records.map((record) => record.costNanoUsd)).toEqual([costNanoUsd, costNanoUsd]);
    expect(JSON.parse(chatResponse).usage).toMatchObject({
      prompt_tokens: 284 + 128,
      completion_tokens: 98,
      prompt_tokens_details: { cached_tokens: 128 },
    });
    await gateway.close();
  });
});

describe('the plans of the measurements', () => {
  it.each(Object.keys(preferences) as PreferenceSet[])(
    'plan all endpoints with every set of preferences: %s',
    (name) => {
      const { targets, excluded } = planRoute(crowdPlan(name)());
      expect(targets).toHaveLength(crowdSize);
      expect(new Set(targets.map(({ endpoint }) => endpoint)).size).toBe(crowdSize);
      expect(excluded).toEqual([]);
    },
  );
  it('have every preference set, order and sort included', () => {
    const all = Object.keys(providerPreferencesSchema().shape);
    expect(Object.keys(preferences.order).toSorted()).toEqual(all.toSorted());
    for (const set of [preferences.order, preferences.sort, preferences.weighted])
      expect(providerPreferencesSchema().parse(set)).toEqual(set);
  });
  it('find something measured, and some of it too slow', () => {
    const input = crowdPlan('weighted')();
    const { health } = input.facts;
    const keys = planRoute(input).targets.map(({ endpoint }) => endpointKey(endpoint));
    for (const key of keys) expect([health.latency(key), health.throughput(key)]).not.toContain(null);
    const tooSlow = keys.filter(
      (key) => (health.latency(key)?.p99 ?? 0) > 4000 || (health.throughput(key)?.p50 ?? 0) < 40,
    );
    expect(tooSlow.length).toBeGreaterThan(0);
    expect(tooSlow.length).toBeLessThan(crowdSize);
  });
});

describe('the report', () => {
  const rounds = (perSecond: number, cpuUs: number): Rounds => ({
    requests: 2 * perSecond,
    perSecond: [perSecond, perSecond / 2],
    cpuUs: [cpuUs, cpuUs],
    serverLoad: [1, 1],
    reads: [1, 1],
  });
  const contest = { floor: rounds(1000, 606), fetchProxy: rounds(250, 2000), gateway: rounds(600, 1010) };
  const findings: Findings = {
    json: contest,
    garbage: {
      floor: { allocated: 36_864, promoted: 0, pausedUs: 5 },
      gateway: { allocated: 81_920, promoted: 512, pausedUs: 9.5 },
    },
    stream: contest,
    latency: { floor: { p50Ms: [0.1, 9], p99Ms: [0.3] }, gateway: { p50Ms: [0.25, 9.15], p99Ms: [0.5] } },
    memory: {
      streams: 2000,
      floor: { rss: 40_000, rssWithReserve: 50_000, heap: 20_000 },
      gateway: { rss: 61_441, rssWithReserve: 70_000, heap: 30_000 },
    },
    lockStep: { 1: contest, 16: contest },
    start: { importMs: [30, 40, 32], createMs: [4, 6, 7], answerMs: [50, 60, 70], connectedMs: [80, 90, 95] },
    inProcess: { jsonUs: 90, webObjectsUs: 20, eventUs: 2, webEventUs: 0.5 },
    plan: {
      none: { medianUs: 15, bestUs: 14 },
      weighted: { medianUs: 25, bestUs: 24 },
      sort: { medianUs: 31, bestUs: 26 },
      order: { medianUs: 20, bestUs: 19 },
    },
    dialects: {
      translated: {
        'openai-chat': { medianUs: 4, bestUs: 3 },
        'anthropic-messages': { medianUs: 3, bestUs: 2 },
        'google-generate-content': { medianUs: 5.125, bestUs: 4.5 },
        'bedrock-converse': { medianUs: 5, bestUs: 4 },
        'openai-responses': { medianUs: 4, bestUs: 3 },
        'cohere-chat': { medianUs: 3, bestUs: 2 },
        'ai-sdk': { medianUs: 2, bestUs: 1 },
      },
      passedThrough: { medianUs: 0.5, bestUs: 0.25 },
    },
    tenants: { floor: rounds(1000, 50), memory: rounds(490, 100), sqlite: rounds(50, 400), redis: rounds(360, 150) },
    ledger: { memory: { perSecond: [80_000], cpuUs: [12] }, sqlite: { perSecond: [3000, 1000], cpuUs: [300, 310] } },
    missing: ['PostgreSQL is left out: it is not there'],
  };
  const telemetry = {
    json: { none: rounds(1000, 80), sampled: rounds(950, 84), all: rounds(800, 100) },
    stream: { none: rounds(100, 700), sampled: rounds(99, 707), all: rounds(98, 721) },
  };
  const machine = {
    date: '2026-01-02',
    node: '26.0.0',
    system: 'linux x64',
    processor: '2 × Test',
    pinned: true,
    load: 0.25,
  };

  it('passes what reaches its target and fails what does not', () => {
    expect(judge(findings).map(({ what, measured, passed }) => [what, measured, passed])).toEqual([
      ['JSON, of the floor', '0.60', false],
      ['JSON, of the fetch proxy', '2.40', true],
      ['streams, of the floor', '0.60', false],
      ['CPU per forwarded event, over the floor', '4.00 µs', false],
      ['CPU per chunk in lock-step, 1 event a chunk, over the floor', '4.00 µs', true],
      ['CPU per chunk in lock-step, 16 events a chunk, over the floor', '4.00 µs', true],
      ['added latency, p50', '0.15 ms', true],
      ['plan of 50 endpoints, all preferences set', '31.00 µs', false],
      ['per event of a translated stream, worst dialect', '5.13 µs', false],
      ['memory per open stream', '60.00 KB', false],
      ['import', '32.00 ms', true],
      ['createGateway', '6.00 ms', false],
      ['import, createGateway and the first response in process', '60.00 ms', true],
      ['JSON with budget and credential, memory, of the floor', '0.49', false],
      ['JSON with budget and credential, SQLite, of the floor', '0.05', false],
      ['JSON with budget and credential, Redis, of the floor', '0.36', true],
    ]);
  });
  it('judges only what was measured', () => {
    expect(judge({})).toEqual([]);
    const tenants = { floor: rounds(10, 1), sqlite: rounds(1, 10) };
    expect(judge({ tenants }).map(({ line }) => line)).toEqual([
      'FAIL  JSON with budget and credential, SQLite, of the floor: 0.10 (at least 0.35)',
    ]);
    expect(judge({ telemetry }).map(({ line }) => line)).toEqual([
      'pass  CPU of JSON, metrics and every tenth request traced, of none: 1.05 (at most 1.05)',
      'FAIL  CPU of JSON, metrics and every request traced, of none: 1.25 (at most 1.15)',
      'pass  CPU of streams, metrics and every request traced, of none: 1.03 (at most 1.1)',
    ]);
    expect(judge({ lockStep: { 4: contest } }).map(({ line }) => line)).toEqual([
      'pass  CPU per chunk in lock-step, 4 events a chunk, over the floor: 4.00 µs (at most 4 µs)',
    ]);
  });
  it('ends in one line', () => {
    expect(headline(findings)).toBe('bench: json 0.60 of floor, stream 0.60 of floor');
    expect(headline({})).toBe('bench: json - of floor, stream - of floor');
    expect(byCpu(findings)).toBe('by CPU: json 0.60, stream 0.60 of floor');
    expect(byCpu({})).toBe('');
  });
  it('names the machine and shows every measurement', () => {
    const text = report(findings, machine);
    expect(text).toContain('2026-01-02, Node 26.0.0, linux x64, 2 × Test.');
    expect(text).toContain('0.3 other processes wanted a core.');
    for (const title of [
      'Targets',
      'JSON, 64',
      'Streams of 100',
      'CPU per forwarded',
      'Latency',
      'CPU per plan of 50 endpoints',
      'CPU per event of a translated stream of 200 events',
      'Memory',
      'Start of a process',
      'CPU per chunk of streams in lock-step, 32 connections',
      'JSON, 64 connections, a budgeted workspace and a sealed credential',
      'Hold and settle alone',
    ]) {
      expect(text).toContain(`## ${title}`);
    }
    expect(text).toMatch(/\| gateway, over the floor +\| +4\.00 \|/);
    expect(text).toMatch(/\| 16 +\| +6\.00 \| +10\.00 \| +4\.00 \| +0\.60 \|/);
    expect(text).toMatch(/\| `createGateway` +\| +6\.0 \| +4\.0 \| +7\.0 \|/);
    expect(text).toMatch(/\| gateway +\| +80\.0 \| +0\.50 \| +9\.5 \|/);
    expect(text).toMatch(/\| all but `order`, sorted by latency +\| +31\.0 \| +26\.0 \|/);
    expect(text).toMatch(/\| google-generate-content +\| +5\.1[23] \| +4\.50 \|/);
    expect(text).toMatch(/\| openai-chat, passed through as bytes +\| +0\.50 \| +0\.25 \|/);
    expect(text).toMatch(/\| added +\| +0\.150 \| +0\.200 \|/);
    expect(text).toMatch(/\| memory +\| +368 \| +490 \| +0\.49 \| +100 \| +0\.50 \|/);
    expect(text).toMatch(/\| SQLite +\| +2000 \| +3000 \| +305\.0 \|/);
    expect(text).not.toMatch(/NaN|undefined/);
  });
  it('shows what telemetry costs, beside none', () => {
    const text = report({ telemetry }, machine);
    expect(text).toMatch(/\| metrics, and spans of every request +\| +600 \| +100 \| +1\.25 \|/);
    expect(text).toMatch(/\| metrics, and spans of every tenth request +\| +74 \| +707 \| +1\.01 \|/);
  });
  it('says which stores are not there, where they would be', () => {
    const { tenants, ledger, missing } = findings;
    for (const shown of [{ tenants }, { ledger }]) {
      expect(report({ ...shown, missing }, machine)).toContain('\n\nPostgreSQL is left out: it is not there\n');
      expect(report({ ...shown, missing }, machine)).not.toContain('| PostgreSQL');
    }
    expect(report({ missing }, machine)).not.toContain('PostgreSQL');
  });
  it('lines up its tables', () => {
    expect(table(['', 'many'], [['x', '1']])).toBe('|     | many |\n| --- | ---: |\n| x   |    1 |');
  });
});

describe('the collector', () => {
  it('reports new objects and those that survived a cheap collection', () => {
    startCollecting();
    const kept: object[] = [];
    for (let i = 0; i < 300_000; i++) {
      const made = { i, padding: new Array(50).fill(i) };
      if (i % 10 === 0) kept.push(made);
    }
    const { allocated, promoted, pausedUs } = stopCollecting();
    expect(kept).toHaveLength(30_000);
    expect(promoted).toBeGreaterThan(100_000);
    expect(allocated).toBeGreaterThan(3 * promoted);
    expect(pausedUs).toBeGreaterThan(0);
    expect(() => stopCollecting()).toThrow('no collections were recorded');
  });
});

function frame(event: string): string {
  return `${Buffer.byteLength(event).toString(16)}\r\n${event}\r\n`;
}

function chunksOf(bytes: Buffer, size: number): Buffer[] {
  const cut: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) cut.push(bytes.subarray(at, at + size));
  return cut;
}
