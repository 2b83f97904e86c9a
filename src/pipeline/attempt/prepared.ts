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

/** The request of one attempt, as plugins have made it, and its target with the most that the request can cost. */
export interface Prepared {
  ask: Ask;
  target: Target;
}

/** The plan of one generation, and everything that is needed to execute it. */
export interface Execution {
  ask: Ask;
  /** The request as the client sent it. */
  asked: ChatRequest;
  plan: Plan;
  share: HoldShare;
  /** The time of the call. */
  time: Call['time'];
  /** Aborted when the generation is to stop. */
  signal: StopSignal;
  /** The log of the attempts; each is added when it is decided. */
  attempts: AttemptTrace[];
  /**
   * Makes the request of one attempt, which plugins may change. @returns null: the changed request does not fit the
   * budget
   */
  prepare: ((target: Target) => Promise<Prepared | null>) | null;
  /** The number of the client's WebSocket; null, or absent: it came by HTTP. */
  connection?: Call['connection'];
  /** Follows the call; null: nobody does. */
  follower: SafeFollower | null;
  /** Receives the request that is sent upstream, before authentication. */
  show: (encoded: EncodedRequest) => void;
}

/** Returns the request that a target gets where no plugin prepares it: with the defaults of its model. */
export function askAt(ask: Ask, { endpoint }: Target): Ask {
  return withRequest(ask, withDefaults(ask.request, endpoint));
}
