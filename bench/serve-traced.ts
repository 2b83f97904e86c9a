import { createServer } from 'node:http';
import process from 'node:process';
import * as api from '@opentelemetry/api';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BatchSpanProcessor, TraceIdRatioBasedSampler, TracerProvider } from '@opentelemetry/sdk-trace';
import { loadBuilt, loadBuiltOtel } from './built.ts';
import { measuring, serveParent } from './control.ts';
import { gatewayOptions } from './gateway-options.ts';
import { listen } from './listen.ts';

/**
 * The gateway with metrics of all requests and spans of a share of them, by the real SDK; its exporters drop what they
 * get. Without a share, a gateway whose recorder does nothing.
 */
const [, , upstreamPort, share] = process.argv;
const { createGateway, gatewayListener } = await loadBuilt();
const recorder = share === undefined ? () => undefined : await telemetryOf(Number(share));
const gateway = createGateway(gatewayOptions(`http://127.0.0.1:${upstreamPort}/v1`, recorder));
const server = createServer({ keepAliveTimeout: 60_000 }, gatewayListener(gateway));

serveParent({ ...measuring, port: () => listen(server) });

async function telemetryOf(share: number) {
  const openTelemetry = await loadBuiltOtel();
  const exporter = {
    export: (_: unknown, done: (result: { code: number }) => void) => done({ code: 0 }),
    forceFlush: async () => undefined,
    shutdown: async () => undefined,
  };
  const tracers = new TracerProvider({
    sampler: new TraceIdRatioBasedSampler(share),
    spanProcessors: [new BatchSpanProcessor({ exporter, maxQueueSize: 100_000 })],
  });
  const meters = new MeterProvider({
    readers: [new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 10_000 })],
  });
  return openTelemetry({
    trace: {
      getTracer: (name) => tracers.getTracer(name) as never,
      setSpan: (context, span) => api.trace.setSpan(context as api.Context, span as api.Span),
      setSpanContext: (context, of) => api.trace.setSpanContext(context as api.Context, of as api.SpanContext),
    },
    metrics: { getMeter: (name) => meters.getMeter(name) as never },
    context: api.context,
  });
}
