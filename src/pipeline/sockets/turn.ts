import type { ByteSource } from '../../base/bytes.ts';
import { UpstreamError } from '../../base/http/upstream-error.ts';
import { isObject } from '../../base/values.ts';
import { ByteQueue, type Sender } from '../../transport/byte-queue.ts';
import type { TransportRequest } from '../../transport/transport.ts';
import { asEvent, type ErrorFrame, errorFrame, fieldsOf, isOfResponse, typeOf } from './frames.ts';

/** The first of a response: the response itself, or an error instead. */
export type First = { kind: 'response'; body: ByteSource } | { kind: 'error'; error: ErrorFrame };

/** The connection that a turn is on. */
export interface TurnLink {
  /** Reads nothing more until `resume`. */
  pause(): void;
  resume(): void;
  /** Closes the connection at once. */
  drop(): void;
  /** Called once. @param response  the complete response, which may be gone on from; null: there is none */
  ended(response: unknown): void;
}

const heads: ReadonlySet<string | null> = new Set(['response.created', 'response.in_progress', 'response.queued']);
const completes: ReadonlySet<string | null> = new Set(['response.completed', 'response.incomplete']);
const failures: ReadonlySet<string | null> = new Set(['response.failed', 'response.cancelled', 'error']);

/**
 * One response on a connection: frames come in, and the same events as by HTTP go out. The connection pauses while the
 * reader is behind. The protocol has no word to cancel a response, so a reader that leaves closes the connection.
 */
export class Turn implements Sender {
  /** Resolves with the first frame. Rejects with an UpstreamError, or with the reason of the signal. */
  readonly first: Promise<First>;
  readonly #request: TransportRequest;
  readonly #link: TurnLink;
  readonly #lastId: string | null;
  readonly #body: ByteQueue;
  readonly #onAbort: () => void;
  #resolve: (first: First) => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;
  #hasBegun = false;
  #isOver = false;

  /**
   * @param lastId  the id of the latest response on the connection, whose events must not come again; null: there is none
   */
  constructor(request: TransportRequest, lastId: string | null, link: TurnLink) {
    this.#request = request;
    this.#lastId = lastId;
    this.#link = link;
    const { signal } = request;
    this.#body = new ByteQueue(signal, this);
    this.first = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#onAbort = () => {
      this.stop();
      this.#reject(signal.reason);
      this.#body.abort(signal.reason);
    };
    signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  resume(): void {
    this.#link.resume();
  }

  stop(): void {
    if (this.#isOver) return;
    this.#link.drop();
    this.#end(null);
  }

  frame(text: string): void {
    if (this.#isOver) return;
    const type = typeOf(text);
    // Other frames tell of the account of the operator, such as its limits: they are none of the response's events.
    if (!isOfResponse(type)) return;
    if (!this.#hasBegun) {
      const error = type === 'error' ? errorFrame(text) : null;
      if (error !== null) {
        this.#end(null);
        this.#resolve({ kind: 'error', error });
        return;
      }
      if (type !== null && type !== 'error' && !this.#isNew(type, text)) {
        this.#fail(bad('The provider sent events of another response.'));
        return;
      }
      this.#hasBegun = true;
      this.#resolve({ kind: 'response', body: this.#body });
    }
    const hasRoom = this.#body.push(asEvent(type, text));
    if (!completes.has(type) && !failures.has(type)) {
      if (!hasRoom) this.#link.pause();
      return;
    }
    this.#body.end();
    this.#end(completes.has(type) ? fieldsOf(text).response : null);
  }

  closed(error: unknown): void {
    if (this.#isOver) return;
    this.#end(null);
    const cut = error instanceof UpstreamError ? error : closedByProvider();
    this.#reject(cut);
    this.#body.fail(cut);
  }

  /** Tells whether the first event is one of a new response. Only such events name theirs. */
  #isNew(type: string, text: string): boolean {
    if (!heads.has(type) && !completes.has(type) && !failures.has(type)) return false;
    const { response } = fieldsOf(text);
    return isObject(response) && (response.id === undefined || response.id !== this.#lastId);
  }

  #fail(error: UpstreamError): void {
    this.#link.drop();
    this.closed(error);
  }

  #end(response: unknown): void {
    this.#isOver = true;
    this.#request.signal.removeEventListener('abort', this.#onAbort);
    this.#link.ended(response);
  }
}

function bad(message: string): UpstreamError {
  return new UpstreamError(message, { reason: 'bad_response', status: 502 });
}

function closedByProvider(): UpstreamError {
  const message = 'the provider closed the WebSocket in the middle of the response';
  return new UpstreamError(message, { reason: 'network', status: 502, failure: message });
}
