/**
 * The part of `@opentelemetry/api` that we use: structural types, so that it is no dependency. A project without it can
 * check the declarations of this package.
 */

/** Values of attributes. */
export type OtelAttributes = Record<string, string | number | boolean | string[]>;

/** What a span starts with. */
export interface OtelSpanOptions {
  /** A `SpanKind`. */
  kind: number;
  /** When it began. */
  startTime: Date;
  /** What is known at its start: samplers read it. */
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
  isRemote: boolean;
}

/** How an instrument is made. */
export interface OtelInstrumentOptions {
  /** Such as `s`. */
  unit?: string;
  /** What it measures. */
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
}
