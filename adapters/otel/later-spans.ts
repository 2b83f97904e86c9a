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
 * request is served. Times and attributes are those of live spans.
 */
export class LaterSpans implements CallFollower {
  readonly #queue: SpanQueue;
  readonly #settings: SpanSettings;
  readonly #begun: BegunCall;
  readonly #parent: unknown;
  /** The events for live spans, in order. */
  readonly #told: (LaterAttempt | FollowedWork)[] = [];

  /** @param parent  context of the span above */
  constructor(queue: SpanQueue, settings: SpanSettings, begun: BegunCall, parent: unknown) {
    this.#queue = queue;
    this.#settings = settings;
    this.#begun = begun;
    this.#parent = parent;
  }

  attempt(begun: BegunAttempt): FollowedAttempt {
    const attempt = new LaterAttempt(begun);
    this.#told.push(attempt);
    return attempt;
  }

  worked(work: FollowedWork): void {
    this.#told.push(work);
  }

  ended(record: RequestRecord): void {
    this.#settings.followed = record;
    this.#queue.add(() => this.#make(record));
  }

  #make(record: RequestRecord): void {
    const spans = new RequestSpans(this.#settings, this.#begun, this.#parent);
    // A request that a sampler has left out has no spans below it.
    if (!spans.isRecording) return;
    for (const told of this.#told) {
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
    if (this.#decided !== null) followed.decided?.(this.#decided);
  }
}

/** The most requests that wait for their spans. */
const mostWaiting = 256;

/** The spans to make at the end of the turn. */
export class SpanQueue {
  #waiting: (() => void)[] = [];

  add(make: () => void): void {
    const count = this.#waiting.push(make);
    if (globalThis.setImmediate === undefined || count === mostWaiting) this.#run();
    else if (count === 1) globalThis.setImmediate(() => this.#run());
  }

  #run(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const make of waiting) {
      try {
        make();
      } catch {
        // Telemetry fails open: the spans of the other requests are made.
      }
    }
  }
}
