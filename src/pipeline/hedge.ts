import { StopSwitch } from '../base/stop.ts';
import type { Call } from '../call/call.ts';
import type { Plan, Target } from '../call/plan.ts';
import { newTrace } from '../call/trace.ts';
import { estimateUsage } from '../pricing/estimate.ts';
import type { Attempted, AttemptWatcher } from './attempt.ts';
import { costAt } from './cost.ts';
import type { PipelineDeps } from './deps.ts';
import type { Hedging } from './hedging.ts';
import { observeFirstToken, observeStart } from './observe.ts';
import type { Reserved } from './reserve.ts';
import { traced } from './traced.ts';

export interface HedgedInput {
  deps: PipelineDeps;
  call: Call;
  plan: Plan;
  reserved: Reserved | null;
  watcher: AttemptWatcher;
  hedging: Hedging;
  /** Told of a try that failed while the other went on. */
  failed: (target: Target, error: unknown) => void;
}

/** How a try went, or the one beside it, and the index of that one. */
export type HedgedEnd = { isOk: true; at: number; attempted: Attempted } | { isOk: false; at: number; error: unknown };

/** Runs a try; when its first token is late, another beside it. The first to speak serves, the other is let go of. */
export async function runHedged(input: HedgedInput, at: number): Promise<HedgedEnd> {
  const { deps, call, plan, hedging, failed } = input;
  const first = startRun(input, at);
  const patienceMs = hedging.patienceMs(first.target, deps.clock.now());
  if (patienceMs === null || (await isDecidedWithin(first, patienceMs, input))) return kept(first);
  const other = await indexBeside(input, at);
  // Asking the store whether it fits may have taken a while.
  if (other === null || first.isOver() || call.signal.aborted || !hedging.take()) return kept(first);
  observeStart(deps, plan.targets[other] as Target);
  const second = startRun(input, other);
  const winner = await Promise.race([first.end, second.end]);
  const [won, lost] = winner.at === at ? [first, second] : [second, first];
  if (winner.isOk) {
    lost.letGo();
    return kept(won);
  }
  won.keep();
  failed(won.target, winner.error);
  const last = await kept(lost);
  if (last.isOk) return last;
  // Both have failed: what comes next comes after the later of the two.
  return won.at > lost.at ? { ...last, at: won.at } : last;
}

/** The end of a run that nobody was faster than. */
async function kept(run: Run): Promise<HedgedEnd> {
  const ended = await run.end;
  run.keep();
  return ended;
}

/** One of two tries that run beside each other. */
interface Run {
  at: number;
  target: Target;
  /** Never rejects. */
  end: Promise<HedgedEnd>;
  isOver(): boolean;
  /** Writes down how it went, in the call's trace. */
  keep(): void;
  /** It was too late: stops it, and writes down what it costs. */
  letGo(): void;
}

function startRun({ deps, call, plan, watcher }: HedgedInput, at: number): Run {
  const target = plan.targets[at] as Target;
  const startedAtMs = deps.clock.now();
  const own = new StopSwitch();
  const stop = () => own.abort(call.signal.reason);
  call.signal.addEventListener('abort', stop, { once: true });
  // Of its own: one that was let go of is written down as that, whatever becomes of it.
  const trace = newTrace();
  let isOver = false;
  const end = traced(deps, { ...call, signal: own, trace }, target, watcher).then(
    (attempted): HedgedEnd => {
      isOver = true;
      return { isOk: true, at, attempted };
    },
    (error: unknown): HedgedEnd => {
      call.signal.removeEventListener('abort', stop);
      isOver = true;
      return { isOk: false, at, error };
    },
  );
  return {
    at,
    target,
    end,
    isOver: () => isOver,
    keep: () => void call.trace.attempts.push(...trace.attempts),
    letGo() {
      call.signal.removeEventListener('abort', stop);
      // Both may have spoken at once.
      void end.then((ended) => ended.isOk && ended.attempted.kind === 'stream' && ended.attempted.close());
      const decidedAtMs = deps.clock.now();
      // It would have taken at least as long.
      if (!isOver) observeFirstToken(deps, target, decidedAtMs - startedAtMs);
      call.trace.attempts.push({
        provider: target.providerName,
        providerSlug: target.endpoint.providerSlug,
        model: target.endpoint.modelSlug,
        startedAtMs,
        decidedAtMs,
        status: 499,
        errorType: 'hedged',
        isByok: target.isByok,
        // It has read the prompt, as far as anybody can tell.
        costNanoUsd:
          costAt(target.endpoint, estimateUsage(call.request, 0, target.mostTokens), call.request)?.totalNanoUsd ?? 0,
        dropped: [],
      });
      own.abort(new Error('Another provider was faster'));
    },
  };
}

/** Whether a run has ended within a time. */
async function isDecidedWithin({ end }: Run, ms: number, { deps, call }: HedgedInput): Promise<boolean> {
  let cancel: () => void = () => undefined;
  const late = new Promise<boolean>((resolve) => {
    cancel = deps.clock.after(ms, () => resolve(false));
    if (call.signal.aborted) resolve(true);
  });
  const isDecided = await Promise.race([end.then(() => true), late]);
  cancel();
  return isDecided;
}

/**
 * The next try at another endpoint that the budget pays for as well; null: there is none.
 */
async function indexBeside({ deps, call, plan, reserved }: HedgedInput, at: number): Promise<number | null> {
  const running = plan.targets[at] as Target;
  // Those before this one, this one, and the other.
  if (call.trace.attempts.length + 2 > deps.retry.maxAttempts) return null;
  const other = plan.targets.findIndex(({ endpoint }, index) => index > at && endpoint !== running.endpoint);
  if (other < 0) return null;
  if (reserved === null) return other;
  try {
    return (await reserved.covers(plan.targets[other] as Target, call.trace, running)) ? other : null;
  } catch {
    // The store cannot tell. The first is in flight and paid for.
    return null;
  }
}
