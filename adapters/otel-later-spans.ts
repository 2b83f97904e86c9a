import type {
  BegunAttempt,
  BegunCall,
  CallFollower,
  FollowedAttempt,
  FollowedWork,
  RequestRecord,
} from '../src/index.ts';
import { RequestSpans, type SpanSettings } from './otel-spans.ts';

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
  /** What a live span would have been told, in order. */
  readonly #told: ((spans: RequestSpans) => void)[] = [];

  /** @param parent  context of the span above */
  constructor(queue: SpanQueue, settings: SpanSettings, begun: BegunCall, parent: unknown) {
    this.#queue = queue;
    this.#settings = settings;
    this.#begun = begun;
    this.#parent = parent;
  }

  attempt(begun: BegunAttempt): FollowedAttempt {
    let followed: FollowedAttempt | undefined;
    this.#told.push((spans) => {
      followed = spans.attempt(begun);
    });
    return { decided: (attempt) => void this.#told.push(() => followed?.decided?.(attempt)) };
  }

  worked(work: FollowedWork): void {
    this.#told.push((spans) => spans.worked(work));
  }

  ended(record: RequestRecord): void {
    this.#settings.followed = record;
    this.#queue.add(() => this.#make(record));
  }

  #make(record: RequestRecord): void {
    const spans = new RequestSpans(this.#settings, this.#begun, this.#parent);
    // What a sampler has left out has no spans below it.
    if (!spans.isRecording) return;
    for (const tell of this.#told) tell(spans);
    spans.finish(record, null);
  }
}

/** So many requests wait for their spans at most. */
const mostWaiting = 256;

/** What is to be made at the end of the turn. */
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
