import type { GenerationRecord, Recorder, RequestRecord } from '../src/index.ts';
import type { OtelAttributes, OtelMeter, OtelSpan, OtelSpanContext, OtelTracer } from './otel-api.ts';
import { createMetrics } from './otel-metrics.ts';
import { type ConventionVersion, names, providerNameOf } from './otel-names.ts';

export type { ConventionVersion } from './otel-names.ts';

/** What is needed of `@opentelemetry/api`. The host app passes the module in: nothing here imports it. */
export interface OpenTelemetryApi {
  /** Where tracers come from. */
  readonly trace: {
    getTracer(name: string): OtelTracer;
    setSpan(context: unknown, span: OtelSpan): unknown;
    setSpanContext(context: unknown, spanContext: OtelSpanContext): unknown;
  };
  /** Where meters come from. */
  readonly metrics: { getMeter(name: string): OtelMeter };
  /** The active context becomes the parent. */
  readonly context: { active(): unknown };
}

/** What {@link openTelemetry} takes beside the API. */
export interface OpenTelemetryOptions {
  /** Which names spans and metrics have. Default `1.41`, which the usual back ends read. */
  conventions?: ConventionVersion;
}

type AttemptTrace = RequestRecord['attempts'][number];

// Of SpanKind and SpanStatusCode, which are numbers in the API's own interface.
const internal = 0;
const client = 2;
const failed = 2;

/**
 * Makes spans and metrics of each finished record: `createGateway({ onRecord: openTelemetry(api) })`. The spans carry the
 * times of the record. They are started and ended in one go, so a request cannot leave one open.
 */
export function openTelemetry(api: OpenTelemetryApi, options: OpenTelemetryOptions = {}): Recorder {
  const tracer = api.trace.getTracer('model-gateway');
  const version = options.conventions ?? '1.41';
  const measure = createMetrics(api.metrics.getMeter('model-gateway'), version);

  /** Starts a span, lets `fill` make those below it, and ends it whatever `fill` throws. */
  function span(
    name: string,
    kind: number,
    times: readonly [startMs: number, endMs: number],
    attributes: OtelAttributes,
    parent: unknown,
    fill?: (span: OtelSpan, context: unknown) => void,
  ): void {
    const started = tracer.startSpan(name, { kind, startTime: new Date(times[0]), attributes }, parent);
    try {
      fill?.(started, api.trace.setSpan(parent, started));
    } finally {
      started.end(new Date(Math.max(times[0], times[1])));
    }
  }

  function addAttempt(record: RequestRecord, attempt: AttemptTrace, billed: GenerationRecord | null, parent: unknown) {
    const endMs = billed?.times.endedAtMs ?? attempt.decidedAtMs;
    const start: OtelAttributes = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': providerNameOf(attempt.providerSlug),
      'gen_ai.request.model': attempt.model,
      'gen_ai.request.stream': record.streamed,
      ...(record.sessionId !== null && { 'gen_ai.conversation.id': record.sessionId }),
      ...(record.operation === 'createResponse' && { 'openai.api.type': 'responses' }),
    };
    span(`chat ${attempt.model}`, client, [attempt.startedAtMs, endMs], start, parent, (started) => {
      started.setAttribute('gateway.attempt.status', attempt.status);
      if (attempt.costNanoUsd > 0) started.setAttribute('gateway.cost_nano_usd', attempt.costNanoUsd);
      if (billed) started.setAttributes(resultOf(billed, attempt, version));
      const error = attempt.errorType ?? errorOf(billed);
      if (error === null) return;
      started.setAttribute('error.type', error);
      started.setStatus({ code: failed });
    });
  }

  function addGeneration(record: RequestRecord, generation: GenerationRecord, parent: unknown): void {
    const { times, attempts, excluded } = generation;
    if (times.plannedAtMs !== null) {
      const planned: OtelAttributes = {
        'gateway.requested': generation.requested,
        'gateway.excluded': excluded.length,
      };
      span('gateway.plan', internal, [times.startedAtMs, times.plannedAtMs], planned, parent);
    }
    const billed = generation.usage === null ? undefined : attempts.findLast(({ errorType }) => errorType === null);
    for (const attempt of attempts) addAttempt(record, attempt, attempt === billed ? generation : null, parent);
  }

  return (record) => {
    const times = [record.receivedAtMs, record.receivedAtMs + record.totalMs] as const;
    const start = { 'gateway.generation.id': record.id, 'gateway.requested': record.requested };
    try {
      span('gateway.request', internal, times, start, parentOf(api, record), (started, context) => {
        started.setAttributes(requestAttributes(record));
        if (record.outcome === 'failed' || record.outcome === 'cut') started.setStatus({ code: failed });
        for (const generation of record.generations) addGeneration(record, generation, context);
      });
    } finally {
      measure(record);
    }
  };
}

