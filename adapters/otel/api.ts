/**
 * The part of `@opentelemetry/api` that we use: structural types, so that it is no dependency. A project without it can
 * check the declarations of this package.
 */

/** Values of attributes. */
export type OtelAttributes = Record<string, string | number | boolean | string[]>;

/** The properties of a span at its start. */
export interface OtelSpanOptions {
  /** A `SpanKind`. */
  kind: number;
  /** The time of its beginning. */
  startTime: Date;
  /** The attributes that are known at its start, which samplers read. */
  attributes: OtelAttributes;
}

/** A span that has started. */
export interface OtelSpan {
  /** Sets one attribute. */
  setAttribute(name: string, value: string | number | boolean | string[]): unknown;
  /** Sets several. */
  setAttributes(attributes: OtelAttributes): unknown;
  /** Sets a `SpanStatusCode`. */
  setStatus(status: { code: number }): unknown;
  /** Ends it at this time. */
  end(time: Date): void;
  /** The ids of the span. */
  spanContext(): OtelSpanContext;
  /** false: a sampler has left it out. */
  isRecording(): boolean;
}

/** Puts spans into contexts. */
export interface OtelContextApi {
  /** The context with this span as the parent of what comes. */
  setSpan(context: unknown, span: OtelSpan): unknown;
}

/** Starts spans. */
export interface OtelTracer {
  /** Starts one below the span of the context. */
  startSpan(name: string, options: OtelSpanOptions, context: unknown): OtelSpan;
}

/** A span that is elsewhere. */
export interface OtelSpanContext {
  /** 32 hexadecimal digits. */
  traceId: string;
  /** 16 hexadecimal digits. */
  spanId: string;
  /** 1: sampled. */
  traceFlags: number;
  /** true: it is in another process. */
  isRemote?: boolean;
  /** Values of other systems, as `tracestate` has them. */
  traceState?: { serialize(): string };
}

/** The options of an instrument. */
export interface OtelInstrumentOptions {
  /** Such as `s`. */
  unit?: string;
  /** The description of its values. */
  description?: string;
  /** The bounds of a histogram's buckets. */
  advice?: { explicitBucketBoundaries?: number[] };
}

/** Makes instruments. */
export interface OtelMeter {
  /** Makes a histogram. */
  createHistogram(
    name: string,
    options: OtelInstrumentOptions,
  ): { record(value: number, labels: OtelAttributes): void };
  /** Makes a counter. */
  createCounter(name: string, options: OtelInstrumentOptions): { add(value: number, labels: OtelAttributes): void };
  /** Makes a gauge that is read when metrics are collected. */
  createObservableGauge(name: string, options: OtelInstrumentOptions): OtelObservable;
  /** Makes a counter that is read when metrics are collected. */
  createObservableCounter(name: string, options: OtelInstrumentOptions): OtelObservable;
  /** Reads several at once, whenever metrics are collected. */
  addBatchObservableCallback(read: OtelBatchCallback, instruments: OtelObservable[]): void;
  /** Ends it. */
  removeBatchObservableCallback(read: OtelBatchCallback, instruments: OtelObservable[]): void;
}

/** An instrument that is read when metrics are collected. */
export interface OtelObservable {
  /** Calls back whenever metrics are collected. */
  addCallback(read: (result: unknown) => void): void;
}

/** Reads several instruments. */
export type OtelBatchCallback = (result: {
  /** Says what an instrument is at now. */
  observe(instrument: OtelObservable, value: number, labels?: OtelAttributes): void;
}) => void | Promise<void>;
