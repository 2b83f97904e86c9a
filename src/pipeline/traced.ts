import { UpstreamError } from '../base/upstream-error.ts';
import type { Call } from '../call/call.ts';
import type { Try } from '../call/plan.ts';
import type { EncodedRequest } from '../dialects/dialect.ts';
import type { Usage } from '../schema/chat.ts';
import { type Attempted, attempt } from './attempt.ts';
import { costAt } from './cost.ts';
import type { PipelineDeps } from './deps.ts';
import { observeAnswer, observeFailure, observeStart } from './observe.ts';

/** Runs a try, and writes down how it went: in the call's trace, and for the health of the endpoint. */
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
  observeStart(deps, step);
  return attempt(deps, call, step, (encoded) => {
    dropped = encoded.dropped;
    show(encoded);
  }).then(
    (attempted) => {
      note(200, null);
      observeAnswer(deps, step, attempted.kind === 'stream' ? clock.now() - startedAtMs : null);
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
