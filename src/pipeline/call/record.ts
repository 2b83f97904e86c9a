import { cleanName } from '../../base/text/clean-text.ts';
import type { Call } from '../../call/call.ts';
import type { GenerationLog, GenerationOutcome } from '../../call/generation.ts';
import { endpointName } from '../../call/model.ts';
import type { AttemptTrace, FollowedWork } from '../../call/trace.ts';
import { defaultedFields } from '../../routing/model-defaults.ts';
import { namedSlugs } from '../../routing/slugs.ts';
import type { ChatRequest, Usage } from '../../schema/chat/chat.ts';
import type { PipelineStage } from '../../schema/chat/envelope.ts';
import type { BegunCall } from '../../telemetry/follow.ts';
import type { GenerationRecord, RequestRecord } from '../../telemetry/record.ts';
import type { WorkspaceDefaults } from '../deps.ts';
import type { CallHold } from '../money/hold.ts';
import type { ActiveHook } from './active-hooks.ts';
import { attemptsWithoutWithheld } from './withheld.ts';

/** The end of a client call. */
export interface CallEnd {
  outcome: GenerationOutcome;
  status: number;
  /** The error as it was reported to the client; null: nothing went wrong, or nobody was there. */
  error: { type: string; message: string } | null;
}

/** A generation as a record reads it. */
export interface RecordedGeneration extends GenerationLog {
  /** The service tier that the provider named; null: it has named none. */
  readonly serviceTier: string | null;
}

/** The facts that a record is made of. */
export interface CallFacts {
  call: Call;
  generations: readonly RecordedGeneration[];
  hold: Pick<CallHold, 'heldNanoUsd' | 'spentNanoUsd' | 'byokNanoUsd' | 'overrunNanoUsd'>;
  stages: readonly PipelineStage[];
  work: readonly FollowedWork[];
  expenses: RequestRecord['expensesNanoUsd'];
  words: CallersWords;
  hooks: readonly ActiveHook[];
  /** The switches of the workspace; null: not known. */
  switches: Pick<WorkspaceDefaults, 'dataDiscountLogging' | 'broadcast'> | null;
  usage(): Usage;
}

/** Makes the one record of a client call, over all of its generations. */
export function recordOf(facts: CallFacts, { outcome, status, error }: CallEnd): RequestRecord {
  const { call, generations, hold, stages } = facts;
  const served = generations.filter(({ target }) => target !== null);
  const last = served.at(-1);
  const attemptsOf = ({ attempts }: RecordedGeneration) => attemptsWithoutWithheld(facts.hooks, attempts);
  const firstTokens = served.map(({ times }) => times.firstTokenAtMs as number);
  return {
    kind: 'completion',
    id: call.id,
    operation: call.operation,
    workspaceId: call.caller.workspaceId,
    apiKeyHash: call.caller.apiKeyHash,
    userId: userIdOf(call.caller),
    user: facts.words.user,
    tags: call.caller.tags ?? none,
    sessionId: facts.words.sessionId,
    requested: generations[0]?.plan?.requested ?? cleanName(namedSlugs(call.ask.request, null)[0] ?? ''),
    router: generations[0]?.plan?.router ?? null,
    trace: facts.words.trace,
    traceparent: call.traceparent ?? null,
    userAgent: call.userAgent ?? null,
    referer: call.referer ?? null,
    promptMedia: promptMediaOf(call.ask.request),
    model: last?.target?.endpoint.modelSlug ?? null,
    provider: last?.target?.providerName ?? null,
    dataDiscountLogging: facts.switches?.dataDiscountLogging ?? null,
    broadcast: facts.switches?.broadcast ?? null,
    streamed: call.ask.request.stream === true,
    outcome,
    status,
    error,
    receivedAtMs: call.receivedAtMs,
    authenticatedAtMs: call.authenticatedAtMs,
    firstMs: firstTokens.length === 0 ? null : Math.min(...firstTokens) - call.receivedAtMs,
    totalMs: call.time.now() - call.receivedAtMs,
    attempts:
      generations.length === 1 ? attemptsOf(generations[0] as RecordedGeneration) : generations.flatMap(attemptsOf),
    usage: last ? facts.usage() : null,
    isEstimated: served.some(({ receipt }) => receipt?.isEstimated === true),
    costNanoUsd: costOf(facts),
    byokNanoUsd: hold.byokNanoUsd,
    heldNanoUsd: hold.heldNanoUsd,
    overrunNanoUsd: hold.overrunNanoUsd,
    // The provider may have gone on behind the place where a step cut the response.
    finishReason: last?.finishReason ?? (outcome === 'cut' ? 'error' : null),
    nativeFinishReason: shownWord(last?.nativeFinishReason),
    generations: generations.map((one) => generationRecordOf(one, attemptsOf(one))),
    pipeline: stages,
    stages: facts.work,
    expensesNanoUsd: facts.expenses,
  };
}

