import { cleanName } from '../base/clean-text.ts';
import type { Call } from '../call/call.ts';
import type { GenerationOutcome } from '../call/generation.ts';
import { namedSlugs } from '../routing/expand.ts';
import { defaultedFields } from '../routing/model-defaults.ts';
import type { ChatRequest, Usage } from '../schema/chat.ts';
import type { PipelineStage } from '../schema/envelope.ts';
import type { BegunCall } from '../telemetry/follow.ts';
import type { GenerationRecord, RequestRecord } from '../telemetry/record.ts';
import type { CallHold } from './call-hold.ts';
import type { WorkspaceDefaults } from './deps.ts';
import type { GenerationState } from './generation.ts';

/** How a client call ended. */
export interface CallEnd {
  outcome: GenerationOutcome;
  status: number;
  /** As it was reported to the client; null: nothing went wrong, or nobody was there. */
  error: { type: string; message: string } | null;
}

/** What a record is made of. */
export interface CallFacts {
  call: Call;
  generations: readonly GenerationState[];
  hold: Pick<CallHold, 'heldNanoUsd' | 'spentNanoUsd' | 'overrunNanoUsd'>;
  stages: readonly PipelineStage[];
  /** Of the workspace; null: not known. */
  switches: Pick<WorkspaceDefaults, 'dataDiscountLogging' | 'broadcast'> | null;
  usage(): Usage;
}

/** One record of a client call, over all of its generations. */
export function recordOf(facts: CallFacts, { outcome, status, error }: CallEnd, nowMs: number): RequestRecord {
  const { call, generations, hold, stages } = facts;
  const served = generations.filter(({ target }) => target !== null);
  const last = served.at(-1);
  const firstTokens = served.map(({ times }) => times.firstTokenAtMs as number);
  return {
    kind: 'completion',
    id: call.id,
    operation: call.operation,
    workspaceId: call.caller.workspaceId,
    apiKeyHash: call.caller.apiKeyHash,
    userId: userIdOf(call.caller),
    tags: call.caller.tags ?? none,
    ...sessionOf(call),
    requested: generations[0]?.plan?.requested ?? cleanName(namedSlugs(call.request, null)[0] ?? ''),
    router: generations[0]?.plan?.router ?? null,
    trace: traceOf(call.request.trace),
    traceparent: call.traceparent ?? null,
    userAgent: call.userAgent ?? null,
    referer: call.referer ?? null,
    promptMedia: promptMediaOf(call.request),
    model: last?.target?.endpoint.modelSlug ?? null,
    provider: last?.target?.providerName ?? null,
    dataDiscountLogging: facts.switches?.dataDiscountLogging ?? null,
    broadcast: facts.switches?.broadcast ?? null,
    streamed: call.request.stream === true,
    outcome,
    status,
    error,
    receivedAtMs: call.receivedAtMs,
    authenticatedAtMs: call.authenticatedAtMs,
    firstMs: firstTokens.length === 0 ? null : Math.min(...firstTokens) - call.receivedAtMs,
    totalMs: nowMs - call.receivedAtMs,
    attempts:
      generations.length === 1
        ? (generations[0] as GenerationState).attempts
        : generations.flatMap(({ attempts }) => attempts),
    usage: last ? facts.usage() : null,
    isEstimated: served.some(({ receipt }) => receipt?.isEstimated === true),
    costNanoUsd: costOf(facts),
    heldNanoUsd: hold.heldNanoUsd,
    overrunNanoUsd: hold.overrunNanoUsd,
    finishReason: last?.finishReason ?? null,
    nativeFinishReason: shownWord(last?.nativeFinishReason),
    generations: generations.map(generationRecordOf),
    pipeline: stages,
  };
}

/** What is known of a call when it begins, for who follows it. */
export function begunCallOf(call: Call): BegunCall {
  const { id, operation, receivedAtMs, traceparent = null } = call;
  const trace = traceOf(call.request.trace);
  return { id, operation, workspaceId: call.caller.workspaceId, receivedAtMs, ...sessionOf(call), trace, traceparent };
}

function sessionOf({ sessionId }: Call): { sessionId: string | null } {
  return { sessionId: sessionId === null ? null : cleanName(sessionId, 512) };
}

const none: readonly string[] = [];

/** The host app may take it from the request. */
function userIdOf({ userId }: Call['caller']): string | null {
  return userId === null ? null : cleanName(userId);
}

const noMedia = Object.freeze({ files: 0, audio: 0 });

/** A prompt of text alone, as most are, costs a look at each message. */
function promptMediaOf({ messages }: ChatRequest): RequestRecord['promptMedia'] {
  let found: { files: number; audio: number } | null = null;
  for (const { content } of messages) {
    if (!Array.isArray(content)) continue;
    for (const { type } of content) {
      if (type === 'text') continue;
      found ??= { files: 0, audio: 0 };
      if (type === 'input_audio') found.audio++;
      else found.files++;
    }
  }
  return found ?? noMedia;
}

const traceNames = ['trace_id', 'trace_name', 'span_name', 'generation_name', 'parent_span_id'] as const;

/** The field is open: only what the interface names is kept. */
function traceOf(trace: Call['request']['trace']): Record<string, string> | null {
  if (trace === undefined || trace === null) return null;
  const named = traceNames.flatMap((name) => (trace[name] === undefined ? [] : [[name, cleanName(trace[name])]]));
  return named.length === 0 ? null : Object.fromEntries(named);
}

/** A provider's word, of any length. */
function shownWord(word: string | null | undefined): string | null {
  return word === null || word === undefined ? null : cleanName(word, 100);
}

/** What was booked; null where a provider served whose price is not known. */
function costOf({ generations, hold }: CallFacts): number | null {
  return generations.some(({ receipt }) => receipt?.costNanoUsd === null) ? null : hold.spentNanoUsd;
}

function generationRecordOf(generation: GenerationState): GenerationRecord {
  const { plan, target, receipt, attempts } = generation;
  return {
    requested: plan?.requested ?? '',
    model: target?.endpoint.modelSlug ?? null,
    provider: target?.providerName ?? null,
    defaulted: target === null ? none : defaultedFields(generation.request, target.endpoint),
    outcome: generation.outcome ?? 'failed',
    status: generation.status ?? 500,
    times: generation.times,
    attempts,
    excluded: plan?.excluded ?? [],
    usage: target === null ? null : (receipt?.usage ?? null),
    isEstimated: receipt?.isEstimated ?? false,
    heldNanoUsd: generation.heldNanoUsd,
    costNanoUsd: receipt?.costNanoUsd ?? null,
    costParts: receipt?.parts ?? null,
    finishReason: generation.finishReason,
    nativeFinishReason: shownWord(generation.nativeFinishReason),
    serviceTier: shownWord(generation.serviceTier),
    upstreamRequestId: attempts.findLast(({ status }) => status === 200)?.upstreamRequestId ?? null,
  };
}
