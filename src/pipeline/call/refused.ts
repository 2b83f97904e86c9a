import { isGatewayError } from '../../base/errors.ts';
import { idHeader } from '../../base/ids.ts';
import { abortError, CallAborted } from '../../call/abort.ts';
import type { Call } from '../../call/call.ts';
import type { ServiceMetadata } from '../../schema/chat/envelope.ts';
import type { PipelineDeps } from '../deps.ts';
import { hasLeft } from '../generation/state.ts';
import type { ActiveHook } from './active-hooks.ts';
import type { CallEnd } from './record.ts';
import { withoutWithheld } from './withheld.ts';

/** A call on its way, which an error may end. */
export interface RefusableRun {
  readonly deps: Pick<PipelineDeps, 'budgetWatch'>;
  readonly call: Call;
  readonly hooks: readonly ActiveHook[];
  readonly rateHeaders: Readonly<Record<string, string>> | undefined;
  /** Ends the call. Only the first end counts. */
  finish(end: CallEnd): void;
  /** Returns the route of the call; undefined: the caller did not ask for it. */
  metadata(): ServiceMetadata | undefined;
}

/** Tells the budget watch that a budget has refused the call. */
export function noteRefusal({ deps, call }: Pick<RefusableRun, 'deps' | 'call'>, error: unknown): void {
  const { budgetWatch } = deps;
  if (!budgetWatch || !isGatewayError(error) || error.kind !== 'payment_required') return;
  const { workspaceId, apiKeyHash } = call.caller;
  budgetWatch.refused({ workspaceId, apiKeyHash, metadata: error.metadata ?? {}, atMs: call.receivedAtMs });
}

/** Ends a call that failed before anything was delivered. Adds to the error how the call was routed. */
export function refused(run: RefusableRun, error: unknown): unknown {
  const left = hasLeft(error);
  noteRefusal(run, error);
  const named = error instanceof CallAborted && !left ? abortError(error) : error;
  const shown = isGatewayError(named) ? withoutWithheld(run.hooks, named) : named;
  const status = isGatewayError(shown) ? shown.status : left ? 499 : 500;
  const reported = isGatewayError(shown) ? { type: shown.errorType, message: shown.message } : null;
  run.finish({ outcome: left ? 'cancelled' : 'failed', status, error: left ? null : reported });
  if (!isGatewayError(shown)) return shown;
  // An internal error says nothing of itself.
  const headers = { ...run.rateHeaders, ...idHeader(run.call.id) };
  return shown.with({ headers, route: shown.status === 500 ? undefined : run.metadata() });
}
