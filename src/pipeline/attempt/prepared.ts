import type { StopSignal } from '../../base/async/stop.ts';
import { type Ask, withRequest } from '../../call/ask.ts';
import type { Call } from '../../call/call.ts';
import type { Plan, Target } from '../../call/plan.ts';
import type { AttemptTrace } from '../../call/trace.ts';
import type { EncodedRequest } from '../../dialects/dialect.ts';
import { withDefaults } from '../../routing/model-defaults.ts';
import type { ChatRequest } from '../../schema/chat/chat.ts';
import type { SafeFollower } from '../../telemetry/follow.ts';
import type { HoldShare } from '../money/hold-share.ts';

/** The request of one attempt, as plugins have made it, and its target with what that can cost. */
export interface Prepared {
  ask: Ask;
  target: Target;
}

/** What is executed: the plan of one generation, and what belongs to it. */
export interface Execution {
  ask: Ask;
  /** As the client sent it. */
  asked: ChatRequest;
  plan: Plan;
  share: HoldShare;
  /** Of the call. */
  time: Call['time'];
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

/** The request as a target gets it where no plugin prepares it: with the defaults of its model. */
export function askAt(ask: Ask, { endpoint }: Target): Ask {
  return withRequest(ask, withDefaults(ask.request, endpoint));
}