const sampled = 1;

/**
 * The span that the request's field `trace` names, where its ids are those of W3C Trace Context; else that of its header
 * `traceparent`; else what is active. Of the field, the client's sampling is not known: what it asks to be traced is.
 */
function parentOf({ trace, context }: OpenTelemetryApi, { trace: named, traceparent }: RequestRecord): unknown {
  const active = context.active();
  const traceId = named?.trace_id?.toLowerCase() ?? '';
  const spanId = named?.parent_span_id?.toLowerCase() ?? '';
  const isValid = /^(?!0+$)[0-9a-f]{32}$/.test(traceId) && /^(?!0+$)[0-9a-f]{16}$/.test(spanId);
  if (isValid) return trace.setSpanContext(active, { traceId, spanId, traceFlags: sampled, isRemote: true });
  if (traceparent === null) return active;
  const [, ofHeader = '', parentId = '', flags = ''] = traceparent.split('-');
  const traceFlags = Number.parseInt(flags, 16);
  return trace.setSpanContext(active, { traceId: ofHeader, spanId: parentId, traceFlags, isRemote: true });
}

/** Nothing here starts with `gen_ai.`: readers count a span with such attributes as a call of a model. */
function requestAttributes(record: RequestRecord): OtelAttributes {
  return {
    'gateway.operation': record.operation,
    ...(record.router !== null && { 'gateway.router': record.router }),
    ...Object.fromEntries(Object.entries(record.trace ?? {}).map(([name, value]) => [`gateway.${name}`, value])),
    'gateway.workspace.id': record.workspaceId,
    'gateway.outcome': record.outcome,
    'gateway.attempts': record.attempts.length,
    'gateway.generations': record.generations.length,
    'gateway.stages': record.pipeline.length,
    'gateway.held_nano_usd': record.heldNanoUsd,
    'http.response.status_code': record.status,
    ...(record.costNanoUsd !== null && { 'gateway.cost_nano_usd': record.costNanoUsd }),
    ...(record.error !== null && { 'error.type': record.error.type }),
  };
}

/** Usage and cost: of the attempt that was billed, and of no other span. */
function resultOf(generation: GenerationRecord, attempt: AttemptTrace, version: ConventionVersion): OtelAttributes {
  const { usage, costParts, finishReason, outcome, times } = generation;
  const cached = usage?.prompt_tokens_details?.cached_tokens;
  const written = usage?.prompt_tokens_details?.cache_write_tokens;
  const reasoning = usage?.completion_tokens_details?.reasoning_tokens;
  const reasons = [...(finishReason === null ? [] : [finishReason]), ...(outcome === 'cut' ? ['error'] : [])];
  const result: OtelAttributes = {
    'gen_ai.response.model': attempt.model,
    'gen_ai.usage.input_tokens': usage?.prompt_tokens ?? 0,
    'gen_ai.usage.output_tokens': usage?.completion_tokens ?? 0,
    'gen_ai.response.finish_reasons': [...new Set(reasons)],
  };
  if (times.firstTokenAtMs !== null) {
    result['gen_ai.response.time_to_first_chunk'] = (times.firstTokenAtMs - attempt.startedAtMs) / 1000;
  }
  if (cached) result['gen_ai.usage.cache_read.input_tokens'] = cached;
  if (written) for (const name of names[version].cacheWrite) result[name] = written;
  if (reasoning) result['gen_ai.usage.reasoning.output_tokens'] = reasoning;
  if (costParts !== null) {
    const { promptNanoUsd, completionNanoUsd, otherNanoUsd } = costParts;
    result['gen_ai.usage.cost'] = (promptNanoUsd + completionNanoUsd + otherNanoUsd) / 1e9;
  }
  return result;
}

/** Of an attempt that began well; null: it ended well. */
function errorOf(billed: GenerationRecord | null): string | null {
  if (billed?.outcome === 'cancelled') return 'cancelled';
  return billed?.outcome === 'cut' || billed?.outcome === 'failed' ? String(billed.status) : null;
}
