import type {
  BegunAttempt,
  BegunCall,
  CallFollower,
  FollowedAttempt,
  FollowedWork,
  RequestRecord,
} from '../../src/index.ts';
import type { AttemptTrace } from './attributes.ts';
import { RequestSpans, type SpanSettings } from './spans.ts';

/**
 * Follows a request and makes its spans once it has ended, together with those of other requests that end in the same
 * turn of the event loop. The SDK's code then runs from the processor's caches, and leaves them to the gateway while a
 * request is served. Until a sampler has chosen the request, only what comes is kept: no attribute is made. Times and
 * attributes are those of live spans.
 */
export class LaterSpans implements CallFollower {
  readonly #queue: SpanQueue;
  readonly #settings: SpanSettings;
  readonly #begun: BegunCall;
  readonly #parent: unknown;
  /** The events for live spans, in order; null: none yet. */
  #told: (LaterAttempt | FollowedWork)[] | null = null;
  #record: RequestRecord | null = null;

  /** @param parent  context of the span above */
  constructor(queue: SpanQueue, settings: SpanSettings, begun: BegunCall, parent: unknown) {
    this.#queue = queue;
    this.#settings = settings;
    this.#begun = begun;
    this.#parent = parent;
  }

  attempt(begun: BegunAttempt): FollowedAttempt {
    const attempt = new LaterAttempt(begun);
    this.#tell(attempt);
    return attempt;
  }

  worked(work: FollowedWork): void {
    this.#tell(work);
  }

  ended(record: RequestRecord): void {
    this.#settings.followed = record;
    this.#record = record;
    this.#queue.add(this);
  }

  #tell(told: LaterAttempt | FollowedWork): void {
    // Of most requests there is one: a list that grows from nothing has room for sixteen more.
    if (this.#told === null) this.#told = [told];
    else this.#told.push(told);
  }

  /** Makes and ends the spans. */
  make(): void {
    const record = this.#record;
    if (record === null) return;
    const spans = new RequestSpans(this.#settings, this.#begun, this.#parent);
    // A request that a sampler has left out has no spans below it.
    if (!spans.isRecording) return;
    for (const told of this.#told ?? []) {
      if (told instanceof LaterAttempt) told.tell(spans);
      else spans.worked(told);
    }
    spans.finish(record, null);
  }
}

class LaterAttempt implements FollowedAttempt {
  readonly #begun: BegunAttempt;
  #decided: AttemptTrace | null = null;

  constructor(begun: BegunAttempt) {
    this.#begun = begun;
  }

  decided(attempt: AttemptTrace): void {
    this.#decided = attempt;
  }

  tell(spans: RequestSpans): void {
    const followed = spans.attempt(this.#begun);
    if (this.#decided !== null) followed.decided(this.#decided);
  }
}

/** The most requests that wait for their spans. */
const mostWaiting = 256;

/** The spans to make at the end of the turn. */
export class SpanQueue {
  #waiting: LaterSpans[] = [];

  add(spans: LaterSpans): void {
    const count = this.#waiting.push(spans);
    if (globalThis.setImmediate === undefined || count === mostWaiting) this.#run();
    else if (count === 1) globalThis.setImmediate(() => this.#run());
  }

  #run(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const spans of waiting) {
      try {
        spans.make();
      } catch {
        // Telemetry fails open: the spans of the other requests are made.
      }
    }
  }
}
