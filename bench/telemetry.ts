import * as api from '@opentelemetry/api';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BatchSpanProcessor, TraceIdRatioBasedSampler, TracerProvider } from '@opentelemetry/sdk-trace';
import { openTelemetry } from '../adapters/otel.ts';
import type { Recorder } from '../src/index.ts';

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
/** Spans of a share of the requests, and metrics of all, with the real SDK; the exporters drop what they get. */
export function telemetryOf(share: number): Recorder {
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
