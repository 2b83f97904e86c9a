import type { BegunCall, CallFollower, Recorder, RequestRecord } from '../../src/index.ts';
import type { OtelContextApi, OtelMeter, OtelSpanContext, OtelTracer } from './api.ts';
import { LaterSpans, SpanQueue } from './later-spans.ts';
import { createMetrics } from './metrics.ts';
import type { ConventionVersion } from './names.ts';
import { RequestSpans, type SpanSettings, spansOfRecord } from './spans.ts';

export type { ConventionVersion } from './names.ts';
export { type ObserveStateOptions, observeState } from './state.ts';

/** The part of `@opentelemetry/api` that is needed. The host app passes the module in: nothing here imports it. */
export interface OpenTelemetryApi {
  /** Makes tracers. */
  readonly trace: OtelContextApi & {
    /** Makes spans. */
    getTracer(name: string): OtelTracer;
    /** A context whose parent is a span of elsewhere. */
    setSpanContext(context: unknown, spanContext: OtelSpanContext): unknown;
  };
  /** Makes meters. */
  readonly metrics: { getMeter(name: string): OtelMeter };
  /** The active context becomes the parent. */
  readonly context: { active(): unknown };
  /** The context without a span. */
  readonly ROOT_CONTEXT?: unknown;
}

/** The options of {@link openTelemetry}. */
export interface OpenTelemetryOptions {
  /** The version of the names of spans and metrics. Default `1.41`, which the usual back ends read. */
  conventions?: ConventionVersion;
  /**
   * The providers that get the header `traceparent` of their attempt: true for all, or their slugs. Default false: a
   * trace id shows which requests belong together.
   */
  propagate?: boolean | readonly string[];
  /**
   * true: spans have prompts and responses. A number: the most characters of each (default 65,536). Never with zero
   * data retention. Default false.
   */
  content?: boolean | number;
  /**
   * The tracer of a workspace whose switch `is_observability_broadcast_enabled` is on: its requests get spans of that
   * tracer as well, which the host app exports to where the workspace wants them. null: there is none. It may be a promise.
   */
  broadcast?: (workspaceId: string) => OtelTracer | null | Promise<OtelTracer | null>;
}

const defaultContentChars = 65_536;

/**
 * Makes spans and metrics of client calls: `createGateway({ onRecord: openTelemetry(api) })`. Where the gateway is given
 * the result itself, it follows calls while they run: spans know servers, parameters, plugins and tools. Where another
 * function calls it with finished records, they are made of these alone.
 */
export function openTelemetry(api: OpenTelemetryApi, options: OpenTelemetryOptions = {}): Recorder {
  const { propagate = false, content = false, broadcast, conventions: version = '1.41' } = options;
  const measure = createMetrics(api.metrics.getMeter('model-gateway'), version);
  const settings: SpanSettings = {
    tracer: api.trace.getTracer('model-gateway'),
    trace: api.trace,
    version,
    contentChars: content === false ? null : content === true ? defaultContentChars : content,
    followed: null,
    propagatesTo: typeof propagate === 'boolean' ? () => propagate : (slug) => propagate.includes(slug),
  };

  // A provider needs to know its span before it is called, and content is only kept where a sampler wants the request.
  const isLive = propagate !== false || content !== false;
  const queue = new SpanQueue();

  function begin(begun: BegunCall): CallFollower {
    const parent = parentOf(api, begun, api.context.active());
    if (!isLive) return new LaterSpans(queue, settings, begun, parent);
    const spans = new RequestSpans(settings, begun, parent);
    // A request that a sampler has left out has no spans below it, unless a provider needs a `traceparent`.
    if (spans.isRecording || propagate !== false) return spans;
    return {
      ended(ended) {
        settings.followed = ended;
      },
    };
  }

  function record(ended: RequestRecord): void {
    try {
      if (settings.followed !== ended) spansOfRecord(settings, ended, parentOf(api, ended, api.context.active()));
    } finally {
      try {
        measure(ended);
      } finally {
        if (ended.broadcast && broadcast !== undefined) tellWorkspace(broadcast(ended.workspaceId), ended);
      }
    }
  }

  function tellWorkspace(given: ReturnType<NonNullable<typeof broadcast>>, ended: RequestRecord): void {
    // The workspace must not see the traces of the host app.
    const root = api.ROOT_CONTEXT ?? api.context.active();
    const show = (tracer: OtelTracer | null) => {
      if (tracer !== null) spansOfRecord({ ...settings, tracer }, ended, parentOf(api, ended, root));
    };
    if (!isPromise(given)) show(given);
    // Telemetry fails open: the request has been served, and a rejection must not end the process.
    else
      Promise.resolve(given)
        .then(show)
        .catch(() => undefined);
  }

  return Object.assign(record, { begin, broadcasts: broadcast !== undefined });
}

function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof (value as { then?: unknown } | null)?.then === 'function';
}

const sampled = 1;

/**
 * The span that the request's field `trace` names, where its ids are those of W3C Trace Context; else that of its header
 * `traceparent`; else what is active. Of the field, the client's sampling is not known: what it asks to be traced is.
 */
function parentOf(
  { trace }: OpenTelemetryApi,
  { trace: named, traceparent }: Pick<BegunCall, 'trace' | 'traceparent'>,
  active: unknown,
): unknown {
  const traceId = named?.trace_id?.toLowerCase() ?? '';
  const spanId = named?.parent_span_id?.toLowerCase() ?? '';
  const isValid = /^(?!0+$)[0-9a-f]{32}$/.test(traceId) && /^(?!0+$)[0-9a-f]{16}$/.test(spanId);
  if (isValid) return trace.setSpanContext(active, { traceId, spanId, traceFlags: sampled, isRemote: true });
  if (traceparent === null) return active;
  const [, ofHeader = '', parentId = '', flags = ''] = traceparent.split('-');
  const traceFlags = Number.parseInt(flags, 16);
  return trace.setSpanContext(active, { traceId: ofHeader, spanId: parentId, traceFlags, isRemote: true });
}
