import { StopSwitch } from '../../base/async/stop.ts';
import { endpointName } from '../../call/model.ts';
import type { Target } from '../../call/plan.ts';
import type { AttemptTrace } from '../../call/trace.ts';
import type { ExecuteDeps } from '../deps.ts';
import { costOfFailure } from '../money/cost.ts';
import type { Attempted, AttemptWatcher } from './attempt.ts';
import { observeFirstToken, observeStart } from './observe.ts';
import type { Sent } from './outgoing.ts';
import type { Hedging } from './patience.ts';
import { askAt, type Execution, type Prepared } from './prepared.ts';
import { traced } from './traced.ts';

/** The walk that two attempts belong to. */
export interface HedgedWalk extends AttemptWatcher {
  prepared(target: Target): Promise<Prepared>;
  /** Takes note of an attempt that failed while the other went on. */
  failed(error: unknown, target: Target): void;
}

/** The end of two attempts, and the index of the target whose end it is. */
export type HedgedEnd =
  | { isOk: true; at: number; attempted: Attempted; prepared: Prepared }
  | { isOk: false; at: number; error: unknown };

/**
 * Calls a target. When its first token is late, calls another beside it: the first with a token serves, the other is
 * cancelled.
 */
export async function runHedged(
  deps: ExecuteDeps,
  execution: Execution,
  walk: HedgedWalk,
  at: number,
): Promise<HedgedEnd> {
  const hedging = deps.hedging as Hedging;
  const { targets } = execution.plan;
  const first = startRun(deps, execution, walk, at);
  const patienceMs = hedging.patienceMs(targets[at] as Target, deps.clock.now());
  if (patienceMs === null || (await isDecidedWithin(deps, execution, first, patienceMs))) return kept(first);
  const other = await indexBeside(deps, execution, at);
  // The store may have taken a while to tell whether the other target fits.
  if (other === null || first.isOver() || execution.signal.aborted || !hedging.take()) return kept(first);
  observeStart(deps, targets[other] as Target);
  const second = startRun(deps, execution, walk, other);
  const winner = await Promise.race([first.end, second.end]);
  const [won, lost] = winner.at === at ? [first, second] : [second, first];
  if (winner.isOk) {
    lost.letGo();
    return kept(won);
  }
  won.keep();
  walk.failed(winner.error, targets[won.at] as Target);
  const last = await kept(lost);
  if (last.isOk) return last;
  // Both have failed: the plan goes on after the later of the two.
  return won.at > lost.at ? { ...last, at: won.at } : last;
}

/** Waits for the end of a run that no other run was faster than. */
async function kept(run: Run): Promise<HedgedEnd> {
  const ended = await run.end;
  run.keep();
  return ended;
}

/** One of two attempts that run at the same time. */
interface Run {
  at: number;
  /** Never rejects. */
  end: Promise<HedgedEnd>;
  isOver(): boolean;
  /** Adds the attempt to the log of the execution. */
  keep(): void;
  /** Cancels an attempt that was too late, and adds its cost to the log. */
  letGo(): void;
}

function startRun(deps: ExecuteDeps, execution: Execution, walk: HedgedWalk, at: number): Run {
  const { asked, time, signal, plan, attempts, follower, connection } = execution;
  const target = plan.targets[at] as Target;
  const startedAtMs = time.now();
  const own = new StopSwitch();
  const stop = () => own.abort(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  // Each run has its own log: an attempt that was cancelled is logged as cancelled, however it ends.
  const log: AttemptTrace[] = [];
  let isOver = false;
  let prepared: Prepared = { ask: askAt(execution.ask, target), target };
  let sent: Sent | null = null;
  const watcher: AttemptWatcher = {
    show: (encoded) => walk.show(encoded),
    sends: (one) => {
      sent = one;
    },
  };
  const start = async () => {
    prepared = await walk.prepared(target);
    const input = { ask: prepared.ask, asked, time, signal: own, follower, connection };
    return traced(deps, input, prepared.target, log, watcher);
  };
  const end = start().then(
    (attempted): HedgedEnd => {
      isOver = true;
      return { isOk: true, at, attempted, prepared };
    },
    (error: unknown): HedgedEnd => {
      signal.removeEventListener('abort', stop);
      isOver = true;
      return { isOk: false, at, error };
    },
  );
  return {
    at,
    end,
    isOver: () => isOver,
    keep: () => void attempts.push(...log),
    letGo() {
      signal.removeEventListener('abort', stop);
      // Both may have had a token at once.
      void end.then((ended) => ended.isOk && ended.attempted.kind === 'stream' && ended.attempted.close());
      const decidedAtMs = time.now();
      // The attempt would have taken at least as long.
      if (!isOver) observeFirstToken(deps, target, decidedAtMs - startedAtMs);
      attempts.push({
        provider: target.providerName,
        providerSlug: target.endpoint.providerSlug,
        endpoint: endpointName(target.endpoint),
        model: target.endpoint.modelSlug,
        startedAtMs,
        decidedAtMs,
        status: 499,
        errorType: 'hedged',
        message: null,
        failure: null,
        isByok: target.isByok,
        ...(target.credential.kind === 'operator' &&
          target.credential.key !== undefined && { key: target.credential.key }),
        // The attempt may have failed at the same moment; its cost is then the cost of that failure.
        costNanoUsd:
          log.find(({ errorType }) => errorType !== null)?.costNanoUsd ??
          costOfFailure(deps, prepared.target, prepared.ask, null, sent?.isOnItsWay === true),
        dropped: [],
        structuredOutput: null,
        upstreamRequestId: null,
      });
      own.abort(new Error('Another provider was faster'));
    },
  };
}

/** true: a run has ended within a time. */
async function isDecidedWithin(
  deps: Pick<ExecuteDeps, 'clock'>,
  { signal }: Execution,
  { end }: Run,
  ms: number,
): Promise<boolean> {
  let cancel: () => void = () => undefined;
  const late = new Promise<boolean>((resolve) => {
    cancel = deps.clock.after(ms, () => resolve(false));
    if (signal.aborted) resolve(true);
  });
  const isDecided = await Promise.race([end.then(() => true), late]);
  cancel();
  return isDecided;
}

/** Returns the index of the next target at another endpoint that the budget pays for as well; null: there is none. */
async function indexBeside(deps: ExecuteDeps, execution: Execution, at: number): Promise<number | null> {
  const { plan, share, attempts } = execution;
  const running = plan.targets[at] as Target;
  // The sum is the attempts before this one, this one, and the other.
  if (attempts.length + 2 > deps.retry.maxAttempts) return null;
  const other = plan.targets.findIndex(({ endpoint }, index) => index > at && endpoint !== running.endpoint);
  if (other < 0) return null;
  try {
    return (await share.covers(plan.targets[other] as Target, attempts, running)) ? other : null;
  } catch {
    // The store cannot tell. The first attempt is in flight and paid for.
    return null;
  }
}
