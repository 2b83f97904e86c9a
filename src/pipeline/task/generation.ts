import type { Call } from '../../call/call.ts';
import {
  type CostKinds,
  type GenerationLog,
  type GenerationOutcome,
  type GenerationTimes,
  type Receipt,
  timesFrom,
} from '../../call/generation.ts';
import type { Plan, Target } from '../../call/plan.ts';
import type { AttemptTrace } from '../../call/trace.ts';
import { type Cost, noCost, usageWithCost } from '../../pricing/price.ts';
import type { ChatRequest, Usage } from '../../schema/chat/chat.ts';
import { type HoldShare, type Spent, spentOnFailures, spentWith } from '../money/hold-share.ts';
import type { Served } from './cost.ts';

/** The log of a task: its plan, its attempts and its money. It is settled exactly once. */
export class TaskGeneration implements GenerationLog {
  readonly request: ChatRequest;
  readonly askedFor: readonly ChatRequest[] = [];
  readonly serverTools = [];
  readonly attempts: AttemptTrace[] = [];
  readonly times: GenerationTimes;
  readonly finishReason = null;
  readonly nativeFinishReason = null;
  readonly serviceTier = null;
  plan: Plan | null = null;
  target: Target | null = null;
  heldNanoUsd = 0;
  outcome: GenerationOutcome | null = null;
  status: number | null = null;
  receipt: Receipt | null = null;
  readonly #time: Call['time'];
  #share: HoldShare | null = null;

  /** @param request  the view of the task */
  constructor(request: ChatRequest, time: Call['time']) {
    this.request = request;
    this.#time = time;
    this.times = timesFrom(time.now());
  }

  planned(plan: Plan): void {
    this.plan = plan;
    this.times.plannedAtMs = this.#time.now();
  }

  held(plan: Plan, share: HoldShare): void {
    this.plan = plan;
    this.#share = share;
    this.heldNanoUsd = share.heldNanoUsd;
    this.times.heldAtMs = this.#time.now();
  }

  /** The first part of a streamed response is there. */
  opened(target: Target): void {
    this.target = target;
    this.times.firstTokenAtMs = this.#time.now();
  }

  /**
   * Books what a target has served, and the cost of failed attempts.
   * @param all     what is in the result, also of attempts that failed later: the client gets it
   * @param latest  the part of it that the attempt that serves has brought
   * @param end     the end of a response that did not come to its end
   */
  served(
    target: Target,
    all: readonly Served[],
    latest: readonly Served[],
    end: { outcome: 'cut' | 'cancelled'; status: number } | null = null,
  ): Receipt {
    if (this.receipt !== null) return this.receipt;
    this.target = target;
    this.outcome = end?.outcome ?? 'ok';
    this.status = end?.status ?? 200;
    const failures = spentOnFailures(this.attempts);
    const cost = sumOf(latest);
    const servedNanoUsd = cost?.totalNanoUsd ?? 0;
    const receipt: Receipt = {
      usage: usageWithCost(usageOf(all), cost, target.isByok, failures.operatorNanoUsd),
      isEstimated: all.some(({ isEstimated }) => isEstimated),
      costNanoUsd: cost === null ? null : servedNanoUsd + failures.operatorNanoUsd + failures.byokNanoUsd,
      servedNanoUsd,
      parts: cost,
    };
    this.receipt = receipt;
    this.#end(spentWith(failures, target, servedNanoUsd));
    return receipt;
  }

  /** Books the cost of failed attempts. @param status  of the error that the client gets; 499: it has left */
  failed(status: number): void {
    if (this.outcome !== null) return;
    this.outcome = status === 499 ? 'cancelled' : 'failed';
    this.status = status;
    const failures = spentOnFailures(this.attempts);
    this.receipt = {
      usage: usageOf([]),
      isEstimated: false,
      costNanoUsd: failures.operatorNanoUsd + failures.byokNanoUsd,
      servedNanoUsd: 0,
      parts: null,
    };
    this.#end(failures);
  }

  #end(spent: Spent): void {
    this.heldNanoUsd = Math.max(this.heldNanoUsd, this.#share?.heldNanoUsd ?? 0);
    this.#share?.settle(spent);
    const nowMs = this.#time.now();
    this.times.sentAtMs = this.attempts[0]?.startedAtMs ?? null;
    if (this.target !== null) this.times.firstTokenAtMs ??= nowMs;
    this.times.endedAtMs = nowMs;
  }
}

/** Adds costs up. @returns null: one of them is not known */
function sumOf(served: readonly Served[]): Cost | null {
  const sum: Cost = { totalNanoUsd: 0, promptNanoUsd: 0, completionNanoUsd: 0, otherNanoUsd: 0, kinds: noCost() };
  for (const { cost } of served) {
    if (cost === null) return null;
    sum.totalNanoUsd += cost.totalNanoUsd;
    sum.promptNanoUsd += cost.promptNanoUsd;
    sum.completionNanoUsd += cost.completionNanoUsd;
    sum.otherNanoUsd += cost.otherNanoUsd;
    for (const kind in sum.kinds) sum.kinds[kind as keyof CostKinds] += cost.kinds[kind as keyof CostKinds];
  }
  return sum;
}

function usageOf(served: readonly Served[]): Usage & { search_units?: number; seconds?: number; characters?: number } {
  let tokens = 0;
  let images = 0;
  let audio = 0;
  let searchUnits = 0;
  let seconds = 0;
  let characters = 0;
  const output = { tokens: 0, image_tokens: 0, audio_tokens: 0 };
  for (const { use } of served) {
    tokens += use.tokens;
    images += use.imageTokens;
    audio += use.audioTokens;
    searchUnits += use.units.search_unit ?? 0;
    seconds += use.units.second ?? 0;
    characters += use.units.character ?? 0;
    output.tokens += use.output?.tokens ?? 0;
    output.image_tokens += use.output?.imageTokens ?? 0;
    output.audio_tokens += use.output?.audioTokens ?? 0;
  }
  const media = { image_tokens: images, audio_tokens: audio };
  const { tokens: made, ...madeMedia } = output;
  return {
    prompt_tokens: tokens,
    completion_tokens: made,
    total_tokens: tokens + made,
    ...(images + audio > 0 ? { prompt_tokens_details: aboveZero(media) } : {}),
    ...(output.image_tokens + output.audio_tokens > 0 ? { completion_tokens_details: aboveZero(madeMedia) } : {}),
    ...(searchUnits > 0 ? { search_units: searchUnits } : {}),
    ...(seconds > 0 ? { seconds } : {}),
    ...(characters > 0 ? { characters } : {}),
    ...(served.some(({ isEstimated }) => isEstimated) ? { estimated: true } : {}),
  };
}

function aboveZero<Counts extends Record<string, number>>(counts: Counts): Partial<Counts> {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0)) as Partial<Counts>;
}
