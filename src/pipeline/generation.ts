import { UpstreamError } from '../base/upstream-error.ts';
import { CallAborted } from '../call/abort.ts';
import type {
  GenerationLog,
  GenerationOutcome,
  GenerationTimes,
  Receipt,
  ResponseEnd,
  StreamedResponse,
} from '../call/generation.ts';
import type { Plan, Target } from '../call/plan.ts';
import type { AttemptTrace } from '../call/trace.ts';
import type { ChatRequest, FinishReason, Usage } from '../schema/chat.ts';
import type { Conversation } from './conversation.ts';
import type { GenerateDeps } from './deps.ts';
import { learnOutput } from './expected-cost.ts';
import { toGatewayError } from './failure.ts';
import { type HoldShare, type Spent, spentOnFailures } from './hold-share.ts';
import { observeEnd } from './observe.ts';
import { type Received, receiptOf, receiptOfFailures } from './receipt.ts';

/** How a generation ended, and what was counted until then. */
export interface GenerationEnding {
  end: ResponseEnd;
  /** What was received from the provider; null: no target served. */
  received: Received | null;
  finishReason: FinishReason | null;
  nativeFinishReason: string | null;
  /** As the provider named it; null: it has not. */
  serviceTier: string | null;
}

/**
 * One upstream response while it comes into being: every stage adds what it has found out. Settled exactly once: then
 * its money is booked, the health of its endpoint and its conversation are taught, and its log does not change any
 * more.
 */
export class GenerationState implements GenerationLog {
  readonly request: ChatRequest;
  readonly attempts: AttemptTrace[] = [];
  readonly times: GenerationTimes;
  plan: Plan | null = null;
  target: Target | null = null;
  heldNanoUsd = 0;
  finishReason: FinishReason | null = null;
  nativeFinishReason: string | null = null;
  serviceTier: string | null = null;
  outcome: GenerationOutcome | null = null;
  status: number | null = null;
  receipt: Receipt | null = null;
  readonly #deps: GenerateDeps;
  readonly #onSettled: () => void;
  /** Stops its stream; null: it has none. */
  #stream: Pick<StreamedResponse, 'cancel'> | null = null;
  #share: HoldShare | null = null;
  /** As it was sent to the target that serves. */
  #sent: ChatRequest;
  #conversation: Conversation | null = null;

  /** @param onSettled  is called once, after the generation was settled */
  constructor(deps: GenerateDeps, request: ChatRequest, onSettled: () => void) {
    this.#deps = deps;
    this.request = this.#sent = request;
    this.#onSettled = onSettled;
    this.times = {
      startedAtMs: deps.clock.now(),
      plannedAtMs: null,
      heldAtMs: null,
      sentAtMs: null,
      firstTokenAtMs: null,
      endedAtMs: null,
    };
  }

  planned(plan: Plan, conversation: Conversation): void {
    this.plan = plan;
    this.#conversation = conversation;
    this.times.plannedAtMs = this.#deps.clock.now();
  }

  /** @param plan  what is left of it: the targets that can be paid for */
  held(plan: Plan, share: HoldShare): void {
    this.plan = plan;
    this.#share = share;
    this.heldNanoUsd = share.heldNanoUsd;
    this.times.heldAtMs = this.#deps.clock.now();
  }

  /** A target serves: its first token, or its complete response, is here. @param request  as it was sent */
  served(target: Target, request: ChatRequest): void {
    this.target = target;
    this.#sent = request;
    this.times.firstTokenAtMs = this.#deps.clock.now();
    this.times.sentAtMs = this.attempts[0]?.startedAtMs ?? null;
  }

  /** Its stream is open: it is settled when that ends. */
  streams(stream: Pick<StreamedResponse, 'cancel'>): void {
    this.#stream = stream;
  }

  /** Nobody wants the rest of its stream. */
  stop(): void {
    if (this.outcome === null) this.#stream?.cancel();
  }

  /** No target serves. Books what failed attempts have cost. */
  failed(error: unknown): void {
    this.times.sentAtMs = this.attempts[0]?.startedAtMs ?? null;
    const end: ResponseEnd = hasLeft(error) ? { kind: 'cancelled' } : { kind: 'failed', error };
    this.settle({ end, received: null, finishReason: null, nativeFinishReason: null, serviceTier: null });
  }

  /** Books what was spent, once. */
  settle({ end, received, finishReason, nativeFinishReason, serviceTier }: GenerationEnding): void {
    if (this.outcome !== null) return;
    const { target } = this;
    this.outcome = outcomeOf(end, target !== null);
    this.status = statusOf(end, target);
    this.finishReason = finishReason;
    this.nativeFinishReason = nativeFinishReason;
    this.serviceTier = serviceTier;
    this.heldNanoUsd = Math.max(this.heldNanoUsd, this.#share?.heldNanoUsd ?? 0);
    const failures = spentOnFailures(this.attempts);
    this.receipt =
      target === null || received === null
        ? receiptOfFailures(failures)
        : receiptOf(this.#sent, target, received, failures);
    this.#share?.settle(spentIn(this.receipt, target, failures));
    const { outputEstimates } = this.#deps;
    if (outputEstimates !== null && target !== null && received !== null)
      learnOutput(outputEstimates, this.#sent, target, this.receipt);
    const nowMs = this.#deps.clock.now();
    this.times.endedAtMs = nowMs;
    if (target !== null) this.#teach(target, end, received?.usage ?? null, nowMs);
    this.#onSettled();
  }

  /** What the response says of the endpoint, and for the rest of the conversation. */
  #teach(target: Target, end: ResponseEnd, usage: Usage | null, nowMs: number): void {
    const isStream = this.request.stream === true;
    const attempt = end.kind === 'complete' ? this.attempts.findLast(({ status }) => status === 200) : undefined;
    const speed = attempt && usage !== null ? { attempt, usage, isStream } : null;
    const isProvidersFault =
      end.kind === 'failed' && end.error instanceof UpstreamError && end.error.fault !== 'caller';
    observeEnd(this.#deps, target, isProvidersFault ? 'failed' : 'ok', speed, nowMs);
    if (end.kind !== 'failed') this.#conversation?.keep(this.plan as Plan, target, usage);
  }
}

function spentIn({ servedNanoUsd }: Receipt, target: Target | null, failures: Spent): Spent {
  return target?.isByok
    ? { ...failures, byokNanoUsd: failures.byokNanoUsd + servedNanoUsd }
    : { ...failures, operatorNanoUsd: failures.operatorNanoUsd + servedNanoUsd };
}

function outcomeOf(end: ResponseEnd, hasServed: boolean): GenerationOutcome {
  if (end.kind === 'complete') return 'ok';
  if (end.kind === 'cancelled') return 'cancelled';
  return hasServed ? 'cut' : 'failed';
}

function statusOf(end: ResponseEnd, target: Target | null): number {
  if (end.kind === 'complete') return 200;
  if (end.kind === 'cancelled') return 499;
  return toGatewayError(end.error, target).status;
}

/** Whether an error is that the client has left. */
export function hasLeft(error: unknown): error is CallAborted {
  return error instanceof CallAborted && error.why === 'client_left';
}