/**
 * Returns the facts that are known of a call when it begins, for the follower of the call.
 * @param said  its `words` are the ones that may be told at that time
 */
export function begunCallOf(call: Call, said: { readonly words: CallersWords }): BegunCall {
  return new Begun(call, said);
}

/** A begun call. A class, not a literal with getters: docs/performance.md, "Classes instead of literals". */
class Begun implements BegunCall {
  readonly id: string;
  readonly operation: string;
  readonly workspaceId: string;
  readonly receivedAtMs: number;
  readonly traceparent: string | null;
  readonly #said: { readonly words: CallersWords };

  constructor(
    { id, operation, caller, receivedAtMs, traceparent = null }: Call,
    said: { readonly words: CallersWords },
  ) {
    this.id = id;
    this.operation = operation;
    this.workspaceId = caller.workspaceId;
    this.receivedAtMs = receivedAtMs;
    this.traceparent = traceparent;
    this.#said = said;
  }

  get sessionId(): string | null {
    return this.#said.words.sessionId;
  }

  get user(): string | null {
    return this.#said.words.user;
  }

  get trace(): Readonly<Record<string, string>> | null {
    return this.#said.words.trace;
  }
}

/** The caller's own words that records and spans keep. */
export interface CallersWords {
  readonly sessionId: string | null;
  readonly user: string | null;
  readonly trace: Readonly<Record<string, string>> | null;
  /** Keys of the trace that are not kept. */
  readonly droppedTrace: readonly string[];
}

/** The words before guardrails have looked at the request: none are kept. */
export const noWords: CallersWords = { sessionId: null, user: null, trace: null, droppedTrace: [] };

/** @param request  the request as guardrails have left it */
export function wordsOf(sessionId: string | null, request: ChatRequest): CallersWords {
  return {
    sessionId: sessionId === null ? null : cleanName(sessionId, 512),
    user: userOf(request),
    trace: traceOf(request.trace),
    droppedTrace: droppedTraceKeys(request.trace),
  };
}

const none: readonly string[] = [];

/** The host app may take it from the request. */
function userIdOf({ userId }: Call['caller']): string | null {
  return userId === null ? null : cleanName(userId);
}

/** The name of the client's user in the request. */
function userOf({ user }: ChatRequest): string | null {
  return typeof user === 'string' && user !== '' ? cleanName(user, 256) : null;
}

const noMedia = Object.freeze({ files: 0, audio: 0 });

/** Counts the media of a prompt. A prompt of text alone, as most are, costs one look at each message. */
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

/**
 * Returns the keys of `trace` that are not kept. The first `maxTraceKeys` whose value is a text, number or boolean are
 * kept.
 */
function droppedTraceKeys(trace: ChatRequest['trace']): readonly string[] {
  if (trace === undefined || trace === null) return [];
  const kept = traceOf(trace) ?? {};
  return Object.keys(trace).filter((name) => trace[name] != null && !Object.hasOwn(kept, name));
}

/**
 * Returns the small part of `trace` that is kept: the field is open, and the part stands in each record and span of the
 * call.
 */
function traceOf(trace: ChatRequest['trace']): Record<string, string> | null {
  if (trace === undefined || trace === null) return null;
  const kept: [string, string][] = [];
  for (const name in trace) {
    if (kept.length === maxTraceKeys) break;
    const value: unknown = trace[name];
    if (traceKey.test(name) && isScalar(value)) kept.push([name, cleanName(String(value))]);
  }
  return kept.length === 0 ? null : Object.fromEntries(kept);
}

const maxTraceKeys = 16;
const traceKey = /^[A-Za-z][\w.-]{0,63}$/;

function isScalar(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
}

/** A provider's word, of any length. */
function shownWord(word: string | null | undefined): string | null {
  return word === null || word === undefined ? null : cleanName(word, 100);
}

/**
 * Returns the amount that was booked; null: nothing was booked, because the price of the provider that served is not
 * known.
 */
function costOf({ generations, hold }: CallFacts): number | null {
  const isUnknown = generations.some(({ receipt }) => receipt?.costNanoUsd === null);
  return isUnknown && hold.spentNanoUsd === 0 ? null : hold.spentNanoUsd;
}

function generationRecordOf(generation: RecordedGeneration, attempts: readonly AttemptTrace[]): GenerationRecord {
  const { plan, target, receipt } = generation;
  return {
    requested: plan?.requested ?? '',
    model: target?.endpoint.modelSlug ?? null,
    provider: target?.providerName ?? null,
    endpoint: target === null ? null : endpointName(target.endpoint),
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
