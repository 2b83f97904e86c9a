import type {
  BegunAttempt,
  BegunCall,
  CallContent,
  CallFollower,
  FollowedAttempt,
  FollowedWork,
  GenerationRecord,
  RequestRecord,
} from '../../src/index.ts';
import type { OtelAttributes, OtelContextApi, OtelSpan, OtelTime, OtelTracer } from './api.ts';
import {
  type AttemptTrace,
  attemptAttributes,
  billedOf,
  errorOf,
  requestAttributes,
  resultAttributes,
  startAttributes,
  workAttributes,
} from './attributes.ts';
import { contentAttributes } from './content.ts';
import type { ConventionVersion } from './names.ts';
import { operationNameOf } from './names.ts';

/** The settings that the spans of all requests share. */
export interface SpanSettings {
  tracer: OtelTracer;
  trace: OtelContextApi;
  version: ConventionVersion;
  /** Most characters of a prompt or a response; null: neither is on a span. */
  contentChars: number | null;
  /** The latest record whose call was followed. The recorder is given it next, and makes no spans of it. */
  followed: RequestRecord | null;
  /** Tells whether a provider gets the trace. */
  propagatesTo: (providerSlug: string) => boolean;
}

// Of SpanKind and SpanStatusCode, which are numbers in the API's own interface.
const internal = 0;
const client = 2;
const failed = 2;

/** A span of an attempt that has begun. */
class AttemptSpan implements FollowedAttempt {
  readonly span: OtelSpan;
  /** undefined: the provider does not get the trace. */
  readonly headers: Readonly<Record<string, string>> | undefined;
  /** null: not decided. */
  attempt: AttemptTrace | null = null;
  hasEnded = false;

  constructor(span: OtelSpan, isPropagated: boolean) {
    this.span = span;
    this.headers = isPropagated ? headersOf(span) : undefined;
  }

  decided(attempt: AttemptTrace): void {
    const { span } = this;
    this.attempt = attempt;
    span.setAttribute('gateway.attempt.status', attempt.status);
    if (attempt.costNanoUsd > 0) span.setAttribute('gateway.cost_nano_usd', attempt.costNanoUsd);
    if (attempt.errorType !== null) this.end(attempt.decidedAtMs, errorOf(attempt, null));
  }

  end(atMs: number, error: string | null): void {
    this.hasEnded = true;
    if (error !== null) {
      this.span.setAttribute('error.type', error);
      this.span.setStatus({ code: failed });
    }
    this.span.end(timeOf(atMs));
  }
}

/** The spans of one request: its own, and below it those of plans, attempts, plugins and tools. */
export class RequestSpans implements CallFollower {
  readonly wantsContent: boolean;
  /** false: a sampler has left the request out. */
  readonly isRecording: boolean;
  readonly #settings: SpanSettings;
  readonly #begun: BegunCall;
  readonly #parent: unknown;
  readonly #span: OtelSpan;
  /** The context of the span; undefined: nothing is below it yet. */
  #context: unknown;
  readonly #attempts: AttemptSpan[] = [];

  /** @param parent  context of the span above */
  constructor(settings: SpanSettings, begun: BegunCall, parent: unknown) {
    this.#settings = settings;
    this.#begun = begun;
    this.#parent = parent;
    const startTime = timeOf(begun.receivedAtMs);
    const options = { kind: internal, startTime, attributes: startAttributes(begun) };
    this.#span = settings.tracer.startSpan('gateway.request', options, parent);
    this.isRecording = this.#span.isRecording();
    this.wantsContent = settings.contentChars !== null && this.isRecording;
  }

