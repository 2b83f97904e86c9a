import { UpstreamError } from '../../base/http/upstream-error.ts';
import { CallAborted } from '../../call/abort.ts';
import type { Ask } from '../../call/ask.ts';
import type { Call } from '../../call/call.ts';
import {
  type GenerationLog,
  type GenerationOutcome,
  type GenerationTimes,
  type Receipt,
  type ResponseEnd,
  type ServerToolUse,
  type StreamedResponse,
  timesFrom,
} from '../../call/generation.ts';
import type { Plan, Target } from '../../call/plan.ts';
import type { AttemptTrace } from '../../call/trace.ts';
import type { ChatRequest, FinishReason, Usage } from '../../schema/chat/chat.ts';
import { toGatewayError } from '../attempt/failure.ts';
import { observeEnd } from '../attempt/observe.ts';
import type { GenerateDeps } from '../deps.ts';
import { learnOutput } from '../money/expected-cost.ts';
import { type HoldShare, spentOnFailures, spentWith } from '../money/hold-share.ts';
import type { Conversation } from '../plan/conversation.ts';
import { type Received, receiptOf, receiptOfFailures } from './receipt.ts';

/** The end of a generation, and the facts that were counted until then. */
export interface GenerationEnding {
  end: ResponseEnd;
  /** The received part of the response; null: no target served. */
  received: Received | null;
  finishReason: FinishReason | null;
  nativeFinishReason: string | null;
  /** The service tier that the provider named; null: it has named none. */
  serviceTier: string | null;
}

/**
 * One upstream response while it is made: every stage adds the facts that it has found. It is settled exactly once:
 * then its money is booked, its endpoint's health and its conversation learn of it, and its log does not change any
 * more.
 */
export class GenerationState implements GenerationLog {
  readonly ask: Ask;
  readonly attempts: AttemptTrace[] = [];
  readonly serverTools: ServerToolUse[] = [];
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
  readonly #time: Call['time'];
  readonly #onSettled: () => void;
  /** Stops its stream; null: it has none. */
  #stream: Pick<StreamedResponse, 'cancel'> | null = null;
  #share: HoldShare | null = null;
  /** The request as it was sent to the target that serves. */
  #sent: Ask;
  #conversation: Conversation | null = null;

  /** @param onSettled  is called once, after the generation was settled */
  constructor(deps: GenerateDeps, time: Call['time'], ask: Ask, onSettled: () => void) {
    this.#deps = deps;
    this.#time = time;
    this.ask = this.#sent = ask;
    this.#onSettled = onSettled;
    this.times = timesFrom(time.now());
  }

  get request(): ChatRequest {
    return this.ask.request;
  }

  /** As it was sent to the target that serves, with the defaults of its model. */
  get sentRequest(): ChatRequest {
    return this.#sent.request;
  }

  get askedFor(): readonly ChatRequest[] {
    return this.ask.askedFor;
  }

  planned(plan: Plan, conversation: Conversation): void {
    this.plan = plan;
    this.#conversation = conversation;
    this.times.plannedAtMs = this.#time.now();
  }

  /** @param plan  the rest of the plan: the targets that can be paid for */
  held(plan: Plan, share: HoldShare): void {
    this.plan = plan;
    this.#share = share;
    this.heldNanoUsd = share.heldNanoUsd;
    this.times.heldAtMs = this.#time.now();
  }

  /**
   * Notes that a target serves: its first token, or its complete response, is here. @param ask  the request as it was
   * sent
   */
  served(target: Target, ask: Ask): void {
    this.target = target;
    this.#sent = ask;
    this.times.firstTokenAtMs = this.#time.now();
    this.times.sentAtMs = this.attempts[0]?.startedAtMs ?? null;
  }

  /** Notes its open stream: the generation is settled when the stream ends. */
  streams(stream: Pick<StreamedResponse, 'cancel'>): void {
    this.#stream = stream;
  }

  /** Ends its stream: nobody wants the rest. */
  stop(): void {
    if (this.outcome === null) this.#stream?.cancel();
  }

  /** Notes that no target serves. Books the cost of failed attempts. */
  failed(error: unknown): void {
    this.times.sentAtMs = this.attempts[0]?.startedAtMs ?? null;
    const end: ResponseEnd = hasLeft(error) ? { kind: 'cancelled' } : { kind: 'failed', error };
    this.settle({ end, received: null, finishReason: null, nativeFinishReason: null, serviceTier: null });
  }

  /** Books the money that was spent, once. */
  settle({ end, received, finishReason, nativeFinishReason, serviceTier }: GenerationEnding): void {
    if (this.outcome !== null) return;
    const { target } = this;
    this.outcome = outcomeOf(end, target !== null);
    this.status = statusOf(end, target);
    // The last thing that the client was told is the error.
    this.finishReason = finishReason ?? (this.outcome === 'cut' ? 'error' : null);
    this.nativeFinishReason = nativeFinishReason;
    this.serviceTier = serviceTier;
    this.heldNanoUsd = Math.max(this.heldNanoUsd, this.#share?.heldNanoUsd ?? 0);
    const failures = spentOnFailures(this.attempts);
    this.receipt =
      target === null || received === null
        ? receiptOfFailures(failures)
        : receiptOf(this.#sent, target, received, failures);
    this.#share?.settle(target === null ? failures : spentWith(failures, target, this.receipt.servedNanoUsd));
    const { outputEstimates } = this.#deps;
    if (outputEstimates !== null && target !== null && received !== null)
      learnOutput(outputEstimates, this.#sent.request, target, this.receipt);
    const nowMs = this.#time.now();
    this.times.endedAtMs = nowMs;
    if (target !== null) this.#teach(target, end, received?.usage ?? null, nowMs);
    this.#onSettled();
  }

  /** Reports the response to the health of the endpoint and to the conversation. */
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

/** true: an error says that the client has left. */
export function hasLeft(error: unknown): error is CallAborted {
  return error instanceof CallAborted && error.why === 'client_left';
}
