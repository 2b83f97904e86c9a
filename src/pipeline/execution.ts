import type { StopSignal } from '../base/stop.ts';
import type { Plan, Target } from '../call/plan.ts';
import type { AttemptTrace } from '../call/trace.ts';
import type { EncodedRequest } from '../dialects/dialect.ts';
import type { ChatRequest } from '../schema/chat.ts';
import type { SafeFollower } from '../telemetry/follow.ts';
import type { HoldShare } from './hold-share.ts';

/** The request of one attempt, as plugins have made it, and its target with what that can cost. */
export interface Prepared {
  request: ChatRequest;
  target: Target;
}

/**
 * What is executed: the plan of one generation, and what belongs to it. A class for the reason that `Sent` in
 * attempt/outgoing.ts is one.
 */
export class Execution {
  readonly request: ChatRequest;
  readonly plan: Plan;
  readonly share: HoldShare;
  /** Aborted when the generation is to stop. */
  readonly signal: StopSignal;
  /** The log of the attempts; each is added when it is decided. */
  readonly attempts: AttemptTrace[];
  /** The request of one attempt: plugins may change it. @returns null: what they made of it does not fit the budget */
  readonly prepare: ((target: Target) => Promise<Prepared | null>) | null;
  /** Who follows the call; null: nobody. */
  readonly follower: SafeFollower | null;
  /** Is shown what is sent upstream, before authentication. */
  readonly show: (encoded: EncodedRequest) => void;

  constructor(
    request: ChatRequest,
    plan: Plan,
    share: HoldShare,
    signal: StopSignal,
    attempts: AttemptTrace[],
    prepare: Execution['prepare'],
    follower: SafeFollower | null,
    show: (encoded: EncodedRequest) => void,
  ) {
    this.request = request;
    this.plan = plan;
    this.share = share;
    this.signal = signal;
    this.attempts = attempts;
    this.prepare = prepare;
    this.follower = follower;
    this.show = show;
  }
}
