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

  constructor(why: AbortCause) {
    super(why);
    this.name = 'CallAborted';
    this.why = why;
  }
}
