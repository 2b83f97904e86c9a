import { GatewayError } from '../base/errors.ts';

/** The reason why a call was stopped from outside. */
export type AbortCause =
  /** The client closed its connection or cancelled the body. */
  | 'client_left'
  /** The request took longer than its total time limit. */
  | 'deadline'
  /** The gateway is being closed. */
  | 'closing';

export class CallAborted extends Error {
  readonly why: AbortCause;

  /** @param cause  the abort reason of the client's own signal, if any */
  constructor(why: AbortCause, cause?: unknown) {
    super(why, cause === undefined ? undefined : { cause });
    this.name = 'CallAborted';
    this.why = why;
  }
}

/** Returns the error for a caller whose connection is still open. */
export function abortError(error: CallAborted): GatewayError {
  return error.why === 'closing'
    ? new GatewayError('unavailable', 'The gateway is shutting down', { retryAfterMs: 1000 })
    : new GatewayError('timeout', 'The request took longer than its time limit');
}