  attempt(begun: BegunAttempt): AttemptSpan {
    const { propagatesTo, version } = this.#settings;
    const attributes = attemptAttributes(this.#begun, begun, version);
    const name = `${operationNameOf(this.#begun.operation)} ${begun.model}`;
    const span = this.#start(name, client, begun.startedAtMs, attributes);
    const attempt = new AttemptSpan(span, propagatesTo(begun.providerSlug));
    this.#attempts.push(attempt);
    return attempt;
  }

  worked(work: FollowedWork): void {
    const [name, attributes] = workAttributes(work);
    this.#below(name, work.startedAtMs, work.endedAtMs, attributes, work.hasFailed);
  }

  ended(record: RequestRecord, content: CallContent | null): void {
    this.#settings.followed = record;
    this.finish(record, content);
  }

  /** Ends all spans. */
  finish(record: RequestRecord, content: CallContent | null): void {
    const span = this.#span;
    const endedAtMs = record.receivedAtMs + record.totalMs;
    try {
      if (this.isRecording) {
        for (const { requested, times, excluded } of record.generations) {
          const attributes = { 'gateway.requested': requested, 'gateway.excluded': excluded.length };
          if (times.plannedAtMs !== null)
            this.#below('gateway.plan', times.startedAtMs, times.plannedAtMs, attributes, false);
        }
        span.setAttributes(requestAttributes(record));
        if (record.outcome === 'failed' || record.outcome === 'cut') span.setStatus({ code: failed });
      }
      this.#endAttempts(record, content, endedAtMs);
    } finally {
      span.end(timeOf(Math.max(record.receivedAtMs, endedAtMs)));
    }
  }

  /** The attempts that are still open: one for each generation was billed. */
  #endAttempts(record: RequestRecord, content: CallContent | null, endedAtMs: number): void {
    const { version, contentChars } = this.#settings;
    const last = record.generations.at(-1);
    for (const open of this.#attempts) {
      if (open.hasEnded) continue;
      const { span, attempt } = open;
      const generation = attempt && generationOf(record, attempt);
      // It succeeded as another did, which was taken; or nobody learnt how it went.
      if (attempt === null || generation === null) {
        open.end(attempt?.decidedAtMs ?? endedAtMs, 'cancelled');
        continue;
      }
      const billed = billedOf(generation, attempt);
      if (billed !== null && span.isRecording()) {
        span.setAttributes(resultAttributes(billed, attempt, record.id, version));
        if (content !== null && contentChars !== null && generation === last)
          span.setAttributes(contentAttributes(content, billed.finishReason, contentChars));
      }
      open.end(billed?.times.endedAtMs ?? attempt.decidedAtMs, errorOf(attempt, billed));
    }
  }

  #below(name: string, startMs: number, endMs: number, attributes: OtelAttributes, hasFailed: boolean): void {
    const span = this.#start(name, internal, startMs, attributes);
    if (hasFailed) span.setStatus({ code: failed });
    span.end(timeOf(Math.max(startMs, endMs)));
  }

  #start(name: string, kind: number, startMs: number, attributes: OtelAttributes): OtelSpan {
    const { tracer, trace } = this.#settings;
    this.#context ??= trace.setSpan(this.#parent, this.#span);
    return tracer.startSpan(name, { kind, startTime: timeOf(startMs), attributes }, this.#context);
  }
}

/** @param ms  since the epoch; what is less than a millisecond is left out */
function timeOf(ms: number): OtelTime {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.floor(ms - seconds * 1000) * 1_000_000];
}

/** Makes the spans of a request that was not followed, from its record. */
export function spansOfRecord(settings: SpanSettings, record: RequestRecord, parent: unknown): void {
  const spans = new RequestSpans(settings, record, parent);
  for (const attempt of record.attempts) {
    const { providerSlug, model, startedAtMs } = attempt;
    const followed = spans.attempt({
      providerSlug,
      model,
      startedAtMs,
      endpoint: attempt.endpoint,
      key: attempt.key ?? null,
      url: '',
      streamed: record.streamed,
      parameters: {},
    });
    followed.decided(attempt);
  }
  spans.finish(record, null);
}

/** The generation that an attempt has served; null: none. */
function generationOf({ generations }: RequestRecord, attempt: AttemptTrace): GenerationRecord | null {
  return generations.find(({ attempts }) => attempts.includes(attempt)) ?? null;
}

/** W3C Trace Context. */
function headersOf(span: OtelSpan): Record<string, string> {
  const { traceId, spanId, traceFlags, traceState } = span.spanContext();
  const flags = (traceFlags & 0xff).toString(16).padStart(2, '0');
  const state = traceState?.serialize() ?? '';
  return { traceparent: `00-${traceId}-${spanId}-${flags}`, ...(state !== '' && { tracestate: state }) };
}
