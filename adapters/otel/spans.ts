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
import type { OtelAttributes, OtelContextApi, OtelSpan, OtelTracer } from './api.ts';
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

/** A span of an attempt that has not ended. */
interface OpenAttempt {
  readonly span: OtelSpan;
  /** null: not decided. */
  attempt: AttemptTrace | null;
}

/** The spans of one request: its own, and below it those of plans, attempts, plugins and tools. */
export class RequestSpans implements CallFollower {
  readonly wantsContent: boolean;
  /** false: a sampler has left the request out. */
  readonly isRecording: boolean;
  readonly #settings: SpanSettings;
  readonly #begun: BegunCall;
  readonly #span: OtelSpan;
  /** The context of the span. */
  readonly #context: unknown;
  /** Attempts that have not failed. */
  #open: OpenAttempt[] = [];

  /** @param parent  context of the span above */
  constructor(settings: SpanSettings, begun: BegunCall, parent: unknown) {
    this.#settings = settings;
    this.#begun = begun;
    const startTime = new Date(begun.receivedAtMs);
    const options = { kind: internal, startTime, attributes: startAttributes(begun) };
    this.#span = settings.tracer.startSpan('gateway.request', options, parent);
    this.#context = settings.trace.setSpan(parent, this.#span);
    this.isRecording = this.#span.isRecording();
    this.wantsContent = settings.contentChars !== null && this.isRecording;
  }

  attempt(begun: BegunAttempt): FollowedAttempt {
    const { tracer, propagatesTo, version } = this.#settings;
    const attributes = attemptAttributes(this.#begun, begun, version);
    const options = { kind: client, startTime: new Date(begun.startedAtMs), attributes };
    const span = tracer.startSpan(`${operationNameOf(this.#begun.operation)} ${begun.model}`, options, this.#context);
    const open: OpenAttempt = { span, attempt: null };
    this.#open.push(open);
    const decided = (attempt: AttemptTrace) => this.#decided(open, attempt);
    return propagatesTo(begun.providerSlug) ? { headers: headersOf(span), decided } : { decided };
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
      span.end(new Date(Math.max(record.receivedAtMs, endedAtMs)));
    }
  }

  #decided(open: OpenAttempt, attempt: AttemptTrace): void {
    const { span } = open;
    span.setAttribute('gateway.attempt.status', attempt.status);
    if (attempt.costNanoUsd > 0) span.setAttribute('gateway.cost_nano_usd', attempt.costNanoUsd);
    open.attempt = attempt;
    if (attempt.errorType === null) return;
    this.#open = this.#open.filter((one) => one !== open);
    endAttempt(span, attempt.decidedAtMs, errorOf(attempt, null));
  }

  /** The attempts that are still open: one for each generation was billed. */
  #endAttempts(record: RequestRecord, content: CallContent | null, endedAtMs: number): void {
    const { version, contentChars } = this.#settings;
    const last = record.generations.at(-1);
    for (const { span, attempt } of this.#open) {
      const generation = attempt && generationOf(record, attempt);
      // It succeeded as another did, which was taken; or nobody learnt how it went.
      if (attempt === null || generation === null) {
        endAttempt(span, attempt?.decidedAtMs ?? endedAtMs, 'cancelled');
        continue;
      }
      const billed = billedOf(generation, attempt);
      if (billed !== null && span.isRecording()) {
        span.setAttributes(resultAttributes(billed, attempt, record.id, version));
        if (content !== null && contentChars !== null && generation === last)
          span.setAttributes(contentAttributes(content, billed.finishReason, contentChars));
      }
      endAttempt(span, billed?.times.endedAtMs ?? attempt.decidedAtMs, errorOf(attempt, billed));
    }
  }

  #below(name: string, startMs: number, endMs: number, attributes: OtelAttributes, hasFailed: boolean): void {
    const options = { kind: internal, startTime: new Date(startMs), attributes };
    const span = this.#settings.tracer.startSpan(name, options, this.#context);
    if (hasFailed) span.setStatus({ code: failed });
    span.end(new Date(Math.max(startMs, endMs)));
  }
}

function endAttempt(span: OtelSpan, atMs: number, error: string | null): void {
  if (error !== null) {
    span.setAttribute('error.type', error);
    span.setStatus({ code: failed });
  }
  span.end(new Date(atMs));
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
    followed.decided?.(attempt);
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
