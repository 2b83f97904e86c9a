// A gateway whose requests are traced and measured. Both go to a collector by OTLP, as to every backend of OpenTelemetry.
import process from 'node:process';
import * as api from '@opentelemetry/api';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { createGateway } from 'model-gateway';
import { serve } from 'model-gateway/node';
import { observeState, openTelemetry } from 'model-gateway/otel';

const collector = process.env.OTEL_EXPORTER_OTLP_ENDPOINT ?? 'http://127.0.0.1:4318';
const everyMs = Number(process.env.EXPORT_EVERY_MS ?? 15_000);
const resource = resourceFromAttributes({ 'service.name': 'model-gateway' });

// Metrics count every request. Of traces, a share is enough: here all, with 0.1 every tenth.
const tracers = new TracerProvider({
  resource,
  sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(Number(process.env.TRACED_SHARE ?? 1)) }),
  spanProcessors: [
    new BatchSpanProcessor({
      exporter: new OTLPTraceExporter({ url: `${collector}/v1/traces` }),
      scheduledDelayMillis: everyMs,
    }),
  ],
});
const meters = new MeterProvider({
  resource,
  readers: [
    new PeriodicExportingMetricReader({
      exporter: new OTLPMetricExporter({ url: `${collector}/v1/metrics` }),
      exportIntervalMillis: everyMs,
      exportTimeoutMillis: everyMs,
    }),
  ],
});
api.trace.setGlobalTracerProvider(tracers);
api.metrics.setGlobalMeterProvider(meters);

const gateway = createGateway({
  providers: { sandbox: {} },
  models: [
    {
      slug: 'acme/echo',
      endpoints: [{ provider: 'sandbox', model: 'echo', pricing: { prompt: '0.000001', completion: '0.000002' } }],
    },
  ],
  apiKeys: [{ key: process.env.GATEWAY_API_KEY ?? 'only-for-trying-out', tags: ['web'] }],
  onRecord: openTelemetry(api),
});
observeState(api, gateway);

const running = await serve(gateway, { port: Number(process.env.PORT ?? 3000) });
console.log(running.url);

process.once('SIGTERM', async () => {
  await running.close();
  await gateway.close();
  // What was not sent yet is sent now.
  await Promise.all([tracers.shutdown(), meters.shutdown()]);
});
