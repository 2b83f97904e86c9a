/** Why a call was stopped from outside: the reason of its abort signal. */
export type AbortCause =
  /** the client closed its connection or cancelled the body */
  | 'client_left'
  /** the whole request took longer than allowed */
  | 'deadline'
  /** the gateway is being closed */
  | 'closing';

export class CallAborted extends Error {
  readonly cause: AbortCause;

  constructor(cause: AbortCause) {
    super(cause);
    this.name = 'CallAborted';
    this.cause = cause;
  }
}
