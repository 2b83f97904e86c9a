import type { BegunCall, CallFollower, Recorder, RequestRecord } from '../src/index.ts';
import type { OtelContextApi, OtelMeter, OtelSpanContext, OtelTracer } from './otel-api.ts';
import { LaterSpans, SpanQueue } from './otel-later-spans.ts';
import { createMetrics } from './otel-metrics.ts';
import type { ConventionVersion } from './otel-names.ts';
import { RequestSpans, type SpanSettings, spansOfRecord } from './otel-spans.ts';

export type { ConventionVersion } from './otel-names.ts';
export { type ObserveStateOptions, observeState } from './otel-state.ts';

/** What is needed of `@opentelemetry/api`. The host app passes the module in: nothing here imports it. */
export interface OpenTelemetryApi {
  /** Where tracers come from. */
  readonly trace: OtelContextApi & {
    getTracer(name: string): OtelTracer;
    setSpanContext(context: unknown, spanContext: OtelSpanContext): unknown;
  };
  /** Where meters come from. */
  readonly metrics: { getMeter(name: string): OtelMeter };
  /** The active context becomes the parent. */
  readonly context: { active(): unknown };
  /** The context without a span. */
  readonly ROOT_CONTEXT?: unknown;
}

/** What {@link openTelemetry} takes beside the API. */
export interface OpenTelemetryOptions {
  /** Which names spans and metrics have. Default `1.41`, which the usual back ends read. */
  conventions?: ConventionVersion;
  /**
   * Whether providers get the header `traceparent` of their attempt: all, or those of these slugs. Default false: a trace
   * id says which requests belong together.
   */
  propagate?: boolean | readonly string[];
  /**
   * Whether spans hold prompts and responses: true, or the most characters of each (default 65,536). Never with zero data
   * retention. Default false.
   */
  content?: boolean | number;
  /**
   * The tracer of a workspace whose switch `is_observability_broadcast_enabled` is on: its requests get spans of that
   * tracer as well, which the host app exports to where the workspace wants them. null: there is none.
   */
  broadcast?: (workspaceId: string) => OtelTracer | null;
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
    // What a sampler has left out has no spans below it; a provider that is told so needs one all the same.
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
        const tracer = ended.broadcast ? (broadcast?.(ended.workspaceId) ?? null) : null;
        // What the host app traces is not the workspace's to see.
        const root = api.ROOT_CONTEXT ?? api.context.active();
        if (tracer !== null) spansOfRecord({ ...settings, tracer }, ended, parentOf(api, ended, root));
      }
    }
  }

  return Object.assign(record, { begin, broadcasts: broadcast !== undefined });
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
