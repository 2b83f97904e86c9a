import { endpointKey } from '../../call/facts.ts';
import type { Receipt } from '../../call/generation.ts';
import type { Target } from '../../call/plan.ts';
import type { OutputEstimates } from '../../pricing/output-estimates.ts';
import type { ChatRequest } from '../../schema/chat/chat.ts';
import { mostCost } from './cost.ts';

/**
 * Returns the amount that is held for a target: its worst case, or the smaller cost of such requests. Integer nano-USD.
 */
export function holdOf({ ceilingNanoUsd = 0, holdNanoUsd = ceilingNanoUsd }: Target): number {
  return Math.min(holdNanoUsd, ceilingNanoUsd);
}

/**
 * Returns the target with the cost that 99 of 100 requests like this one stay under: the worst case, less the price of
 * the output that they do not make. Everything but the output stays at its bound. Never more than the worst case.
 */
export function withExpectedCost(estimates: OutputEstimates, request: ChatRequest, target: Target): Target {
  const kind = kindOf(request, target);
  const tokens = kind === null ? null : estimates.enough(target.workspaceId, kind);
  if (tokens === null) return target.holdNanoUsd === undefined ? target : { ...target, holdNanoUsd: undefined };
  return { ...target, holdNanoUsd: mostCost(target, tokens) };
}

/**
 * Remembers the output of a target that served. An output that was only counted here, and booked like the worst case,
 * is remembered as the largest.
 */
export function learnOutput(
  estimates: OutputEstimates,
  request: ChatRequest,
  target: Target,
  { usage, isEstimated, servedNanoUsd }: Receipt,
): void {
  const kind = kindOf(request, target);
  if (kind === null) return;
  const { ceilingNanoUsd = 0, mostTokens } = target;
  const isWorst = isEstimated && servedNanoUsd >= ceilingNanoUsd;
  const tokens = isWorst ? (mostTokens?.completionTokens ?? 0) : usage.completion_tokens;
  estimates.learn(target.workspaceId, kind, tokens);
}

/**
 * Returns the kind of a request. Requests of one kind are for the same endpoint and model, with the same number of
 * choices and effort of reasoning, and with a largest output of about the same size: a client that allows a hundred
 * times as much is another kind of client.
 * @returns null: nothing is held for the target
 */
function kindOf({ n, reasoning, reasoning_effort: effort }: ChatRequest, target: Target): string | null {
  const { mostTokens, endpoint } = target;
  if (mostTokens === undefined || !target.ceilingNanoUsd) return null;
  const size = Math.ceil(Math.log2(Math.max(mostTokens.completionTokens, 1)));
  const asked = effort ?? reasoning?.effort ?? (reasoning === undefined ? '' : 'some');
  return `${endpointKey(endpoint)} ${size} ${n ?? 1} ${asked}${target.reasons ? ' thinking' : ''}`;
}
