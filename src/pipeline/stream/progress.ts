import { UpstreamError } from '../../base/http/upstream-error.ts';
import { CallAborted } from '../../call/abort.ts';
import type { ResponseEnd } from '../../call/generation.ts';
import type { ChatChunk } from '../../schema/chat/chunk.ts';
import { badStream, type ChoiceWatch } from './events.ts';

/**
 * The state of an upstream's stream:
 * - `open`: a choice is missing or unfinished
 * - `trailing`: every choice that was asked for is finished; usage or a sentinel may still come
 * - `ended`: nothing more counts
 */
export type StreamPhase = 'open' | 'trailing' | 'ended';

/**
 * Decides how a stream ends. A stream is complete when everything that was begun is finished, and either the provider
 * says that it is done or everything that was asked for is here. Any other end is a failure: a cut response must not
 * look complete. The first end counts.
 */
export class StreamProgress {
  readonly #choices: ChoiceWatch;
  #end: ResponseEnd | null = null;

  constructor(choices: ChoiceWatch) {
    this.#choices = choices;
  }

  get end(): ResponseEnd | null {
    return this.#end;
  }

  get phase(): StreamPhase {
    if (this.#end !== null) return 'ended';
    return this.#choices.isWhole ? 'trailing' : 'open';
  }

  sawChunk(chunk: ChatChunk): void {
    this.#choices.see(chunk);
  }

  /** A choice has ended; its last chunk comes at the end of the stream. */
  finished(index: number): void {
    this.#choices.closes(index);
  }

  /** More text has come, which is in no chunk that `sawChunk` was shown. */
  goesOn(): void {
    this.#choices.goesOn();
  }

  /** The provider says that the stream is done. Some give fewer choices than were asked for. */
  sawSentinel(): void {
    this.#endWith(this.#choices.isClosed ? { kind: 'complete' } : brokenOff());
  }

  /**
   * Notes an error of a choice that the provider has reported. It counts even after the choices' ends, since the
   * provider says so.
   */
  sawError(error: UpstreamError): void {
    this.#endWith({ kind: 'failed', error });
  }

  /** Notes that the upstream has no more bytes. */
  sourceEnded(): void {
    this.#endWith(this.phase === 'trailing' ? { kind: 'complete' } : brokenOff());
  }

  /** Notes that reading has failed: the connection, a time-out, an event nobody can read, an abort. */
  sourceFailed(error: unknown): void {
    // The response is complete. Only its end was not sent as it should be.
    if (this.phase === 'trailing' && error instanceof UpstreamError) this.#endWith({ kind: 'complete' });
    else if (error instanceof CallAborted && error.why === 'client_left') this.#endWith({ kind: 'cancelled' });
    else this.#endWith({ kind: 'failed', error });
  }

  /** Ends the stream: nobody wants the rest. */
  cancel(): void {
    this.#endWith({ kind: 'cancelled' });
  }

  #endWith(end: ResponseEnd): void {
    this.#end ??= end;
  }
}

function brokenOff(): ResponseEnd {
  return { kind: 'failed', error: badStream('The provider broke off its response.') };
}
