import { GatewayError } from '../base/errors.ts';

/** Why a call was stopped from outside: the reason of its abort signal. */
export type AbortCause =
  /** the client closed its connection or cancelled the body */
  | 'client_left'
  /** the whole request took longer than allowed */
  | 'deadline'
  /** the gateway is being closed */
  | 'closing';

export class CallAborted extends Error {
  readonly why: AbortCause;

  /** @param cause  the reason the client's own signal was aborted with, where it has one */
  constructor(why: AbortCause, cause?: unknown) {
    super(why, cause === undefined ? undefined : { cause });
    this.name = 'CallAborted';
    this.why = why;
  }
}

/** What a caller who is still there is told when the call was stopped. */
export function abortError(error: CallAborted): GatewayError {
  return error.why === 'closing'
    ? new GatewayError('unavailable', 'The gateway is shutting down', { retryAfterMs: 1000 })
    : new GatewayError('timeout', 'The request took longer than its time limit');
}
