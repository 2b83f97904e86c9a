import { UpstreamError } from '../../base/http/upstream-error.ts';
import { cleanName, cleanText } from '../../base/text/clean-text.ts';
import { endpointName } from '../../call/model.ts';
import type { Target } from '../../call/plan.ts';
import type { AttemptTrace } from '../../call/trace.ts';
import { keyRefOf } from '../../routing/key-ring.ts';

/** The most dropped fields that are noted: a dialect may name fields that the caller has made up. */
const mostDropped = 50;

/** Returns the paths of dropped fields, as they may be shown. */
export function shownDropped(paths: readonly string[]): readonly string[] {
  return paths.length === 0 ? paths : paths.slice(0, mostDropped).map((path) => cleanName(path, 128));
}

type Facts = Pick<AttemptTrace, 'startedAtMs' | 'decidedAtMs' | 'costNanoUsd' | 'dropped' | 'upstreamRequestId'> &
  Partial<Pick<AttemptTrace, 'structuredOutput' | 'thoughts'>>;

/** Makes the trace of an attempt. @param error  the reason of its failure; null: it succeeded */
export function attemptTrace(
  { endpoint, providerName, isByok, credential }: Target,
  error: unknown,
  isAborted: boolean,
  facts: Facts,
): AttemptTrace {
  const { status, errorType, message, failure } = endOf(error, isAborted);
  const trace: AttemptTrace = {
    provider: providerName,
    providerSlug: endpoint.providerSlug,
    endpoint: endpointName(endpoint),
    model: endpoint.modelSlug,
    startedAtMs: facts.startedAtMs,
    decidedAtMs: facts.decidedAtMs,
    status,
    errorType,
    message,
    failure,
    isByok,
    costNanoUsd: facts.costNanoUsd,
    dropped: facts.dropped,
    structuredOutput: facts.structuredOutput ?? null,
    upstreamRequestId: facts.upstreamRequestId,
  };
  // No spreads in the literal: docs/performance.md, "Literals without conditions".
  const key = keyRefOf(credential)?.key;
  if (endpoint.isPassThrough === true) trace.isPassThrough = true;
  if (key !== undefined) trace.key = key;
  if (facts.thoughts !== undefined) trace.thoughts = facts.thoughts;
  return trace;
}

function endOf(error: unknown, isAborted: boolean): Pick<AttemptTrace, 'status' | 'errorType' | 'message' | 'failure'> {
  if (error === null) return { status: 200, errorType: null, message: null, failure: null };
  if (error instanceof UpstreamError) {
    const { status, errorType, message, failure = null } = error;
    return { status, errorType, message: cleanText(message, 500), failure };
  }
  return isAborted
    ? { status: 499, errorType: 'cancelled', message: null, failure: null }
    : { status: 500, errorType: 'internal', message: null, failure: null };
}
