import type { Call } from '../call/call.ts';
import type { Plan, Target } from '../call/plan.ts';
import type { Receipt } from '../call/reply.ts';
import { estimateUsage } from '../pricing/estimate.ts';
import { usageWithCost } from '../pricing/price.ts';
import type { Usage } from '../schema/chat.ts';
import type { RequestRecord } from '../telemetry/record.ts';
import { keep } from './conversation.ts';
import { costAt } from './cost.ts';
import type { PipelineDeps } from './deps.ts';
import { observeEnd } from './observe.ts';
import { type Reserved, type Spent, spentOnFailures } from './reserve.ts';

/** How a call ended. */
export interface Ending {
  outcome: RequestRecord['outcome'];
  status: number;
  /** Index of the try that served; -1 for none. */
  served: number;
  /** As the provider reported it; null where it did not. */
  usage: Usage | null;
  /** What was received from the provider: text, or how many bytes of it. Priced where usage is missing. */
  output: string | number;
  firstMs: number | null;
  /** true: the provider broke off its answer, rather than that its time was up here. */
  isProvidersFault?: boolean;
}

/** Books the true cost of a call and records what happened. Only the first call of the returned function counts. */
export type Settle = (ending: Ending) => Receipt;

/** @param reserved  null: nothing was held, because the call got no further than its plan */
export function settleOnce(deps: PipelineDeps, call: Call, plan: Plan, reserved: Reserved | null): Settle {
  let receipt: Receipt | null = null;
  return (ending) => {
    if (receipt) return receipt;
    const failures = spentOnFailures(call.trace);
    const target = plan.targets[ending.served];
    const nowMs = deps.clock.now();
    receipt = receiptOf(call, target, ending, failures);
    reserved?.settle(spentIn(receipt, target, failures));
    if (target) learn(deps, call, plan, target, ending, nowMs);
    deps.record?.(recordOf(call, plan, ending, receipt, nowMs));
    return receipt;
  };
}

const nothingUsed: Usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };

/** Failed attempts cost nothing, unless the provider said that they used something. */
function receiptOf(call: Call, target: Target | undefined, { usage, output }: Ending, failures: Spent): Receipt {
  const failedNanoUsd = failures.operatorNanoUsd + failures.byokNanoUsd;
  if (!target) return { usage: nothingUsed, isEstimated: false, costNanoUsd: failedNanoUsd, servedNanoUsd: 0 };
  const counted = usage ?? { ...estimateUsage(call.request, output, target.mostTokens), estimated: true };
  const cost = costAt(target.endpoint, counted, call.request);
  const servedNanoUsd = cost?.totalNanoUsd ?? 0;
  return {
    usage: usageWithCost(counted, cost, target.isByok, failures.operatorNanoUsd),
    isEstimated: usage === null,
    costNanoUsd: cost === null ? null : servedNanoUsd + failedNanoUsd,
    servedNanoUsd,
  };
}

/** What the answer tells of the endpoint, and for the rest of the conversation. */
function learn(deps: PipelineDeps, call: Call, plan: Plan, target: Target, ending: Ending, nowMs: number): void {
  const { outcome, usage, isProvidersFault = false } = ending;
  const isStream = call.request.stream === true;
  const attempt = outcome === 'ok' ? call.trace.attempts.findLast(({ status }) => status === 200) : undefined;
  const answered = attempt && usage !== null ? { attempt, usage, isStream } : null;
  observeEnd(deps, target, isProvidersFault ? 'failed' : 'ok', answered, nowMs);
  if (outcome !== 'cut') keep(deps, call, plan, target, usage);
}

function spentIn({ servedNanoUsd }: Receipt, target: Target | undefined, failures: Spent): Spent {
  return target?.isByok
    ? { ...failures, byokNanoUsd: failures.byokNanoUsd + servedNanoUsd }
    : { ...failures, operatorNanoUsd: failures.operatorNanoUsd + servedNanoUsd };
}

function recordOf(call: Call, plan: Plan, ending: Ending, receipt: Receipt, nowMs: number): RequestRecord {
  const target = plan.targets[ending.served];
  return {
    id: call.id,
    workspaceId: call.caller.workspaceId,
    apiKeyHash: call.caller.apiKeyHash,
    sessionId: call.sessionId,
    requested: plan.requested,
    model: target?.endpoint.modelSlug ?? null,
    provider: target?.providerName ?? null,
    streamed: call.request.stream === true,
    outcome: ending.outcome,
    status: ending.status,
    receivedAtMs: call.receivedAtMs,
    firstMs: ending.firstMs,
    totalMs: nowMs - call.receivedAtMs,
    attempts: call.trace.attempts,
    usage: target ? receipt.usage : null,
    isEstimated: receipt.isEstimated,
    costNanoUsd: receipt.costNanoUsd,
  };
}
