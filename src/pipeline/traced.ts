import { UpstreamError } from '../base/upstream-error.ts';
import type { Call } from '../call/call.ts';
import type { Try } from '../call/plan.ts';
import type { EncodedRequest } from '../dialects/dialect.ts';
import type { Usage } from '../schema/chat.ts';
import { type Attempted, attempt } from './attempt.ts';
import { costAt } from './cost.ts';
import type { PipelineDeps } from './deps.ts';
import { observeFailure, observeFirstToken } from './observe.ts';

/**
 * Runs a try, and writes down how it went: in the call's trace, and for the health of the endpoint, which knows already
 * that it begins.
 */
export function traced(
  deps: PipelineDeps,
  call: Call,
  step: Try,
  show: (encoded: EncodedRequest) => void,
): Promise<Attempted> {
  const { clock } = deps;
  let dropped: readonly string[] = [];
  const startedAtMs = clock.now();
  const note = (status: number, errorType: string | null, costNanoUsd = 0) => {
    call.trace.attempts.push({
      provider: step.providerName,
      providerSlug: step.endpoint.providerSlug,
      model: step.endpoint.modelSlug,
      startedAtMs,
      decidedAtMs: clock.now(),
      status,
      errorType,
      isByok: step.isByok,
      costNanoUsd,
      dropped,
    });
  };
  return attempt(deps, call, step, (encoded) => {
    dropped = encoded.dropped;
    show(encoded);
  }).then(
    (attempted) => {
      note(200, null);
      // Of a whole answer all is said when it is settled.
      if (attempted.kind === 'stream') observeFirstToken(deps, step, clock.now() - startedAtMs);
      return attempted;
    },
    (error: unknown) => {
      observeFailure(deps, step, error);
      if (error instanceof UpstreamError) note(error.status, error.errorType, costOf(error, step, call));
      else if (call.signal.aborted) note(499, 'cancelled');
      throw error;
    },
  );
}

function costOf({ usage }: UpstreamError, { endpoint }: Try, { request }: Call): number {
  return (usage && costAt(endpoint, usage as Usage, request)?.totalNanoUsd) || 0;
}
