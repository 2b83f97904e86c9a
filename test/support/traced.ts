import * as api from '@opentelemetry/api';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { InMemorySpanExporter, type Sampler, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { type OpenTelemetryOptions, openTelemetry } from '../../adapters/otel/otel.ts';
import type { GatewayOptions, RequestRecord } from '../../src/index.ts';
import { testGateway } from './gateway.ts';

/** Spans that the real SDK keeps. */
export function keptSpans(sampler?: Sampler) {
  const exporter = new InMemorySpanExporter();
  const spanProcessors = [new SimpleSpanProcessor({ exporter })];
  const tracers = new TracerProvider({ spanProcessors, ...(sampler && { sampler }) });
  return { tracer: tracers.getTracer('test'), spans: () => exporter.getFinishedSpans() };
}

export interface TracedSettings {
  telemetry?: OpenTelemetryOptions;
  gateway?: Partial<GatewayOptions>;
  /** false: the gateway is not given the recorder itself, and spans are made of records. */
  isLive?: boolean;
  sampler?: Sampler;
}

/** A gateway whose spans and metrics the real SDK keeps. */
export function traced({ telemetry, gateway, isLive = true, sampler }: TracedSettings = {}) {
  const { tracer, spans } = keptSpans(sampler);
  const metrics = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const meters = new MeterProvider({
    readers: [new PeriodicExportingMetricReader({ exporter: metrics, exportIntervalMillis: 2 ** 30 })],
  });
  const used = {
    trace: { getTracer: () => tracer, setSpan: api.trace.setSpan, setSpanContext: api.trace.setSpanContext },
    metrics: { getMeter: (name: string) => meters.getMeter(name) },
    context: api.context,
    ROOT_CONTEXT: api.ROOT_CONTEXT,
  };
  const records: RequestRecord[] = [];
  const recorder = openTelemetry(used, telemetry);
  const record = (finished: RequestRecord) => {
    records.push(finished);
    recorder(finished);
  };
  const tested = testGateway({
    ...gateway,
    onRecord: isLive ? Object.assign(record, { begin: recorder.begin }) : record,
  });
  return {
    ...tested,
    used,
    records,
    spans,
    /** By the beginning of its name. */
    span: (name: string) => spans().find((one) => one.name.startsWith(name)),
    /** Spans that a reader counts as a call of a model, as SigNoz does. */
    calls: () => spans().filter(({ attributes }) => 'gen_ai.request.model' in attributes),
    /** Spans whose usage a reader adds up, as Langfuse does. */
    billed: () => spans().filter(({ attributes }) => 'gen_ai.usage.input_tokens' in attributes),
    async measured() {
      await meters.forceFlush();
      return metrics.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics));
    },
  };
}
