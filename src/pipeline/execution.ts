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

/** What is executed: the plan of one generation, and what belongs to it. */
export interface Execution {
  request: ChatRequest;
  plan: Plan;
  share: HoldShare;
  /** Aborted when the generation is to stop. */
  signal: StopSignal;
  /** The log of the attempts; each is added when it is decided. */
  attempts: AttemptTrace[];
  /** The request of one attempt: plugins may change it. @returns null: what they made of it does not fit the budget */
  prepare: ((target: Target) => Promise<Prepared | null>) | null;
  /** Who follows the call; null: nobody. */
  follower: SafeFollower | null;
  /** Is shown what is sent upstream, before authentication. */
  show: (encoded: EncodedRequest) => void;
}
