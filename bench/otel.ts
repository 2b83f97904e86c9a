import process from 'node:process';
import * as api from '@opentelemetry/api';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BatchSpanProcessor, TraceIdRatioBasedSampler, TracerProvider } from '@opentelemetry/sdk-trace';
import { openTelemetry } from '../adapters/otel.ts';
import { createGateway, type Gateway, type Recorder } from '../src/index.ts';
import { apiKey, chatRequest, chatResponse } from './bodies.ts';
import { gatewayOptions } from './gateway-options.ts';

/**
 * What spans and metrics cost: CPU of a JSON request in process, with and without them, in turns. The exporters take what
 * they get and drop it. Run by `node bench/otel.ts`.
 */

const dropped = { export: (_: unknown, done: (result: { code: number }) => void) => done({ code: 0 }) };
const tracersOf = (share: number) =>
  new TracerProvider({
    sampler: new TraceIdRatioBasedSampler(share),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: { ...dropped, shutdown: async () => undefined } as never,
        maxQueueSize: 100_000,
      }),
    ],
  });
const meters = new MeterProvider({
  readers: [
    new PeriodicExportingMetricReader({
      exporter: { ...dropped, shutdown: async () => undefined, forceFlush: async () => undefined } as never,
      exportIntervalMillis: 10_000,
    }),
  ],
});
function telemetryOf(share: number): Recorder {
  const tracers = tracersOf(share);
  return openTelemetry({
    trace: {
      getTracer: (name: string) => tracers.getTracer(name),
      setSpan: api.trace.setSpan,
      setSpanContext: api.trace.setSpanContext,
    },
    metrics: { getMeter: (name: string) => meters.getMeter(name) },
    context: api.context,
  } as never);
}

const body = Buffer.from(chatResponse);

function gatewayWith(options: object): Gateway {
  return createGateway({
    ...gatewayOptions('http://127.0.0.1:9/v1', () => undefined),
    transport: {
      async send() {
        const left = [body];
        const source = { read: async () => left.shift() ?? null, cancel: () => undefined };
        return { status: 200, headers: { 'content-type': 'application/json' }, body: source };
      },
    },
    ...options,
  } as never);
}

async function cpuPerRequest(gateway: Gateway, requests: number): Promise<number> {
  const start = process.cpuUsage();
  for (let done = 0; done < requests; done++) {
    const response = await gateway.fetch('http://127.0.0.1/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` },
      body: chatRequest({ stream: false }),
    });
    if (response.status !== 200) throw new Error(await response.text());
    await response.text();
  }
  const { user, system } = process.cpuUsage(start);
  return (user + system) / requests;
}

const gateways = {
  without: gatewayWith({ onRecord: () => undefined }),
  'one of ten traced': gatewayWith({ onRecord: telemetryOf(0.1) }),
  'all traced': gatewayWith({ onRecord: telemetryOf(1) }),
};
const turns = new Map<string, number[]>(Object.keys(gateways).map((name) => [name, []]));
for (const gateway of Object.values(gateways)) await cpuPerRequest(gateway, 20_000);
for (let turn = 0; turn < 15; turn++)
  for (const [name, gateway] of Object.entries(gateways)) turns.get(name)?.push(await cpuPerRequest(gateway, 1_000));
const medianOf = (list: number[]) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)] as number;
const base = medianOf(turns.get('without') ?? []);
for (const [name, list] of turns)
  process.stdout.write(`${name}: ${medianOf(list).toFixed(1)} µs, ${(medianOf(list) / base).toFixed(2)}\n`);
for (const gateway of Object.values(gateways)) await gateway.close();
process.exit();
