import { UpstreamError } from '../../base/http/upstream-error.ts';
import type { PricedKind } from '../../call/model.ts';
import type { Target } from '../../call/plan.ts';
import type { TaskUsage } from '../../dialects/tasks/contract.ts';
import type { Cost } from '../../pricing/price.ts';
import { type TaskBound, type TaskOutput, type TaskUse, taskCeiling, taskCost } from '../../pricing/task-cost.ts';
import { gaveUpWaiting } from '../money/cost.ts';
import type { TaskBatch } from './task.ts';

/** The use of one request that was served, and its cost at the target; null: its price is not known. */
export interface Served {
  readonly use: TaskUse;
  readonly cost: Cost | null;
  /** true: the provider reported no use that can be true, and the gateway counted it. */
  readonly isEstimated: boolean;
}

/**
 * Returns the use of a request that was served. The provider's report counts where it can be true: no fewer tokens than
 * the texts need, and no more than they have. Else it is counted here: at its bound where money is held, at a usual
 * number where costs are only counted. Input and output each for itself.
 */
export function servedOf(target: Target, { bound }: Pick<TaskBatch, 'bound'>, reported: TaskUsage | null): Served {
  const isHeld = Boolean(target.ceilingNanoUsd);
  const { pricing } = target.endpoint;
  const input = inputOf(bound, reported, isHeld);
  const output = outputOf(bound, reported, isHeld);
  const units = unitsOf(bound, reported);
  const imageForm = reported?.imageForm ?? bound.imageForm;
  const form = imageForm === undefined ? {} : { imageForm };
  const use: TaskUse = {
    ...input.used,
    images: bound.images,
    units,
    ...form,
    ...(output === null ? {} : { output: output.used }),
  };
  const isEstimated = input.isEstimated || output?.isEstimated === true || reported?.isEstimated === true;
  const cost = taskCost(pricing, use);
  const held = isHeld ? taskCeiling(pricing, bound) : null;
  if (cost === null || held === null) return { use, cost, isEstimated };
  let nanoUsd = cost.totalNanoUsd;
  if (isEstimated) {
    // Nobody knows which kinds the tokens are of.
    const most = { tokens: output?.used.tokens ?? 0, typicalTokens: 0 };
    nanoUsd = taskCeiling(pricing, { ...bound, ...form, units, tokens: use.tokens, output: most }) ?? nanoUsd;
  }
  // A provider may name a dearer form than was asked for. What was held is the most that it can charge.
  return { use, cost: withTotal(cost, Math.min(Math.max(nanoUsd, cost.totalNanoUsd), held)), isEstimated };
}

/** Returns a cost with another total: more is of the part that was estimated, less is taken off the largest part. */
function withTotal(cost: Cost, totalNanoUsd: number): Cost {
  const moreNanoUsd = totalNanoUsd - cost.totalNanoUsd;
  if (moreNanoUsd === 0) return cost;
  const isOutput = cost.completionNanoUsd > cost.promptNanoUsd;
  const kinds = { ...cost.kinds };
  const kind = isOutput
    ? kinds.outputMediaNanoUsd > kinds.outputNanoUsd
      ? 'outputMediaNanoUsd'
      : 'outputNanoUsd'
    : 'inputNanoUsd';
  kinds[kind] += moreNanoUsd;
  return {
    ...cost,
    totalNanoUsd,
    kinds,
    ...(isOutput
      ? { completionNanoUsd: cost.completionNanoUsd + moreNanoUsd }
      : { promptNanoUsd: cost.promptNanoUsd + moreNanoUsd }),
  };
}

/** A part of a use; `isEstimated`: the provider reported none that can be true. */
interface Counted<Used> {
  used: Used;
  isEstimated: boolean;
}

function inputOf(
  bound: TaskBound,
  reported: TaskUsage | null,
  isHeld: boolean,
): Counted<Pick<TaskUse, 'tokens' | 'imageTokens' | 'audioTokens'>> {
  const tokens = reported?.promptTokens ?? null;
  const isKnown = tokens !== null && tokens >= bound.leastTokens && tokens <= bound.tokens;
  if (isKnown || (bound.tokens === 0 && reported !== null)) {
    // Kinds that the request does not have are not charged for, whatever the report says.
    const imageTokens = bound.kinds.has('image') ? (reported?.imageTokens ?? 0) : 0;
    const audioTokens = bound.kinds.has('audio') ? (reported?.audioTokens ?? 0) : 0;
    return { used: { tokens: isKnown ? tokens : 0, imageTokens, audioTokens }, isEstimated: false };
  }
  const most = isHeld ? bound.tokens : Math.min(bound.typicalTokens, bound.tokens);
  return { used: { tokens: most, imageTokens: 0, audioTokens: 0 }, isEstimated: true };
}

/** @returns null: the request has no output that is sold by tokens */
function outputOf(bound: TaskBound, reported: TaskUsage | null, isHeld: boolean): Counted<TaskOutput> | null {
  if (bound.output === undefined) return null;
  const { tokens: most, typicalTokens } = bound.output;
  const tokens = reported?.completionTokens;
  const isKnown = tokens !== undefined && tokens > 0 && tokens <= most;
  // The bound of an output is an assumption: a report beyond it is true as far as it can be booked.
  const isBeyond = tokens !== undefined && tokens > most;
  const counted = isKnown ? tokens : isHeld || isBeyond ? most : Math.min(typicalTokens, most);
  const ofKind = (kind: PricedKind, named: number | undefined) => (bound.kinds.has(kind) ? (named ?? counted) : 0);
  return {
    used: {
      tokens: counted,
      imageTokens: ofKind('imageOutput', isKnown ? reported?.imageOutputTokens : undefined),
      audioTokens: ofKind('audioOutput', isKnown ? reported?.audioOutputTokens : undefined),
    },
    isEstimated: !isKnown,
  };
}

/** Returns the units that a provider reports, as far as they can be true; else the most that there can be. */
function unitsOf({ units }: TaskBound, reported: TaskUsage | null): TaskBound['units'] {
  const used: Record<string, number> = {};
  for (const [unit, most] of Object.entries(units)) {
    const count = reported?.units?.[unit as keyof typeof units];
    used[unit] = count !== undefined && Number.isSafeInteger(count) && count > 0 && count <= most ? count : most;
  }
  return used;
}

/**
 * Returns the cost of a request that brought nothing, integer nano-USD: nothing where the provider refused it, or never
 * got it; else the most that it can cost.
 */
export function costOfLost(target: Target, { bound }: TaskBatch, error: unknown, isOnItsWay: boolean): number {
  if (!isOnItsWay) return 0;
  if (error instanceof UpstreamError && (error.isUnsent || isRefusal(error))) return 0;
  return servedOf(target, { bound }, null).cost?.totalNanoUsd ?? 0;
}

function isRefusal({ reason, status }: UpstreamError): boolean {
  return reason === 'status' && !gaveUpWaiting.has(status);
}
